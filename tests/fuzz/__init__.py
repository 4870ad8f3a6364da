"""Whole commands on inputs that are wrong in ways nobody thought of: ``make fuzz``, a fixed part in ``make test``."""
