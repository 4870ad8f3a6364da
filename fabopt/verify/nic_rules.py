"""Default rules of the NICs of a fabric: tested products, slot speed, one port for a GPU, NICs dividing GPUs."""

from __future__ import annotations

from collections.abc import Callable

from fabopt.rules.defaults import NIC_PAIRING, ONE_PORT, SLOT_SPEED, TESTED_NICS, is_kept
from fabopt.schema.catalog import Nic
from fabopt.schema.resilience import in_pairs
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction, some
from fabopt.verify.choices import ANY
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.told import left_out_is_told


def _has_open_numbers(fabric: FabricEvidence) -> bool:
    """Whether the case names no number of NICs for several GPUs."""
    return fabric.wanted.nics_per_server == ANY and fabric.evidence.server.gpus > 1


def _has_open_nics(fabric: FabricEvidence) -> bool:
    """Whether the case names no NICs."""
    return fabric.wanted.nics == ANY


def _has_tested_nics(fabric: FabricEvidence) -> bool:
    """Whether the case names no NICs of a compute fabric, and the catalog has NICs tested with the server."""
    is_compute = fabric.wanted.role == "compute"
    return is_compute and _has_open_nics(fabric) and bool(fabric.evidence.server.tested_for("compute"))


def _has_open_ports(fabric: FabricEvidence) -> bool:
    """Whether servers have GPUs, one plane and no pairs of ports, and the case names no number of NICs."""
    wanted = fabric.wanted
    is_open = wanted.nics_per_server == ANY and not in_pairs(wanted.role, fabric.designed.homing)
    return is_open and fabric.designed.planes == 1 and fabric.evidence.server.gpus > 0


def _judged_by(name: str, is_open: Callable[[FabricEvidence], bool]) -> Callable[[FabricEvidence], bool]:
    """The question whether a default rule applies to a fabric: it is on, and the case leaves its subject open."""
    return lambda fabric: is_kept(fabric.evidence.case.rules, name) and not fabric.built_in and is_open(fabric)


@since("0.2.0")
@where(_judged_by(NIC_PAIRING, _has_open_numbers))
def nics_pair_with_gpus(proof: Proof, fabric: FabricEvidence) -> None:
    """The NICs of a server divide its GPUs or are a multiple of them, or the file states that no design has that.

    min(c, GPUs) divides max(c, GPUs). Source: case file, ``rules``; docs/rules.md, NICs and GPUs.
    """
    nics, gpus = fabric.designed.nic.per_server, fabric.evidence.server.gpus
    _is_kept_or_told(proof, fabric, NIC_PAIRING, f"{some(nics, 'NIC')} for {some(max(1, gpus), 'GPU')}")


@since("0.3.0")
@where(_judged_by(TESTED_NICS, _has_tested_nics))
def nics_are_tested(proof: Proof, fabric: FabricEvidence) -> None:
    """The NIC of a compute fabric is one that the server is sold or tested with, or the file states that no design has
    one.

    NIC in ``nics_tested`` of the server for compute. Source: case file, ``rules``; docs/rules.md, which NICs.
    """
    tested = sorted(fabric.evidence.server.tested_for("compute"))
    _is_kept_or_told(proof, fabric, TESTED_NICS, f"{fabric.designed.nic.id}, tested are {', '.join(tested)}")


@since("0.3.0")
@where(_judged_by(SLOT_SPEED, _has_open_nics))
def slots_carry_ports(proof: Proof, fabric: FabricEvidence) -> None:
    """The ports in use of a NIC carry no more than its slot, or the file states that no design has such NICs. p x G <=
    rate of min(generations), min(lanes). Source: case file, ``rules``; catalog, ``pcie``.
    """
    ports = fabric.designed.nic.ports_per_nic * exact(fabric.designed.nic.gbps)
    limit = "not known" if fabric.nic_limit is None else f"{plain_fraction(fabric.nic_limit / MBPS_PER_GBPS)}"
    _is_kept_or_told(proof, fabric, SLOT_SPEED, f"{plain_fraction(ports)} Gb/s of ports, a slot gives {limit}")


@since("0.3.0")
@where(_judged_by(ONE_PORT, _has_open_ports))
def one_port_serves_gpu(proof: Proof, fabric: FabricEvidence) -> None:
    """One port of a NIC carries a GPU's demand, or the file states that no design has such NICs. min(G, slot's rate) >=
    min_gbps_per_gpu. Source: case file, ``rules`` and ``min_gbps_per_gpu``.
    """
    alone = min(exact(fabric.nic_lane.port_mbps), fabric.nic_mbps) / MBPS_PER_GBPS
    wanted = f"{fabric.wanted.min_gbps_per_gpu:g} Gb/s per GPU demanded"
    _is_kept_or_told(proof, fabric, ONE_PORT, f"a port carries {plain_fraction(alone)} of {wanted}")


def breaks_nic_rule(fabric: FabricEvidence, rule: str) -> bool:
    """Whether the NICs of a fabric break one of these rules, counted anew."""
    nic, server = fabric.designed.nic, fabric.evidence.server
    if rule == NIC_PAIRING:
        nics, gpus = nic.per_server, max(1, server.gpus)
        return max(nics, gpus) % max(1, min(nics, gpus)) > 0
    if rule == TESTED_NICS:
        return not fabric.evidence.part(nic.id, Nic).is_among(server.tested_for("compute"))
    ports = exact(nic.ports_per_nic * fabric.nic_lane.port_mbps)
    if rule == SLOT_SPEED:
        return fabric.nic_limit is not None and ports > fabric.nic_limit
    wanted = exact(fabric.wanted.min_gbps_per_gpu or 0) * MBPS_PER_GBPS
    return min(exact(fabric.nic_lane.port_mbps), fabric.nic_mbps) < wanted


def _is_kept_or_told(proof: Proof, fabric: FabricEvidence, rule: str, detail: str) -> None:
    """A rule is kept, or was not asked for by name and the file says that it is left out."""
    if breaks_nic_rule(fabric, rule):
        left_out_is_told(proof, fabric, rule, detail)
    proof.note(detail)
