"""fabopt designs the network of an AI GPU cluster: the cheapest fabric that can be bought, with proof.

    import fabopt
    result = fabopt.solve("case.yaml")
    result.design.totals.capex_usd, result.bom, result.checks

Everything is imported when it is first used, so that ``import fabopt`` costs nothing.
"""

from __future__ import annotations

from fabopt.schema import version

# not of ``typing``, which takes longer to import than all else before signals are heard
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fabopt.api import Result, solve
    from fabopt.errors import FaboptError, Fault, InfeasibleError, InputError, NoAnswerError, OutputError
    from fabopt.program.settings import Progress

__version__ = version.VERSION
__all__ = [
    "FaboptError",
    "Fault",
    "InfeasibleError",
    "InputError",
    "NoAnswerError",
    "OutputError",
    "Progress",
    "Result",
    "__version__",
    "solve",
]
_HOMES = {"Progress": "fabopt.program.settings", "Result": "fabopt.api", "solve": "fabopt.api"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'fabopt' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES.get(name, "fabopt.errors")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
