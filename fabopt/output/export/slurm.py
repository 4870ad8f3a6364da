"""Topology of Slurm: a tree of server groups for each fabric, blocks for each NVLink domain, and both as YAML."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fabopt.operate.groups import fabrics_of_jobs, group_name, nvlink_servers, pod_name, server_groups
from fabopt.operate.hostlists import compressed
from fabopt.operate.model import OperationPlan
from fabopt.output.export.formats import Content, Exported, Files
from fabopt.output.export.lines import head_lines
from fabopt.schema.design import FabricDesign
from fabopt.units import some
from fabopt.wiring.design_file import Embedded

FOLDER = "slurm"
OWN_FILES = r"topology[^/]*\.conf|topology\.yaml"


def files_of(asked: Exported) -> Files:
    """Return ``topology.conf`` of the compute fabric, ``topology-FABRIC.conf`` of other fabrics of jobs, and blocks.

    ``topology.yaml`` has the same trees and blocks; Slurm 25.05 and later read it first.
    """
    design, plan = asked.design, asked.plan
    files: dict[str, Content] = {}
    fabrics = fabrics_of_jobs(design, "slurm")
    for fabric in fabrics:
        files[f"topology-{fabric.name}.conf" if files else "topology.conf"] = tree_lines(plan, fabric)
    together = nvlink_servers(Embedded(design).server)
    if together > 1:
        files["topology-block.conf"] = block_lines(plan, together)
    files["topology.yaml"] = yaml_lines(plan, fabrics, together)
    return files


def tree_lines(plan: OperationPlan, fabric: FabricDesign) -> Iterator[str]:
    """The tree of a fabric: servers on the same leaves are a group, a pod joins groups, the root joins pods.

    Servers with NICs on several leaves are below all of these, which Slurm cannot say of single switches.
    """
    yield f"# {plan.case}, fabric {fabric.name}, stage {plan.stage}. A switch here is all leaves of a group of servers."
    for switch in tree_of(plan, fabric):
        below = f"Nodes={switch.below}" if switch.of_nodes else f"Switches={switch.below}"
        yield f"SwitchName={switch.name} {below}"


class TreeSwitch(NamedTuple):
    """A switch of Slurm's tree, and the servers or switches below it, as a list of hosts."""

    name: str
    below: str
    of_nodes: bool


def tree_of(plan: OperationPlan, fabric: FabricDesign) -> Iterator[TreeSwitch]:
    """The switches of a tree, from the groups of servers up."""
    groups = server_groups(plan, fabric.name)
    pods: dict[int, list[str]] = defaultdict(list)
    for (pod, group), servers in groups.items():
        switch = group_name(fabric.name, group)
        pods[pod].append(switch)
        yield TreeSwitch(switch, compressed([server.name for server in servers]), True)
    tops = [switch for switches in pods.values() for switch in switches]
    if len(pods) > 1:
        tops = []
        for pod, switches in pods.items():
            tops.append(pod_name(fabric.name, pod))
            yield TreeSwitch(tops[-1], compressed(switches), False)
    if len(tops) > 1:
        yield TreeSwitch(fabric.name, compressed(tops), False)


def yaml_lines(plan: OperationPlan, fabrics: Sequence[FabricDesign], together: int) -> Iterator[str]:
    """A topology for each fabric that jobs use, the first one for partitions that name none, and one of blocks.

    ``together``: servers of an NVLink domain.
    """
    yield from head_lines(plan, ". Slurm reads this from 25.05 on, and then no topology.conf.")
    for number, fabric in enumerate(fabrics):
        yield f"- topology: {fabric.name}"
        yield f"  cluster_default: {str(number == 0).lower()}"
        yield "  tree:"
        yield "    switches:"
        for switch in tree_of(plan, fabric):
            yield f"      - switch: {switch.name}"
            yield f"        {'nodes' if switch.of_nodes else 'children'}: {switch.below}"
    if together > 1:
        names = [server.name for server in plan.servers]
        whole = len(names) // together
        yield "- topology: nvlink"
        yield "  cluster_default: false"
        yield "  block:"
        yield f"    block_sizes: [{', '.join(map(str, block_sizes(whole, together)))}]"
        yield "    blocks:"
        for number in range(whole):
            yield f"      - block: {block_name(number)}"
            yield f"        nodes: {compressed(names[number * together : (number + 1) * together])}"


def block_name(number: int) -> str:
    """The name of an NVLink domain, by its number from 0."""
    return f"domain-{number + 1:03d}"


def block_sizes(whole: int, together: int) -> list[int]:
    """Servers of a block and of aggregated blocks, each twice the one before, up to the ``whole`` domains of
    ``together`` servers.
    """
    return [together << power for power in range(whole.bit_length())]


def block_lines(plan: OperationPlan, together: int) -> Iterator[str]:
    """A block for each NVLink domain; a smaller one would stop Slurm, so it is left out."""
    names = [server.name for server in plan.servers]
    whole = len(names) // together
    yield f"# {plan.case}, stage {plan.stage}: a block is {some(together, 'server')} of one NVLink domain."
    if len(names) % together:
        yield f"# Left out, as they are fewer than a block: {compressed(names[whole * together :])}"
    for number in range(whole):
        own = names[number * together : (number + 1) * together]
        yield f"BlockName={block_name(number)} Nodes={compressed(own)}"
    yield f"BlockSizes={','.join(map(str, block_sizes(whole, together)))}"
