"""What a model moves between GPUs in a step, what the network must give for it, and what a step takes on a design."""
