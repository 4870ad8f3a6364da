"""Where servers and switches stand on a floor plan: layouts to choose from, and the place of every switch in one."""
