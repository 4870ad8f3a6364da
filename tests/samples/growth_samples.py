"""Growing clusters small enough to reason about: cases in stages a year apart, and their designs.

A server has 1 GPU and one 1x100 card (100 USD); the only switch has eight 1x100 cages (1000 USD); cables are 10, 20 and
30 USD at 3, 30 and 50 m, the runs of the three kinds of links; two tiers at 1:1.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from fabopt.schema.design import Design
from tests.samples.bare import bare
from tests.samples.bases import designed
from tests.solution.test_brute_force import cage, case, catalog, switch

Json = dict[str, Any]


def eight() -> Json:
    """The catalog with the switch of eight ports."""
    return catalog(switches=[switch("eight", cage(8, "1x100"))])


def grown(*sizes: Any, fabric: Json | None = None, **keys: Any) -> Json:
    """A case in stages; a size is a number of servers, or a stage's own keys."""
    stages = [
        {"name": f"stage-{at + 1}", "month": 12 * at} | (size if isinstance(size, dict) else {"servers": size})
        for at, size in enumerate(sizes)
    ]
    content = case(1, {"tiers": 2, **(fabric or {})}, stages=stages, **keys)
    del content["servers"], content["catalog"]
    return bare(content)


def own(servers: int, ratio: Any) -> Json:
    """A stage with a limit of its own."""
    return {"servers": servers, "fabrics": {"compute": {"max_oversubscription": ratio}}}


def cheaper_later(recabling: str, usd: float = 10, **first: Any) -> Json:
    """8 servers, then 16: 4 leaves on two spines with 2 links to each; switches fall by half in the year between."""
    growth = {"recabling": recabling, "usd_per_moved_cable": usd}
    return grown({"servers": 8, **first}, 16, growth=growth, finance={"price_decline": {"switch": 0.5}})


def solved(parts: Json, wanted: Json) -> Design:
    """The design of a case, without a look at alternatives."""
    return designed(parts, wanted)


@cache
def sample(name: str) -> Design:
    """``moved``: four cables move at the second of two stages; ``opened``: the third of three opens a pod and cores."""
    if name == "moved":
        return solved(eight(), cheaper_later("allow"))
    return solved(catalog(), grown(3, 4, 8, fabric={"tiers": 3}))
