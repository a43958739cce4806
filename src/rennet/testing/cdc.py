"""What AUTO CDC means, as plainly as it can be said: sort all events, then apply them one by one.

This is the judge of `rennet.pipelines.cdc`, which sees the same events in any order and in any batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any

Values = tuple[Any, ...]


class Kind(IntEnum):
    """What an event does. Of one moment, truncates come first and deletes have the last word."""

    TRUNCATE = 0
    UPSERT = 1
    DELETE = 2


@dataclass(frozen=True)
class Event:
    """One change of one key; a truncate changes all, and its key means nothing."""

    key: Any
    sequence: Any
    kind: Kind = Kind.UPSERT
    values: Values = ()


@dataclass(frozen=True)
class Version:
    """One row of a type 2 table."""

    key: Any
    values: Values
    start: Any
    end: Any


def scd1(events: Iterable[Event], ignore_nulls: bool = False) -> dict[Any, Values]:
    """The newest values of every key that is not deleted."""
    rows: dict[Any, Values] = {}
    for event in in_order(events, ignore_nulls):
        if event.kind is Kind.TRUNCATE:
            rows.clear()
        elif event.kind is Kind.DELETE:
            rows.pop(event.key, None)
        else:
            rows[event.key] = _updated(rows.get(event.key), event.values, ignore_nulls)
    return rows


def scd2(
    events: Iterable[Event], ignore_nulls: bool = False, tracked: Sequence[int] | None = None
) -> set[Version]:
    """Every state a key has been in, from its first event to the event that ended it.

    An event that changes no tracked column opens no version: it updates the one that is open.
    """
    closed: set[Version] = set()
    open_versions: dict[Any, Version] = {}
    for event in in_order(events, ignore_nulls):
        before = open_versions.pop(event.key, None)
        values = _updated(before.values if before else None, event.values, ignore_nulls)
        if before and event.kind is Kind.UPSERT and _same(before.values, values, tracked):
            open_versions[event.key] = Version(event.key, values, before.start, None)
            continue
        if before:
            closed.add(Version(event.key, before.values, before.start, event.sequence))
        if event.kind is Kind.UPSERT:
            open_versions[event.key] = Version(event.key, values, event.sequence, None)
    return closed | set(open_versions.values())


def in_order(events: Iterable[Event], ignore_nulls: bool) -> list[Event]:
    """The events by sequence, those of one key and one moment made into one."""

    def moment(event: Event) -> tuple[Any, ...]:
        truncates = event.kind is Kind.TRUNCATE
        return (event.sequence, not truncates, "" if truncates else repr(event.key))

    found = sorted(events, key=moment)
    return [_simultaneous(list(same), ignore_nulls) for _, same in groupby(found, key=moment)]


def _simultaneous(events: list[Event], ignore_nulls: bool) -> Event:
    """A delete wins; else the greatest row or, where nulls say nothing, the greatest of each column."""
    last = max(events, key=lambda event: event.kind)
    if last.kind is not Kind.UPSERT:
        return last
    rows = [event.values for event in events]
    if ignore_nulls:
        values = tuple(max(column, key=_rank) for column in zip(*rows, strict=True))
    else:
        values = max(rows, key=lambda row: tuple(map(_rank, row)))
    return Event(last.key, last.sequence, Kind.UPSERT, values)


def _rank(value: Any) -> tuple[bool, Any]:
    """Nulls before everything."""
    return (value is not None, 0 if value is None else value)


def _updated(before: Values | None, values: Values, ignore_nulls: bool) -> Values:
    if before is None or not ignore_nulls:
        return values
    return tuple(old if new is None else new for old, new in zip(before, values, strict=False))


def _same(before: Values, after: Values, tracked: Sequence[int] | None) -> bool:
    columns = range(len(after)) if tracked is None else tracked
    return all(before[i] == after[i] for i in columns)
