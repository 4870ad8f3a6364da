"""Rules of parts between two cages: form factors, splits, standards, fibres, connectors, lengths."""

from __future__ import annotations

from fabopt.schema.catalog import Cable, CableEnd, CableLength, Fibre, Transceiver
from fabopt.schema.design import PortUse
from fabopt.schema.finance import KindWord
from fabopt.schema.product import Cage, Product
from fabopt.units import some
from fabopt.verify.choices import ports_fit_nics
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.link_kinds import (
    LEAF_SPINE,
    SERVER_LEAF,
    SPINE_CORE,
    CageEnd,
    LinkKind,
    ListedRow,
    all_kinds,
    ports_per_connector,
)
from fabopt.verify.proof import Proof, prove
from fabopt.verify.structure import ports_in_use, switches_fit
from fabopt.verify.wiring import FabricCabling

# Form factors that a cage takes besides its own, by its name.
TAKES = {
    "OSFP": ("OSFP-IHS", "OSFP-RHS"),
    "OSFP-IHS": ("OSFP",),
    "OSFP-RHS": ("OSFP",),
    "QSFP-DD800": ("QSFP112-DD",),
    "QSFP112-DD": ("QSFP-DD800", "QSFP-DD"),
}
QSFP_DD, QSFP_DD_LANE_GBPS = "QSFP-DD", 50.0
OPTIMAL = "optimal"
# Attenuation to plan with, in dB a kilometre; what is below ``SAME_DB`` is rounding.
DB_PER_KM, MULTIMODE_DB_PER_KM, SAME_DB = {"smf": 0.4}, 3.0, 1e-6
# Kinds of links that shuffles may make.
CROSSED = (SERVER_LEAF, LEAF_SPINE, SPINE_CORE)
# More than any product has, so that no number of a file keeps a rule at work.
MOST_CAGE_GROUPS = 100


def assemblies_are_complete(proof: Proof, fabric: FabricEvidence) -> None:
    """A row buys all parts of a link, and states its medium.

    Both: a cable, or modules at both ends and a fibre; near: a cable, or the leaf's module and a fibre; none: nothing.
    Source: case file, ``attachments[].buys``; catalog, fit.
    """
    for kind in all_kinds(fabric):
        for row in kind.rows:
            shape = (row.near is not None, row.far is not None, row.cable is not None, row.fibre is not None)
            proof.holds(shape in _shapes(kind.buys), f"{kind.name}: parts do not make a link (buys: {kind.buys})")
            proof.equal(f"{kind.name} medium", row.listed.medium, row.medium)
        proof.note(f"{kind.name} {', '.join(row.medium for row in kind.rows)}")


def _shapes(buys: str) -> tuple[tuple[bool, bool, bool, bool], ...]:
    """Allowed (near module, far module, cable, fibre)."""
    cable = (False, False, True, False)
    if buys == "none":
        return ((False, False, False, False),)
    return (cable, (True, True, False, True)) if buys == "both" else (cable, (False, True, False, True))


def parts_fit_cages(proof: Proof, fabric: FabricEvidence) -> None:
    """Every module and every cable end fits its cage.

    Form factor equal, accepted, or taken by its name (``TAKES``); split as the cage is used; lane rate, protocol,
    works_with and coding agree where both sides give them; a module uses no more than its cage gives; a part that does
    not retime has ``equalises`` at both ends. Source: catalog, fit.
    """
    for kind in all_kinds(fabric):
        for row in kind.rows:
            parts_fit(proof, kind.name, kind, row, fabric.designed.protocol)
        proof.note(f"{kind.name} {kind.near.split or 'open'} to {kind.far.split}")


