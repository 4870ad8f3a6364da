"""Draw a two-tier fabric of a design file as SVG: every switch, every leaf-spine pair, every server group.

    fabopt solve cases/finetuning-1024-gpus.yaml --json design.json
    python docs/draw_topology.py design.json docs/img/finetuning-1024-gpus.svg

Everything in the picture is read from the design. It has a background of its own, so that it reads on light and dark
pages.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN = 1000, 500, 40
SPINE_Y, LEAF_Y, SERVER_Y = 108, 258, 388
SPINE_SIZE, LEAF_HEIGHT, SERVER_HEIGHT, GAP = (120, 38), 38, 44, 10
MOST_LEAVES, MOST_SPINES = 40, 10
# Narrower leaves have their number only.
ROOM_FOR_A_WORD = 50
INK, FADED, LINE, CARD, EDGE = "#1f2933", "#52606d", "#9fb3c8", "#f7f9fb", "#cbd2d9"
SPINE, LEAF, SERVERS = "#1d4e89", "#2a7f62", "#7b5e9e"


def text(
    x: float, y: float, words: str, size: int = 14, fill: str = INK, anchor: str = "middle", bold: bool = False
) -> str:
    weight = ' font-weight="600"' if bold else ""
    style = f'font-size="{size}" fill="{fill}" text-anchor="{anchor}"{weight}'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, words: str) -> str:
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" fill="{fill}"/>'
    return shape + text(x + width / 2, y + height / 2 + 5, words, 13, "#ffffff")


def line(x1: float, y1: float, x2: float, y2: float, width: float) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{LINE}" stroke-width="{width:g}"/>'


def middles(count: int, left: float, right: float) -> list[float]:
    step = (right - left) / count
    return [left + step * (index + 0.5) for index in range(count)]


def drawing(design: dict[str, Any]) -> str:
    fabric = design["fabrics"][0]
    one, tiers, servers = fabric["structure"], fabric["tiers"], design["stages"][-1]["servers"]
    leaves, spines = (tier["count"] for tier in tiers[:2])
    if one["tiers"] != 2 or fabric["planes"] != 1 or leaves > MOST_LEAVES or spines > MOST_SPINES:
        raise SystemExit(f"draws one plane of two tiers, up to {MOST_LEAVES} leaves and {MOST_SPINES} spines")
    groups, last = one["groups"], one.get("last_group") or one
    rails = [fabric["rails"]] * (groups - 1) + [last.get("leaves") or fabric["rails"]]
    links = [one["links_per_pair"]] * (groups - 1) + [last["links_per_pair"]]
    sizes = [one["servers_per_group"]] * (groups - 1) + [servers - (groups - 1) * one["servers_per_group"]]
    share = (WIDTH - 2 * MARGIN) / groups
    spans = [(MARGIN + index * share + GAP, MARGIN + (index + 1) * share - GAP) for index in range(groups)]
    spine_x = middles(spines, MARGIN + 120, WIDTH - MARGIN - 120)
    leaf_x = [(x, m) for (left, right), r, m in zip(spans, rails, links, strict=True) for x in middles(r, left, right)]
    parts = [line(a, LEAF_Y, b, SPINE_Y + SPINE_SIZE[1], 0.4 * m) for a, m in leaf_x for b in spine_x]
    width, height = min(SPINE_SIZE[0], (WIDTH - 2 * MARGIN - 240) / spines - GAP), SPINE_SIZE[1]
    for index, x in enumerate(spine_x, start=1):
        parts.append(box(x - width / 2, SPINE_Y, width, height, SPINE, f"spine {index}"))
    for group, (left, right) in enumerate(spans):
        per_leaf = (last if group == groups - 1 else one)["ports_per_server_per_leaf"]
        parts += group_parts(fabric, group, rails[group], sizes[group], per_leaf, (left, right))
    return svg([*captions(design, fabric, leaves, spines), *parts])


def group_parts(
    fabric: dict[str, Any], group: int, rails: int, size: int, per_leaf: int, span: tuple[float, float]
) -> list[str]:
    left, right = span
    step = (right - left) / rails
    width = step - (GAP if step > ROOM_FOR_A_WORD else 2)
    word = "leaf " if width > ROOM_FOR_A_WORD else ""
    parts = []
    for rail, x in enumerate(middles(rails, left, right), start=1):
        parts.append(line(x, LEAF_Y + LEAF_HEIGHT, x, SERVER_Y, 2.4))
        parts.append(box(x - width / 2, LEAF_Y, width, LEAF_HEIGHT, LEAF, f"{word}{group * fabric['rails'] + rail}"))
        parts.append(text(x + 6, (LEAF_Y + LEAF_HEIGHT + SERVER_Y) / 2 + 5, f"{size * per_leaf}", 13, FADED, "start"))
    parts.append(box(left + GAP / 2, SERVER_Y, right - left - GAP, SERVER_HEIGHT, SERVERS, f"{size} servers"))
    return parts


def captions(design: dict[str, Any], fabric: dict[str, Any], leaves: int, spines: int) -> list[str]:
    leaf, spine = fabric["tiers"][:2]
    m, ratio = fabric["structure"]["links_per_pair"], fabric["oversubscription"]["leaf"]
    gpus = design["stages"][-1]["gpus"]
    attached = [f"{row['count']} {row['attachment']} ports" for row in fabric["links"] if row["from"] == "attachment"]
    some = f"{m} link" if m == 1 else f"{m} links"
    down, up = f"{leaf['gbps_down']:g}G", f"{leaf['gbps_up']:g}G"
    lines = {
        68: f"spines: {spines} x {spine['id']}, {spine['down_ports']} x {up} in use",
        90: f"leaves: {leaves} x {leaf['id']}, {leaf['down_ports']} x {down} down at most, "
        f"{leaf['up_ports']} x {up} up, {ratio:.2f}:1",
        HEIGHT - 34: f"leaf - spine: every line is {some} of {up}.  server - leaf: the number is links of {down}, "
        f"{fabric['structure']['ports_per_server']} of each server.",
        HEIGHT - 14: "Drawn from the design file."
        + (f" Not drawn: {', '.join(attached)} on the leaves." if attached else ""),
    }
    title = f"{design['case']['name']}: {gpus:,} GPUs, {leaves} leaves, {spines} spines"
    return [
        text(MARGIN, 44, title, 18, INK, "start", True),
        *(text(MARGIN, y, words, 14, FADED, "start") for y, words in lines.items()),
    ]


def svg(parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">'
    )
    card = f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="10" fill="{CARD}" stroke="{EDGE}"/>'
    return "\n".join([head, card, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:3])
    target.write_text(drawing(json.loads(source.read_text())))
