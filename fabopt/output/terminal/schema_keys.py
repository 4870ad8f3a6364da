"""The meaning of a file's key, in the terminal: its sentence, allowed values, default, and an example."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from fabopt.errors import did_you_mean, nearest, refusal
from fabopt.io.library import checkout_or_package, data_folder, read_bytes, shown
from fabopt.io.schema_types import ENTRY, OWN_WORD, branches, entries
from fabopt.io.text import parse_yaml
from fabopt.output.words import json_bytes, listed
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, Catalog
from fabopt.schema.design import Design, Front
from fabopt.schema.expected import ExpectedTopology
from fabopt.schema.model import Model
from fabopt.schema.price_book import PriceBook
from fabopt.schema.sensitivity import Sensitivity
from fabopt.schema.words import words_of
from fabopt.wiring.design_file import PART_MODELS

# Places of the same name that are shown whole; of more their paths alone are.
MOST_SHOWN = 4
# Where files of a kind, and of a product, are in the library.
_PARTS = "catalogs/reference"
_FOLDERS = {"case": "cases", "model": "models", "catalog": _PARTS, "price-book": f"{_PARTS}/prices"}
_PRODUCTS = {kind.removesuffix("es") if kind == "switches" else kind.removesuffix("s"): kind for kind in KINDS}
# Examples of keys that no file of the library has.
EXAMPLES = Path(__file__).with_name("examples.yaml")
WIDTH = 100
# Characters of an example that is shown whole; of a longer one, entries at each level.
MOST_OF_AN_EXAMPLE = 300
MOST_ENTRIES = 3
_NUMBERS = {"number": "number", "integer": "whole number"}
_BOUNDS = (
    ("exclusiveMinimum", "above {}"),
    ("minimum", "at least {}"),
    ("exclusiveMaximum", "below {}"),
    ("maximum", "at most {}"),
)


class Key(NamedTuple):
    """A key of a kind of file: the steps to it (``ENTRY`` of a list, ``OWN_WORD`` of the user's),
    the class that has it, and its field.
    """

    steps: tuple[str, ...]
    model: type[BaseModel]
    field: FieldInfo

    @property
    def path(self) -> str:
        """The key as it is written: ``fabrics[].tiers``."""
        return ".".join(self.steps).replace(f".{ENTRY}", ENTRY)

    @property
    def sentence(self) -> str:
        """The sentence that describes the key."""
        name = next(name for name, field in self.model.model_fields.items() if field is self.field)
        return words_of(self.model)[name]

    @property
    def names(self) -> tuple[str, ...]:
        """Steps to the key as people say them, without entries of lists and words of their own."""
        return tuple(step for step in self.steps if step not in (ENTRY, OWN_WORD))

    def means_the_same_as(self, other: Key) -> bool:
        """Whether both keys have one name and one sentence, wherever they stand."""
        return self.steps[-1] == other.steps[-1] and self.sentence == other.sentence


def key_lines(kind: str, wanted: str) -> Iterator[str]:
    """Say what a key of a kind of file means; of a name in several places, its meaning at each.

    ``InputError`` where the kind has no such key.
    """
    model = kind_of_file(kind)
    keys = tuple(keys_of_file(model))
    words = tuple(word for word in wanted.replace("[", ".").replace("]", "").split(".") if word)
    places = [key for key in keys if key.path == wanted] or [key for key in keys if _leads_to(words, key.steps)]
    places = places or sorted(
        (key for key in keys if key.names[-len(words) :] == words), key=lambda key: len(key.steps)
    )
    if not words or not places:
        last = nearest(words[-1] if words else "", list(dict.fromkeys(key.names[-1] for key in keys)))
        close = (nearest(wanted, [key.path for key in keys]) or last) if len(words) > 1 else last
        raise refusal(
            "KEY",
            "",
            f"a {kind} has no such key",
            wanted,
            hint=f"did you mean `{close}`?" if close else f"`fabopt schema {kind}` prints all keys",
        )
    if len({key.path for key in places}) > MOST_SHOWN:
        yield f"{len(places)} keys of a {kind} are called {words[-1]}; say which:"
        yield from (line for key in places for line in _wrapped(f"{key.path}: {key.sentence}"))
        return
    schema = _schema_of(model)
    # Kinds of one thing, such as families, have keys of one path: each meaning once.
    for number, key in enumerate({(key.path, key.sentence): key for key in places}.values()):
        yield from ([""] if number else [])
        yield key.path
        yield from _wrapped(key.sentence)
        yield from _wrapped(f"allowed: {_allowed(_property(schema, key), schema)}")
        yield from _wrapped(f"default: {default_words(key.field)}")
        yield from _below(key)
        yield from _example(kind, key)


@cache
def _schema_of(model: type[BaseModel]) -> Mapping[str, Any]:
    return model.model_json_schema(by_alias=True)


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _leads_to(words: tuple[str, ...], steps: tuple[str, ...]) -> bool:
    """Whether words are all steps to a key; entries of lists by their number or name, or not at all."""
    if not steps or not words:
        return not steps and not words
    if steps[0] in (ENTRY, OWN_WORD):
        return _leads_to(words, steps[1:]) or _leads_to(words[1:], steps[1:])
    return words[0] == steps[0] and _leads_to(words[1:], steps[1:])


def keys_of_file(model: type[BaseModel], above: tuple[str, ...] = (), inside: tuple[type, ...] = ()) -> Iterator[Key]:
    """All keys of a class, each followed by those below it; ``above``: steps to the class, ``inside``: the classes on
    the way.
    """
    for name, field in model.model_fields.items():
        steps = (*above, field.alias or name)
        yield Key(steps, model, field)
        for step, kind in _models_at(field.annotation, ()):
            if kind not in (*inside, model):
                yield from keys_of_file(kind, (*steps, *step), (*inside, model))


def _models_at(kind: Any, steps: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], type[BaseModel]]]:
    """The classes inside a value of a type, with the steps to them."""
    for branch in branches(kind):
        if isinstance(branch, type) and issubclass(branch, BaseModel):
            yield steps, branch
        for step, inner in entries(branch):
            yield from _models_at(inner, (*steps, step))


def _property(schema: Mapping[str, Any], key: Key) -> Mapping[str, Any]:
    own = schema["$defs"].get(key.model.__name__, schema)
    written: Mapping[str, Any] = own["properties"][key.steps[-1]]
    return written


def _allowed(written: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The values that a JSON Schema allows, in words."""
    if "$ref" in written:
        name = written["$ref"].rpartition("/")[2]
        definition = schema["$defs"][name]
        return "keys of its own" if "properties" in definition else _allowed(definition, schema)
    if "anyOf" in written:
        return "; or ".join(dict.fromkeys(_allowed(choice, schema) for choice in written["anyOf"]))
    if "const" in written or "enum" in written:
        return listed([json.dumps(word).strip('"') for word in written.get("enum", [written.get("const")])], "or")
    kind = written.get("type")
    if kind in _NUMBERS:
        bounds = [words.format(f"{written[key]:,.15g}") for key, words in _BOUNDS if key in written]
        return ", ".join([_NUMBERS[kind], *bounds])
    if kind == "array":
        kinds = [_allowed(item, schema) for item in written.get("prefixItems", [written.get("items", {})])]
        return f"a list of: {', '.join(dict.fromkeys(kinds))}"
    if kind == "object":
        return f"by name: {_allowed(_of_each(written), schema)}"
    return {"string": "text", "boolean": "true or false", "null": "null"}.get(str(kind), "anything")


def _of_each(written: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON Schema of the values under each name of the user's own."""
    allowed = written.get("additionalProperties")
    return allowed if isinstance(allowed, dict) else {}


def default_words(field: FieldInfo) -> str:
    """The default of a key as a file has it, or that there is none."""
    if field.default is PydanticUndefined:
        return "none, it must be given"
    default = field.default
    if isinstance(default, BaseModel):
        default = default.model_dump(mode="json", by_alias=True)
    return _in_one_line(to_jsonable_python(default, by_alias=True))


def _in_one_line(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")


def _below(key: Key) -> Iterator[str]:
    fields = [
        named_field for _, model in _models_at(key.field.annotation, ()) for named_field in model.model_fields.items()
    ]
    if fields:
        yield from _wrapped(f"keys: {', '.join(dict.fromkeys(field.alias or name for name, field in fields))}")


def _example(kind: str, key: Key) -> Iterator[str]:
    for value, source in islice(examples_of(kind, key), 1):
        whole = _in_one_line(value)
        said = f"example: {key.steps[-1]}: {whole}"
        if len(whole) > MOST_OF_AN_EXAMPLE:
            said = f"example, cut: {key.steps[-1]}: {_in_one_line(_cut(value))}"
        yield from _wrapped(said)
        yield from [f"    from {source}"] if source else []


def examples_of(kind: str, key: Key) -> Iterator[tuple[Any, str]]:
    """Values in files of the library, in the order of names, each with its file: of the key, then of those that mean
    the same in other places. ``EXAMPLES`` go after the files of a kind.
    """
    yield from _values_in_library(kind, key)
    alike = (other for other in _keys_of_library() if other[1].means_the_same_as(key))
    yield from (found for other in alike for found in _values_in_library(*other))


@cache
def _keys_of_library() -> tuple[tuple[str, Key], ...]:
    """The keys of the kinds of files that have examples."""
    return tuple((kind, key) for kind in _content(EXAMPLES) for key in keys_of_file(kind_of_file(kind)))


def _values_in_library(kind: str, key: Key) -> Iterator[tuple[Any, str]]:
    """Values of a key in files of a kind, each with its file."""
    folder, steps = _FOLDERS.get(kind, kind), key.steps
    if kind in _PRODUCTS or (kind == "catalog" and steps[:2] in [(products, ENTRY) for products in KINDS]):
        folder = f"{_PARTS}/{_PRODUCTS.get(kind, steps[0])}"
        steps = steps[2:] if kind == "catalog" else steps
    top, _, rest = folder.partition("/")
    for path in _files_in(data_folder(top) / rest):
        values = _values(_content(path), steps)
        yield from ((value, f"{folder}/{path.name}") for value in values if value is not None)
    yield from ((value, "") for value in _values(_content(EXAMPLES).get(kind), key.steps))


@cache
def _files_in(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob("*.yaml")))


@cache
def _content(path: Path) -> Any:
    return parse_yaml(read_bytes(path), shown(path))


def _cut(value: Any) -> Any:
    """A value, cut to the length of an example."""
    if isinstance(value, dict):
        return {name: _cut(inner) for name, inner in islice(value.items(), MOST_ENTRIES)}
    return [_cut(inner) for inner in value[:MOST_ENTRIES]] if isinstance(value, list) else value


def _values(content: Any, steps: tuple[str, ...]) -> Iterator[Any]:
    """Values at some steps into a file's content, at every entry of its lists."""
    if not steps:
        yield content
    elif isinstance(content, list) and steps[0] == ENTRY:
        yield from (value for entry in content for value in _values(entry, steps[1:]))
    elif isinstance(content, dict) and steps[0] == OWN_WORD:
        yield from (value for entry in content.values() for value in _values(entry, steps[1:]))
    elif isinstance(content, dict) and steps[0] in content:
        yield from _values(content[steps[0]], steps[1:])


# -- JSON Schemas of every kind of file, for editors and other programs -----------------------------------------------


_DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS: dict[str, type[BaseModel]] = {
    "case": Case,
    "catalog": Catalog,
    "design": Design,
    "front": Front,
    "sensitivity": Sensitivity,
    "price-book": PriceBook,
    "model": Model,
    "expected-topology": ExpectedTopology,
    **PART_MODELS,
}


def kind_of_file(kind: str) -> type[BaseModel]:
    """Return the class that reads a kind of file; ``InputError`` for an unknown kind."""
    if kind not in SCHEMAS:
        raise refusal(
            "KIND", "", "no such kind of file", kind, allowed=", ".join(SCHEMAS), hint=did_you_mean(kind, SCHEMAS)
        )
    return SCHEMAS[kind]


def schema_bytes(kind: str) -> bytes:
    """Return the JSON Schema of a kind of file; ``InputError`` for an unknown kind."""
    schema: dict[str, Any] = {"$schema": _DIALECT, **kind_of_file(kind).model_json_schema(by_alias=True)}
    schema["title"] = f"fabopt {kind}"
    if kind in PART_MODELS:  # one product a file: there the id may be left to the file's name
        schema["required"] = [key for key in schema.get("required", []) if key != "id"]
    return json_bytes(schema)


def schema_file(kind: str) -> Path:
    """Return where the schema of a kind is kept on disk: with the package's data, or in the checkout's docs."""
    return checkout_or_package("docs/schemas", "schemas") / f"{kind}.json"