def parts_fit(proof: Proof, where: str, kind: LinkKind, row: ListedRow, protocol: str) -> None:
    """Modules or a cable fit the cages at both ends of a kind of links, and run its protocol."""
    for part in (row.near, row.far, row.cable):
        if part is not None:
            _protocol_agrees(proof, where, kind, part, protocol)
            proof.holds(is_equalised(part, kind), f"{where}: {part.id} does not retime, and a cage does not equalise")
    if row.cable is not None:
        faults = cable_faults(row.cable, kind)
        proof.holds(not faults, f"{where}: {row.cable.id}: {faults[0] if faults else ''}")
    for module, end in ((row.near, kind.near), (row.far, kind.far)):
        if module is not None:
            speaks = _split_speaks(module, end.split, protocol)
            proof.holds(speaks, f"{where}: {module.id} at {end.split} runs another protocol")
            _module_fits(proof, where, module, end)


def _protocol_agrees(proof: Proof, where: str, kind: LinkKind, part: Transceiver | Cable, protocol: str) -> None:
    agrees = not part.protocols or protocol in part.protocols
    proof.holds(agrees, f"{where}: {part.id} speaks {part.protocols}, not {protocol}")
    for end in (kind.near, kind.far):
        for product in end.products if isinstance(part, Cable) else ():
            proof.holds(works_together(part, product), f"{where}: {part.id} does not work with {product.id}")


def _split_speaks(module: Transceiver, split: str, protocol: str) -> bool:
    """True unless the module keeps the split for other protocols."""
    return protocol in module.split_protocols.get(split, (protocol,))


def is_equalised(part: Transceiver | Cable, kind: LinkKind) -> bool:
    """True if a part retimes in both directions, or every cage at both ends of its links equalises."""
    ends = (kind.near.cages, kind.far.cages)
    enough = (True, "copper") if isinstance(part, Cable) and part.medium == "ACC" else (True,)
    return part.retiming == "full" or all(cages and all(cage.equalises in enough for cage in cages) for cages in ends)


def _module_fits(proof: Proof, where: str, module: Transceiver, end: CageEnd) -> None:
    splits = list(module.standard_by_split)
    proof.holds(end.split in splits, f"{where}: {module.id} runs {' or '.join(splits)}, the cage {end.split}")
    for cage in end.cages:
        proof.holds(
            form_fits(module.form_factor, cage),
            f"{where}: {module.id} is {module.form_factor}, {cage.form_factor} needed",
        )
        proof.holds(
            lanes_agree(module.lane_gbps, cage.lane_gbps),
            f"{where}: {module.id} has lanes of {module.lane_gbps} Gb/s, the cage {cage.lane_gbps}",
        )
        needed, given = max(module.power_w or 0, module.power_max_w or 0), cage.module_power_w
        enough = given is None or needed <= given
        proof.holds(enough, f"{where}: {module.id} uses up to {needed} W, the cage gives {given}")
    for product in end.products:
        proof.holds(works_together(module, product), f"{where}: {module.id} does not work with {product.id}")


def form_fits(form_factor: str, cage: Cage) -> bool:
    """True if a part's form factor goes into a cage."""
    if form_factor == cage.form_factor or form_factor in cage.accepts:
        return True
    lanes = lanes_agree(QSFP_DD_LANE_GBPS if form_factor == QSFP_DD else None, cage.lane_gbps)
    return lanes and form_factor in TAKES.get(cage.form_factor, ())


def lanes_agree(near: float | None, far: float | None) -> bool:
    """True unless both give a lane rate and they differ."""
    return near is None or far is None or near == far


def works_together(part: Transceiver | Cable, product: Product) -> bool:
    """True unless a list of vendors, of the part or of the device, excludes the other's vendor, or coding does."""
    coding: tuple[str, ...] = getattr(product, "accepts_coding", ())
    if coding and part.coded_for and not set(coding) & set(part.coded_for):
        return False
    theirs: tuple[str, ...] = getattr(product, "works_with", ())
    part_accepts = not part.works_with or product.vendor is None or product.vendor in part.works_with
    return part_accepts and (not theirs or part.vendor is None or part.vendor in theirs)


