"""Network families: which candidates each has, and what every candidate needs."""
