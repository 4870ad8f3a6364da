"""Rules of fabrics that are carried by others: the separation that a case allows, and the NICs of logical fabrics."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

from fabopt.schema.case import Fabric
from fabopt.units import MBPS_PER_GBPS, exact, plain_fraction
from fabopt.verify.choices import allows, offered, priced
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.proof import Proof, since, where

# The least separation first.
_WAYS = ("shared", "logical", "physical")
_LEAST = {"none": "shared", "logical": "logical", "physical": "physical"}
HOST_FAMILY = "clos"


class LogicalEvidence(FabricEvidence):
    """A logical fabric as one of its own: its NICs, on the switches of its host."""

    @cached_property
    def wanted(self) -> Fabric:
        """The demands of the case on the logical fabric, from the fabrics carried by its host."""
        for fabric in self.evidence.case.fabrics:
            for carried in fabric.carries:
                if carried.name == self.designed.name and carried.separation == "logical":
                    return Fabric(
                        name=carried.name,
                        role=carried.role,
                        nics=carried.nics,
                        nics_per_server=carried.nics_per_server,
                        min_gbps_per_gpu=carried.min_gbps_per_gpu,
                    )
        raise LookupError(f"the case has no logical fabric {self.designed.name!r}")


def logical_fabrics(evidence: Evidence) -> Iterator[LogicalEvidence]:
    """Every logical fabric of the file."""
    for fabric in evidence.fabrics:
        for logical in fabric.designed.logical:
            update = {"name": logical.name, "role": logical.role, "nic": logical.nic, "logical": (logical,)}
            yield LogicalEvidence(evidence, fabric.designed.model_copy(update=update))


def separates(evidence: Evidence) -> bool:
    """Whether the case or the file has fabrics carried by others, or an isolation."""
    return any(fabric.carries or fabric.isolation != "none" for fabric in evidence.case.fabrics) or any(
        designed.logical for designed in evidence.design.fabrics
    )


@where(separates)
def isolation_is_kept(proof: Proof, evidence: Evidence) -> None:
    """No fabric is less separate than the case allows, and the logical fabrics of the case are those of the file.
    shared < logical < physical; separation >= isolation. A logical fabric is on a Clos of one plane, and once in the
    file. Source: case file, ``isolation`` and ``carries``.
    """
    designed = {carried.name: carried for carried in evidence.design.fabrics}
    for fabric in evidence.case.fabrics:
        proof.note(f"{fabric.name} physical")
        for carried in fabric.carries:
            enough = _WAYS.index(carried.separation) >= _WAYS.index(_LEAST[carried.isolation])
            proof.holds(
                enough, f"{carried.name} is {carried.separation}, at least {_LEAST[carried.isolation]} is wanted"
            )
            proof.note(f"{carried.name} {carried.separation} on {fabric.name}")
        wanted = [(carried.name, carried.role) for carried in fabric.carries if carried.separation == "logical"]
        host = designed[fabric.name]
        proof.equal(
            f"logical fabrics on {fabric.name}", [(carried.name, carried.role) for carried in host.logical], wanted
        )
        if wanted:
            proof.equal(f"topology and planes of {fabric.name}", (host.topology, host.planes), (HOST_FAMILY, 1))


@since("0.3.0")
@where(separates)
def shared_ports_are_told(proof: Proof, evidence: Evidence) -> None:
    """Bandwidth taken by fabrics on the NICs of another is as in the case, and less than the host's.

    carries = those of the case; sum of reserved rates < min_gbps_per_gpu of the host, sum of all <= it. Source: case
    file, ``shared_port``.
    """
    designed = {carrier.name: carrier for carrier in evidence.design.fabrics}
    for fabric in evidence.case.fabrics:
        shared = [carried for carried in fabric.carries if carried.separation == "shared"]
        told = [
            (carried_fabric.name, carried_fabric.role, carried_fabric.shared_port, exact(carried_fabric.gbps_per_gpu))
            for carried_fabric in designed[fabric.name].carries
        ]
        wanted = [
            (
                carried_fabric.name,
                carried_fabric.role,
                carried_fabric.shared_port,
                exact(carried_fabric.min_gbps_per_gpu),
            )
            for carried_fabric in shared
        ]
        proof.equal(f"fabrics on the NICs of {fabric.name}", told, wanted)
        taken = sum((exact(carried_fabric.min_gbps_per_gpu) for carried_fabric in shared), Fraction(0))
        given = exact(fabric.min_gbps_per_gpu or 0)
        proof.holds(not shared or taken < given, f"{taken} of {given} Gb/s per GPU of {fabric.name} are for others")
        proof.note(f"{fabric.name}: {plain_fraction(taken)} of {plain_fraction(given)} Gb/s per GPU for others")


def logical_cards_are_allowed(proof: Proof, fabric: LogicalEvidence) -> None:
    """The NICs of a logical fabric are among those that the case allows, with one port in each cage.

    Chosen NICs have a price and a power figure, and are at the end of their life only if the case names them; the file
    states their Gb/s per GPU. Source: case file, ``nics``.
    """
    designed = fabric.designed.nic
    if fabric.built_in:
        proof.holds(allows(fabric.wanted.nics, designed.id), f"NIC {designed.id} is not allowed")
    else:
        offered(proof, f"NIC {designed.id}", fabric.wanted.nics, designed.id, fabric.nic.end_of_life)
        priced(proof, designed.id, fabric.nic.price_usd, fabric.nic.power_w)
    proof.equal(f"ports in a cage of {designed.id}", fabric.nic_lane.ports, 1)
    injection = plain_fraction(fabric.injection / MBPS_PER_GBPS)
    proof.equal("injection_gbps_per_gpu", fabric.designed.logical[0].injection_gbps_per_gpu, injection)
    proof.note(f"{designed.per_server} x {designed.id}")
