"""Dotted keys of a case, as the command line and rows name them: ``fabrics.compute.max_oversubscription``.

An entry of a list is named by its number, from 0, or by its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_origin

from fabopt.errors import Fault, InputError, did_you_mean, fault
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse, refuse_any, validated
from fabopt.io.schema_types import branches_at, keys_at
from fabopt.io.servers import check_case, check_counted
from fabopt.schema.case import Case
from fabopt.schema.stages import ADDED

# Keys that say the same thing in other words: giving one takes the others away.
_SIZES = {"servers", "gpus"}
_SAME = (_SIZES,)
_OPTION = "--over"
KeyPath = tuple[str | int, ...]


def content_of(case: Case) -> dict[str, Any]:
    """The content of a file of the case, defaults included."""
    content: dict[str, Any] = case.model_dump(mode="json", by_alias=True)
    return content


def key_path(key: str, content: Mapping[str, Any]) -> KeyPath | Fault:
    """The path of a key through a case's content, or its fault.

    Of a case without stages that goes on from what is in service, its size is that of the stage that it adds.
    """
    words = [*_stage_beside_base(content), key] if key in _SIZES else key.split(".")
    steps: list[str | int] = []
    container: Any = content
    while words:
        step, taken = _in_list(words, container) if isinstance(container, list) else (words[0], 1)
        known = _known(steps, container)
        if step not in known and not (isinstance(step, str) and _names_itself(steps)):
            above = key[: len(key) - len(".".join(words))].rstrip(".")
            return _unknown(key, above, words[0], _names(container) or [str(step) for step in known])
        steps.append(step)
        container = _inside(container, step)
        words = words[taken:]
    return tuple(steps)


def _stage_beside_base(content: Mapping[str, Any]) -> list[str]:
    """Where the stage is that a case without stages of its own adds to its base; empty without one."""
    stages = content.get("stages") or () if content.get("base") else ()
    return ["stages", ADDED] if [stage["name"] for stage in stages[1:]] == [ADDED] else []


def _in_list(words: Sequence[str], entries: list[Any]) -> tuple[str | int, int]:
    """The entry named by the next words, and the number of these words: names may have dots."""
    names = _names(entries)
    for taken in range(len(words), 0, -1):
        name = ".".join(words[:taken])
        if name in names:
            return names.index(name), taken
    return (int(words[0]), 1) if words[0].isascii() and words[0].isdigit() else (words[0], 1)


def _names(container: Any) -> list[str]:
    """Names of the entries of a list, if they have names."""
    if not isinstance(container, list):
        return []
    return [entry["name"] for entry in container if isinstance(entry, dict) and "name" in entry]


def _known(steps: Sequence[str | int], container: Any) -> list[str | int]:
    if isinstance(container, list):
        return list(range(len(container)))
    return list(keys_at(Case, tuple(steps)))


def _names_itself(steps: Sequence[str | int]) -> bool:
    """Whether keys at a place are words of the user's own, as those of ``rules``."""
    return any(get_origin(branch) is dict for branch in branches_at(Case, tuple(steps)))


def _inside(container: Any, step: str | int) -> Any:
    if isinstance(container, dict):
        return container.get(str(step))
    return container[step] if isinstance(container, list) and isinstance(step, int) else None


def _unknown(key: str, above: str, word: str, names: Sequence[str]) -> Fault:
    where = f"{above}." if above else ""
    hint = did_you_mean(word, names, where + "{}")
    if not names:
        hint = "a key leads to one number" if above != "stages" else "without stages its key is `servers`"
        return fault(_OPTION, key, f"the case has nothing below `{above}`", hint=hint)
    return fault(_OPTION, key, f"no such key of the case: `{where}{word}`", allowed=", ".join(names), hint=hint)


def with_values(content: Mapping[str, Any], values: Mapping[KeyPath, Any]) -> dict[str, Any]:
    """A copy of a case's content with some keys set."""
    changed: dict[str, Any] = _copy(content)
    for steps, value in values.items():
        container: Any = changed
        for number, step in enumerate(steps[:-1]):
            inner = _inside(container, step)
            if not isinstance(inner, dict | list):
                # a number that stands for all keys below it, as one ratio does for both boundaries; or nothing
                inner = {} if inner is None else dict.fromkeys(_of_one(steps[: number + 1]), inner)
                container[step] = inner
            container = inner
        last = steps[-1]
        container[last] = value
        for same in _SAME:
            if last in same and value is not None and isinstance(container, dict):
                container.update({key: None for key in same - {last} if key in container})
    return changed


def _of_one(steps: KeyPath) -> list[str]:
    """The keys that one value in their place stands for."""
    said = [getattr(branch, "of_one", None) for branch in branches_at(Case, steps)]
    return next((list(keys) for keys in said if keys is not None), keys_at(Case, steps))


def _copy(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _copy(value) for key, value in content.items()}
    return [_copy(value) for value in content] if isinstance(content, list) else content


def value_at(content: Mapping[str, Any], key: str) -> int | float | str | None:
    """The number, word or list of words at a dotted key of a case's content, entries of lists by name; else None."""
    path, value = key_path(key, content), content
    for step in () if isinstance(path, Fault) else path:
        value = _inside(value, step)
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return ", ".join(value)
    return value if isinstance(value, int | float | str) else None


def is_case(content: Mapping[str, Any], change: Mapping[str, Any]) -> bool:
    """Whether a case's content holds together with dotted keys of other values; references are not looked up."""
    paths = {key: key_path(key, content) for key in change}
    values = {path: change[key] for key, path in paths.items() if not isinstance(path, Fault)}
    return len(values) == len(change) and validated(Case, with_values(content, values), "", []) is not None


def with_change(inputs: Inputs, change: Mapping[str, Any]) -> Inputs:
    """Inputs of a case with values of dotted keys changed; ``InputError`` lists all faults."""
    content = content_of(inputs.case)
    values: dict[KeyPath, Any] = {}
    faults: list[Fault] = []
    for key, value in change.items():
        path = key_path(key, content)
        if isinstance(path, Fault):
            faults.append(path)
        else:
            values[path] = value
    refuse_any(faults)
    return changed_inputs(inputs, content, values, "change")


def changed_inputs(
    inputs: Inputs, content: Mapping[str, Any], values: Mapping[KeyPath, Any], file: str = _OPTION
) -> Inputs:
    """Inputs with some keys of the case set, checked as a file is; ``InputError`` lists all faults, of ``file``."""
    faults: list[Fault] = []
    case = validated(Case, with_values(content, values), file, faults)
    if case is not None:
        faults = [*check_case(case, inputs.catalog, file)]
        faults += check_counted(case, inputs.catalog, file)
    if case is None or faults:
        raise refuse(faults)
    return Inputs(case, inputs.catalog, inputs.case_file, inputs.notes)


def all_changed(
    inputs: Inputs, content: Mapping[str, Any], points: Sequence[Mapping[KeyPath, int | float]]
) -> list[Inputs]:
    """The inputs of every point; ``InputError`` with the faults of all of them together."""
    changed: list[Inputs] = []
    faults: list[Fault] = []
    for values in points:
        try:
            changed.append(changed_inputs(inputs, content, values))
        except InputError as error:
            faults += error.faults
    refuse_any(faults)
    return changed
