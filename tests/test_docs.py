"""The documentation tells the truth: what it shows is what runs, and what it names is there."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
import yaml

from fabopt.cli import main
from fabopt.io.case import Inputs, inputs_from_objects, read_price_books
from fabopt.io.catalog import read_catalog
from fabopt.output.export import FORMATS
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.ratios import Ratios
from fabopt.program.formulation import RULES, Program
from fabopt.program.labour import BeyondService, Visits
from fabopt.program.payments import Deliveries, Payments
from fabopt.program.purchases import Purchases
from fabopt.program.regret import Regrets
from fabopt.program.sourcing import Sourcing
from fabopt.rules.defaults import DEFAULT_RULES
from fabopt.schema import design as design_schema, model as model_schema, prediction, workload
from fabopt.schema.base import Strict
from fabopt.schema.design import Design, NicUse, TierUse
from fabopt.schema.structure import Structure
from fabopt.solution import optimize
from fabopt.topology.clos.shape import Shape
from fabopt.verify import rules
from tests.measure import num_words
from tests.paths import LONG, ROOT
from tests.samples.shipped import solved_in_run

README = ROOT / "README.md"
PAGES = [README, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FORMULATION = [ROOT / "docs" / "formulation.md", *sorted((ROOT / "docs" / "formulation").glob("*.md"))]
GLOSSARY = ROOT / "docs" / "glossary.md"
# Done, something found in a fabric, proven infeasible.
ANSWERED = (0, 1, 3)
MOST_WORDS_OF_MODEL = 2500
MOST_WORDS_OF_README = 800
MOST_WORDS = 50_000  # of README, changelog and docs, outside tables
# Commands of pages that take some seconds each, and whose files no later one reads: how they begin.
SLOW = (
    "fabopt pareto cases/finetuning-1024-gpus.yaml --minimize capex_usd --maximize gbps_per_gpu",
    "fabopt sweep cases/finetuning-1024-gpus.yaml --budget",
    "fabopt sensitivity cases/finetuning-1024-gpus.yaml",
    "fabopt sensitivity cases/two-tier-example.yaml --part",
    "fabopt pareto cases/finetuning-1024-gpus.yaml --minimize capex_usd --minimize power_w",
)
FIELD_WORDS = (
    *("leaf", "spine", "core", "pod", "plane", "rail", "radix", "port", "cage", "lane", "breakout", "uplink"),
    *("downlink", "oversubscription", "bisection bandwidth", "reach", "link", "cable", "transceiver", "tier", "hop"),
    *("candidate", "formulation", "objective", "bound", "gap", "incumbent", "epsilon-constraint", "dominated"),
)
Rule = Callable[..., None]
# Starts of lines that say what else there is, or how much of it.
WHAT_ELSE = ("Instead ", "Ask less ", "Flips ", " protocol: ", "    not proven again ")
DECISION_PARTS = ("Context.", "Choice.", "Rejected.", "Consequence.")


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [Block(language, text) for language, text in found]


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def outside_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


# -- commands -------------------------------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the repository's data, as a reader at its root would see it."""
    for folder in ("cases", "catalogs", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block, with the lines shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


def run(command: str) -> str:
    """What a command prints, on either stream; run in this process, which knows the package."""
    words = shlex.split(command)
    assert words[0] == "fabopt", f"only fabopt is run here: {command}"
    with io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) as printed:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = main(words[1:])
        output = printed.buffer.getvalue().decode()
    assert code in ANSWERED, f"{command}: exit {code}\n{output}"
    return output


def is_unseen(shown: list[str]) -> bool:
    """Whether a page shows nothing of what a command prints."""
    return set(shown) <= {"...", ""}


def before_what_else(shown: list[str]) -> list[str]:
    """The lines shown, with dots for those from the first that speaks of what else there is."""
    before = list(itertools.takewhile(lambda line: not line.startswith(WHAT_ELSE), shown))
    return before if before == shown else [*before, "..."]


def uncompared(inputs: Inputs, **options: Any) -> Design:
    """The answer without a look at what else there is."""
    return solved_in_run(inputs, **{**options, "alternatives_s": 0})


