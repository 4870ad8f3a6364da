"""Proves a saved design again: every rule, from scratch, on explicit counts, with no solver."""

from fabopt.verify.checks import verify, verify_wiring

__all__ = ["verify", "verify_wiring"]
