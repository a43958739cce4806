"""A full recompute that leaves alone the rows that are the same: whoever reads the view sees few changes.

T' = T − (T ∸ Q) + (Q ∸ T), where Q is the query's result and ∸ the difference of bags: what is stored
afterwards is Q, as if all had been replaced.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from rennet.cost.choose import Costs
from rennet.cost.operators import Kind
from rennet.execute.apply import LOST, Applied, alike, named, repeated
from rennet.plan.expressions import Attribute
from rennet.storage.changes import WEIGHT
from rennet.storage.names import quote
from rennet.storage.transaction import Transaction

MOST = 0.5
"""If a larger part of the rows differs, replacing all of them is no dearer for anyone."""


def worth_comparing(model: Costs, columns: Sequence[Attribute]) -> bool:
    """Does finding the equal rows cost less than it saves the views that read this one?"""
    saved = sum(reader.full - reader.incremental for reader in model.readers)
    view = model.statistics.view
    rows = view.rows_of(tuple(columns))
    spent = model.rates[Kind.SCAN] * view.bytes + model.rates[Kind.AGGREGATE] * 2 * rows
    return rows > 0 and spent < saved


def sparing(transaction: Transaction, rows: DataFrame, columns: list[str]) -> Applied | None:
    """Delete what is no longer in the result and add what is new; None, and nothing done, if that is much."""
    if not all(_comparable(field.dataType) for field in rows.schema.fields):
        return None
    new = rows.persist()
    delta = _difference(transaction, new, columns).persist()
    try:
        try:
            total, differing = new.count(), _size(delta)
        except Exception:  # what cannot be compared can still be replaced
            return None
        return None if differing > MOST * max(total, 1) else _written(transaction, delta, columns, total)
    finally:
        delta.unpersist()
        new.unpersist()


def _difference(transaction: Transaction, new: DataFrame, columns: list[str]) -> DataFrame:
    """Rows with their weights: how many more there are of each in the result than in the table."""
    names = [quote(name) for name in columns]
    come, held = new.select(*names, F.lit(1)), transaction.target().select(*names, F.lit(-1))
    signed = come.unionAll(held).toDF(*columns, WEIGHT)
    return signed.groupBy(*names).agg(F.sum(WEIGHT).alias(WEIGHT)).where(F.col(WEIGHT) != 0)


def _size(delta: DataFrame) -> int:
    (row,) = delta.agg(F.coalesce(F.sum(F.abs(WEIGHT)), F.lit(0))).collect()
    return int(row[0])


def _written(transaction: Transaction, delta: DataFrame, columns: list[str], total: int) -> Applied:
    lost = named(delta.where(F.col(WEIGHT) < 0), LOST, len(columns) + 1)
    deleted = transaction.delete(alike(transaction.target(), lost, columns, len(columns)))
    come = repeated(delta.where(F.col(WEIGHT) > 0), WEIGHT)
    inserted = transaction.append(come).rows
    return Applied(deleted, inserted, total=total)


def _comparable(kind: DataType) -> bool:
    """Whether rows with such a column can be put into groups."""
    if isinstance(kind, StructType):
        return all(_comparable(field.dataType) for field in kind.fields)
    if isinstance(kind, ArrayType):
        return _comparable(kind.elementType)
    # What a collation takes for equal need not be the same text.
    return not isinstance(kind, MapType | VariantType) and "collate" not in kind.simpleString()
