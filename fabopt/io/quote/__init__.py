"""Vendors' quotes as they are sent: spreadsheets of any layout, read line by line."""
