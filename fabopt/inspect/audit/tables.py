"""Tables of links: point-to-point sheets, cable schedules, and what NetBox imports and exports.

A design made by hand, as in its file: devices, links with cables, modules, or only their numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from sys import intern
from typing import Literal, NamedTuple

from fabopt.errors import refusal
from fabopt.io.recognition import bare
from fabopt.io.tables import TitledTable
from fabopt.units import some

Role = Literal["server", "attachment", "leaf", "spine", "core", ""]
SWITCH_ROLES = ("leaf", "spine", "core")


class HandDevice(NamedTuple):
    """A device of the file. ``role``, ``product``, ``rack``: empty if not stated.

    ``is_host``: whether the file states that it is no switch; None if not stated.
    """

    role: Role = ""
    product: str = ""
    rack: str = ""
    is_host: bool | None = None


class HandCable(NamedTuple):
    """Facts on a cable other than its ends; empty or None if not stated.

    ``optics``: names of the modules at both ends of the link. Lengths in metres.
    """

    label: str = ""
    part: str = ""
    medium: str = ""
    length_m: float | None = None
    run_m: float | None = None
    optics: tuple[str, str] = ("", "")


NO_CABLE = HandCable()


class HandLink(NamedTuple):
    """A link, ends in the file's order. ``line``: of the file, from 1."""

    line: int
    a: str
    a_port: str
    b: str
    b_port: str
    cable: HandCable = NO_CABLE


class HandModule(NamedTuple):
    """A transceiver in a device, at a port."""

    device: str
    part: str
    port: str


class CountedPart(NamedTuple):
    """A line of a bill: the product's name, its length if stated, and its quantity."""

    line: int
    name: str
    quantity: int
    length_m: float | None = None
    spares: int = 0


