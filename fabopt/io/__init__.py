"""Files in and out: YAML and JSON are parsed only here, wrong input is refused, and files are written whole."""
