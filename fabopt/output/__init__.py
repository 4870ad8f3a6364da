"""What people and other programs read: text, charts, pages, files."""
