"""Quotes as vendors write them, made small: workbooks and CSV files for a catalog of six products."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import openpyxl

from fabopt.io.catalog import read_catalog
from fabopt.io.quote.reading import quote_options, read_quote
from fabopt.parts.quotes import Quote

CATALOG = """
name: quoted
switches:
  - {id: nvidia-qm9700, vendor: NVIDIA, part_number: MQM9700-NS2F, protocol: infiniband, power_w: 700, price_usd: 40000,
     cages: [{count: 32, form_factor: OSFP-IHS, splits: [2x400]}]}
  - {id: arista-64, vendor: Arista, part_number: DCS-7060X6-64PE, protocol: ethernet, power_w: 900, price_usd: 50000,
     cages: [{count: 64, form_factor: OSFP-IHS, splits: [2x400]}]}
transceivers:
  - {id: nvidia-mma4z00-ns, vendor: NVIDIA, part_number: MMA4Z00-NS,
     other_part_numbers: [980-9I510-00NS00], description: "Twin-port 800G SR8, 50 m",
     form_factor: OSFP-IHS, split: 2x400, standard: 400G-SR4, fibre: om4, connector: MPO-12-APC, connectors: 2,
     reach_m: 50, power_w: 15, price_usd: 900}
  - {id: fs-dr8, vendor: FS, part_number: OSFP-800G-DR8, form_factor: OSFP-IHS, split: 2x400, standard: 400G-DR4,
     fibre: smf, connector: MPO-12-APC, connectors: 2, reach_m: 500, power_w: 15, price_usd: 1000}
  - {id: cisco-dr8, vendor: Cisco, part_number: OSFP-800G-DR8=, form_factor: OSFP-IHS, split: 2x400, standard: 400G-DR4,
     fibre: smf, connector: MPO-12-APC, connectors: 2, reach_m: 500, power_w: 15, price_usd: 7000}
cables:
  - {id: nvidia-mcp4y10, vendor: NVIDIA, part_number: MCP4Y10-Nxxx, medium: DAC, power_w: 0.1,
     ends: [{form_factor: OSFP-IHS, split: 2x400}, {form_factor: OSFP-IHS, split: 2x400}],
     lengths: [{m: 0.5, price_usd: 160}, {m: 1, price_usd: 185}, {m: 1.5, price_usd: 225}]}
fibres:
  - {id: nvidia-mfp7e10, vendor: NVIDIA, part_number: MFP7E10-Nxxx, fibre: om4, connectors: [MPO-12-APC, MPO-12-APC],
     lengths: [{m: 5, price_usd: 110}, {m: 7, price_usd: 125}, {m: 10, price_usd: 150}]}
  - {id: fs-trunk, vendor: FS, part_number: '30962', fibre: om4, connectors: [MPO-12-APC, MPO-12-APC],
     lengths: [{m: 5, part_number: '68017', price_usd: 80}, {m: 10, price_usd: 100}]}
"""


def write_catalog() -> str:
    """Write the catalog into the working folder; returns its name."""
    Path("quoted.yaml").write_text(CATALOG)
    return "./quoted.yaml"


class Book:
    """A workbook that is written row by row."""

    def __init__(self, title: str = "Quote") -> None:
        self.book = openpyxl.Workbook()
        self.sheet = self.book.active
        self.sheet.title = title

    def rows(self, *rows: Sequence[object]) -> Book:
        """Add rows below those that are there."""
        for row in rows:
            self.sheet.append(list(row))
        return self

    def merged(self, *ranges: str) -> Book:
        """Show cells as one."""
        for cells in ranges:
            self.sheet.merge_cells(cells)
        return self

    def look(self, **formats: str) -> Book:
        """Give cells, by name, a number format."""
        for cell, code in formats.items():
            self.sheet[cell].number_format = code
        return self

    def saved(self, name: str = "quote.xlsx") -> str:
        """Save it; returns its name."""
        self.book.save(name)
        return name


def write_csv(text: str, name: str = "quote.csv", encoding: str = "utf-8") -> str:
    """Save text as a CSV file; returns its name."""
    Path(name).write_bytes(text.encode(encoding))
    return name


def read(name: str, *rates: str) -> Quote:
    """A quote of a file in which there is no fault, against the catalog of ``write_catalog``."""
    quote, faults = read_quote(name, read_catalog([write_catalog()], Path()), quote_options(rates, None, 1))
    assert faults == []
    return quote
