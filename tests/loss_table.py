"""What every optic of the reference catalog loses over panels: ``python -m tests.loss_table`` writes docs/optics.md.

A channel of p panels: jumper, panel, trunk, panel, jumper, ...: p + 2 mated plugs of the module's connector, those at
the modules too, and glass as long as the module reaches.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.io.catalog import named_catalogs
from fabopt.parts.channels import OpticalChannel, Plugs, budget_db, loss_of
from fabopt.schema.catalog import Catalog, Transceiver
from fabopt.schema.facts import Grade, Optics
from tests.paths import ROOT

PAGE = ROOT / "docs" / "optics.md"
START, END = "<!-- losses -->\n", "<!-- end -->\n"
PANELS = (0, 2, 4)
GRADES: tuple[Grade, ...] = ("low-loss", "standard")


def over_panels(module: Transceiver, panels: int, grade: Grade) -> OpticalChannel:
    """The channel of a module as far as it reaches, over some panels."""
    plugs = Plugs(module.connector, module.fibre, grade)
    return OpticalChannel(((module.fibre, module.reach_m),), (plugs,) * (panels + 2))


def cell(optics: Optics, module: Transceiver, standard: str, panels: int) -> str:
    """ChannelLoss with plugs of low loss and of the standard grade in dB, and whether each fits the budget."""
    budget, told = budget_db(optics, module, standard), {}
    for grade in GRADES:
        loss = loss_of(optics, over_panels(module, panels, grade))
        verdict = "not known" if budget is None or loss.unknown else "fits" if loss.largest_db <= budget else "**no**"
        told[f"{loss.largest_db:.2f}"] = verdict
    verdicts = list(told.values())
    alike = len(set(verdicts)) == 1
    return f"{', '.join(told)}: {verdicts[0]}" if alike else "; ".join(f"{db}: {word}" for db, word in told.items())


def lines(catalog: Catalog) -> Iterator[str]:
    """The table as lines of Markdown."""
    optics = catalog.facts.optics
    assert optics is not None
    rows: dict[tuple[str, ...], list[str]] = {}
    for module in catalog.transceivers:
        for standard in dict.fromkeys(module.standard_by_split.values()):
            budget = budget_db(optics, module, standard)
            shown = "not known" if budget is None else f"{budget:g}"
            ends = standard, f"{module.fibre}, {module.connector}", f"{module.reach_m:g}", shown
            key = *ends, *(cell(optics, module, standard, panels) for panels in PANELS)
            rows.setdefault(key, []).append(module.id)
    yield "| standard | fibre, plugs | m | budget, dB | no panel | two panels | four panels | modules |"
    yield "| --- | --- | ---: | ---: | --- | --- | --- | --- |"
    for key in sorted(rows):
        yield f"| {' | '.join((*key, ', '.join(f'`{id_}`' for id_ in rows[key])))} |"


def table() -> str:
    """The table of the shipped catalog."""
    return "\n".join(lines(named_catalogs(["reference"]))) + "\n"


def main() -> None:
    """Write the table into its page."""
    before, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(before + START + table() + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
