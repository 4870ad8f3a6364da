"""The shape of the code: who may import whom, how long files are, and what must not stand in any file."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import yaml

from tests.paths import ROOT

PACKAGE = ROOT / "fabopt"

# Each room imports only from those before it; within a room the modules have no cycle.
ORDER = (
    *("errors", "units", "rules"),
    *("schema", "parts", "network", "floor", "workload", "problem", "topology", "program", "search", "io"),
    *("design", "wiring", "verify", "explain", "solution", "study", "inspect", "operate", "output"),
    *("api", "studio", "cli", "__main__"),
)
# Eighteen of the layout, what it left room for (`inspect`, `operate` and `rules`), and `studio`, which serves what the
# rooms before it make and which no other command imports.
MOST_ROOMS = 22
LOOSE = ("__init__.py", "__main__.py", "api.py", "errors.py", "units.py")
MOST_LINES = 400
MOST_LINES_OF_A_BODY = 40
NAMES_OF_NOTHING = {"one", "found", "made", "each", "mine", "at"}
# Words of users, of which each is a key: `base.found`.
KEYS_OF_NOTHING = {("fabopt.schema.in_service", "found")}
LONGER_WITH_REASON: dict[str, str] = {}
# In pieces, so that this file does not hold what it looks for.
INDEX_HOSTS = (
    "pypi" + ".org/simple",
    "files.python" + "hosted",
    "registry.npm" + "js",
    "--index" + "-url",
    "extra-index" + "-url",
)
TEXT_ENDINGS = {
    ".py",
    ".md",
    ".yaml",
    ".yml",
    ".toml",
    ".txt",
    ".json",
    ".cfg",
    ".ini",
    ".lock",
    ".sh",
    ".html",
    ".css",
    ".js",
    "",
}

MODULES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    """``fabopt.io.text``; a package is its ``__init__``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(path): path for path in MODULES}


def room(name: str) -> str:
    return name.split(".")[1]


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a module, walked once for all tests."""
    return tuple(ast.walk(tree))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements but those that only type checkers see; functions' bodies count."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.expr) and not is_for_types_only(child):
            yield child
            yield from statements(child)


def imports(path: Path) -> Iterator[str]:
    """Modules of the package that a file imports, when it is read or later."""
    for node in statements(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in NAMES)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in NAMES:
                    yield inner
                elif node.module in NAMES:
                    yield node.module


@cache
def graph() -> dict[str, list[str]]:
    """What each module imports of the package."""
    return {name: sorted(set(imports(path)) - {name}) for name, path in NAMES.items() if name != "fabopt"}


def test_every_module_has_a_room() -> None:
    assert {room(name) for name in graph()} == set(ORDER)
    assert sorted(path.name for path in PACKAGE.glob("*.py")) == sorted(LOOSE)
    assert len(list(PACKAGE.glob("*/__init__.py"))) <= MOST_ROOMS


def test_map_is_the_order_of_imports() -> None:
    """The map for contributors names the same rooms in the same order, and says something of each."""
    block = (ROOT / "CONTRIBUTING.md").read_text().partition("## Map")[2].split("```")[1].partition("\n")[2]
    rooms, words = zip(*(line.split(None, 1) for line in block.splitlines()), strict=True)
    assert rooms == ORDER
    assert all(words)


def test_imports_only_from_rooms_before() -> None:
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if ORDER.index(room(other)) > ORDER.index(room(name))
    ]
    assert wrong == []


def after_imports() -> list[str]:
    """The modules, each after those that it imports.

    A package's ``__init__`` gathers its modules; they do not need it.
    """
    needed = {name: [one for one in others if not name.startswith(f"{one}.")] for name, others in graph().items()}
    return list(TopologicalSorter(needed).static_order())


def test_no_import_cycles() -> None:
    """Raises CycleError, which names the cycle."""
    assert len(after_imports()) == len(graph())


def test_annotations_of_the_schema_are_not_postponed() -> None:
    """Pydantic would compile each of them again for every class that inherits it, at every start."""
    postponed = [path.name for path in (PACKAGE / "schema").glob("*.py") if "from __future__" in path.read_text()]
    assert postponed == []


def test_solver_free_proof() -> None:
    """What re-proves a design reaches no solver and no search, whatever it imports; a maximum flow is neither."""
    reached, open_ = set(), ["fabopt.verify"]
    while open_:
        name = open_.pop()
        if name not in reached:
            reached.add(name)
            open_ += graph()[name]
    assert (
        not {"fabopt.program.formulation", "fabopt.program.solvers", "fabopt.search.search", "fabopt.solution.optimize"}
        & reached
    )
    for name in reached:
        assert not re.search(r"\b(pulp|ortools)\b(?!\.graph)", NAMES[name].read_text()), name


def test_no_relative_import() -> None:
    relative = [
        f"{name}, line {node.lineno}"
        for name, path in NAMES.items()
        for node in nodes_of(tree_of(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_no_file_is_too_long() -> None:
    lengths = {path.relative_to(PACKAGE).as_posix(): len(path.read_text().splitlines()) for path in MODULES}
    long = {name: length for name, length in lengths.items() if length > MOST_LINES}
    assert long.keys() <= LONGER_WITH_REASON.keys(), long


def test_reasons_are_still_needed() -> None:
    for name in LONGER_WITH_REASON:
        assert len((PACKAGE / name).read_text().splitlines()) > MOST_LINES, f"{name} is short enough now"


def test_types_can_be_used_by_others() -> None:
    """Type checkers look for this file beside the package."""
    assert (PACKAGE / "py.typed").is_file()


def test_hooks_run_what_lint_runs() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0].splitlines()[1:]
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe]
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert [hook["entry"] for repo in settings["repos"] for hook in repo["hooks"]] == commands


def tracked_files() -> list[Path]:
    """Files under version control; outside a checkout, all beside the package that a release would hold."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
        found = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        folders = ("fabopt", "tests", "docs", "catalogs", "cases", "models")
        found = [*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    return [
        path for path in found if path.is_file() and path.suffix in TEXT_ENDINGS and "__pycache__" not in path.parts
    ]


def test_no_package_index_host() -> None:
    """Nothing here says where packages come from: that is the user's business."""
    files = tracked_files()
    assert len(files) > 100
    found = [
        f"{path.relative_to(ROOT)}: {host}"
        for path in files
        for host in INDEX_HOSTS
        if host in path.read_text(errors="replace")
    ]
    assert found == []


def test_constraints_are_names_and_versions() -> None:
    line = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.+!]*")
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines
    assert [one for one in lines if not line.fullmatch(one)] == []


