"""Pydantic's errors in the user's words: one fault a place, unions merged, the nearest valid word named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from fabopt.errors import Fault, InputError, cut, did_you_mean, fault
from fabopt.io.advice import advice_on_key, advice_on_value
from fabopt.io.batches import MOST_VALUES, EntryBatch, batches, values_in
from fabopt.io.quantities import quantity_under
from fabopt.io.schema_types import Steps, keys_at
from fabopt.schema.base import ID_PATTERN, NAME_PATTERN
from fabopt.schema.case import CALENDAR_MONTH, Case
from fabopt.schema.stages import KEBAB
from fabopt.units import grouped

Model = TypeVar("Model", bound=BaseModel)
MAX_FAULTS = 100
# Bytes that validation takes for each value.
ROOM = 250
# A share from here on is taken for one in percent.
LEAST_PERCENT = 2

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER_AS_TEXT = re.compile(r"[-+]?[0-9][0-9_,' ]*")
_QUOTED_OR_NUMBER = re.compile(r"'([^']*)'|(-?[0-9]+)")
_PATTERNS = {
    KEBAB: "kebab-case: lower-case letters and digits, in words joined by - or .",
    CALENDAR_MONTH: "a year and a month, as in 2026-01",
    ID_PATTERN: "lower-case letters, digits and . + _ -",
    NAME_PATTERN: "letters A to Z and a to z and digits, in words joined by a space or . _ -",
}
_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list [a, b]",
    "list_type": "a list [a, b]",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
}
# Of a fault that is counted and not listed, for which no hint is looked for.
_MORE = "this is wrong too"
# What says that a mapping is not of the kind that was tried.
_OTHER_KIND = ("missing", "extra_forbidden", "literal_error")
_KEYED = ("model_type", "model_attributes_type")
_BOUNDS = {
    "greater_than": ("gt", "more than {}"),
    "greater_than_equal": ("ge", "at least {}"),
    "less_than": ("lt", "less than {}"),
    "less_than_equal": ("le", "at most {}"),
    "string_too_short": ("min_length", "at least {} characters"),
    "string_too_long": ("max_length", "at most {} characters"),
    "too_short": ("min_length", "at least {} entries"),
    "too_long": ("max_length", "at most {} entries"),
}


def refuse(faults: Sequence[Fault]) -> InputError:
    """Return the error that carries all faults of a stage; beyond ``MAX_FAULTS`` it says that there are more."""
    faults = list({str(one): one for one in faults}.values())
    if len(faults) > MAX_FAULTS:
        faults = [*faults[:MAX_FAULTS], fault(faults[0].file, "", "and more")]
    return InputError(faults)


def refuse_any(faults: Sequence[Fault]) -> None:
    """Raise the error that carries all faults of a stage, if there are any."""
    if faults:
        raise refuse(faults)


def key_path(steps: Sequence[str | int]) -> str:
    """Return a key path as users write it: ``fabrics[0].max_oversubscription``, ``prices["qm9700.x"]``; keys cut."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{cut(step)}" if text else cut(step)
        else:
            quoted = cut(step).replace('"', '\\"')
            text += f'["{quoted}"]'
    return text


def validated(model: type[Model], content: object, file: str, faults: list[Fault], base: Steps = ()) -> Model | None:
    """Return ``content`` as ``model``; on errors append a fault for each place and return None.

    Places are below key path ``base``.

    The content goes through JSON text because the schemas are strict: JSON's list is a tuple, a Python list is not.
    """
    try:
        early, told = list(faults), set[Steps]()
        for batch in batches(content):
            groups = {steps: group for steps, group in _of_batch(model, batch).items() if steps not in told}
            told |= groups.keys()
            _tell(model, groups, file, early, base)
            if len(early) > MAX_FAULTS:
                break
        if len(early) > len(faults):
            faults[:] = early
            return None
        return _as_model(model, content)
    except ValidationError as error:
        located = _of_its_kind([_located(one, content) for one in error.errors(include_url=False, include_input=False)])
    except (ValueError, TypeError, RecursionError) as error:
        faults.append(fault(file, key_path(base), f"cannot be read as data: {error}"))
        return None
    _tell(model, _by_place(located), file, faults, base)
    return None


def document_of(model: type[Model], content: object, file: str) -> Model:
    """Return ``content`` as ``model``; ``InputError`` lists all faults of ``file``."""
    faults: list[Fault] = []
    document = validated(model, content, file, faults)
    if document is None:
        raise refuse(faults)
    return document


