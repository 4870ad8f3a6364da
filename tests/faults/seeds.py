"""Faults that are seeded in the package: single changes of an expression or a statement, drawn by a fixed seed."""

from __future__ import annotations

import ast
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

# Of the draw; another one gives other faults.
SEED = 42
# How many are drawn: enough that tests reach sixty of them. Their keys are kept, as a draw follows the package.
MOST, DRAWN = 100, Path(__file__).parent / "drawn.json"
SWAPPED: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Deleted whole: calls, sums, what a generator gives, an error that is raised, a loop's shortcut.
DELETED = (ast.AugAssign, ast.Raise, ast.Continue)
GIVEN = (ast.Call, ast.Yield, ast.YieldFrom)
TEXTS = (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Set)


class Change(NamedTuple):
    """What takes the place of a node."""

    operator: str
    node: ast.expr | ast.stmt
    text: str


@dataclass(frozen=True)
class Fault:
    """One change of one file: ``key`` finds it again where lines have moved."""

    key: str
    operator: str
    path: str
    statement: int
    start: tuple[int, int]
    end: tuple[int, int]
    before: str
    after: str

    def applied(self, source: str) -> str:
        """The file with the fault; columns count bytes of UTF-8, as those of ``ast``."""
        lines = source.encode().splitlines(keepends=True)
        (first, left), (last, right) = self.start, self.end
        head = b"".join(lines[: first - 1]) + lines[first - 1][:left]
        tail = lines[last - 1][right:] + b"".join(lines[last:])
        return (head + self.after.encode() + tail).decode()


# -- what can be changed --------------------------------------------------------------------------------------------


def changes_of(node: ast.AST) -> Iterator[Change]:
    """Changes of a node by itself, whatever it holds."""
    text = ast.unparse
    match node:
        case ast.Compare(left, [op], [right]):
            yield Change("comparison", node, f"({text(left)} {SWAPPED[type(op)]} {text(right)})")
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right) if not any(map(is_text, (left, right))):
            sign = "-" if isinstance(op, ast.Add) else "+"
            yield Change("sum", node, f"(({text(left)}) {sign} ({text(right)}))")
        case ast.Constant(int(whole)) if not isinstance(whole, bool):
            yield Change("off by one", node, str(whole + 1))
        case ast.UnaryOp(ast.Not(), operand):
            yield Change("not", node, f"({text(operand)})")
        case ast.BoolOp(op, values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield Change("and/or", node, f"({word.join(f'({text(value)})' for value in values)})")
        case ast.Name(name) if name in OPPOSITES:
            yield Change("min/max/any/all", node, OPPOSITES[name])
        case ast.comprehension(ifs=conditions):
            yield from (Change("filter dropped", condition, "True") for condition in conditions)
        case ast.If(test, orelse=[]) if not isinstance(test, ast.Name) or test.id != "TYPE_CHECKING":
            yield Change("branch dropped", test, "False")
        case ast.Expr(given) if isinstance(given, GIVEN):
            # A generator stays one.
            stays = "if False: yield" if isinstance(given, (ast.Yield, ast.YieldFrom)) else "pass"
            yield Change("statement deleted", node, stays)
        case ast.AugAssign() | ast.Raise() | ast.Continue():
            yield Change("statement deleted", node, "pass")


def is_text(node: ast.expr) -> bool:
    """Whether a sum is one of words or lists, which no minus has."""
    return isinstance(node, TEXTS) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def statements_of(body: list[ast.stmt], name: str) -> Iterator[tuple[str, ast.stmt]]:
    """Statements inside of functions, the innermost, each with the function's qualified name."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from inside(statement.body, f"{name}.{statement.name}")
        elif isinstance(statement, ast.ClassDef):
            yield from statements_of(statement.body, f"{name}.{statement.name}")


def inside(body: list[ast.stmt], name: str) -> Iterator[tuple[str, ast.stmt]]:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from statements_of([statement], name)
            continue
        yield name, statement
        for block in ("body", "orelse", "finalbody"):
            yield from inside(getattr(statement, block, []), name)
        for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            yield from inside(part.body, name)


def own(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement and its expressions, without the statements in it, types and patterns."""
    left: list[ast.AST] = [statement]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.JoinedStr):  # before Python 3.12 what is inside does not say where it stands
            continue
        for key, value in ast.iter_fields(node):
            if key in {"annotation", "returns", "pattern", "decorator_list"}:
                continue
            parts = value if isinstance(value, list) else [value]
            left += [x for x in parts if isinstance(x, (ast.expr, ast.comprehension, ast.keyword, ast.withitem))]


def faults_of(path: str, source: str) -> Iterator[Fault]:
    """All faults of a file."""
    seen: Counter[str] = Counter()
    tree = ast.parse(source)
    for name, statement in statements_of(tree.body, ""):
        for node in own(statement):
            for change in changes_of(node):
                where = change.node
                if where.end_lineno is None or where.end_col_offset is None:
                    continue
                before = ast.unparse(where)
                key = f"{path}:{name[1:]}: {change.operator}: {before}"
                seen[key] += 1
                yield Fault(
                    key if seen[key] == 1 else f"{key} #{seen[key]}",
                    change.operator,
                    path,
                    statement.lineno,
                    (where.lineno, where.col_offset),
                    (where.end_lineno, where.end_col_offset),
                    before,
                    change.text,
                )


def keys() -> list[str]:
    """Keys of the faults that were drawn; what is reached is told by their places."""
    found: list[str] = json.loads(DRAWN.read_text())
    return found


# -- the draw -------------------------------------------------------------------------------------------------------


def all_faults(root: Path, keys: Sequence[str] | None = None) -> dict[str, Fault]:
    """All faults of a package by their keys, or those of the files that some keys name."""
    files = sorted((root / "fabopt").rglob("*.py"))
    if keys is not None:
        named = {root / key.partition(":")[0] for key in keys}
        files = [file for file in files if file in named]
    found = [fault for file in files for fault in faults_of(file.relative_to(root).as_posix(), file.read_text())]
    return {fault.key: fault for fault in found}


def drawn(root: Path, most: int, seed: int = SEED) -> list[Fault]:
    """Faults in the order of the draw: one of each operator in turn, so that common ones do not crowd out the rest."""
    by_operator: dict[str, list[Fault]] = defaultdict(list)
    for fault in all_faults(root).values():
        by_operator[fault.operator].append(fault)

    def rank(fault: Fault) -> str:
        return hashlib.sha256(f"{seed}:{fault.key}".encode()).hexdigest()

    rows = zip_longest(*(sorted(by_operator[operator], key=rank) for operator in sorted(by_operator)))
    return [fault for row in rows for fault in row if fault is not None][:most]
