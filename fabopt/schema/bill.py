"""The bill of a design file."""

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Strict, is_as, is_open
from fabopt.schema.product import ChargeWord

Number = int | float
# Bill rows of kind ``other`` that are no charge: the work of moving a cable that an earlier stage put in place, and of
# giving a device in service another role, or taking it out.
MOVED_CABLE = "moved-cable"
MOVED_DEVICE = "moved-device"
MOVED_DESCRIPTION = {
    MOVED_CABLE: "moving a cable in place to another port",
    MOVED_DEVICE: "moving a device in service, or taking it out",
}


class BomRow(Strict):
    """One line to order.

    Always quantity + from_stock + from_earlier = in_use + spares + beyond_need.

    Attributes:
        stage: Stage that buys it.
        fabric: Fabric that it is for.
        kind: Kind of part.
        id: Id of the product.
        part_number: Part number to order it by.
        description: What it is.
        length_m: Length, in metres.
        quantity: Units bought.
        in_use: Units built in; fewer than bought where a price break makes more units cheaper.
        unit_price_usd: Price of a unit at the break that the order reaches, in US dollars.
        total_usd: Price of the line, in US dollars.
        power_w: Power of the units in use, in watts.
        spares: Units kept as spares.
        single_price_usd: Price of a single unit at the stage, in US dollars.
        break_from: First quantity of the break that the order reaches.
        present_value_usd: Present value of the line, in US dollars.
        lead_time_weeks: Weeks from order to delivery.
        order_by_month: Month by which it has to be ordered.
        order_by: Day by which it has to be ordered, where the case says when month 0 is.
        charge: What a line is that is no part.
        yearly_usd: What it costs every year, in US dollars; no other sum has that.
        expedite_usd: Surcharge for a shorter lead time in the unit price, in US dollars.
        from_stock: Units of the line that are owned: in service (`base`), then on hand (`have`).
        from_earlier: Units of the line that earlier orders have left.
        beyond_need: Units ordered beyond the stage's need.
        sold_by: Vendor whose offer is bought.
    """

    stage: str
    fabric: str
    kind: Literal["switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server", "other"]
    id: str
    part_number: str
    description: str
    length_m: Number | None = None
    quantity: int
    in_use: int
    unit_price_usd: Number
    total_usd: Number
    power_w: Number
    spares: int = 0
    single_price_usd: Number | None = None
    break_from: int | None = None
    present_value_usd: Number | None = None
    lead_time_weeks: Number | None = None
    order_by_month: Number | None = None
    order_by: str | None = None
    charge: Annotated[ChargeWord | None, Field(exclude_if=is_open)] = None
    yearly_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    expedite_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    from_stock: Annotated[int, Field(exclude_if=is_as(0))] = 0
    from_earlier: Annotated[int, Field(exclude_if=is_as(0))] = 0
    beyond_need: Annotated[int, Field(exclude_if=is_as(0))] = 0
    sold_by: Annotated[str | None, Field(exclude_if=is_open)] = None