# Rooms whose objects describe a cluster, and must not change once they are made.
DESCRIBING = ("parts", "network", "floor", "workload", "problem")
# Rooms that work with JSON have values of any type.
JSON_ROOMS = ("schema", "io", "design", "output", "cli", "api")
CHANGEABLE = re.compile(r"\b(?:dict|list|set|defaultdict|deque|bytearray|Any)\b")
ANY = re.compile(r"\bAny\b")


def is_frozen(node: ast.ClassDef) -> bool:
    """Whether a class is a frozen dataclass or a named tuple."""
    bases = [ast.unparse(base) for base in node.bases]
    return "NamedTuple" in bases or any("frozen=True" in ast.unparse(one) for one in node.decorator_list)


def attributes(tree: ast.Module) -> Iterator[ast.AnnAssign]:
    """Annotated attributes of classes and of ``self``, and annotated names of the module."""
    for node in nodes_of(tree):
        body = node.body if isinstance(node, (ast.Module, ast.ClassDef)) else []
        yield from (one for one in body if isinstance(one, ast.AnnAssign))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            yield node


def modules_of(rooms: tuple[str, ...]) -> list[str]:
    """The names of all modules of some rooms."""
    return [name for name in graph() if room(name) in rooms]


def test_frozen_objects_hold_nothing_that_can_be_changed() -> None:
    """Mappings and tuples only; arrays are left to ``tests/search/test_context.py``."""
    wrong = [
        f"{name}: {node.name}.{ast.unparse(field)}"
        for name in modules_of(DESCRIBING)
        for node in nodes_of(tree_of(NAMES[name]))
        if isinstance(node, ast.ClassDef) and is_frozen(node)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and CHANGEABLE.search(ast.unparse(field.annotation))
    ]
    assert wrong == []


def test_what_is_kept_has_a_type() -> None:
    """No table that is kept in an object or a module has keys or values of any type."""
    others = [name for name in graph() if room(name) not in JSON_ROOMS]
    kept = [(name, ast.unparse(field)) for name in others for field in attributes(tree_of(NAMES[name]))]
    assert [(name, text) for name, text in kept if "dict[" in text and ANY.search(text)] == []


