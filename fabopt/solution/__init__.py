"""From inputs to an answer: prepare, search, build, note, verify."""
