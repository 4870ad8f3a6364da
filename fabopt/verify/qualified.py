"""The rule of qualified pairs: the parts that may be plugged into each device."""

from __future__ import annotations

from fabopt.schema.product import Product
from fabopt.units import some
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.link_kinds import all_kinds
from fabopt.verify.proof import Proof, since, where


@since("0.2.0", "case.content.procurement.qualified")
@where(lambda fabric: fabric.evidence.case.procurement.qualified is not None)
def pairs_are_qualified(proof: Proof, fabric: FabricEvidence) -> None:
    """Parts plugged into a device are among those that the case names for it, where it names any.

    Lists of the case's server hold for its built-in NICs. Source: case file, ``procurement.qualified``.
    """
    rules = fabric.evidence.case.procurement.qualified
    proof.holds(isinstance(rules, dict), "`procurement.qualified` names files that were not read")
    compared = 0
    for kind in all_kinds(fabric):
        for row in kind.rows:
            for end, module in ((kind.near, row.near), (kind.far, row.far)):
                part = module if row.cable is None else row.cable
                if part is None:
                    continue
                for product in end.products:
                    for name, parts in _lists_for(fabric.evidence, product):
                        compared += 1
                        proof.holds(part.is_among(parts), f"{kind.name}: {part.id} is not qualified for {name}")
    proof.note(f"{some(compared, 'pair')} compared")


def _lists_for(evidence: Evidence, device: Product) -> list[tuple[str, tuple[str, ...]]]:
    """The lists that hold for a device: its own, and the server's where it is built in."""
    rules = evidence.case.procurement.qualified
    if not isinstance(rules, dict):
        return []
    is_built_in = any(nic.id == device.id for nic in evidence.server.nics)
    names = (device.id, evidence.case.server_id) if is_built_in else (device.id,)
    return [(name, rules[name]) for name in names if name in rules]