def test_types_are_said() -> None:
    untyped = {
        name
        for name in modules_of(("parts", "problem", "program", "search"))
        for node in nodes_of(tree_of(NAMES[name]))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "Any" for alias in node.names)
    }
    assert untyped == set()


def classes_and_functions() -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """All of the package, each with the name of its module."""
    for name, path in NAMES.items():
        for node in nodes_of(tree_of(path)):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                yield name, node


def test_class_names_are_used_once() -> None:
    places: dict[str, list[str]] = {}
    for module, node in classes_and_functions():
        if isinstance(node, ast.ClassDef):
            places.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_functions_are_short() -> None:
    long = [
        f"{module}.{node.name}"
        for module, node in classes_and_functions()
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.body[0].lineno >= MOST_LINES_OF_A_BODY
    ]
    assert long == []


def names_that_last(tree: ast.Module) -> Iterator[str]:
    """Names bound for longer than a comprehension or a lambda: variables, parameters and attributes of classes."""
    brief = {
        name
        for node in nodes_of(tree)
        for part in (
            [node.args] if isinstance(node, ast.Lambda) else [node] if isinstance(node, ast.comprehension) else []
        )
        for name in ast.walk(part.target if isinstance(part, ast.comprehension) else part)
    }
    for node in nodes_of(tree):
        if node not in brief and isinstance(node, ast.arg):
            yield node.arg
        elif node not in brief and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_names_say_what_they_hold() -> None:
    """``one`` and its like are for a comprehension; what lives longer has the name of what it holds."""
    said = ((name, word) for name in graph() for word in names_that_last(tree_of(NAMES[name])))
    assert {(name, word) for name, word in said if word in NAMES_OF_NOTHING} == KEYS_OF_NOTHING


# Modules that know floors; elsewhere the site and the places of a design are asked for what they mean.
FLOOR_MODULES = re.compile(r"(floor|search/floor)/|\w+(/\w+)*/floor\w*\.py|problem/site\.py|wiring/runs\.py")
ASKS_FOR_A_FLOOR = re.compile(
    r"\b(?:floor|placement) is (?:not )?None|\bhas_floor\(evidence|\bisinstance\([^)]*\b(?:Floor|Flat|InL)"
)
MOST_QUESTIONS = 15


def test_few_ask_whether_there_is_a_floor() -> None:
    asked = [
        f"{name}: {line.strip()}"
        for name, path in NAMES.items()
        if not FLOOR_MODULES.match(path.relative_to(PACKAGE).as_posix())
        for line in path.read_text().splitlines()
        if ASKS_FOR_A_FLOOR.search(line)
    ]
    assert 0 < len(asked) <= MOST_QUESTIONS, "\n".join(asked)


ARRAY_WORDS = {"NDArray", "ndarray", "ArrayLike"}
# A shape in figures or words: (rows, columns), "the shape of ``g``", "one row a link", "broadcast".
SHAPE = re.compile(r"\b[Ss]hapes? (?:\(\w|as of|of )|\b[Oo]ne row (?:a|for each)\b|\bbroadcast\b")
# What holds for all of a class or module: "Arrays have shape (links,)".
SHAPE_OF_ALL = re.compile(r"\b(?:Arrays|Columns)\b[^.]*\bshape \(\w")


def words_for_arrays(tree: ast.Module, known: dict[str, set[str]]) -> set[str]:
    """Names that mean an array in a module: NumPy's, its own aliases, and ``known`` ones that it imports."""
    words = set(ARRAY_WORDS)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            words |= {alias.name for alias in node.names if alias.name in known.get(node.module or "", set())}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, (ast.Subscript, ast.BinOp)) and means_array(value, words):
                words.add(node.targets[0].id)
    return words


def means_array(annotation: ast.expr | None, words: set[str]) -> bool:
    """Whether an annotation speaks of an array, but not of a function that takes one."""
    if annotation is None or ast.unparse(annotation).startswith(("Callable", "Lookup")):
        return False
    named = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    return not words.isdisjoint(named | {node.attr for node in ast.walk(annotation) if isinstance(node, ast.Attribute)})


