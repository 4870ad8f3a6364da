"""The command that says what keeps products out of an answer."""

from __future__ import annotations

import json as json_
from collections.abc import Sequence
from dataclasses import asdict

from fabopt.cli.fronts import at_work
from fabopt.cli.output import check_targets, deliver, say
from fabopt.cli.solving import SolveRequest
from fabopt.errors import EXIT_DONE, fault
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse_any
from fabopt.io.library import STANDARD_STREAM
from fabopt.io.recognition import ProductNames, hint_for, meant_id
from fabopt.io.references import MOST_NAMED
from fabopt.parts.price_books import products
from fabopt.schema.catalog import KINDS


def explain_case(request: SolveRequest, ids: Sequence[str], json: str | None) -> int:
    """Say why products are not in the answer; without any, which lack only a figure, a split or a part, and what the
    case's model needs.
    """
    check_targets([json])
    inputs = request.inputs()
    wanted = _known(ids, inputs)
    from fabopt.inspect.why_not import needs_of_case, products_lacking, why_not
    from fabopt.output.terminal.why_not import lacking_line, why_not_line
    from fabopt.output.terminal.workload import needs_words
    from fabopt.program.settings import Settings

    with at_work(request) as (clock, show):
        settings = Settings(request.engine, request.time_limit_s, progress=show)
        told = list(why_not(inputs, wanted, settings, clock)) if wanted else []
        lacking = {} if wanted else dict(products_lacking(inputs, settings, clock))
    needs = None if wanted else needs_of_case(inputs)
    if json is not None:
        products_told = [{**asdict(one), "obstacles": _rows(one.obstacles)} for one in told]
        lacks = {id_: [lack._asdict() for lack in of] for id_, of in lacking.items()}
        content = {"case": inputs.case.name, "products": products_told, "lacking": lacks}
        content |= {} if needs is None else {"needs": needs[1].model_dump(mode="json")}
        deliver(json, (json_.dumps(content, indent=2) + "\n").encode())
    if json != STANDARD_STREAM:
        lines = [why_not_line(one) for one in told] or [lacking_line(*one) for one in lacking.items()]
        lines = lines or ["no listed product lacks only a price, a power figure, a split or a matching part"]
        say("\n".join([*lines, *([] if needs is None else [needs_words(*needs)])]))
    return EXIT_DONE


def _rows(obstacles: object) -> dict[str, object]:
    from fabopt.explain.why_not import Obstacles

    assert isinstance(obstacles, Obstacles)
    return {
        "lacks": [lack._asdict() for lack in obstacles.lacks],
        "lacks_only": obstacles.lacks_only,
        "let_in_by": list(obstacles.others),
    }


def _known(ids: Sequence[str], inputs: Inputs) -> list[str]:
    """The ids that are meant; ``InputError`` with all that are none."""
    known = [product.id for product in products(inputs.catalog)]
    meant = [meant_id(id_, inputs.catalog) for id_ in ids]
    names = ProductNames(inputs.catalog)
    faults = [
        fault("--why-not", "", "the catalog has no such product", id_,
              hint=hint_for(id_, known, names, KINDS, MOST_NAMED) or "`fabopt catalog list KIND` names them")
        for id_, one in zip(ids, meant, strict=True)
        if one not in known
    ]  # fmt: skip
    refuse_any(faults)
    return list(dict.fromkeys(meant))
