"""Cases with everything they name: the case, its catalogs merged, price books and price changes applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fabopt.errors import Fault, did_you_mean, fault, refusal
from fabopt.io.catalog import check_whole, gathered, read_catalog, with_empty_kinds
from fabopt.io.charges import labour_notes, with_labour_of_moves
from fabopt.io.faults import document_of, refuse, refuse_any
from fabopt.io.library import STANDARD_STREAM, find_case, is_path, read_bytes, read_standard_input, shown
from fabopt.io.recognition import meant_price_change, with_products
from fabopt.io.references import MOST_NAMED
from fabopt.io.servers import check_case, check_counted, with_counted_servers
from fabopt.io.spellings import Spelled, understood
from fabopt.io.text import CASE, PRICE_BOOK, parse_yaml
from fabopt.io.workload import with_domains, with_model, with_plan
from fabopt.parts.chassis import with_fills
from fabopt.parts.price_books import PriceChange, changed, check_price_book, parse_price_change, with_price_books
from fabopt.parts.stock import check_stock, with_stock
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.price_book import PriceBook
from fabopt.schema.product import PriceSource

_STDIN = "<standard input>"


@dataclass(frozen=True)
class Inputs:
    """A consistent case with its catalog. ``case_file``: its name in messages; ``notes``: on changes while reading."""

    case: Case
    catalog: Catalog
    case_file: str
    notes: tuple[str, ...] = ()


def read_case(path: Path | str) -> Case:
    """Return the case in a file (``-``: standard input); ids are not looked up yet. ``InputError`` lists all faults."""
    return _read(path, Spelled())


def _read(path: Path | str, spelled: Spelled) -> Case:
    if str(path) == STANDARD_STREAM:
        return _case_of(parse_yaml(read_standard_input(), _STDIN, CASE), _STDIN, spelled)
    path = find_case(str(path))
    return _case_of(parse_yaml(read_bytes(path), shown(path), CASE), shown(path), spelled)


def _case_of(content: object, file: str, spelled: Spelled) -> Case:
    return document_of(Case, understood(Case, content, spelled), file)


def read_inputs(
    case_path: Path | str, catalogs: Sequence[str] | None = None, price_changes: Sequence[str] = ()
) -> Inputs:
    """Return a case with its catalog. ``catalogs`` replace the case's (paths from the working directory); price
    changes such as ``switch=+20%`` come after the price books, in order. ``InputError`` lists all faults of a stage.
    """
    spelled = Spelled()
    case = _read(case_path, spelled)
    file, base = _home(case_path)
    return _assembled(_WrittenCase(case, file, base, spelled), None, catalogs, price_changes)


def inputs_from_text(text: str, path: Path, price_changes: Sequence[str] = ()) -> Inputs:
    """Return a case with its catalog from the text of a file that need not be there yet; ``InputError`` as of it."""
    spelled = Spelled()
    case = _case_of(parse_yaml(text.encode("utf-8", "replace"), shown(path), CASE), shown(path), spelled)
    return _assembled(_WrittenCase(case, shown(path), path.parent, spelled), None, None, price_changes)


def _home(case_path: Path | str) -> tuple[str, Path]:
    """Return a case's name in messages, and the folder that its paths are relative to."""
    if str(case_path) == STANDARD_STREAM:
        return _STDIN, Path()
    path = find_case(str(case_path))
    return shown(path), path.parent


def inputs_from_objects(
    case: Case | Mapping[str, Any] | Path | str,
    catalog: Catalog | Mapping[str, Any] | None = None,
    catalogs: Sequence[str] | None = None,
    price_changes: Sequence[str] = (),
    base: Path = Path(),
) -> Inputs:
    """Return inputs from objects under the same checks as files. ``catalog`` None: the case's own.

    A mapping holds what a file would. Paths in a case that is not a file are relative to ``base``, the working folder.
    """
    if isinstance(case, Path | str) and catalog is None:
        return read_inputs(case, catalogs, price_changes)
    spelled = Spelled()
    if isinstance(case, Path | str):
        (file, base), parsed = _home(case), _read(case, spelled)
    else:
        file = "case"
        parsed = case if isinstance(case, Case) else _case_of(dict(case), file, spelled)
    if isinstance(catalog, Mapping):
        catalog = document_of(Catalog, with_empty_kinds(dict(catalog)), "catalog")
    if catalog is not None and (faults := check_whole(catalog, "catalog")):
        raise refuse(faults)
    return _assembled(_WrittenCase(parsed, file, base, spelled), catalog, catalogs, price_changes)


@dataclass(frozen=True)
class _WrittenCase:
    """A case as read: its name in messages, the folder of its paths, and its respelled words."""

    case: Case
    file: str
    base: Path
    spelled: Spelled


