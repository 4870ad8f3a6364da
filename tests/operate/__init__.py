"""Tests of the room `operate`."""
