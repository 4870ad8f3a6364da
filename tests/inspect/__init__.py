"""Tests of the room `inspect`."""
