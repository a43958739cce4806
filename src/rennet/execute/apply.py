"""Stage 6: one refresh plan, one Delta commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import MapType

from rennet.cost.operators import WORTH_A_FEED
from rennet.delta.generate import Alike, Keyed, Partitions, Placed, RefreshPlan, Removed, rows_named
from rennet.enable.layout import CONTENT
from rennet.errors import Issue, IssueType
from rennet.execute.workspace import WORTH_KEY_RANGES
from rennet.plan.dataframe import Writer
from rennet.plan.ir import Node, union
from rennet.storage.changes import WEIGHT
from rennet.storage.names import quote
from rennet.storage.skipping import Asked, Spans
from rennet.storage.transaction import Transaction, Written
from rennet.storage.vectors import FILE, ROW, by_file, few_texts

WANTED, LOST = "__mv_wanted_", "__mv_lost_"
"""Columns of keys to look for, and of rows to look for."""


@dataclass(frozen=True)
class Applied:
    """How many rows went and came."""

    deleted: int = 0
    inserted: int = 0
    issue: Issue | None = None
    """Set when what was stored is not what the delta expected; nothing may be committed then."""
    total: int | None = None
    """How many rows there are now, where all were computed and only those that differ were written."""
    repeats: bool = False
    """A deleted row had equals that stay, or another row its hash."""


@dataclass(frozen=True)
class Deleted:
    """How many rows were deleted, and how many there must have been where that is known."""

    rows: int = 0
    expected: int | None = None
    repeats: bool = False
    """Their hashes did not tell them apart."""


Begin = Callable[[int | None], None]
"""Is told that rows are about to be looked for that go, and how many if that is known."""


def apply(
    plan: RefreshPlan,
    writer: Writer,
    transaction: Transaction,
    columns: list[str],
    repeats: bool = False,
    stored: int | None = None,
) -> Applied:
    """Put what a plan changes into the transaction, without committing it.

    `repeats` says that hashes did not tell the stored rows apart before, and `stored` how many there are.
    """
    with writer.keeping():
        arrival = Arrival(plan, writer, transaction, columns, _arriving(plan, writer), stored or 0)
        gone = Deleted()
        if plan.removed is not None:
            gone = _delete(plan.removed, writer, transaction, columns, repeats, arrival.begin)
            if gone.expected is not None and gone.rows != gone.expected:
                return Applied(issue=_mismatch(gone.expected, gone.rows))
        inserted = arrival.end(gone.rows)
        transaction.flush()
        return Applied(gone.rows, inserted, repeats=gone.repeats)


@dataclass
class Arrival:
    """The rows that come: written while those that go are looked for, where neither depends on the other."""

    plan: RefreshPlan
    writer: Writer
    transaction: Transaction
    columns: list[str]
    rows: Node | None
    stored: int
    _written: Callable[[], Written] | None = None

    def begin(self, lost: int | None) -> None:
        """Write them from now on: so many rows are about to go, None if nobody knows how many.

        Not if many go, for then files may be better written again, together with what comes.
        """
        wanted = None if self.plan.removed is None else rows_named(self.plan.removed)
        if self._written is not None or self.rows is None or wanted is None:
            return
        if not self.transaction.marks or not self.writer.few(wanted):
            return
        feed = bool(lost) and self._worth_a_feed(self.stored)
        self._written = self.transaction.append_beside(self._frame(self.rows), self._feed() if feed else None)

    def end(self, lost: int) -> int:
        """How many rows came, once they are written."""
        if self._written is not None:
            return self._written().rows
        if self.rows is None:
            return 0
        feed = 0 < lost < self.transaction.searched and self._worth_a_feed(self.transaction.searched)
        return self.transaction.append(self._frame(self.rows), self._feed() if feed else None).rows

    def _frame(self, node: Node) -> DataFrame:
        """The rows of a plan; if the driver has them, in one part: each is a file that is written."""
        rows = self.writer.dataframe(node).toDF(*self.columns)
        return rows.coalesce(1) if self.writer.in_driver(node) else rows

    def _worth_a_feed(self, searched: int) -> bool:
        return searched >= WORTH_A_FEED and self.transaction.has_feed

    def _feed(self) -> DataFrame | None:
        """The rows that go, where the plan itself says all of each."""
        removed = self.plan.removed
        if not isinstance(removed, Alike) or len(removed.delta.output) != len(self.columns) + 1:
            return None
        lost = self.writer.dataframe(removed.delta).toDF(*self.columns, WEIGHT).where(f"{WEIGHT} < 0")
        return repeated(lost, f"-{WEIGHT}")


def repeated(rows: DataFrame, times: str) -> DataFrame:
    """Every row as often as its weight says, and without the weight."""
    copies = rows.selectExpr("*", f"explode(sequence(1, {times})) AS __mv_copy")
    return copies.drop(WEIGHT, "__mv_copy")


def overwritten(transaction: Transaction, rows: DataFrame) -> Applied:
    """Put all rows of the query in the place of those that are stored."""
    written = transaction.overwrite(rows)
    return Applied(written.replaced, written.rows)


def _arriving(plan: RefreshPlan, writer: Writer) -> Node | None:
    """The rows that come, those of groups to be looked at again among them if there are any."""
    if plan.repair is None or plan.inserted is None or writer.dataframe(plan.repair.keys).isEmpty():
        return plan.inserted
    return union([plan.inserted, plan.repair.rows])


def _delete(
    removed: Removed,
    writer: Writer,
    transaction: Transaction,
    columns: list[str],
    repeats: bool,
    begin: Begin,
) -> Deleted:
    """Delete the rows that a plan removes; what is to be done meanwhile begins before they are looked for."""
    if isinstance(removed, Partitions):
        return Deleted(transaction.delete_partitions(removed.column, removed.values))
    if isinstance(removed, Alike):
        return _delete_alike(removed, writer, transaction, columns, repeats, begin)
    begin(None)
    if isinstance(removed, Placed):
        places = writer.dataframe(removed.rows).toDF(FILE, ROW)
        few = writer.few(removed.rows)
        return Deleted(transaction.delete(places.where(f"{ROW} IS NOT NULL"), few=few))
    keys = named(writer.dataframe(removed.keys), WANTED, len(removed.keys.output))
    target = _target(writer, transaction, _spans_of_keys(keys, removed, writer, transaction, columns))
    found = _of_keys(target, keys, removed, columns, writer.skipping)
    return Deleted(transaction.delete(found, few=writer.together))


def _delete_alike(
    removed: Alike,
    writer: Writer,
    transaction: Transaction,
    columns: list[str],
    repeats: bool,
    begin: Begin,
) -> Deleted:
    """By hash if that tells rows apart, for then no other column of the stored rows has to be read.

    It does if as many rows were lost as there are hashes of lost rows that one stored row has and no other.
    If not, rows are equal, or two have one hash, or what was lost is not stored: all columns are compared.

    Either way, only files are read that can hold a lost row by the values of its columns. All stored rows
    equal to it have those values, and so are in such files. A row in another file is none of the lost ones;
    if it has the hash of one by chance, it is well not to see it.
    """
    count = len(removed.delta.output) - 1
    lost = named(writer.dataframe(removed.delta), LOST, count + 1)
    # Of a large view it is worth a job to know where they can be.
    few = writer.together or (writer.few(removed.delta) and transaction.size < WORTH_KEY_RANGES)
    if CONTENT in columns[:count] and not repeats and few:
        deleted = _delete_few(writer, transaction, lost, columns.index(CONTENT), count, begin)
        if deleted is not None:
            return deleted
    expected, spans = _expected(lost, columns, count, skipping=not writer.together)
    if not expected:  # the view need not be read to find nothing
        return Deleted(0, 0)
    begin(expected)
    if CONTENT in columns[:count] and not repeats:
        target = _target(writer, transaction, spans)
        found = _alone(target, lost, f"{LOST}{columns.index(CONTENT)}")
        if transaction.delete(found, exactly=expected, few=writer.together) == expected:
            return Deleted(expected, expected)
    found = alike(_target(writer, transaction, spans), lost, columns, count)
    return Deleted(transaction.delete(found, few=writer.together), expected, repeats=True)


def _delete_few(
    writer: Writer, transaction: Transaction, lost: DataFrame, content: int, weight: int, begin: Begin
) -> Deleted | None:
    """The same for a few rows, whose hashes are looked for as values; None if they are many or not alone."""
    watched = not writer.together
    told = few_texts(writer.jvm, lost, f"concat({LOST}{content}, ' ', -{LOST}{weight})", watched)
    if told is None:
        return None
    wanted = [text.split(" ") for text in told]
    expected = sum(int(times) for _, times in wanted)
    if not wanted:  # the view need not be read to find nothing
        return Deleted(0, 0)
    begin(expected)
    same = f"{CONTENT} IN ({', '.join(hashed for hashed, _ in wanted)})"
    stored = _target(writer, transaction).where(same)
    found = few_texts(writer.jvm, stored, f"concat({CONTENT}, ' ', {ROW}, ' ', {FILE})", watched)
    places = [text.split(" ", 2) for text in found or ()]
    if len({hashed for hashed, *_ in places}) != expected or len(places) != expected:
        return None
    deleted = transaction.delete_few(by_file((row, file) for _, row, file in places))
    return None if deleted is None else Deleted(deleted, expected)


def _alone(target: DataFrame, lost: DataFrame, content: str) -> DataFrame:
    """The stored rows that have the hash of a lost row, which no other stored row has."""
    found = target.join(lost, F.expr(f"{CONTENT} = {content}"), "left_semi")
    counted = found.selectExpr(FILE, ROW, f"count(*) OVER (PARTITION BY {CONTENT}) AS __mv_copies")
    return counted.where("__mv_copies = 1").selectExpr(FILE, ROW)


def _target(writer: Writer, transaction: Transaction, within: Spans | None = None) -> DataFrame:
    """The stored rows, in one task if everything else is."""
    target = transaction.target(within)
    return target.coalesce(1) if writer.together else target


def _spans_of_keys(
    keys: DataFrame, removed: Keyed, writer: Writer, transaction: Transaction, columns: list[str]
) -> Spans:
    """Between which values the keys lie, if that is worth a job: stored rows of a key have its values."""
    if not writer.skipping or transaction.size < WORTH_KEY_RANGES:
        return {}
    stored = [columns[i] for i in removed.columns]
    asked = Asked.of(zip(stored, keys.schema.fields[: len(stored)], strict=True))
    if not asked.columns:
        return {}
    (row,) = keys.selectExpr(*asked.aggregates).collect()
    return asked.spans(row)


def _of_keys(
    target: DataFrame, keys: DataFrame, removed: Keyed, columns: list[str], skipping: bool
) -> DataFrame:
    """The stored rows that have one of the keys and, if ranges are given, lie in its range."""
    count = len(removed.columns)
    same = [f"{quote(columns[i])} <=> {WANTED}{n}" for n, i in enumerate(removed.columns)]
    if removed.within is not None:
        column = quote(columns[removed.within])
        if skipping:
            target = _between_bounds(target, column, keys, removed.unknown)
        low, high, whole = (f"{WANTED}{count + n}" for n in range(3))
        same.append(_inside(column, low, high, whole, removed.unknown))
    return target.join(keys, _all(same), "left_semi").selectExpr(FILE, ROW)


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


def _inside(value: str, low: str, high: str, whole: str, unknown: bool) -> str:
    """Is the value in the range? An end that is NULL is open; `unknown` says where a NULL value is."""
    known = "true" if unknown else f"{value} IS NOT NULL"
    return f"({whole} OR {known} AND coalesce({value} >= {low}, true) AND coalesce({value} <= {high}, true))"


def alike(target: DataFrame, lost: DataFrame, columns: list[str], count: int) -> DataFrame:
    """Of the stored rows equal to a lost row, as many as were lost: its `count` values, then its weight.

    Columns after those were computed when their row came.
    """
    kinds = target.schema
    values = {f"{LOST}{n}": name for n, name in enumerate(columns[:count])}
    maps = {value for value, name in values.items() if isinstance(kinds[name].dataType, MapType)}
    same = [
        _same_map(quote(name), value) if value in maps else f"{quote(name)} <=> {value}"
        for value, name in values.items()
    ]
    spelled = (f"coalesce(to_json({_entries(v)}), '')" if v in maps else v for v in values)
    by = f"PARTITION BY {', '.join(spelled)}" if values else ""
    copies = target.join(lost, _all(same), "inner").selectExpr(
        FILE, ROW, f"-{LOST}{count} AS {WEIGHT}", *values
    )
    numbered = copies.selectExpr("*", f"row_number() OVER ({by} ORDER BY {FILE}, {ROW}) AS __mv_copy")
    return numbered.where(f"__mv_copy <= {WEIGHT}").selectExpr(FILE, ROW)


def _same_map(left: str, right: str) -> str:
    """Maps cannot be compared, their sorted entries can; as a key of a join those would be compared byte by
    byte, and the bytes of a NULL inside of them mean nothing."""
    return f"CASE WHEN {_entries(left)} <=> {_entries(right)} THEN true ELSE false END"


def _entries(of: str) -> str:
    return f"sort_array(map_entries({of}))"


def _expected(lost: DataFrame, columns: list[str], count: int, skipping: bool) -> tuple[int, Spans]:
    """How many rows were lost and, for `skipping`, between which values theirs lie: one job for both."""
    computed = zip(columns[:count], lost.schema.fields[:count], strict=True)
    # Where hashes lie says nothing of where rows do.
    asked = Asked.of(pair for pair in computed if skipping and pair[0] != CONTENT)
    (row,) = lost.selectExpr(f"coalesce(sum(-{LOST}{count}), 0)", *asked.aggregates).collect()
    return int(row[0]), asked.spans(row)


def _all(conditions: list[str]) -> Column:
    return F.expr(" AND ".join(conditions) or "true")


def named(frame: DataFrame, prefix: str, count: int) -> DataFrame:
    """Names of their own, so that stored and computed columns cannot be confused."""
    return frame.toDF(*(f"{prefix}{n}" for n in range(count)))


def _mismatch(expected: int, deleted: int) -> Issue:
    return Issue(
        IssueType.DATA_HAS_CHANGED,
        f"the changes retract {expected} stored rows but only {deleted} were found",
    )
