"""The strict, frozen base of every schema object, and the small types they share."""

import operator
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import Annotated, Any, ClassVar, NamedTuple
from unicodedata import category

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from fabopt.schema.words import summary_of, words_of
from fabopt.units import exact, mbps

SPLIT_PATTERN = re.compile(r"([1-9][0-9]{0,3})x([0-9]{1,6}(?:\.[0-9]{1,3})?)")
ID_PATTERN = r"^[a-z0-9][a-z0-9.+_-]{0,99}$"
# The limit of a conflict where none alone can be named: its detail says what is in the way.
NO_SINGLE_LIMIT = "case"
# What any program can write, and nobody mistakes for something else. Names of cases, fabrics and stages have small
# letters only; which names are too much alike is said by ``fabopt.problem.names``.
NAME_PATTERN = r"^[A-Za-z0-9]+(?:[ ._-][A-Za-z0-9]+)*$"


def is_open(value: object) -> bool:
    """Whether a key is left open, and so not written."""
    return value is None


def is_empty(value: object) -> bool:
    """Whether nothing is said, or there are none, and so nothing is written."""
    return not value


def is_as(usual: object) -> Callable[[object], bool]:
    """The question whether a value is the usual one, which is not written."""
    return partial(operator.eq, usual)


class Strict(BaseModel):
    """Frozen, no unknown keys, no coercion (``"3"`` is not 3), no infinities.

    What its keys mean is said in the ``Attributes`` of its docstring. ``like``: the class whose keys mean the same, for
    those that its own docstring leaves out. ``of_one``: the keys that one value in place of them all stands for; None:
    all of them.
    """

    like: ClassVar[type[BaseModel] | None] = None
    of_one: ClassVar[tuple[str, ...] | None] = None

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        populate_by_name=True,
        ser_json_inf_nan="constants",
        # most classes are only ever looked at as part of another one; not products, which designs have one by one
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> dict[str, Any]:
        """The JSON Schema with a sentence for every key."""
        written = handler(schema)
        own, words = handler.resolve_ref_schema(written), words_of(cls)
        own["description"] = summary_of(cls)
        for name, field in cls.model_fields.items():
            own["properties"][field.alias or name]["description"] = words[name]
        return written


class Lane(NamedTuple):
    """How a cage is used: as ``ports`` ports of ``port_mbps`` each."""

    ports: int
    port_mbps: int


@lru_cache(maxsize=4096)
def parse_split(text: str) -> Lane:
    """Read ``NxG`` (a cage used as N ports of G Gb/s); raises ``ValueError`` otherwise."""
    match = SPLIT_PATTERN.fullmatch(text)
    if match is None or exact(match.group(2)) <= 0:
        raise ValueError("a split is written NxG, as in 2x400: N ports of G Gb/s")
    return Lane(int(match.group(1)), mbps(match.group(2)))


def _check_split(text: str) -> str:
    parse_split(text)
    return text


def _check_id(text: str) -> str:
    if not re.fullmatch(ID_PATTERN, text):
        raise ValueError("an id has lower-case letters, digits and . + _ - only")
    return text


def _check_word(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("write text that can be printed on one line, without spaces at its ends")
    return text


def _check_reference(text: str) -> str:
    if any(not one.isprintable() and category(one) != "Zs" for one in text):
        raise ValueError("a name or path has only characters that can be seen")
    return text


def _check_no_path(text: str) -> str:
    if text.lower().endswith((".yaml", ".yml")):
        raise ValueError("a name that ends in .yaml would be read as a path")
    return text


Split = Annotated[str, AfterValidator(_check_split)]
Identifier = Annotated[str, AfterValidator(_check_id)]
Text = Annotated[str, Field(max_length=4000)]
Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_word)]
# A name in the library, or a path.
Reference = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_reference)]
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=100)]
BookName = Annotated[Name, AfterValidator(_check_no_path)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Money = Annotated[float, Field(ge=0, le=1e12)]
Watts = Annotated[float, Field(ge=0, le=1e9)]
Metres = Annotated[float, Field(gt=0, le=1e6)]
Gbps = Annotated[float, Field(gt=0, le=1e6)]
Ratio = Annotated[float, Field(gt=0, le=1e6)]


def ratio(value: float) -> Fraction:
    """A ratio written by a user, exactly."""
    return exact(value)
