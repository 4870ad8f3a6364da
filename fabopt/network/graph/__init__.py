"""Switch graphs and what can be said of their bandwidth."""
