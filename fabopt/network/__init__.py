"""Links between devices, as arrays and graphs."""
