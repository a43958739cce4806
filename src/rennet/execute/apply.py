"""Stage 6: one refresh plan, one Delta commit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import MapType

from rennet.delta.generate import Keyed, Partitions, Placed, RefreshPlan, Removed
from rennet.errors import Issue, IssueType
from rennet.plan.dataframe import Writer
from rennet.plan.ir import Node, union
from rennet.storage.changes import WEIGHT
from rennet.storage.names import quote
from rennet.storage.transaction import FILE, ROW, Transaction


@dataclass(frozen=True)
class Applied:
    """How many rows went and came."""

    deleted: int = 0
    inserted: int = 0
    issue: Issue | None = None
    """Set when what was stored is not what the delta expected; nothing may be committed then."""
    total: int | None = None
    """How many rows there are now, where all were computed and only those that differ were written."""


def apply(plan: RefreshPlan, writer: Writer, transaction: Transaction, columns: list[str]) -> Applied:
    """Put what a plan changes into the transaction, without committing it."""
    with writer.keeping():
        deleted = 0
        if plan.removed is not None:
            deleted, expected = _delete(plan.removed, writer, transaction, columns)
            if expected is not None and deleted != expected:
                return Applied(issue=_mismatch(expected, deleted))
        arriving = _arriving(plan, writer)
        inserted = 0
        if arriving is not None:
            inserted = transaction.append(_rows(writer, arriving, columns)).rows
        return Applied(deleted, inserted)


def overwritten(transaction: Transaction, rows: DataFrame) -> Applied:
    """Put all rows of the query in the place of those that are stored."""
    written = transaction.overwrite(rows)
    return Applied(written.replaced, written.rows)


def _arriving(plan: RefreshPlan, writer: Writer) -> Node | None:
    """The rows that come, those of groups to be looked at again among them if there are any."""
    if plan.repair is None or plan.inserted is None or writer.dataframe(plan.repair.keys).isEmpty():
        return plan.inserted
    return union([plan.inserted, plan.repair.rows])


def _rows(writer: Writer, node: Node, columns: list[str]) -> DataFrame:
    return writer.dataframe(node).toDF(*columns)


def _delete(
    removed: Removed, writer: Writer, transaction: Transaction, columns: list[str]
) -> tuple[int, int | None]:
    """Delete the rows; with them, how many there must have been, where that is known."""
    if isinstance(removed, Partitions):
        return transaction.delete_partitions(removed.column, removed.values), None
    if isinstance(removed, Placed):
        places = writer.dataframe(removed.rows).toDF(FILE, ROW)
        return transaction.delete(places.where(F.col(ROW).isNotNull())), None
    if isinstance(removed, Keyed):
        keys = _renamed(writer.dataframe(removed.keys), "__mv_wanted_")
        target = _target(writer, transaction)
        return transaction.delete(_of_keys(target, keys, removed, columns, writer.skipping)), None
    lost = _renamed(writer.dataframe(removed.delta), "__mv_lost_")
    expected = _expected(lost)
    if not expected:  # the view need not be read to find nothing
        return 0, 0
    return transaction.delete(alike(_target(writer, transaction), lost, columns)), expected


def _target(writer: Writer, transaction: Transaction) -> DataFrame:
    """The stored rows, in one task if everything else is."""
    return transaction.target().coalesce(1) if writer.together else transaction.target()


def _of_keys(
    target: DataFrame, keys: DataFrame, removed: Keyed, columns: list[str], skipping: bool
) -> DataFrame:
    """The stored rows that have one of the keys and, if ranges are given, lie in its range."""
    count = len(removed.columns)
    match = F.lit(True)
    if removed.within is not None:
        column = quote(columns[removed.within])
        if skipping:
            target = _between_bounds(target, column, keys, removed.unknown)
        low, high, whole = (keys[name] for name in keys.columns[count:])
        match = _inside(target[column], low, high, whole, removed.unknown)
    stored = [target[quote(columns[i])] for i in removed.columns]
    match = match & _all_equal(stored, [keys[name] for name in keys.columns[:count]])
    return target.join(keys, match, "left_semi").select(FILE, ROW)


def _between_bounds(target: DataFrame, column: str, keys: DataFrame, unknown: bool) -> DataFrame:
    """The stored rows in the range that spans those of all keys: as values, so that files can be skipped."""
    low, high, whole = (keys[name] for name in keys.columns[-3:])
    try:
        ends = keys.agg(
            F.min(low), F.max(high), F.max(whole | low.isNull()), F.max(whole | high.isNull())
        ).first()
    except (
        ValueError,
        OverflowError,
    ):  # a frame after the last day of 9999 ends on a day Python does not have
        return target
    assert ends is not None
    value = target[column]
    for end, is_open, compare in ((ends[0], ends[2], value.__ge__), (ends[1], ends[3], value.__le__)):
        if end is not None and not is_open and not isinstance(end, datetime):  # a local time may mean two
            inside = compare(F.lit(end))
            target = target.where(inside | value.isNull() if unknown else inside)
    return target


def _inside(value: Column, low: Column, high: Column, whole: Column, unknown: bool) -> Column:
    """Is the value in the range? An end that is NULL is open; `unknown` says where a NULL value is."""
    above, below = (F.coalesce(each, F.lit(True)) for each in (value >= low, value <= high))
    known = F.lit(True) if unknown else value.isNotNull()
    return whole | (known & above & below)


def alike(target: DataFrame, lost: DataFrame, columns: list[str]) -> DataFrame:
    """Of the stored rows equal to a lost row, as many as were lost."""
    *values, weight = (lost[name] for name in lost.columns)
    columns = columns[: len(values)]  # those after it were computed when their row came
    maps = [isinstance(target.schema[name].dataType, MapType) for name in columns]
    pairs = list(zip([target[quote(name)] for name in columns], values, maps, strict=True))
    plain = [(old, new) for old, new, is_map in pairs if not is_map]
    match = _all_equal([old for old, _ in plain], [new for _, new in plain])
    for old, new, is_map in pairs:
        if is_map:
            match = match & _same_map(old, new)
    spelled = [F.coalesce(F.to_json(_entries(new)), F.lit("")) for _, new, is_map in pairs if is_map]
    order = Window.partitionBy(*(new for _, new in plain), *spelled).orderBy(FILE, ROW)
    copies = target.join(lost, match, "inner").select(FILE, ROW, (-weight).alias(WEIGHT), *values)
    numbered = copies.withColumn("__mv_copy", F.row_number().over(order))
    return numbered.where(F.col("__mv_copy") <= F.col(WEIGHT)).select(FILE, ROW)


def _same_map(left: Column, right: Column) -> Column:
    """Maps cannot be compared, their sorted entries can; as a key of a join those would be compared byte by
    byte, and the bytes of a NULL inside of them mean nothing."""
    return F.when(_entries(left).eqNullSafe(_entries(right)), F.lit(True)).otherwise(F.lit(False))


def _entries(of: Column) -> Column:
    return F.sort_array(F.map_entries(of))


def _expected(lost: DataFrame) -> int:
    (row,) = lost.agg(F.coalesce(F.sum(-lost[lost.columns[-1]]), F.lit(0))).collect()
    return int(row[0])


def _all_equal(left: list[Column], right: list[Column]) -> Column:
    pairs = [a.eqNullSafe(b) for a, b in zip(left, right, strict=True)]
    return reduce(lambda a, b: a & b, pairs, F.lit(True))


def _renamed(frame: DataFrame, prefix: str) -> DataFrame:
    """Names of their own, so that stored and computed columns cannot be confused."""
    return frame.toDF(*(f"{prefix}{i}" for i in range(len(frame.columns))))


def _mismatch(expected: int, deleted: int) -> Issue:
    return Issue(
        IssueType.DATA_HAS_CHANGED,
        f"the changes retract {expected} stored rows but only {deleted} were found",
    )
