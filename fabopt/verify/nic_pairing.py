"""Rule ``nic-pairing``: the GPUs of a server have equal shares of its NICs."""

from __future__ import annotations

from fabopt.schema.default_rules import NIC_PAIRING, is_asked_for, is_kept
from fabopt.units import some
from fabopt.verify.editions import since
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, if_unprovable


@since("0.2.0")
def nics_pair_with_gpus(proof: Proof, fabric: FabricEvidence) -> None:
    """The NICs of a server divide its GPUs or are a multiple of them, or it is told that no design has that.

    min(c, GPUs) divides max(c, GPUs). Source: case file, ``rules``; docs/cases.md, NICs and GPUs.
    """
    nics, gpus = fabric.designed.nic.per_server, max(1, fabric.evidence.server.gpus)
    detail = f"{some(nics, 'NIC')} for {some(gpus, 'GPU')}"
    if max(nics, gpus) % max(1, min(nics, gpus)):
        proof.holds(not is_asked_for(fabric.evidence.case.rules, NIC_PAIRING), f"{detail}, and the rule is asked for")
        proof.holds(_is_told(fabric), f"{detail}, and no note says that rule {NIC_PAIRING} is not kept")
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


def _is_told(fabric: FabricEvidence) -> bool:
    told = f"{fabric.designed.name}: rule `{NIC_PAIRING}` is not kept"
    return any(note.startswith(told) for note in fabric.evidence.design.notes)
