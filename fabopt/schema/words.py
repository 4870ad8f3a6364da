"""What the keys of files mean: a sentence each, from the ``Attributes`` of the classes that read them."""

import inspect
import re
from collections.abc import Mapping
from functools import cache

_OURS = __name__.partition(".")[0]
_HEADING = "\nAttributes:\n"
_KEY = re.compile(r" {4}(\w+): (.*)")


@cache
def words_of(model: type) -> Mapping[str, str]:
    """A sentence for each key of a class, from its docstring, from those of classes that it extends, and from those of
    the class whose ``like`` it is.
    """
    like: type | None = getattr(model, "like", None)
    words = {} if like is None else dict(words_of(like))
    for kind in reversed([kind for kind in model.__mro__ if kind.__module__.startswith(_OURS)]):
        _, _, listed = inspect.cleandoc(kind.__doc__ or "").partition(_HEADING)
        name = ""
        for line in listed.splitlines():
            match = _KEY.fullmatch(line)
            name = match[1] if match else name
            words[name] = match[2] if match else f"{words[name]} {line.strip()}"
    return words


def summary_of(model: type) -> str:
    """What a class says of itself, without its keys."""
    return inspect.cleandoc(model.__doc__ or "").partition(_HEADING)[0].strip()