def run_alone(command: str) -> str:
    """The same in a process of its own, as a reader runs it."""
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode in ANSWERED, f"{command}: exit {done.returncode}\n{done.stdout}"
    return done.stdout


def normal(text: str) -> str:
    """Output without what may differ: times, how much the search looked at, where lines were wrapped."""
    text = " ".join(text.split())
    text = re.sub(r"[\d,]+ candidates? sized", "N candidates sized", text)
    return re.sub(r"in \d+\.\d\d s\b", "in T s", text)


def assert_shown(command: str, shown: list[str], output: str) -> None:
    """The lines shown are the output; a line of dots stands for any lines."""
    pieces = [normal(piece) for piece in re.split(r"^\.\.\.$", "\n".join(shown), flags=re.MULTILINE)]
    rest = normal(output)
    for index, piece in enumerate(pieces):
        at = rest.find(piece)
        assert at >= 0, f"{command}: the documentation shows\n{piece}\nbut the rest of the output is\n{rest}"
        assert at == 0 or index > 0, f"{command}: there is output before what is shown: {rest[:at]}"
        rest = rest[at + len(piece) :]
    assert not rest.strip() or not pieces[-1], f"{command}: there is output after what is shown: {rest}"


def assert_page(page: Path, output_of: Callable[[str], str], desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each case is solved once for all pages; what else there is is looked for in `make long`, where it is shown."""
    monkeypatch.delenv("COLUMNS", raising=False)
    for block in blocks(page):
        first = block.text.splitlines()[0] if block.text else ""
        if re.fullmatch(rf"# [\w-]+\.{block.language}", first) and block.language in ("yaml", "csv"):
            (desk / first[2:]).write_text(block.text)
        if block.language == "console":
            for command, shown in commands(block.text):
                if not command.startswith(SLOW):
                    looks = LONG in os.environ
                    monkeypatch.setattr(
                        optimize, "solve", solved_in_run if looks and not is_unseen(shown) else uncompared
                    )
                    assert_shown(command, shown if looks else before_what_else(shown), output_of(command))
    if page == README:
        picture_is_of_the_design(desk / "demo-design.json")


@pytest.mark.long(
    "docs/decide.md",
    "docs/exports.md",
    "docs/fronts.md",
    "docs/netbox.md",
    "docs/quotes.md",
    "docs/running.md",
    "docs/sensitivity.md",
)
@pytest.mark.drawn_longer
@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("console"), ids=name_of)
def test_commands_print_what_is_shown(page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_page(page, run, desk, monkeypatch)


@pytest.mark.long
def test_the_readme_shows_what_processes_of_their_own_print(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_page(README, run_alone, desk, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("start", SLOW)
def test_slow_commands_print_what_is_shown(start: str, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    texts = [block.text for page in PAGES for block in blocks(page) if block.language == "console"]
    found = [one for text in texts for one in commands(text) if one[0].startswith(start)]
    assert found
    for command, shown in found:
        assert_shown(command, shown, run(command))


def module_of_docs(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def picture_is_of_the_design(design: Path) -> None:
    drawn = module_of_docs("draw_pictures").column(Design.model_validate_json(design.read_text()))
    assert drawn == (ROOT / "docs/img/finetuning-1024-gpus.svg").read_text(), "run `make picture` again"


@pytest.mark.long
def test_pictures_are_of_what_is_drawn_now() -> None:
    for name, text in module_of_docs("draw_pictures").pictures().items():
        assert text == (ROOT / "docs" / "img" / name).read_text(), f"{name}: run `make picture` again"


@pytest.mark.long("docs/contributing.md")
@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("pycon"), ids=name_of)
def test_python_sessions_print_what_is_shown(page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which show nothing of what else there is."""
    monkeypatch.setattr(optimize, "solve", uncompared)
    text = "\n".join(block.text for block in blocks(page) if block.language == "pycon")
    session = doctest.DocTestParser().get_doctest(text, {}, name_of(page), str(page), 0)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(session, out=report.append)
    assert results.attempted and not results.failed, "".join(report)


def test_readme_is_short() -> None:
    assert len(README.read_text().split()) <= MOST_WORDS_OF_README


def test_docs_are_short() -> None:
    assert num_words() <= MOST_WORDS


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        named = re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", page.read_text(), re.MULTILINE)
        unknown = {one or other for one, other in named} - targets
        assert not unknown, f"{name_of(page)} names make targets that are not there: {unknown}"


@pytest.mark.parametrize("page", pages_with("yaml"), ids=name_of)
def test_yaml_examples_are_valid(page: Path, tmp_path: Path) -> None:
    """Whole cases and price books are read as files would be."""
    for block in blocks(page):
        if block.language != "yaml":
            continue
        content = yaml.safe_load(block.text)
        if "server" in content:
            inputs_from_objects(content)
        elif set(content) <= {"name", "description", "source", "prices", "terms"}:
            (tmp_path / "book.yaml").write_text(block.text)
            read_price_books(["./book.yaml"], read_catalog(["reference"], ROOT), tmp_path)


# -- names ----------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of the tables with formula, meaning, rule and functions; ``rules`` and ``functions`` are their names."""

    page: Path
    formula: str
    meaning: str
    rules: list[str]
    functions: list[str]


COLUMNS = "| formula | meaning | constraint or check | function |"
ROOMS = sorted(path.parent.name for path in (ROOT / "fabopt").glob("*/__init__.py"))
CODE = re.compile(r"`([^`\n]+)`")


def lines_of(page: Path) -> Iterator[Line]:
    _, *tables = page.read_text().split(f"{COLUMNS}\n| --- | --- | --- | --- |\n")
    for table in tables:
        for row in itertools.takewhile(lambda line: line.startswith("|"), table.splitlines()):
            formula, meaning, rule, functions = (cell.strip() for cell in row.split("|")[1:-1])
            yield Line(page, formula, meaning, CODE.findall(rule), CODE.findall(functions))


LINES = [line for page in FORMULATION for line in lines_of(page)]


def constraint_methods() -> list[Rule]:
    """Methods of the program that add constraints."""
    methods = [
        method
        for holder in (Program, Purchases, Payments, Deliveries, Regrets, BeyondService, Visits, Sourcing)
        for method in vars(holder).values()
        if callable(method)
    ]
    return [
        method
        for method in methods
        if not method.__name__.startswith("_") and re.search(r"self\.lp \+=|self\._limit\(", inspect.getsource(method))
    ]


def tables_of_verifier() -> Iterator[tuple[str, Rule]]:
    """The rules of every table of the verifier with the table's name; what takes another's place too."""
    for name, table in vars(rules).items():
        if name.isupper() and isinstance(table, tuple):
            yield from ((name, rule) for rule in table)
        elif name.isupper() and isinstance(table, dict):
            yield from ((name, rule) for instead in table.values() for rule in instead)


def checks_of_verifier() -> list[Rule]:
    """The rules of all tables of the verifier, each once."""
    return list(dict.fromkeys(rule for _, rule in tables_of_verifier()))


def rules_in(module: ModuleType) -> Iterator[Rule]:
    """The public functions of a module that judge one thing: they take a proof, and what is proven."""
    for name, function in vars(module).items():
        if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
            kinds = [parameter.annotation for parameter in inspect.signature(function).parameters.values()]
            if len(kinds) == 2 and kinds[0] == "Proof":
                yield function


def test_every_rule_of_the_verifier_is_in_a_table() -> None:
    modules = [
        importlib.import_module(f"fabopt.verify.{path.stem}") for path in (ROOT / "fabopt/verify").glob("[a-z]*.py")
    ]
    assert {rule for module in modules for rule in rules_in(module)} == set(checks_of_verifier())


def path_of(function: Rule) -> str:
    return f"{function.__module__.removeprefix('fabopt.')}.{function.__qualname__}"


def test_program_adds_the_rules_that_it_lists() -> None:
    assert {rule.name for rule in RULES} == {method.__name__ for method in constraint_methods()}


def test_every_rule_has_one_line() -> None:
    """Constraints of the program and checks of the verifier; where both have a name, the line is of both."""
    wanted = {rule.name for rule in RULES} | {rule.__name__ for rule in checks_of_verifier()}
    listed = Counter(name for line in LINES for name in line.rules)
    assert len(checks_of_verifier()) > 80
    assert listed == Counter(wanted)


def test_lines_name_the_functions_of_their_rules() -> None:
    known: dict[str, list[str]] = {}
    for function in (*(rule.add for rule in RULES), *checks_of_verifier()):
        known.setdefault(function.__name__, []).append(path_of(function))
    for line in LINES:
        missing = [path for rule in line.rules for path in known[rule] if path not in line.functions]
        assert missing == [], f"{name_of(line.page)}, {line.rules}: its functions are not all named"


# Checks that recount what a file says of itself; no design is left out for them.
RECOUNTS = frozenset({
    "content_matches_hash", "status_is_honest", "rules_are_named", "case_is_resolved",
    "facts_match_hash",
    "prices_match_hash", "nothing_is_left_out", "alternatives_add_up", "parts_are_known", "switch_counts_close",
    "links_close", "statements_are_true",
    "metrics_are_recomputed", "figures_are_recomputed", "bom_covers_parts", "bom_names_products", "power_adds_up",
    "totals_add_up", "energy_is_paid", "stages_add_up", "objective_matches_totals", "workload_is_recomputed",
    "hall_traffic_is_counted",
    "single_points_are_listed", "futures_are_recounted", "charges_are_counted",
    "labour_is_counted",
})  # fmt: skip
# Checks of the wiring, port by port, that search has to meet; it makes no other table of it.
OF_STAGES = frozenset({"stages_are_fabrics", "stages_only_add"})
# Constraints that leave no design out: three say what a variable means, one makes bounds better.
AUXILIARY = frozenset(
    (*("held_if_used", "worst_regret_is_held", "large_orders_cover_no_more"),
     *("labour_is_on_what_is_new", "visits_are_paid"))
)  # fmt: skip
MARK = re.compile(r"[Rr]ules? ``(\w+)``(?: and ``(\w+)``)?")


def rules_that_restrict() -> set[str]:
    """Names of checks by which designs are left out: of the program, or of the search before it."""
    wiring = {rule.__name__ for name, rule in tables_of_verifier() if "WIRING" in name}
    return {rule.__name__ for _, rule in tables_of_verifier()} - RECOUNTS - (wiring - OF_STAGES)


def marks_of(function: str) -> set[str]:
    """Rules that are marked in the module of a function, as ``Rule ``name`` `` where designs are left out by them."""
    module = function.split(".")
    while not (source := ROOT.joinpath("fabopt", *module).with_suffix(".py")).exists():
        module.pop()
    return {name for pair in MARK.findall(source.read_text()) for name in pair if name}


def test_rules_of_the_program_are_proven_under_their_names() -> None:
    checks = {rule.__name__ for rule in checks_of_verifier()}
    assert {rule.name for rule in RULES} - AUXILIARY - checks == set()
    assert {rule.name for rule in RULES} >= AUXILIARY


def test_rules_are_named_where_designs_are_left_out() -> None:
    """One search for a rule's name finds it in the verifier, in these pages, and where search or program apply it."""
    applied = {rule.name for rule in RULES}
    for line in LINES:
        marked = {name for function in line.functions for name in marks_of(function)}
        missing = rules_that_restrict().intersection(line.rules) - applied - marked
        assert missing == set(), f"{name_of(line.page)}: name the function that has the mark"
    assert len(rules_that_restrict()) > 45


def test_marks_are_rules() -> None:
    sources = [path for path in (ROOT / "fabopt").rglob("*.py") if "verify" not in path.parts]
    marked = {name for path in sources for pair in MARK.findall(path.read_text()) for name in pair if name}
    assert marked - {rule.__name__ for rule in checks_of_verifier()} == set()


def test_functions_of_the_formulation_are_there() -> None:
    """Each is named where it is defined, as ``module.function``; whoever renames one is told which line to change."""
    assert [line for line in LINES if not line.functions] == []
    named = [(name_of(line.page), name) for line in LINES for name in line.functions]
    in_prose = re.compile(rf"`((?:{'|'.join(ROOMS)})\.[\w.]+)`")
    named += [(name_of(page), name) for page in FORMULATION for name in in_prose.findall(page.read_text())]
    assert [(page, name) for page, name in named if not is_defined(name)] == []


def is_defined(name: str) -> bool:
    """Whether a dotted name is a function or class that a module defines, or a method of such a class."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        module = ".".join(("fabopt", *parts[:end]))
        try:
            found: object = getattr(importlib.import_module(module), parts[end], None)
        except ModuleNotFoundError:
            continue
        members = (inspect.getattr_static(found, part, None) for part in parts[end + 1 :])
        return getattr(found, "__module__", None) == module and None not in members
    return False


def test_every_page_has_lines_that_say_something() -> None:
    assert {line.page for line in LINES} == {page for page in FORMULATION if page.stem != "outside"}
    assert [line for line in LINES if not line.formula or not line.meaning] == []


def test_model_is_short_enough_to_be_read() -> None:
    assert len(FORMULATION[0].read_text().split()) <= MOST_WORDS_OF_MODEL


def test_legend_names_the_page_of_every_rule() -> None:
    """The head of a written program leads the reader to the line of each rule."""
    pages = {rule: name_of(line.page) for line in LINES for rule in line.rules}
    assert {rule.name: rule.page for rule in RULES} == {rule.name: pages[rule.name] for rule in RULES}


def test_example_can_be_followed_to_the_cent() -> None:
    """What is paid for each kind of part, and the sum, are worked out on the page."""
    text = FORMULATION[0].read_text().partition("## A worked example")[2].partition("```")[0]
    design = optimize.solve(inputs_from_objects(ROOT / "docs" / "formulation" / "example-case.yaml"))
    assert design.status == "optimal" and design.totals is not None
    paid: dict[str, float] = {}
    for row in design.bom:
        paid[row.kind] = paid.get(row.kind, 0) + row.total_usd
    assert len(paid) == 5
    assert [kind for kind, usd in paid.items() if f"{usd:.2f}" not in text] == []
    assert f"={design.totals.capex_usd:.2f} ." in text


def test_tables_of_the_formulation_are_even() -> None:
    """A row in the wrong table shows by its number of columns."""
    table: list[str] = []
    for line in (line for page in FORMULATION for line in (*page.read_text().splitlines(), "")):
        if line.startswith("|"):
            table.append(line)
        elif table:
            columns = {row.replace("\\|", "").count("|") for row in table}
            assert len(columns) == 1, f"rows of another table below {table[0]}"
            table = []


def test_formulation_names_files_that_are_there() -> None:
    named = set(re.findall(r"`((?:fabopt|docs|tests)/[\w/.]+)`", "".join(page.read_text() for page in PAGES)))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_code_names_pages_that_are_there() -> None:
    sources = [*(ROOT / "fabopt").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    named = {page for source in sources for page in re.findall(r"docs/[\w/-]+\.md", source.read_text())}
    assert named and [page for page in sorted(named) if not (ROOT / page).exists()] == []


def test_mathematics_is_closed() -> None:
    """As renderers want it: a dollar sign opens or closes a formula, and no space is beside it inside."""
    for page in FORMULATION:
        text = re.sub(r"`[^`\n]*`", "", outside_code(page))
        assert text.count("$$") % 2 == 0, name_of(page)
        assert "\\begin{" not in text, f"{name_of(page)}: one formula a line, for renderers differ in environments"
        for line in re.sub(r"\$\$.*?\$\$", "", text, flags=re.DOTALL).splitlines():
            assert line.count("$") % 2 == 0, f"{name_of(page)}: {line}"
            assert not any(formula != formula.strip() for formula in line.split("$")[1::2]), f"{name_of(page)}: {line}"


def keys_of(*models: type[Strict]) -> set[str]:
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


def words_in_code(text: str) -> set[str]:
    """Words of all inline code of a page; ``server-leaf`` is one word."""
    return {word for span in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"[\w-]+", span)}


TABLES = module_of_docs("key_tables")
KEY_TABLES = {
    "cases": ("Case", "Workload"),
    "fabrics": ("Fabric", "OutOfBand", "Attachment"),
    "sites": ("Site", "Distances", "Floor", "Route", "RackRules", "CablingOfKinds"),
    "stages": ("Stage", "Growth", "Base", "Joins", "GrowthScenario"),
    "buying": ("CaseLimits", "Finance", "Charge", "Labour", "TaskMinutes", "Payment", "Procurement"),
}


@pytest.mark.parametrize("page", KEY_TABLES)
def test_pages_of_cases_have_the_tables_of_keys(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text()
    assert tuple(re.findall(r"<!-- keys (\w+)", text)) == KEY_TABLES[page]
    assert TABLES.with_tables(text, TABLES.classes()) == text, "run `make schemas`"


def test_rules_page_has_the_records_of_rules() -> None:
    text = (ROOT / "docs" / "rules.md").read_text()
    assert TABLES.with_tables(text, {}) == text, "run `make schemas`"
    assert [name for name in DEFAULT_RULES if f"| `{name}` |" not in text] == []


def test_workloads_page_has_every_key() -> None:
    models = [model_schema.Model, model_schema.Architecture, model_schema.Experts, model_schema.LatentAttention]
    models += [model_schema.Window, model_schema.LinearAttention, model_schema.SparseAttention]
    models += [model_schema.Formats, model_schema.Plan, workload.Workload]
    text = (ROOT / "docs" / "workloads.md").read_text()
    assert keys_of(*models) - words_in_code(text) - {"profile"} == set()


def test_exports_page_has_every_format() -> None:
    table = (ROOT / "docs" / "exports.md").read_text().partition("| format | files |")[2].partition("\n\n")[0]
    named = [
        name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`([\w-]+)`", row)
    ]
    assert tuple(named) == FORMATS


def test_design_page_has_every_key() -> None:
    models = [design_schema.Design, design_schema.Totals, design_schema.FabricDesign, design_schema.Objective]
    models += [design_schema.BomRow, design_schema.LinkRow, design_schema.TierUse, design_schema.NicUse]
    models += [prediction.WorkloadUse, prediction.WorkloadNeeds, prediction.CommunicatorUse]
    models += [design_schema.Metrics, design_schema.StageDesign, design_schema.Conflict, design_schema.Check]
    text = (ROOT / "docs" / "design-file.md").read_text()
    assert keys_of(*models) - words_in_code(text) == set()


def test_symbols_name_fields_of_the_code() -> None:
    table = FORMULATION[0].read_text().partition("## The design space of a Clos")[2].partition("\n## ")[0]
    holders = {holder.__name__: holder for holder in (Structure, TierUse, NicUse, Shape, FabricProblem, Ratios)}
    named = re.findall(r"`([A-Z]\w+)\.(\w+)`", table)
    assert {holder for holder, _ in named} == set(holders)
    for holder, field in named:
        known = {*dir(holders[holder]), *getattr(holders[holder], "model_fields", {})}
        known |= set(getattr(holders[holder], "__dataclass_fields__", {}))
        assert field in known, f"{holder} has no {field}"
    assert {field for holder, field in named if holder == "Structure"} >= keys_of(Structure) - {"tiers", "pod_of"}


# -- words and links ------------------------------------------------------------------------------------------------


def glossary_terms() -> list[str]:
    return re.findall(r"^\| \*\*(.+?)\*\*", GLOSSARY.read_text(), re.MULTILINE)


def test_glossary_has_the_words_of_the_field() -> None:
    terms = glossary_terms()
    assert len(set(terms)) == len(terms)
    assert [word for word in FIELD_WORDS if word not in terms] == []


def test_glossary_terms_appear() -> None:
    """Every term is in use in the other pages or in the code."""
    sources = [page for page in PAGES if page != GLOSSARY] + sorted((ROOT / "fabopt").rglob("*.py"))
    text = "\n".join(source.read_text() for source in sources).lower()
    assert [term for term in glossary_terms() if term.lower() not in text] == []


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", outside_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", outside_code(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{name_of(page)}: {target} leads nowhere"
        assert not anchor or anchor in anchors(file), f"{name_of(page)}: {target}: there is no such section"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("*.md")), ids=name_of)
def test_decisions_have_their_parts(page: Path) -> None:
    text = page.read_text()
    assert re.match(r"\d{4}-[a-z0-9-]+\.md", page.name)
    assert text.startswith(f"# {int(page.name[:4])}. ")
    assert [part for part in DECISION_PARTS if f"**{part}**" not in text] == []
