"""Files for other programs: the design, the bill of materials."""
