"""What refreshes of a view have really cost, kept with the view, and what that says about the next one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from rennet.cost.operators import Kind, Operator
from rennet.cost.rates import Rates

NEAR = 4.0
"""Up to so many times more or less work, a past cost is scaled; beyond, only the difference is estimated."""
RECORDS = 3
"""Sizes of work remembered for a shape."""
SHAPES = 120
"""Shapes remembered for a view; the ones not seen for longest are forgotten."""
UNITS = 3
"""The version of what operators are counted in; it grows when `cost/operators.py` counts in another way."""
DEFAULT = "default"
TRUST, LEAST_TRUST = 0.85, 0.5
"""How much of a record is believed after every refresh that did not renew it, and at the least."""


@dataclass(frozen=True)
class Record:
    """What so many units once cost."""

    units: float
    seconds: float
    refresh: int
    """The version of the backing table that the refresh wrote."""
    turn: int = 0
    """Which refresh of the view that was, counted from one."""


@dataclass(frozen=True)
class Costed:
    """An operator, what it is expected to cost, and how that is known."""

    operator: Operator
    seconds: float
    basis: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "operator": self.operator.text,
            "kind": str(self.operator.kind),
            "units": round(self.operator.units),
            "seconds": round(self.seconds, 4),
            "basis": self.basis,
        }


@dataclass(frozen=True)
class Reader:
    """A view below another one, and what it costs after the other was refreshed in either way."""

    name: str
    incremental: float
    full: float


@dataclass(frozen=True)
class Learned:
    """Records by shape, and how refreshes compare with the rates, by kind."""

    records: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    paces: Mapping[str, float] = field(default_factory=dict)
    full: float = 0.0
    """CPU seconds of the last full recompute."""
    incremental: float = 0.0
    """CPU seconds of the last refresh that was none."""
    turns: int = 0
    """Refreshes that were measured."""

    @property
    def untested(self) -> bool:
        """Is it known what a full recompute takes, and only guessed what any other refresh would?"""
        return self.full > 0 and not self.incremental

    def reader(self, name: str) -> Reader:
        """This view as one that reads another: if all of that is rewritten, all of this is recomputed."""
        return Reader(name, min(self.incremental, self.full), self.full)

    def cost(self, operator: Operator, rates: Rates, fading: bool = False) -> Costed:
        """From the record nearest in size, or else from the rate of its kind.

        If `fading`, records count for less with every refresh since: a technique that once looked too dear,
        when the JVM was cold or the machine busy, is tried again, unless it was dearer by far.
        """
        rate = rates[operator.kind] * self.paces.get(operator.kind, 1.0)
        known = self.records.get(operator.shape)
        if not known:
            basis = "other operators" if operator.kind in self.paces else DEFAULT
            return Costed(operator, operator.units * rate, basis)
        nearest = min(known, key=lambda record: abs(_log_ratio(operator.units, record.units)))
        seconds = _scaled(nearest, operator.units, rate)
        if fading:
            seconds *= max(LEAST_TRUST, TRUST ** (self.turns - nearest.turn))
        return Costed(operator, seconds, f"version {nearest.refresh}")

    def with_refresh(
        self,
        costed: Sequence[Costed],
        cpu_seconds: float,
        refresh: int,
        rates: Rates,
        full: bool = False,
        spent: Mapping[Kind, float] | None = None,
    ) -> Learned:
        """What was really spent, divided among the operators of a kind as they were expected to spend it.

        `spent` says how much each kind of work took, where that is known.
        """
        if sum(each.seconds for each in costed) <= 0 or cpu_seconds <= 0:
            return self
        factors = _factors(costed, cpu_seconds, spent or {}, rates)
        costed = [replace(each, seconds=each.seconds * factors[each.operator.kind]) for each in costed]
        records = dict(self.records)
        for shape, (units, seconds) in _by_shape(costed).items():
            made = Record(units, seconds, refresh, self.turns + 1)
            others = [r for r in records.pop(shape, ()) if abs(_log_ratio(r.units, units)) > math.log(2)]
            records[shape] = (*others, made)[-RECORDS:]
        latest = dict(list(records.items())[-SHAPES:])
        paces = {**self.paces, **_paces(costed, rates)}
        last = (cpu_seconds, self.incremental) if full else (self.full, cpu_seconds)
        return Learned(latest, paces, last[0], last[1], self.turns + 1)

    def to_json(self) -> dict[str, Any]:
        records = {
            shape: [[_short(r.units), _short(r.seconds), r.refresh, r.turn] for r in found]
            for shape, found in self.records.items()
        }
        paces = {kind: _short(pace) for kind, pace in self.paces.items()}
        totals = {"full": _short(self.full), "incremental": _short(self.incremental), "turns": self.turns}
        return {"units": UNITS, "records": records, "paces": paces, **totals}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> Learned:
        """What was measured in other units says nothing any more, but for the whole of a refresh."""
        known = stored if stored.get("units") == UNITS else {}
        records = {
            shape: tuple(Record(*each) for each in found) for shape, found in known.get("records", {}).items()
        }
        full, incremental = (float(stored.get(name, 0.0)) for name in ("full", "incremental"))
        paces, turns = dict(known.get("paces", {})), int(stored.get("turns", 0))
        return Learned(records, paces, full, incremental, turns)


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def _log_ratio(units: float, other: float) -> float:
    return math.log(max(units, 1.0) / max(other, 1.0))


def _scaled(record: Record, units: float, rate: float) -> float:
    ratio = max(units, 1.0) / max(record.units, 1.0)
    if 1 / NEAR <= ratio <= NEAR:
        return record.seconds * ratio
    # Far away, what a unit cost then says little: most of it may not have depended on the size at all.
    return max(record.seconds * min(1.0, ratio), record.seconds + (units - record.units) * rate)


def _by_shape(costed: Sequence[Costed]) -> dict[str, tuple[float, float]]:
    """Units and seconds of each shape; the mean where a plan has several operators of one."""
    found: dict[str, list[Costed]] = {}
    for each in costed:
        found.setdefault(each.operator.shape, []).append(each)
    return {
        shape: (fmean(each.operator.units for each in all_), fmean(each.seconds for each in all_))
        for shape, all_ in found.items()
    }


def _factors(
    costed: Sequence[Costed], cpu_seconds: float, spent: Mapping[Kind, float], rates: Rates
) -> dict[Kind, float]:
    """How many times what was expected each kind of work took.

    Which join it is to be, Spark decides when it sees the rows: joins count as one kind. What was spent on
    work that nobody expected is shared by all that was. So is what is more than a kind is believed to take:
    filters of hidden columns, for instance, which a scan of marked rows comes with.
    """
    expected, most = defaultdict[str, float](float), defaultdict[str, float](float)
    for each in costed:
        expected[_family(each.operator.kind)] += each.seconds
        most[_family(each.operator.kind)] += MOST * each.operator.units * rates[each.operator.kind]
    found: dict[str, float] = defaultdict(float)
    for kind, seconds in spent.items():
        if expected[_family(kind)] > 0:
            found[_family(kind)] += seconds
    found = {family: min(seconds, most[family]) for family, seconds in found.items()}
    known = sum(found.values())
    if known <= 0:
        found, known = expected, sum(expected.values())
    return {
        kind: found.get(_family(kind), 0.0) / expected[_family(kind)] * cpu_seconds / known
        if expected[_family(kind)] > 0
        else 0.0
        for kind in Kind
    }


def _family(kind: Kind) -> str:
    return "join" if kind in (Kind.BROADCAST_JOIN, Kind.SHUFFLE_JOIN, Kind.NESTED_JOIN) else str(kind)


def _paces(costed: Sequence[Costed], rates: Rates) -> dict[str, float]:
    """How many times its rate each kind of work cost."""
    paces: dict[str, float] = {}
    for kind in Kind:
        mine = [each for each in costed if each.operator.kind is kind]
        default = sum(each.operator.units for each in mine) * rates[kind]
        spent = sum(each.seconds for each in mine)
        if default > MEANINGFUL and spent > 0:
            paces[kind] = min(MOST, max(1 / MOST, spent / default))
    return paces


MEANINGFUL = 0.02
"""Seconds below which work says nothing about its pace."""
MOST = 10.0
"""No kind of work is believed to be more than so many times dearer or cheaper than its rate."""
