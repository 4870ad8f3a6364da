"""Reports of programs that really ran: ``ibnetdiscover`` on a simulated fabric, ``lldpd`` between network namespaces.

They are skipped where programs are missing; with ``CI=true``, where ``.ci/run`` has installed them, they fail instead.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from fabopt.inspect.as_built import as_built
from fabopt.inspect.cabling import Names
from fabopt.inspect.planned import NO_PORT
from fabopt.inspect.reading import read, recognised
from fabopt.inspect.to_do import WantedCables
from fabopt.wiring.build import wiring_of
from tests.samples.as_built import looked_at, pairs, repaired, wired
from tests.samples.discoveries import Link, is_switch, planned_links, shuffled, simulated_net
from tests.samples.small import case, catalog, product, solved
from tests.samples.system_parts import require, without

NAME = "dgx-superpod-32"
PATIENCE_S = 30
SIMULATOR_PATH = ("ibsim", "ibnetdiscover", "iblinkinfo")
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


@pytest.mark.long
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
        forms = (
            ("ibnetdiscover",),
            ("ibnetdiscover", "-g"),
            ("ibnetdiscover", "-p"),
            ("iblinkinfo",),
            ("iblinkinfo", "-l"),
        )
        texts = [ran(*words, LD_PRELOAD=str(library), **own) for words in forms]
    result, *others = [looked_at(NAME, recognised(text, "real", "real")) for text in texts]
    assert all(other.findings == result.findings for other in others)
    wrong = pairs(planned) ^ pairs(there)
    named = {port for finding in result.findings for port in (finding.a, finding.b, *finding.seen)}
    assert named == {port for pair in wrong for port in pair}
    assert repaired(there, result.repairs) == pairs(planned)


def is_reached(links: list[Link]) -> bool:
    """Whether all adapters are on switches: others cannot be discovered."""
    return all(any(map(is_switch, link)) for link in links)


DEVICES = ("compute-leaf-001", "server-0001", "alone")
FORMATS = ("json", "json0", "keyvalue")
Interface = tuple[str, str]


@contextlib.contextmanager
def joined(devices: Sequence[str], cables: Iterable[tuple[Interface, Interface]]) -> Iterator[dict[str, Path]]:
    """A network namespace for each device, joined by cables between (device, interface); yields the socket of the
    ``lldpd`` that runs in each.
    """
    require(LLDP_PATH)
    spaces = {device: f"fabopt-{os.getpid()}-{number}" for number, device in enumerate(devices)}
    with contextlib.ExitStack() as stack:
        for space in spaces.values():
            stack.callback(subprocess.run, ["ip", "netns", "del", space], capture_output=True, check=False)
        try:
            for space in spaces.values():
                ran("ip", "netns", "add", space)
        except subprocess.CalledProcessError as error:
            without(f"network namespaces cannot be made here: {error.stderr}")
        for (near, port), (far, far_port) in cables:
            names = ("name", port, "netns", spaces[near], "type", "veth", "peer", "name", far_port)
            ran("ip", "link", "add", *names, "netns", spaces[far])
            for device, name in ((near, port), (far, far_port)):
                ran("ip", "-n", spaces[device], "link", "set", name, "up")
        # The daemon is another user, who has to reach its socket.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o777)
        for device, space in spaces.items():
            hosts = folder / f"{device}.hosts"
            hosts.write_text(f"127.0.0.1 localhost\n127.0.1.1 {device}\n")
            script = f"mount --bind {hosts} /etc/hosts; hostname {device}; exec lldpd -d -u {folder / device}"
            words = ("ip", "netns", "exec", space, "unshare", "-u", "-m", "bash", "-c", script)
            stack.enter_context(running(*words, folder=folder))
        until = time.monotonic() + PATIENCE_S
        for device in devices:
            for setting in (("lldp", "portidsubtype", "ifname"), ("lldp", "tx-interval", "1")):
                configure(folder / device, setting, until)
        yield {device: folder / device for device in devices}


def met(sockets: Mapping[str, Path], expected: Mapping[str, set[str]]) -> None:
    """Wait until every device has heard of the neighbours that it has.

    A daemon sends nothing until a program of its own has read its settings, which may be late on a busy machine.
    """
    until = time.monotonic() + PATIENCE_S
    waiting = set(expected)
    while waiting and time.monotonic() < until:
        for device in sockets:
            for command in ("resume", "update"):
                ran("lldpcli", "-u", str(sockets[device]), command)
        time.sleep(0.2)
        waiting = {device for device in waiting if heard(sockets[device]) != expected[device]}
    assert not waiting, {device: heard(sockets[device]) for device in waiting}


def heard(socket: Path) -> set[str]:
    """Interfaces of a device on which a neighbour is known."""
    pattern = re.compile(r"^lldp\.([^.]+)\.port\.ifname=", re.MULTILINE)
    return set(pattern.findall(neighbours(socket, "keyvalue")))


@pytest.mark.long
def test_reports_of_lldpd(tmp_path: Path) -> None:
    """One neighbour and none, in each format that ``lldpcli`` writes."""
    with joined(DEVICES, [((DEVICES[0], "swp1s0"), (DEVICES[1], "nic1p1"))]) as sockets:
        met(sockets, {DEVICES[0]: {"swp1s0"}})
        for kind in FORMATS:
            (tmp_path / kind).mkdir()
            (tmp_path / kind / f"compute-leaf-001.{kind}").write_text(neighbours(sockets[DEVICES[0]], kind))
            report = next(read([str(tmp_path / kind)]))
            assert report.reporters == {"compute-leaf-001"}
            assert [(one.near.ports, one.far.device, one.far.ports) for one in report.sightings] == [
                (("swp1s0",), "server-0001", ("nic1p1",))
            ]
        for kind in ("json", "json0"):
            report = recognised(neighbours(sockets["alone"], kind), "alone.json", "alone")
            assert not list(report.sightings) and report.reporters == {"alone"}


@pytest.mark.long
def test_faults_between_eleven_switches(tmp_path: Path) -> None:
    """Eight leaves and three spines with cables exchanged and missing, as daemons on the switches report them."""
    parts = catalog()
    parts["switches"] = [product(parts, "lean")]
    design = solved(case({"min_gbps_per_gpu": 400}), parts)
    wiring = wiring_of(design)
    planned = [link for link in planned_links(wiring) if all(map(is_switch, link))]
    there = shuffled(planned, 2, 1, 0, random.Random(7))
    switches = sorted({port.device for link in planned for port in link})
    assert len(switches) == 11
    cables = [((a.device, a.port), (b.device, b.port)) for a, b in there]
    plugged = {device: {port for ends in cables for name, port in ends if name == device} for device in switches}
    with joined(switches, cables) as sockets:
        met(sockets, plugged)
        for number, device in enumerate(switches):
            kind = FORMATS[number % len(FORMATS)]
            (tmp_path / f"{device}.{kind}").write_text(neighbours(sockets[device], kind))
    result = as_built(WantedCables(design, wiring, 0), read([str(tmp_path)]), Names())
    wrong = pairs(planned) ^ pairs(there)
    named = {port for finding in result.findings for port in (finding.a, finding.b, *finding.seen)}
    assert {port for port in named if is_switch(port)} == {port for pair in wrong for port in pair}
    assert {port.device for port in named if port != NO_PORT and not is_switch(port)} == {
        f"server-{number:04}" for number in range(1, 7)
    }
    assert repaired(there, result.repairs) == pairs(planned)


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
