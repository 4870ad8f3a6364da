"""Topology of Slurm: a tree of server groups for each fabric, blocks for each domain of NVLink."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from fabopt.operate.build import plan_of
from fabopt.operate.groups import fabrics_of_jobs, group_name, nvlink_servers, pod_name, server_groups
from fabopt.operate.hostlists import compressed
from fabopt.operate.model import OperationPlan
from fabopt.output.export.formats import Options
from fabopt.output.export.lines import write_lines
from fabopt.schema.design import Design, FabricDesign
from fabopt.units import some
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring

FOLDER = "slurm"


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write ``topology.conf`` of the compute fabric, ``topology-FABRIC.conf`` of others that jobs use, and blocks."""
    plan = plan_of(design, wiring, options.stage)
    files: dict[str, Iterable[str]] = {}
    for fabric in fabrics_of_jobs(design, "slurm"):
        files[f"topology-{fabric.name}.conf" if files else "topology.conf"] = tree_lines(plan, fabric)
    together = nvlink_servers(Embedded(design).server)
    if together > 1:
        files["topology-block.conf"] = block_lines(plan, together)
    return write_lines(folder / FOLDER, files)


def own_files(folder: Path) -> list[Path]:
    """Files there that this format may have written."""
    return sorted((folder / FOLDER).glob("topology*.conf"))


def tree_lines(plan: OperationPlan, fabric: FabricDesign) -> Iterator[str]:
    """The tree of a fabric: a server group is what its leaves join, a pod joins groups, the root all of it.

    Servers with NICs on several leaves are below all of these, which Slurm cannot say of single switches.
    """
    yield f"# {plan.case}, fabric {fabric.name}, stage {plan.stage}. A switch here is all leaves of a group of servers."
    groups = server_groups(plan, fabric.name)
    pods: dict[int, list[str]] = defaultdict(list)
    for (pod, group), servers in groups.items():
        switch = group_name(fabric.name, group)
        pods[pod].append(switch)
        yield f"SwitchName={switch} Nodes={compressed([server.name for server in servers])}"
    tops = [switch for switches in pods.values() for switch in switches]
    if len(pods) > 1:
        tops = []
        for pod, switches in pods.items():
            tops.append(pod_name(fabric.name, pod))
            yield f"SwitchName={tops[-1]} Switches={compressed(switches)}"
    if len(tops) > 1:
        yield f"SwitchName={fabric.name} Switches={compressed(tops)}"


def block_lines(plan: OperationPlan, together: int) -> Iterator[str]:
    """A block for each domain of NVLink; one with fewer servers than others would stop Slurm, so it is left out."""
    names = [server.name for server in plan.servers]
    whole = len(names) // together
    yield f"# {plan.case}, stage {plan.stage}: a block is {some(together, 'server')} of one NVLink domain."
    if len(names) % together:
        yield f"# Left out, as they are fewer than a block: {compressed(names[whole * together :])}"
    for number in range(whole):
        own = names[number * together : (number + 1) * together]
        yield f"BlockName=domain-{number + 1:03d} Nodes={compressed(own)}"
    sizes = [together << power for power in range(whole.bit_length())]
    yield f"BlockSizes={','.join(map(str, sizes))}"
