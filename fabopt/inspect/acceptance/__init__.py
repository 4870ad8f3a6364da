"""What a fabric should measure when it is taken over, and whether it does."""
