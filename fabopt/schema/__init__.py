"""What users write and what fabopt writes, as strict, frozen types."""
