"""The power of every rack by feed, with one feed lost, and the outlets of its power strips."""

from __future__ import annotations

from collections import Counter

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.halls import Hall, hall_of, unknown_words
from fabopt.output.export.sheets import csv_file
from fabopt.schema.floor import Floor
from fabopt.schema.product import OUTLETS
from fabopt.wiring.design_file import Embedded

POWER_COLUMNS = (
    *("rack", "feed_a_w", "feed_b_w", "one_feed_w", "breaker_share", "outlets_c13", "outlets_c19"),
    *("limit_w", "unknown", "outlets_c15", "outlets_there", "pdu"),
)
# Sources differ on the outlets of the one power strip that they name (18 C19 and 6 C13, or 12 and 24), so the catalog
# has none: a case says them.
NO_STRIP = "unknown"


def files_of(asked: Exported) -> Files:
    """``power.csv``."""
    feeds = Embedded(asked.design).case.site.rack_rules.feeds
    return {"power.csv": csv_file(power_table(hall_of(asked), feeds))}


def power_table(hall: Hall, feeds: int) -> Frame:
    """One row a rack with ``POWER_COLUMNS``: each feed's share in use, and all on one at makers' maximum."""
    rows = []
    for rack, devices in hall.by_rack.items():
        used_w = sum(device.power_w for device in devices)
        most_w = sum(device.most_w for device in devices)
        outlets: Counter[str] = Counter()
        for device in devices:
            outlets.update({OUTLETS[inlet]: number for inlet, number in device.inlets.items()})
        part, strip = hall.floor.part_of(rack), hall.floor.part_of(rack).power_strip
        if rack not in hall.server_racks:
            part, strip = part.without_servers, part.network_power_strip or strip
        share = None if part.rack_power_w is None else round(most_w / part.rack_power_w, 4)
        rest_w = used_w - used_w / feeds
        amounts = round(used_w - rest_w, 3), round(rest_w, 3), round(most_w, 3)
        counts = outlets["C13"], outlets["C19"]
        unknown = unknown_words(devices, "inlets")
        there, strips = _outlets_there(part) or NO_STRIP, strip or NO_STRIP
        if any(device.is_of_whole for device in devices):
            there = strips = "in the rack as it is sold"
        row = (rack, *amounts, share, *counts, part.usable_power_w, unknown, outlets["C15"], there, strips)
        rows.append(row)
    return frame_of(POWER_COLUMNS, rows)


def _outlets_there(floor: Floor) -> str:
    """Outlets of the strips of a rack by type, as far as the case says them: ``24 C13, 6 C19``."""
    there = {outlet: getattr(floor, f"outlets_{outlet.lower()}") for outlet in OUTLETS.values()}
    return ", ".join(f"{number} {outlet}" for outlet, number in there.items() if number is not None)
