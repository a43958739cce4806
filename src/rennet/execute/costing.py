"""What the cost model is told about a refresh, and what it learns from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from rennet.cost.choose import Costs
from rennet.cost.learned import Learned, Reader
from rennet.cost.rates import Rates, read_rates, shipped
from rennet.cost.sizes import Backing, Statistics, TableSize
from rennet.cost.spent import Spent, by_kind
from rennet.delta.generate import RefreshPlan
from rennet.delta.keys import group_columns
from rennet.enable.layout import Layout
from rennet.errors import SessionError
from rennet.jvm import Jvm
from rennet.plan.reading import used_columns
from rennet.storage.changes import ChangeKind, SourceChange
from rennet.storage.sources import SourceVersion, rows_held, size_in_bytes, snapshot

RATES = "rennet-rates.json"
"""In the warehouse: rates measured on this machine."""
ENOUGH_ROWS = 1000
"""From so many changed rows on, their size says how large rows are; a file of few is mostly overhead."""
ON_RECORD, LEAST = 12, 0.001
"""Physical operators whose CPU time is put on record, and how many seconds it must be."""


@dataclass(frozen=True)
class ViewSize:
    """The view before the refresh, as far as it is known."""

    bytes: int = 0
    rows: int | None = None
    repeats: bool = False
    """Hashes did not tell its rows apart: some are equal."""
    files: int = 1
    vectors: bool = True
    """May rows be marked as deleted in them?"""


def costs(
    jvm: Jvm,
    layout: Layout,
    now: Sequence[SourceVersion],
    changes: Sequence[SourceChange],
    view: ViewSize,
    learned: Learned,
    readers: Sequence[Reader] = (),
) -> Costs:
    """From the logs alone: no data is read, no job is run."""
    known = {change.source.path: change for change in changes if change.full_bytes}
    sizes = {source.path: _size(jvm, source, known.get(source.path)) for source in now}
    changed = {
        change.source.path: TableSize(float(change.bytes_to_read), _rows(change))
        for change in changes
        if change.kind is not ChangeKind.NONE
    }
    statistics = Statistics(
        sizes,
        changed,
        TableSize(float(view.bytes), None if view.rows is None else float(view.rows)),
        _keys(layout),
        layout.plan,
        used_columns(layout.plan),
        frozenset(change.source.path for change in changes if change.nets),
        frozenset(change.source.path for change in changes if change.kind is ChangeKind.APPEND),
        Backing(view.files, len(layout.stored), view.vectors),
    )
    return Costs(statistics, learned, rates(str(jvm.spark.conf.get("spark.sql.warehouse.dir"))), readers)


def _keys(layout: Layout) -> tuple[frozenset[int], ...]:
    if layout.grouped is None or not layout.unique:
        return ()
    return (frozenset(column.id for column in group_columns(layout.grouped)),)


def _size(jvm: Jvm, source: SourceVersion, change: SourceChange | None) -> TableSize:
    """The source, and how many rows it has: counted, or else guessed from how large they are."""
    there = snapshot(jvm, source)
    rows = rows_held(jvm, there)
    if rows is None and change is not None:
        return _whole(change)
    size = change.full_bytes if change is not None else size_in_bytes(jvm, there)
    return TableSize(float(size), None if rows is None else float(rows))


def _whole(change: SourceChange) -> TableSize:
    """The source; its rows are as large as the changed ones, where there are enough of those."""
    rows = change.changed_rows
    if rows is None or rows < ENOUGH_ROWS or not change.changed_bytes:
        return TableSize(float(change.full_bytes))
    return TableSize(float(change.full_bytes), change.full_bytes * rows / change.changed_bytes)


def _rows(change: SourceChange) -> float | None:
    return None if change.changed_rows is None else float(change.changed_rows)


def experience(
    costs: Costs,
    plan: RefreshPlan,
    rows: int,
    cpu_seconds: float,
    refresh: int,
    spent: Sequence[Spent] = (),
) -> Learned:
    """What is known after a refresh by this plan; after a full one, that includes the view's rows."""
    if plan.everything:
        view = replace(costs.statistics.view, rows=float(rows))
        costs = replace(costs, statistics=replace(costs.statistics, view=view))
    costed = costs.of(plan).operators
    return costs.learned.with_refresh(
        costed, cpu_seconds, refresh, costs.rates, plan.everything, by_kind(spent)
    )


def dearest(spent: Sequence[Spent]) -> tuple[dict[str, Any], ...]:
    """What the operators of a refresh took, for the record: those that took most."""
    found = sorted(spent, key=lambda each: -each.seconds)[:ON_RECORD]
    return tuple(each.to_dict() for each in found if each.seconds >= LEAST)


@cache
def rates(warehouse: str) -> Rates:
    """Those measured here, or those that come with rennet."""
    found = rates_file(warehouse)
    if found is None or not found.is_file():
        return shipped()
    try:
        return read_rates(found.read_text())
    except ValueError as error:
        what = f"{found} is not a file of rates: {error}"
        raise SessionError(what, "Run `rennet calibrate`, or remove the file.") from error


def rates_file(warehouse: str) -> Path | None:
    """Where a warehouse keeps its rates; none if it is not on this machine."""
    parts = urlparse(warehouse)
    return Path(unquote(parts.path)) / RATES if parts.scheme in ("", "file") else None
