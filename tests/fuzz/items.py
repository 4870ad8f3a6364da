"""One item of the fuzzer: files in a folder with something wrong in them, and the words of commands that read them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from fabopt.cli.outages import KINDS
from fabopt.io.case import inputs_from_objects
from fabopt.output.export import FORMATS
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Front
from fabopt.study.sweep import sweep as sweeps
from tests.fuzz import given
from tests.fuzz.mutants import ODD_VALUES, as_text, mutant, spoilt
from tests.mutations import document_of
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.workload_samples import MODEL

LIMIT_S = 2.0
CASE, CATALOG, DESIGN, FRONT = "case.yaml", "catalog.yaml", "design.json", "front.json"
BOOK, MODEL_FILE, JOURNAL = "book.yaml", "model.yaml", "front.json.journal"
EXPORTS = (*FORMATS, "nonsense", ",".join(FORMATS[:2]), ",".join(FORMATS))
ENDS = (["--maximize", "gbps_per_gpu"], ["--minimize", "power_w"])
TIMED = ("solve", "pareto", "sweep", "sensitivity")
OPTIONS = (
    "--engine", "--time-limit", "--points", "--jobs", "--price-change", "--catalog", "--over", "--budget", "--prices",
    "--resume", "--failures", "--samples", "--seed", "--gpus", "--server", "--workload", "--front", "--to", "--netbox",
    "--point",
)  # fmt: skip
# The kind of case that fronts are of, and what was swept.
SWEPT = "clos, one tier"
BUDGETS = "10K:90K:3"
PROFILES = ("pretraining", "mixed", "fine-tuning", "inference", "training")
# Those whose catalog is not one that the tests ship.
WITH_CATALOG = tuple(kind for kind in MAKERS if kind != "model")


@dataclass(frozen=True)
class Item:
    """What is run: ``files`` by name, then every command in ``runs`` as long as they end well."""

    what: str
    files: Mapping[str, bytes]
    runs: Sequence[Sequence[str]]


def item(seed: int) -> Item:
    """The item of a seed."""
    dice = Random(seed)
    weights: dict[Callable[[Random], Item], int] = {
        _changed_case: 8, _changed_catalog: 6, _changed_design: 6, _spoilt: 2, _odd_words: 4, _changed_book: 2,
        _changed_model: 2, _changed_front: 3, _taken_up: 3, _in_processes: 1, _starter: 2, _given: 12, _decided: 1,
        _of_others: 8,
    }  # fmt: skip
    return dice.choices(list(weights), list(weights.values()))[0](dice)


# -- what is right --------------------------------------------------------------------------------------------------


def _inputs(kind: str) -> tuple[Any, Any]:
    catalog, case = MAKERS[kind]()
    return {"name": "fuzz", **case, "catalog": [f"./{CATALOG}"]}, {"name": "parts", **(catalog or {})}


@cache
def swept() -> Front:
    """A sweep over budgets, whole."""
    case, catalog = _inputs(SWEPT)
    inputs = inputs_from_objects({key: value for key, value in case.items() if key != "catalog"}, catalog)
    grid = sweeps.grid_of(inputs, BUDGETS, [])
    return sweeps.sweep(inputs, grid, sweeps.Execution(), None, Settings(), Clock(None), lambda *news: None)


def _book(dice: Random, catalog: Any) -> Any:
    """A price book with prices of some products of a catalog, sold by the piece or by length."""
    prices = {}
    for kind in ("switches", "nics", "transceivers", "cables", "fibres"):
        for product in catalog.get(kind, ()):
            lengths = [length["m"] for length in product.get("lengths", ())]
            price = dice.choice([1, 700.5, [{"from": 1, "usd": 9}, {"from": 20, "usd": 8}]])
            prices[product["id"]] = dict.fromkeys(lengths, price) if lengths else price
    return {"name": "spring", "prices": prices}


def _solving(dice: Random) -> Iterator[list[str]]:
    words = dice.choice([["solve"]] * 4 + [["pareto"], ["sweep", "--budget", BUDGETS], ["sensitivity"]])
    limit = ["--time-limit", str(LIMIT_S)]
    if words == ["solve"]:
        yield [*words, CASE, *limit, "--json", DESIGN, "--bom", dice.choice(["bom.csv", "bom.xlsx", "bom.json"])]
        yield from _reading(dice, DESIGN)
    elif words == ["pareto"]:
        ends = ["--minimize", "capex_usd", *dice.choice(ENDS)]
        yield [*words, CASE, *ends, *limit, "--points", "3", "--json", FRONT, "--csv", "front.csv"]
        yield from _of_point(dice, dice.choice(["1", "3"]))
    else:
        yield [words[0], CASE, *words[1:], *limit, "--json", FRONT]


def _reading(dice: Random, file: str) -> Iterator[list[str]]:
    reading = [
        ["check", file],
        ["check", file, "--failures", dice.choice(["1", "2", f"1 {dice.choice(KINDS)}"]), "--samples", "5"],
        ["bom", file, "-o", "bill.csv"],
        ["bom", file, "-o", "bill.xlsx", "--unchecked"],
        ["report", file, "-o", "page.html", *dice.choice([[], ["--unchecked"]])],
        ["export", file, "--to", dice.choice(EXPORTS), "-o", "out", *dice.choice([[], ["--unchecked"]])],
    ]
    yield from dice.sample(reading, 2)


def _of_point(dice: Random, point: str) -> Iterator[list[str]]:
    for words in _reading(dice, FRONT):
        yield [*words, "--point", point]


# -- what is wrong --------------------------------------------------------------------------------------------------


def _changed_case(dice: Random) -> Item:
    kind = dice.choice(WITH_CATALOG)
    case, catalog = _inputs(kind)
    files = {CASE: as_text(mutant(dice, case)), CATALOG: as_text(catalog)}
    return Item(f"case of {kind}", files, list(_solving(dice)))


def _changed_catalog(dice: Random) -> Item:
    kind = dice.choice(WITH_CATALOG)
    case, catalog = _inputs(kind)
    files = {CASE: as_text(case), CATALOG: as_text(mutant(dice, catalog))}
    return Item(f"catalog of {kind}", files, list(_solving(dice)))


def _changed_design(dice: Random) -> Item:
    kind = dice.choice(list(MAKERS))
    content = json.loads(designed(kind).model_dump_json(by_alias=True))
    return Item(f"design of {kind}", {DESIGN: as_text(mutant(dice, content))}, list(_reading(dice, DESIGN)))


def _changed_book(dice: Random) -> Item:
    kind = dice.choice(WITH_CATALOG)
    case, catalog = _inputs(kind)
    book = _book(dice, catalog)
    wrong = spoilt(dice, as_text(book).decode()) if dice.random() < 0.3 else as_text(mutant(dice, book))
    if dice.random() < 0.5:
        files = {CASE: as_text({**case, "prices": [f"./{BOOK}"]}), CATALOG: as_text(catalog), BOOK: wrong}
        return Item(f"price book of a case of {kind}", files, list(_solving(dice)))
    files = {DESIGN: as_text(document_of(designed(kind))), BOOK: wrong}
    bill = ["bom", DESIGN, "--prices", f"./{BOOK}", "-o", dice.choice(["bill.csv", "bill.xlsx", "bill.json"])]
    return Item(f"price book of a design of {kind}", files, [bill])


def _changed_model(dice: Random) -> Item:
    _, case = MAKERS["model"]()
    wrong = spoilt(dice, as_text(MODEL).decode()) if dice.random() < 0.3 else as_text(mutant(dice, MODEL))
    content = {**case, "workload": {"model": f"./{MODEL_FILE}", "gpu_utilization": 0.5}}
    return Item("model", {CASE: as_text(content), MODEL_FILE: wrong}, list(_solving(dice)))


def _changed_front(dice: Random) -> Item:
    front = json.loads(swept().model_dump_json(by_alias=True))
    files = {DESIGN: as_text(document_of(designed(SWEPT))), FRONT: as_text(mutant(dice, front))}
    whole = [["report", DESIGN, "--front", FRONT, "-o", "page.html"], ["report", FRONT, "-o", "front.html"]]
    point = dice.choice(["1", "2", "3", "4", "0", "-1", "x"])
    return Item("front", files, [dice.choice(whole), *_of_point(dice, point)])


def _taken_up(dice: Random) -> Item:
    """A sweep that goes on from a file or journal with something wrong in it."""
    case, catalog = _inputs(SWEPT)
    front = swept()
    header = front.model_copy(update={"points": (), "complete": False})
    lines = [model.model_dump_json(by_alias=True) for model in (header, *front.points)]
    files = {CASE: as_text(case), CATALOG: as_text(catalog)}
    how = dice.choice(["file", "line", "text", "cut"])
    if how == "file":
        files[FRONT] = as_text(mutant(dice, json.loads(front.model_dump_json(by_alias=True))))
    elif how == "line":
        number = dice.randrange(len(lines))
        changed = as_text(mutant(dice, json.loads(lines[number]))).decode("utf-8", "surrogatepass")
        lines[number] = changed.replace("\n", "")
        files[JOURNAL] = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    else:
        text = "".join(f"{line}\n" for line in lines)
        files[JOURNAL] = spoilt(dice, text) if how == "text" else text[: dice.randrange(len(text))].encode()
    resume = dice.choice([FRONT, JOURNAL])
    words = ["sweep", CASE, "--budget", BUDGETS, "--json", FRONT, "--resume", resume, "--time-limit", str(LIMIT_S)]
    return Item(f"{how} to go on from", files, [words])


def _in_processes(dice: Random) -> Item:
    kind = dice.choice(WITH_CATALOG)
    case, catalog = _inputs(kind)
    wrong = dice.choice([case, mutant(dice, case)])
    over = dice.choice(["servers=2:6:3", "fabrics.0.max_oversubscription=1,2", "limits.budget_usd=1K:90K:3"])
    words = ["sweep", CASE, "--over", over, "--jobs", "2", "--json", FRONT, "--time-limit", str(LIMIT_S)]
    return Item(f"processes for {kind}", {CASE: as_text(wrong), CATALOG: as_text(catalog)}, [words])


def _starter(dice: Random) -> Item:
    kind = dice.choice(WITH_CATALOG)
    _, catalog = _inputs(kind)
    wrong = dice.choice([catalog, mutant(dice, catalog)])
    server = catalog["servers"][0]
    gpus = dice.choice([server["gpus"], 4 * server["gpus"], server["gpus"] + 1, 0, -8, 10**12])
    name = dice.choice(["pod", "pod-1", "a b", "../x", "", "-", "x" * 300])
    words = [
        "new", name, "--gpus", str(gpus), "--server", dice.choice([server["id"], "none"]), "--workload",
        dice.choice(PROFILES), "--catalog", f"./{CATALOG}", "-o", CASE,
    ]  # fmt: skip
    return Item(f"starter of {kind}", {CATALOG: as_text(wrong)}, [words, *_solving(dice)])


def _given(dice: Random) -> Item:
    """A file of others beside a design that is right."""
    kind = dice.choice(WITH_CATALOG)
    case, catalog = _inputs(kind)
    limit = ["--time-limit", str(LIMIT_S)]
    ways = (
        lambda: given.hand_made(dice, kind, limit, CASE, CATALOG), lambda: given.quoted(dice, kind, DESIGN, CATALOG),
        lambda: given.found(dice, kind, DESIGN), lambda: given.measured(dice, DESIGN),
        lambda: given.planned(dice, kind, DESIGN),
    )  # fmt: skip
    name, text, words = dice.choice(ways)()
    files = {CASE: as_text(case), CATALOG: as_text(catalog), DESIGN: as_text(document_of(designed(kind))), name: text}
    return Item(f"{words[0]} of {kind}", files, [words])


def _of_others(dice: Random) -> Item:
    """A fabric as other programs write it, judged alone, or as what was found of a design."""
    files, words = given.of_others(dice)
    if words[3] in ("lldp", "ibnetdiscover") and dice.random() < 0.5:
        kind = dice.choice(WITH_CATALOG)
        option = f"--{words[3]}"
        compared = ["as-built", DESIGN, option, words[1], "--json", "found.json", "--propose-names", "names.csv"]
        return Item(f"found as {words[3]}", {**files, DESIGN: as_text(document_of(designed(kind)))}, [compared])
    return Item(f"fabric as {words[3]}", files, [words])


def _decided(dice: Random) -> Item:
    kind = dice.choice(WITH_CATALOG)
    case, catalog = _inputs(kind)
    words = ["decide", CASE, "--time-limit", str(LIMIT_S), "--json", "decided.json", "--html", "decided.html"]
    extra = dice.choice([[], ["--rent", str(dice.choice(ODD_VALUES))[:200].replace("\x00", "0")], ["--size", "2"]])
    words += [word.encode("utf-8", "replace").decode() for word in extra]
    return Item(f"decisions of {kind}", {CASE: as_text(mutant(dice, case)), CATALOG: as_text(catalog)}, [words])


def _spoilt(dice: Random) -> Item:
    kind = dice.choice(WITH_CATALOG)
    case, catalog = _inputs(kind)
    texts = {CASE: as_text(case), CATALOG: as_text(catalog)}
    name = dice.choice([CASE, CATALOG])
    texts[name] = spoilt(dice, texts[name].decode())
    return Item(f"text of {kind}", texts, list(_solving(dice)))


def _odd_words(dice: Random) -> Item:
    kind = dice.choice(WITH_CATALOG)
    case, catalog = _inputs(kind)
    others = [
        ["formulation", CASE, "-o", "program.lp"], ["catalog", "check", CATALOG],
        ["new", "pod", "--gpus", "16", "--server", "gpu", "--workload", "mixed", "-o", "new.yaml"],
        ["sweep", CASE, "--over", "servers=2,3", "--jobs", "2", "--json", FRONT, "--resume", FRONT],
    ]  # fmt: skip
    words = list(dice.choice([*_solving(dice), *_reading(dice, CASE), *others]))
    for _ in range(dice.randint(1, 3)):
        _oddly(dice, words)
    if "--time-limit" not in words and words[0] in TIMED:
        words += ["--time-limit", str(LIMIT_S)]
    return Item(f"options of {kind}", {CASE: as_text(case), CATALOG: as_text(catalog)}, [words])


def _oddly(dice: Random, words: list[str]) -> None:
    """Drop, replace or add a word."""
    odd = str(dice.choice(ODD_VALUES))[:200].replace("\x00", "0").encode("utf-8", "replace").decode()
    place = dice.randint(1, len(words))
    how = dice.choice(["drop", "replace", "insert", "option"])
    if how == "drop" and len(words) > 1:
        del words[min(place, len(words) - 1)]
    elif how == "replace" and place < len(words):
        words[place] = odd
    else:
        words[place:place] = [odd] if how == "insert" else [dice.choice(OPTIONS), odd]
