"""Times of paths by part: published budgets to the last digit, round trips by hand, and what is not known."""

from __future__ import annotations

import pytest

from fabopt.io.catalog import named_catalogs
from fabopt.parts.latency import PathStep, bandwidth_delay_bytes, known_ns, round_trip_ns, serialisation_ns

FACTS = {(row.part, row.of): row.ns for row in named_catalogs(["reference"]).facts.latency}
FIBRE, COPPER = FACTS["metre", "fibre"], FACTS["metre", "copper"]


@pytest.mark.parametrize(("metres", "per_m", "ns"), [(3, COPPER, 477.6), (10, FIBRE, 549.2)])
def test_scale_up_ethernet_adds_up(metres: float, per_m: float, ns: float) -> None:
    """Broadcom RM104, appendix A, one way: bridges 100, links of endpoints 100, the switch 250, and two cables."""
    steps = [
        PathStep("nic", "", 2, 50),
        PathStep("fec", "", 2, 50),
        PathStep("switch", "", 1, 250),
        PathStep("metre", "", 2 * metres, per_m),
    ]
    assert known_ns(steps) == ns


def test_a_link_of_100_gbps_a_lane() -> None:
    """IEEE 802.3dj contributions: the module's processor 100, the host's FEC 100, together 200; 200 Gb/s a lane 230."""
    assert FACTS["module", "100"] + FACTS["fec", "100"] == 200
    assert FACTS["fec", "200"] == 230


@pytest.mark.parametrize(
    ("metres", "us"), [(100, 0.50), (350, 1.74), (500, 2.48), (2000, 9.92), (10_000, 49.6), (80_000, 397)]
)
def test_fibre_one_way(metres: float, us: float) -> None:
    assert known_ns([PathStep("metre", "fibre", metres, FIBRE)]) / 1000 == pytest.approx(us, rel=0.01)


def test_sending_and_what_fills_a_path() -> None:
    assert round(serialisation_ns(4096, 400)) == 82 and round(serialisation_ns(9216, 100)) == 737
    assert bandwidth_delay_bytes(400, 10_000) == 500_000


def test_a_round_trip_by_hand() -> None:
    """2 x (3 x 700 + 100 x 4.96 + 4 x 100) + 2 x 550 + (4096 + 64) x 8 / 400 = 5,992 + 1,100 + 83.2."""
    steps = [
        PathStep("nic", "", 2, 550), PathStep("switch", "leaf", 2, 700), PathStep("switch", "spine", 1, 700),
        PathStep("metre", "fibre", 100, 4.96), PathStep("module", "100", 4, 100), PathStep("cable", "XYZ", 4, None),
    ]  # fmt: skip
    assert round_trip_ns(steps, 400) == pytest.approx(5992 + 1100 + 83.2)
    assert known_ns(steps) == pytest.approx(1100 + 2100 + 496 + 400)
