"""Cross checks of a case against its catalog: every id names a product of the right kind, and sizes work out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabopt.errors import Fault, fault, nearest
from fabopt.read.roles import check_roles
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import KINDS, Catalog, Server
from fabopt.schema.procurement import Procurement

SUPPORTED_TOPOLOGIES = ("clos", "any")
_A_KIND = dict(
    zip(KINDS, ("a switch", "a NIC", "a transceiver", "a cable", "a fibre", "a server"), strict=True),
)
_TIERS = ("leaf", "spine", "core")
# So many names are listed, more are counted.
MOST_NAMED = 6


def check_references(case: Case, catalog: Catalog, file: str) -> list[Fault]:
    """Return everything in a case that does not work out with this catalog; empty if nothing."""
    check = _Check(catalog, file)
    check.id_of("servers", case.server, "server")
    server = next((one for one in catalog.servers if one.id == case.server), None)
    if server is not None:
        check.built_in_nics(server)
        check.sizes(case, server)
        check.faults += check_roles(case, server, file)
    if case.site.floor is not None:
        # Imported here because most cases have no floor, and its geometry needs NumPy.
        from fabopt.read.floor import check_floor

        check.faults += check_floor(case.site, server, file)
    for index, fabric in enumerate(case.fabrics):
        check.fabric(fabric, f"fabrics[{index}]", case)
    check.procurement(case.procurement)
    return check.faults


def check_counted_servers(case: Case, catalog: Catalog, file: str) -> list[Fault]:
    """Return what a server that counts (``include_servers``) does not say of itself, price books applied."""
    server = next(one for one in catalog.servers if one.id == case.server)
    if not case.include_servers:
        return []
    missing = [name for name in ("price_usd", "power_w") if getattr(server, name) is None]
    return [
        fault(file, "include_servers", f"{server.id} has no {name}", True, hint="give it one, or leave servers out")
        for name in missing
    ]


def check_catalog(catalog: Catalog, file: str) -> list[Fault]:
    """Return the built-in NICs of all servers that the catalog does not have."""
    check = _Check(catalog, file)
    for server in catalog.servers:
        check.built_in_nics(server)
    return check.faults


class _Check:
    def __init__(self, catalog: Catalog, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []
        self.kind_of = {product.id: kind for kind in KINDS for product in getattr(catalog, kind)}
        self.ids = {kind: [product.id for product in getattr(catalog, kind)] for kind in KINDS}
        self.vendors = sorted({one.vendor for kind in KINDS for one in getattr(catalog, kind) if one.vendor})

    def report(self, path: str, problem: str, *value: object, allowed: str = "", hint: str = "") -> None:
        self.faults.append(fault(self.file, path, problem, *value, allowed=allowed, hint=hint))

    def id_of(self, kind: str, id_: str, path: str) -> None:
        """Report an id that is not a product of ``kind``."""
        found = self.kind_of.get(id_)
        if found == kind:
            return
        if found is not None:
            self.report(path, f"this is {_A_KIND[found]}, not {_A_KIND[kind]}", id_, hint=self.near(id_, kind))
        else:
            self.report(path, f"the catalog has no such {_A_KIND[kind].split()[1]}", id_, hint=self.near(id_, kind))

    def near(self, id_: str, kind: str) -> str:
        close = nearest(id_, self.ids[kind])
        if close:
            return f"did you mean `{close}`?"
        few = self.ids[kind]
        if len(few) <= MOST_NAMED:
            return f"it has {', '.join(few)}" if few else f"it has no {kind}"
        return f"`fabopt catalog list {kind}` names its {len(few)}"

    def built_in_nics(self, server: Server) -> None:
        for index, nic in enumerate(server.nics):
            self.id_of("nics", nic.id, f"servers.{server.id}.nics[{index}].id")

    def sizes(self, case: Case, server: Server) -> None:
        servers = 0
        for path, count, gpus in _sizes(case):
            if gpus is not None and (server.gpus == 0 or gpus % server.gpus):
                self.report(f"{path}gpus", "not a whole number of servers", gpus, allowed=_multiples(gpus, server))
                return
            now = count if count is not None else (gpus or 0) // server.gpus
            if now < servers:
                key = "servers" if count is not None else "gpus"
                self.report(f"{path}{key}", f"servers fall from {servers} to {now}; they may only grow")
            servers = now

    def fabric(self, fabric: Fabric, path: str, case: Case) -> None:
        for index, topology in enumerate(fabric.topologies):
            if topology not in SUPPORTED_TOPOLOGIES:
                allowed = " or ".join(SUPPORTED_TOPOLOGIES)
                where = f"{path}.topologies[{index}]"
                self.report(where, "this version cannot design this topology", topology, allowed=allowed)
        if fabric.nics != "any":
            self.ids_of("nics", fabric.nics, f"{path}.nics")
        for tier in _TIERS:
            ids = getattr(fabric.switches, tier)
            if ids != "any":
                self.ids_of("switches", ids, f"{path}.switches.{tier}")
        if fabric.group_by == "rack" and case.site.servers_per_rack is None and case.site.floor is None:
            self.report(f"{path}.group_by", "`rack` needs `site.servers_per_rack` or `site.floor`", "rack")

    def procurement(self, rules: Procurement) -> None:
        """Report vendors and parts that the catalog does not have, and those that are both approved and forbidden."""
        for key in ("approved_vendors", "forbidden_vendors"):
            for index, vendor in enumerate(getattr(rules, key) or ()):
                if vendor not in self.vendors:
                    where = f"procurement.{key}[{index}]"
                    self.report(where, "the catalog has no such vendor", vendor, hint=_near(vendor, self.vendors))
        for key in ("approved_parts", "forbidden_parts"):
            for index, part in enumerate(getattr(rules, key) or ()):
                if part not in self.kind_of:
                    where = f"procurement.{key}[{index}]"
                    self.report(where, "the catalog has no such product", part, hint=_near(part, list(self.kind_of)))
        for what in ("vendors", "parts"):
            forbidden = set(getattr(rules, f"forbidden_{what}") or ())
            for index, one in enumerate(getattr(rules, f"approved_{what}") or ()):
                if one in forbidden:
                    self.report(f"procurement.approved_{what}[{index}]", f"is in forbidden_{what} too", one)

    def ids_of(self, kind: str, ids: Iterable[str], path: str) -> None:
        for index, id_ in enumerate(ids):
            self.id_of(kind, id_, f"{path}[{index}]")


def _near(word: str, known: list[str]) -> str:
    close = nearest(word, known)
    if close:
        return f"did you mean `{close}`?"
    return f"it has {', '.join(known)}" if 0 < len(known) <= MOST_NAMED else f"it has {len(known)}"


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
