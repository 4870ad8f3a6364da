"""Files to checked objects: the only place that parses YAML and JSON, and where wrong input is refused."""

from fabopt.io.case import Inputs, inputs_from_objects, read_case, read_inputs, read_price_books
from fabopt.io.catalog import read_catalog
from fabopt.io.design import read_design
from fabopt.io.references import check_catalog, check_references
from fabopt.io.workload import read_model

__all__ = [
    "Inputs",
    "check_catalog",
    "check_references",
    "inputs_from_objects",
    "read_case",
    "read_catalog",
    "read_design",
    "read_inputs",
    "read_model",
    "read_price_books",
]
