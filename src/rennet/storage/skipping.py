"""Which files can hold rows that are looked for, by what the log says of each: none has to be opened.

The log says between which values those of a column of a file lie. If the values of the rows that are looked
for lie elsewhere, in any one column, the file holds none of them. Only types whose bounds in the log are
exact, or wrong by a known little, are compared, all of them as numbers: a day is a number of days, a moment
one of microseconds. Whatever the log does not say, or says in an unknown way, excludes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    ShortType,
    StructField,
    StructType,
    TimestampType,
)

from rennet.jvm import JavaObject, Jvm
from rennet.storage.names import quote
from rennet.storage.sources import metadata, to_json

Number = int | Decimal
MOST = 8
"""So many columns are asked for their bounds: one that files are ordered by is seldom further behind."""
DAY = 24 * 60 * 60 * 1_000_000
FIRST_DAY, FIRST_MOMENT = date(1970, 1, 1).toordinal(), datetime(1970, 1, 1, tzinfo=UTC)
FOLDING = "org.apache.spark.sql.catalyst.optimizer.ConstantFolding"


@dataclass(frozen=True)
class Kind:
    """How values of a type are compared."""

    number: str = "{}"
    """SQL: the number of a value."""
    value: str = "CAST('{}' AS {type})"
    """SQL: the value of a number."""
    noted: Callable[[Any], Number | None] = lambda found: found
    """The number of a bound as statistics have it; None if it is none."""
    text: Callable[[str], Number] | None = int
    """The number of a partition's value as the log writes it; None if that depends on a time zone."""
    slack: int = 0
    """How far from the truth a bound may be."""


def _day(text: str) -> int:
    return date.fromisoformat(text).toordinal() - FIRST_DAY


def _moment(text: str) -> int | None:
    found = datetime.fromisoformat(text)
    return None if found.tzinfo is None else (found - FIRST_MOMENT) // timedelta(microseconds=1)


WHOLE = Kind()
KINDS: dict[type[DataType], Kind] = {
    ByteType: WHOLE,
    ShortType: WHOLE,
    IntegerType: WHOLE,
    LongType: WHOLE,
    DecimalType: Kind(text=Decimal),
    DateType: Kind("unix_date({})", "date_from_unix_date({})", _day, _day),
    # Bounds are cut to milliseconds, and the distance from Greenwich that each is written with to minutes.
    TimestampType: Kind("unix_micros({})", "timestamp_micros({})", _moment, None, DAY),
}
"""Not among them: floating point numbers (NaN, two zeros), and strings (cut, and ordered by collations)."""


@dataclass(frozen=True)
class Span:
    """Between which numbers the values of a column lie, if any are not NULL, and whether some are."""

    type: DataType
    low: Number | None
    high: Number | None
    nulls: bool

    @property
    def kind(self) -> Kind:
        return KINDS[type(self.type)]

    def meets(self, low: Number, high: Number) -> bool:
        """Might one of its values lie between these?"""
        return self.low is not None and self.high is not None and low <= self.high and high >= self.low


Spans = Mapping[str, Span]
"""By the name of a stored column."""


@dataclass(frozen=True)
class Asked:
    """The columns of rows that are looked for whose values are asked for, and how the answer is read."""

    columns: tuple[tuple[str, StructField], ...]
    """The name of the stored column, and the computed one."""

    @classmethod
    def of(cls, columns: Iterable[tuple[str, StructField]]) -> Asked:
        """The first few whose values can be compared with bounds."""
        return cls(tuple(pair for pair in columns if type(pair[1].dataType) in KINDS)[:MOST])

    @property
    def aggregates(self) -> list[str]:
        """What tells their spans, to be computed along with whatever else is."""
        made = ["count(*)"]
        for _, column in self.columns:
            name, number = quote(column.name), KINDS[type(column.dataType)].number
            made += [number.format(f"min({name})"), number.format(f"max({name})"), f"count({name})"]
        return made

    def spans(self, answer: Row) -> dict[str, Span]:
        """From the values of the aggregates, which are the last ones of the answer."""
        count, *told = answer[len(answer) - len(self.columns) * 3 - 1 :]
        return {
            name: Span(column.dataType, told[3 * n], told[3 * n + 1], told[3 * n + 2] < count)
            for n, (name, column) in enumerate(self.columns)
        }


# -- statistics


