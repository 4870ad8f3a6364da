"""Cross checks of a floor plan: its racks are there, trays are where they can be, and servers fit the racks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil

from fabopt.errors import Fault, fault
from fabopt.floor.appliances import ApplianceRacks, on_a_floor
from fabopt.floor.loads import RACK_LIMITS, RackLimit, load_of_server
from fabopt.floor.rack_rules import kept_units, servers_in_rack
from fabopt.floor.racks import height_m, rack_id, row_letters, row_of_letters, servers_that_fit
from fabopt.io.halls import check_hall_ratios, check_halls, plain
from fabopt.problem.demand import stages_of
from fabopt.rules.defaults import RACK_RULES, is_asked_for, is_kept
from fabopt.schema.attachment import Attachment
from fabopt.schema.case import Case, Fabric, Floor
from fabopt.schema.resilience import FEED, RACK, losses_of
from fabopt.schema.server import Server
from fabopt.units import exact, some

# Less is no power of a rack, but one that is meant in kilowatts.
_LEAST_W = 500
_LIKE_A_RACK = re.compile(r"([A-Z]{1,3})[ _.-]*([0-9]{1,9})")


def check_floor(case: Case, server: Server | None, file: str) -> list[Fault]:
    """Return everything that does not work out on a case's floor; a server that is None is reported elsewhere."""
    site = case.site
    assert site.floor is not None
    faults, check = check_halls(site, file), _FloorCheck(site.floor, file)
    halls = [_FloorCheck(hall, file, f"site.halls[{number}]") for number, hall in enumerate(site.halls)] or [check]
    for of_hall in halls:
        of_hall.lengths()
        of_hall.breaker()
        of_hall.cross_trays()
        of_hall.rack_lists()
    knows = server is not None and check.figures_known(server)
    if server is not None and knows and not [one for one in halls if not one.one_fits(server)]:
        check.servers_per_rack(server, site.servers_per_rack)
        check.rack_rules(case, server)
    if site.halls:
        check.faults += [*faults, *(fault for of_hall in halls for fault in of_hall.faults)]
    check.faults += check_hall_ratios(case, file)
    check.pinned_racks(case)
    check.attachments(case)
    if not check.faults:
        check.devices_have_places(on_a_floor(case))
    return check.faults


def _sold(server: Server) -> str:
    return server.id if server.rack is None else f"whole rack of {server.id}"


