"""Every key of a case that can rule out designs is known where a *no* is explained, or says here why it is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabopt.schema.case import Case
from tests.test_schema_words import models_of
from tests.verify.test_keys import read_in

TOLD = "is told beside a design, and rules out none"
OPERATED = "is of the plan of a running fabric, which `fabopt.operate` proves when it is made"
MONEY = "is a part of what a design costs: what would have to move is the limit on it"
WORTH = "is of worths in the books, which are shown and decide nothing"
FUTURE = "weighs or prices a future: the limit that it does not meet is what would have to move"
MEANING = "says what is compared, or what a number of the case means, and rules out nothing"
NEED = "makes the bandwidth that is needed, whose lever is that of the demand or of the step"
BOUNDARY = "is read under the names of boundaries, tier by tier (`explain.demands.boundaries`)"
GEOMETRY = "makes the runs of a floor: what would have to move are racks, distances or parts that are longer"
ROOM = "makes the room of racks: what would have to move are racks, or the rule of racks that counts it"
RULE = "is read as a part of the rule of racks (`floor.rack_rules.parts_of`), each by its key"
SHARED = "makes what a host's port carries: what would have to move is the demand of the host or of what it carries"
COUNTED = "makes the number or the speed of ports of an attachment, whose levers are the switches that they are on"
LOAD = "is read as a limit on what racks and rows take (`floor.loads.RACK_LIMITS`), each by its key"
LENGTHS = "has its conflict where lengths are chosen (`solution.few_lengths`), with the fewest that would do"
FILL = "has its conflict where cables are too thick (`solution.room_for_cables`), with what they need"
TRUNKS = "is read as a part of `site.cabling`, whose conflict is `explain.cabling`"
PERIOD = "is read as a budget of a period (`explain.limits`), by the name of its kind"
CHECKED = "is refused when the case is read where nothing could keep it (exit 2)"

# By class, its keys; * is all of the class that are not read.
WITHOUT_LEVER: Mapping[str, Mapping[str, str]] = {
    "Case": {"description": TOLD, "prices": MONEY, "have": MONEY, "charges": MONEY, "scenarios": FUTURE,
             "operate": OPERATED, "maximize": MEANING, "max_lengths": LENGTHS},
    "Base": {"*": CHECKED}, "Joins": {"*": CHECKED}, "MovePrices": {"*": MONEY},
    "LengthLimits": {"product": LENGTHS},
    "Site": {"labour": MONEY, "routes": GEOMETRY},
    "CablingOfKinds": {"*": TRUNKS},
    "Charge": {"*": MONEY}, "Labour": {"*": MONEY}, "TaskMinutes": {"*": MONEY},
    "PriceSource": {"*": TOLD}, "Source": {"*": TOLD},
    "Stage": {"probability": FUTURE}, "GrowthScenario": {"*": FUTURE},
    "Workload": {"profile": NEED, "gpu_utilization": NEED, "software": NEED, "spreading": NEED,
                 "other_jobs": NEED, "scenarios": NEED, "gpus_per_domain": NEED, "measured_gpus": NEED,
                 "task": NEED, "prompt_tokens": NEED, "output_tokens": NEED, "cached_share": NEED, "kv_bytes": NEED,
                 "ttft_ms": NEED, "tpot_ms": NEED, "prefill": NEED},
    "Prefill": {"*": NEED}, "Job": {"*": NEED},
    "Model": {"*": NEED}, "Architecture": {"*": NEED}, "Experts": {"*": NEED}, "LatentAttention": {"*": NEED},
    "Window": {"*": NEED}, "LinearAttention": {"*": NEED}, "SparseAttention": {"*": NEED},
    "Formats": {"*": NEED}, "Plan": {"*": NEED}, "Overlap": {"*": NEED}, "PlanChanges": {"*": NEED},
    "Within": {"*": NEED}, "QueuePairs": {"*": NEED}, "OtherJob": {"*": NEED},
    "Scenario": {"*": NEED}, "StorageDemand": {"*": NEED},
    "Fabric": {"spines": "has one value since 0.3", "oob": COUNTED,
               "isolation": SHARED, "shared_port": SHARED, "host": SHARED, "carries": SHARED},
    "OutOfBand": {"*": COUNTED},
    "Carried": {"isolation": SHARED, "shared_port": SHARED, "max_oversubscription_leaf": BOUNDARY,
                "max_oversubscription_spine": BOUNDARY},
    "Attachment": {"counts_in_ratio": COUNTED, "boxes": COUNTED, "gbps": COUNTED, "split": COUNTED,
                   "lane_gbps": COUNTED, "stands": ROOM,
                   "weight_kg": "is a load of its racks, whose limits are the levers"},
    "Roce": {"mtu": CHECKED},
    "Floor": {"rack_pitch_m": GEOMETRY, "rack_depth_m": GEOMETRY, "aisle_m": GEOMETRY, "tray_height_m": GEOMETRY,
              "drop_m": GEOMETRY, "slack_m": GEOMETRY, "cross_trays": GEOMETRY, "network_racks": ROOM,
              "rack_power_w": LOAD, "rack_air_w": LOAD, "row_air_w": LOAD, "rack_kg": LOAD, "floor_kg_m2": LOAD,
              "outlets_c13": LOAD, "outlets_c15": LOAD, "outlets_c19": LOAD, "power_strip": TOLD,
              "network_outlets_c13": LOAD, "network_outlets_c15": LOAD, "network_outlets_c19": LOAD,
              "network_power_strip": TOLD,
              "air_dt_k": TOLD, "tray_width_mm": FILL, "tray_depth_mm": FILL, "tray_fill": FILL,
              "manager_width_mm": FILL, "manager_depth_mm": FILL, "manager_fill": FILL},
    "CampusHall": {"*": "has the levers of a floor, in all halls at once"},
    "Route": {"exits": GEOMETRY, "pairs": GEOMETRY, "duct": MEANING},
    "RackRules": {"*": RULE},
    "CaseLimits": {"quarterly_budget_usd": PERIOD, "yearly_budget_usd": PERIOD},
    "Finance": {"depreciation_years": WORTH, "*": MONEY}, "Payment": {"*": MONEY}, "Rate": {"*": MONEY},
    "Growth": {"recabling": MONEY, "usd_per_moved_cable": MONEY, "minutes_per_moved_cable": TOLD,
               "trunks": MONEY},
    "Procurement": {"spares": MONEY}, "Spares": {"*": MONEY},
    "Operate": {"*": OPERATED}, "NameTemplates": {"*": OPERATED}, "Queues": {"*": OPERATED},
}  # fmt: skip


def unread() -> Iterator[tuple[str, str]]:
    """(Class, key) of every key of a case that neither ``fabopt.explain`` reads nor a record whose levers it makes."""
    read = set(read_in("explain", "rules"))
    for model in models_of(Case, {}):
        for name, field in model.model_fields.items():
            if not {name, field.alias} & read:
                yield model.__name__, name


def test_every_key_of_a_case_has_a_lever_or_says_why_not() -> None:
    told = {(model, name if name in WITHOUT_LEVER.get(model, {}) else "*") for model, name in unread()}
    assert {(model, name) for model, names in WITHOUT_LEVER.items() for name in names} == told