def cable_faults(cable: Cable, kind: LinkKind) -> list[str]:
    """Why a cable does not fit, by the better of its two orientations; empty if it fits."""
    near, far = cable.ends
    ways = [_oriented_faults(cable, near, far, kind), _oriented_faults(cable, far, near, kind)]
    return min(ways, key=len)


def _oriented_faults(cable: Cable, near: CableEnd, far: CableEnd, kind: LinkKind) -> list[str]:
    faults = _lane_faults(cable, near, far, kind)
    for connector, end in ((near, kind.near), (far, kind.far)):
        if not end.cages:
            faults.append("the attachment's cage is open")
        if connector.split != end.split:
            faults.append(f"a connector {connector.split} in a cage {end.split}")
        if connector.count > 1 and end.lane.ports != 1:
            faults.append(f"{connector.count} connectors of {some(end.lane.ports, 'port')}")
        forms = [cage.form_factor for cage in end.cages if not form_fits(connector.form_factor, cage)]
        faults += [f"{connector.form_factor} does not go into {form}" for form in forms]
    return faults


def _lane_faults(cable: Cable, near: CableEnd, far: CableEnd, kind: LinkKind) -> list[str]:
    """Faults of lane rates of connectors and cages; where the cable states none, of the two cages."""
    stated = [connector.lane_gbps if connector.lane_gbps is not None else cable.lane_gbps for connector in (near, far)]
    sides = [[cage.lane_gbps for cage in end.cages] for end in (kind.near, kind.far)]
    pairs = [(lane, cage) for lane, cages in zip(stated, sides, strict=True) for cage in cages]
    if stated == [None, None]:
        pairs = [(lane, other) for lane in sides[0] for other in sides[1]]
    return [f"lanes of {lane} and {other} Gb/s" for lane, other in pairs if not lanes_agree(lane, other)]


def optics_speak_alike(proof: Proof, fabric: FabricEvidence) -> None:
    """The two modules of a link and its fibre belong together.

    The ports' standard is the same at both ends, the fibre word is the same three times, and the fibre has the modules'
    connectors: one at each end, n at the far end of a connector with n ports, or n at both. Source: catalog, fit.
    """
    for kind in all_kinds(fabric):
        for row in kind.rows:
            optics_agree(proof, kind.name, kind, row, fabric.designed.protocol)
        proof.note(f"{kind.name} {', '.join(row.listed.medium for row in kind.rows)}")


def optics_agree(proof: Proof, where: str, kind: LinkKind, row: ListedRow, protocol: str) -> None:
    """Modules and the fibre between them belong together; nothing to prove of a cable."""
    if row.fibre is None:
        return
    for module in (row.near, row.far):
        if module is not None:
            proof.equal(f"{where}: fibre of {module.id}", module.fibre, row.fibre.fibre)
    if row.near is not None and row.far is not None:
        near = row.near.standard_by_split.get(kind.near.split)
        far = row.far.standard_by_split.get(kind.far.split)
        proof.equal(f"{where}: standard of {row.near.id}", near, far)
    proof.holds(fibre_joins(kind, row), f"{where}: {row.fibre.id} does not join the connectors")
    speaks = not row.fibre.protocols or protocol in row.fibre.protocols
    proof.holds(speaks, f"{where}: {row.fibre.id} is for {row.fibre.protocols}")


