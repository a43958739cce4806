"""Type 2: splice the events of a batch into the stored history of their keys.

One event per key and moment is stored, whether or not it opens a version, so the whole history of a key
can be told again when something arrives late. Only rows that then look different are written.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from rennet.pipelines.cdc.events import DELETE, KIND, SEQUENCE, UPSERT, rank, rank_row
from rennet.pipelines.cdc.options import END, START
from rennet.pipelines.cdc.scd1 import KEPT, OLD
from rennet.pipelines.cdc.shape import AS_ARRIVED, VISIBLE, Shape
from rennet.storage.names import quote
from rennet.storage.vectors import FILE, ROW

OPENS, LIFE, RUN = "__mv_opens", "__mv_life", "__mv_run"


def changed(stored: DataFrame, events: DataFrame, shape: Shape) -> DataFrame:
    """The rows to be written, with the position of the one each replaces; `stored` is of the same keys."""
    told = _ended(
        _runs(_filled(_one_per_moment(_together(stored, events, shape), shape), shape), shape), shape
    )
    return told.where(_differs(shape)).drop(OLD, LIFE, RUN, OPENS)


def _together(stored: DataFrame, events: DataFrame, shape: Shape) -> DataFrame:
    """The batch and the stored events of its keys, as they arrived."""
    own = F.struct(*(F.col(quote(name)).alias(name) for name, _ in shape.values))
    arrived = F.struct(*(F.col(quote(name)).alias(name) for name, _ in shape.values))
    old = stored.select(
        *map(quote, shape.keys), F.col(START).alias(SEQUENCE), KIND,
        F.coalesce(F.col(AS_ARRIVED), own).alias(AS_ARRIVED), F.struct("*").alias(OLD),
    )  # fmt: skip
    new = events.select(*map(quote, shape.keys), SEQUENCE, KIND, arrived.alias(AS_ARRIVED))
    return old.unionByName(new, allowMissingColumns=True)


def _one_per_moment(rows: DataFrame, shape: Shape) -> DataFrame:
    """One event of each key and moment: a delete, else the greatest row, or the greatest of each column."""
    upserted = F.col(KIND) == UPSERT
    sums = [F.max(KIND).alias(KIND), F.first(OLD, ignorenulls=True).alias(OLD)]
    if shape.options.ignore_null_updates:
        for name, kind in shape.values:
            value = F.col(f"{AS_ARRIVED}.{quote(name)}")
            order = F.when(upserted & value.isNotNull(), rank(value, kind))
            sums.append(F.max_by(value, order).alias(name))
    else:
        order = F.when(upserted, F.struct(F.lit(0), *rank_row(AS_ARRIVED, shape.values)))
        sums.append(F.max_by(AS_ARRIVED, order).alias(AS_ARRIVED))
    found = rows.groupBy(*map(quote, shape.keys), SEQUENCE).agg(*sums)
    if shape.options.ignore_null_updates:
        found = found.withColumn(AS_ARRIVED, F.struct(*(F.col(quote(name)) for name, _ in shape.values)))
    else:
        found = found.select("*", f"{AS_ARRIVED}.*")
    kept = {name: F.when(F.col(KIND) == UPSERT, F.col(quote(name))) for name, _ in shape.values}
    return found.withColumns(kept)


def _filled(rows: DataFrame, shape: Shape) -> DataFrame:
    """Each key's time cut into lives by its deletes; within a life, nulls filled where they say nothing."""
    deletes = F.sum((F.col(KIND) == DELETE).cast("int"))
    rows = rows.withColumn(LIFE, deletes.over(_time(shape).rowsBetween(Window.unboundedPreceding, 0)))
    if not shape.options.ignore_null_updates:
        return rows
    so_far = _time(shape, LIFE).rowsBetween(Window.unboundedPreceding, 0)
    last = {name: F.last(F.col(quote(name)), ignorenulls=True).over(so_far) for name, _ in shape.values}
    return rows.withColumns(last)


def _runs(rows: DataFrame, shape: Shape) -> DataFrame:
    """Upserts that change no tracked column continue the version before them."""
    tracked = [(name, kind) for name, kind in shape.values if name in shape.tracked]
    now = F.struct(KIND, *rank_row("", tracked))
    opens = (F.col(KIND) == UPSERT) & ~now.eqNullSafe(F.lag(now).over(_time(shape, LIFE)))
    rows = rows.withColumn(OPENS, opens)
    runs = F.sum(F.col(OPENS).cast("int")).over(_time(shape, LIFE).rowsBetween(Window.unboundedPreceding, 0))
    rows = rows.withColumn(RUN, runs)
    if len(tracked) == len(shape.values):
        return rows
    whole = _time(shape, LIFE, RUN).rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    last = {name: F.last(F.col(quote(name))).over(whole) for name, _ in shape.values}
    return rows.withColumns(
        {name: F.when(F.col(OPENS), value).otherwise(F.col(quote(name))) for name, value in last.items()}
    )


def _ended(rows: DataFrame, shape: Shape) -> DataFrame:
    """Each version ends where the next one opens or the key is deleted."""
    boundary = F.when(F.col(OPENS) | (F.col(KIND) == DELETE), F.col(SEQUENCE))
    after = _time(shape).rowsBetween(1, Window.unboundedFollowing)
    rows = rows.withColumn(END, F.min(boundary).over(after))
    ranks = [
        rank(F.col(quote(n)), k).eqNullSafe(rank(F.col(f"{AS_ARRIVED}.{quote(n)}"), k))
        for n, k in shape.values
    ]
    as_shown = reduce(Column.__and__, ranks, F.lit(True)) | (F.col(KIND) == DELETE)
    nothing = F.lit(None).cast(own_type(shape))
    return rows.select(
        *(F.col(quote(name)) for name in shape.names), F.col(SEQUENCE).alias(START),
        F.when(F.col(OPENS), F.col(END)).alias(END), KIND, F.col(OPENS).alias(VISIBLE),
        F.when(as_shown, nothing).otherwise(F.col(AS_ARRIVED)).alias(AS_ARRIVED), F.lit(True).alias(KEPT),
        F.col(f"{OLD}.{FILE}").alias(FILE), F.col(f"{OLD}.{ROW}").alias(ROW), OLD,
    )  # fmt: skip


def own_type(shape: Shape) -> str:
    return shape.stored[AS_ARRIVED].dataType.simpleString()


def _time(shape: Shape, *parts: str) -> WindowSpec:
    """A key's events in order."""
    return Window.partitionBy(*map(quote, shape.keys), *parts).orderBy(SEQUENCE)


def _differs(shape: Shape) -> Column:
    """New, or not what is stored."""
    compared = [field for field in shape.stored.fields if field.name not in shape.keys]
    different = [
        ~rank(F.col(quote(f.name)), f.dataType).eqNullSafe(rank(F.col(f"{OLD}.{quote(f.name)}"), f.dataType))
        for f in compared
    ]
    return F.col(FILE).isNull() | reduce(Column.__or__, different)
