"""The rule of airflow: all rack switches are sold in the direction that the case wants."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.catalog import Switch
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, since, where


def wants_airflow(fabric: FabricEvidence) -> bool:
    """Whether the case states the direction of air in its racks."""
    case = fabric.evidence.case
    return case.site.rack_rules.airflow is not None and is_kept(case.rules, RACK_RULES)


@since("0.2.0", "case.content.site.rack_rules")
@where(wants_airflow)
def airflows_agree(proof: Proof, fabric: FabricEvidence) -> None:
    """Every switch, twins among them, is sold with the airflow that the case wants, or its airflow is not known.

    Source: case file, ``site.rack_rules.airflow``; catalog, ``airflows``.
    """
    wanted = fabric.evidence.case.site.rack_rules.airflow
    for switch in _switches(fabric):
        sold = sorted(switch.airflows)
        proof.holds(not sold or wanted in sold, f"{switch.id} is sold with {' and '.join(sold)}, not with {wanted}")
        proof.note(f"{switch.id} {wanted if sold else 'not known'}")


def _switches(fabric: FabricEvidence) -> Iterator[Switch]:
    managers = fabric.designed.subnet_manager
    twins = () if managers is None else managers.twins
    ids = [*(tier.id for tier, _ in fabric.switch_types), *(twin.id for twin in twins)]
    return (fabric.evidence.part(id_, Switch) for id_ in dict.fromkeys(ids))
