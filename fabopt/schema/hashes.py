"""Hashes by which a design file shows that nothing in it was changed by accident: canonical JSON, SHA-256.

They find accidents, not forgery: whoever changes a file can work them out again.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from fabopt.schema.product import Purchasable

Parts = Mapping[str, Mapping[str, Any]]
# What says how a product can be ordered, of itself or of each of its lengths.
TERMS = frozenset(Purchasable.model_fields)
_LENGTHS = "lengths"


def sha256_of(content: object) -> str:
    """SHA-256 of a value as canonical JSON: keys sorted, no spaces, UTF-8."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def facts_of(parts: Parts) -> dict[str, Any]:
    """What embedded parts say of themselves but for prices and other terms of orders: ports, fit, power, sources."""
    return {part: _split(body, False) for part, body in parts.items()}


def prices_of(parts: Parts) -> dict[str, Any]:
    """Prices of embedded parts and the other terms of orders: breaks, order sizes, stock, supply, lead times."""
    return {part: _split(body, True) for part, body in parts.items()}


def _split(body: Mapping[str, Any], terms: bool) -> dict[str, Any]:
    chosen = {key: value for key, value in body.items() if (key in TERMS) == terms}
    lengths = body.get(_LENGTHS)
    if isinstance(lengths, list):
        chosen[_LENGTHS] = [_split(one, terms) if isinstance(one, Mapping) else one for one in lengths]
    return chosen
