"""Rule ``lengths``: where neither a floor nor the case has runs of links, they follow from the racks of groups."""

from __future__ import annotations

from fabopt.floor.group_runs import KINDS, given_m
from fabopt.rules.defaults import LENGTHS, is_kept
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import all_kinds
from fabopt.verify.proof import Proof, since, where


def follows_from_groups(fabric: FabricEvidence) -> bool:
    """Whether some runs follow from the size of groups; on a floor the case states the others."""
    return not given_m(fabric.evidence.case.site).keys() >= set(KINDS)


@since("0.2.0")
@where(follows_from_groups)
def runs_follow_from_groups(proof: Proof, fabric: FabricEvidence) -> None:
    """Every kind of links, and all cables bought for it, is as long as the racks filled by its groups require.

    Run and lengths of a kind >= the longest run over ceil(n / servers per rack) racks, n being the servers of a leaf
    group, of a pod or of all; and the case does not turn the rule off. Source: docs/sites.md, how long cables are.
    """
    case = fabric.evidence.case
    proof.holds(is_kept(case.rules, LENGTHS), f"rule `{LENGTHS}` is off, and the case does not say how far links run")
    for kind in all_kinds(fabric):
        for row in kind.rows:
            lengths = [part.length_m or 0 for part in row.lengths]
            shortest = min([row.listed.length_m, *lengths])
            proof.holds(
                shortest >= kind.run_m, f"{kind.name}: {shortest:g} m where its groups ask for {kind.run_m:g} m"
            )
        proof.note(f"{kind.name} {kind.run_m:g} m")
