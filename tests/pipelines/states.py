"""What AUTO CDC keeps per key, and how a batch joins it: the algebra of the Spark code, on plain values.

Both states only ever grow, and joining is commutative, associative and idempotent. That is why the order
of events, their batches and their repetition cannot matter; the tests show that it is also enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rennet.testing.cdc import Event, Kind, Version, _rank, scd2

Values = tuple[Any, ...]


@dataclass
class Latest:
    """Type 1: the last upsert, the last delete, and, where nulls are ignored, when each value was set."""

    upsert: tuple[Any, Values] | None = None
    delete: Any = None
    columns: dict[int, tuple[Any, Any]] = field(default_factory=dict)


class Type1:
    """A type 1 table that has seen some of the events."""

    def __init__(self, ignore_nulls: bool) -> None:
        self.ignore_nulls = ignore_nulls
        self.rows: dict[Any, Latest] = {}
        self.truncated: Any = None

    def apply(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.kind is Kind.TRUNCATE:
                self.truncated = _later(self.truncated, event.sequence)
                continue
            row = self.rows.setdefault(event.key, Latest())
            if event.kind is Kind.DELETE:
                row.delete = _later(row.delete, event.sequence)
            else:
                self._upsert(row, event)
        self.rows = {key: row for key, row in self.rows.items() if self._needed(row)}

    def _upsert(self, row: Latest, event: Event) -> None:
        new = (event.sequence, event.values)
        if row.upsert is None or _order(new) > _order(row.upsert):
            row.upsert = new
        for i, value in enumerate(event.values):
            known = row.columns.get(i)
            if value is not None and (known is None or (event.sequence, value) > known):
                row.columns[i] = (event.sequence, value)

    def _needed(self, row: Latest) -> bool:
        """What lies before the last truncate is dead, and so is whatever may still arrive there."""
        known = [each for each in (row.delete, row.upsert and row.upsert[0]) if each is not None]
        return self.truncated is None or max(known) >= self.truncated

    def shown(self) -> dict[Any, Values]:
        found = {}
        for key, row in self.rows.items():
            if row.upsert is not None and self._counts(row, row.upsert[0]):
                found[key] = self._values(row, row.upsert[1])
        return found

    def _counts(self, row: Latest, sequence: Any) -> bool:
        after_delete = row.delete is None or sequence > row.delete
        return after_delete and (self.truncated is None or sequence >= self.truncated)

    def _values(self, row: Latest, values: Values) -> Values:
        if not self.ignore_nulls:
            return values
        held = [row.columns.get(i) for i in range(len(values))]
        return tuple(each[1] if each and self._counts(row, each[0]) else None for each in held)


class Type2:
    """A type 2 table that has seen some of the events: one of each key and moment is kept."""

    def __init__(self, ignore_nulls: bool, tracked: Sequence[int] | None) -> None:
        self.ignore_nulls = ignore_nulls
        self.tracked = tracked
        self.kept: dict[tuple[Any, Any], Event] = {}

    def apply(self, events: Iterable[Event]) -> None:
        for event in events:
            place = (event.key, event.sequence)
            self.kept[place] = self._joined(self.kept.get(place), event)

    def _joined(self, known: Event | None, event: Event) -> Event:
        if known is None or event.kind > known.kind:
            return event
        if event.kind < known.kind or event.kind is Kind.DELETE:
            return known
        if not self.ignore_nulls:
            return max(known, event, key=lambda each: tuple(map(_rank, each.values)))
        values = tuple(max(pair, key=_rank) for pair in zip(known.values, event.values, strict=True))
        return Event(event.key, event.sequence, Kind.UPSERT, values)

    def shown(self) -> set[Version]:
        return scd2(self.kept.values(), self.ignore_nulls, self.tracked)


def _later(known: Any, sequence: Any) -> Any:
    return sequence if known is None else max(known, sequence)


def _order(upsert: tuple[Any, Values]) -> tuple[Any, ...]:
    return (upsert[0], tuple(map(_rank, upsert[1])))
