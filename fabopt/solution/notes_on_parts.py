"""Notes on the parts of a design: what the catalog leaves open of them, and what its choice rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fabopt.floor.loads import is_cooling_told
from fabopt.floor.rack_rules import keys_without_racks, parts_of, rule_of
from fabopt.parts.pools import pool_verdict, ports_text, shortfall_text
from fabopt.parts.procurement import airflow_of, planned_airflow
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.rules.defaults import (
    AIRFLOW,
    APPLIANCE_RACKS,
    DEFAULT_RULES,
    INTERCHANGEABLE,
    OPTIC_LOSS,
    RACK_RULES,
    RACK_SPREAD,
    ROW_ENDS,
    is_kept,
)
from fabopt.schema.case import Case
from fabopt.schema.catalog import Cable, Catalog, Switch, Transceiver
from fabopt.schema.design import Design, FabricDesign, LinkRow
from fabopt.schema.facts import Optics
from fabopt.schema.operate import Roce
from fabopt.schema.resilience import FEED, survives_loss_of
from fabopt.schema.server import Server
from fabopt.solution.question import Answers
from fabopt.topology.candidate import Ends
from fabopt.topology.pools import ETHERNET, WeighedTier, weighed_tiers
from fabopt.units import first_of, grouped, largest, some
from fabopt.wiring.build import wiring_of
from fabopt.wiring.channels import channels_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.structured import structured_of

# -- notes on airflow: switches of unknown airflow, or without a common direction -------------------------------------


ANCHOR = "docs/catalog.md#airflow"


def rack_part_notes(case: Case, catalog: Catalog, design: Design) -> Iterator[str]:
    """Notes on what racks are given by parts: air, weight, cords."""
    yield from _airflow_notes(case, catalog, design)
    yield from _weight_notes(case, catalog, design)
    yield from _outlet_notes(case, catalog, design)


def _airflow_notes(case: Case, catalog: Catalog, design: Design) -> Iterator[str]:
    """With a wanted airflow, switches of unknown airflow; without one, switches that blow against each other."""
    if not design.fabrics:
        return
    used = {row.id for fabric in design.fabrics for tier in fabric.tiers for row in tier.types}
    switches = [switch for switch in catalog.switches if switch.id in used]
    wanted = airflow_of(case)
    unknown = ", ".join(sorted(switch.id for switch in switches if not switch.airflows))
    if wanted is not None and unknown:
        yield f"`site.rack_rules.airflow`: the catalog does not say how {unknown} may be ordered: ask for {wanted}"
    sold = {switch.id: set(switch.airflows) for switch in switches if switch.airflows}
    server = next((one for one in catalog.servers if one.id == case.server_id), None)
    beside = None if server is None or wanted is not None else planned_airflow(case, server, ())
    if server is not None and beside is not None:
        rule = DEFAULT_RULES[AIRFLOW]
        other = ", ".join(sorted(id_ for id_ in sold if beside not in sold[id_]))
        ordered = planned_airflow(case, server, switches)
        alone = f"; {other}, sold with the other only, and all that are sold so stand apart: {ordered}"
        apart = "" if ordered == beside else alone
        yield rule.note(f"{server.id} has its ports at the {server.ports_side}, so {beside}{apart}")
        if other and ordered == beside:
            yield (
                f"rule `{AIRFLOW}`: {other}, sold with the other airflow only, would breathe the air that servers blow "
                "out: such switches need racks of their own, ports to the other aisle (`site.floor.network_racks`)"
            )
    elif server is not None and wanted is None and (ordered := planned_airflow(case, server, switches)) is not None:
        only = ", ".join(sorted(id_ for id_, ways in sold.items() if ways == {ordered}))
        why = f"{only} is sold with {ordered} only" if only else "their usual codes differ"
        yield DEFAULT_RULES[AIRFLOW].note(
            f"where {server.id} has its ports is not known, and {why}: all switches that are sold so are ordered so"
        )
    elif wanted is None and sold and not set.intersection(*sold.values()):
        ways = "; ".join(f"{id_} is sold with {' and '.join(sorted(sold[id_]))}" for id_ in sorted(sold))
        yield f"no one airflow goes for all switches: {ways}; `site.rack_rules.airflow` asks for one ({ANCHOR})"


# -- the note on what optical links lose ------------------------------------------------------------------------------


def loss_notes(design: Design) -> Iterator[str]:
    """What rule ``optic-loss`` came to: by standard the link with least to spare, and budgets that are not known."""
    embedded = Embedded(design)
    channels = [channel for fabric in design.fabrics for channel in channels_of(embedded, fabric)]
    if not channels or embedded.optics == Optics() or not is_kept(embedded.case.rules, OPTIC_LOSS):
        return  # a catalog without such facts has told that by having none
    known = grouped((one.standard, one) for one in channels if one.budget_db is not None)
    least = [min(ones, key=lambda one: one.margin_db or 0.0) for ones in known.values()]
    told = [f"{one.standard} loses up to {one.loss.largest_db:.2f} of {one.budget_db:g} dB" for one in least]
    unknown = sorted({one.standard for one in channels if one.budget_db is None})
    told += [f"the budget of {', '.join(unknown)} is not known"] if unknown else []
    plugs = sorted({plug for one in channels for plug in one.loss.unknown})
    told += [f"what {', '.join(plugs)} lose is not known"] if plugs else []
    yield DEFAULT_RULES[OPTIC_LOSS].note("; ".join(told))


# -- notes on modules and cables with one maker's coding in devices of another whose accepted coding is unknown -------


def coding_notes(design: Design) -> Iterator[str]:
    """One note for each coded part, with its devices of other makers that name no coding.

    Their behaviour is unknown: makers' systems warn, disable the port, or accept any coding, by release and setting.
    """
    devices_by_part: dict[str, dict[str, None]] = {}
    for fabric in design.fabrics:
        for row in fabric.links:
            for part in row.parts:
                for device in _devices(fabric, row, part.end):
                    if _is_open(design.parts[part.id], design.parts.get(device, {})):
                        devices_by_part.setdefault(part.id, {})[device] = None
    for id_, devices in devices_by_part.items():
        coded = " or ".join(design.parts[id_]["coded_for"])
        into = ", ".join(
            f"{device} ({design.parts.get(device, {}).get('vendor') or 'no vendor'})" for device in devices
        )
        yield (
            f"{id_} is coded for {coded} and goes into {into}, of which no source says whose coding it takes: order it "
            "with the coding that they need, or say so in the catalog (`accepts_coding`)"
        )


def _devices(fabric: FabricDesign, row: LinkRow, end: str | None) -> Iterator[str]:
    """The switches and NICs of a fabric at the end of its links where a part sits; of a cable at both."""
    for place, role in (("from", row.from_), ("to", row.to)):
        if end not in (None, place):
            continue
        if role == "server":
            yield fabric.nic.id
        for tier in fabric.tiers:
            yield from (used.id for used in tier.types if tier.role == role)


def _is_open(part: Mapping[str, object], device: Mapping[str, object]) -> bool:
    """Whether a part is coded, and its device is of another maker and states no accepted coding."""
    coded = part.get("coded_for")
    return isinstance(coded, Sequence) and device.get("vendor") not in coded and not device.get("accepts_coding")


# -- notes on the loss of a power feed: power supplies that the catalog leaves open -----------------------------------


def feed_notes(problem: Problem, design: Design) -> Iterator[str]:
    """A note that two power supplies are assumed where unknown, if the loss of a feed must be survived."""
    case = problem.case
    asked = {fabric.name for fabric in case.fabrics if survives_loss_of(case.resilience_of(fabric), FEED)}
    if not asked or not design.fabrics:
        return
    supplies = {switch.id: switch.power_supplies for switch in problem.catalog.switches}
    supplies[problem.server.id] = problem.server.power_supplies
    used = {row.id for fabric in design.fabrics if fabric.name in asked for tier in fabric.tiers for row in tier.types}
    unknown = sorted(one for one in (*used, problem.server.id) if supplies.get(one) is None)
    if unknown:
        told = f"the catalog does not say how many power supplies {', '.join(unknown)} have"
        yield f"`survive: 1 feed`: {told}: two are assumed, one on each feed of the rack"


# -- notes on stand-ins: tiers with switches of several products ------------------------------------------------------


def stand_in_notes(design: Design) -> Iterator[str]:
    """The products of tiers with several, and the stand-ins that each stage installs."""
    for fabric in design.fabrics:
        for tier in fabric.tiers:
            if tier.stand_ins:
                products = " and ".join(f"{own.count} x {own.id}" for own in tier.types)
                by_stage = ", ".join(f"{one.count} x {one.id} at {one.stage}" for one in tier.stand_ins)
                told = f"{products} as {tier.role}, of which {by_stage}"
                yield f"{fabric.name}: {DEFAULT_RULES[INTERCHANGEABLE].note(told)}"


# -- notes on buffer pools of switches, and on equal switches whose pools are too small -------------------------------


_MOST_NOT_PICKED = 4


def pool_notes(answers: Answers, design: Design) -> Iterator[str]:
    """A note for each Ethernet product of a tier whose buffer pool is too small for its ports, or must hold them."""
    if answers.best is None:
        return
    for fabric, (candidate, _), designed in zip(
        answers.shown.fabrics, answers.best.picked, design.fabrics, strict=True
    ):
        if designed.protocol == ETHERNET and designed.role != "oob":
            roce = fabric.roce or Roce()
            weighed_of_role = grouped(
                (weighed.tier.role, weighed)
                for weighed in weighed_tiers(candidate.design.file_part(), roce, _bought(designed))
            )
            for alike in weighed_of_role.values():
                yield from dict.fromkeys(note for weighed in alike for note in _notes(fabric, roce, weighed))
                if fabric.roce is not None:
                    yield from _not_picked(fabric, roce, alike)


def _bought(designed: FabricDesign) -> Mapping[Ends, float]:
    parts = (((row.from_, row.to), part.length_m) for row in designed.links for part in row.parts)
    return largest((ends, float(length_m)) for ends, length_m in parts if length_m is not None)


def _notes(fabric: FabricProblem, roce: Roce, weighed: WeighedTier) -> Iterator[str]:
    tier, verdict, priorities = weighed.tier, weighed.verdict, roce.lossless_priorities
    where = f"{fabric.name}: {tier.role} {tier.switch.id}"
    if verdict is None:
        if fabric.roce is not None:
            yield f"{where}: whether its pool holds its lossless ports is not known, so that left nothing out"
        return
    if verdict.spare < 0:
        yield f"{where}: {shortfall_text(weighed.ports, priorities, verdict)}; with `roce` it would not be picked"
        return
    if fabric.roce is not None:
        yield f"{where}: its pool holds {ports_text(weighed.ports, priorities)}"


def _not_picked(fabric: FabricProblem, roce: Roce, alike: Sequence[WeighedTier]) -> Iterator[str]:
    """Switches not in a tier with as many ports as its first product, whose pools are known to be too small."""
    weighed, told = alike[0], 0
    tier, picked = weighed.tier, {one.tier.switch.id for one in alike}
    if weighed.verdict is None or weighed.verdict.spare < 0:
        return
    for switch in fabric.switches[ETHERNET][tier.role]:
        product = switch.product
        speeds = {use.lane.port_mbps for use in switch.uses}
        fits = switch.max_ports >= tier.down_ports + tier.up_ports and tier.down.lane.port_mbps in speeds
        if switch.id in picked or product.asic is None or not fits or told == _MOST_NOT_PICKED:
            continue
        verdict = pool_verdict(product.asic, product.buffer_pool, weighed.ports, roce.lossless_priorities, roce.mtu)
        if verdict is not None and verdict.spare < 0:
            told += 1
            short = shortfall_text(weighed.ports, roce.lossless_priorities, verdict)
            yield f"{fabric.name}: {tier.role}: not picked: {switch.id}: {short}"


# -- notes on parts without stated protocols, in a catalog with switches of several protocols -------------------------


_MOST_NAMED = 4


def protocol_notes(catalog: Catalog, design: Design) -> Iterator[str]:
    """One note on transceivers and cables of a design without a stated protocol, assumed to run any."""
    if len({switch.protocol for switch in catalog.switches}) < 2:
        return
    plugged: tuple[Transceiver | Cable, ...] = (*catalog.transceivers, *catalog.cables)
    silent = {part.id for part in plugged if not part.protocols}
    ids = [part for part in design.parts if part in silent]
    if ids:
        named = first_of(ids, _MOST_NAMED)
        yield f"{some(len(ids), 'part')} without `protocols` in the catalog, taken to run any: {named}"


# -- notes on qualified parts: devices without a list in the case -----------------------------------------------------


def pair_notes(case: Case, catalog: Catalog, design: Design) -> Iterator[str]:
    """Devices of a design without a list of qualified parts, while others have one."""
    named = set(case.procurement.parts_by_device)
    if not named or not design.fabrics:
        return
    if case.server_id in named:
        named |= {nic.id for server in catalog.servers if server.id == case.server_id for nic in server.nics}
    used = {row.id for fabric in design.fabrics for tier in fabric.tiers for row in tier.types}
    used |= {fabric.nic.id for fabric in design.fabrics}
    if unnamed := sorted(used - named):
        yield f"`procurement.qualified` does not name {', '.join(unnamed)}: any part that fits may be plugged in there"


# -- notes on the parts of the default rules of racks that an answer keeps --------------------------------------------


def _weight_notes(case: Case, catalog: Catalog, design: Design) -> Iterator[str]:
    """With a limit on weight or heat, the products whose weight or cooling the catalog does not have."""
    used = {row.id for fabric in design.fabrics for tier in fabric.tiers for row in tier.types}
    switches = [switch for switch in catalog.switches if switch.id in used]
    products: list[Switch | Server] = [*switches, *(server for server in catalog.servers if server.id in design.parts)]
    unknown = ", ".join(sorted(product.id for product in products if product.weight_kg is None))
    if unknown and "weight_kg" in case.site.racks_look_at:
        rest = f"the catalog has no weight of {unknown}, nor of cards, modules and cables"
        yield f"`site.floor`: racks weigh at least what is counted: {rest}"
    unknown = ", ".join(sorted(product.id for product in products if not is_cooling_told(product)))
    if unknown and "liquid_share" in case.site.racks_look_at:
        yield f"`site.floor`: all heat of {unknown} counts, as the catalog does not say what liquid takes of it"


def _outlet_notes(case: Case, catalog: Catalog, design: Design) -> Iterator[str]:
    """With a number of outlets, what the catalog has no inlets of; attachments never have any."""
    used = {row.id for fabric in design.fabrics for tier in fabric.tiers for row in tier.types} | set(design.parts)
    products: tuple[Switch | Server, ...] = (*catalog.switches, *catalog.servers)
    unknown = sorted(product.id for product in products if product.id in used and not product.inlets)
    if unknown and "cords" in case.site.racks_look_at:
        yield f"`site.floor`: the catalog has no inlets of {', '.join(unknown)}: their cords need outlets beside these"


def appliance_notes(design: Design, case: Case) -> Iterator[str]:
    """What rule ``appliance-racks`` came to, attachment by attachment."""
    told = []
    for fabric in case.fabrics if is_kept(case.rules, APPLIANCE_RACKS) else ():
        for attachment in fabric.attachments:
            placed = next((own.places for own in design.fabrics if own.name == fabric.name), None)
            if placed is not None and attachment.may_stand_anywhere and attachment.name in placed.attachments:
                racks = {rack for rack, _ in placed.attachments[attachment.name]}
                is_moved = racks <= {rack for rack, _ in (*placed.leaf, *placed.spine, *placed.core)}
                where = "with switches" if is_moved else "apart, which `stands` may change"
                told.append(f"{fabric.name} {attachment.name} in {', '.join(sorted(racks))}, {where}")
    if told:
        yield DEFAULT_RULES[APPLIANCE_RACKS].note("; ".join(told))


def rack_notes(asked: Case, answered: Case) -> Iterator[str]:
    """Servers in a rack, if the power of NICs limits them; each rack rule that holds, with its keys that bind the
    answer.
    """
    if asked.site.servers_per_rack is None and answered.site.servers_per_rack is not None:
        servers = some(answered.site.servers_per_rack, "server")
        yield f"`site.servers_per_rack`: {servers}, as a rack has no power for one more with its NICs and their modules"
    kept = parts_of(answered)
    for name in (RACK_RULES, RACK_SPREAD):
        keys = ", ".join(f"`{key}`" for key in kept if rule_of(key) == name)
        if keys:
            yield DEFAULT_RULES[name].note(keys)
    if without := keys_without_racks(asked):
        keys = ", ".join(f"`{key}`" for key in without)
        yield f"`site.rack_rules`: without a floor {keys} has no effect: racks are those of `site.floor`"


def trunk_notes(case: Case, design: Design) -> Iterator[str]:
    """The racks at ends of rows that hold panels; of a cluster that grows when its trunks come, and the legs of each
    stage that carry nothing yet.
    """
    ends = {row: rack for fabric in design.fabrics for kind in fabric.structured for row, rack in kind.zones.items()}
    if ends and is_kept(case.rules, ROW_ENDS):
        yield DEFAULT_RULES[ROW_ENDS].note(", ".join(ends.values()))
    names = [stage.name for stage in design.stages]
    kinds = [kind for fabric in design.fabrics for kind in fabric.structured if kind.far_by_stage]
    if not kinds:
        return
    wiring, told, legs, lit = wiring_of(design), list[str](), Counter[int](), Counter[int]()
    trunks = structured_of(design, wiring).trunks
    for trunk in trunks:
        legs[trunk.stage] += len(trunk.legs)
        lit.update(min(int(wiring.links.stage[link]) for _, link in leg.lit) for leg in trunk.legs if leg.lit)
    for number, name in enumerate(names):
        dark = sum(legs[stage] - lit[stage] for stage in range(number + 1))
        pulled = sum(trunk.stage == number for trunk in trunks)
        told.append(f"{name} {some(pulled, 'trunk')}, then {some(dark, 'leg')} dark")
    yield f"`growth.trunks`: {case.growth.trunks}: {'; '.join(told)}"
