"""Tables as pandas frames. The library is imported with the first of them: most answers need none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

Frame: TypeAlias = "pd.DataFrame"
# Cells in the order of columns, or by their names.
Rows: TypeAlias = Iterable[Sequence[Any] | dict[str, Any]]


def frame_of(columns: Sequence[str], rows: Rows) -> Frame:
    """A table of rows under columns; of a row as a mapping what it lacks is empty."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(columns))


def frame_as_is(columns: Sequence[str], rows: Rows) -> Frame:
    """A table whose cells stay what they are, whole numbers too in a column of which some cells are empty."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(columns), dtype=object).fillna("")


def frame_of_columns(columns: Mapping[str, Any]) -> Frame:
    """A table of columns by their names."""
    import pandas as pd

    return pd.DataFrame(columns)


def joined_frames(frames: Sequence[Frame]) -> Frame:
    """Tables below each other, rows with the numbers that they have; without any an empty one."""
    import pandas as pd

    return pd.concat(frames) if frames else pd.DataFrame()
