"""What optical links lose, against what the standards of their modules allow: counted again in exact fractions."""

from __future__ import annotations

from fractions import Fraction

from fabopt.rules.defaults import OPTIC_LOSS, is_kept
from fabopt.schema.catalog import Fibre, Transceiver
from fabopt.schema.facts import Optics
from fabopt.units import exact
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.fit import DB_PER_KM, MULTIMODE_DB_PER_KM, SAME_DB
from fabopt.verify.link_kinds import all_kinds
from fabopt.verify.proof import Proof, since, where


def keeps_budgets(fabric: FabricEvidence) -> bool:
    """Whether the rule is on, and some links of a fabric are of modules and fibre."""
    ids = {part.id for row in fabric.designed.links for part in row.parts if part.end is None}
    has_fibre = any(fabric.evidence.kind(part) == "fibre" for part in ids)
    return has_fibre and is_kept(fabric.evidence.case.rules, OPTIC_LOSS)


@since("0.3.0", "case.content.site.optical_margin_db")
@where(keeps_budgets)
def channels_fit_budgets(proof: Proof, fabric: FabricEvidence) -> None:
    """Every optical link loses no more than its modules and their standard allow, less the margin.

    metres x dB/km + both plugs + connections inside <= budget - ``optical_margin_db``, in every length, for the module
    at each end; a standard of which only the connections' share is known allows that and the glass of the module's
    reach. Of plugs of unknown grade the largest loss counts; what is not known is noted. Source: catalog, ``facts``,
    ``loss_db``, ``loss_budget_db``; case file, ``site``.
    """
    optics, margin_db = fabric.evidence.optics, exact(fabric.evidence.case.site.optical_margin_db)
    for kind in all_kinds(fabric):
        for row in kind.rows:
            for part in row.lengths if row.fibre is not None else ():
                assert row.fibre is not None
                loss_db, unknown = _largest_db(optics, row.fibre, exact(part.length_m or 0))
                told = f"{kind.name}: {float(loss_db):.3f} dB over {part.length_m or 0:g} m of {row.fibre.id}"
                told += f" and {', '.join(unknown)}, of which nothing is known" if unknown else ""
                modules = [(row.near, kind.near.split), (row.far, kind.far.split)]
                ends = [(one, one.standard_by_split.get(split, "")) for one, split in modules if one is not None]
                budgets = dict.fromkeys((name, allowed_db(optics, module, name)) for module, name in ends)
                for standard, allowed in budgets:
                    kept = "a budget that is not known" if allowed is None else f"{float(allowed):g} dB"
                    kept += f" less {float(margin_db):g} dB of margin" if margin_db and allowed is not None else ""
                    fits = allowed is None or loss_db <= allowed - margin_db + exact(SAME_DB)
                    proof.holds(fits, f"{told}, {standard} allows {kept}")
                proof.note(f"{told}: {', '.join(f'{name} {_shown(db)}' for name, db in budgets)}")


def _shown(allowed: Fraction | None) -> str:
    return "allows what is not known" if allowed is None else f"allows {float(allowed):g} dB"


def _largest_db(optics: Optics, fibre: Fibre, length_m: Fraction) -> tuple[Fraction, list[str]]:
    """The largest loss of a fibre between two modules as far as it is known, and the plugs of which it is not."""
    loss_db = glass_db(optics, fibre.fibre, length_m) + exact(fibre.loss_db or 0)
    unknown = []
    for end in fibre.both_ends:
        plug = end.connector.split("x ")[-1]
        losses = _plugs_db(optics, plug, fibre.fibre, fibre.grade)
        loss_db += max(losses, default=Fraction(0))
        unknown += [] if losses else [f"a plug {plug}"]
    return loss_db, list(dict.fromkeys(unknown))


def glass_db(optics: Optics, fibre: str, length_m: Fraction) -> Fraction:
    """Loss of so much glass of a kind of fibre."""
    per_km = {glass.fibre: glass.db_per_km for glass in optics.glass}
    return length_m * exact(per_km.get(fibre, DB_PER_KM.get(fibre, MULTIMODE_DB_PER_KM))) / 1000


def plugs_db(optics: Optics, connector: str, fibre: str, grade: str | None) -> Fraction:
    """The largest loss of a pair of plugs; 0 where it is not known."""
    return max(_plugs_db(optics, connector, fibre, grade), default=Fraction(0))


def _plugs_db(optics: Optics, connector: str, fibre: str, grade: str | None) -> list[Fraction]:
    return [
        exact(pair.largest_db)
        for pair in optics.pairs
        if pair.connector == connector
        and pair.fibre in (None, fibre)
        and (None in (pair.grade, grade) or pair.grade == grade)
    ]


def allowed_db(optics: Optics, module: Transceiver, standard: str) -> Fraction | None:
    """What a channel of a module may lose; None where neither it nor its standard says."""
    if module.loss_budget_db is not None:
        return exact(module.loss_budget_db)
    per_km = {glass.fibre: glass.db_per_km for glass in optics.glass}
    for budget in optics.budgets:
        if budget.standard == standard and budget.fibre in (None, module.fibre):
            if budget.budget_db is not None:
                return exact(budget.budget_db)
            if budget.connections_db is None:
                return None
            glass = per_km.get(module.fibre, DB_PER_KM.get(module.fibre, MULTIMODE_DB_PER_KM))
            return exact(budget.connections_db) + exact(module.reach_m) * exact(glass) / 1000
    return None
