"""WatchHistory.txt: customers begin to watch securities, and some stop."""

from __future__ import annotations

import numpy as np

from rennet.bench.tpcdi.generator import text
from rennet.bench.tpcdi.generator.customers import Customers
from rennet.bench.tpcdi.generator.draws import Ints, Keyed, Stream, below
from rennet.bench.tpcdi.generator.files import Feed, Files, flags
from rennet.bench.tpcdi.generator.market import Market, day_number, quarter_of, symbols
from rennet.bench.tpcdi.generator.text import DAY, Chars
from rennet.bench.tpcdi.settings import FIRST_BATCH, TRADES_FROM, Settings, placed_watches

REMEMBERED = 4_000_000
"""Watches that may still be removed. When there are so many, new ones stay for good: memory is bounded."""
ATTEMPTS = 60
"""How often to try other customers for watches that came to nothing."""
CHUNK = 20_000


class Watches:
    """Each customer goes through all securities in an order of its own, so that no pair comes twice."""

    def __init__(self, settings: Settings, customers: Customers, market: Market) -> None:
        self._settings = settings
        self._customers = customers
        self._market = market
        self._stream = Stream(settings.seed, "watches")
        securities = len(market.securities.created)
        self._modulus = _prime_from(securities)
        everyone = np.arange(len(customers.born))
        keyed = Keyed(settings.seed, "watching")
        self._stride = 1 + below(keyed.bits("stride", everyone), self._modulus - 1)
        self._start = below(keyed.bits("start", everyone), self._modulus)
        self._seen = np.zeros(len(everyone), np.int64)
        """How far each customer has come in its order."""
        self._active = np.empty((1 << 16, 2), np.int32)
        """Pairs that are watched: the first `_watching` rows."""
        self._watching = 0
        self._written = 0

    def history(self, files: Files) -> None:
        """The historical load."""
        sizes, waiting = self._settings.sizes, list[Chars]()
        start, end = day_number(TRADES_FROM) * DAY, (day_number(FIRST_BATCH) + 1) * DAY
        with files.open(1, "WatchHistory.txt") as sink:
            for slot in range(sizes.slots):
                begin, until = (start + (end - start) * n // sizes.slots for n in (slot, slot + 1))
                rows = self._slot(sizes.watches_per_slot, begin, until, removing=slot > 0)
                waiting.append(text.lines(rows, "|"))
                if sum(map(len, waiting)) >= CHUNK or slot == sizes.slots - 1:
                    sink.write(text.below_each_other(waiting))
                    waiting = []
            self._written = sink.rows

    def batch(self, feed: Feed, batch: int, day: int) -> None:
        """An incremental batch."""
        rows = self._slot(self._settings.sizes.watches_per_batch, day * DAY, (day + 1) * DAY, removing=True)
        count = len(rows[0])
        numbers = self._written + np.arange(count)
        self._written += count
        lines = text.lines([flags(count), text.whole(numbers), *rows], "|")
        feed.deliver(batch, numbers, lines, feed.held_back(count))

    def _slot(self, count: int, begin: int, end: int, removing: bool) -> list[Chars]:
        """The records of a stretch of time, in its order."""
        placing = placed_watches(count) if removing else count
        removed = self._remove(count - placing)
        placed = self._place(count - len(removed), begin)
        pairs = np.concatenate([placed, removed])
        action = np.repeat([0, 1], [len(placed), len(removed)])
        order = self._stream.order(len(pairs))
        moments = np.sort(begin + self._stream.below(end - begin, len(pairs)))
        self._remember(placed)
        return [
            text.whole(pairs[order, 0]),
            symbols(pairs[order, 1]),
            text.moments(moments),
            text.chosen(("ACTV", "CNCL"), action[order]),
        ]

    def _place(self, count: int, moment: int) -> Ints:
        """New pairs of customers that exist and securities that are listed, if there are still so many."""
        securities = self._market.securities
        quarter = quarter_of(moment // DAY)
        listed = np.zeros(self._modulus, np.bool_)
        listed[securities.listed(quarter)] = True
        existing = self._customers.dealing(moment)
        found: list[Ints] = []
        wanted = np.sort(self._stream.below(existing, count))
        for _ in range(ATTEMPTS):
            who, first, times = np.unique(wanted, return_index=True, return_counts=True)
            turn = self._seen[wanted] + np.arange(len(wanted)) - np.repeat(first, times)
            self._seen[who] += times
            what = (self._start[wanted] + turn * self._stride[wanted]) % self._modulus
            good = listed[what] & (turn < self._modulus)
            found.append(np.stack([wanted[good], what[good]], axis=1))
            wanted = np.sort(self._stream.below(existing, int((~good).sum())))
        return np.concatenate(found)

    def _remove(self, count: int) -> Ints:
        """Pairs that are watched until now; others from the end of the list take their places."""
        chosen = self._stream.pick(np.ones(self._watching, np.bool_), count)
        removed = self._active[chosen].astype(np.int64)
        left = self._watching - len(chosen)
        staying = np.setdiff1d(np.arange(left, self._watching), chosen)
        self._active[chosen[chosen < left]] = self._active[staying]
        self._watching = left
        return removed

    def _remember(self, placed: Ints) -> None:
        """Add pairs that may be removed later, as many as there is room for."""
        kept = placed[: REMEMBERED - self._watching]
        until = self._watching + len(kept)
        if until > len(self._active):
            self._active = np.concatenate([self._active, np.empty((until, 2), np.int32)])
        self._active[self._watching : until] = kept
        self._watching = until


def _prime_from(least: int) -> int:
    """The first prime number that is not smaller."""
    candidate = max(least, 2)
    while any(candidate % divisor == 0 for divisor in range(2, int(candidate**0.5) + 1)):
        candidate += 1
    return candidate
