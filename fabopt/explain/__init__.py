"""Why there is no design, and the least change that would give one."""
