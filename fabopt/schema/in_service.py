"""What is in service, which a case goes on from: the key ``base``."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from pydantic import Field

from fabopt.schema.base import Reference, Strict, is_open

# The first stage of a case with a base.
IN_SERVICE = "in-service"


class Base(Strict):
    """What is in service: its devices, cables, ports and names stay, and are no cost.

    Attributes:
        file: Path of the design that is in service: at its last stage, or as `FILE@stage` at an earlier one.
        sha256: SHA-256 of that file; filled in when it is read.
        design: What the design says; filled in when it is read.
    """

    file: Reference
    sha256: Annotated[str | None, Field(exclude_if=is_open)] = None
    design: Annotated[dict[str, Any] | None, Field(exclude_if=is_open)] = None

    @property
    def stage(self) -> int:
        """The stage of the design that is in service, from 0."""
        names = [stage["name"] for stage in (self.design or {}).get("stages", ())]
        said = self.file.rpartition("@")[2]
        return names.index(said) if said in names else len(names) - 1

    @property
    def owned(self) -> dict[str, int | dict[float, int]]:
        """Units of parts in service with their spares, by id, and by length in metres of what is sold by length."""
        units: Counter[tuple[str, float | None]] = Counter()
        there = [stage["name"] for stage in (self.design or {}).get("stages", ())][: self.stage + 1]
        for row in (self.design or {}).get("bom", ()):
            if row["kind"] != "other" and row["stage"] in there:
                units[row["id"], row.get("length_m")] += row["in_use"] + row.get("spares", 0)
        parts: dict[str, int | dict[float, int]] = {}
        for (part, length_m), count in units.items():
            lengths = parts.setdefault(part, {} if length_m is not None else count)
            if isinstance(lengths, dict) and length_m is not None:
                lengths[float(length_m)] = count
        return parts