def _as_model(model: type[Model], content: object) -> Model:
    if (values := values_in(content)) > MOST_VALUES:
        # native code ends the process where memory ends: this raises ``MemoryError``
        bytearray(ROOM * values)
    return model.model_validate_json(to_json(content, inf_nan_mode="strings"), by_alias=True, by_name=False)


def _of_batch(model: type[BaseModel], batch: EntryBatch) -> dict[Steps, list[Any]]:
    """Errors in the entries of a batch, by place in the whole; none of the parts cut out of it."""
    try:
        _as_model(model, batch.content)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        located = _of_its_kind([_located(error, batch.content) for error in errors])
        groups = _by_place([one for one in located if _is_sure(one, batch)])
        return {batch.whole(steps): group for steps, group in groups.items()}
    return {}


_OF_KEYS = ("missing", "extra_forbidden")


def _is_sure(place: _Located, batch: EntryBatch) -> bool:
    """Whether an error of a batch is one of the whole: of its entries, or of a key without cut siblings."""
    kind = place.error["type"]
    if kind == "missing" and place.steps[:-1] in batch.cut:
        return False
    return batch.holds(place.steps) or (kind in _OF_KEYS and batch.has_all_beside(place.steps))


def _tell(model: type[BaseModel], groups: dict[Steps, list[Any]], file: str, faults: list[Fault], base: Steps) -> None:
    """Append a fault for each place, until there is one more than is listed."""
    for steps, group in groups.items():
        if len(faults) > MAX_FAULTS:
            return
        listed = len(faults) < MAX_FAULTS
        faults.append(
            _fault(model, steps, group, file, base) if listed else fault(file, key_path((*base, *steps)), _MORE)
        )


class _Located(NamedTuple):
    """One pydantic error; ``steps`` lead to it through the data, without the names of union branches.

    ``branch``: the place of a mapping that may be of several kinds, and the kind; None elsewhere.
    """

    steps: Steps
    error: Any
    branch: tuple[Steps, str | int] | None


def _located(error: Any, content: object) -> _Located:
    steps: list[str | int] = []
    branch: tuple[Steps, str | int] | None = None
    value: Any = content
    last = len(error["loc"]) - 1
    for index, step in enumerate(error["loc"]):
        if _holds(value, step):
            value = value[step]
        elif index != last or error["type"] != "missing":
            branch = (tuple(steps), step) if isinstance(value, dict) and branch is None else branch
            continue
        steps.append(step)
    # as pydantic would copy it: of a key that is missing it is all that it is missing in
    is_key = error["loc"][-1:] == ("[key]",)
    error = {**error, "input": error["loc"][-2] if is_key else value}
    return _Located(tuple(steps), error, branch if branch is not None and len(steps) > len(branch[0]) else None)


def _of_its_kind(located: list[_Located]) -> list[_Located]:
    """Without what kinds of a mapping say whose keys are not the ones that are there, where others fit better.

    One that finds fault with the whole has read all its keys, and so fits best.
    """
    whole = {place.steps for place in located if place.error["type"] == "value_error"}
    located = [one for one in located if one.branch is None or one.branch[0] not in whole]
    strange: dict[tuple[Steps, str | int], int] = {}
    for place in located:
        if place.branch is not None:
            # a key that is no number is of no mapping by length
            is_strange = place.error["type"] in _OTHER_KIND or place.error["loc"][-1:] == ("[key]",)
            strange[place.branch] = strange.get(place.branch, 0) + is_strange
    least = {place: min(number for key, number in strange.items() if key[0] == place) for place, _ in strange}
    return [one for one in located if one.branch is None or strange[one.branch] == least[one.branch[0]]]


def _holds(content: Any, step: str | int) -> bool:
    if isinstance(content, list):
        return isinstance(step, int) and step < len(content)
    return isinstance(content, dict) and step in content


def _by_place(located: list[_Located]) -> dict[Steps, list[Any]]:
    """Group errors by place. Where one branch of a union got further into the data, the others are dropped."""
    groups = grouped((steps, error) for steps, error, _ in located)
    deeper = {steps[:end] for steps in groups for end in range(len(steps))}
    return {
        steps: group
        for steps, group in groups.items()
        if steps not in deeper or all(error["type"] == "value_error" for error in group)
    }