def _assembled(
    named: _WrittenCase, catalog: Catalog | None, catalogs: Sequence[str] | None, price_changes: Sequence[str]
) -> Inputs:
    case, file, base, spelled = with_labour_of_moves(named.case), named.file, named.base, named.spelled
    if catalog is None and catalogs:
        catalog = read_catalog(catalogs, Path(), "--catalog", "")
        case = case.model_copy(update={"catalog": tuple(catalogs)})
    elif catalog is None:
        catalog = read_catalog(case.catalog, base, file)
    catalog = with_fills(catalog)
    case, remarks = _with_files(case, catalog, base, file)
    case = with_counted_servers(with_products(with_model(case, base, file), catalog, spelled))
    case = with_domains(with_plan(case, catalog), catalog)
    faults = check_case(case, catalog, file, spelled.written)
    books = [book for book in _books(case.prices, catalog, base, file, faults) if book is not None]
    only = _books(case.only_priced_by, catalog, base, file, faults, "only_priced_by")
    changes: list[PriceChange] = []
    for text in price_changes:
        change = parse_price_change(meant_price_change(text, catalog), catalog)
        if isinstance(change, Fault):
            faults.append(change)
        else:
            changes.append(change)
    faults += check_stock(case.have, catalog, file)
    refuse_any(faults)
    alone = [_alone(name, book) for name, book in zip(case.only_priced_by, only, strict=True) if book is not None]
    priced = [book for book in books if book.vendor is None or not alone]
    catalog = with_stock(changed(with_price_books(catalog, [*priced, *alone]), changes), case)
    refuse_any(check_counted(case, catalog, file))
    notes = [*spelled.notes, *remarks, *labour_notes(case)]
    for name, book in zip(case.prices, books, strict=False):
        what = "replace" if book.vendor is None else f"are offers of {book.vendor}, in place of"
        notes.append(f"prices of the price book {name} {what} the catalog's")
    notes += [f"nothing has a price but by the price book {name}" for name in case.only_priced_by]
    notes += [f"price change {text}" for text in price_changes]
    return Inputs(case, catalog, file, tuple(notes))


def _with_files(case: Case, catalog: Catalog, base: Path, file: str) -> tuple[Case, list[str]]:
    """A case with what the files say that few cases name: what is in service, and qualified pairs; with remarks."""
    if case.base is not None:
        from fabopt.io.in_service import with_base

        case = with_base(case, catalog, base, file)
    if case.joins is not None:
        from fabopt.io.joins import with_joins

        case = with_joins(case, catalog, base, file)
    if case.procurement.qualified is None:
        return case, []
    from fabopt.io.qualified import with_qualified

    return with_qualified(case, catalog, base, file)


def _alone(name: str, book: PriceBook) -> PriceBook:
    """A book that alone sets prices, with its name in the source of each."""
    said = {} if book.source is None else book.source.model_dump()
    return book.model_copy(update={"source": PriceSource(**{**said, "book": name})})


def read_price_books(names: Sequence[str], catalog: Catalog, base: Path) -> tuple[PriceBook, ...]:
    """Return price books by name in the catalog's ``prices``, or by path relative to ``base``, checked against it."""
    faults: list[Fault] = []
    books = _books(names, catalog, base, "prices", faults)
    refuse_any(faults)
    return tuple(book for book in books if book is not None)


def _books(
    names: Sequence[str], catalog: Catalog, base: Path, file: str, faults: list[Fault], key: str = "prices"
) -> list[PriceBook | None]:
    return [
        gathered(partial(_book, name, f"{key}[{index}]", catalog, base, file), faults)
        for index, name in enumerate(names)
    ]


def _book(name: str, where: str, catalog: Catalog, base: Path, file: str) -> PriceBook:
    book, book_file = find_book(name, where, catalog, base, file)
    if not book.prices:
        # as a quote of which no price could be taken becomes
        raise refuse([fault(book_file, "prices", "this value is not allowed", {}, allowed="at least one entry")])
    refuse_any(check_price_book(book, book_file, "prices.", catalog))
    return book


def find_book(name: str, where: str, catalog: Catalog, base: Path, file: str) -> tuple[PriceBook, str]:
    """Return a price book by name in a catalog's ``prices``, or by path relative to ``base``, and its name in messages.

    ``file`` and ``where`` say which input named it. Whether its ids are known is not asked.
    """
    if is_path(name):
        path = base / name
        book = document_of(PriceBook, parse_yaml(read_bytes(path), shown(path), PRICE_BOOK), shown(path))
        return book, shown(path)
    known = {book.name: book for book in catalog.prices if book.name}
    if name not in known:
        more = [f"and {len(known) - MOST_NAMED} more"] if len(known) > MOST_NAMED else []
        raise refusal(
            file,
            where,
            "unknown price book",
            name,
            allowed=", ".join([*list(known)[:MOST_NAMED], *more]) or "a path; the catalog has no price books",
            hint=did_you_mean(name, known) or "a path has a / or ends in .yaml",
        )
    return known[name], f"price book {name}"
