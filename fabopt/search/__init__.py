"""Candidates below a cutoff, and the proof that nothing cheaper was left out."""
