"""Candidates below a cutoff, and the proof that no cheaper candidate was left out."""
