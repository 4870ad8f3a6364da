"""How the note begins that a few servers less would do with a tier less."""

from __future__ import annotations

CLIFF = "just above a cliff:"
