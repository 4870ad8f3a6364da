"""What a design file claims beside its network: single changes of it, hashes, the rules of its version, what lost."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from fabopt.floor.loads import LOAD_KEYS
from fabopt.io.case import inputs_from_objects
from fabopt.rules.defaults import RULES_KEPT, WITH_ROWS
from fabopt.schema.design import Check, Design
from fabopt.schema.hashes import sha256_of
from fabopt.schema.servers import SERVER
from fabopt.schema.version import VERSION
from fabopt.solution import optimize
from fabopt.verify import not_asked, verify
from fabopt.verify.claims import KEYS_OF_ALTERNATIVES
from fabopt.verify.editions import edition_of, rules_are_named
from fabopt.verify.proof import BROUGHT, EDITIONS, since
from tests.mutations import OF_WHAT_IS_GIVEN, changes, document_of, name_of, outcome, rehashed, survey
from tests.paths import ROOT
from tests.samples import small
from tests.samples.designs_of_families import MAKERS, designed
from tests.samples.older import as_written_by
from tests.test_docs import checks_of_verifier

Json = dict[str, Any]
Edit = Callable[[Json], object]
KIND = "clos, two tiers"
# Rules that files of the first version are not judged by.
LATER = frozenset[str]().union(*BROUGHT.values())
# Changes of each kind of case; a longer walk: FABOPT_MUTATIONS=120 are more than 2,000 over all families.
COUNT = int(os.environ.get("FABOPT_MUTATIONS", "20"))


def checks_of(document: Json) -> dict[str, Check]:
    return {check.name: check for check in verify(Design.model_validate_json(json.dumps(document)))}


def failing(*edits: Edit, kind: str = KIND, again: bool = True) -> dict[str, str]:
    """What fails after some edits, with hashes worked out ``again`` or as they were."""
    document = document_of(designed(kind))
    for edit in edits:
        edit(document)
    checks = checks_of(rehashed(document) if again else document)
    return {name: check.detail for name, check in checks.items() if not check.ok}


@pytest.mark.parametrize("kind", MAKERS)
def test_designs_of_every_family_hold(kind: str) -> None:
    assert failing(kind=kind) == {}


@pytest.mark.parametrize("count", [2, pytest.param(COUNT, marks=pytest.mark.long)])
def test_at_most_one_change_in_a_hundred_is_not_noticed(count: int) -> None:
    """Of designs of every family, facts with room to spare and what only the search knows aside."""
    found = survey(MAKERS, count, seed=1)
    assert found.outcomes["caught"] > 5 * count
    assert found.share <= Fraction(1, 100), found.unnoticed


# -- hashes -----------------------------------------------------------------------------------------------------------


def part(document: Json, kind: str) -> Json:
    body: Json = next(body for body in document["parts"].values() if body["kind"] == kind)
    return body


def test_a_changed_fact_of_a_part_is_told_as_such() -> None:
    found = failing(lambda document: part(document, "switch")["cages"][0].update(count=99), again=False)
    assert list(found) == ["facts_match_hash"] and "facts of parts were changed" in found["facts_match_hash"]


def test_a_changed_price_is_told_as_such() -> None:
    def dearer(document: Json) -> None:
        part(document, "cable")["lengths"][0]["price_usd"] += 1

    found = failing(dearer, again=False)
    assert "prices of parts were changed" in found["prices_match_hash"] and "facts_match_hash" not in found


def test_hashes_worked_out_again_find_no_forgery() -> None:
    assert failing(lambda document: part(document, "switch")["cages"][0].update(count=99)) == {}


def test_a_file_without_hashes_fails() -> None:
    assert set(failing(lambda document: document.pop("parts_sha256"))) == {"facts_match_hash", "prices_match_hash"}


# -- rules ------------------------------------------------------------------------------------------------------------


def test_rules_that_the_version_of_a_file_did_not_have_are_not_asked() -> None:
    document = document_of(designed(KIND))
    as_written_by("0.1.0", document)
    checks = checks_of(document)
    assert [check for check in checks.values() if not check.ok] == [] and not LATER & checks.keys()
    assert checks["rules_are_named"].detail == f"rules of 0.1.0; not asked are: {', '.join(sorted(LATER))}"
    spared = not_asked(Design.model_validate_json(json.dumps(document)))
    assert spared and set(spared) < LATER


@pytest.mark.parametrize("version", EDITIONS[:-1])
@pytest.mark.parametrize("kind", list(MAKERS)[:3])
def test_a_file_that_only_says_that_it_is_older_is_refused(version: str, kind: str) -> None:
    """It has keys that the version did not have, and is judged by all that is about them."""
    document = document_of(designed(kind))
    document |= {"fabopt": version, "rules": version}
    checks = checks_of(document)
    assert not checks["rules_are_named"].ok and "is no key of fabopt" in checks["rules_are_named"].detail


def test_charges_that_are_taken_off_an_older_file_are_missed() -> None:
    """The rule of charges is on where the case has some, whatever version the file names."""
    content = small.case() | {"charges": [{"name": "tax", "what": "tax", "percent": 19}]}
    document = document_of(optimize.solve(inputs_from_objects(content, small.catalog()), alternatives_s=0))
    off = sum(row["total_usd"] for row in document["bom"] if row.get("charge"))
    document["bom"] = [row for row in document["bom"] if not row.get("charge")]
    sums = ((document["totals"], "capex_usd"), (document["objective"], "value"), (document["objective"], "bound"))
    for place, key in (*sums, (document["stages"][0], "capex_usd")):
        place[key] = round(place[key] - off, 2)
    charges = document["case"]["content"]["charges"]
    as_written_by("0.1.0", document)
    document["case"]["content"]["charges"] = charges
    document["case"]["sha256"] = sha256_of(document["case"]["content"])
    failed = {name for name, check in checks_of(document).items() if not check.ok}
    assert off and {"charges_are_counted", "rules_are_named"} <= failed


@pytest.mark.parametrize("named", [None, "0.1.0", "0.2.0", "0.2", "9.9.9", "0.2.0 "])
def test_no_word_of_a_file_switches_rules_off(named: str | None) -> None:
    assert "rules_are_named" in failing(lambda document: document.update(rules=named))


@pytest.mark.parametrize("version", ["0.1.0", "9.9.9", "new"])
def test_a_file_names_the_version_that_wrote_it(version: str) -> None:
    assert "rules_are_named" in failing(lambda document: document.update(fabopt=version))


def test_editions_name_rules_that_there_are() -> None:
    assert {rule.__name__ for rule in checks_of_verifier()} >= LATER
    assert edition_of(VERSION) == EDITIONS[-1] and edition_of("0.1.7") == "0.1.0"
    assert rules_are_named.__name__ not in LATER
    assert "single_points_are_listed" in BROUGHT["0.2.0"] and "totals_add_up" not in LATER


@pytest.mark.parametrize("version", [EDITIONS[0], "9.9.9"])
def test_a_rule_comes_with_an_edition_after_the_first(version: str) -> None:
    with pytest.raises(KeyError, match=version):
        since(version)(rules_are_named)


# -- what is said -----------------------------------------------------------------------------------------------------

LEFT_OUT: dict[str, Edit] = {
    "a price of one": lambda document: document["bom"][0].update(single_price_usd=None),
    "a present value": lambda document: document["bom"][0].pop("present_value_usd"),
    "a day to order by": lambda document: document["bom"][0].update(order_by=None),
    "energy of a stage": lambda document: document["stages"][0].update(energy_usd=None),
    "a figure": lambda document: document["fabrics"][0]["metrics"].update(permutation_gbps_per_gpu=None),
    "servers cut off": lambda document: document["fabrics"][0]["failures"][0].update(servers_cut_off=None),
    "a failure": lambda document: document["fabrics"][0]["failures"].pop(0),
    "all failures": lambda document: document["fabrics"][0].pop("failures"),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_nothing_is_left_out(what: str) -> None:
    assert set(failing(LEFT_OUT[what])) == {"nothing_is_left_out"}


@pytest.mark.parametrize("how", [lambda row: row.pop("stages"), lambda row: row.update(stages=None)])
@pytest.mark.parametrize("index", [1, 3])
def test_links_of_a_later_stage_say_so(how: Edit, index: int) -> None:
    """Rows of what comes second, without whose stage its links went to whatever cages were left."""

    def unsaid(document: Json) -> None:
        row = document["fabrics"][0]["links"][index]
        assert row["stages"] == ["stage-2"]
        how(row)

    found = failing(unsaid, kind="growth")
    assert set(found) == {"nothing_is_left_out"} and "links are left out" in found["nothing_is_left_out"]


@pytest.mark.parametrize("key", ["limits", "finance", "workload", "growth", "maximize"])
def test_the_case_is_written_out(key: str) -> None:
    assert "case_is_resolved" in failing(lambda document: document["case"]["content"].pop(key))


ADDED_UP: dict[str, Edit] = {
    "cost": lambda rival: rival.update(capex_usd=rival["capex_usd"] - 1),
    "more cost": lambda rival: rival.update(capex_delta_usd=1),
    "power": lambda rival: rival.update(power_w=rival["power_w"] + 1),
    "objective": lambda rival: rival.update(objective=1),
    "kind": lambda rival: rival.update(what="colour"),
    "keys of another kind": lambda rival: rival.update(change={"fabrics.compute.tiers": 7}),
    "no keys": lambda rival: rival.update(change={}),
    "status": lambda rival: rival.update(status=None),
    "not finished": lambda rival: rival.update(finished=False),
}


@pytest.mark.parametrize("what", ADDED_UP)
def test_alternatives_add_up(what: str) -> None:
    found = failing(lambda document: ADDED_UP[what](document["alternatives"][0]), kind="clos, one tier")
    assert set(found) == {"alternatives_add_up"}


def test_stored_checks_are_not_read() -> None:
    def refuted(document: Json) -> None:
        document["checks"] = [{"name": "limits_hold", "ok": False, "detail": "no"}]

    assert failing(refuted) == {}


HUGE: dict[str, Edit] = {
    "cage group": lambda document: document["fabrics"][0]["tiers"][0]["up"].update(cage_group=10**9),
    "NIC cage group": lambda document: document["fabrics"][0]["nic"].update(cage_group=10**9),
    "failures": lambda document: document["fabrics"][0]["failures"][0].update(count=10**9),
}


@pytest.mark.parametrize("what", HUGE)
def test_no_number_of_a_file_keeps_a_rule_at_work(what: str) -> None:
    """Each went on for hours."""
    assert failing(HUGE[what]) != {}


@pytest.mark.long
def test_hashes_as_they_were_find_every_change_of_case_and_parts() -> None:
    unnoticed = []
    for kind in MAKERS:
        document = document_of(designed(kind))
        given = [change for change in changes(document) if OF_WHAT_IS_GIVEN.fullmatch(name_of(change.place))]
        for change in Random(kind).sample(given, COUNT // 4):
            if outcome(change.applied(document, again=False), designed(kind)) == "passes":
                unnoticed.append((kind, change))
    assert unnoticed == []


# Kinds of rows that are worked out, by their code.
WORKED_OUT = {
    "rule": WITH_ROWS,
    "RULES_KEPT": [RULES_KEPT],
    "SERVER": [SERVER],
    "name": ["ttft_ms", "tpot_ms", "planes", "striping", "rails"],
    "f'{case.site.floor_key}.{key}'": [
        f"{floor}.{key}" for floor in ("site.floor", "site.halls[*]") for key in LOAD_KEYS
    ],
    "what": ["oversubscription", "bandwidth", "servers", "attachments"],
}


def test_every_kind_of_what_else_is_known_to_the_check() -> None:
    """Every row that a search can make is of a kind that `alternatives_add_up` knows."""
    kinds = set[str]()
    for path in (ROOT / "fabopt" / "solution").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "CaseChange":
                (what, *_) = node.args
                kinds.update([str(what.value)] if isinstance(what, ast.Constant) else WORKED_OUT[ast.unparse(what)])
    assert len(kinds) > 30 and sorted(kinds - KEYS_OF_ALTERNATIVES.keys()) == []
