"""Who is linked to whom, as arrays and graphs."""
