"""Designs, stages, points and quotes side by side: what differs, and why it costs what it costs."""