def _fault(model: type[BaseModel], steps: Steps, group: list[Any], file: str, base: Steps) -> Fault:
    path = key_path((*base, *steps))
    error = group[0]
    kind = error["type"]
    if kind == "missing":
        return fault(file, path, "an entry is missing" if isinstance(steps[-1], int) else "this key is required")
    if kind == "extra_forbidden":
        keys, key = keys_at(model, steps[:-1]), str(steps[-1])
        hint = advice_on_key(key, keys, steps[:-1]) if model is Case else did_you_mean(key, keys)
        return fault(file, path, "unknown key", allowed=", ".join(keys), hint=hint)
    if kind == "value_error" and len(group) == 1:
        return _value_fault(error, file, path)
    if error["loc"][-1:] == ("[key]",):
        hint = _did_you_mean(error["input"], _literals(error))
        return fault(file, path, "the key itself is not valid", allowed=_allowed(group, ()), hint=hint)
    allowed = _allowed(group, keys_at(model, steps))
    words = [word for one in group for word in _literals(one)]
    hint = _did_you_mean(error["input"], words) or _advice(error["input"], group)
    if model is Case:
        hint = hint or _advice_on_case(error["input"], steps, group)
    if isinstance(error["input"], str) and "model_type" in kind and "file" in keys_at(model, steps):
        hint = f"write {{file: {error['input']}}}" if error["input"] != "none" else "write null, or leave it out"
    return fault(file, path, "this value is not allowed", error["input"], allowed=allowed, hint=hint)


def _value_fault(error: Any, file: str, path: str) -> Fault:
    problem = str(error["ctx"]["error"])
    if isinstance(error["input"], dict | list):
        return fault(file, path, problem)
    return fault(file, path, problem, error["input"])


def _allowed(group: list[Any], keys: Sequence[str]) -> str:
    phrases = list(dict.fromkeys(phrase for error in group for phrase in _phrases(error, keys)))
    return " or ".join([", ".join(phrases[:-1]), phrases[-1]]) if len(phrases) > 1 else phrases[0]


def _phrases(error: Any, keys: Sequence[str]) -> list[str]:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "literal_error":
        return _literals(error)
    if kind == "value_error":
        return [str(context["error"])]
    if kind == "string_pattern_mismatch":
        return [_PATTERNS.get(context["pattern"], f"text like {context['pattern']}")]
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        phrase = words.format(f"{context[key]:,}" if isinstance(context[key], int) else f"{context[key]:g}")
        return [phrase.replace("at least 1 entries", "at least one entry")]
    if kind in _KEYED and keys:
        return [f"keys with values ({', '.join(keys)})"]
    return [_TYPES.get(kind, error["msg"])]


def _literals(error: Any) -> list[str]:
    if error["type"] != "literal_error":
        return []
    return [word or number for word, number in _QUOTED_OR_NUMBER.findall(error["ctx"]["expected"])]


def _did_you_mean(value: object, words: Sequence[str]) -> str:
    return did_you_mean(value, words) if isinstance(value, str) else ""


def _advice(value: object, group: list[Any]) -> str:
    """Say what to do about the usual slips: empty keys, quotes, YAML's old words for truth."""
    kinds = {error["type"] for error in group}
    if value is None:
        return "leave the key out for its default"
    if kinds & {"less_than", "less_than_equal"} and (percent := _as_percent(value, group)):
        return percent
    if "string_type" in kinds and isinstance(value, int | float):
        return "put it in quotes"
    if "bool_type" in kinds and str(value).lower() in ("yes", "no", "on", "off", "true", "false"):
        return "write true or false in small letters"
    if kinds & {"int_type", "float_type"} and _NUMBER_AS_TEXT.fullmatch(str(value)):
        return "write it without quotes, separators or leading zeros"
    return ""


def _advice_on_case(value: object, steps: Steps, group: list[Any]) -> str:
    """The likely meaning of a value of a case, or the spelling of its unit."""
    kinds = {error["type"] for error in group}
    numbers = bool(kinds & {"int_type", "int_from_float", "int_parsing", "float_type", "literal_error"})
    return advice_on_value(value, steps, "string_type" in kinds, numbers) or _unit(value, steps)


def _unit(value: object, steps: Steps) -> str:
    """How a quantity may be written where text is none."""
    keys = [step for step in reversed(steps) if isinstance(step, str)]
    quantity = next(filter(None, map(quantity_under, keys)), None)
    return f"write it {quantity.form}" if quantity is not None and isinstance(value, str) else ""


def _as_percent(value: object, group: list[Any]) -> str:
    """How a share is written that was given in percent."""
    bounds = {error["ctx"].get(_BOUNDS[error["type"]][0]) for error in group if error["type"] in _BOUNDS}
    if bounds != {1} or not isinstance(value, int | float) or not LEAST_PERCENT <= value < 100:
        return ""
    return f"{value:g} is more than 1; write {value / 100:g} for {value:g} %"
