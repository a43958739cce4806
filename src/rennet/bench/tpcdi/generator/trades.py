"""Orders: placed, submitted, completed or cancelled, paid. Simulated day by day."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from rennet.bench.tpcdi.generator.customers import Customers
from rennet.bench.tpcdi.generator.draws import Ints, Mask, Stream, weighted
from rennet.bench.tpcdi.generator.market import Market, quarter_of
from rennet.bench.tpcdi.generator.text import DAY
from rennet.bench.tpcdi.settings import Settings

KINDS = ("TLB", "TLS", "TMB", "TMS")
SHARES = (0.3, 0.3, 0.2, 0.2)
NEVER = 1 << 40
"""Later than any moment."""
LIMIT_DAYS, PAYMENT_DAYS, COMPLETION_SECONDS = 90, 5, 300

TRADE = np.dtype(
    [
        ("id", np.int64),
        ("kind", np.int64),
        ("placed", np.int64),
        ("submitted", np.int64),  # of limit orders only; NEVER if cancelled
        ("ended", np.int64),  # completed or cancelled
        ("paid", np.int64),  # NEVER if cancelled
        ("cancelled", np.bool_),
        ("account", np.int64),
        ("security", np.int64),
        ("quantity", np.int64),
        ("bought_by", np.int64),  # the order that bought what is sold, or this one
        ("bid", np.int64),
        ("price", np.int64),
        ("fee", np.int64),
        ("commission", np.int64),
        ("tax", np.int64),
        ("for_cash", np.int64),
        ("broker", np.int64),
    ]
)
POSITION = ("bought_by", "account", "security", "quantity")
"""The columns of what can be sold."""
Trades = NDArray[np.void]
"""Rows of TRADE."""


def sells(trades: Trades) -> Mask:
    """Which orders sell."""
    return np.asarray(trades["kind"] % 2 == 1)


def limits(trades: Trades) -> Mask:
    """Which orders wait for their price."""
    return np.asarray(trades["kind"] < 2)


class Exchange:
    """Places orders, a day at a time. What is sold was bought by a completed order, and is sold once."""

    def __init__(self, settings: Settings, customers: Customers, market: Market, brokers: Ints) -> None:
        self._stream = Stream(settings.seed, "trades")
        self._customers = customers
        self._market = market
        self._brokers = brokers
        self._placed = 0
        self._quarter = -1
        self._listed = np.empty(0, np.int64)
        self._positions = np.empty((0, len(POSITION)), np.int64)
        self._coming: defaultdict[int, list[Ints]] = defaultdict(list)
        """Positions by the day from which they can be sold."""

    def day(self, day: int, count: int) -> Trades:
        """The orders of a day, in the order of placement, each with all that will ever happen to it."""
        trades = np.zeros(count, TRADE)
        trades["id"] = self._placed + np.arange(count)
        self._placed += count
        trades["placed"] = np.sort(day * DAY + self._stream.below(DAY, count))
        trades["kind"] = weighted(self._stream.bits(count), SHARES)
        self._positions = np.concatenate([self._positions, *self._coming.pop(day, [])])
        self._subjects(trades, day)
        self._lives(trades)
        self._prices(trades)
        self._settle(trades)
        return trades

    def _subjects(self, trades: Trades, day: int) -> None:
        """Whose account, which security, how many: anything for a purchase, a position for a sale."""
        if quarter_of(day) != self._quarter:
            self._quarter = quarter_of(day)
            self._listed = self._market.securities.listed(self._quarter)
        n, stream = len(trades), self._stream
        trades["account"] = stream.below(self._customers.dealing(day * DAY), n)
        trades["security"] = self._listed[stream.below(len(self._listed), n)]
        trades["quantity"] = stream.between(10, 10_000, n)
        trades["bought_by"] = trades["id"]
        selling = np.flatnonzero(sells(trades))
        order = stream.order(len(self._positions))
        taken, left = order[: len(selling)], order[len(selling) :]
        trades["kind"][selling[len(taken) :]] -= 1  # nothing to sell: buy instead
        selling = selling[: len(taken)]
        for column, name in enumerate(POSITION):
            trades[name][selling] = self._positions[taken, column]
        self._positions = self._positions[np.sort(left)]

    def _lives(self, trades: Trades) -> None:
        n, stream = len(trades), self._stream
        waits = stream.between(1, LIMIT_DAYS * DAY, n)
        works = stream.between(1, COMPLETION_SECONDS, n)
        limit = limits(trades)
        cancelled = limit & stream.chance(0.1, n)
        begun = np.where(limit, trades["placed"] + waits, trades["placed"])
        trades["cancelled"] = cancelled
        trades["submitted"] = np.where(cancelled, NEVER, begun)
        trades["ended"] = np.where(cancelled, begun, begun + works)
        paid = trades["ended"] + stream.between(1, PAYMENT_DAYS * DAY, n)
        trades["paid"] = np.where(cancelled, NEVER, paid)

    def _prices(self, trades: Trades) -> None:
        """Amounts in cents."""
        n, stream = len(trades), self._stream
        trades["bid"] = stream.between(101, 1000, n)
        trades["price"] = np.rint(trades["bid"] * (0.95 + 0.1 * stream.fraction(n))).astype(np.int64)
        worth = trades["price"] * trades["quantity"]
        for name in ("fee", "commission"):
            usual = 0.0001 + 0.0049 * stream.fraction(n)
            wrong = 1.01 + 8.99 * stream.fraction(n)
            share = np.where(stream.chance(0.0001, n), wrong, usual)
            trades[name] = np.rint(worth * share).astype(np.int64)
        trades["tax"] = np.rint(worth * (0.05 + 0.35 * stream.fraction(n))).astype(np.int64)
        trades["for_cash"] = stream.chance(0.2, n)
        trades["broker"] = self._brokers[stream.below(len(self._brokers), n)]

    def _settle(self, trades: Trades) -> None:
        """What can be sold from the day after: what was bought, and what a cancelled sale did not sell."""
        free = trades[sells(trades) == trades["cancelled"]]
        if len(free) == 0:
            return
        days = free["ended"] // DAY + 1
        order = np.argsort(days, kind="stable")
        positions = np.stack([free[name] for name in POSITION], axis=1)
        found, starts = np.unique(days[order], return_index=True)
        for day, part in zip(found, np.split(positions[order], starts[1:]), strict=True):
            self._coming[int(day)].append(part)
