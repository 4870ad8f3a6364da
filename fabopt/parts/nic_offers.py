"""NICs of one product that several vendors sell, as one way to equip servers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from fabopt.parts.lookup import Lookup
from fabopt.parts.nics import NicOption
from fabopt.parts.offering import Offering


def of_all_vendors(options: tuple[NicOption, ...], offering: Offering) -> tuple[NicOption, ...]:
    """The options, those that differ in nothing but the vendor of one product merged into one with all its offers.

    The number of NICs by vendor is left to the program. Rule ``nics_are_of_one_product``.
    """
    base_ids = {nic.id: nic.base_id for nic in offering.offered.nics if nic.sold_by is not None}
    alike: dict[Hashable, list[NicOption]] = {}
    for option in options:
        name = base_ids.get(option.nic_id, option.nic_id)
        key = (name, option.nics_per_server, option.group, option.split, option.ports_per_nic, option.planes,
               option.port, option.topology, option.apart, option.dual, option.breaks)  # fmt: skip
        alike.setdefault(key, []).append(option)
    if len(alike) == len(options):
        return options
    return _OF_ALL_VENDORS.of(offering, options, lambda: tuple(map(_with_offers, alike.values())))


def are_sold(option: NicOption, ids: Iterable[str]) -> bool:
    """Whether NICs of all these ids can be bought for a way to equip servers."""
    return {*ids} <= {option.nic_id, *(offer.id for offer in option.offers)}


_OF_ALL_VENDORS: Lookup[Offering, tuple[NicOption, ...], tuple[NicOption, ...]] = Lookup()


def _with_offers(alike: Sequence[NicOption]) -> NicOption:
    offers = tuple(option.item for option in alike if option.item is not None)
    return replace(alike[0], offers=offers) if len(offers) > 1 else alike[0]
