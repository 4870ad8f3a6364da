"""Why products are not in an answer, in lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabopt.explain.why_not import Lack
from fabopt.inspect.why_not import WhyNot
from fabopt.output.terminal.answer import metric_value
from fabopt.output.words import dollars, listed

_KEYS = {"price_usd": "a price", "power_w": "a power figure", "cages": "a split", "parts": "a matching part"}


def why_not_line(told: WhyNot) -> str:
    """One product in a sentence."""
    lead = f"{told.id} ({told.kind}): "
    if told.verdict == "not a choice":
        return f"{lead}`server` names the servers, which are no choice"
    if told.verdict == "in the answer":
        return f"{lead}it is in the answer"
    if told.verdict == "no answer":
        return f"{lead}it is a candidate; the case has no design, or none was found in time"
    if told.verdict == "left out":
        return lead + _left_out(told)
    return lead + "; ".join(_dearer(told))


def lacking_line(id_: str, lacks: Iterable[Lack]) -> str:
    """A listed product that would be a candidate, and what it lacks."""
    return f"{id_}: lacks only {listed([_KEYS[lack.key] for lack in lacks])}"


def _left_out(told: WhyNot) -> str:
    obstacles = told.obstacles
    parts = [f"lacks only {_KEYS[obstacles.lacks_only]}: "] if obstacles.lacks_only else [""]
    parts.append(" and ".join(f"it {lack.why}" for lack in obstacles.lacks))
    if obstacles.others:
        parts.append(f"{'; ' if obstacles.lacks else ''}what lets it in: {', or '.join(obstacles.others)}")
    return "".join(parts)


def _dearer(told: WhyNot) -> Sequence[str]:
    words = ["not chosen"]
    if told.dearer:
        more = metric_value(told.metric, round(told.dearer, 2))
        words = [f"not chosen: the best design with it {'takes' if told.metric == 'power_w' else 'costs'} {more} more"]
    elif told.dearer is not None:
        words = ["not chosen, though a design with it is as good as the answer"]
    if told.below_usd is not None and told.price_usd is not None:
        words.append(f"up to {dollars(told.below_usd)} (now {dollars(told.price_usd)}) it would be chosen")
    if told.is_never:
        words.append("not even free would it be chosen, as other parts with it cost more")
    return words
