"""Traffic of a model between GPUs in a step, the network that it needs, and the time of a step on a design."""
