"""DailyMarket.txt: every listed security on every day."""

from __future__ import annotations

import numpy as np

from rennet.bench.tpcdi.generator import text
from rennet.bench.tpcdi.generator.draws import Ints, Stream
from rennet.bench.tpcdi.generator.files import Feed, Files, flags
from rennet.bench.tpcdi.generator.market import Market, day_number, quarter_of, symbols
from rennet.bench.tpcdi.generator.text import Chars
from rennet.bench.tpcdi.settings import FIRST_BATCH, MARKET_FROM, Settings

CHUNK = 20_000


class DailyMarket:
    """Prices. The file is always a day behind its batch."""

    def __init__(self, settings: Settings, market: Market) -> None:
        self._stream = Stream(settings.seed, "daily market")
        self._market = market
        self._written = 0

    def history(self, files: Files) -> None:
        """The historical load: two years."""
        waiting: list[tuple[int, Ints]] = []
        rows = 0
        last = day_number(FIRST_BATCH) - 1
        with files.open(1, "DailyMarket.txt") as sink:
            for day in range(day_number(MARKET_FROM), last + 1):
                listed = self._market.securities.listed(quarter_of(day))
                for start in range(0, len(listed), CHUNK):
                    waiting.append((day, listed[start : start + CHUNK]))
                    rows += len(waiting[-1][1])
                    if rows >= CHUNK:
                        sink.write(text.lines(self._prices(waiting), "|"))
                        waiting, rows = [], 0
            if waiting:
                sink.write(text.lines(self._prices(waiting), "|"))
            self._written = sink.rows

    def batch(self, feed: Feed, batch: int, day: int) -> None:
        """An incremental batch: the day before it."""
        rows = self._prices([(day - 1, self._market.securities.listed(quarter_of(day - 1)))])
        count = len(rows[0])
        numbers = self._written + np.arange(count)
        self._written += count
        lines = text.lines([flags(count), text.whole(numbers), *rows], "|")
        feed.deliver(batch, numbers, lines, feed.held_back(count))

    def _prices(self, groups: list[tuple[int, Ints]]) -> list[Chars]:
        days = np.repeat([day for day, _ in groups], [len(who) for _, who in groups])
        who = np.concatenate([who for _, who in groups])
        n, stream = len(who), self._stream
        close = stream.between(50, 100_000, n)
        high = (close * (1 + 0.5 * stream.fraction(n))).astype(np.int64)
        low = np.ceil(close * (0.5 + 0.5 * stream.fraction(n))).astype(np.int64)
        volume = stream.between(10**3, 10**9, n)
        prices = (text.money(cents) for cents in (close, high, low))
        return [text.days(days), symbols(who), *prices, text.whole(volume)]
