"""Cross checks of structured cabling: what it needs of the case and of the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.floor.row_ends import against_rows
from fabopt.parts.polarity import jumper_connector, panel_goes, trunk_goes
from fabopt.schema.case import EFFECTIVE, Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.structured import CablingOfKinds

KEY = "site.cabling"


def check_cabling(case: Case, catalog: Catalog, file: str) -> Iterator[Fault]:
    """Yield faults of a case whose links may run through trunks."""
    words = case.site.trunked
    if not words:
        if case.site.zones != "racks":
            problem = "no kind of links runs through trunks, so there are no panels"
            hint = "say which, as `leaf-spine: structured`, or leave it out"
            yield fault(file, f"{KEY}.zones", problem, case.site.zones, hint=hint)
        return
    said = case.site.cabling.model_dump(by_alias=True) if isinstance(case.site.cabling, CablingOfKinds) else ""
    shown = said or case.site.cabling
    leave = f"give `site.floor`, or leave `{KEY}` out"
    if not case.site.has_floor:
        yield fault(file, KEY, "routes between racks are not known without a floor", shown, hint=leave)
    if "any" in words.values() and case.site.labour is None:
        problem = "what leads and trunks cost to install is not known, so that neither can be called cheaper"
        hint = "give `site.labour` with `usd_per_hour` and `minutes`, or say `structured` or `direct`"
        yield fault(file, KEY, problem, shown, hint=hint)
    yield from _zone_faults(case, file)
    yield from _growth_faults(case, file, shown)
    if case.objective == EFFECTIVE:
        problem = f"trunks and `objective: {EFFECTIVE}` do not go together"
        yield fault(file, KEY, problem, shown, hint=f"leave `{KEY}` out, or choose another objective")
    for kind, products in (("trunk", catalog.trunks), ("panel", catalog.panels)):
        if not products and "structured" in words.values():
            yield fault(file, KEY, f"the catalog has no {kind}", shown, hint=f"add one, or leave `{KEY}` out")
    if catalog.trunks and catalog.panels and "structured" in words.values() and not _go_together(catalog):
        problem = "no jumper, trunk and panel of the catalog go together"
        hint = (
            "a jumper without pins, a trunk with pins, both of Type B, of one fibre and polish, and a panel for them; "
            "or a jumper and a trunk that mate with cassettes in front and behind; "
        )
        yield fault(
            file, KEY, problem, shown, hint=f"{hint}what is not known does not count: give `pinned`, `polarity`"
        )


def _zone_faults(case: Case, file: str) -> Iterator[Fault]:
    """Faults of panels at the ends of rows."""
    hint = "leave it out, so that panels stand in the racks of their devices"
    for problem in against_rows(case) if case.site.zones == "rows" else ():
        yield fault(file, f"{KEY}.zones", problem, "rows", hint=hint)


def _growth_faults(case: Case, file: str, shown: object) -> Iterator[Fault]:
    """Faults of trunks in a cluster that grows."""
    if case.base is not None:
        problem = "trunks beside what is in service are not planned"
        yield fault(file, KEY, problem, shown, hint=f"leave `{KEY}` out, or plan the last stage alone")
    if len(case.stages or ()) < 2:
        return
    if case.is_uncertain:
        problem = "trunks of a cluster whose growth is uncertain are not planned"
        yield fault(file, KEY, problem, shown, hint=f"leave `{KEY}` out, or plan stages that are sure to come")
    if case.growth.recabling == "allow":
        problem = "a cable that is moved would leave its trunk, which is not planned"
        hint = f"say `forbid`, or leave `{KEY}` out"
        yield fault(file, "growth.recabling", problem, case.growth.recabling, hint=hint)
    if case.growth.trunks == "any" and case.site.labour is None:
        problem = "what trunks cost to install is not known, so that no stage can be called cheaper for them"
        hint = "give `site.labour` with `usd_per_hour` and `minutes`, or say `when_lit` or `ahead`"
        yield fault(file, "growth.trunks", problem, case.growth.trunks, hint=hint)


def _go_together(catalog: Catalog) -> bool:
    """Whether a jumper, a trunk and a panel of a catalog make a link."""
    jumpers = [(fibre, connector) for fibre in catalog.fibres if (connector := jumper_connector(fibre)) is not None]
    return any(
        panel_goes(panel, connector) and trunk_goes(trunk, fibre, panel)
        for fibre, connector in jumpers for panel in catalog.panels for trunk in catalog.trunks
    )  # fmt: skip
