"""Is the view what its query says? Checked against the user's own query at the versions it was made from.

Two bags are equal when every row has the same number of copies in both. Sums of floating-point numbers
depend on the order of the rows even within Spark, so rows that differ only there, and only by rounding,
count as equal.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DoubleType, FloatType

from rennet.execute.leaves import Leaves, pinned_query
from rennet.execute.planning import Query
from rennet.jvm import Jvm
from rennet.plan.dataframe import Writer
from rennet.plan.expressions import AFTER
from rennet.plan.ir import filter_, project
from rennet.storage.names import quote
from rennet.storage.provenance import Provenance
from rennet.storage.tables import MaterializedView

COPIES = "__mv_copies"
COLLECTED = 20_000
"""Differences beyond this many rows are counted, but not forgiven for rounding."""
RELATIVE, ABSOLUTE = 1e-9, 1e-9


@dataclass(frozen=True)
class VerifyResult:
    """The view against its query: rows the view lacks and rows it should not have."""

    view: str
    equal: bool
    missing: int
    extra: int
    missing_rows: tuple[dict[str, Any], ...]
    extra_rows: tuple[dict[str, Any], ...]
    note: str = ""

    def __bool__(self) -> bool:
        return self.equal


LEFT_OPEN = "the query leaves open which of several answers it means: compared with the one rennet keeps to"


def as_read(jvm: Jvm, view: MaterializedView) -> DataFrame:
    """The view as anyone reads it."""
    return jvm.spark.table(view.name.sql)


def as_written(jvm: Jvm, query: Query, provenance: Provenance) -> DataFrame:
    """The user's own plan at the pinned versions and at the moment of the refresh."""
    versions = {source.path: source for source in provenance.sources}
    moment = datetime.fromisoformat(provenance.evaluated_at)
    return pinned_query(jvm, query.analyzed, versions, moment)


def as_decided(jvm: Jvm, query: Query, provenance: Provenance) -> DataFrame:
    """What rennet computes in full: ties broken, first rows chosen, as the values decide."""
    versions = {source.path: source for source in provenance.sources}
    moments = {AFTER: datetime.fromisoformat(provenance.evaluated_at)}
    layout = query.layout
    plan = layout.plan if layout.visible is None else filter_(layout.plan, layout.visible)
    shown = project(plan, plan.output[: layout.user_columns])
    return Writer(jvm, Leaves(jvm, versions, {}, {}), moments).dataframe(shown)


def compare(name: str, expected: DataFrame, actual: DataFrame, samples: int = 10) -> VerifyResult:
    """Compare two frames of the same columns as bags."""
    difference = _difference(expected, actual)
    # Almost always there is none, and one look is enough.
    found = difference.limit(COLLECTED + 1).collect()
    if len(found) > COLLECTED:
        missing, extra = _counted(difference)
    else:
        floats = [f.name for f in expected.schema.fields if isinstance(f.dataType, DoubleType | FloatType)]
        found = list(_beyond_rounding(found, floats)) if floats else found
        missing = sum(row[COPIES] for row in found if row[COPIES] > 0)
        extra = -sum(row[COPIES] for row in found if row[COPIES] < 0)
    lacking = tuple(_sample(row) for row in found if row[COPIES] > 0)[:samples]
    surplus = tuple(_sample(row) for row in found if row[COPIES] < 0)[:samples]
    return VerifyResult(name, not (missing or extra), missing, extra, lacking, surplus)


def _counted(difference: DataFrame) -> tuple[int, int]:
    total = difference.agg(
        F.coalesce(F.sum(F.greatest(F.col(COPIES), F.lit(0))), F.lit(0)),
        F.coalesce(F.sum(F.greatest(-F.col(COPIES), F.lit(0))), F.lit(0)),
    ).first()
    assert total is not None
    return int(total[0]), int(total[1])


def _difference(expected: DataFrame, actual: DataFrame) -> DataFrame:
    """Each distinct row with its copies in `expected` less those in `actual`, where that is not zero."""
    counted = [
        _comparable(frame).withColumn(COPIES, F.lit(sign).cast("bigint"))
        for frame, sign in ((expected, 1), (actual, -1))
    ]
    both = counted[0].unionAll(counted[1])
    columns = [F.col(quote(name)) for name in both.columns[:-1]]
    summed = both.groupBy(*columns).agg(F.sum(COPIES).alias(COPIES))
    return summed.where(F.col(COPIES) != 0)


def _comparable(frame: DataFrame) -> DataFrame:
    """Types that cannot be grouped by are compared as JSON text."""
    return frame.select(*(_comparable_column(f.name, f.dataType) for f in frame.schema.fields))


def _comparable_column(name: str, kind: DataType) -> Any:
    column = F.col(quote(name))
    return F.to_json(F.struct(column)).alias(name) if "variant" in kind.simpleString() else column


def _beyond_rounding(rows: list[Row], floats: list[str]) -> Iterator[Row]:
    """Drop pairs of a missing and an extra row that agree but for rounding."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        rest = {k: v for k, v in row.asDict().items() if k not in floats and k != COPIES}
        groups[repr(rest)].append(row)
    for members in groups.values():
        lacking = _unrolled(r for r in members if r[COPIES] > 0)
        surplus = _unrolled(r for r in members if r[COPIES] < 0)
        for row in lacking:
            match = next((s for s in surplus if _close(row, s, floats)), None)
            if match is None:
                yield _once(row, 1)
            else:
                surplus.remove(match)
        yield from (_once(row, -1) for row in surplus)


def _unrolled(rows: Iterator[Row]) -> list[Row]:
    return [row for row in rows for _ in range(abs(row[COPIES]))]


def _once(row: Row, copies: int) -> Row:
    return Row(**{**row.asDict(), COPIES: copies})


def _close(left: Row, right: Row, floats: list[str]) -> bool:
    return all(_near(left[name], right[name]) for name in floats)


def _near(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _sample(row: Row) -> dict[str, Any]:
    return {key: value for key, value in row.asDict().items() if key != COPIES}
