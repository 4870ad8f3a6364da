"""Settings of servers: NCCL's, the RDMA traffic class, and the order of hosts in which rings cross least."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.operate.hostlists import crossings, rank_order
from fabopt.operate.model import NamedPort, OperationPlan
from fabopt.output.export.formats import Content, Exported, Files
from fabopt.schema.catalog import Switch
from fabopt.schema.design import FabricDesign
from fabopt.schema.workload import QueuePairs
from fabopt.units import some
from fabopt.wiring.design_file import Embedded

FOLDER = "hosts"
OWN_FILES = r"nccl\.conf|hostfile|roce\.sh"
NCCL, HOSTS, ROCE = "nccl.conf", "hostfile", "roce.sh"
# The bits of the type of service that say that a packet may be marked.
CAN_MARK = 2
ADAPTIVE = "adaptive-routing"
# For each connection, where switches hash flows to uplinks: those who run such fabrics take two to four.
_QUEUE_PAIRS = 4


def files_of(asked: Exported) -> Files:
    """Return ``nccl.conf`` and ``hostfile``, and of Ethernet ``roce.sh``."""
    design, plan = asked.design, asked.plan
    fabric = next((fabric for fabric in design.fabrics if fabric.role == "compute"), design.fabrics[0])
    embedded = Embedded(design)
    nccl = [*nccl_lines(plan, fabric), *spreading_lines(embedded, fabric)]
    files: dict[str, Content] = {NCCL: nccl, HOSTS: host_lines(plan, embedded.server.gpus)}
    if fabric.protocol == "ethernet":
        files[ROCE] = roce_lines(plan, fabric)
    return files


def _ports(plan: OperationPlan, fabric: FabricDesign) -> list[NamedPort]:
    """Ports of the first server in a fabric, NIC by NIC: all servers are alike."""
    first = plan.servers[0].row
    ports = [port for port, link in plan.ports_at[first] if link.network == fabric.name]
    return sorted(ports, key=lambda port: (port.cage, port.lane))


def nccl_lines(plan: OperationPlan, fabric: FabricDesign) -> Iterator[str]:
    """Yield NCCL's settings as far as the design determines them; others keep NCCL's defaults."""
    yield f"# /etc/nccl.conf of {plan.case}, fabric {fabric.name}, stage {plan.stage}"
    ports = _ports(plan, fabric)
    names = [port.name for port in ports]
    if all(port.name != port.port for port in ports):
        yield f"NCCL_IB_HCA=={','.join(names)}"
    else:
        yield f"# NCCL_IB_HCA: names of the RDMA devices are not known; operate.hcas.{fabric.name} says them"
    if fabric.topology == "rail-only":
        yield "# Rails never meet: a ring may not enter at one rail and leave at another."
        yield "NCCL_CROSS_NIC=0"
    if fabric.protocol == "ethernet":
        yield f"NCCL_IB_TC={plan.queues.rdma_dscp << 2 | CAN_MARK}"
        if plan.operate.host_addresses == "rails" and fabric.topology != "rail-only":
            yield "NCCL_IB_SUBNET_AWARE_ROUTING=1"
    yield "# NCCL_TOPO_FILE is a fact of the machine, not of the fabric: the catalog has no file of its PCI tree."
    yield "# NCCL reads that itself, except on virtual machines, whose provider has the file."


def spreading_lines(embedded: Embedded, fabric: FabricDesign) -> Iterator[str]:
    """Yield NCCL's settings for spreading flows of Ethernet over uplinks: switches spread packets, or hash several
    queue pairs.
    """
    if fabric.protocol != "ethernet" or not any(tier.up_ports for tier in fabric.tiers):
        return
    workload = embedded.case.workload
    said = workload.spreading if workload else None
    ids = (row.id for tier in fabric.tiers for row in tier.types)
    others = [product for product in ids if ADAPTIVE not in embedded.part(product, Switch).features]
    if isinstance(said, QueuePairs):
        yield f"# workload.spreading: flows are hashed to uplinks, {said.queue_pairs} queue pairs for each connection."
        yield f"NCCL_IB_QPS_PER_CONNECTION={said.queue_pairs}"
    elif said == "adaptive" or not others:
        yield f"# {'workload.spreading' if said else 'The catalog'}: switches spread packets over uplinks."
        yield "NCCL_IB_ADAPTIVE_ROUTING=1"
    else:
        yield f"# The catalog does not say that {others[0]} routes adaptively, so flows are hashed to uplinks"
        yield "# (workload.spreading says it): several queue pairs for each connection use more of them."
        yield f"NCCL_IB_QPS_PER_CONNECTION={_QUEUE_PAIRS}"


def host_lines(plan: OperationPlan, gpus: int) -> Iterator[str]:
    """Yield servers in the order of ranks: by pod and group, so that a ring crosses each boundary once."""
    servers = rank_order(plan.servers)
    crossed = some(crossings(servers), "time")
    yield f"# {some(len(servers), 'server')} in the order of ranks; a ring goes {crossed} to another group"
    yield from (f"{server.name} slots={gpus}" for server in servers)


def roce_lines(plan: OperationPlan, fabric: FabricDesign) -> Iterator[str]:
    """Yield the commands of a server with Mellanox NICs: trust DSCP, pause one priority, mark what RDMA sends."""
    queues = plan.queues
    pauses = ",".join("1" if priority == queues.rdma_priority else "0" for priority in range(8))
    yield "#!/bin/sh"
    classes = f"DSCP {queues.rdma_dscp} on priority {queues.rdma_priority}"
    yield f"# {plan.case}, fabric {fabric.name}: {classes}, MTU {queues.mtu}"
    for port in _ports(plan, fabric):
        if port.name == port.port:
            yield f"# {port.port}: the name of its RDMA device is not known; operate.hcas.{fabric.name} says it"
            continue
        yield f"interface=$(ls /sys/class/infiniband/{port.name}/device/net | head -n 1)"
        yield f'ip link set dev "$interface" mtu {queues.mtu}'
        yield f'mlnx_qos -i "$interface" --trust dscp --pfc {pauses}'
        yield f"cma_roce_tos -d {port.name} -t {queues.rdma_dscp << 2 | CAN_MARK}"