class _FloorCheck:
    """The checks of a floor, of all halls together, or of one of several, whose racks are named without it."""

    def __init__(self, floor: Floor, file: str, path: str = "") -> None:
        self.floor, self.file = floor, file
        self.faults: list[Fault] = []
        self.parts = {"": floor} if path or floor.parts == (floor,) else {part.prefix: part for part in floor.parts}
        self.path = path or ("site.floor" if "" in self.parts else "site.halls")
        self.ids = {
            f"{prefix}{rack_id(row, place)}"
            for prefix, part in self.parts.items() for row in range(part.rows) for place in range(part.racks_per_row)
        }  # fmt: skip

    def report(self, key: str, problem: str, *value: object, allowed: str = "", hint: str = "") -> None:
        self.faults.append(fault(self.file, key, problem, *value, allowed=allowed, hint=hint))

    def report_floor(self, key: str, problem: str, *value: object, allowed: str = "", hint: str = "") -> None:
        self.report(f"{self.path}.{key}", problem, *value, allowed=allowed, hint=hint)

    def lengths(self) -> None:
        floor, between = self.floor, self.floor.rows - 1
        if len(floor.aisles_m) != between:
            allowed = f"one width, or a list of {between}, one between each two rows" if between else "one width"
            widths = [plain(width) for width in floor.aisles_m]
            self.report_floor("aisle_m", "wrong number of aisles", widths, allowed=allowed)
        top = height_m(floor.rack_units, 1)
        if floor.tray_height_m < top:
            problem = f"trays hang lower than the topmost of a rack's {floor.rack_units} units, at {top:.2f} m"
            self.report_floor("tray_height_m", problem, plain(floor.tray_height_m))

    def cross_trays(self) -> None:
        last = self.floor.racks_per_row
        seen: set[int] = set()
        for index, position in enumerate(self.floor.cross_trays or ()):
            key = f"{self.path}.cross_trays[{index}]"
            if position > last:
                allowed = f"0 (before the first rack of a row) to {last} (after the last)"
                self.report(key, "this is outside the rows", position, allowed=allowed)
            elif position in seen:
                self.report(key, "this cross tray is listed twice", position)
            seen.add(position)

    def rack_lists(self) -> None:
        floor = self.floor
        self.racks(f"{self.path}.blocked", floor.blocked, {})
        taken = dict.fromkeys(floor.blocked, "blocked")
        self.racks(f"{self.path}.reserved", floor.reserved, taken)
        taken |= dict.fromkeys(floor.reserved, "reserved")
        self.racks(f"{self.path}.server_racks", floor.server_racks or (), taken)
        if not isinstance(floor.network_racks, str):
            taken |= dict.fromkeys(floor.server_racks or (), "server_racks")
            self.racks(f"{self.path}.network_racks", floor.network_racks, taken)

    def racks(self, path: str, ids: Sequence[str], taken: dict[str, str]) -> None:
        """Report ids of a list that are no racks, or twice there, or ``taken`` by another list."""
        seen: set[str] = set()
        for index, id_ in enumerate(ids):
            key = f"{path}[{index}]"
            if id_ not in self.ids:
                hint = f"did you mean `{self.nearest(id_)}`?" if self.nearest(id_) else ""
                self.report(key, "the floor has no such rack", id_, allowed=self.allowed(), hint=hint)
            elif id_ in seen:
                self.report(key, "this rack is listed twice", id_)
            elif id_ in taken:
                self.report(key, f"this rack is listed as {taken[id_]} too", id_)
            seen.add(id_)

    def allowed(self) -> str:
        told = []
        for prefix, part in self.parts.items():
            last = rack_id(part.rows - 1, part.racks_per_row - 1)
            rows = f"rows A to {row_letters(part.rows - 1)}" if part.rows > 1 else "row A"
            told.append(f"{rows}, racks 01 to {part.racks_per_row:02d}, as in {prefix}{last}")
        return "; ".join(told)

    def nearest(self, id_: str) -> str | None:
        """Return the rack that is meant or, beyond the floor's edge, the last one before it."""
        for prefix, part in self.parts.items():
            match = _LIKE_A_RACK.fullmatch(id_.strip().upper().removeprefix(prefix.upper()))
            if match is not None:
                row = min(row_of_letters(match[1]), part.rows - 1)
                return f"{prefix}{rack_id(row, min(max(int(match[2]), 1), part.racks_per_row) - 1)}"
        return None

    def figures_known(self, server: Server) -> bool:
        needed = {"rack_units": ""} | {limit.of: limit.key for limit in self.limits if limit.of}
        missing = [name for name in needed if getattr(server, name) is None]
        for name in missing:
            hint = "give it one in the catalog"
            hint += f", or leave out `{self.path}.{needed[name]}`" if needed[name] else ""
            self.report("server", f"it has no {name}, so the floor cannot say what fits a rack", server.id, hint=hint)
        return not missing

    @property
    def limits(self) -> list[RackLimit]:
        """What the case limits in a rack."""
        return [limit for limit in RACK_LIMITS if limit.of_servers and getattr(self.floor, limit.key) is not None]

    def one_fits(self, server: Server) -> bool:
        floor, before = self.floor, len(self.faults)
        units = server.rack_units if server.rack is None else server.rack.rack_units
        if units is not None and units > floor.rack_units:
            problem = f"no {_sold(server)} fits a rack: it takes {some(units, 'unit')}"
            self.report_floor("rack_units", problem, floor.rack_units, allowed=f"at least {units:g}")
        for limit in self.limits:
            load, given = limit.amount(load_of_server(server)), getattr(floor, limit.key)
            if load <= limit.most(floor):
                continue
            share = f" and {floor.breaker_share:g} of it may be in use" if limit.is_shared(floor) else ""
            problem = f"no {_sold(server)} fits a rack: it {limit.verb} {load:,.16g} {limit.unit}{share}"
            in_kw = limit.unit == "W" and given < _LEAST_W
            hint = f"it is in watts: write `{plain(given)} kW`" if in_kw else ""
            least = limit.needed(floor, load)
            self.report_floor(limit.key, problem, plain(float(given)), allowed=f"at least {least:.16g}", hint=hint)
        return len(self.faults) == before

    def breaker(self) -> None:
        if self.floor.breaker_share is not None and self.floor.rack_power_w is None:
            problem = f"it is a share of `{self.path}.rack_power_w`, the rating of a rack's breaker, which is not given"
            self.report_floor("breaker_share", problem, plain(self.floor.breaker_share))

    def servers_per_rack(self, server: Server, wanted: int | None) -> None:
        assert server.rack_units is not None
        if server.rack is not None:
            return
        load = load_of_server(server)
        most = servers_that_fit(self.floor, server.rack_units, load)
        if wanted is None or wanted <= most:
            return
        rack, per_server = some(self.floor.rack_units, "unit"), some(server.rack_units, "unit")
        for limit in self.limits:
            what = f" {limit.what}" if limit.what else ""
            rack += f" and {limit.most(self.floor):,.16g} {limit.unit}{what}"
            per_server += f" and {limit.amount(load):,.16g} {limit.unit}{what}"
        problem = f"so many {server.id} do not fit a rack: it has {rack}, each takes {per_server}"
        self.report("site.servers_per_rack", problem, wanted, allowed=f"at most {most}")

    def rack_rules(self, case: Case, server: Server) -> None:
        """Report rules of racks that no rack can meet, where the case asks for them by name."""
        if not is_asked_for(case.rules, RACK_RULES) or server.rack is not None:
            return
        units, kept = self.floor.rack_units, sum(kept_units(case).values())
        rack = f"a rack has {some(units, 'unit')} (`{self.path}.rack_units`)"
        servers = ceil(server.rack_units or 0) * (case.site.servers_per_rack or 1)
        if servers + kept > units:
            keys = ", ".join(f"`{key}`" for key in kept_units(case))
            problem = f"{rack}, its servers take {servers}, and {keys} keep so many"
            self.report("site.rack_rules", problem, kept, allowed=f"at most {max(0, units - servers)}")
        managers = case.site.rack_rules.manager_units_per_switch
        if kept + ceil(exact(managers)) + 1 > units:
            problem = f"{rack}, which has no room for a switch with so many units of cable managers"
            self.report("site.rack_rules.manager_units_per_switch", problem, plain(managers))

    def pinned_racks(self, case: Case) -> None:
        """Report racks for switches of a tier that are not there for them."""
        taken = dict.fromkeys(self.floor.blocked, "blocked") | dict.fromkeys(self.floor.reserved, "reserved")
        asked = self.floor.network_racks if isinstance(self.floor.network_racks, tuple) else None
        for number, fabric in enumerate(case.fabrics):
            for tier, racks in fabric.pinned.items():
                path = f"fabrics[{number}].racks.{tier}"
                self.racks(path, racks, taken)
                if fabric.separation in ("shared", "logical"):
                    key = f"fabrics[{number}].separation"
                    self.report(path, f"with `{key}: {fabric.separation}` it has no switches of its own", list(racks))
                others = () if asked is None or tier == "leaf" else [rack for rack in racks if rack not in asked]
                if others:
                    problem = f"`{self.path}.network_racks` names other racks for switches"
                    self.report(path, problem, others, allowed=", ".join(asked or ()), hint="change one of the two")

    def attachments(self, case: Case) -> None:
        """Report devices of attachments that no rack can hold, and racks that are not for them."""
        floor = self.floor
        asked = floor.network_racks if isinstance(floor.network_racks, tuple) else ()
        taken = dict.fromkeys(floor.blocked, "blocked") | dict.fromkeys(floor.reserved, "reserved")
        for number, fabric in enumerate(case.fabrics):
            for tier, racks in fabric.pinned.items():
                taken |= dict.fromkeys(racks, f"fabrics[{number}].racks.{tier}")
        taken |= dict.fromkeys(floor.server_racks or (), "server_racks") | dict.fromkeys(asked, "network_racks")
        stay = set[str]() if case.base is None else case.base.attachments_in_racks
        for path, attachment in _attachments(case):
            if attachment.rack_units is None:
                continue
            self.racks(f"{path}.racks", attachment.racks or (), taken)
            if attachment.rack_units > floor.rack_units:
                problem = f"no device of {attachment.name} fits a rack of {floor.rack_units} units"
                self.report(
                    f"{path}.rack_units", problem, plain(attachment.rack_units), allowed=f"at most {floor.rack_units}"
                )
            for limit in (limit for limit in self.limits if limit.of):
                of_halls = [limit.most(part) for part in floor.parts if getattr(part, limit.key) is not None]
                key, most = limit.of, max(of_halls)
                given, said = getattr(attachment, key), f"{most:,.16g} {limit.unit}"
                if given is None and attachment.name not in stay:
                    hint = f"give it one, or leave out `{self.path}.{limit.key}`"
                    self.report(f"{path}.{key}", f"missing, and a rack has {said}", hint=hint)
                elif given is not None and given > most and len(of_halls) == len(floor.parts):
                    problem = f"no device of {attachment.name} fits a rack: it has {said}"
                    self.report(f"{path}.{key}", problem, plain(given), allowed=f"at most {most:.16g}")

    def devices_have_places(self, case: Case) -> None:
        """Report attachments with too few racks for their devices."""
        placed, paths = ApplianceRacks(case, self.floor), {one.name: path for path, one in _attachments(case)}
        for appliance in placed.appliances:
            missing, attachment = placed.missing(appliance), appliance.attachment
            if not missing:
                continue
            racks = attachment.racks or placed.free
            devices = f"{some(attachment.boxes, 'device')} of {some(attachment.rack_units or 0, 'unit')}"
            room = some(self.floor.rack_units, "unit")
            for limit in self.limits:
                what = f" {limit.what}" if limit.what else ""
                devices += f" and {getattr(attachment, limit.of):,.16g} {limit.unit}{what}"
                room += f" and {limit.most(self.floor):,.16g} {limit.unit}{what}"
            problem = f"no room for {devices} in {some(len(racks), 'rack')} of {room}, with what else is there: "
            problem += f"{missing} without a place"
            hint = "name more racks" if attachment.racks else "give the floor more racks"
            self.report(
                f"{paths[attachment.name]}.boxes",
                problem,
                attachment.boxes,
                allowed=f"{attachment.boxes - missing}",
                hint=hint,
            )


