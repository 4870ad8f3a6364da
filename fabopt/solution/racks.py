"""Notes on the parts of the default rules of racks that an answer keeps."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.floor.rack_rules import keys_without_racks, parts_of, rule_of
from fabopt.rules.defaults import DEFAULT_RULES, RACK_RULES, RACK_SPREAD
from fabopt.schema.case import Case
from fabopt.units import some


def rack_notes(asked: Case, answered: Case) -> Iterator[str]:
    """Servers in a rack, if the power of NICs limits them; each rack rule that holds, with its keys that bind the
    answer.
    """
    if asked.site.servers_per_rack is None and answered.site.servers_per_rack is not None:
        servers = some(answered.site.servers_per_rack, "server")
        yield f"`site.servers_per_rack`: {servers}, as a rack has no power for one more with its NICs and their modules"
    kept = parts_of(answered)
    for name in (RACK_RULES, RACK_SPREAD):
        keys = ", ".join(f"`{key}`" for key in kept if rule_of(key) == name)
        if keys:
            yield DEFAULT_RULES[name].note(keys)
    if without := keys_without_racks(asked):
        keys = ", ".join(f"`{key}`" for key in without)
        yield f"`site.rack_rules`: without a floor {keys} has no effect: racks are those of `site.floor`"
