"""Whose switches carry a fabric that has none of its own."""

from __future__ import annotations

from fabopt.schema.case import Case, Fabric


def host_of(fabric: Fabric, case: Case) -> Fabric | None:
    """The fabric whose switches would carry another: the one that it names, else the only one of role compute."""
    if fabric.host is not None:
        return next((one for one in case.fabrics if one.name == fabric.host), None)
    computing = [one for one in case.fabrics if one.role == "compute"]
    return computing[0] if len(computing) == 1 else None
