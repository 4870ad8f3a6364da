"""Designs that somebody made by hand: what they say, what the rules of the field say of them, and what they cost."""
