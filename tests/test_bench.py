"""What a measurement of speed runs."""

from __future__ import annotations

from pathlib import Path

from tests.bench import processor_s

SPINNING = """
import time

def solve(inputs, alternatives_s):
    end = time.process_time() + {seconds}
    while time.process_time() < end:
        pass
"""


def _tree(path: Path, seconds: float) -> Path:
    """A work tree with a package whose answers take some seconds."""
    files = {
        "__init__.py": "",
        "io/case.py": "def inputs_from_objects(case): ...\n",
        "solution/optimize.py": SPINNING,
    }
    for name, text in files.items():
        module = path / "fabopt" / name
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(text.format(seconds=seconds))
    return path


def test_a_package_is_measured_on_the_inputs_of_another_tree(tmp_path: Path) -> None:
    # GIVEN two trees with a package each, of which one is slow
    quick, slow = _tree(tmp_path / "quick", 0.0), _tree(tmp_path / "slow", 0.3)
    # WHEN each solves beside the inputs of the other THEN it is that package that is measured
    assert processor_s(quick, slow, "any") < 0.3 <= processor_s(slow, quick, "any")
