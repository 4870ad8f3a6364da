"""Fabrics that people write down, in all forms that an audit reads: whole ones have no fault, each hole is named."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fabopt.inspect.audit.audit import Audit, audited
from fabopt.inspect.audit.reading import hand_made_of, read_hand_made
from fabopt.io.case import read_inputs
from fabopt.io.catalog import named_catalogs
from tests.paths import ROOT
from tests.samples.hand_fabrics import FORMS, STYLES, End, HandFabric, drawn
from tests.samples.hand_holes import HOLES
from tests.samples.shipped import shipped

CATALOG = named_catalogs(["reference"])
# Seeds, and the first few of which are in `make test`.
SEEDS = range(40)
FEW = 2


def audit_in(form: str, fabric: HandFabric, folder: Path, claimed: float | None = None) -> Audit:
    kind, write = FORMS[form]
    text = write(fabric)
    path = folder / ("fabric.csv" if kind == "netbox" else "fabric.txt")
    if isinstance(text, dict):
        path = folder / "devices"
        path.mkdir()
        for name, own in text.items():
            (path / f"{name}.json").write_text(own)
    else:
        path.write_text(text)
    return audited(read_hand_made(str(path), kind), CATALOG, None, None, claimed)


def faults(audit: Audit) -> list[str]:
    return [f"{finding.kind} {finding.text}" for finding in audit.findings if finding.severity == "fault"]


@pytest.mark.long(
    "0-clab", "0-config_db", "0-dot", "0-ibnetdiscover", "0-lldp", "0-netbox export", "0-netbox", "0-p2p", "0-topology"
)
@pytest.mark.long("0-hedgehog")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(FEW))
def test_a_whole_fabric_has_no_fault(form: str, seed: int, tmp_path: Path) -> None:
    assert not faults(audit_in(form, drawn(seed), tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_no_whole_fabric_has_a_fault(form: str, tmp_path: Path) -> None:
    for seed in SEEDS[FEW:]:
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert not faults(audit_in(form, drawn(seed), folder)), seed


def named_in(name: str, seed: int, step: int, tmp_path: Path) -> None:
    """A hole is named in every so many of the forms that can have it, which are others for the next hole."""
    hole = HOLES[name]
    seeds = (number for number in range(1000 * seed, 1000 * seed + 1000))
    fabric = next(own for number in seeds if hole.fits(own := drawn(number)))
    broken = hole.make(fabric, random.Random(seed))
    forms = [form for form in hole.forms or FORMS if form not in hole.but]
    for form in forms[list(HOLES).index(name) % min(step, len(forms)) :: step]:
        folder = tmp_path / form
        folder.mkdir()
        told = faults(audit_in(form, broken, folder, hole.claimed))
        assert {text.split()[0] for text in told} & hole.rules, (form, told)


@pytest.mark.long(
    but=(
        "a NIC without a link",
        "a server without a link",
        "a spine without a leaf",
        "a port twice",
        "a cable with one end",
        "a server on a spine",
        "InfiniBand below Ethernet",
        "800G below 1G",
        "a switch with too many links",
    )
)
@pytest.mark.parametrize("name", HOLES)
def test_a_hole_is_named_in_some_forms(name: str, tmp_path: Path) -> None:
    named_in(name, 0, 4, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", HOLES)
def test_a_hole_is_named_in_every_form(name: str, tmp_path: Path) -> None:
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        named_in(name, seed, 1, folder)


# A port of a cage that is split and the cage as a whole, as systems and makers call them: cage from 1, port from 0.
GRAMMARS: dict[str, tuple[Callable[[int, int], str], Callable[[int], str]]] = {
    "swp1s0": (lambda cage, part: f"swp{cage}s{part}", lambda cage: f"swp{cage}"),
    "Ethernet1/1/1": (lambda cage, part: f"Ethernet1/{cage}/{part + 1}", lambda cage: f"Ethernet1/{cage}"),
    "etp1a": (lambda cage, part: f"etp{cage}{'ab'[part]}", lambda cage: f"etp{cage}"),
    "Et1/5": (lambda cage, part: f"Et{cage}/{1 + 4 * part}", lambda cage: f"Et{cage}"),
    "et-0/0/0:1": (lambda cage, part: f"et-0/0/{cage - 1}:{part}", lambda cage: f"et-0/0/{cage - 1}"),
    "xe-0/0/1:1": (lambda cage, part: f"xe-0/0/{cage}:{part}", lambda cage: f"et-0/0/{cage}"),
    "ethernet-1/1/1": (lambda cage, part: f"ethernet-1/{cage}/{part + 1}", lambda cage: f"ethernet-1/{cage}"),
    "400GE1/0/1:1": (lambda cage, part: f"400GE1/0/{cage}:{part + 1}", lambda cage: f"800GE1/0/{cage}"),
    "HundredGigE1/0/1:1": (lambda cage, part: f"HundredGigE1/0/{cage}:{part + 1}",
                           lambda cage: f"FourHundredGigE1/0/{cage}"),
}  # fmt: skip


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_a_cage_is_whole_or_split_in_every_grammar(grammar: str, tmp_path: Path) -> None:
    part, whole = GRAMMARS[grammar]
    style = STYLES[0]._replace(port=lambda port: part(port // 2 + 1, port % 2))
    fabric = drawn(3, style)
    assert not faults(audit_in("dot", fabric, tmp_path))
    leaf = fabric.links[0][1].device
    both = replace(fabric, links=[*fabric.links, (End("dgx-900", "mlx5_0"), End(leaf, whole(1)))])
    told = faults(audit_in("dot", replace(both, roles={**fabric.roles, "dgx-900": "server"}), tmp_path))
    assert any(text.startswith(f"A1 {leaf} {whole(1)} is used as a whole") for text in told), told


@pytest.mark.parametrize("rails", [2, 8])
@pytest.mark.parametrize("spines", [0, 2])
def test_a_server_lacks_a_link_of_a_rail_that_is_a_network(rails: int, spines: int, tmp_path: Path) -> None:
    """Rails that never meet, each with one leaf, or with two and spines of its own."""
    nics = [(server, rail) for server in range(16) for rail in range(rails)]
    links = [
        (
            End(f"dgx-{server:03}", f"mlx5_{rail}"),
            End(f"rail{rail}-leaf-{server // 8 if spines else 0}", f"swp{server}"),
        )
        for server, rail in nics
    ]
    leaves = sorted({far.device for _, far in links})
    links += [
        (End(leaf, f"swp{40 + spine}"), End(f"{leaf[:5]}-spine-{spine}", f"swp{leaf[-1]}"))
        for leaf in leaves
        for spine in range(spines)
    ]
    roles = {end.device: next((role for role in ("leaf", "spine") if role in end.device), "server")
             for link in links for end in link}  # fmt: skip
    fabric = HandFabric(STYLES[0], links, roles)
    assert not faults(audit_in("p2p", fabric, tmp_path))
    for place in (0, 7, len(nics) - 1):
        told = faults(audit_in("p2p", replace(fabric, links=links[:place] + links[place + 1 :]), tmp_path))
        (text,) = told
        assert text.startswith(f"A20 dgx-{nics[place][0]:03}: {rails - 1} link"), told


@pytest.mark.long(but=("mgmt{}-dot", "oob-sw-01-dot", "oob-{}-p2p"))
@pytest.mark.parametrize("form", ["p2p", "dot"])
@pytest.mark.parametrize("switch", ["oob-sw-01", "mgmt{}", "oob-{}"])
def test_a_server_lacks_its_link_of_management(form: str, switch: str, tmp_path: Path) -> None:
    """A switch out of band for all, or one for so many servers: by number, or by letter."""
    fabric = drawn(5)
    servers = fabric.of("server")
    own = {
        name: switch.format("aab"[place % 3] if "-{" in switch else place // 8) for place, name in enumerate(servers)
    }
    bmcs = [(End(name, "bmc"), End(far, f"eth{place}")) for place, (name, far) in enumerate(own.items())]
    roles = {**fabric.roles, **dict.fromkeys(own.values(), "attachment")}
    for gone in (None, 0, len(bmcs) - 1):
        links = [*fabric.links, *(link for place, link in enumerate(bmcs) if place != gone)]
        folder = tmp_path / str(gone)
        folder.mkdir()
        told = faults(audit_in(form, replace(fabric, links=links, roles=roles), folder))
        assert len(told) == (gone is not None)
        if gone is not None:
            assert told[0].startswith(f"A20 {servers[gone]}: 0 links to devices such as {min(own.values())}, where")


@pytest.mark.long(but=("2-2", "4-3"))
@pytest.mark.parametrize(("links_of_a_pair", "missing"), [(2, 1), (2, 2), (4, 1), (4, 3), (4, 4)])
def test_a_pair_of_leaves_lacks_a_peer_link(links_of_a_pair: int, missing: int, tmp_path: Path) -> None:
    fabric = next(own for seed in range(100) if len((own := drawn(seed)).of("leaf")) >= 8)
    leaves = fabric.of("leaf")
    peers = [
        (End(near, f"peer{number}"), End(far, f"peer{number}"))
        for near, far in zip(leaves[::2], leaves[1::2], strict=True)
        for number in range(links_of_a_pair)
    ]
    for gone in (0, missing):
        path = tmp_path / str(gone)
        path.mkdir()
        told = faults(audit_in("dot", replace(fabric, links=[*fabric.links, *peers[gone:]]), path))
        assert len(told) == bool(gone)
        if gone:
            number = links_of_a_pair - gone
            links = f"{number} link{'' if number == 1 else 's'} between peers"
            told_of = f"where {len(leaves) // 2 - 1} pairs have {links_of_a_pair}"
            assert told == [f"A2 {leaves[0]} - {leaves[1]}: {links}, {told_of}"]


_NUMBERS = """servers: 32
leaf: 8
spine: 4
nics per server: 8
server-leaf: 256
leaf-spine: 256
radix: 64
"""


@pytest.mark.parametrize(("whole", "broken", "rule"), [
    ("leaf-spine: 256", "leaf-spine: 0", "A0"), ("server-leaf: 256", "server-leaf: 250", "A20"),
    ("servers: 32", "servers: 31", "A20"), ("spine: 4", "spine: 3", "A1"), ("radix: 64", "radix: 48", "A1"),
    ("leaf: 8", "leaf: 6", "A20"), ("leaf-spine: 256", "leaf-spine: 255", "A2"), ("spine: 4", "spine: 0", "A0"),
    ("leaf-spine: 256", "leaf-spine: 300", "A1"), ("radix: 64", "radix: 64\ncables: 500", "A8"),
    ("leaf-spine: 256", "leaf-spine: 64", "A3"), ("radix: 64", "radix: 64\nserver transceivers: 200", "A12"),
])  # fmt: skip
def test_numbers_that_do_not_fit_each_other(whole: str, broken: str, rule: str) -> None:
    assert whole in _NUMBERS
    for text, wanted in ((_NUMBERS, False), (_NUMBERS.replace(whole, broken), True)):
        told = faults(audited(hand_made_of(text, "numbers", "counts"), CATALOG, None, None, 1))
        assert (rule in {line.split()[0] for line in told}) == wanted, told


@pytest.mark.parametrize(("servers", "is_told"), [(32, False), (31, True), (40, True)])
def test_a_file_with_other_servers_than_its_case(servers: int, is_told: bool) -> None:
    inputs = read_inputs(str(ROOT / "cases" / "dgx-superpod-32.yaml"))
    hand = hand_made_of(f"servers: {servers}\nleaf: 8\n", "numbers", "counts")
    told = faults(audited(hand, inputs.catalog, inputs.case, shipped("dgx-superpod-32"), None))
    assert any(line.startswith(f"A0 {servers} servers here, 32 in the case") for line in told) == is_told
