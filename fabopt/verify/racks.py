"""Rules ``rack-rules`` and ``rack-spread``: kept units, limits and sharing of racks, counted again device by device."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import ceil

from fabopt.rules.defaults import RACK_RULES, RACK_SPREAD, is_kept
from fabopt.schema.catalog import Switch, Transceiver
from fabopt.schema.design import FabricDesign
from fabopt.units import exact, milliwatts, some, summed
from fabopt.verify.evidence import Evidence
from fabopt.verify.floor import rack_milliwatts, usable_milliwatts
from fabopt.verify.proof import Proof, since, where
from fabopt.verify.wiring import CabledDesign

SWITCHES = ("leaf", "spine", "core")


@since("0.2.0", "case.content.site.rack_rules")
@where(lambda evidence: is_kept(evidence.case.rules, RACK_RULES))
def racks_keep_rules(proof: Proof, cabled: CabledDesign) -> None:
    """Every rack with servers or switches keeps the units that the case asks for free, and has no more switches than
    allowed.

    No device is in the units of patch panels, PDUs and the management switch at the top of its rack, nor in those of
    cable managers: below the j-th switch of a fabric from the top, ceil(j m) - ceil((j - 1) m), m for each switch. At
    most ``switches`` switches, and ``cable_ends`` links that end at them. Power with every switch at the larger of
    ``power_max_w`` and its own with its modules <= ``rack_power_w``, of one feed. Racks of a rack-scale system already
    have these units. Source: case file, ``site.rack_rules``; catalog, ``power_max_w``.
    """
    rules, racks = cabled.evidence.case.site.rack_rules, DeviceRacks(cabled)
    top = cabled.evidence.plan.floor.rack_units - kept_units(cabled.evidence)
    whole = () if cabled.evidence.server.rack is None else cabled.evidence.design.racks.server_racks
    for rack, units in racks.units.items():
        proof.holds(rack in whole or max(units) <= top, f"{rack}: a device in unit {max(units)}, above {top}")
        clash = units & racks.managers(rack)
        proof.holds(not clash, f"{rack}: a device where the cable manager of unit {max(clash, default=0)} is")
        proof.holds(min(racks.managers(rack), default=1) >= 1, f"{rack}: no room for its cable managers")
    switches, ends = racks.most_switches, racks.most_ends
    proof.holds(rules.switches is None or switches <= rules.switches, f"{some(switches, 'switch')} in a rack")
    proof.holds(rules.cable_ends is None or ends <= rules.cable_ends, f"{some(ends, 'cable end')} in a rack")
    if rules.power == "largest":
        _power_fits(proof, cabled)
    proof.note(f"at most {some(switches, 'switch')} with {some(ends, 'link')} in a rack, {top} units for devices")


def _power_fits(proof: Proof, cabled: CabledDesign) -> None:
    floor = cabled.evidence.plan.floor
    if floor.rack_power_w is None:
        return
    typical, most = rack_milliwatts(cabled.evidence, cabled.wiring), most_milliwatts(cabled)
    for rack, used in most.items():
        limit = usable_milliwatts(floor.part_of(rack))
        over = f"{rack} uses up to {used / 1000:g} W of {float(limit or 0) / 1000:g}"
        proof.holds(limit is None or used <= limit, over)
    told = [f"{max(used.values(), default=0) / 1000:g} W" for used in (most, typical)]
    proof.note(f"up to {told[0]} in a rack, typically {told[1]}")


def most_milliwatts(cabled: CabledDesign) -> Counter[str]:
    """Power of every rack in milliwatts, with each switch at the larger of its maker's maximum and its own with
    modules.
    """
    return rack_milliwatts(cabled.evidence, cabled.wiring) + _more_milliwatts(cabled)


def _more_milliwatts(cabled: CabledDesign) -> Counter[str]:
    """Excess of switches' maximum over their power with modules in milliwatts, by rack."""
    devices, modules = cabled.wiring.devices, cabled.wiring.modules
    in_modules = summed(
        (device, milliwatts(cabled.evidence.part(part, Transceiver).power_w or 0))
        for device, part in zip(modules.device.tolist(), modules.part, strict=True)
    )
    more: Counter[str] = Counter()
    for device, (role, product, rack) in enumerate(zip(devices.role, devices.product, devices.rack, strict=True)):
        if role in SWITCHES:
            switch = cabled.evidence.part(product, Switch)
            typical = milliwatts(switch.power_w or 0) + in_modules[device]
            more[rack] += max(0, milliwatts(switch.power_max_w or 0) - typical)
    return more


def kept_units(evidence: Evidence) -> int:
    """Units kept at the top of a rack."""
    case, rules = evidence.case, evidence.case.site.rack_rules
    management = rules.management_units
    if management is None:
        management = int(all(fabric.role != "oob" for fabric in case.fabrics))
    return rules.patch_panel_units + rules.pdu_units + management


