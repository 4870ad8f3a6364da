"""One direction of air a rack: which way the switches of a floor blow, and where those may stand that blow so.

Racks without servers blow one way. Where that is the servers' own, switches that are sold so stand in any rack; where
it is the other, those that are sold so stand apart, and those that are not stand with servers.
Rule ``racks_blow_one_way``. See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, get_args

import numpy as np

from fabopt.floor.racks import Mask
from fabopt.parts.procurement import airflow_of
from fabopt.rules.defaults import AIRFLOW, is_kept
from fabopt.schema.case import Case
from fabopt.schema.product import Airflow
from fabopt.schema.server import AIRFLOW_BESIDE, Server

AIRFLOWS: Final[tuple[Airflow, ...]] = get_args(Airflow)


class HallAir(NamedTuple):
    """The one way in which racks without servers blow, None: any; whether switches that blow so may share a rack with
    servers; and the way of the servers' ports, None: not known.
    """

    way: Airflow | None = None
    beside_servers: bool = True
    servers: Airflow | None = None

    def takes(self, airflows: Collection[Airflow], with_servers: Mask) -> Mask:
        """Whether racks take a switch that is sold so, shape (racks,), as ``with_servers`` is."""
        if self.way is None or self.way in airflows:
            return np.where(with_servers, self.beside_servers, True)
        return with_servers & (self.servers in airflows)


ANY_AIR: Final = HallAir()


def hall_air(case: Case, server: Server, sold: Iterable[Collection[Airflow]]) -> tuple[HallAir, ...]:
    """The ways that have to be looked at; ``sold``: the airflows of each switch on offer, none where not known.

    One way without a condition where no two devices can blow against each other. With the rule off the floor takes
    anything, and what it would take under the rule is looked at too, as nothing is dearer without a rule.
    """
    only = {way for airflows in sold if len(airflows) == 1 for way in airflows}
    beside, asked = AIRFLOW_BESIDE.get(server.ports_side or ""), airflow_of(case)
    ways: tuple[HallAir, ...] = ()
    if asked is not None:
        ways = () if beside in (None, asked) else (HallAir(asked, False),)
    elif beside is not None:
        ways = tuple(HallAir(way, way == beside, beside) for way in sorted(AIRFLOWS, key=beside.__ne__))
        ways = ways if only - {beside} else ()
    elif len(only) > 1:
        ways = tuple(map(HallAir, AIRFLOWS))
    return (ways or (ANY_AIR,)) if is_kept(case.rules, AIRFLOW) else tuple(dict.fromkeys((ANY_AIR, *ways)))