def fibre_joins(kind: LinkKind, row: ListedRow) -> bool:
    """True if a row's fibre has the connectors of its modules, in one orientation or the other."""
    assert row.fibre is not None
    ends = row.fibre.both_ends
    if row.far is None:
        return False
    far_size = ports_per_connector(row.far, kind.far.lane)
    if row.near is None:  # what is at the attachment is not bought: only the leaf's end can be compared
        allowed = (1,) if far_size > 1 else (1, max(end.count for end in ends))
        connector = plugged(row.far, kind.far.lane.ports)
        return any(end.connector == connector and end.count in allowed for end in ends)
    near_size = ports_per_connector(row.near, kind.near.lane)
    if near_size != far_size and min(near_size, far_size) != 1:
        return False
    straight = near_size == far_size
    near_count, far_count = (1, 1) if straight else (far_size, near_size)
    if row.fibre.crosses > 1:
        if kind.name not in CROSSED or not straight:
            return False
        near_count = far_count = near_size
    near_ports, far_ports = kind.near.lane.ports, kind.far.lane.ports
    wanted = [(plugged(row.near, near_ports), near_count), (plugged(row.far, far_ports), far_count)]
    given = [(end.connector, end.count) for end in ends]
    return wanted in (given, given[::-1])


def plugged(module: Transceiver, ports: int) -> str:
    """The connector of a module's fibre; ``2x`` it where each of ``ports`` ports takes two."""
    whole, rest = divmod(module.connectors, ports)
    return f"{whole}x {module.connector}" if whole > 1 and not rest else module.connector


def cables_fit_reach(proof: Proof, fabric: FabricEvidence) -> None:
    """Every cable and fibre is the shortest on offer that is long enough, and within reach.

    run <= length <= reach of every part; no shorter length on offer is >= run, but where the case limits part numbers
    of its kind (``procurement.max_part_numbers``): a longer one that is no cheaper, by unit prices alone, may be the
    length of other links. Source: catalog, fit.
    """
    rules = fabric.evidence.case.procurement
    for kind in all_kinds(fabric):
        for row in kind.rows:
            if row.cable_or_fibre is None or row.run_part is None or fabric.is_measured(row.listed):
                continue
            length = row.run_part.length_m
            sold = [sold for sold in row.cable_or_fibre.lengths if sold.price_usd is not None and sold.m >= kind.run_m]
            offered = [sold.m for sold in sold]
            told = f"{kind.name}: length_m of {row.cable_or_fibre.id} for a run of {kind.run_m:g} m"
            part_kind: KindWord = "fibre" if row.cable is None else "cable"
            is_limited = part_kind in rules.max_part_numbers and part_kind not in rules.spares
            if fabric.runs_differ and row.run_part.quantity == 0:
                # servers' cables have several lengths: ``wires_cover_runs`` checks them
                proof.holds(length in offered, f"{told} is {length}, which is not on offer or too short")
            elif is_limited and length in offered:
                shortest, bought = (next(offer for offer in sold if offer.m == m) for m in (min(offered), length))
                proof.holds(shortest is bought or is_no_cheaper(bought, shortest), f"{told} is {length}: it is cheaper")
            else:
                proof.equal(told, length, min(offered, default=None))
            if length is not None:
                reach_fits(proof, kind.name, row, length)
            proof.note(f"{kind.name} {row.cable_or_fibre.id} {length} m for {kind.run_m:g} m")


def reach_fits(proof: Proof, where: str, row: ListedRow, length_m: float) -> None:
    """A length is within the reach of every part, and its loss within the budget of each module."""
    for part in (row.near, row.far, row.cable):
        if part is not None and part.reach_m is not None:
            proof.holds(length_m <= part.reach_m, f"{where}: {length_m:g} m, {part.id} reaches {part.reach_m:g} m")
    if row.fibre is not None:
        _loss_fits(proof, where, row.fibre, length_m, (row.near, row.far))


def _loss_fits(
    proof: Proof, where: str, fibre: Fibre, length_m: float, modules: tuple[Transceiver | None, ...]
) -> None:
    """Loss inside a fibre and of its glass is within the budget of each module, where both are known."""
    if fibre.loss_db is None:
        return
    loss_db = fibre.loss_db + length_m * DB_PER_KM.get(fibre.fibre, MULTIMODE_DB_PER_KM) / 1000
    for module in modules:
        if module is not None and module.loss_budget_db is not None:
            fits = loss_db <= module.loss_budget_db + SAME_DB
            told = f"{where}: {loss_db:.3f} dB over {length_m:g} m of {fibre.id}"
            proof.holds(fits, f"{told}, {module.id} stands {module.loss_budget_db:g}")


