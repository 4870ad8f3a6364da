"""Switch graphs and their bandwidth."""
