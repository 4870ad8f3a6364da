"""One key of a case's YAML text set or taken out; comments, order and the spelling of all else stay.

PyYAML says where each value of a text begins and ends; only these letters are replaced. What comes out is read again
and held against the values that it is to have.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from fabopt.errors import Fault, InputError, refusal
from fabopt.io.case import Inputs, inputs_from_text
from fabopt.io.catalog import read_catalog
from fabopt.io.keys import key_path as path_of
from fabopt.io.library import names
from fabopt.io.text import CASE, parse_yaml
from fabopt.parts.names import product_name
from fabopt.rules.defaults import DEFAULT_RULES
from fabopt.schema.case import Case
from fabopt.studio.folder import CASES, DESIGNS, below, files
from fabopt.studio.worker import Bench, Message, fault_rows

FILE = "case"
_STEP = re.compile(r'\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]|\.?([^.\[\]]+)')
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]*(?:[. ][A-Za-z0-9_+/-]+)*")
_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Steps = tuple[str | int, ...]


def edited(text: str, key: str, value: Any) -> str:
    """Return a text with a key set, or taken out where ``value`` is None; ``InputError`` where that cannot be said.

    ``key``: as faults name it (``fabrics[0].planes``), or as rows of designs do (``fabrics.compute.planes``).
    """
    content = parse_yaml(text.encode("utf-8", "replace"), FILE, CASE) if text.strip() else {}
    if not isinstance(content, dict):
        raise refusal(FILE, "", "a case has keys with values")
    if "fabrics" not in content and key.startswith(("fabrics.", "fabrics[")):
        # the one that a case has which names none is written down
        filled = {**content, "fabrics": [{"name": fabric.name} for fabric in Case.model_fields["fabrics"].default]}
        fabrics = _changed(filled, steps_of(key, filled), value)["fabrics"]
        return text if fabrics == filled["fabrics"] else edited(text, "fabrics", fabrics)
    steps = steps_of(key, content)
    if not steps or isinstance(steps[0], int):
        raise refusal(FILE, "", "no key is named", key, hint="name one, as `fabrics[0].planes`")
    wanted = _changed(content, steps, value)
    if wanted == content:
        return text
    result = _Text(text).changed(steps, value, content)
    if parse_yaml(result.encode(), FILE, CASE) != wanted:
        raise refusal(FILE, key, "this cannot be changed here", hint="change the text itself")
    return result


def steps_of(key: str, content: Any) -> Steps:
    """Return the steps of a key through a case; ``InputError`` where it has no such place."""
    steps: list[str | int] = []
    for number, quoted, word in _STEP.findall(key):
        steps.append(int(number) if number else json.loads(f'"{quoted}"') if quoted else word)
    if any(isinstance(step, int) for step in steps) or len(steps) < 2:
        return tuple(steps)
    path = path_of(key, content)
    if isinstance(path, Fault):
        raise refusal(FILE, key, path.problem, allowed=path.allowed, hint=path.hint)
    return path


def _changed(content: Any, steps: Steps, value: Any) -> Any:
    """Return what a text is to mean once it is changed."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        entries = list(content) if isinstance(content, list) else []
        if step > len(entries) or (step == len(entries) and value is None):
            raise refusal(FILE, f"[{step}]", "the list has no such entry")
        if not rest and value is None:
            return [*entries[:step], *entries[step + 1 :]]
        own = entries[step] if step < len(entries) else None
        return [*entries[:step], _changed(own, rest, value), *entries[step + 1 :]]
    keys = dict(content) if isinstance(content, dict) else {}
    if value is None and (not rest or step not in keys):
        keys.pop(step, None)
        return keys
    keys[step] = _changed(keys.get(step), rest, value)
    return keys