def _attachments(case: Case) -> Iterator[tuple[str, Attachment]]:
    """All attachments with their paths in the case file."""
    for number, fabric in enumerate(case.fabrics):
        for index, attachment in enumerate(fabric.attachments):
            yield f"fabrics[{number}].attachments[{index}]", attachment


def check_racks_need_floor(case: Case, file: str) -> list[Fault]:
    """Return attachments, and tiers of fabrics, that name racks where there is no floor, and ratios between halls."""
    named = [(f"{path}.racks", one.racks) for path, one in _attachments(case) if one.racks]
    for number, fabric in enumerate(case.fabrics):
        named += [(f"fabrics[{number}].racks.{tier}", racks) for tier, racks in fabric.pinned.items()]
    faults = [
        fault(file, path, "there is no floor with racks", list(racks), hint="add `site.floor`") for path, racks in named
    ]
    return [*faults, *check_hall_ratios(case, file)]


# -- losses of racks --------------------------------------------------------------------------------------------------


def check_outside_losses(case: Case, server: Server, file: str) -> list[Fault]:
    """Return faults of a case that asks to survive the loss of a rack or of a feed."""
    faults = []
    for index, fabric in enumerate(case.fabrics):
        resilience = case.resilience_of(fabric)
        own = "resilience" if fabric.resilience is None else f"fabrics[{index}].resilience"
        asked = {loss.failures[0]: loss.survive for loss in losses_of(resilience)}
        for what, problems in ((RACK, _of_racks(case, server, fabric, index)), (FEED, _of_feeds(case, server))):
            if what in asked:
                faults += [
                    fault(file, own, f"`survive: {asked[what]}` {problem}", asked[what], hint=hint)
                    for problem, hint in problems
                ]
    return list(dict.fromkeys(faults))


