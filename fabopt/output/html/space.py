"""The sentence on the space of networks searched, with links to definitions of its words further down the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fabopt.output.html.rendering import linked
from fabopt.output.space import FLOOR_PAGE, PAGES, space_line
from fabopt.schema.design import Design

_CLOS, _DIRECT, _ = PAGES


class Word(NamedTuple):
    """A word of the space: its name, the pattern that finds it, its meaning as in docs/glossary.md, and the page that
    defines it.
    """

    name: str
    said: str
    meaning: str
    page: str

    @property
    def id(self) -> str:
        """Id of its definition in a page."""
        return "space-" + re.sub(r"\W+", "-", self.name.replace("+", "-plus"))


# Of words that begin alike the longer one comes first.
WORDS = (
    Word(
        "Clos", "Clos",
        "network of tiers in which every switch of a tier reaches every switch above it in its pod; a fat tree is one",
        _CLOS,
    ),
    Word(
        "rail-only", "rail-only",
        "network in which rails never meet: each is a switch or a Clos of its own",
        f"{_CLOS}#rails-of-their-own",
    ),
    Word(
        "HyperX", "HyperX",
        "direct network on a grid: all switches that differ in one coordinate are joined; a full mesh and a flattened "
        "butterfly are some",
        f"{_DIRECT}#the-space",
    ),
    Word(
        "torus", "torus",
        "direct network on a grid of which every line is a ring; of switches, or of servers whose NICs pass on",
        f"{_DIRECT}#the-space",
    ),
    Word(
        "dragonfly+", r"dragonfly\+",
        "dragonfly whose groups are a small Clos of leaves and spines; global links are between spines",
        f"{_DIRECT}#dragonfly-plus",
    ),
    Word(
        "dragonfly", "dragonfly",
        "direct network of groups, every one fully joined (local links), and every two of them joined by global links",
        f"{_DIRECT}#the-space",
    ),
    Word(
        "family", "network of any family",
        "kind of network by what joins what: Clos, rail-only, HyperX, torus, dragonfly, dragonfly+",
        "docs/formulation.md",
    ),
    Word(
        "tier", r"(?:one|\d[\d, or]*) tiers?",
        "all switches with the same distance from the servers: leaves, spines, cores",
        f"{_CLOS}#leaves",
    ),
    Word(
        "plane", r"one plane|a plane a rail|any planes|\d[\d, or]* planes",
        "one of several disjoint copies of the network that share no switch; every NIC has a port in each, unless "
        "planes are rails",
        f"{_CLOS}#servers-and-nics",
    ),
    Word(
        "rail", "(?:aligned|any) rails",
        "the leaves that the i-th ports of servers are plugged into; aligned rails put the i-th port of all servers of "
        "a group on one leaf",
        f"{_CLOS}#leaves",
    ),
    Word(
        "striping", "(?:even|rail|any) stripes",
        "how the uplinks of a leaf are spread over the spines: even, as many to each; rail, numbers that differ by one "
        "at most and are alike on all leaves of a rail; any",
        f"{_CLOS}#stripes-that-are-not-even",
    ),
    Word(
        "group", "equal groups|groups of whole racks",
        "servers whose ports share one set of leaves",
        f"{_CLOS}#leaves",
    ),
    Word(
        "last group", "but for the last|the last one too",
        "servers that are left once all other groups are full; where it may be unlike these, its leaves may be of "
        "another type, with ports of a server and uplinks of their own",
        f"{_CLOS}#a-last-group-of-its-own",
    ),
    Word(
        "switch type", "one switch type(?: a tier)?(?: or none)?",
        "model of a switch with one use of its cages down and one up; all switches of a tier are of one, but for what "
        "is said",
        f"{_CLOS}#spines-pods-and-cores",
    ),
    Word(
        "interchangeable switches", "interchangeable ones",
        "switches that may stand in for each other where there are not enough of one: what is cabled and configured is "
        "the same",
        f"{_CLOS}#pools-of-switches",
    ),
    Word(
        "layout", "placed by the rule of a layout",
        "which racks hold servers and which hold switches, fixed before switches are placed",
        f"{FLOOR_PAGE}#layouts",
    ),
    Word(
        "any place", "in any place",
        "on a small floor every switch may be in any rack, and all that are worth it are looked at",
        f"{FLOOR_PAGE}#small-floors",
    ),
)  # fmt: skip
_SAID = re.compile("|".join(f"(?P<w{number}>{word.said})" for number, word in enumerate(WORDS)))


def with_links(text: str, design: Design) -> Any:
    """A sentence, with the words of the space in it as links to ``words_of``."""
    space = space_line(design)
    before, said, after = text.partition(space) if space else (text, "", "")
    return linked([(before, None), *_pieces(said), (after, None)])


def words_of(design: Design) -> tuple[Word, ...]:
    """The words of the space of a design, in its order, each once."""
    ids = [id_ for _, id_ in _pieces(space_line(design)) if id_ is not None]
    by_id = {word.id: word for word in WORDS}
    return tuple(by_id[id_] for id_ in dict.fromkeys(ids))


def _pieces(space: str) -> Iterator[tuple[str, str | None]]:
    """The line in pieces, each with the id of its word, None for text between words."""
    end = 0
    for said in _SAID.finditer(space):
        yield space[end : said.start()], None
        yield said.group(), WORDS[int((said.lastgroup or "w0")[1:])].id
        end = said.end()
    yield space[end:], None
