"""Decisions that a case leaves open, with the best design of both sides."""
