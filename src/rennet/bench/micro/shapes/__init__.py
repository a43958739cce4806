"""The shapes of the benchmarks: the one list of them all."""

from __future__ import annotations

from collections.abc import Sequence

from rennet.bench.micro.shape import Shape
from rennet.bench.micro.shapes.aggregates import (
    AGGREGATE_FEW_GROUPS,
    AGGREGATE_MANY_GROUPS,
    COUNT_DISTINCT,
    MIN_MAX_DELETES,
)
from rennet.bench.micro.shapes.joins import (
    EXISTS,
    FIVE_WAY_JOIN_AGGREGATE,
    JOIN_DIMENSION_CHANGES,
    JOIN_FACT_CHANGES,
    OUTER_JOIN,
)
from rennet.bench.micro.shapes.rows import (
    APPEND_ONLY_FILTER,
    DEDUP_ROW_NUMBER,
    DISTINCT,
    UPDATE_PROJECTION,
)
from rennet.bench.micro.shapes.windows import MOVING_WINDOW, RUNNING_TOTAL

SHAPES = (
    APPEND_ONLY_FILTER,
    UPDATE_PROJECTION,
    AGGREGATE_FEW_GROUPS,
    AGGREGATE_MANY_GROUPS,
    COUNT_DISTINCT,
    MIN_MAX_DELETES,
    JOIN_FACT_CHANGES,
    JOIN_DIMENSION_CHANGES,
    OUTER_JOIN,
    FIVE_WAY_JOIN_AGGREGATE,
    DEDUP_ROW_NUMBER,
    MOVING_WINDOW,
    RUNNING_TOTAL,
    DISTINCT,
    EXISTS,
)

CLUSTERED = (UPDATE_PROJECTION.clustered(), JOIN_FACT_CHANGES.clustered())
"""Shapes whose changed rows lie together, to tell what skipping files is worth."""


def named(names: Sequence[str], among: Sequence[Shape] = (*SHAPES, *CLUSTERED)) -> list[Shape]:
    """The shapes with these names, in their order; an unknown name is a `KeyError`."""
    known = {shape.name: shape for shape in among}
    return [known[name] for name in names]
