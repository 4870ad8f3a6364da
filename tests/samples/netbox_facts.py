"""What NetBox's bulk import takes, release by release: column names, required ones, choices, cable profiles.

Sources, of the releases v4.4.10, v4.6.8 and v4.7.0-beta1 (the newest of each that was to be had):
columns   netbox/dcim/forms/bulk_import.py (``Meta.fields`` of the ``...ImportForm`` classes)
choices   netbox/dcim/choices.py
profiles  netbox/dcim/cable_profiles.py
ports     CSV forms of 4.5.0 to 4.6.5 lack ``rear_port`` (issue 22752, closed in July 2026); 4.6.8 and 4.7 have it again
lengths   netbox/dcim/models/*.py, netbox/netbox/models/__init__.py
"""

from __future__ import annotations

from typing import NamedTuple

VERSIONS = ("4.4", "4.6", "4.7")


class Form(NamedTuple):
    """Columns of an import form: those that must be there, and others that it takes in each release."""

    required: tuple[str, ...]
    optional: str
    since_46: str = ""
    since_47: str = ""

    def columns(self, version: str) -> set[str]:
        more = (self.since_46 if version >= "4.6" else "") + " " + (self.since_47 if version >= "4.7" else "")
        return {*self.required, *self.optional.split(), *more.split()}


# By the word in the file's name.
FORMS = {
    "manufacturers": Form(("name", "slug"), "description tags", "owner comments"),
    "sites": Form(
        ("name", "slug", "status"),
        "region group tenant facility time_zone description physical_address shipping_address latitude longitude "
        "comments tags",
        "owner",
    ),
    "device-roles": Form(("name", "slug"), "parent color vm_role config_template description comments tags", "owner"),
    "racks": Form(
        ("site", "name", "status"),
        "location facility_id tenant role rack_type form_factor serial asset_tag width u_height desc_units outer_width "
        "outer_height outer_depth outer_unit mounting_depth airflow weight max_weight weight_unit description comments "
        "tags",
        "group owner",
        "cooling_capability cooling_capacity",
    ),
    "device-types": Form(
        ("manufacturer", "model", "slug"),
        "default_platform part_number u_height exclude_from_utilization is_full_depth subdevice_role airflow "
        "description weight weight_unit comments tags",
        "owner",
        "cooling_method end_of_life",
    ),
    "devices": Form(
        ("role", "manufacturer", "device_type", "status", "site"),
        "name tenant platform serial asset_tag location rack position face latitude longitude parent device_bay "
        "airflow virtual_chassis vc_position vc_priority cluster description config_template comments tags",
        "owner",
        "cooling_method",
    ),
    "interfaces": Form(
        ("device", "name", "type"),
        "label parent bridge lag speed duplex enabled mark_connected wwn vdcs mtu mgmt_only description poe_mode "
        "poe_type mode vlan_group untagged_vlan tagged_vlans qinq_svlan vrf rf_role rf_channel rf_channel_frequency "
        "rf_channel_width tx_power tags",
        "owner",
        "channels channel_id",
    ),
    "rear-ports": Form(("device", "name", "type", "positions"), "label color mark_connected description tags", "owner"),
    "front-ports": Form(
        ("device", "name", "type", "rear_port", "rear_port_position"),
        "label color mark_connected description tags",
        "positions owner",
    ),
    "inventory-items": Form(
        ("device", "name", "status"),
        "label role manufacturer parent part_id serial asset_tag discovered description tags component_type "
        "component_name",
        "owner",
    ),
    "cables": Form(
        tuple(f"side_{side}_{what}" for side in "ab" for what in ("device", "type", "name")),
        "side_a_site side_b_site type status tenant label color length length_unit description comments tags",
        "side_a_power_panel side_b_power_panel profile bundle owner",
    ),
}