@dataclass(frozen=True)
class Excluding:
    """Tells files that cannot hold rows within all of the spans."""

    spans: Sequence[tuple[str, Span]]
    """By what the log calls the column."""
    partitioned: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def of(cls, described: Mapping[str, Any], spans: Spans) -> Excluding:
        """For a table with this metadata; a column of another type than its span's is left out."""
        schema = StructType.fromJson(json.loads(described["schemaString"]))
        known = {column.name: column for column in schema}
        mapped = described.get("configuration", {}).get("delta.columnMapping.mode", "none") != "none"

        def called(name: str) -> str:
            notes = known[name].metadata if mapped else {}
            return str(notes.get("delta.columnMapping.physicalName", name))

        compared = [
            (called(name), span)
            for name, span in spans.items()
            if name in known and known[name].dataType == span.type
        ]
        return cls(compared, frozenset(called(name) for name in described.get("partitionColumns", ())))

    def excludes(self, file: Mapping[str, Any]) -> bool:
        """Is one of the columns sure to have no value of its span in this file?"""
        text = file.get("stats")
        stats = json.loads(text, parse_float=Decimal) if text else {}
        return any(
            _outside_partition(file, name, span)
            if name in self.partitioned
            else _outside_bounds(stats, name, span)
            for name, span in self.spans
        )


def _outside_partition(file: Mapping[str, Any], name: str, span: Span) -> bool:
    values = file.get("partitionValues") or {}
    if name not in values:
        return False
    text = values[name]
    if text is None or text == "":
        return not span.nulls
    number = None if span.kind.text is None else _number(span.kind.text, text)
    return number is not None and not span.meets(number, number)


def _outside_bounds(stats: Mapping[str, Any], name: str, span: Span) -> bool:
    """Bounds of a file whose rows are partly deleted are still bounds, and no NULL at all is still none."""
    if span.nulls and (stats.get("nullCount") or {}).get(name) != 0:
        return False
    low, high = (_noted(span.kind, (stats.get(end) or {}).get(name)) for end in ("minValues", "maxValues"))
    if low is None or high is None:
        return False
    slack = span.kind.slack
    # A decimal that is added to, even nothing, is rounded to 28 digits.
    return not (span.meets(low - slack, high + slack) if slack else span.meets(low, high))


def _noted(kind: Kind, found: object) -> Number | None:
    number = None if found is None or isinstance(found, bool) else _number(kind.noted, found)
    return number if isinstance(number, int | Decimal) else None


def _number(read: Callable[[Any], Number | None], found: object) -> Number | None:
    try:
        return read(found)
    except (ValueError, TypeError, OverflowError, InvalidOperation):  # such as days after the year 9999
        return None


# -- files


def narrowed(jvm: Jvm, at: JavaObject, listed: JavaObject, spans: Spans) -> JavaObject:
    """Of the files of a version, which are all known, those that can hold rows within the spans."""
    if not spans or listed.size() < 2:
        return listed
    excluding = Excluding.of(metadata(jvm, at), spans)
    if not excluding.spans:
        return listed
    files = json.loads(to_json(jvm, listed))
    kept = [n for n, file in enumerate(files) if not excluding.excludes(file)]
    return listed if len(kept) == len(files) else jvm.seq(listed.apply(n) for n in kept)


def searched(jvm: Jvm, at: JavaObject, rows: DataFrame, spans: Spans) -> JavaObject:
    """The same where files are not known: Delta has its own job look for them, as it does for every query.

    It compares columns with values only where those are literals, of the column's own type.
    """
    folding = jvm.singleton(FOLDING)
    known = {column.name: column.dataType for column in rows.schema}
    asked = [
        folding.apply(jvm.analyzed(rows.where(_within(name, span)))).condition()
        for name, span in spans.items()
        if known.get(name) == span.type
    ]
    return at.filesForScan(jvm.seq(asked), False).files()


def _within(name: str, span: Span) -> str:
    column = quote(name)
    parts: Iterable[str] = [f"{column} IS NULL"] if span.nulls else []
    if span.low is not None and span.high is not None:
        low, high = (
            span.kind.value.format(end, type=span.type.simpleString()) for end in (span.low, span.high)
        )
        parts = [*parts, f"({column} >= {low} AND {column} <= {high})"]
    return " OR ".join(parts) or "false"