@dataclass(frozen=True)
class HandCounts:
    """Numbers of a design: ``numbers`` by kind (``servers``, ``leaf``, ``leaf_spine``, ...), and a bill.

    ``claimed``: stated oversubscription; ``products``: names by role (``server``, ``switch``, ``leaf``).
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    parts: Sequence[CountedPart] = ()
    claimed: float | None = None
    products: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HandMade:
    """The content of a file. ``counts`` is None for a file with links.

    devices     by name, devices named only by links among them
    half        lines of cables with a missing end
    modules     None where the file does not list them
    panel_ports by panel and front port: the rear port behind it, and the position there
    notes       sentences on the reading
    """

    file: str
    kind: str
    devices: Mapping[str, HandDevice] = field(default_factory=dict)
    links: Sequence[HandLink] = ()
    half: Sequence[int] = ()
    modules: Sequence[HandModule] | None = None
    counts: HandCounts | None = None
    panel_ports: Mapping[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def with_ends(devices: Mapping[str, HandDevice], links: Iterable[HandLink]) -> dict[str, HandDevice]:
    """Devices, and after them those that only links name."""
    ends = {name: HandDevice() for link in links for name in (link.a, link.b) if name not in devices}
    return {**devices, **ends}


# What columns are called, letters and digits only; the first that is there counts.
_A, _Z = "a_device", "z_device"
_CALLED: Mapping[str, tuple[str, ...]] = {
    _A: ("anodename", "adevice", "fromdevice", "sideadevice", "devicea", "anode", "sourcedevice", "name"),
    "a_port": ("aport", "fromport", "sideaname", "porta", "sourceport", "hcaport", "terminationa"),
    _Z: ("znodename", "zdevice", "todevice", "sidebdevice", "deviceb", "bnodename", "bdevice", "znode",
         "destinationdevice"),
    "z_port": ("zport", "toport", "sidebname", "portb", "bport", "destinationport", "terminationb", "port"),
    "a_type": ("atype",),
    "z_type": ("ztype", "btype"),
    "label": ("cable", "label", "cableid", "number"),
    "part": ("partnumber", "cablepartnumber", "cabletype", "part"),
    "part_id": ("part",),
    "medium": ("medium", "type"),
    "length": ("lengthm", "length", "cablelength"),
    "run": ("runm",),
    "profile": ("profile",),
    "a_optic": ("fromoptic", "aoptic", "atransceiver"),
    "z_optic": ("tooptic", "zoptic", "ztransceiver", "boptic"),
    "a_rack": ("fromrack", "arack", "racka"),
    "z_rack": ("torack", "zrack", "brack", "rackb"),
}  # fmt: skip
_NEEDED = (_A, "a_port", _Z, "z_port")
_HOSTS, _SWITCHES = ("host", "server", "node", "hca"), ("switch",)
# A straight cable of NetBox with the ports that each of its two connectors carries.
_STRAIGHT = re.compile(r"single-1c(\d{1,2})p")
_NUMBER = re.compile(r"\s*([0-9]{1,9}(?:[.,][0-9]{1,9})?)\s*(m|meters?|cm|ft|feet|)\s*", re.IGNORECASE)
_METRES = {"cm": 0.01, "ft": 0.3048, "feet": 0.3048}
_TOP_OF_RACK = re.compile(r"(?<![a-z])tor(?![a-z])")
_ROLE_WORDS: tuple[tuple[str, Role], ...] = (
    ("superspine", "core"), ("spine", "spine"), ("leaf", "leaf"), ("core", "core"),
    ("attachment", "attachment"), ("server", "server"), ("host", "server"), ("gpu", "server"),
)  # fmt: skip


def _columns(titles: Sequence[str]) -> dict[str, int]:
    """Places of columns. Two sheets beside each other have ``Name`` twice: the second is the far end."""
    places: dict[str, int] = {}
    for column, names in _CALLED.items():
        place = next((titles.index(name) for name in names if name in titles), None)
        if place is not None:
            places[column] = place
    twice = [place for place, title in enumerate(titles) if title == "name"]
    if _Z not in places and len(twice) == 2:
        places[_Z] = twice[1]
    return places


def has_both_ends(titles: Iterable[str]) -> bool:
    """Whether cells are the titles of a table of links: a device and a port at both ends."""
    return set(_NEEDED) <= _columns([bare(title) for title in titles]).keys()


@dataclass
class _Reading:
    """Links and devices of a table while it is read."""

    devices: dict[str, HandDevice] = field(default_factory=dict)
    links: list[HandLink] = field(default_factory=list)
    half: list[int] = field(default_factory=list)
    _cables: dict[HandCable, HandCable] = field(default_factory=dict)

    def take(self, line: int, cell: Mapping[str, str], lengths_in: float) -> None:
        """Take a row."""
        part = cell.get("part", "") or cell.get("part_id", "")
        cable = HandCable(
            intern(cell.get("label", "")), intern(part), intern(cell.get("medium", "")),
            metres_of(cell.get("length", ""), lengths_in), metres_of(cell.get("run", ""), 1),
            (intern(cell.get("a_optic", "")), intern(cell.get("z_optic", ""))),
        )  # fmt: skip
        cable = self._cables.setdefault(cable, cable) if not cable.label else cable
        near = _ends(cell[_A], cell["a_port"])
        far = _ends(cell[_Z], cell["z_port"])
        straight = _STRAIGHT.fullmatch(cell.get("profile", ""))
        if straight and len(near) == len(far) == 1:
            near, far = (_spread(side, int(straight[1])) for side in (near, far))
        if not near or not far:
            self.half.append(line)
        ends = zip_longest(_spread(near, len(far)), _spread(far, len(near)), fillvalue=("", ""))
        for (a, a_port), (b, b_port) in ends:
            if a and b and a_port and b_port:
                self.links.append(HandLink(line, a, a_port, b, b_port, cable))
            elif near and far:
                self.half.append(line)
        for side, named in (("a", near), ("z", far)):
            for name in {name for name, _ in named if name}:
                self._note(name, cell.get(f"{side}_type", ""), cell.get(f"{side}_rack", ""))

    def _note(self, name: str, kind: str, rack: str) -> None:
        known = self.devices.get(name)
        if known is None:
            word = kind.lower()
            is_host = True if word in _HOSTS else False if word in _SWITCHES else None
            self.devices[name] = HandDevice("", kind if kind and is_host is None else "", intern(rack), is_host)
        elif rack and not known.rack:
            self.devices[name] = known._replace(rack=intern(rack))


def metres_of(text: str, unit: float = 1) -> float | None:
    """Metres of a length with or without its unit, ``unit`` metres where it has none; None for other text."""
    match = _NUMBER.fullmatch(text)
    return float(match[1].replace(",", ".")) * _METRES.get(match[2].lower(), unit) if match else None


def _ends(devices: str, ports: str) -> list[tuple[str, str]]:
    """The ends of a cell of devices and one of ports: several have commas, ports of a straight cable ``+``."""
    names = [intern(name.strip()) for name in devices.split(",") if name.strip()]
    own = [intern(port.strip()) for port in re.split(r"[,+]", ports) if port.strip()]
    if len(names) == 1:
        return [(names[0], port) for port in own]
    return list(zip(names, own, strict=False)) if len(names) == len(own) else []


def _spread(ends: list[tuple[str, str]], others: int) -> list[tuple[str, str]]:
    """One port that stands for all ports of its cage, as NetBox has it, by the names of these."""
    if len(ends) == 1 and others > 1:
        device, port = ends[0]
        return [(device, lane_name(port, number)) for number in range(others)]
    return ends


def lane_name(port: str, lane: int) -> str:
    """The name of a port of a cage that is one port in a table, by its lane, from 0."""
    return intern(f"{port}s{lane}" if port.startswith("swp") else f"{port}/{lane + 1}")


def links_of_table(text: str, file: str, kind: str) -> HandMade:
    """The links of a table with columns for both ends: point-to-point sheets, cable schedules, NetBox cables."""
    table = TitledTable(text, file)
    titles = [bare(title) for title in table.titles]
    places = _columns(titles)
    missing = [column.replace("_", " ") for column in _NEEDED if column not in places]
    if missing:
        raise refusal(
            file,
            f"line {table.line}",
            f"no column for {', '.join(missing)}",
            allowed="a title row such as A-Node Name, A-Type, A-Port, Z-Node Name, Z-Type, Z-Port",
        )
    reading = _Reading()
    for number, row in table.rows():
        feet = "lengthunit" in titles and row[titles.index("lengthunit")] == "ft"
        reading.take(number, {column: row[place] for column, place in places.items()}, 0.3048 if feet else 1)
    if not reading.links:
        raise refusal(file, "", "no link between two ports is in it")
    return HandMade(file, kind, reading.devices, reading.links, reading.half)


def role_of_words(text: str) -> Role:
    """The role that words name: ``Leaf switch``, ``server-leaf``, ``GPU server``; empty where they name none."""
    words = bare(text)
    if words in ("serverleaf", "borderleaf", "mixedleaf"):
        return "leaf"
    if _TOP_OF_RACK.search(text.lower()):
        return "leaf"
    return next((role for word, role in _ROLE_WORDS if word in words), "")


# -- findings ---------------------------------------------------------------------------------------------------------


Severity = Literal["fault", "remark"]
# What each rule is about, in the order of their numbers.
RULES = {
    "A0": "servers that do not reach each other, leaves below no spine",
    "A1": "ports beyond those of the product, or used twice",
    "A2": "uneven striping over the spines",
    "A3": "oversubscription above what is claimed",
    "A4": "NIC faster than its PCIe slot",
    "A5": "ends of different speeds or protocols",
    "A6": "optics or connectors that do not mate",
    "A7": "cable shorter than its run, or beyond its reach",
    "A8": "cable ends that are missing",
    "A9": "no port for a subnet manager",
    "A10": "rails that cross",
    "A11": "spines or uplinks that nothing needs",
    "A12": "transceivers against the ports that need them",
    "A13": "no spares",
    "A14": "a single spine or leaf",
    "A15": "later stages that cannot be reached without moves",
    "A16": "price against the best design",
    "A17": "storage and compute on one priority",
    "A18": "power of a rack",
    "A19": "headroom of lossless queues",
    "A20": "NICs that lack a link, or do not divide over the leaves",
}
REMARKS = ("A9", "A11", "A13", "A14", "A15", "A16")
# Of one rule, so many findings are listed; the rest is a number.
MOST_OF_A_RULE = 200


@dataclass(frozen=True)
class AuditFinding:
    """A finding of a rule. ``line``: of the file, from 1; None: of no single line. ``usd``: dollars of it."""

    kind: str
    where: str
    value: str
    allowed: str
    text: str
    line: int | None = None
    usd: float | None = None

    @property
    def severity(self) -> Severity:
        """A remark is no fault of the design."""
        return "remark" if self.kind in REMARKS else "fault"


def listed(findings: Iterable[AuditFinding]) -> tuple[list[AuditFinding], list[str]]:
    """Findings in the order of rules, the first ``MOST_OF_A_RULE`` of each; and sentences on the number of further
    ones.
    """
    by_rule: dict[str, list[AuditFinding]] = {rule: [] for rule in RULES}
    more: Counter[str] = Counter()
    for finding in findings:
        if len(by_rule[finding.kind]) < MOST_OF_A_RULE:
            by_rule[finding.kind].append(finding)
        else:
            more[finding.kind] += 1
    notes = [f"{rule}: {some(number, 'finding')} more of this rule not listed" for rule, number in more.items()]
    return [finding for rule in by_rule.values() for finding in rule], notes


def verdict(findings: Sequence[AuditFinding]) -> str:
    """The numbers of faults, by rule, and of remarks, in words."""
    faults = Counter(finding.kind for finding in findings if finding.severity == "fault")
    remarks = sum(finding.severity == "remark" for finding in findings)
    told = f" ({', '.join(f'{number} x {rule}' for rule, number in faults.items())})" if faults else ""
    return f"{some(sum(faults.values()), 'fault')}{told}, {some(remarks, 'remark')}"
