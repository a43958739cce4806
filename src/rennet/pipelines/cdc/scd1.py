"""Type 1: join what a batch says of each key with what is stored of it.

Per key three things only ever grow: the last upsert, the last delete, and, with IGNORE NULL UPDATES, the last
time each value was set. So batches can come in any order and more than once.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rennet.pipelines.cdc.events import DELETE, KIND, SEQUENCE, UPSERT, rank, rank_row
from rennet.pipelines.cdc.shape import DELETED, UPSERTED, VISIBLE, Shape, set_at
from rennet.storage.names import quote
from rennet.storage.vectors import FILE, ROW

OLD, NEW, KEPT = "__mv_old", "__mv_new", "__mv_kept"


def changed(
    stored: DataFrame, said: DataFrame, shape: Shape, truncated: Column | None = None, all_rows: bool = False
) -> DataFrame:
    """The rows to be written, with the position of the one each replaces, and whether it is kept at all.

    `stored` has positions; `said` is what the batch says of each key; `truncated` is the sequence of the last
    truncate of all. If this batch brought it, `all_rows` that are stored are looked at.
    """
    old = stored.select(F.struct("*").alias(OLD))
    new = said.select(F.struct("*").alias(NEW))
    same = [F.col(f"{OLD}.{quote(k)}").eqNullSafe(F.col(f"{NEW}.{quote(k)}")) for k in shape.keys]
    both = new.join(old, reduce(Column.__and__, same), "full" if all_rows else "left")
    return _settled(_joined(both, shape), shape, truncated)


def summed(events: DataFrame, shape: Shape) -> DataFrame:
    """One row per key: what the batch says of it."""
    upserts_and_deletes = events.where(F.col(KIND) >= UPSERT)
    is_upsert, is_delete = F.col(KIND) == UPSERT, F.col(KIND) == DELETE
    sequence = F.col(SEQUENCE)
    sums = [
        F.max(F.when(is_upsert, sequence)).alias(UPSERTED),
        F.max(F.when(is_delete, sequence)).alias(DELETED),
    ]
    if shape.options.ignore_null_updates:
        for i, (name, kind) in enumerate(shape.values):
            value = F.col(quote(name))
            given = is_upsert & value.isNotNull()
            order = F.when(given, F.struct(sequence.alias("s"), rank(value, kind).alias("v")))
            sums += [F.max_by(value, order).alias(name), F.max(F.when(given, sequence)).alias(set_at(i))]
    elif shape.values:
        whole = F.struct(*(F.col(quote(name)) for name, _ in shape.values))
        order = F.when(is_upsert, F.struct(sequence.alias("s"), *rank_row("", shape.values)))
        sums.append(F.max_by(whole, order).alias("row"))
    found = upserts_and_deletes.groupBy(*map(quote, shape.keys)).agg(*sums)
    if shape.options.ignore_null_updates or not shape.values:
        return found
    return found.select(*map(quote, shape.keys), UPSERTED, DELETED, "row.*")


def _joined(both: DataFrame, shape: Shape) -> DataFrame:
    """The greater of both sides, as if nothing were deleted yet."""
    columns = [F.coalesce(_new(key), _old(key)).alias(key) for key in shape.keys]
    if shape.options.ignore_null_updates:
        for i, (name, kind) in enumerate(shape.values):
            new, old = (F.struct(side(set_at(i)), rank(side(name), kind).alias("v")) for side in (_new, _old))
            newer = _later(new, old)
            columns.append(F.when(newer, _new(name)).otherwise(_old(name)).alias(name))
            columns.append(_greater(set_at(i)).alias(set_at(i)))
    else:
        newer = _later(
            F.struct(_new(UPSERTED), *rank_row(NEW, shape.values)),
            F.struct(_old(UPSERTED), *rank_row(OLD, shape.values)),
        )
        columns += [F.when(newer, _new(name)).otherwise(_old(name)).alias(name) for name, _ in shape.values]
    columns += [_greater(UPSERTED).alias(UPSERTED), _greater(DELETED).alias(DELETED)]
    return both.select(*columns, OLD)


def _later(new: Column, old: Column) -> Column:
    """Structs compare field by field, nulls first: a side that says nothing never wins."""
    return new > old


def _new(name: str) -> Column:
    return F.col(f"{NEW}.{quote(name)}")


def _old(name: str) -> Column:
    return F.col(f"{OLD}.{quote(name)}")


def _greater(name: str) -> Column:
    return F.greatest(_new(name), _old(name))


def _settled(joined: DataFrame, shape: Shape, truncated: Column | None) -> DataFrame:
    """Drop what a delete or a truncate has ended, and keep the rows that are no longer what they were."""
    alive = F.coalesce(_counts(F.col(UPSERTED), truncated), F.lit(False))
    columns = [F.col(quote(key)) for key in shape.keys]
    for i, (name, kind) in enumerate(shape.values):
        value, nothing = F.col(quote(name)), F.lit(None)
        if shape.options.ignore_null_updates:
            held = alive & F.coalesce(_counts(F.col(set_at(i)), truncated), F.lit(False))
            columns.append(F.when(held, F.col(set_at(i))).otherwise(nothing).alias(set_at(i)))
        else:
            held = alive
        columns.append(F.when(held, value).otherwise(nothing.cast(kind)).alias(name))
    # Whatever may still arrive before a truncate is dead, so nothing needs to be known of it.
    needed = F.lit(True)
    if truncated is not None:
        needed = F.greatest(UPSERTED, DELETED) >= truncated
    settled = joined.select(
        *columns, UPSERTED, DELETED, alive.alias(VISIBLE), needed.alias(KEPT),
        _old(FILE).alias(FILE), _old(ROW).alias(ROW), OLD,
    )  # fmt: skip
    return settled.where(_differs(settled, shape)).drop(OLD)


def _counts(sequence: Column, truncated: Column | None) -> Column:
    """Whether something of this sequence is later than the last delete and not before the last truncate."""
    after = F.col(DELETED).isNull() | (sequence > F.col(DELETED))
    return after if truncated is None else after & (sequence >= truncated)


def _differs(settled: DataFrame, shape: Shape) -> Column:
    """New, no longer needed, or not what is stored."""
    compared = [name for name in shape.stored.fieldNames() if name not in shape.keys]
    kinds = {field.name: field.dataType for field in shape.stored.fields}
    different = [~rank(F.col(quote(n)), kinds[n]).eqNullSafe(rank(_old(n), kinds[n])) for n in compared]
    is_new = F.col(FILE).isNull()
    return F.when(is_new, F.col(KEPT)).otherwise(reduce(Column.__or__, different) | ~F.col(KEPT))