def _of_racks(case: Case, server: Server, fabric: Fabric, index: int) -> Iterator[tuple[str, str]]:
    if case.site.floor is None:
        hint = "say where racks are, as `site: {floor: {rows: 2, racks_per_row: 8}}`, or ask for `1 leaf` and `1 spine`"
        yield "needs racks, and there is no `site.floor`", hint
        return
    tiers = fabric.tiers if isinstance(fabric.tiers, tuple) else (fabric.tiers,)
    if set(tiers) == {1} and fabric.planes in (1, (1,)) and set(fabric.topologies) == {"clos"}:
        key = f"`fabrics[{index}].tiers: 1`"
        yield f"contradicts {key}: its one switch is in one rack", "change one of the two, or give it `planes: 2`"
    servers, per_rack = stages_of(case, server)[-1].servers or 0, servers_in_rack(case, server)
    if per_rack is not None and servers <= per_rack:
        problem = f"contradicts `site.servers_per_rack`: one rack holds all {some(servers, 'server')}"
        yield problem, f"write fewer in a rack than {servers}"


def _of_feeds(case: Case, server: Server) -> Iterator[tuple[str, str]]:
    rules, floor = case.site.rack_rules, case.site.floor
    if floor is None or floor.rack_power_w is None:
        missing = "site.floor" if floor is None else "site.floor.rack_power_w"
        hint = "say what one of a rack's two feeds gives, as `site: {floor: {rows: 2, racks_per_row: 8, "
        yield f"needs the power of a feed, and there is no `{missing}`", f"{hint}rack_power_w: 40000}}}}`"
    if rules.feeds == 1:
        yield "contradicts `site.rack_rules.feeds: 1`: every rack is lost with it", "change one of the two"
    if rules.power == "typical":
        yield "contradicts `site.rack_rules.power: typical`: one feed has to carry the most", "change one of the two"
    if not is_kept(case.rules, RACK_RULES):
        problem = f"contradicts `rules`, where `{RACK_RULES}` is off: it is by that rule that one feed carries a rack"
        yield problem, "change one of the two"
    if server.power_supplies == 1:
        yield f"contradicts `server: {server.id}`, which has one power supply", "change one of the two"
