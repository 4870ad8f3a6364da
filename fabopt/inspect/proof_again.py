"""The inputs of a design's case, to solve it again and prove what no check can."""

from __future__ import annotations

from fabopt.floor.rack_rules import with_parts
from fabopt.inspect.quote_optimum import with_parts_of
from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.schema.catalog import Catalog
from fabopt.schema.default_rules import RACK_SPREAD
from fabopt.schema.design import Design
from fabopt.wiring.design_file import Embedded


def inputs_again(design: Design, catalog: Catalog) -> Inputs:
    """The case of a design with what it is without asked for again, on a catalog with the design's own parts."""
    case = Embedded(design).case
    keys = [row.part.rpartition(".")[2] for row in design.rules_left_out if row.rule == RACK_SPREAD]
    return inputs_from_objects(with_parts(case, dict.fromkeys(keys, True)), with_parts_of(design, catalog))
