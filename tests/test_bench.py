"""What a measurement of speed runs."""

from __future__ import annotations

from pathlib import Path

from tests.bench import processor_s

# As the package looks for its catalogs: beside the folder that it is in.
SPINNING = """
import time
from pathlib import Path

def solve(inputs, alternatives_s):
    parts = Path(__file__).parent.parent.parent / "catalogs" / "parts"
    end = time.process_time() + {share} * float(parts.read_text())
    while time.process_time() < end:
        pass
"""


def _tree(path: Path, share: float, parts: float) -> Path:
    """A work tree: parts that take some seconds, and a package that needs a share of the time of those it reads."""
    files = {
        "fabopt/__init__.py": "",
        "fabopt/io/case.py": "def inputs_from_objects(case): ...\n",
        "fabopt/solution/optimize.py": SPINNING.format(share=share),
        "catalogs/parts": str(parts),
    }
    for name, text in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return path


def test_a_package_is_measured_on_the_inputs_and_parts_of_another_tree(tmp_path: Path) -> None:
    # GIVEN a package that takes no time, beside many parts, and one that is slow, beside none
    quick, slow = _tree(tmp_path / "quick", 0.0, 0.3), _tree(tmp_path / "slow", 1.0, 0.0)
    # WHEN each solves on what the other has THEN it is that package that is measured, on those parts
    assert processor_s(quick, slow, "any") < 0.3 <= processor_s(slow, quick, "any")