class DeviceRacks:
    """DeviceRacks with servers or switches. ``units``: units in use by devices, by rack."""

    def __init__(self, cabled: CabledDesign) -> None:
        devices, self._links = cabled.wiring.devices, cabled.wiring.links
        self._rack, self._role = devices.rack, devices.role
        self._managers_per_switch = exact(cabled.evidence.case.site.rack_rules.manager_units_per_switch)
        self.units: dict[str, set[int]] = defaultdict(set)
        self._lowest: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        units, heights = devices.unit.tolist(), devices.height_u.tolist()
        columns = list(zip(devices.rack, devices.role, devices.fabric, units, heights, strict=True))
        own = {rack for rack, role, *_ in columns if rack and role != "attachment"}
        for rack, role, fabric, unit, height in columns:
            if rack in own:
                self.units[rack].update(range(unit, unit + max(1, ceil(height))))
                if role in SWITCHES:
                    self._lowest[rack][fabric].append(unit)

    def managers(self, rack: str) -> set[int]:
        """Units of the cable managers in a rack."""
        units: set[int] = set()
        for lowest in self._lowest[rack].values():
            before = 0
            for number, unit in enumerate(sorted(lowest, reverse=True), start=1):
                after = ceil(number * self._managers_per_switch)
                units.update(range(unit - after + before, unit))
                before = after
        return units

    @property
    def most_switches(self) -> int:
        """Switches in the rack with most."""
        return max((sum(map(len, of_rack.values())) for of_rack in self._lowest.values()), default=0)

    @property
    def most_ends(self) -> int:
        """Links that end at switches of the rack with most."""
        ends = Counter(
            self._rack[device]
            for device in (*self._links.a.tolist(), *self._links.b.tolist())
            if self._role[device] in SWITCHES
        )
        return max(ends.values(), default=0)


def has_named_racks(evidence: Evidence) -> bool:
    """Whether a case names racks for servers, or for switches of a tier."""
    return bool(evidence.plan.floor.server_racks or evidence.case.pinned_racks)


@since("0.2.0", "case.content.fabrics.racks", "case.content.site.floor.server_racks")
@where(has_named_racks)
def named_racks_are_kept(proof: Proof, cabled: CabledDesign) -> None:
    """Servers fill the racks that the case names for them, in its order, and switches are in the racks of their tier.

    Source: case file, ``site.floor.server_racks``, ``fabrics[].racks``.
    """
    evidence, devices = cabled.evidence, cabled.wiring.devices
    own, filled = evidence.plan.floor.server_racks, evidence.design.racks.server_racks
    if own is not None:
        proof.equal("racks of servers", list(filled), list(own[: len(filled)]))
        proof.note(f"{len(filled)} of {some(len(own), 'rack')} for servers")
    racks: dict[tuple[str, str], set[str]] = defaultdict(set)
    for fabric, role, rack in zip(devices.fabric, devices.role, devices.rack, strict=True):
        racks[fabric, role].add(rack)
    for wanted in evidence.case.fabrics:
        for tier, named in wanted.pinned.items():
            others = sorted(racks[wanted.name, tier] - set(named))
            proof.equal(f"racks of {wanted.name} {tier} switches beside {', '.join(named)}", others, [])
            proof.note(f"{wanted.name} {tier} switches in {', '.join(sorted(racks[wanted.name, tier])) or 'no rack'}")


@since("0.2.0", "case.content.site.rack_rules")
@where(lambda evidence: is_kept(evidence.case.rules, RACK_SPREAD))
def devices_are_spread(proof: Proof, cabled: CabledDesign) -> None:
    """No rack has all spines of a pod, all cores, or all leaves of a group unless it has all its servers.

    Of two or more such switches, racks >= 2; spines plane by plane and, rail-only, rail by rail, cores and leaves over
    all planes. Source: case file, ``site.rack_rules.spread_spines``, ``.spread_leaves``.
    """
    rules, counts = cabled.evidence.case.site.rack_rules, Counter[str]()
    for kind, racks in spread_sets(cabled):
        if rules.spread_leaves if kind == "leaf" else rules.spread_spines:
            proof.holds(len(set(racks)) > 1, f"{some(len(racks), kind)} all in {racks[0]}")
            counts[kind] += 1
    proof.note(", ".join(f"{some(number, 'set')} of {kind} switches" for kind, number in counts.items()) or "no sets")


def spread_sets(cabled: CabledDesign) -> Iterator[tuple[str, list[str]]]:
    """The tier and the racks of each set of two or more switches that must not share one rack."""
    devices = cabled.wiring.devices
    sets: dict[tuple[str, str, int, int, int], list[str]] = defaultdict(list)
    numbers = zip(devices.plane.tolist(), devices.rail.tolist(), devices.pod.tolist(), strict=True)
    columns = zip(devices.fabric, devices.role, numbers, devices.group.tolist(), devices.rack, strict=True)
    for fabric, role, of_spine, group, rack in columns:
        if role == "spine":
            sets[fabric, role, *of_spine].append(rack)
        elif role == "core":
            sets[fabric, role, 0, 0, 0].append(rack)
        elif role == "leaf":
            sets[fabric, role, 0, 0, group].append(rack)
    own = {designed.name: _racks_of_groups(cabled, designed) for designed in cabled.evidence.design.fabrics}
    for (fabric, role, *_, number), racks in sets.items():
        if len(racks) > 1 and (role != "leaf" or own[fabric][number] != set(racks)):
            yield role, racks


def _racks_of_groups(cabled: CabledDesign, designed: FabricDesign) -> dict[int, set[str]]:
    """The racks of the servers of each group; groups are numbered from 1."""
    devices, racks = cabled.wiring.devices, defaultdict[int, set[str]](set)
    of_servers = [rack for role, rack in zip(devices.role, devices.rack, strict=True) if role == "server"]
    for server, rack in enumerate(of_servers):
        racks[server // designed.structure.servers_per_group + 1].add(rack)
    return racks