def text_of(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> str:
    """A docstring without its line ends."""
    return " ".join((ast.get_docstring(node) or "").split())


def without_shape(tree: ast.Module, words: set[str]) -> Iterator[str]:
    """Public functions and classes that have arrays, where neither they nor what holds them gives a shape."""
    yield from _without_shape(tree, "", [text_of(tree)], words)


def _without_shape(holder: ast.Module | ast.ClassDef, prefix: str, above: list[str], words: set[str]) -> Iterator[str]:
    said_above = any(SHAPE_OF_ALL.search(doc) for doc in above)
    for node in holder.body:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_"):
            continue
        doc = text_of(node)
        if any(means_array(one, words) for one in annotations_of(node)) and not (said_above or SHAPE.search(doc)):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from _without_shape(node, f"{prefix}{node.name}.", [*above, doc], words)


def annotations_of(node: ast.ClassDef | ast.FunctionDef) -> list[ast.expr | None]:
    """What a function takes and returns, or what a class has in public fields and takes when it is made."""
    if isinstance(node, ast.FunctionDef):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return [*(one.annotation for one in arguments), node.returns]
    fields = [
        one for one in node.body if isinstance(one, ast.AnnAssign) and not ast.unparse(one.target).startswith("_")
    ]
    makers = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    return [*(one.annotation for one in fields), *(one for maker in makers for one in annotations_of(maker))]


def test_shapes_of_arrays_are_said() -> None:
    """In the docstring of the function or class, or once for all arrays of a class or module."""
    aliases: dict[str, set[str]] = {}
    for name in after_imports():
        aliases[name] = words_for_arrays(tree_of(NAMES[name]), aliases)
    assert [(name, what) for name in graph() for what in without_shape(tree_of(NAMES[name]), aliases[name])] == []


def test_a_shape_that_is_missing_is_found() -> None:
    text = """
Ints = NDArray[np.int64]

def counted(rows: Ints) -> int:
    'How many of some rows there are.'

def kept(rows: Ints) -> Ints:
    'Rows that are kept, shape (rows,).'

class Column:
    'A column.'
    values: Ints

class Table:
    'A table. Arrays have shape (rows,).'
    values: Ints

    def of(self, row: int) -> Ints | None:
        'The values of a row.'
"""
    tree = ast.parse(text)
    assert list(without_shape(tree, words_for_arrays(tree, {}))) == ["counted", "Column"]


# Words that point at another text: a docstring is read alone, in an editor or in the reference.
POINTS_ELSEWHERE = re.compile(
    r"(?:It|They|Its|Their|Them|Those|And|Or|But|As|Also|Likewise|The same|What of it)\b|None:"
    r"|(?:All|Some|One|Both|Each)(?: of (?:it|them))?\."
)


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name and docstring of everything public in a module, the module first."""
    yield "module", text_of(tree)
    for node in nodes_of(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            yield node.name, text_of(node)


def test_docstrings_stand_alone() -> None:
    said = ((name, *doc) for name, path in NAMES.items() for doc in docstrings(tree_of(path)))
    assert [(name, what, text) for name, what, text in said if POINTS_ELSEWHERE.match(text)] == []


def test_a_docstring_that_points_elsewhere_is_found() -> None:
    wrong = ("It is so.", "The same of spines.", "As in the file.", "All of them.", "Those with servers.", "One.")
    right = ("One growth stage.", "Other endpoints.", "The other end.", "All fabrics.", "Items that are offered.")
    assert [text for text in (*wrong, *right) if POINTS_ELSEWHERE.match(text)] == list(wrong)


# Used by tests alone, which read a case without what it names; and by Typer, whose groups write their help with it.
NAMED_ELSEWHERE = {"read_case", "format_commands", "_repr_html_"}


def defined_names() -> Iterator[tuple[str, Path]]:
    """Functions, classes and fields of the package that no decorator hands on, with the file of each."""
    for path in MODULES:
        for node in nodes_of(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
                yield node.name, path
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id, path


def test_nothing_is_defined_that_nothing_names() -> None:
    """A name that stands in the package as often as it is defined there is used by nobody."""
    files = (*MODULES, *PACKAGE.rglob("*.html"))
    words = Counter[str]()
    for path in files:
        words.update(re.findall(r"\w+", path.read_text()))
    found = [*defined_names()]
    defined, homes = Counter(name for name, _ in found), dict(found)
    places = {name: homes[name].relative_to(PACKAGE).as_posix() for name in defined if words[name] == defined[name]}
    unused = {
        name: places[name]
        for name in places
        if not name.startswith("__") and name not in NAMED_ELSEWHERE
        and not places[name].startswith("schema/")
    }  # fmt: skip
    assert unused == {}
