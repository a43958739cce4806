"""Companies and securities through the quarters: who exists when, and the FINWIRE files that tell it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np

from rennet.bench.tpcdi.generator.draws import Ints, Mask, Stream
from rennet.bench.tpcdi.settings import FINWIRE_FROM, FIRST_BATCH, Growth, Settings

QUARTERS = (FIRST_BATCH.year - FINWIRE_FROM) * 4 + (FIRST_BATCH.month + 2) // 3
"""Quarters with a FINWIRE file, the last one unfinished."""
NEVER = 1 << 30
EPOCH = date(1970, 1, 1)
NEW, CHANGED, DELETED = 0, 1, 2


def day_number(day: date) -> int:
    """Days since 1970."""
    return (day - EPOCH).days


def quarter_start(quarter: int) -> int:
    """The first day of a quarter, counted from the first FINWIRE file."""
    return day_number(date(FINWIRE_FROM + quarter // 4, quarter % 4 * 3 + 1, 1))


def quarter_of(day: int) -> int:
    """The quarter a day belongs to."""
    found = date.fromordinal(EPOCH.toordinal() + day)
    return (found.year - FINWIRE_FROM) * 4 + (found.month - 1) // 3


@dataclass(frozen=True)
class Records:
    """What happened to the members of a population in one quarter."""

    kinds: Ints
    members: Ints
    versions: Ints
    """Names the content of each record: a deletion repeats the content that was there."""
    companies: Ints
    """The company of each security; empty for companies."""


class Population:
    """Companies, or securities: each is created, may change, may be deleted."""

    def __init__(self, growth: Growth, first_quarter: int, stream: Stream) -> None:
        self._growth = growth
        self._first = first_quarter
        self._active = frozenset(first_quarter + step for step in growth.every)
        self._stream = stream
        self._records = 0
        total = growth.initial + len(growth.every) * growth.new
        self.created = np.full(total, NEVER, np.int64)
        self.deleted = np.full(total, NEVER, np.int64)
        self.version = np.zeros(total, np.int64)
        self.company = np.zeros(total, np.int64)
        self.count = 0

    def listed(self, quarter: int) -> Ints:
        """Those that exist since an earlier quarter and are not deleted in this one or before."""
        return np.flatnonzero((self.created < quarter) & (self.deleted > quarter))

    def existing(self, quarter: int) -> Ints:
        """Those that existed at the end of the quarter before."""
        return np.flatnonzero((self.created < quarter) & (self.deleted >= quarter))

    def step(self, quarter: int, companies: Ints | None = None) -> Records:
        """Let a quarter happen. Securities belong to one of the companies given."""
        new, changed, gone = self._decide(quarter)
        members = np.concatenate([new, changed, gone])
        kinds = np.repeat([NEW, CHANGED, DELETED], [len(new), len(changed), len(gone)])
        fresh = kinds != DELETED
        self.created[new] = quarter
        self.deleted[gone] = quarter
        self.count += len(new)
        self.version[members[fresh]] = self._records + np.arange(int(fresh.sum()))
        self._records += int(fresh.sum())
        if companies is not None and len(members):
            drawn = companies[self._stream.below(len(companies), len(members))]
            self.company[members[fresh]] = drawn[fresh]
        return Records(kinds, members, self.version[members], self.company[members])

    def _decide(self, quarter: int) -> tuple[Ints, Ints, Ints]:
        nothing = np.empty(0, np.int64)
        if quarter == self._first:
            return np.arange(self._growth.initial), nothing, nothing
        if quarter not in self._active:
            return nothing, nothing, nothing
        new = self.count + np.arange(self._growth.new)
        alive: Mask = (self.created < quarter) & (self.deleted > quarter)
        touched = self._stream.pick(alive, self._growth.changed + self._growth.deleted)
        return new, touched[: self._growth.changed], touched[self._growth.changed :]


@dataclass(frozen=True)
class Market:
    """Both populations, after all quarters."""

    companies: Population
    securities: Population

    @staticmethod
    def empty(settings: Settings) -> Market:
        """Before the first quarter."""
        sizes, seed = settings.sizes, settings.seed
        return Market(
            Population(sizes.companies, 0, Stream(seed, "companies")),
            Population(sizes.securities, 1, Stream(seed, "securities")),
        )


def symbols(numbers: Ints) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Ticker symbols: fifteen letters that count."""
    out = np.empty((len(numbers), 15), np.uint8)
    rest = numbers.copy()
    for place in range(14, -1, -1):
        rest, letter = np.divmod(rest, 26)
        out[:, place] = letter + 65
    return out
