"""The inputs of a design's case, to solve it again and prove optimality, which no check can."""

from __future__ import annotations

from pathlib import Path

from fabopt.errors import InputError, fault
from fabopt.inspect.quote_optimum import with_parts_of
from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.io.library import is_path
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Design
from fabopt.wiring.design_file import Embedded


def inputs_again(design: Design, catalog: Catalog, file: str) -> Inputs:
    """The case that a design was asked for, on a catalog with the design's own parts.

    Price books are looked up beside ``file``, that of the design, else in the working folder. Raises ``InputError``
    where the file does not say how the case was written.
    """
    asked = Embedded(design).asked
    if asked is None:
        text = "is not there: points of studies, and files of before 0.3.0, do not say how their case was written"
        raise InputError([fault(file, "case.asked", text, hint="solve the case itself with `fabopt solve`")])
    books = filter(is_path, (*asked.prices, *asked.only_priced_by))
    beside = Path(file).parent
    base = beside if all((beside / book).exists() for book in books) else Path()
    return inputs_from_objects(asked, with_parts_of(design, catalog), base=base)
