"""Commands about the library: catalogs, cases, models, schemas, and new cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from fabopt.cli.output import check_targets, deliver, say, tell
from fabopt.errors import EXIT_DONE, EXIT_INPUT, OutputError, did_you_mean, refusal
from fabopt.io.catalog import read_catalog
from fabopt.io.library import STANDARD_STREAM, by_name, make_folder, names, read_bytes, shown
from fabopt.io.recognition import ProductNames, hint_for, meant_id
from fabopt.io.references import MOST_NAMED, check_catalog
from fabopt.io.text import parse_yaml
from fabopt.output.terminal.schema_keys import key_lines, schema_bytes, schema_file
from fabopt.output.terminal.summary import table
from fabopt.output.words import money, plain, power, printable
from fabopt.parts.price_books import KIND_OF_WORD, products
from fabopt.schema.catalog import KINDS, ByLength, Cable, Catalog, Panel
from fabopt.schema.product import Price, Product
from fabopt.units import some

_DEFAULT = ("reference",)
# What an example case has in service, as it names a file beside it.
_BASE = re.compile(r"[\w-]+\.base\.json")
_LAST_KEYS = ("notes", "confidence", "source", "provenance")


def list_folder(kind: str) -> None:
    """Print the name and description of every entry of a library folder."""
    rows = [(name, _description(by_name(kind, name))) for name in names(kind)]
    if rows:
        say(table([("name", False), ("description", False)], rows))
    else:
        tell(f"there are no {kind} in the library")


def _description(path: Path | None) -> str:
    if path is None:
        return ""
    file = path / "catalog.yaml" if path.is_dir() else path
    if not file.is_file():
        return ""
    content = parse_yaml(read_bytes(file), shown(file))
    text = content.get("description") if isinstance(content, dict) else None
    return " ".join(text.split()) if isinstance(text, str) else ""


def _case_file(name: str) -> Path:
    """Where an example case is."""
    path = by_name("cases", name)
    if path is None:
        raise refusal(
            "NAME",
            "",
            "there is no such example case",
            name,
            hint=did_you_mean(name, names("cases")) or "`fabopt cases` lists them",
        )
    return path


def show_case(name: str) -> None:
    """Print the file of an example case."""
    deliver(STANDARD_STREAM, read_bytes(_case_file(name)))


def copy_case(name: str, folder: str, force: bool) -> None:
    """Copy an example case to a folder, its first line naming the schema from there, and the base beside it."""
    from fabopt.cli.starter import with_schema

    path, where = _case_file(name), make_folder(Path(folder))
    target, text = str(where / f"{name}.yaml"), read_bytes(path).decode()
    for base in dict.fromkeys(_BASE.findall(text)):
        write_case(str(where / base), read_bytes(path.with_name(base)).decode(), force, "")
    text = with_schema(text, where, schema_file("case"))
    write_case(target, text, force, f"; now: fabopt solve {target}")


def write_case(target: str, text: str, force: bool, then: str) -> None:
    """Write a case to a file, and say so and what to do ``then``; ``OutputError`` if another is not to be replaced."""
    if target != STANDARD_STREAM and Path(target).exists() and not force:
        raise OutputError(f"{target}: there is such a file already; --force replaces it")
    check_targets([target])
    deliver(target, text.encode())
    if target != STANDARD_STREAM:
        tell(f"wrote {target}{then}")


def list_catalog(kind: str | None, catalogs: Sequence[str] | None) -> None:
    """Print the catalogs of the library, or the products of one kind."""
    if kind is None and not catalogs:
        list_folder("catalogs")
        tell(f"`fabopt catalog list KIND` lists products: {', '.join(KINDS)}")
        return
    if kind is not None and kind not in KINDS:
        raise refusal(
            "KIND", "", "no such kind of product", kind, allowed=", ".join(KINDS), hint=did_you_mean(kind, KINDS)
        )
    catalog = _catalog(catalogs)
    for wanted in [kind] if kind else KINDS:
        entries: tuple[Product, ...] = getattr(catalog, wanted)
        if kind is None:
            say(Text(f"\n{wanted}", style="bold cyan"))
        columns = [("id", False), ("vendor", False), ("what", False), ("price", True), ("power", True)]
        say(table(columns, (_product_row(entry) for entry in entries)))


def _catalog(catalogs: Sequence[str] | None) -> Catalog:
    return read_catalog(list(catalogs or _DEFAULT), Path(), "--catalog" if catalogs else "library", "")


def _product_row(product: Product) -> list[str]:
    watts = getattr(product, "power_w", None)
    description = " ".join((product.description or "").split())
    if product.end_of_life:
        description = f"(end of life) {description}"
    return [product.id, product.vendor or "", description, _price(product), power(watts) if watts is not None else "-"]


def _price(product: Product) -> str:
    if isinstance(product, ByLength):
        prices = [_first(length.price_usd) for length in product.lengths if length.price_usd is not None]
        if not prices:
            return "-"
        low, high = min(prices), max(prices)
        return money(low) if low == high else f"{money(low)} - {money(high)}"
    price = getattr(product, "price_usd", None)
    return money(_first(price)) if price is not None else "-"


def _first(price: Price | None) -> float:
    assert price is not None
    return price[0].usd if isinstance(price, tuple) else price


def show_product(id_: str, catalogs: Sequence[str] | None) -> None:
    """Print everything about one product."""
    catalog = _catalog(catalogs)
    known = {product.id: product for product in products(catalog)}
    written, id_ = id_, meant_id(id_, catalog)
    if id_ not in known:
        id_ = written
        hint = hint_for(id_, list(known), ProductNames(catalog), KINDS, MOST_NAMED)
        raise refusal(
            "ID", "", "the catalog has no such product", id_, hint=hint or "`fabopt catalog list KIND` names them"
        )
    content = known[id_].model_dump(mode="json", by_alias=True, exclude_unset=True)
    keys = sorted(content, key=lambda key: (key != "id", key in _LAST_KEYS))
    say(Text(printable("\n".join(_lines({key: content[key] for key in keys})))))


def _lines(content: Any, indent: str = "") -> Iterable[str]:
    """Yield an object as indented lines, plain values on one line."""
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        label = f"{indent}{key}:" if isinstance(content, dict) else f"{indent}-"
        if isinstance(value, dict | list) and not _is_flat(value):
            yield label
            yield from _lines(value, indent + "  ")
        else:
            yield f"{label} {_flat(value)}"


def _is_flat(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    return all(not isinstance(item, dict | list) for item in inner) and len(_flat(value)) < 100


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_flat(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain(value) if isinstance(value, int | float) else str(value)


def check_catalogs(catalogs: Sequence[str] | None) -> int:
    """Check catalogs (those given, merged; else each of the library) and print what they hold."""
    together = [list(catalogs)] if catalogs else [[name] for name in names("catalogs")]
    code = EXIT_DONE
    for group in together:
        catalog = read_catalog(group, Path(), "catalog", "")
        title = ", ".join(group)
        faults = check_catalog(catalog, title)
        for catalog_fault in faults:
            tell(str(catalog_fault))
            code = EXIT_INPUT
        kinds = ", ".join(some(len(getattr(catalog, kind)), word) for word, kind in KIND_OF_WORD.items())
        say(Text(printable(f"{title}: {kinds}; {some(len(catalog.prices), 'price book')}")))
        never = [product.id for product in products(catalog) if _never_chosen(product)]
        if never:
            say(Text(printable(f"  never chosen for want of a price or power figure: {', '.join(never)}")))
    return code


def _never_chosen(product: Product) -> bool:
    if isinstance(product, ByLength):
        priced = any(length.price_usd is not None for length in product.lengths)
        return not priced or (isinstance(product, Cable) and product.power_w is None)
    draws = not isinstance(product, Panel)
    return getattr(product, "price_usd", None) is None or (draws and getattr(product, "power_w", None) is None)


def write_schema(kind: str, key: str | None, output: str | None) -> None:
    """Write the JSON Schema of a kind of file, or the meaning of a key."""
    data = schema_bytes(kind) if key is None else "".join(f"{line}\n" for line in key_lines(kind, key)).encode()
    check_targets([output])
    deliver(output or STANDARD_STREAM, data)
