"""How far links run where a case says it, by kind."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Metres, Strict


class Distances(Strict):
    """Flat cable lengths in metres; those left out follow from the size of the groups (``lengths`` of ``rules``)."""

    server_leaf: Annotated[Metres | None, Field(alias="server-leaf")] = None
    leaf_spine: Annotated[Metres | None, Field(alias="leaf-spine")] = None
    spine_core: Annotated[Metres | None, Field(alias="spine-core")] = None
    leaf_leaf: Annotated[Metres | None, Field(alias="leaf-leaf", exclude_if=is_open)] = None
    attachment_leaf: Annotated[Metres | None, Field(alias="attachment-leaf")] = None
    attachment_spine: Annotated[Metres | None, Field(alias="attachment-spine", exclude_if=is_open)] = None
