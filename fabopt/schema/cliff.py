"""How the note begins that a few servers less would do with a tier less."""

CLIFF = "just above a cliff:"
