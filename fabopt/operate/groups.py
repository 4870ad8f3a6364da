"""Groups of servers for schedulers: servers on the same leaves, pods of these, and NVLink domains."""

from __future__ import annotations

from fabopt.errors import refusal
from fabopt.operate.model import SWITCHES, NamedDevice, OperationPlan
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.server import Server
from fabopt.units import grouped

ROLES = ("compute", "storage")


def fabrics_of_jobs(design: Design, format_name: str) -> list[FabricDesign]:
    """The fabrics that jobs use, compute fabrics first; ``InputError`` where there are none."""
    fabrics = [fabric for role in ROLES for fabric in design.fabrics if fabric.role == role]
    if not fabrics:
        roles = ", ".join(f"{fabric.name}: {fabric.role}" for fabric in design.fabrics)
        raise refusal(
            f"--to {format_name}",
            "",
            f"jobs use fabrics of the roles {' and '.join(ROLES)}, and this design has none ({roles})",
        )
    return fabrics


def server_groups(plan: OperationPlan, fabric: str) -> dict[tuple[int, int], list[NamedDevice]]:
    """Servers by pod and group of their first leaf in a fabric, in order; the pod is -1 in a fabric
    without switches.
    """
    place: dict[int, tuple[int, int]] = {}
    for link in plan.links:
        if link.fabric == fabric and link.network == fabric:
            near, far = plan.device_at[link.a.device], plan.device_at[link.b.device]
            if near.role == "server":
                place.setdefault(near.row, (far.pod, far.group) if far.role in SWITCHES else (-1, 1))
    groups = grouped((place[server.row], server) for server in plan.servers if server.row in place)
    return dict(sorted(groups.items()))


def group_name(fabric: str, group: int) -> str:
    """A group's name in files of schedulers."""
    return f"{fabric}-g{group:03d}"


def pod_name(fabric: str, pod: int) -> str:
    """A pod's name in files of schedulers."""
    return f"{fabric}-p{pod:02d}"


def nvlink_servers(server: Server) -> int:
    """Servers of an NVLink domain; 1 where NVLink does not leave the server."""
    return max(1, server.scale_up.domain_gpus // server.gpus) if server.scale_up and server.gpus else 1
