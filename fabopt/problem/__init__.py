"""What a case means: ids resolved, units uniform, demand computed, nothing left open."""
