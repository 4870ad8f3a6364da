"""How even groups are, against servers that are dealt to groups and to racks one by one."""

from __future__ import annotations

import pytest

from fabopt.network.clos_shape import ClosShape
from fabopt.problem.problem import problem_of
from fabopt.topology.design import evenness_of
from tests.samples import small


@pytest.mark.parametrize("per_rack", (None, 1, 2, 4, 5, 12, 20))
@pytest.mark.parametrize("g", (1, 3, 4, 5, 9, 12))
def test_groups_and_racks_are_counted(g: int, per_rack: int | None) -> None:
    servers = 12
    given = small.inputs(small.case(servers=servers, site={"servers_per_rack": per_rack} if per_rack else {}))
    shape = ClosShape(servers=servers, ports=2, planes=1, k=1, g=g)
    groups = [server // g for server in range(servers)]
    sizes = [groups.count(group) for group in set(groups)]
    racks = [groups[first : first + per_rack] for first in range(0, servers, per_rack)] if per_rack else []
    expected = (0, max(sizes) - min(sizes), sum(len(set(rack)) > 1 for rack in racks))
    assert evenness_of(problem_of(given.case, given.catalog), shape)[1:] == expected


def test_a_last_group_of_its_own_comes_after_all_equal_groups() -> None:
    """Five servers as 4 + 1 in equal groups before 3 + 2, if the two have leaves of their own."""
    given = small.inputs(small.case(servers=5))
    problem = problem_of(given.case, given.catalog)
    alike = evenness_of(problem, ClosShape(servers=5, ports=2, planes=1, k=1, g=4))
    own = evenness_of(problem, ClosShape(servers=5, ports=2, planes=1, k=1, g=3, own_k=2, own_u=1))
    assert (alike.own_last, alike.spread) < (own.own_last, own.spread) == (1, 1)
