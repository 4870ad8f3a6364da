"""One direction of air a rack: which way the switches of a floor blow, and where those may stand that blow so.

All switches of a floor whose airflow is known blow one way. They share racks with servers where that is the way of the
servers' ports; else they stand in racks without servers. Rule ``racks_blow_one_way``. See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, get_args

from fabopt.parts.procurement import airflow_of
from fabopt.rules.defaults import AIRFLOW, is_kept
from fabopt.schema.case import Case
from fabopt.schema.product import Airflow
from fabopt.schema.server import AIRFLOW_BESIDE, Server

AIRFLOWS: Final[tuple[Airflow, ...]] = get_args(Airflow)


class HallAir(NamedTuple):
    """The one way in which switches of a floor blow, None: any; and whether such switches may share a rack with
    servers.
    """

    way: Airflow | None = None
    beside_servers: bool = True

    def takes(self, airflows: Collection[Airflow]) -> bool:
        """Whether a switch that is sold so, not known where there are none, may be on the floor."""
        return self.way is None or not airflows or self.way in airflows


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
        ways = tuple(HallAir(way, way == beside) for way in sorted(AIRFLOWS, key=beside.__ne__))
        ways = ways if only - {beside} else ()
    elif len(only) > 1:
        ways = tuple(map(HallAir, AIRFLOWS))
    return (ways or (ANY_AIR,)) if is_kept(case.rules, AIRFLOW) else tuple(dict.fromkeys((ANY_AIR, *ways)))
