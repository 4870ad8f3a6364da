"""The space that an answer is the best of is named, as the case has it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.output.html.answer import answer
from fabopt.output.html.assumptions import WORDS, with_links, words_of
from fabopt.output.html.build import page_bytes
from fabopt.output.space import pages_line, space_line
from fabopt.output.terminal.answer import headline
from fabopt.schema.design import Design
from fabopt.schema.last_group import tiers_of_last_groups, what_keeps_groups_equal
from fabopt.verify import verify
from tests.paths import ROOT
from tests.samples.small import case, solved
from tests.test_docs import anchors

REST = "equal groups, one switch type a tier"
SPACES: list[tuple[dict[str, Any], str]] = [
    ({}, f"Clos with one plane, aligned rails, even stripes, {REST}"),
    (
        {"tiers": 2, "rails": "any", "striping": "any"},
        f"Clos of 2 tiers with one plane, any rails, any stripes, {REST}",
    ),
    ({"planes": "any"}, f"Clos with any planes, aligned rails, even stripes, {REST}"),
    ({"planes": [1, 2]}, f"Clos with 1 or 2 planes, aligned rails, even stripes, {REST}"),
    ({"tiers": 1}, "Clos of one tier"),
    ({"topologies": ["torus"]}, "torus with equal groups, one switch type or none"),
    ({"topologies": ["torus"], "torus_nodes": "switches"}, "torus with equal groups, one switch type"),
    ({"topologies": ["dragonfly+"]}, "dragonfly+ with equal groups, one switch type a tier"),
    (
        {"topologies": ["clos", "hyperx"]},
        f"Clos or HyperX with one plane, aligned rails, even stripes, {REST}",
    ),
]


@pytest.mark.parametrize(("fabric", "words"), SPACES)
def test_the_verdict_names_its_space(fabric: dict[str, Any], words: str) -> None:
    design = solved(case({"tiers": "any", **fabric}, servers=3))
    assert space_line(design) == words
    assert headline(design).endswith(f"the cheapest {words}; proven.")


def links(design: Design) -> list[tuple[str, str]]:
    """Links of the answer of a page: the ids that they lead to, and their words."""
    return re.findall(r'<a href="#([^"]+)">([^<]+)</a>', str(with_links(answer(design), design)))


@pytest.mark.parametrize(("fabric", "words"), SPACES)
def test_each_word_of_the_space_is_a_link_in_a_page(fabric: dict[str, Any], words: str) -> None:
    design = solved(case({"tiers": "any", **fabric}, servers=3))
    page = page_bytes(design, verify(design)).decode()
    told = [word.id for word in words_of(design)]
    assert list(dict.fromkeys(id_ for id_, _ in links(design))) == told
    assert all(page.count(f'<dt id="{id_}">') == 1 for id_ in told)
    assert all(said == said.strip() for _, said in links(design))
    # what no link has are the words that join them
    rest = words
    for _, said in links(design):
        rest = rest.replace(said, "", 1)
    assert set(re.findall(r"[\w-]+", rest)) <= {"with", "of", "or"}


def test_words_of_the_space_mean_what_the_glossary_says() -> None:
    glossary = (ROOT / "docs/glossary.md").read_text()
    for word in WORDS:
        name, place = re.escape(word.name), word.page.partition("#")
        assert re.search(rf"^\| \*\*{name}\*\*[^|]*\| {re.escape(word.meaning)} \|$", glossary, re.MULTILINE), word.name
        assert not place[2] or place[2] in anchors(ROOT / place[0]), word.page


def test_what_an_answer_says_is_text_beside_its_links() -> None:
    """A name from a damaged file is no markup."""
    design = solved(case({"tiers": "any"}, servers=3))
    fabric = design.fabrics[0].model_copy(update={"name": "<b>"})
    content = {**design.case.content, "fabrics": [{**design.case.content["fabrics"][0], "name": "<b>"}]}
    record = design.case.model_copy(update={"content": content})
    page = str(with_links("<i> " + answer(design), design.model_copy(update={"fabrics": (fabric,), "case": record})))
    assert "<i>" not in page and "<b>" not in page


def test_pages_are_those_of_the_families() -> None:
    both = pages_line(solved(case({"topologies": ["clos", "hyperx"]}, servers=3)))
    assert "docs/formulation/clos.md and docs/formulation/direct-networks.md" in both
    torus = pages_line(solved(case({"topologies": ["torus"]}, servers=3)))
    assert "clos.md" not in torus
    assert "docs/formulation/outside.md" in torus


def test_spaces_of_several_fabrics() -> None:
    design = solved(case({"tiers": "any"}, servers=3))
    fabric = design.fabrics[0]
    record = design.case.model_copy(
        update={
            "content": {
                **design.case.content,
                "fabrics": [
                    *design.case.content["fabrics"],
                    {**design.case.content["fabrics"][0], "name": "second", "tiers": 1},
                ],
            }
        }
    )
    both = design.model_copy(update={"case": record, "fabrics": (fabric, fabric.model_copy(update={"name": "second"}))})
    assert space_line(both) == f"{SPACES[0][1]} for {fabric.name}; Clos of one tier for second"


def test_a_case_that_cannot_be_read_has_no_space() -> None:
    design = solved(case({"tiers": "any"}, servers=3))
    broken = design.model_copy(update={"case": design.case.model_copy(update={"content": {}})})
    assert space_line(broken) == pages_line(broken) == ""


def _asking(design: Design, **asked: object) -> Design:
    """A design whose case asks something else of its fabric."""
    content = {**design.case.content, "fabrics": [{**design.case.content["fabrics"][0], **asked}]}
    return design.model_copy(update={"case": design.case.model_copy(update={"content": content})})


def test_a_space_whose_last_group_is_not_looked_at_says_so() -> None:
    design = solved(case({"tiers": "any"}, servers=3))
    asking = _asking(design, groups="any")
    stages = [{"name": "now", "month": 0, "servers": 2}, {"name": "then", "month": 6, "servers": 3}]
    grows = {**asking.case.content, "servers": None, "stages": stages}
    equal = asking.model_copy(update={"case": asking.case.model_copy(update={"content": grows})})
    assert "equal groups (the last one too in a cluster that grows), one switch" in space_line(equal)


def test_on_a_floor_three_tiers_have_equal_groups_and_it_is_said() -> None:
    content = yaml.safe_load((ROOT / "cases/hall-1024-gpus.yaml").read_text())
    hall = inputs_from_objects(content).case
    fabric = hall.fabrics[0]
    assert tiers_of_last_groups(hall) == (2,)
    assert list(what_keeps_groups_equal(hall, fabric.model_copy(update={"tiers": 3}))) == ["on three tiers of a floor"]
    assert list(what_keeps_groups_equal(hall, fabric.model_copy(update={"tiers": (2, 3)}))) == []


def test_out_of_band_on_a_floor_groups_are_equal_and_it_is_said() -> None:
    content = yaml.safe_load((ROOT / "cases/hall-1024-gpus.yaml").read_text())
    content["fabrics"] = [*content["fabrics"], {"name": "management", "role": "oob", "oob": {"pdus": 2}}]
    hall = inputs_from_objects(content).case
    assert list(what_keeps_groups_equal(hall, hall.fabrics[1])) == ["out-of-band on a floor"]
    flat = hall.model_copy(update={"site": hall.site.model_copy(update={"floor": None})})
    assert list(what_keeps_groups_equal(flat, flat.fabrics[1])) == []


def test_other_last_groups_are_looked_at_with_even_stripes() -> None:
    design = solved(case({"tiers": "any"}, servers=3))
    assert "any stripes" in space_line(_asking(design, groups="any", striping="any"))
    last = "equal groups but for the last"
    assert f"{last}, which has even stripes, one" in space_line(_asking(design, groups="any", striping="any"))
    assert f"{last}, one" in space_line(_asking(design, groups="any"))


def test_a_file_of_the_first_version_has_equal_groups() -> None:
    """Its case says nothing of groups, and no others were looked at."""
    design = _asking(solved(case({"tiers": "any"}, servers=3)), groups="any")
    older = design.model_copy(update={"fabopt": "0.1.0", "rules": None})
    assert "stripes, equal groups, one switch" in space_line(older)