class _Text:
    """A text and the nodes of its values, each with the place of its first and last letter."""

    def __init__(self, text: str) -> None:
        self.text = text if not text or text.endswith("\n") else f"{text}\n"
        self.root: Any = yaml.compose(self.text, Loader=_LOADER) if text.strip() else None

    def changed(self, steps: Steps, value: Any, content: Any) -> str:
        """Return the text with a value at some steps."""
        if self.root is None:
            return self.text + _entry(steps, value, 0)
        node, above = self.root, None
        for depth, step in enumerate(steps):
            entry = _child(node, step)
            if entry is None:
                return self._added(node, above, steps[depth:], value)
            above, node = (node, step, entry), entry[1]
        assert above is not None
        return self._without(*above) if value is None else self._with(above, value)

    def _with(self, above: Any, value: Any) -> str:
        """Return the text with the value of an entry replaced."""
        holder, _, (key, node) = above
        start, end = node.start_mark.index, _end(node)
        if key is not None and start <= key.end_mark.index:
            start = end = key.end_mark.index + len(_colon(self.text, key.end_mark.index))
        space = "" if start and self.text[start - 1].isspace() else " "
        if not holder.flow_style and isinstance(node, yaml.CollectionNode) and not node.flow_style:
            # a block begins on a line of its own; in its place one value stands beside the key
            begin = (key.end_mark.index + len(_colon(self.text, key.end_mark.index))) if key is not None else start
            gap = " " if key is not None else ""
            return f"{self.text[:begin]}{gap}{_flow(value)}\n{self.text[end:].lstrip(chr(10))}"
        return f"{self.text[:start]}{space}{_flow(value)}{self.text[end:]}"

    def _without(self, holder: Any, step: Any, entry: Any) -> str:
        """Return the text without an entry: its lines, or in a flow the part between commas."""
        key, node = entry
        start, end = (key or node).start_mark.index, max(_end(node), key.end_mark.index if key is not None else 0)
        if holder.flow_style:
            after = re.match(r"\s*:?\s*,\s*", self.text[end:])
            if after:
                return self.text[:start] + self.text[end + after.end() :]
            before = re.search(r",?\s*$", self.text[:start])
            return self.text[: before.start() if before else start] + self.text[end:].removeprefix(":")
        if len(holder.value) == 1 and holder is not self.root:
            return (
                self.text[: holder.start_mark.index]
                + ("[]" if key is None else "{}")
                + "\n"
                + self.text[end:].lstrip("\n")
                if isinstance(node, yaml.CollectionNode) and not node.flow_style
                else self.text[: holder.start_mark.index] + ("[]" if key is None else "{}") + self.text[end:]
            )
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", max(start, end - 1)) + 1 or len(self.text)
        lead = self.text[first:start]
        if key is not None and "-" in lead:
            # the first key of an entry: the next one takes its place behind the dash
            following = self.text[last:].lstrip(" ")
            return self.text[:start] + following
        return self.text[:first] + self.text[last:]

    def _added(self, node: Any, above: Any, steps: Steps, value: Any) -> str:
        """Return the text with an entry that was not there, after the last one of its holder."""
        is_list = isinstance(steps[0], int)
        if above is None and not node.value:
            start, end = node.start_mark.index, node.end_mark.index
            return f"{self.text[:start]}{_flow(_nested(steps, value))}{self.text[end:]}"
        if not isinstance(node, yaml.SequenceNode if is_list else yaml.MappingNode) or not node.value:
            return self._with(above, _nested(steps, value))
        if node.flow_style:
            end = node.end_mark.index - 1
            entry = _flow(_nested(steps, value))[1:-1]
            body = self.text[:end].rstrip().removesuffix(",")
            return f"{body}, {entry}{self.text[end:]}"
        column, last = node.start_mark.column, _end(node) - 1
        behind = self.text.find("\n", last) + 1 or len(self.text)
        if is_list:
            return f"{self.text[:behind]}{' ' * column}- {_flow(_nested(steps[1:], value))}\n{self.text[behind:]}"
        return self.text[:behind] + _entry(steps, value, column) + self.text[behind:]


