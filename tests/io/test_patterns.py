"""Regular expressions that read what strangers send: numbers are bounded, matched whole, and nothing takes for ever."""

from __future__ import annotations

import ast
import contextlib
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import fabopt
from fabopt.errors import InputError
from fabopt.inspect.audit.netbox import netbox_of
from fabopt.inspect.audit.ports import place_of
from fabopt.inspect.audit.reading import KINDS, hand_made_of
from fabopt.inspect.reading import collected
from fabopt.io.quote.matching import _GENERIC

ROOT = Path(fabopt.__file__).parent
# Only the parser of the standard library, which no stub describes, knows what a pattern reads.
codes, parser = importlib.import_module("re._constants"), importlib.import_module("re._parser")
# Groups that read any number of digits, and why that does no harm.
ENDLESS = {
    "fabopt.inspect.audit.reading._BEFORE": "`whole` reads its value, of 15 digits at most",
    "fabopt.inspect.audit.reading._LAST": "`whole` reads its value, of 15 digits at most",
    "fabopt.inspect.audit.rules_network._NIC": "the name of a device, which is not read as a number",
    "fabopt.inspect.ibnetdiscover._SPEED": "the word of a speed, such as NDR or EDR10",
    "fabopt.inspect.planned._ADAPTER": "the name of a driver, such as mlx5",
    "fabopt.io.faults._QUOTED_OR_NUMBER": "a text of our own, shown as it is",
    "fabopt.io.quote.values._ONE_MARK": "what it is read as has 15 digits at most",
    "fabopt.io.recognition._CHANGE": "a text that is shown as it is",
    "fabopt.output.export.sheets._TEXT_CELL": "a file of our own",
    "fabopt.output.html.assumptions._SAID": "a text of our own",
    "fabopt.program.solvers._CBC_BOUND": "what an engine prints",
    "fabopt.study.sweep.sweep._NUMBER": "an option, read exactly and held against its limits",
}
# Repetitions in repetitions, and why there is one way to match them.
NESTED = {
    "fabopt.inspect.acceptance.nccl_text._REST": "a space or the end parts one repetition from the next",
    "fabopt.inspect.audit.reading._STATEMENT": "a quotation mark or backslash does",
    "fabopt.io.library._NAME": "a point does",
    "fabopt.io.quote.lines._SUM": "a space or mark does",
    "fabopt.io.quote.matching._GOES_WITH": "a word does",
    "fabopt.schema.operate._NAME": "a point or dash does",
    "fabopt.studio.edit._PLAIN": "a point or space does",
    "fabopt.io.quote.matching._GENERIC": "what has matched one of its words is not tried again as another",
}
LONGEST = 5_000
Node = tuple[Any, Any]


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    """All patterns of modules by their names, and those in lists and mappings of modules."""
    found: dict[str, re.Pattern[str]] = {}
    for info in pkgutil.walk_packages(fabopt.__path__, "fabopt."):
        if not info.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(info.name)).items():
                held = value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()
                deep = [one for part in held for one in (part if isinstance(part, tuple) else (part,))]
                for one in (value, *deep):
                    if isinstance(one, re.Pattern) and isinstance(one.pattern, str) and one not in found.values():
                        found[f"{info.name}.{name}"] = one
    return found


def inside(node: Node) -> list[list[Node]]:
    op, value = node
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [value[2]]
    if op is codes.SUBPATTERN:
        return [value[3]]
    if op is codes.BRANCH:
        return list(value[1])
    if op in (codes.ASSERT, codes.ASSERT_NOT):
        return [value[1]]
    return [value] if op is codes.ATOMIC_GROUP else []


