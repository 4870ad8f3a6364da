"""Cross checks of several halls: their names, racks alike, and routes that join them."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.floor.racks import rack_id
from fabopt.schema.case import MAX_RACKS, Case
from fabopt.schema.floor import ALIKE, FIRST_RACKS, MAX_CROSSINGS, CampusHall
from fabopt.schema.site import Site
from fabopt.units import some


def plain(number: float) -> float | int:
    """Return a number as an int if it is whole."""
    return int(number) if number.is_integer() else number


def check_hall_ratios(case: Case, file: str) -> Iterator[Fault]:
    """Report limits of what leaves a hall where they are not worked out."""
    for number, fabric in enumerate(case.fabrics):
        ratio = fabric.hall_ratio
        if ratio is None:
            continue
        key = f"fabrics[{number}].max_oversubscription.hall"
        if len(case.site.halls) < 2:
            yield fault(file, key, "there are no halls", ratio, hint="`site.halls` says which there are")
        if len(case.stages or ()) > 1 or case.base is not None:
            yield fault(file, key, "does not go with stages", ratio, hint="leave it out, or the stages")
        if fabric.topologies != ("clos",):
            yield fault(file, key, "is of Clos networks", ratio, hint="give `topologies: [clos]`")


def check_halls(site: Site, file: str) -> list[Fault]:
    """Return everything that does not work out between the halls of a site; nothing where there are none."""
    check = _HallsCheck(site, file)
    if site.halls:
        check.names()
        check.sizes()
        check.racks_alike()
        check.routes()
        check.joined()
    return check.faults


class _HallsCheck:
    def __init__(self, site: Site, file: str) -> None:
        self.site, self.file = site, file
        self.faults: list[Fault] = []
        self.halls = {hall.name: hall for hall in site.halls}

    def report(self, key: str, problem: str, *value: object, allowed: str = "", hint: str = "") -> None:
        self.faults.append(fault(self.file, f"site.{key}", problem, *value, allowed=allowed, hint=hint))

    def names(self) -> None:
        seen: dict[str, str] = {}
        for number, hall in enumerate(self.site.halls):
            if (other := seen.setdefault(hall.name.upper(), f"halls[{number}].name")) != f"halls[{number}].name":
                self.report(f"halls[{number}].name", f"`site.{other}` is too much like it", hall.name)

    def sizes(self) -> None:
        racks = sum(hall.rows * hall.racks_per_row for hall in self.site.halls)
        if racks > MAX_RACKS:
            self.report("halls", f"together they have {racks:,} racks", allowed=f"at most {MAX_RACKS:,}")
        crossings = sum(hall.rows * len(hall.cross_positions) for hall in self.site.halls)
        if crossings > MAX_CROSSINGS:
            problem = f"together their cross trays meet the rows at {crossings:,} points"
            self.report("halls", problem, allowed=f"at most {MAX_CROSSINGS:,}")

    def racks_alike(self) -> None:
        first = self.site.halls[0]
        words = {hall.network_racks for hall in self.site.halls if isinstance(hall.network_racks, str)}
        listed = [hall.name for hall in self.site.halls if not isinstance(hall.network_racks, str)]
        for number, hall in enumerate(self.site.halls[1:], start=1):
            for key in ALIKE:
                if (given := getattr(hall, key)) != (wanted := getattr(first, key)):
                    told = "not given" if wanted is None else f"{wanted:g}"
                    problem = f"racks and trays of all halls are alike, and in {first.name} it is {told}"
                    self.report(f"halls[{number}].{key}", problem, given if given is None else plain(float(given)))
        if len(words) > 1 or (listed and words > {"any"}):
            problem = "halls name racks of switches by different rules"
            hint = "give all of them one word, or lists; where lists are given, a hall without one has no such racks"
            self.report("halls", problem, sorted({*words, *(["a list"] if listed else [])}), hint=hint)

    def routes(self) -> None:
        met: dict[frozenset[str], str] = {}
        named: dict[tuple[frozenset[str], str | None], str] = {}
        for number, route in enumerate(self.site.routes):
            key = f"routes[{number}]"
            if (other := named.setdefault((frozenset(route.ends), route.duct), key)) != key:
                hint = "name another `duct`, or other `exits`; of one route, add up its `fibres`"
                self.report(key, f"`site.{other}` has the same ends and duct", route.name, hint=hint)
            self.pairs(number, met)
            for index, name in enumerate(route.between):
                if name not in self.halls:
                    problem = "there is no such hall"
                    self.report(f"{key}.between[{index}]", problem, name, allowed=", ".join(self.halls))
                    continue
                self.exit(f"{key}.exits[{index}]" if route.exits else key, self.halls[name], index, number)
            if len(set(route.between)) == 1 and route.between[0] in self.halls:
                self.report(f"{key}.between", "a route joins two different halls", list(route.between))

    def pairs(self, number: int, met: dict[frozenset[str], str]) -> None:
        """Report pairs of racks that a route cannot carry, or that another one does; ``met``: where each is listed."""
        route = self.site.routes[number]
        for index, pair in enumerate(route.pairs):
            key = f"routes[{number}].pairs[{index}]"
            for name, rack in zip(route.between, pair, strict=True):
                if name in self.halls and rack not in (ids := _ids_of(self.halls[name])):
                    self.report(key, f"{name} has no such rack", rack, allowed=f"A01 to {ids[-1]}")
            if (other := met.setdefault(frozenset(route.full(pair)), key)) != key:
                self.report(key, f"`site.{other}` lists them too, and cables between two racks take one way", [*pair])

    def exit(self, key: str, hall: CampusHall, index: int, number: int) -> None:
        """Report a rack above which no cable can leave a hall."""
        rack = (self.site.routes[number].exits or FIRST_RACKS)[index]
        if rack not in (ids := _ids_of(hall)):
            self.report(key, f"{hall.name} has no such rack", rack, allowed=f"A01 to {ids[-1]}")
        elif rack in hall.blocked:
            hint = "give `exits`: the racks above which cables leave the two halls"
            self.report(
                key, f"cables leave {hall.name} above a rack that is blocked, where the tray is cut", rack, hint=hint
            )

    def joined(self) -> None:
        """Report halls that no routes lead to from the first."""
        reached = {self.site.halls[0].name}
        for _ in self.site.halls:
            reached.update(
                name for route in self.site.routes if reached.intersection(route.between) for name in route.between
            )
        lost = [hall.name for hall in self.site.halls if hall.name not in reached]
        if lost:
            problem = f"no route leads to {some(len(lost), 'hall')} from {self.site.halls[0].name}"
            hint = "add one to `site.routes`: {between: [A, B], m: 350}"
            self.report("routes", problem, lost, hint=hint)


def _ids_of(hall: CampusHall) -> list[str]:
    """Ids of the racks of a hall, without its name."""
    return [rack_id(row, place) for row in range(hall.rows) for place in range(hall.racks_per_row)]
