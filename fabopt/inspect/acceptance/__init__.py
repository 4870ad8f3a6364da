"""Acceptance of a fabric: expected measurements, and verdicts on actual ones."""
