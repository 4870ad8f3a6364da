"""The wirings of a pod and of what it joins, as one."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from fabopt.wiring.model import NOTHING, Cables, Devices, Links, Modules, Wiring, stacked, taken

Staged = TypeVar("Staged", Devices, Links, Cables, Modules)


def together(pod: Wiring, live: Wiring) -> Wiring:
    """What is in service and the pod that joins it in one wiring; the spines of both are there once.

    What is in service is there from the first stage on.
    """
    place = {name: row for row, name in enumerate(live.devices.name)}
    new = [row for row, name in enumerate(pod.devices.name) if name not in place]
    place |= {pod.devices.name[row]: len(live.devices) + at for at, row in enumerate(new)}
    device = np.array([place[name] for name in pod.devices.name], dtype=np.int64)
    names = tuple(dict.fromkeys((*live.fabrics, *pod.fabrics)))
    protocols = dict(zip((*pod.fabrics, *live.fabrics), (*pod.protocols, *live.protocols), strict=True))
    fabric = np.array([names.index(name) for name in pod.fabrics], dtype=np.int64)
    links, modules, lent = pod.links, pod.modules, pod.lent
    cable = np.where(links.cable == NOTHING, NOTHING, links.cable + len(live.cables))
    links = replace(links, a=device[links.a], b=device[links.b], cable=cable, fabric=fabric[links.fabric])
    modules = replace(modules, device=device[modules.device], fabric=fabric[modules.fabric])
    return Wiring(
        names,
        tuple(protocols[name] for name in names),
        stacked(_at_first(live.devices), taken(pod.devices, np.array(new, dtype=np.int64))),
        stacked(_at_first(live.links), links),
        stacked(_at_first(live.cables), replace(pod.cables, fabric=fabric[pod.cables.fabric])),
        stacked(_at_first(live.modules), modules),
        replace(lent, link=lent.link + len(live.links), b=device[lent.b]),
    )


def _at_first(table: Staged) -> Staged:
    return replace(table, stage=np.zeros_like(table.stage))
