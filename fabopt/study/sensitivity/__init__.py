"""How far prices can move before the answer to a case changes."""
