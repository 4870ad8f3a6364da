"""Proves a saved design again: every rule, from scratch, on explicit counts, with no solver."""

from fabopt.verify.checks import not_asked, verified_in_turn, verify, verify_wiring, wiring_verified_in_turn

__all__ = ["not_asked", "verified_in_turn", "verify", "verify_wiring", "wiring_verified_in_turn"]