def walked(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for part in inside(node):
            yield from walked(part)


def is_endless(node: Node) -> bool:
    return node[0] in (codes.MAX_REPEAT, codes.MIN_REPEAT) and node[1][1] is codes.MAXREPEAT


def is_of_digits(node: Node) -> bool:
    """Whether a set of letters has all digits, and no letters of words."""
    if node[0] is not codes.IN or any(op is codes.NEGATE for op, _ in node[1]):
        return False
    ranges = [value for op, value in node[1] if op is codes.RANGE]
    kinds = [value for op, value in node[1] if op is codes.CATEGORY]
    has_digits = any(low <= ord("0") and ord("9") <= high for low, high in ranges) or codes.CATEGORY_DIGIT in kinds
    return has_digits and not any(low <= ord("a") <= high for low, high in ranges) and codes.CATEGORY_WORD not in kinds


def reads_endless_numbers(nodes: list[Node]) -> bool:
    groups = (node[1][3] for node in walked(nodes) if node[0] is codes.SUBPATTERN and node[1][0] is not None)
    return any(is_endless(node) and any(map(is_of_digits, node[1][2])) for group in groups for node in walked(group))


def is_nested(nodes: list[Node]) -> bool:
    return any(is_endless(node) and any(map(is_endless, walked(node[1][2]))) for node in walked(nodes))


def test_numbers_that_are_read_have_an_end() -> None:
    """No whole number of five thousand digits reaches ``int``, which refuses it with an error of its own."""
    endless = {name for name, one in patterns().items() if reads_endless_numbers(parser.parse(one.pattern, one.flags))}
    assert endless == set(ENDLESS)


def test_no_repetition_is_in_another_that_may_share_its_letters() -> None:
    nested = {name for name, one in patterns().items() if is_nested(parser.parse(one.pattern, one.flags))}
    assert nested == set(NESTED)
    begun = time.process_time()
    for text in ("1" * 2_000 + "!", "sr4" * 600 + "!", "1xsr4-" * 300 + "?", "400g" * 500 + "x"):
        assert _GENERIC.fullmatch(text) is None
    assert time.process_time() - begun < 1
    assert _GENERIC.fullmatch("400G-SR4/OSFP 3m") and not _GENERIC.fullmatch("MMA4Z00-NS")


def test_patterns_in_the_middle_of_code_read_no_numbers() -> None:
    """They would be missed by the tests above."""
    for path in ROOT.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if re.search(r"\bre\.\w+\(", text) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                home, text = node.func.value, node.args[0]
                is_of_re = isinstance(home, ast.Name) and home.id == "re" and node.func.attr != "compile"
                if is_of_re and isinstance(text, ast.Constant) and isinstance(text.value, str):
                    nodes = parser.parse(text.value)
                    assert not reads_endless_numbers(nodes) and not is_nested(nodes), f"{path}: {text.value}"


@pytest.mark.parametrize("name", ["swp", "Ethernet", "etp", "Et", "P", ""])
def test_ports_with_endless_numbers_have_no_place(name: str) -> None:
    assert place_of(name + "9" * LONGEST) is None


@pytest.mark.parametrize(
    "digits", ["9" * LONGEST, "\N{SUPERSCRIPT TWO}", "\N{ARABIC-INDIC DIGIT FOUR}", "-1", "1e9", "nan"]
)
def test_odd_numbers_in_files_of_others_are_read_or_refused(digits: str) -> None:
    """Wherever a number can stand: never an error of Python's own."""
    texts = {
        "p2p": f"A-Node Name,A-Port,Z-Node Name,Z-Port,Length\nl1,swp{digits},s1,{digits},{digits}\n",
        "counts": f"item,count\nswitch,{digits}\nservers {digits},4\n",
        "dot": f'graph g {{ "l1":"swp{digits}" -- "s1":"{digits}"; }}',
        "netbox": f"side_a_device,side_a_name,side_b_device,side_b_name,length\nl1,{digits},s1,swp1,{digits}\n",
    }
    for kind, text in texts.items():
        assert kind in KINDS
        with contextlib.suppress(InputError):
            hand_made_of(text, "file", kind)
    tables = {
        "cables.csv": texts["netbox"],
        "front.csv": f"name,device,rear_port,rear_port_position\nF1,c,R,{digits}\n",
    }
    assert netbox_of(tables, "file").links
    for text in (
        f"Interface  Speed  Mode  Remote Host  Remote Port\n---\nswp{digits}  {digits}G  swp  s1  swp1\n",
        f"lldp.swp1.via=LLDP\nlldp.swp1.chassis.name=s1\nlldp.swp1.port.ifname={digits}\n",
        f'Switch {digits} "S-00" # "x"\n[{digits}] "S-01"[{digits}] # "y" lid 1 4xNDR\n',
    ):
        with contextlib.suppress(InputError):
            list(collected(f"# Topology file\n{text}" if text.startswith("Switch") else text, "file", "l1"))
