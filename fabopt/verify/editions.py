"""Which rules a file is judged by: those of the version that it names.

A rule that came later than the file is off, and that is said. The version is the one that wrote the file, so that no
change of a single word switches a rule off.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from fabopt.schema.design import Design
from fabopt.schema.version import VERSION
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof

# Versions whose files may be judged by rules of their own, the last one being this version.
EDITIONS = ("0.1.0", "0.2.0", "0.3.0")
FIRST = EDITIONS[0]
# Names of rules by the version that brought them, as ``since`` marks them; all others are of the first.
BROUGHT: dict[str, set[str]] = {version: set() for version in EDITIONS[1:]}
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})")
AnyRule = TypeVar("AnyRule", bound=Callable[..., None])


def since(version: str) -> Callable[[AnyRule], AnyRule]:
    """Mark a rule with the version that brings it: files of earlier ones are not judged by it.

    Raises ``KeyError`` for a version that is not one of ``EDITIONS``, or the first.
    """

    def marked(rule: AnyRule) -> AnyRule:
        BROUGHT[version].add(rule.__name__)
        return rule

    return marked


def number_of(version: str) -> tuple[int, ...]:
    """A version as numbers that can be compared; raises ``ValueError`` for what is none."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version} is no version of fabopt")
    return tuple(map(int, match.groups()))


def edition_of(version: str) -> str:
    """The newest of ``EDITIONS`` that is no later than a version."""
    return max((one for one in EDITIONS if number_of(one) <= number_of(version)), key=number_of)


def named_edition(design: Design) -> str:
    """The rules that a file names; before files named any, those of the first version."""
    return FIRST if design.rules is None else design.rules


def rules_off(design: Design) -> frozenset[str]:
    """Names of the rules that the file's version did not have; none are off in a file that names what is not known."""
    named = named_edition(design)
    if named not in EDITIONS:
        return frozenset()
    later = [names for version, names in BROUGHT.items() if number_of(version) > number_of(named)]
    return frozenset[str]().union(*later)


def rules_are_named(proof: Proof, evidence: Evidence) -> None:
    """The file names the rules of the version that wrote it, and they are known here.

    rules = the newest rules up to ``fabopt``, which is no later than this version. Source: design file, ``rules``.
    """
    written, named = evidence.design.fabopt, named_edition(evidence.design)
    proof.holds(number_of(written) <= number_of(VERSION), f"written by fabopt {written}, this is {VERSION}")
    proof.equal(f"rules of a file of fabopt {written}", named, edition_of(written))
    off = sorted(rules_off(evidence.design))
    proof.note(f"rules of {named}; later ones are off: {', '.join(off)}" if off else f"rules of {named}")
