"""Rule ``nic-pairing``: the GPUs of a server have equal shares of its NICs."""

from __future__ import annotations

from fabopt.schema.default_rules import NIC_PAIRING, is_asked_for, is_kept
from fabopt.units import some
from fabopt.verify.editions import since
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, if_unprovable
from fabopt.verify.told import is_told


@since("0.2.0")
def nics_pair_with_gpus(proof: Proof, fabric: FabricEvidence) -> None:
    """The NICs of a server divide its GPUs or are a multiple of them, or it is told that no design has that.

    min(c, GPUs) divides max(c, GPUs). Source: case file, ``rules``; docs/cases.md, NICs and GPUs.
    """
    nics, gpus = fabric.designed.nic.per_server, max(1, fabric.evidence.server.gpus)
    detail = f"{some(nics, 'NIC')} for {some(gpus, 'GPU')}"
    if pairs_unequally(fabric):
        proof.holds(not is_asked_for(fabric.evidence.case.rules, NIC_PAIRING), f"{detail}, and the rule is asked for")
        proof.holds(is_told(fabric, NIC_PAIRING), f"{detail}, and the file does not say that {NIC_PAIRING} is left out")
    proof.note(detail)


@if_unprovable(True)
def pairs_nics(fabric: FabricEvidence) -> bool:
    """Whether the rule says anything of a fabric: its NICs are chosen, and the case names no number of them."""
    return (
        is_kept(fabric.evidence.case.rules, NIC_PAIRING)
        and not fabric.built_in
        and fabric.wanted.nics_per_server == "any"
        and fabric.evidence.server.gpus > 1
    )


def pairs_unequally(fabric: FabricEvidence) -> bool:
    """Whether the NICs of a server neither divide its GPUs nor are a multiple of them."""
    nics, gpus = fabric.designed.nic.per_server, max(1, fabric.evidence.server.gpus)
    return max(nics, gpus) % max(1, min(nics, gpus)) > 0
