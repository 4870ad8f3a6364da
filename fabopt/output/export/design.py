"""The design file."""

from __future__ import annotations

from fabopt.schema.design import Design


def design_bytes(design: Design) -> bytes:
    """Return a design file: JSON in the order of the schema, the same bytes for the same design."""
    return design.model_dump_json(by_alias=True, indent=2).encode() + b"\n"
