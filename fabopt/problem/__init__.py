"""The resolved case: ids looked up, units uniform, demand computed, every default filled in."""
