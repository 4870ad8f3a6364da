"""Comparison of running fabrics, hand-made designs and quotes with plans, and repairs of cables."""
