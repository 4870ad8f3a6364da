"""Whose switch ASICs are: makers by the families that they sell."""

import re

# As the makers' product pages list them.
FAMILIES: dict[str, tuple[str, ...]] = {
    "Broadcom": ("Tomahawk", "Trident", "Jericho", "Qumran", "Ramon"),
    "NVIDIA": ("Spectrum", "Quantum"),
    "Cisco": ("Silicon One", "Cloud Scale"),
    "Marvell": ("Teralynx", "Prestera"),
    "Intel": ("Tofino",),
}
_NUMBER = re.compile(r"^\d+ ?x +")


def asic_is(asic: str | None, name: str) -> bool:
    """Whether an ASIC (``4x Quantum-3``) is meant by a name: of itself, its family (``Quantum``), or its maker."""
    if asic is None:
        return False
    alone = _NUMBER.sub("", asic)
    return any(_begins(alone, meant) for meant in FAMILIES.get(name, (name,))) or asic == name


def _begins(asic: str, family: str) -> bool:
    """Whether a name is of a family: ``Spectrum-4`` of Spectrum, but ``Tomahawk 4G`` not of Tomahawk 4."""
    after = asic[len(family) :]
    return asic.startswith(family) and not after[:1].isalnum()
