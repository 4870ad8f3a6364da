"""Switch graphs and what can be said of their bandwidth: figures on explicit graphs, closed forms, generators."""