def _child(node: Any, step: str | int) -> Any:
    """Return key and value of an entry of a node; None where it has none."""
    if isinstance(node, yaml.MappingNode) and isinstance(step, str):
        return next((pair for pair in node.value if pair[0].value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None


def _end(node: Any) -> int:
    """Return where a value ends: a block's mark is where the next one begins, after comments that are not its own."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return max(_end(last[1]), last[0].end_mark.index) if isinstance(last, tuple) else _end(last)
    return int(node.end_mark.index)


def _colon(text: str, place: int) -> str:
    match = re.match(r"\s*:", text[place:])
    return match[0] if match else ""


def _entry(steps: Steps, value: Any, column: int) -> str:
    return f"{' ' * column}{_flow(str(steps[0]))}: {_flow(_nested(steps[1:], value))}\n"


def _nested(steps: Steps, value: Any) -> Any:
    """Return a value below keys that are not there yet."""
    for step in reversed(steps):
        value = [value] if isinstance(step, int) else {step: value}
    return value


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(str(key))}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


# -- jobs on texts of cases -------------------------------------------------------------------------------------------


UNNAMED = "case.yaml"


def inputs_of(bench: Bench, text: str, path: str | None, prices: Mapping[str, float] | None = None) -> Inputs:
    """Return the inputs of a case's text, as if it stood in the file of the studio's folder that it is for.

    ``prices``: changes of prices by kind, in percent.
    """
    changes = [f"{kind}={percent:+g}%" for kind, percent in (prices or {}).items() if percent]
    return inputs_from_text(text, below(bench.folder, path or UNNAMED, CASES), changes)


def start(bench: Bench) -> Message:
    """Return what there is in the folder and in the library: cases, designs, keys of a case, names for them."""
    catalog = read_catalog(["reference"], bench.folder, "library")
    products: dict[str, list[list[str]]] = {}
    for kind in ("switches", "nics", "transceivers", "cables", "servers"):
        rows = getattr(catalog, kind)
        products[kind] = [[row.id, product_name(row.model_dump(exclude_none=True), row.id)] for row in rows]
    return {
        "cases": files(bench.folder, CASES),
        "designs": files(bench.folder, DESIGNS),
        "schema": Case.model_json_schema(by_alias=True),
        "choices": {
            "server": products["servers"],
            "fabrics[].nics": products["nics"],
            **{f"fabrics[].switches.{tier}": products["switches"] for tier in ("leaf", "spine", "core")},
            "catalog": [[name, name] for name in names("catalogs")],
            "prices": [[book.name, book.name] for book in catalog.prices if book.name],
            "workload.model": [[name, name] for name in names("models")],
        },
        "rules": {name: rule.sentence for name, rule in DEFAULT_RULES.items()},
        "parts": products,
    }


def read(bench: Bench, text: str, path: str | None = None) -> Message:
    """Return a text's values, its faults, and the default rules that it turns off."""
    values: Any = None
    faults: list[Message] = []
    off: list[Message] = []
    with contextlib.suppress(InputError):
        values = parse_yaml(text.encode("utf-8", "replace"), path or UNNAMED, CASE)
    try:
        rules = inputs_of(bench, text, path).case.model_dump(mode="json")["rules"]
        turned_off = DEFAULT_RULES if rules == "none" else [name for name, is_on in rules.items() if not is_on]
        off = [{"rule": name, "words": DEFAULT_RULES[name].sentence} for name in turned_off if name in DEFAULT_RULES]
    except InputError as error:
        faults = fault_rows(error.faults)
    return {"values": values, "faults": faults, "rules_off": off}


def edit(bench: Bench, text: str, key: str, value: Any = None) -> Message:
    """Return a text with one key set, or taken out where the value is null; comments and order stay."""
    return {"text": edited(text, key, value)}
