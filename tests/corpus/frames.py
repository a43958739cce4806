"""Every query of the corpus built with the DataFrame API, by name.

`FRAMES` needs nothing but Spark; `PANDAS_FRAMES` needs pandas and pyarrow too. Both are for the schema that
`data.create` made current.
"""

from __future__ import annotations

from . import frames_columns, frames_groups, frames_joins, frames_python, frames_shapes
from .registry import FRAMES, PANDAS_FRAMES

MODULES = (frames_columns, frames_groups, frames_joins, frames_python, frames_shapes)

__all__ = ["FRAMES", "MODULES", "PANDAS_FRAMES"]