def is_no_cheaper(longer: CableLength, shorter: CableLength) -> bool:
    """Whether one length costs at least as much as another in any quantity: both are sold piece by piece
    at one price.
    """
    prices = []
    for sold in (longer, shorter):
        in_sizes = max(sold.minimum_order or 1, sold.pack_size or 1) > 1
        if in_sizes or sold.stock or sold.supply is not None or not isinstance(sold.price_usd, int | float):
            return False
        prices.append(sold.price_usd)
    return longer.lead_time_weeks == shorter.lead_time_weeks and prices[0] >= prices[1]


def parts_are_offered(proof: Proof, fabric: FabricEvidence) -> None:
    """Only parts that can be ordered are used in links.

    Modules and cables have a price and a power figure, fibres a price; none is at the end of its life unless the case
    names it. Source: catalog, "no price or no power figure: listed, never chosen".
    """
    for kind in all_kinds(fabric):
        for row in kind.rows:
            for part in (row.near, row.far, row.cable, row.fibre):
                if part is not None:
                    held = part.id in fabric.evidence.case.owned
                    proof.holds(held or not part.end_of_life, f"{kind.name}: {part.id} is at the end of its life")
            for powered in (row.near, row.far, row.cable):
                if powered is not None:
                    proof.holds(powered.power_w is not None, f"{kind.name}: {powered.id} has no power figure")
            for module in (row.near, row.far):
                if module is not None:
                    proof.holds(module.price_usd is not None, f"{kind.name}: {module.id} has no price")
        proof.note(f"{kind.name} {some(len(kind.rows), 'row')}")


def cage_groups_come_first(proof: Proof, cabling: FabricCabling) -> None:
    """Of equally good cage groups, the first is used; only an optimal design owes this.

    For every cage group in use, no group of a lower index fits the same parts, splits and counts. Where attachments may
    be on any tier, a switch's group decides its free ports, and so their places: nothing is owed there. Source:
    docs/formulation/search.md.
    """
    fabric = cabling.fabric
    if fabric.evidence.design.status != OPTIMAL:
        proof.note("the design is not claimed to be optimal")
        return
    moves_others = any(attachment.placed_on == "any" for attachment in fabric.wanted.attachments)
    for tier in () if moves_others else fabric.designed.tiers:
        for side in ("down", "up"):
            use: PortUse | None = getattr(tier, side)
            for index in _lower(use.cage_group if use is not None else 0):
                changed = tier.model_copy(update={side: PortUse(cage_group=index, split=use.split if use else "")})
                tiers = tuple(changed if tier_use is tier else tier_use for tier_use in fabric.designed.tiers)
                _serves_no_better(proof, cabling, {"tiers": tiers}, f"{tier.role} {side}: cage group {index}")
    for index in _lower(fabric.designed.nic.cage_group):
        nic = fabric.designed.nic.model_copy(update={"cage_group": index})
        _serves_no_better(proof, cabling, {"nic": nic}, f"NIC: cage group {index}")
    proof.note(f"{some(len(fabric.designed.tiers), 'tier')}, {some(len(cabling.links), 'link')}")


def _lower(group: int) -> range:
    """The cage groups before one; whether they exist is checked by another rule."""
    return range(min(group, MOST_CAGE_GROUPS))


def _serves_no_better(proof: Proof, cabling: FabricCabling, change: dict[str, object], what: str) -> None:
    other = FabricEvidence(cabling.fabric.evidence, cabling.fabric.designed.model_copy(update=change))
    used = list(ports_in_use(cabling))
    trials = (prove(ports_fit_nics, other), prove(switches_fit, other, used), prove(parts_fit_cages, other))
    proof.holds(any(trial.broken for trial in trials), f"{what} would serve as well")
