"""What is there against what was planned: the cables of a running fabric, and how to put them right."""
