"""Cross checks of a case against its catalog: every id names a product of the right kind, and sizes work out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from fabopt.errors import Fault, fault
from fabopt.floor.rack_rules import servers_in_group
from fabopt.io.cabling import check_cabling
from fabopt.io.charges import check_charges_fit
from fabopt.io.floor import check_outside_losses
from fabopt.io.recognition import ProductNames, hint_for
from fabopt.io.roles import check_roles
from fabopt.io.sources import check_sources
from fabopt.io.workload import check_workload
from fabopt.parts.nic_planes import FEWEST_RAILS, MOST_PLANES, cannot_forward, lacking_words
from fabopt.parts.offering import is_chosen
from fabopt.problem.demand import computing, stages_of
from fabopt.problem.names import confused_names
from fabopt.schema.base import parse_split
from fabopt.schema.case import EFFECTIVE, Case, Fabric
from fabopt.schema.catalog import KINDS, Catalog
from fabopt.schema.procurement import Procurement
from fabopt.schema.product import Protocol
from fabopt.schema.rack_rules import RackGroups
from fabopt.schema.resilience import losses_of
from fabopt.schema.server import Server
from fabopt.schema.topologies import DESIGNED, TIERED, refused
from fabopt.units import gbps, mbps
from fabopt.workload.prediction import cluster_cents

_A_KIND = dict(
    zip(
        KINDS,
        ("a switch", "a NIC", "a transceiver", "a cable", "a fibre", "a trunk", "a panel", "a server"),
        strict=True,
    )
)
_TIERS = ("leaf", "spine", "core")
# What a switch and its managed twin have in common.
SAME = ("protocol", "cages", "max_ports", "rack_units")
# So many names are listed, more are counted.
MOST_NAMED = 6


def check_references(case: Case, catalog: Catalog, file: str, written: Mapping[str, str] | None = None) -> list[Fault]:
    """Return all faults of a case with this catalog; empty if there are none.

    ``written``: what the user wrote, by the id made of it, where these differ.
    """
    check = _ReferenceCheck(catalog, file, written)
    check.faults += confused_names(case, file)
    check.id_of("servers", case.server_id, "server")
    check.twins()
    server = next((server for server in catalog.servers if server.id == case.server), None)
    if server is not None:
        check.built_in_nics(server)
        check.sizes(case, server)
        check.whole_racks(server, case.site.servers_per_rack)
        check.faults += check_roles(case, server, file)
    if case.site.floor is not None:
        # Imported here because most cases have no floor, and its geometry needs NumPy.
        from fabopt.io.floor import check_floor

        check.faults += check_floor(case, server, file)
    elif any(fabric.names_places for fabric in case.fabrics):
        from fabopt.io.floor import check_racks_need_floor

        check.faults += check_racks_need_floor(case, file)
    for index, fabric in enumerate(case.fabrics):
        check.fabric(fabric, f"fabrics[{index}]", case)
        if server is not None:
            check.own_rails(fabric, f"fabrics[{index}]", server)
            check.planes(fabric, f"fabrics[{index}]", server)
            check.group_size(fabric, f"fabrics[{index}]", case, server)
    if server is not None and not check.faults:
        check.faults += check_outside_losses(case, server, file)
    check.procurement(case.procurement, [fabric.name for fabric in case.fabrics])
    check.faults += check_charges_fit(case, catalog, file)
    if case.site.zones != "rows" or not check.faults:  # ends of rows are those of a floor that may be
        check.faults += check_cabling(case, catalog, file)
    check.effective(case)
    if server is not None and not check.faults:
        check.faults += check_workload(case, server, file)
    return check.faults


def check_counted_servers(case: Case, catalog: Catalog, file: str) -> list[Fault]:
    """Return what a server that counts (``include_servers``, or in the objective) does not say of itself, price books
    applied.
    """
    server = next(server for server in catalog.servers if server.id == case.server_id)
    if (
        case.objective == EFFECTIVE
        and cluster_cents(0, False, server, stages_of(case, server)[-1].servers or 0) is None
    ):
        return [fault(file, "objective", f"{server.id} has no price_usd, and GPUs that wait cost nothing then",
                      EFFECTIVE, hint="give it one, in the catalog or a price book")]  # fmt: skip
    if not case.include_servers:
        return []
    missing = [name for name in ("price_usd", "power_w") if getattr(server, name) is None]
    return [
        fault(file, "include_servers", f"{server.id} has no {name}", True, hint="give it one, or leave servers out")
        for name in missing
    ]


def check_catalog(catalog: Catalog, file: str) -> list[Fault]:
    """Return the built-in NICs of all servers that the catalog does not have."""
    check = _ReferenceCheck(catalog, file)
    for server in catalog.servers:
        check.built_in_nics(server)
    return check.faults


class _ReferenceCheck:
    def __init__(self, catalog: Catalog, file: str, written: Mapping[str, str] | None = None) -> None:
        self.file = file
        self.catalog = catalog
        self.written = written or {}
        self.faults: list[Fault] = []
        self.kind_of = {product.id: kind for kind in KINDS for product in getattr(catalog, kind)}
        self.ids = {kind: [product.id for product in getattr(catalog, kind)] for kind in KINDS}
        self.vendors = sorted({one.vendor for kind in KINDS for one in getattr(catalog, kind) if one.vendor})

    def report(self, path: str, problem: str, *value: object, allowed: str = "", hint: str = "") -> None:
        self.faults.append(fault(self.file, path, problem, *value, allowed=allowed, hint=hint))

    def id_of(self, kind: str, id_: str, path: str) -> None:
        """Report an id that is not a product of ``kind``."""
        actual = self.kind_of.get(id_)
        if actual == kind:
            return
        if actual is not None:
            problem = f"this is {_A_KIND[actual]}, not {_A_KIND[kind]}"
        else:
            problem = f"the catalog has no such {_A_KIND[kind].split()[1]}"
        self.report(path, problem, self.written.get(id_, id_), hint=self.near(id_, kind))

    def near(self, id_: str, kind: str) -> str:
        few = self.ids[kind]
        hint = hint_for(id_, few, ProductNames(self.catalog), (kind,), MOST_NAMED)
        if hint:
            return hint
        if len(few) <= MOST_NAMED:
            return f"it has {', '.join(few)}" if few else f"it has no {kind}"
        return f"`fabopt catalog list {kind}` names its {len(few)}"

    def built_in_nics(self, server: Server) -> None:
        for index, nic in enumerate(server.nics):
            self.id_of("nics", nic.id, f"servers.{server.id}.nics[{index}].id")

    def twins(self) -> None:
        """Managed twins that are there and are not the same switch with a subnet manager."""
        switches = {one.id: one for one in self.catalog.switches}
        for switch in switches.values():
            twin = switches.get(switch.managed_twin or "")
            if twin is not None and not (
                twin.managed and all(getattr(twin, key) == getattr(switch, key) for key in SAME)
            ):
                same = f"a switch with `managed: true` and the same {', '.join(SAME)}"
                self.report(f"switches.{switch.id}.managed_twin", "not a twin of the switch", twin.id, allowed=same)

    def sizes(self, case: Case, server: Server) -> None:
        servers, before = 0, ""
        for path, count, gpus in _sizes(case):
            if gpus is not None and (server.gpus == 0 or gpus % server.gpus):
                self.report(f"{path}gpus", "not a whole number of servers", gpus, allowed=_multiples(gpus, server))
                return
            of_stage = count if count is not None else (gpus or 0) // server.gpus
            key = f"{path}{'servers' if count is not None else 'gpus'}"
            if of_stage < servers:
                self.report(key, f"servers fall from {servers} ({before}) to {of_stage}; they may only grow")
            servers, before = of_stage, key

    def fabric(self, fabric: Fabric, path: str, case: Case) -> None:
        self.topologies(fabric, path, case)
        self.spine_types(fabric, path)
        if fabric.nics != "any":
            self.ids_of("nics", fabric.nics, f"{path}.nics")
        for tier in _TIERS:
            ids = getattr(fabric.switches, tier)
            if ids != "any":
                self.ids_of("switches", ids, f"{path}.switches.{tier}")
        self.resilience(fabric, path, case)
        if fabric.racks_per_group is not None and not case.site.says_servers_per_rack and not self.sold_in_racks(case):
            asked = "rack" if fabric.group_by == "rack" else "racks"
            self.report(f"{path}.group_by", f"`{asked}` needs `site.servers_per_rack` or `site.floor`", asked)

    def group_size(self, fabric: Fabric, path: str, case: Case, server: Server) -> None:
        """Report groups of whole racks, equal by the case's own word, that have more servers than any leaf has ports at
        a speed of their NICs.
        """
        size = servers_in_group(fabric, case, server)
        if size is None or fabric.groups != "equal":
            return
        size = min(size, stages_of(case, server)[-1].servers or size)
        largest = max(
            ((switch.ports_at(speed), switch.id, speed)
             for switch in self.catalog.switches for speed in self.nic_speeds(fabric, server, switch.protocol)
             if fabric.protocol in ("any", switch.protocol) and is_chosen(switch, fabric.switches.leaf)),
            default=None,
        )  # fmt: skip
        if largest is not None and largest[0] < size:
            ports, leaf, speed = largest
            asked = {"racks": fabric.racks_per_group} if isinstance(fabric.group_by, RackGroups) else fabric.group_by
            problem = (
                f"`groups: equal` has {size} servers in a group, and no leaf has more than {ports} ports of a speed "
                "that their NICs have"
            )
            hint = f"group fewer racks; {leaf} has {ports} ports of {gbps(speed)} Gb/s"
            self.report(f"{path}.group_by", problem, asked, hint=hint)

    def nic_speeds(self, fabric: Fabric, server: Server, protocol: Protocol) -> set[int]:
        """Speeds in Mb/s that a port of a server may have in a fabric: those of its own NICs, or of all it may have."""
        nics = {nic.id: nic for nic in self.catalog.nics if protocol in nic.protocols}
        own = [nic for nic in server.nics if nic.role == fabric.role and nic.id in nics]
        cages = [cage for one in own for cage in one.cages or nics[one.id].cages] if own else [
            cage for nic in nics.values() if is_chosen(nic, fabric.nics) for cage in nic.cages
        ]  # fmt: skip
        return {parse_split(split).port_mbps for cage in cages for split in cage.splits}

    def sold_in_racks(self, case: Case) -> bool:
        """Whether the case's server comes in whole racks."""
        return any(server.id == case.server and server.rack is not None for server in self.catalog.servers)

    def whole_racks(self, server: Server, wanted: int | None) -> None:
        """Report another number of servers in a rack than a whole rack of them has."""
        if server.rack is not None and wanted not in (None, server.rack.servers):
            problem = f"{server.id} is sold in whole racks of {server.rack.servers}"
            hint = "leave it out"
            self.report("site.servers_per_rack", problem, wanted, allowed=str(server.rack.servers), hint=hint)

    def resilience(self, fabric: Fabric, path: str, case: Case) -> None:
        """Report losses of a tier that the fabric may not have."""
        tiers = fabric.tiers
        highest = len(_TIERS) if tiers == "any" else max(tiers) if isinstance(tiers, tuple) else tiers
        if not set(fabric.topologies) <= set(TIERED):
            return
        key = "resilience" if fabric.resilience is None else f"{path}.resilience"
        for loss in losses_of(case.resilience_of(fabric)):
            tier = loss.failures[0]
            if tier in _TIERS[highest:]:
                rule = f"`survive: {loss.survive}` contradicts `{path}.tiers: {highest}`, which has no {tier}"
                self.report(key, rule, loss.survive, hint="change one of the two")

    def effective(self, case: Case) -> None:
        """A cost of GPUs that work takes a model that says how long they wait, and for which fabric."""
        wanted = case.workload
        if wanted is not None and wanted.scenarios:
            limited = bool(wanted.placement) and wanted.max_exposed_communication < 1
            if case.objective != EFFECTIVE or limited:
                what = "a limit on one step" if limited else "what costs do not depend on"
                fault = f"scenarios are weighed in one ratio, not in {what}"
                self.report("workload.scenarios", fault, len(wanted.scenarios),
                            allowed=f"`objective: {EFFECTIVE}`, and no max_exposed_communication beside a placement",
                            hint="or say one placement, spreading and other_jobs of the workload")  # fmt: skip
        if case.objective != EFFECTIVE:
            return
        hint = "minimize capex_usd, tco_usd or power_w, or"
        if wanted is not None and (wanted.serves or any(job.serves for job in wanted.jobs)):
            self.report("objective", "utilization is of steps of training; a service has times as limits",
                        EFFECTIVE, hint="minimize capex_usd, tco_usd or power_w")  # fmt: skip
        if case.workload is None or case.workload.model is None:
            self.report("objective", "the case has no model to say how long GPUs wait", EFFECTIVE,
                        hint=f"{hint} write workload: {{model: ...}}, see `fabopt models`")  # fmt: skip
        if computing(case) is None:
            self.report("objective", "the case has no fabric of role compute that GPUs wait for", EFFECTIVE,
                        hint=f"{hint} add one")  # fmt: skip
        for index, fabric in enumerate(case.fabrics):
            if fabric.separation == "any":
                self.report(f"fabrics[{index}].separation", "the ratio of the objective is not compared between "
                            "separations", "any", allowed="physical, logical or shared", hint="say one")  # fmt: skip

    def topologies(self, fabric: Fabric, path: str, case: Case) -> None:
        """Report demands of a case that its families do not support."""
        if "any" in fabric.topologies:
            return
        for index, topology in enumerate(fabric.topologies):
            for feature in refused(case, fabric, topology):
                key = f"{path}.{feature.key}" if feature.of_fabric else feature.key
                fault = f"does not support {feature.words}, which `{key}` asks for"
                fit = [name for name in DESIGNED if not any(refused(case, fabric, name))]
                self.report(f"{path}.topologies[{index}]", fault, topology, allowed=" or ".join(fit))

    def spine_types(self, fabric: Fabric, path: str) -> None:
        """Report spines of two types, which files of 0.2 alone may have. Rule ``spines_may_differ``."""
        if fabric.spines == "mixed":
            problem = "spines of two types are not designed since 0.3 (`fabopt check` proves files that have some)"
            hint = "leave out the key; `groups: any` lets the last leaf group be of another type"
            self.report(f"{path}.spines", problem, fabric.spines, allowed="one-type", hint=hint)

    def own_rails(self, fabric: Fabric, path: str, server: Server) -> None:
        """Report what keeps a fabric from rails that are networks of their own, where it may have no other."""
        only = set(fabric.topologies) == {"rail-only"}
        if not only and (set(fabric.topologies) != {"clos"} or fabric.planes != "rails"):
            return
        key, name = ("topologies", "rail-only") if only else ("planes", "rails")
        allowed = (1, 2) if only else (2, 3)
        if not set(_listed(fabric.tiers)) & {"any", *allowed}:
            words = " or ".join(str(one) for one in allowed)
            self.report(f"{path}.tiers", f"`{key}: {name}` has {words} tiers", fabric.tiers, allowed=words)
        counts = [count for count in _nic_counts(fabric, server) if count >= FEWEST_RAILS]
        if not counts:
            rule = f"rails are at least {FEWEST_RAILS} NICs of a server, and {server.id} has fewer"
            self.report(f"{path}.{key}", rule, name)
            return
        demand = Fraction(mbps(fabric.min_gbps_per_gpu or 0))
        faults = [cannot_forward(server, count, demand) for count in counts]
        if None not in faults:
            hint = "the scale-up domain carries what crosses r rails, (r - 1)/r of a GPU's bandwidth"
            self.report(f"{path}.{key}", f"rails cannot be kept apart: {faults[0]}", name, hint=hint)

    def planes(self, fabric: Fabric, path: str, server: Server) -> None:
        """Report more planes than NICs are made for, where none of the catalog is for as many."""
        least = min((number for number in _listed(fabric.planes) if isinstance(number, int)), default=0)
        if least > MOST_PLANES and (why := lacking_words(fabric, server, self.catalog.nics)):
            self.report(f"{path}.planes", why, fabric.planes, hint="`any` looks at all that they can do")

    def procurement(self, rules: Procurement, fabrics: Sequence[str]) -> None:
        """Report vendors and parts missing in the catalog, or both approved and forbidden."""
        self.faults += check_sources(rules, fabrics, self.catalog, self.file, self.vendors)
        for key in ("approved_parts", "forbidden_parts"):
            for index, part in enumerate(getattr(rules, key) or ()):
                if part not in self.kind_of:
                    where = f"procurement.{key}[{index}]"
                    hint = hint_for(part, list(self.kind_of), ProductNames(self.catalog), KINDS, MOST_NAMED)
                    hint = hint or f"it has {len(self.kind_of)}; `fabopt catalog list KIND` names them"
                    self.report(where, "the catalog has no such product", self.written.get(part, part), hint=hint)
        for index, entry in enumerate(rules.approved_parts or ()):
            if entry in (rules.forbidden_parts or ()):
                self.report(f"procurement.approved_parts[{index}]", "is in forbidden_parts too", entry)

    def ids_of(self, kind: str, ids: Iterable[str], path: str) -> None:
        for index, id_ in enumerate(ids):
            self.id_of(kind, id_, f"{path}[{index}]")


def _listed(tiers: object) -> tuple[object, ...]:
    return tiers if isinstance(tiers, tuple) else (tiers,)


def _nic_counts(fabric: Fabric, server: Server) -> list[int]:
    """Possible numbers of NICs of a server for a fabric: its own, or those that case and slots allow."""
    own = sum(nic.count for nic in server.nics if nic.role == fabric.role)
    counts = [own] if own else list(range(1, server.nic_slots + 1))
    wanted = fabric.nics_per_server
    return counts if wanted == "any" else [count for count in counts if count in _listed(wanted)]


def _sizes(case: Case) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield (key path, servers, gpus) of each stage; one of the two is None."""
    if case.stages is None:
        yield "", case.servers, case.gpus
    for index, stage in enumerate(case.stages or ()):
        yield f"stages[{index}].", stage.servers, stage.gpus


def _multiples(gpus: int, server: Server) -> str:
    if server.gpus == 0:
        return f"`servers` instead: {server.id} has no GPUs"
    below = gpus - gpus % server.gpus
    near = [str(one) for one in (below, below + server.gpus) if one > 0]
    return f"a multiple of the {server.gpus} GPUs of {server.id}, such as {' or '.join(near)}"
