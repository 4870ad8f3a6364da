"""The servers of a case that lists several, as a search left each of them."""

from typing import Annotated, Final, Literal

from pydantic import Field

from fabopt.schema.base import Strict, is_open

Number = int | float
# The key of a case that may list servers, and the kind of *what else* with another one.
SERVER: Final = "server"
# What a row with another server says of its network, before what it has more or less of than the answer.
BESIDE: Final = "; with it "
# A server of which it is proven that no design with it is cheaper than the answer, and not what the cheapest costs.
DEARER: Final = "dearer"
# Every status but that of a server that was not looked at to the end.
SETTLED: Final = ("optimal", "infeasible", DEARER)


class ServerCompared(Strict):
    """One of the servers that a case lists.

    Attributes:
        id: Id of the server.
        servers: Number of servers at the last stage.
        gpus: GPUs in these servers.
        gpus_at_work: Those of them that the case's model takes, where others are spares of its scale-up domains.
        status: Whether its best design is proven (`optimal`), found (`feasible`), ruled out (`infeasible`), proven to
            be no cheaper than the answer (`dearer`) or open (`unknown`).
        objective: What its best design comes to, in the unit of the objective. Null without one.
        bound: What no design with it is below. Null is not known.
    """

    id: str
    servers: int
    gpus: int
    gpus_at_work: Annotated[int | None, Field(exclude_if=is_open)] = None
    status: Literal["optimal", "feasible", "infeasible", "dearer", "unknown"]
    objective: Annotated[Number | None, Field(exclude_if=is_open)] = None
    bound: Annotated[Number | None, Field(exclude_if=is_open)] = None
