"""Topology for Kubernetes: Kueue's object for each fabric that jobs use, and the node labels that it goes by.

Labels of the first fabric, and of NVLink domains, are those of Topograph, so that either may write them: tier 0 is
nearest the node. Further fabrics have labels of their own: one tree for several fabrics would join separate switches.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabopt.errors import refusal
from fabopt.operate.groups import fabrics_of_jobs, group_name, nvlink_servers, pod_name, server_groups
from fabopt.operate.model import OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import head_lines
from fabopt.schema.design import Design, FabricDesign
from fabopt.wiring.design_file import Embedded

TOPOLOGY, LABELS = "kubernetes/topology.yaml", "kubernetes/label-nodes.sh"
HOST, DOMAIN = "kubernetes.io/hostname", "accelerator.topograph.run/domain"
# Of a label's value, and of each word of its prefix (Kubernetes, labels and selectors).
_LONGEST = 63


@dataclass(frozen=True)
class LabelledFabric:
    """A fabric: its levels from the top, and labels of each node there by the node's name."""

    name: str
    levels: Sequence[str]
    labels: Mapping[str, Mapping[str, str]]


def files_of(asked: Exported) -> Files:
    """Return ``topology.yaml`` and ``label-nodes.sh``; ``InputError`` for names that are too long for labels."""
    plan = asked.plan
    fabrics = labelled_fabrics(asked.design, plan)
    long = sorted(
        {
            value
            for fabric in fabrics
            for own in fabric.labels.values()
            for value in own.values()
            if len(value) > _LONGEST
        }
    )
    if long:
        raise refusal(
            "--to kubernetes",
            "",
            f"Kubernetes takes labels of at most {_LONGEST} letters, and {len(long)} would be longer",
            long[0],
        )
    return {TOPOLOGY: topology_lines(plan, fabrics), LABELS: label_lines(plan, fabrics)}


def labelled_fabrics(design: Design, plan: OperationPlan) -> list[LabelledFabric]:
    """The fabrics that jobs use, compute fabrics first; nodes are named as the kubelet does, in small letters."""
    together = nvlink_servers(Embedded(design).server)
    return [
        _labelled(
            plan, fabric, "fabric.topograph.run" if number == 0 else f"{fabric.name}.fabric", together * (number == 0)
        )
        for number, fabric in enumerate(fabrics_of_jobs(design, "kubernetes"))
    ]


def _labelled(plan: OperationPlan, fabric: FabricDesign, prefix: str, together: int) -> LabelledFabric:
    """Levels and labels of a fabric.

    ``together``: servers of an NVLink domain, a level if no domain spans several groups.
    """
    groups = server_groups(plan, fabric.name)
    has_pods = len({pod for pod, _ in groups}) > 1
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    domains: dict[str, set[str]] = defaultdict(set)
    for (pod, group), servers in groups.items():
        for server in servers:
            own = labels[server.name.lower()]
            if has_pods:
                own[f"{prefix}/tier-1"] = pod_name(fabric.name, pod)
            own[f"{prefix}/tier-0"] = group_name(fabric.name, group)
            if together > 1:
                own[DOMAIN] = f"domain-{server.row // together + 1:03d}"
                domains[own[DOMAIN]].add(own[f"{prefix}/tier-0"])
    is_nested = together > 1 and all(len(of_groups) == 1 for of_groups in domains.values())
    tiers = [f"{prefix}/tier-1"] * has_pods + [f"{prefix}/tier-0"]
    return LabelledFabric(fabric.name, [*tiers, *[DOMAIN] * is_nested, HOST], labels)


def topology_lines(plan: OperationPlan, fabrics: Sequence[LabelledFabric]) -> Iterator[str]:
    """Yield an object for each fabric."""
    for fabric in fabrics:
        yield from head_lines(plan, ": named by topologyName of a ResourceFlavor", fabric.name)
        yield "apiVersion: kueue.x-k8s.io/v1beta1"
        yield "kind: Topology"
        yield f"metadata: {{name: {fabric.name}}}"
        yield "spec:"
        yield "  levels:"
        yield from (f"  - nodeLabel: {level}" for level in fabric.levels)


def label_lines(plan: OperationPlan, fabrics: Sequence[LabelledFabric]) -> Iterator[str]:
    """Yield a script that labels each node once, with its groups in all fabrics."""
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    for fabric in fabrics:
        for node, own in fabric.labels.items():
            labels[node] |= own
    yield "#!/bin/sh"
    yield f"# {plan.case}, stage {plan.stage}: where each node is. Values of labels that are there are replaced."
    yield "set -e"
    for node, own in labels.items():
        yield shlex.join(["kubectl", "label", "--overwrite", "node", node, *(f"{key}={own[key]}" for key in own)])
