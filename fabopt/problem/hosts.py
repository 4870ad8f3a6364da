"""The host of a fabric without switches of its own."""

from __future__ import annotations

from fabopt.schema.case import Case, Fabric


def host_of(fabric: Fabric, case: Case) -> Fabric | None:
    """The host of a fabric: the fabric that it names, else the only one of role compute; None if there is none."""
    if fabric.host is not None:
        return next((other for other in case.fabrics if other.name == fabric.host), None)
    computing = [other for other in case.fabrics if other.role == "compute"]
    return computing[0] if len(computing) == 1 else None
