"""Words that a shell completes: of folders, of the file named before, and of short lists. Nothing heavy is imported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from fabopt.output.export import ALL, FORMATS

Complete = Callable[[str], list[str]]
# As their modules have them, which take long to import; a test compares them.
PROFILES = ("pretraining", "mixed", "fine-tuning", "inference")
MINIMIZED = (
    *("capex_usd", "tco_usd", "power_w", "rack_units", "cables", "switches", "oversubscription", "latency_us"),
    "usd_per_effective_gpu",
)
MAXIMIZED = ("gbps_per_gpu", "bisection_gbps_per_gpu", "headroom_servers", "least_gpu_utilization", "gpu_utilization")
HAND_MADE = ("p2p", "dot", "netbox", "hedgehog", "counts", "ibnetdiscover", "lldp", "config_db", "clab", "topology")
PRODUCTS = ("switches", "nics", "transceivers", "cables", "fibres", "trunks", "panels", "servers")
PRODUCT_WORDS = ("switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server")
FILES = (
    "case",
    "catalog",
    "design",
    "front",
    "sensitivity",
    "price-book",
    "model",
    "expected-topology",
    *PRODUCT_WORDS,
)
# A larger file is not read while somebody waits for a word.
_MOST_BYTES = 20_000_000


def words(choices: Iterable[str]) -> Complete:
    """Completes one of a list."""
    listed = list(choices)

    def complete(incomplete: str) -> list[str]:
        return [word for word in listed if word.startswith(incomplete)]

    return complete


def cases(incomplete: str) -> list[str]:
    """Example cases, and files that may be cases."""
    return [*library("cases")(incomplete), *_files(incomplete, ".yaml", ".yml")]


def designs(incomplete: str) -> list[str]:
    """Files that may be designs or fronts."""
    return _files(incomplete, ".json")


def cases_and_designs(incomplete: str) -> list[str]:
    """Example cases, and files that may be cases or designs."""
    return list(dict.fromkeys([*cases(incomplete), *designs(incomplete)]))


def library(kind: str) -> Complete:
    """Completes a name of a folder of the library."""

    def complete(incomplete: str) -> list[str]:
        from fabopt.io.library import names

        return words(names(kind))(incomplete)

    return complete


def workloads(incomplete: str) -> list[str]:
    """Profiles, and AI models."""
    return [*words(PROFILES)(incomplete), *library("models")(incomplete)]


def products(*kinds: str) -> Complete:
    """Completes the id of a product of the catalogs that are there."""

    def complete(incomplete: str) -> list[str]:
        from fabopt.io.library import data_folder

        files = (file for kind in kinds for file in data_folder("catalogs").glob(f"*/{kind}/*.yaml"))
        return words(sorted(file.stem for file in files))(incomplete)

    return complete


def formats(incomplete: str) -> list[str]:
    """Completes the last of a list of formats with commas."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + word for word in words((*FORMATS, ALL))(last)]


def stages(incomplete: str) -> list[str]:
    """Stages of the design that is in the line."""
    import json

    # an option without its value leaves Typer without the arguments of the command
    line = os.environ.get("COMP_WORDS", "") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    for word in line.split():
        try:
            if word.endswith(".json") and os.path.getsize(word) <= _MOST_BYTES:
                listed = json.loads(Path(word).read_bytes())["stages"]
                return words(stage["name"] for stage in listed)(incomplete)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return []


def _files(incomplete: str, *endings: str) -> list[str]:
    """Files with these endings, and folders, whose path begins so."""
    head, slash, _ = incomplete.rpartition("/")
    folder = Path(head + slash)
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    paths = [
        f"{head}{slash}{entry.name}" + "/" * entry.is_dir()
        for entry in entries
        if not entry.name.startswith(".") and (entry.suffix in endings or entry.is_dir())
    ]
    return words(paths)(incomplete)
