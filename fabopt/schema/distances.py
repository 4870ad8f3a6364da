"""How far links run where a case says it, by kind."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Metres, Strict


class Distances(Strict):
    """Lengths of links in metres, where no floor is given; those left out follow from the size of the groups.

    Attributes:
        server_leaf: From servers to leaves.
        leaf_spine: From leaves to spines; also within a group of a dragonfly, and along a dimension of a torus or
            HyperX.
        spine_core: From spines to cores; also between groups of a dragonfly.
        leaf_leaf: Of peer links between two leaves. Null is as `server-leaf`, but no farther than between racks side
            by side.
        attachment_leaf: From attached devices to leaves. Null is as a given `server-leaf`.
        attachment_spine: From attached devices to spines. Null is the longer of `attachment-leaf` and a given
            `leaf-spine`.
    """

    server_leaf: Annotated[Metres | None, Field(alias="server-leaf")] = None
    leaf_spine: Annotated[Metres | None, Field(alias="leaf-spine")] = None
    spine_core: Annotated[Metres | None, Field(alias="spine-core")] = None
    leaf_leaf: Annotated[Metres | None, Field(alias="leaf-leaf", exclude_if=is_open)] = None
    attachment_leaf: Annotated[Metres | None, Field(alias="attachment-leaf")] = None
    attachment_spine: Annotated[Metres | None, Field(alias="attachment-spine", exclude_if=is_open)] = None
