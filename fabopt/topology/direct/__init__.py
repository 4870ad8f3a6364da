"""Families whose switches are of one type and joined to each other: what they share."""
