"""Charts as Vega-Lite specifications, and their rendering."""
