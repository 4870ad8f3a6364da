"""Write the tables of keys in these pages from the classes that read the files: ``python docs/key_tables.py``.

A table stands between ``<!-- keys CLASS -->`` and ``<!-- end -->``; a second word is put before every key. That of the
default rules stands after ``<!-- rules -->`` and has what the records of ``fabopt.rules`` say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from fabopt.output.terminal.schema_keys import SCHEMAS, Key, default_words, keys_of_file
from fabopt.rules.defaults import DEFAULT_RULES, YIELDING

PAGES = Path(__file__).parent
_RULES = re.compile(r"<!-- rules -->\n.*?<!-- end -->", re.DOTALL)
_TABLE = re.compile(r"<!-- keys (\w+)(?: (\S+))? -->\n.*?<!-- end -->", re.DOTALL)


def classes() -> dict[str, dict[str, Key]]:
    """The keys of every class of every kind of file, by its name."""
    named: dict[str, dict[str, Key]] = {}
    for model in SCHEMAS.values():
        for key in keys_of_file(model):
            named.setdefault(key.model.__name__, {}).setdefault(key.steps[-1], key)
    return named


def with_tables(text: str, named: dict[str, dict[str, Key]]) -> str:
    """The text of a page with its tables as the classes have them."""

    def table(match: re.Match[str]) -> str:
        name, before = match[1], match[2] or ""
        rows = [f"| `{before}{key}` | {_default(known)} | {known.sentence} |" for key, known in named[name].items()]
        start = match[0].partition("\n")[0]
        return "\n".join((start, "| key | default | meaning |", "| --- | --- | --- |", *rows, "<!-- end -->"))

    return _RULES.sub(lambda _: "\n".join(("<!-- rules -->", *rule_rows(), "<!-- end -->")), _TABLE.sub(table, text))


def rule_rows() -> Iterator[str]:
    """The table of the default rules, from their records."""
    yield "| rule | what holds | off | left out | check |"
    yield "| --- | --- | --- | --- | --- |"
    for name, rule in DEFAULT_RULES.items():
        where = f"{rule.sentence} ([more]({rule.anchor.removeprefix('docs/').removeprefix('rules.md')}))"
        left_out = "where no design keeps it" if name in YIELDING else "never"
        yield f"| `{name}` | {where} | {rule.off or 'it is not asked for'} | {left_out} | `{rule.check}` |"


def _default(key: Key) -> str:
    if isinstance(key.field.default, BaseModel):
        return "see there"
    words = default_words(key.field)
    return {"null": "none", "none, it must be given": "required"}.get(words, f"`{words}`")


if __name__ == "__main__":
    named = classes()
    for page in sorted(PAGES.rglob("*.md")):
        page.write_text(with_tables(page.read_text(), named))
