"""Cross checks of a case's charges against its fabrics and its catalog; what its labour leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, Catalog
from fabopt.schema.design import MOVED_DESCRIPTION
from fabopt.schema.labour import KINDS_OF_TASK, LABOUR

_WORDS = {"fabrics": "fabric", "vendors": "vendor", "asics": "ASIC", "parts": "product"}


def check_charges_fit(case: Case, catalog: Catalog, file: str) -> Iterator[Fault]:
    """Yield faults of charges: unknown names, and names of products."""
    products = [product for kind in KINDS for product in getattr(catalog, kind)]
    known = {
        "fabrics": [fabric.name for fabric in case.fabrics],
        "vendors": sorted({product.vendor for product in products if product.vendor}),
        "asics": sorted({switch.asic for switch in catalog.switches if switch.asic}),
        "parts": [product.id for product in products],
    }
    for index, charge in enumerate(case.charges):
        path = f"charges[{index}]"
        if charge.name in known["parts"] or charge.name in MOVED_DESCRIPTION:
            yield fault(file, f"{path}.name", "this is the id of a product", charge.name, hint="give it another name")
        if charge.name.startswith(LABOUR):
            problem = "this is the name of a line of labour"
            yield fault(file, f"{path}.name", problem, charge.name, hint="give it another name, or use `site.labour`")
        for key, names in known.items():
            for number, name in enumerate(getattr(charge, key) or ()):
                if name not in names:
                    problem = f"the {'case' if key == 'fabrics' else 'catalog'} has no such {_WORDS[key]}"
                    yield fault(file, f"{path}.{key}[{number}]", problem, name, hint=did_you_mean(name, names))


def with_labour_of_moves(case: Case) -> Case:
    """The case in which moving a cable costs its labour, and no more than that unless the case says so."""
    if case.site.labour is None or "usd_per_moved_cable" in case.growth.model_fields_set:
        return case
    return case.model_copy(update={"growth": case.growth.model_copy(update={"usd_per_moved_cable": 0})})


def labour_notes(case: Case) -> Iterator[str]:
    """Name the tasks that are in no sum, for their minutes are not known."""
    known = () if case.site.labour is None else case.site.labour.minutes.known
    unknown = [task for task in KINDS_OF_TASK if task not in known]
    if known and unknown:
        yield f"labour is without {', '.join(unknown)}: `site.labour.minutes` does not say how long these take"
