"""The integer program: its rules, its parts, the engines that solve it, and their order among equals."""
