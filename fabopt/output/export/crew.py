"""Pages for those who pull the cables: for each pair of racks a page to tick off, in the order of pulling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabopt.output.export.channel_loss import losses
from fabopt.output.export.formats import Content, Exported, Files
from fabopt.output.export.frames import Frame, joined_frames
from fabopt.output.export.paper import PAPERS, Paper, Table, drawn, fits, lay_out, paged_files
from fabopt.output.export.pulls import Pair, Visit, named, place, visits
from fabopt.output.export.sheets import csv_file
from fabopt.output.sheet.model import DrawnSheet
from fabopt.output.words import count, listed, plain
from fabopt.schema.design import Design
from fabopt.units import some
from fabopt.wiring.in_service import stays_whole
from fabopt.wiring.migration import windows_of
from fabopt.wiring.model import Wiring

FOLDER = "crew"
OWN_FILES = r"pulls-(a4|letter)(-\d{1,9})?\.(html|pdf)|tests\.csv"
# Both directions are read, as TIA-568 asks for a link (Tier 1: loss, length, polarity).
TEST_COLUMNS = (
    *("cable", "from_device", "from_port", "to_device", "to_port", "standard", "fibre", "fibre_m", "mated_pairs"),
    *("expected_db", "pass_db", "reflectance_class", "read_db_there", "read_db_back", "length_m", "polarity", "by"),
)
# Where the ends of a cable go that is taken out.
_OUT = "out"
_TICKS = ("in", "ok")
_SIGNED = "pulled by ____________________  date __________     tested by ____________________  date __________"
RULES = (
    "Stages come in their order; at each first the cables that are moved, then the pairs in the order below.",
    "Longest runs first: what goes furthest lies lowest in a tray. Cables within a rack come last.",
    "In a pair copper comes before glass, then the ports at the far end in their order: number 1 is pulled first.",
    "A cable has its number on a label at each end (fabopt export --to labels); a splitter comes once for each leg.",
    "Tick `in` when both ends are plugged in, `ok` when the link is tested. Places are rack, unit (U), port.",
)


LIVE = (
    "What moves is in service: one window (a rail) at a time, by the steps of `fabopt export --to migration`, "
    "which lead back too; after each, `fabopt as-built --window N` says what is left to do."
)


def files_of(asked: Exported) -> Files:
    """Return ``crew/pulls-a4`` and ``crew/pulls-letter``, each as HTML and PDF, in parts if there are many pages; where
    links are optical, ``crew/tests.csv``.
    """
    design, wiring = asked.design, named(asked.design, asked.wiring)
    work = list(visits(design, wiring, asked.options.stage))
    live = not stays_whole(design) and any(len(visit.moves) for visit in work)
    tables = list(_tables(work, wiring, len(design.stages) > 1, windows_of(design, asked.wiring) if live else {}))
    *_, index = _cover(design, work, tables, [""] * len(tables))
    document = f"{design.case.name}, design {design.case.sha256[:12]}"
    files: dict[str, Content] = {}
    for paper in PAPERS:
        sheet = paper if fits(paper, [*tables, index]) else paper.turned
        pages = _pages(design, work, tables, sheet, document, asked.options.mark)
        files |= paged_files(f"pulls-{paper.name}", f"{design.case.name}: cables", pages)
    to_test = links_to_test(replace(asked, wiring=wiring), work)
    return files | ({"tests.csv": csv_file(to_test)} if len(to_test) else {})


def links_to_test(asked: Exported, work: Sequence[Visit]) -> Frame:
    """One row an optical link that is pulled, with ``TEST_COLUMNS``, the last of which the tester fills in.

    ``pass_db``: what may be read at most in either direction: the budget less the case's margin, or without one what
    the parts lose at most; empty where a plug's loss is not known either.
    """
    lost = losses(asked)
    pulled = {cable for visit in work for pair in visit.pairs for cable in pair.rows["cable"]}
    lost = lost[lost["cable"].isin(pulled)]
    is_known = lost["budget_db"].notna() | (lost["not_known"] == "budget")
    return lost.assign(pass_db=lost["limit_db"].where(is_known)).reindex(columns=list(TEST_COLUMNS), fill_value="")


def _pages(
    design: Design, work: Sequence[Visit], tables: Sequence[Table], paper: Paper, document: str, mark: str
) -> list[DrawnSheet]:
    """All pages on a paper; the first ones say what is on the others."""
    pages = lay_out(paper, tables)
    before = len(lay_out(paper, _cover(design, work, tables, [""] * len(tables))))
    first: dict[int, int] = {}
    for number, parts in enumerate(pages, start=before + 1):
        first.setdefault(id(parts[0].table), number)
    cover = lay_out(paper, _cover(design, work, tables, [str(first[id(table)]) for table in tables]))
    return list(drawn(paper, [*cover, *pages], document, mark))


def _cover(design: Design, work: Sequence[Visit], tables: Sequence[Table], pages: Sequence[str]) -> Iterator[Table]:
    """What is in a document: how to go about it, what to fetch, and each pair with its page."""
    pairs = [pair for visit in work for pair in visit.pairs]
    about = f"{some(sum(map(_cables, pairs)), 'cable')}, {some(len(pairs), 'pair')} of places"
    if len(design.stages) > 1:
        about += f"; stages: {listed([visit.stage for visit in work])}"
    rules = (LIVE, *RULES) if not stays_whole(design) and any(len(visit.moves) for visit in work) else RULES
    rows = [(f"{number}.", rule) for number, rule in enumerate(rules, start=1)]
    yield Table(f"{design.case.name}: cables to pull", about, ("", "How to go about it"), rows)
    fetch = [row for visit in work for row in _material(visit)]
    titles = ("stage", "part", "description", "m each", "cables", "m together")
    yield Table("What to fetch", "before the first pull", titles, fetch, right=(3, 4, 5), begins_page=False)
    titles_of_index = ("order", "pair", "what", "page")
    index = [
        (str(number), table.title, table.about, page)
        for number, (table, page) in enumerate(zip(tables, pages, strict=True), start=1)
    ]
    words = "one table for each pair of places"
    yield Table("What is in it", words, titles_of_index, index, ("done",), right=(0, 3), begins_page=False)


def _material(visit: Visit) -> Iterator[tuple[str, ...]]:
    """Cables to fetch for a stage, by part and length."""
    if not visit.pairs:
        return
    rows = joined_frames([pair.rows for pair in visit.pairs])
    rows = rows[rows["cable"] != ""].drop_duplicates("cable")
    rows = rows.assign(number=rows["part_number"].where(rows["part_number"] != "", rows["part"]))
    columns = zip(rows["number"], rows["description"], rows["length_m"], strict=True)
    for (part, words, length), cables in sorted(Counter(columns).items()):
        yield visit.stage, part, words, plain(length), count(cables), plain(length * cables)


def _tables(work: Sequence[Visit], wiring: Wiring, staged: bool, windows: Mapping[str, int]) -> Iterator[Table]:
    """A table for the cables that a stage moves (``windows``: of each in service), and for each pair of racks."""
    places = _places(wiring)
    for visit in work:
        number = 0
        if len(visit.moves):
            yield _moved(visit, places, windows)
        for pair in visit.pairs:
            yield _pair(visit.stage if staged else "", pair, number)
            number += len(pair.rows)


def _pair(stage: str, pair: Pair, before: int) -> Table:
    rows = pair.rows
    with_places = bool((rows["from_rack"] != "").any() or (rows["to_rack"] != "").any())
    longest = f", longest run {plain(rows['run_m'].max())} m" if rows["run_m"].notna().any() else ""
    parts = _parts(rows)
    metres = plain(rows.drop_duplicates("cable")["length_m"].sum())
    about = f"{stage and f'{stage}: '}{some(_cables(pair), 'cable')}, {metres} m{longest}"
    columns = ("no.", "label", "from", *(("device",) if with_places else ()), "to")
    columns = (*columns, *(("device",) if with_places else ()), "part", "m")
    ends = [[_end(row, side, with_places) for row in rows.itertuples()] for side in ("from", "to")]
    cells = [
        (str(number), label, *near, *far, part, plain(length) if length == length else "")
        for number, label, near, far, part, length in zip(
            range(before + 1, before + 1 + len(rows)), _labels(rows), *ends, parts, rows["length_m"], strict=True
        )
    ]
    return Table(f"{pair.name}", about, columns, cells, _TICKS, _SIGNED, (0, len(columns) - 1))


def _end(row: tuple[object, ...], side: str, with_places: bool) -> tuple[str, ...]:
    rack, unit, device, port = (getattr(row, f"{side}_{key}") for key in ("rack", "unit", "device", "port"))
    where = place(rack, unit, device, port)
    return (where, device) if with_places else (where,)


def _labels(rows: Frame) -> list[str]:
    """The number of each cable, with its leg where it has several: ``C00001 1 of 2``."""
    ends = zip(rows["cable"], rows["leg"], strict=True)
    return [cable if leg in ("", "1 of 1") else f"{cable} {leg}" for cable, leg in ends]


def _parts(rows: Frame) -> list[str]:
    """What to order each cable by: its part number, else its id; who supplies it where nothing is bought."""
    columns = zip(rows["part_number"], rows["part"], rows["description"], strict=True)
    return [number or part or words for number, part, words in columns]


def _cables(pair: Pair) -> int:
    return int(pair.rows[pair.rows["cable"] != ""]["cable"].nunique())


def _moved(visit: Visit, places: dict[str, tuple[str, int]], windows: Mapping[str, int]) -> Table:
    """The cables that a stage moves, window by window: the port that each leaves and the one that it goes to."""
    names = ("cable", "device", "port", "from_device", "from_port", "to_device", "to_port")
    rows = [
        (cable, *(_port(places, device, port) for device, port in ((stays, at), (old, o), (new, n))))
        for cable, stays, at, old, o, new, n in visit.moves[list(names)].itertuples(index=False)
    ]
    columns: tuple[str, ...] = ("label", "stays at", "leaves", "goes to")
    out = sum(row[-1] == _OUT for row in rows)
    if windows:
        columns = ("window", *columns)
        rows = [(str(windows[row[0]]), *row) for row in sorted(rows, key=lambda row: windows[row[0]])]
    about = (
        f"{visit.stage}: {some(len(rows) - out, 'end')} of cables that are there go to another port; print their labels"
    )
    about += f"; {some(out, 'cable')} come out whole, at both ends" if out else ""
    return Table("Moves", about, columns, rows, _TICKS, _SIGNED)


def _port(places: dict[str, tuple[str, int]], device: str, port: str) -> str:
    """Where an end is, that of a device too which is taken out; nowhere of a cable that is."""
    return place(*places.get(device, ("", 0)), device, port) if device else _OUT


def _places(wiring: Wiring) -> dict[str, tuple[str, int]]:
    devices = wiring.devices
    places = zip(devices.rack, devices.unit.tolist(), strict=True)
    return dict(zip(devices.name, places, strict=True))
