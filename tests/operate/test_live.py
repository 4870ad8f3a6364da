"""FRR on a fabric of namespaces: every session comes up, and a neighbour is reached over as many links as planned."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fabopt.operate.model import SWITCHES, OperationPlan
from fabopt.output.export.formats import Options, export
from fabopt.wiring.build import wiring_of
from tests.samples import small
from tests.samples.operate import planned
from tests.samples.system_parts import require, without

DAEMONS = Path("/usr/lib/frr")
PATIENCE_S = 90
LEAST_SWITCHES = 8


def done(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout


def asked(folder: Path, command: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(done("vtysh", "--vty_socket", str(folder), "-c", f"{command} json"))
    return answer


@contextlib.contextmanager
def running(plan: OperationPlan, files: Mapping[str, Path]) -> Iterator[Mapping[int, Path]]:
    """A namespace for each switch with its ports, and FRR in it; yields the folders of sockets by the device's row."""
    spaces = {device.row: f"fabopt{os.getpid()}-{device.row}" for device in plan.devices if device.asn}
    # the daemons are not root, and pytest's own folders are root's
    folder = Path(tempfile.mkdtemp(prefix="fabopt-frr-"))
    folder.chmod(0o755)
    sockets = {row: folder / str(row) for row in spaces}
    try:
        for row, space in spaces.items():
            sockets[row].mkdir()
            sockets[row].chmod(0o777)
            done("ip", "netns", "add", space)
            done("ip", "-n", space, "link", "set", "lo", "up")
        for link in plan.links:
            if link.a.device in spaces and link.b.device in spaces:
                near, far = spaces[link.a.device], spaces[link.b.device]
                done("ip", "link", "add", link.a.name, "netns", near, "type", "veth", "peer", "name", link.b.name,
                     "netns", far)  # fmt: skip
                done("ip", "-n", near, "link", "set", link.a.name, "up")
                done("ip", "-n", far, "link", "set", link.b.name, "up")
        for row, space in spaces.items():
            own = sockets[row]
            for daemon in ("zebra", "bgpd"):
                start = ["-d", "-i", str(own / f"{daemon}.pid"), "-z", str(own / "zserv.api"), "-f", os.devnull]
                done("ip", "netns", "exec", space, str(DAEMONS / daemon), *start, "--vty_socket", str(own))
            done("vtysh", "--vty_socket", str(own), "-f", str(files[plan.device_at[row].name]))
        yield sockets
    finally:
        for pid in folder.glob("*/*.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid.read_text()), 9)
        shutil.rmtree(folder, ignore_errors=True)
        for space in spaces.values():
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


@pytest.mark.long
def test_all_sessions_come_up_over_all_links(tmp_path: Path) -> None:
    """As many next hops to a neighbour's loopback as links to it, in both directions."""
    require(["ip", "vtysh"])
    if os.geteuid() != 0 or not (DAEMONS / "bgpd").exists():
        without("namespaces need root, and FRR its daemons")
    design = small.solved(small.case(servers=16))
    plan = planned(design)
    files = {path.stem: path for path in export(design, wiring_of(design), ["frr"], tmp_path, Options())}
    assert len(files) >= LEAST_SWITCHES
    links: Counter[tuple[int, int]] = Counter()
    for link in plan.links:
        if plan.device_at[link.a.device].role in SWITCHES:
            links.update([(link.a.device, link.b.device), (link.b.device, link.a.device)])
    with running(plan, files) as sockets:
        wanted = {row: sum(count for (own, _), count in links.items() if own == row) for row in sockets}
        until = time.monotonic() + PATIENCE_S
        up: dict[int, int] = {}
        while up != wanted and time.monotonic() < until:
            time.sleep(1)
            summaries = {row: asked(own, "show bgp summary").get("ipv4Unicast", {}) for row, own in sockets.items()}
            up = {row: sum(peer["state"] == "Established" for peer in summary.get("peers", {}).values())
                  for row, summary in summaries.items()}  # fmt: skip
        assert up == wanted
        for (own, other), count in links.items():
            loopback = f"{plan.device_at[other].loopback}/32"
            hops: list[Any] = []
            while len(hops) != count and time.monotonic() < until:
                routes = asked(sockets[own], f"show ip route {loopback}").get(loopback, [])
                hops = [hop for route in routes for hop in route["nexthops"] if hop.get("active")]
                time.sleep(0 if len(hops) == count else 0.5)
            assert len(hops) == count, f"{plan.device_at[own].name} to {plan.device_at[other].name}"