# Of the hundreds of interface types, those for ports of the catalog's kinds.
_TYPES_44 = (
    "1000base-t 2.5gbase-t 5gbase-t 10gbase-t 25gbase-t 1000base-x-sfp 10gbase-x-sfpp 25gbase-x-sfp28 50gbase-x-sfp56 "
    "40gbase-x-qsfpp 100gbase-x-sfpdd 100gbase-x-qsfp28 100gbase-x-qsfpdd 200gbase-x-qsfp56 200gbase-x-qsfpdd "
    "400gbase-x-qsfp112 400gbase-x-qsfpdd 400gbase-x-osfp 400gbase-x-osfp-rhs 800gbase-x-qsfpdd 800gbase-x-osfp "
    "infiniband-edr infiniband-hdr infiniband-ndr infiniband-xdr other"
)
_TYPES_46 = "1.6tbase-x-osfp1600 1.6tbase-x-osfp1600-rhs 1.6tbase-x-qsfpdd1600"
INTERFACE_TYPES = {
    "4.4": set(_TYPES_44.split()),
    "4.6": set(f"{_TYPES_44} {_TYPES_46}".split()),
    "4.7": set(f"{_TYPES_44} {_TYPES_46} channel".split()),
}
# Types to which no cable may lead (NONCONNECTABLE_IFACE_TYPES of netbox/dcim/constants.py).
NOT_CONNECTABLE = {"channel", "virtual", "lag", "bridge"}

_CABLE_TYPES = (
    "cat3 cat5 cat5e cat6 cat6a cat7 cat7a cat8 mrj21-trunk dac-active dac-passive coaxial mmf mmf-om1 mmf-om2 mmf-om3 "
    "mmf-om4 mmf-om5 smf smf-os1 smf-os2 aoc power usb"
)
CABLE_TYPES = set(_CABLE_TYPES.split())
CHOICES = {
    "sites": {"status": {"planned", "staging", "active", "decommissioning", "retired"}},
    "racks": {
        "status": {"reserved", "available", "planned", "active", "deprecated"},
        "form_factor": {"2-post-frame", "4-post-frame", "4-post-cabinet", "wall-frame", "wall-cabinet"},
        "width": {"10", "19", "21", "23"},
        "desc_units": {"true", "false"},
    },
    "device-roles": {"vm_role": {"true", "false"}},
    "device-types": {"is_full_depth": {"true", "false"}},
    "devices": {
        "status": {"offline", "active", "planned", "staged", "failed", "inventory", "decommissioning"},
        "face": {"front", "rear", ""},
    },
    "interfaces": {"enabled": {"true", "false"}, "mgmt_only": {"true", "false"}},
    "inventory-items": {
        "status": {"offline", "active", "planned", "staged", "failed", "decommissioning"},
        "component_type": {"dcim.interface"},
    },
    # PortTypeChoices, of which there are more.
    "rear-ports": {"type": {"mpo", "lc", "other"}},
    "front-ports": {"type": {"mpo", "lc", "other"}},
    "cables": {
        "status": {"connected", "planned", "decommissioning"},
        "side_a_type": {"dcim.interface", "dcim.frontport", "dcim.rearport"},
        "side_b_type": {"dcim.interface", "dcim.frontport", "dcim.rearport"},
        "length_unit": {"km", "m", "cm", "mi", "ft", "in", ""},
        "type": {*CABLE_TYPES, ""},
    },
}

# Connectors at each side, and positions of a connector there.
PROFILES = {
    **{f"single-1c{n}p": (1, 1, n) for n in (1, 2, 4, 6, 8, 12, 16)},
    **{f"breakout-1c{n}p-{n}c1p": (1, n, n) for n in (2, 4, 6, 8)},
}

LENGTHS = {
    "manufacturers": {"name": 100, "slug": 100},
    "sites": {"name": 100, "slug": 100, "description": 200},
    "device-roles": {"name": 100, "slug": 100, "color": 6},
    "racks": {"name": 100},
    "device-types": {"model": 100, "slug": 100, "part_number": 50, "description": 200},
    "devices": {"name": 64, "description": 200},
    "interfaces": {"name": 64, "description": 200},
    "rear-ports": {"name": 64, "description": 200},
    "front-ports": {"name": 64, "description": 200},
    "inventory-items": {"name": 64, "part_id": 50, "description": 200},
    "cables": {"label": 100, "description": 200},
}
