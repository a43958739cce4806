"""Where the queries built with the DataFrame API put themselves."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

Frame = Callable[[SparkSession], DataFrame]

FRAMES: dict[str, Frame] = {}
PANDAS_FRAMES: dict[str, Frame] = {}


def frame(build: Frame) -> Frame:
    """Keep a query under its function's name."""
    FRAMES[f"frame_{build.__name__}"] = build
    return build


def pandas_frame(build: Frame) -> Frame:
    """Keep a query that needs pandas and pyarrow."""
    PANDAS_FRAMES[f"pandas_{build.__name__}"] = build
    return build
