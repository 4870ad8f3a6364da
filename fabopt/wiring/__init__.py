"""From a design to every port, cable and module (``fabopt.wiring.build``), and the tables of them."""
