"""Trade.txt, TradeHistory.txt, CashTransaction.txt and HoldingHistory.txt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rennet.bench.tpcdi.generator import text
from rennet.bench.tpcdi.generator.draws import Ints, Keyed, Mask, Stream, chance
from rennet.bench.tpcdi.generator.files import Feed, Files, Sink, flags
from rennet.bench.tpcdi.generator.market import day_number, symbols
from rennet.bench.tpcdi.generator.text import DAY, Chars
from rennet.bench.tpcdi.generator.trades import KINDS, NEVER, Exchange, Trades, limits, sells
from rennet.bench.tpcdi.settings import FIRST_BATCH, TRADES_FROM, Settings

CHUNK = 20_000
STATUS = ("PNDG", "SBMT", "CMPT", "CNCL")
PNDG, SBMT, CMPT, CNCL = range(4)
FILES = ("Trade.txt", "CashTransaction.txt", "HoldingHistory.txt")


@dataclass(frozen=True)
class Events:
    """Changes of the state of orders, by order and then by time."""

    trades: Trades
    moments: Ints
    status: Ints
    steps: Ints
    """0 when placed, 1 when submitted or cancelled, 2 when completed: the last digits of CDC_DSN."""


def events(trades: Trades, start: int, end: int) -> Events:
    """All that happened to orders in a stretch of time."""
    limit, cancelled = limits(trades), trades["cancelled"]
    submitted = np.where(limit, trades["submitted"], NEVER)
    moments = np.stack([trades["placed"], submitted, trades["ended"]], axis=1)
    placed_as = np.where(limit, PNDG, SBMT)
    status = np.stack([placed_as, np.full(len(trades), SBMT), np.where(cancelled, CNCL, CMPT)], axis=1)
    steps = np.stack([np.zeros_like(placed_as), np.ones_like(placed_as), np.where(cancelled, 1, 2)], axis=1)
    rows, columns = np.nonzero((moments >= start) & (moments < end))
    return Events(trades[rows], moments[rows, columns], status[rows, columns], steps[rows, columns])


def latest(found: Events) -> Events:
    """The last event of each order."""
    ids = found.trades["id"]
    last = np.append(ids[1:] != ids[:-1], True) if len(ids) else np.empty(0, np.bool_)
    return Events(found.trades[last], found.moments[last], found.status[last], found.steps[last])


class TradeFiles:
    """Writes everything about orders, and remembers those with something yet to come."""

    def __init__(self, files: Files, settings: Settings, exchange: Exchange) -> None:
        self._files = files
        self._settings = settings
        self._exchange = exchange
        self._stream = Stream(settings.seed, "cash")
        self._late = Keyed(settings.seed, "late trades")
        self._open: list[Trades] = []
        self._feeds = {name: Feed(files, settings, name) for name in FILES}
        self._wrong = {"T_InvalidCommision": 0, "T_InvalidCharge": 0}

    def history(self) -> None:
        """The historical load: all days up to the first batch."""
        end = (day_number(FIRST_BATCH) + 1) * DAY
        waiting: list[Trades] = []
        rows = 0
        with (
            self._files.open(1, "Trade.txt") as trade,
            self._files.open(1, "TradeHistory.txt") as history,
            self._files.open(1, "CashTransaction.txt") as cash,
            self._files.open(1, "HoldingHistory.txt") as holding,
        ):
            for day in range(day_number(TRADES_FROM), day_number(FIRST_BATCH) + 1):
                waiting.append(self._exchange.day(day, self._settings.sizes.trades_per_day))
                rows += len(waiting[-1])
                if rows >= CHUNK or (day + 1) * DAY == end:
                    self._write_history(np.concatenate(waiting), end, (trade, history, cash, holding))
                    waiting, rows = [], 0
        for name, count in self._wrong.items():
            self._files.audit(1, "Trade", name, count)

    def _write_history(self, trades: Trades, end: int, sinks: tuple[Sink, Sink, Sink, Sink]) -> None:
        trade, history, cash, holding = sinks
        found = events(trades, 0, end)
        now = latest(found)
        trade.write(text.lines(self._trade(now), "|"))
        columns = [text.whole(found.trades["id"]), text.moments(found.moments), _status(found.status)]
        history.write(text.lines(columns, "|"))
        holding.write(text.lines(_holding(now.trades[now.status == CMPT]), "|"))
        cash.write(text.lines(self._cash(trades[trades["paid"] < end]), "|"))
        done = now.trades[now.status == CMPT]
        worth = done["price"] * done["quantity"]
        self._wrong["T_InvalidCommision"] += int((done["commission"] > worth).sum())
        self._wrong["T_InvalidCharge"] += int((done["fee"] > worth).sum())
        self._keep(trades, end)

    def _keep(self, trades: Trades, end: int) -> None:
        """Remember the orders with events after a moment; those before are written."""
        paid = np.where(trades["cancelled"], 0, trades["paid"])
        self._open.append(trades[np.maximum(trades["ended"], paid) >= end])

    def batch(self, batch: int, day: int) -> None:
        """An incremental batch: what happened on its day."""
        placed = self._exchange.day(day, self._settings.sizes.trades_per_batch)
        trades = np.concatenate([*self._open, placed])
        start, end = day * DAY, (day + 1) * DAY
        found = events(trades, start, end)
        numbers = 4 * found.trades["id"] + found.steps
        flag = text.chosen("IU", (found.steps > 0).astype(np.int64))
        self._deliver(batch, 0, numbers, [flag, *self._trade(found)], found.trades, found.steps > 0)
        paid = trades[(trades["paid"] >= start) & (trades["paid"] < end)]
        self._deliver(batch, 1, 4 * paid["id"] + 3, [flags(len(paid)), *self._cash(paid)], paid)
        done = found.trades[found.status == CMPT]
        self._deliver(batch, 2, 4 * done["id"] + 2, [flags(len(done)), *_holding(done)], done)
        self._open = []
        self._keep(trades, end)

    def _deliver(
        self,
        batch: int,
        which: int,
        numbers: Ints,
        columns: list[Chars],
        trades: Trades,
        may_wait: Mask | None = None,
    ) -> None:
        """Write a file of a batch. What is known of an order, but that it was placed, is late together."""
        late = chance(self._late.bits(f"batch {batch}", trades["id"]), self._settings.late)
        if may_wait is not None:
            late &= may_wait
        rows = text.lines([columns[0], text.whole(numbers), *columns[1:]], "|")
        self._feeds[FILES[which]].deliver(batch, numbers, rows, late)

    def _trade(self, found: Events) -> list[Chars]:
        trades, done = found.trades, found.status == CMPT
        amounts = ("price", "fee", "commission", "tax")
        return [
            text.whole(trades["id"]),
            text.moments(found.moments),
            _status(found.status),
            text.chosen(KINDS, trades["kind"]),
            text.whole(trades["for_cash"]),
            symbols(trades["security"]),
            text.whole(trades["quantity"]),
            text.money(trades["bid"]),
            text.whole(trades["account"]),
            text.whole(trades["broker"]),
            *(text.only(text.money(trades[name]), done) for name in amounts),
        ]

    def _cash(self, trades: Trades) -> list[Chars]:
        n = len(trades)
        amounts = self._stream.between(100_000, 100_000_000, n)
        return [
            text.whole(trades["account"]),
            text.moments(trades["paid"]),
            text.money(np.where(sells(trades), amounts, -amounts)),
            text.prose(self._stream.words(n, 100), 5, 100),
        ]


def _status(status: Ints) -> Chars:
    return text.chosen(STATUS, status)


def _holding(trades: Trades) -> list[Chars]:
    """Nothing before a purchase, nothing after a sale."""
    selling = sells(trades)
    return [
        text.whole(trades["bought_by"]),
        text.whole(trades["id"]),
        text.whole(np.where(selling, trades["quantity"], 0)),
        text.whole(np.where(selling, 0, trades["quantity"])),
    ]
