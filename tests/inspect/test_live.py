"""Reports of programs that really ran: ``ibnetdiscover`` on a simulated fabric, ``lldpd`` between network namespaces.

They are skipped where programs are missing; with ``CI=true``, where ``.ci/run`` has installed them, they fail instead.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabopt.inspect.reading import read, recognised
from tests.samples.as_built import looked_at, pairs, repaired, wired
from tests.samples.discoveries import Link, is_switch, planned_links, shuffled, simulated_net
from tests.samples.system_parts import require, without

NAME = "dgx-superpod-32"
PATIENCE_S = 30
SIMULATOR_PATH = ("ibsim", "ibnetdiscover")
LLDP_PATH = ("ip", "unshare", "lldpd", "lldpcli")


def ran(*words: str, **environment: str) -> str:
    done = subprocess.run(
        words, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE_S, check=True,
    )  # fmt: skip
    return done.stdout


@contextlib.contextmanager
def running(*words: str, folder: Path, **environment: str) -> Iterator[None]:
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            words, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            yield
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE_S)


def test_discovery_of_a_simulated_fabric(tmp_path: Path) -> None:
    """A fabric with exchanged and missing cables, as ``ibnetdiscover`` prints it: found, and put right on paper."""
    require(SIMULATOR_PATH)
    library = next(iter(sorted(Path("/usr/lib").rglob("libumad2sim.so*"))))
    planned = planned_links(wired(NAME))
    there = next(drawn for seed in range(100) if is_reached(drawn := shuffled(planned, 5, 3, 1, random.Random(seed))))
    (tmp_path / "net.txt").write_text(simulated_net(there))
    own = {"IBSIM_SOCKNAME": f"fabopt-{os.getpid()}"}
    with running("ibsim", "-s", "-n", "-N", "6000", "-S", "400", "-P", "60000", "net.txt", folder=tmp_path, **own):
        until = time.monotonic() + PATIENCE_S
        while "ready" not in (tmp_path / "log").read_text() and time.monotonic() < until:
            time.sleep(0.05)
        text = ran("ibnetdiscover", LD_PRELOAD=str(library), **own)
    result = looked_at(NAME, recognised(text, "real", "real"))
    wrong = pairs(planned) ^ pairs(there)
    named = {port for finding in result.findings for port in (finding.a, finding.b, *finding.seen)}
    assert named == {port for pair in wrong for port in pair}
    assert repaired(there, result.repairs) == pairs(planned)


def is_reached(links: list[Link]) -> bool:
    """Whether all adapters are on switches: others cannot be discovered."""
    return all(any(map(is_switch, link)) for link in links)


DEVICES = ("compute-leaf-001", "server-0001", "alone")


@pytest.fixture
def namespaces() -> Iterator[dict[str, str]]:
    """A network namespace for each device, the first two joined by a cable between planned ports."""
    require(LLDP_PATH)
    spaces = {device: f"fabopt-{os.getpid()}-{number}" for number, device in enumerate(DEVICES)}
    try:
        try:
            for space in spaces.values():
                ran("ip", "netns", "add", space)
        except subprocess.CalledProcessError as error:
            without(f"network namespaces cannot be made here: {error.stderr}")
        leaf, server, _ = spaces.values()
        ran("ip", "link", "add", "swp1s0", "netns", leaf, "type", "veth", "peer", "name", "nic1p1", "netns", server)
        for space, port in ((leaf, "swp1s0"), (server, "nic1p1")):
            ran("ip", "-n", space, "link", "set", port, "up")
        yield spaces
    finally:
        for space in spaces.values():
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


def test_reports_of_lldpd(namespaces: dict[str, str]) -> None:
    """One neighbour and none, in each format that ``lldpcli`` writes."""
    with contextlib.ExitStack() as stack:
        # The daemon is another user, who has to reach its socket.
        tmp_path = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tmp_path.chmod(0o777)
        for device, space in namespaces.items():
            hosts = tmp_path / f"{device}.hosts"
            hosts.write_text(f"127.0.0.1 localhost\n127.0.1.1 {device}\n")
            script = f"mount --bind {hosts} /etc/hosts; hostname {device}; exec lldpd -d -u {tmp_path / device}"
            words = ("ip", "netns", "exec", space, "unshare", "-u", "-m", "bash", "-c", script)
            stack.enter_context(running(*words, folder=tmp_path))
        until = time.monotonic() + PATIENCE_S
        for device in DEVICES:
            for setting in (("lldp", "portidsubtype", "ifname"), ("lldp", "tx-interval", "1")):
                configure(tmp_path / device, setting, until)
        leaf = tmp_path / DEVICES[0]
        # A daemon sends nothing until a program of its own has read its settings, which may be late on a busy machine.
        while "server-0001" not in neighbours(leaf, "json") and time.monotonic() < until:
            for device in DEVICES[:2]:
                for command in ("resume", "update"):
                    ran("lldpcli", "-u", str(tmp_path / device), command)
            time.sleep(0.2)
        assert "server-0001" in neighbours(leaf, "json"), (tmp_path / "log").read_text()
        for kind in ("json", "json0", "keyvalue"):
            (tmp_path / kind).mkdir()
            (tmp_path / kind / f"compute-leaf-001.{kind}").write_text(neighbours(leaf, kind))
            report = next(read([str(tmp_path / kind)]))
            assert report.reporters == {"compute-leaf-001"}
            assert [(one.near.ports, one.far.device, one.far.ports) for one in report.sightings] == [
                (("swp1s0",), "server-0001", ("nic1p1",))
            ]
        for kind in ("json", "json0"):
            report = recognised(neighbours(tmp_path / "alone", kind), "alone.json", "alone")
            assert (list(report.sightings), report.reporters) == ([], {"alone"})


def configure(socket: Path, setting: tuple[str, ...], until: float) -> None:
    """Configure a daemon, as soon as it listens."""
    while True:
        try:
            ran("lldpcli", "-u", str(socket), "configure", *setting)
            return
        except subprocess.CalledProcessError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def neighbours(socket: Path, kind: str) -> str:
    return ran("lldpcli", "-u", str(socket), "-f", kind, "show", "neighbors")
