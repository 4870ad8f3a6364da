"""The report: one page of HTML about a design, for a manager and an engineer."""
