"""What a case prescribes of its fabrics: each key left open alone, and rail-only networks, where there is a design."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fabopt.explain.demands import changed
from fabopt.explain.freedoms import OPEN_KEYS, ROLES, not_on_sale
from fabopt.explain.what_if import Inquiry
from fabopt.schema.base import Strict
from fabopt.schema.case import Fabric
from fabopt.schema.design import Conflict, Number
from fabopt.schema.topologies import refused

RAIL_ONLY = "rail-only"
# Keys of products; all other open keys are of the shape of a network.
OF_PRODUCTS = ("protocol", "nics", "nics_per_server", "switches")
# Keys without which few servers may be all that can be reached.
OF_SIZES = ("tiers", "topologies", "group_by", "groups")


def shape_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Keys of the shape of networks that alone stand in the way, and rail-only in place of a Clos."""
    yield from _opened(inquiry, lambda keys: not set(keys) & set(OF_PRODUCTS))
    for index, fabric, meant in inquiry.fabrics:
        if fabric.topologies == ("clos",) and not any(refused(inquiry.problem.case, fabric, RAIL_ONLY)):
            limit = f"fabrics.{meant.name}.topologies"
            inquiry.tell(limit)
            problem = inquiry.problem_of(changed(inquiry.case, fabric, topologies=(RAIL_ONLY,)))
            # servers may have no rails, or nothing that carries traffic from one to another
            if any(problem.fabrics[index].nics.values()) and inquiry.design_of(problem) is not None:
                detail = "a network of unconnected rails, over whose domains servers pass traffic on, does"
                yield Conflict(limit=limit, value="clos", needed=(RAIL_ONLY,), detail=detail)


def product_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Keys of protocols, NICs and switches that alone stand in the way."""
    return _opened(inquiry, lambda keys: bool(set(keys) & set(OF_PRODUCTS)))


def size_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Tiers and groups that a fabric prescribes: few servers may be all that these leave of what could be reached."""
    return _opened(inquiry, lambda keys: bool(set(keys) & set(OF_SIZES)))


def _opened(inquiry: Inquiry, is_wanted: Callable[[dict[str, object]], bool]) -> Iterator[Conflict]:
    """What fabrics prescribe, by some keys, where they have a design without."""
    for _, fabric, _ in inquiry.fabrics:
        for update, conflict in _freedoms(inquiry, fabric):
            if is_wanted(update):
                inquiry.tell(conflict.limit)
                if inquiry.design(changed(inquiry.case, fabric, **update)) is not None:
                    yield conflict


def _freedoms(inquiry: Inquiry, fabric: Fabric) -> Iterator[tuple[dict[str, object], Conflict]]:
    """What a fabric prescribes: how it would be changed to leave that open, and what is said if that gives a design."""
    limit = f"fabrics.{fabric.name}"
    for key, free in OPEN_KEYS:
        value, needed = getattr(fabric, key), _shown(free)
        if value != free:
            named = value if key == "nics" and isinstance(value, tuple) else ()
            detail = "; ".join([f"with {key}: {needed} there is a design", *not_on_sale(inquiry, named)])
            yield {key: free}, Conflict(limit=f"{limit}.{key}", value=_shown(value), needed=needed, detail=detail)
    for role in ROLES:
        ids, choice = getattr(fabric.switches, role), fabric.switches.model_copy(update={role: "any"})
        if ids != "any":
            conflict = Conflict(
                limit=f"{limit}.switches.{role}",
                value=_shown(ids),
                needed="any",
                detail="; ".join([f"with any {role} switch there is a design", *not_on_sale(inquiry, ids)]),
            )
            yield {"switches": choice}, conflict
    if fabric.attachments:
        ports = sum(attachment.ports for attachment in fabric.attachments)
        detail = "without attachments there is a design: their ports do not fit, or no part joins them"
        yield {"attachments": ()}, Conflict(limit=f"{limit}.attachments", value=ports, needed=0, detail=detail)


def _shown(value: object) -> Number | str | None:
    if isinstance(value, int | float | str) or value is None:
        return value
    if isinstance(value, Strict):
        return value.model_dump_json(exclude_defaults=True)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
