"""Qualified pairs: a vendor's matrix of devices and the parts that plug into them, read against a catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from fabopt.errors import Fault, InputError, fault
from fabopt.io.faults import refuse_any
from fabopt.io.library import shown
from fabopt.io.quote.names import QuotedNames
from fabopt.io.quote.reading import read_sheets
from fabopt.io.quote.values import Sheet
from fabopt.io.recognition import bare
from fabopt.schema.case import Case
from fabopt.schema.catalog import Cable, Catalog, Nic, Switch, Transceiver
from fabopt.schema.product import Product
from fabopt.schema.server import Server

_WHERE = "procurement.qualified"
_DEVICES = (Switch, Nic, Server)
_PARTS = (Transceiver, Cable)
# Headings, as they are compared: small, letters and digits only.
_HEADINGS = {
    "device": ("device", "deviceid", "switch", "nic", "adapter", "server", "host", "platform", "system"),
    "part": ("part", "partid", "partnumber", "transceiver", "cable", "module", "optic", "optics"),
}
_ALLOWED = "a first row with the headings `device` and `part`"
_KINDS = {"device": "a switch, NIC or server", "part": "a transceiver or cable"}
MOST_NAMED = 5


def with_qualified(case: Case, catalog: Catalog, base: Path, file: str) -> tuple[Case, list[str]]:
    """The case with the pairs in the place of the files that have them, and remarks; ``InputError`` lists all faults.

    Paths are relative to ``base``; ``file`` is how messages name the case.
    """
    named = case.procurement.qualified
    if named is None:
        return case, []
    reader = _Pairs(catalog)
    if isinstance(named, dict):
        for device, parts in named.items():
            reader.check(device, "device", file, f"{_WHERE}.{device}")
            for number, part in enumerate(parts):
                reader.check(part, "part", file, f"{_WHERE}.{device}[{number}]")
        refuse_any(reader.faults)
        return case, []
    for name in (named,) if isinstance(named, str) else named:
        reader.read(base / name)
    refuse_any(reader.faults)
    pairs = {device: tuple(sorted(parts)) for device, parts in sorted(reader.pairs.items())}
    rules = case.procurement.model_copy(update={"qualified": pairs})
    return case.model_copy(update={"procurement": rules}), reader.remarks


class _Pairs:
    """The content of several files: parts by device, faults of single cells, and notes."""

    def __init__(self, catalog: Catalog) -> None:
        self._names = QuotedNames(catalog)
        self.pairs: dict[str, set[str]] = {}
        self.faults: list[Fault] = []
        self.remarks: list[str] = []

    def read(self, path: Path) -> None:
        """Read a file; its faults are added to the others."""
        try:
            sheets = read_sheets(path, "a matrix of qualified pairs")
        except InputError as error:
            self.faults += error.faults
            return
        file, rows = shown(path), 0
        for sheet in sheets:
            rows += self._sheet(sheet, file)
        if not rows and not any(one.file == file for one in self.faults):
            self.faults.append(fault(file, "", "there is no row with a device and a part", allowed=_ALLOWED))

    def _sheet(self, sheet: Sheet, file: str) -> int:
        """Read a sheet; return its number of rows below the headings."""
        first, *rest = sorted(sheet.rows) or [0]
        if not first:
            return 0
        if sheet.encoding_note:
            self.remarks.append(f"{file}: {sheet.encoding_note}")
        headings = {column: bare(cell.text) for column, cell in sheet.rows[first].items()}
        columns: dict[str, int] = {}
        for what, words in _HEADINGS.items():
            matching = [column for column, heading in headings.items() if heading in words]
            if len(matching) != 1:
                problem = f"{len(matching) or 'no'} columns for the {what}"
                text = ", ".join(sheet.rows[first][column].text for column in sorted(headings))
                self.faults.append(fault(file, _line(sheet, first), problem, text, allowed=_ALLOWED))
                return 0
            columns[what] = matching[0]
        ignored = [sheet.rows[first][column].text for column in sorted(set(headings) - set(columns.values()))]
        if ignored:
            self.remarks.append(f"{file}: not read, so they restrict nothing: columns {', '.join(ignored)}")
        for row in rest:
            self._row(sheet, row, columns, file)
        return len(rest)

    def _row(self, sheet: Sheet, row: int, columns: dict[str, int], file: str) -> None:
        ids: dict[str, list[str]] = {}
        for what, column in columns.items():
            cell = sheet.rows[row].get(column)
            where = f"{_line(sheet, row)}: {what}"
            if cell is None:
                self.faults.append(fault(file, where, f"the row names no {what}", allowed=_KINDS[what]))
            else:
                ids[what] = self.check(cell.text, what, file, where)
        for device in ids.get("device", ()):
            self.pairs.setdefault(device, set()).update(ids.get("part", ()))

    def check(self, name: str, what: str, file: str, where: str) -> list[str]:
        """Ids of the products that a name stands for; a fault where there are none of the kind."""
        called = sorted(set(self._called(name)))
        products = [self._names.products[id_] for id_ in called]
        fitting = [product.id for product in products if isinstance(product, _DEVICES if what == "device" else _PARTS)]
        if fitting:
            return fitting
        if called:
            self.faults.append(
                fault(file, where, f"{', '.join(called[:MOST_NAMED])} is no such product", name, allowed=_KINDS[what])
            )
        else:
            close = self._names.nearest(name)
            hint = f"did you mean `{close}`?" if close else ""
            allowed = f"id or part number of {_KINDS[what]}; `*` stands for any letters"
            self.faults.append(fault(file, where, "the catalog has no such product", name, allowed=allowed, hint=hint))
        return []

    def _called(self, name: str) -> Iterator[str]:
        if "*" not in name:
            yield from (match.id for match in self._names.called(name))
            return
        pattern = name.lower().replace("[", "[[]")
        for product in self._names.products.values():
            if any(fnmatchcase(text.lower(), pattern) for text in _texts(product)):
                yield product.id


def _texts(product: Product) -> Sequence[str]:
    """Texts for comparison with a pattern: the id, the part number, and part numbers of lengths."""
    lengths = product.lengths if isinstance(product, Cable) else ()
    return [product.id, *filter(None, (product.part_number, *(length.part_number for length in lengths)))]


def _line(sheet: Sheet, row: int) -> str:
    return f"line {row}" if sheet.name == "CSV" else f"{sheet.name} row {row}"
