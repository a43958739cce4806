"""What to generate: the scale, the batches, the knobs, and the sizes that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

FIRST_BATCH = date(2017, 7, 7)
"""The day of the historical load; each later batch is the next day."""
CUSTOMERS_FROM = date(2007, 7, 7)
TRADES_FROM = date(2012, 7, 7)
MARKET_FROM = date(2015, 7, 6)
FINWIRE_FROM = 1967
"""Year of the first FINWIRE file, which is that of its first quarter."""
SMALLEST_SCALE = 0.05
OFFICIAL_SCALE = 3
"""The smallest scale of TPC-DI itself; below it, sizes are this generator's own."""


class SettingsError(ValueError):
    """A setting that makes no sense."""


@dataclass(frozen=True)
class Settings:
    """One set of files is determined by these and nothing else."""

    scale: float = 3.0
    batches: int = 3
    seed: int = 1
    change_factor: float = 1.0
    """How many times the benchmark's own changes each incremental batch brings."""
    update_share: float = 0.3
    """The part of the rows of Customer.txt and Account.txt that are updates; a third of them close."""
    late: float = 0.0
    """The part of the events of an incremental batch that arrives only with the next batch."""
    out_of_order: float = 0.0
    """The part of the rows of an incremental file that stand in another place than their CDC_DSN says."""

    def __post_init__(self) -> None:
        """Refuse what cannot be generated."""
        if not (math.isfinite(self.scale) and self.scale >= SMALLEST_SCALE):
            raise SettingsError(f"The scale must be at least {SMALLEST_SCALE}.")
        if not 1 <= self.batches <= 1000:
            raise SettingsError("The number of batches must be between 1 and 1000.")
        if not 0 <= self.seed < 2**63:
            raise SettingsError("The seed must be a whole number from 0 to 2^63 - 1.")
        if not 0 < self.change_factor <= 1000:
            raise SettingsError("The change factor must be above 0 and at most 1000.")
        for name in ("update_share", "late", "out_of_order"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{name.replace('_', '-')} is a share: it must be between 0 and 1.")

    @cached_property
    def sizes(self) -> Sizes:
        """How many of everything."""
        return Sizes(self.scale, self.change_factor, self.update_share)

    def batch_date(self, batch: int) -> date:
        """The day of a batch, counted from 1."""
        return FIRST_BATCH + timedelta(days=batch - 1)


@dataclass(frozen=True)
class Growth:
    """A population of companies or securities, which grows quarter by quarter."""

    initial: int
    new: int
    changed: int
    deleted: int
    every: tuple[int, ...]
    """The steps after the first in which something happens."""

    @property
    def rows(self) -> int:
        """Records over all steps."""
        return self.initial + len(self.every) * (self.new + self.changed + self.deleted)


def growth(rows: int, steps: int) -> Growth:
    """Spread records over a first step and `steps` more: of each, 1 % change and 2 % are deletions.

    There is at least one change and one deletion in a step. Where that leaves no room for anything new,
    below the scales of TPC-DI, fewer steps have records.
    """
    each = rows // steps
    active = steps
    if each < 3:
        each, active = 3, rows // 6
    changed, deleted = max(1, round(each * 0.01)), max(1, round(each * 0.02))
    every = tuple(1 + step * steps // active for step in range(active))
    return Growth(rows - active * each, each - changed - deleted, changed, deleted, every)


@dataclass(frozen=True)
class Actions:
    """The actions of CustomerMgmt.xml: first some new customers, then steps with so many of each kind."""

    initial: int
    steps: int
    new: int
    add_account: int
    update_account: int
    close_account: int
    update_customer: int
    inactivate: int

    @property
    def per_step(self) -> int:
        """Actions of one step."""
        accounts = self.add_account + self.update_account + self.close_account
        return self.new + accounts + self.update_customer + self.inactivate

    @property
    def total(self) -> int:
        """Actions in all."""
        return self.initial + self.steps * self.per_step


@dataclass(frozen=True)
class Changes:
    """Rows of Customer.txt or Account.txt in one batch."""

    inserted: int
    updated: int
    closed: int


def _floor(value: float) -> int:
    """The whole part, forgiving what is a hair below a whole number because of binary fractions."""
    return math.floor(value + 1e-9)


def _half_up(value: float) -> int:
    return _floor(value + 0.5)


@dataclass(frozen=True)
class Sizes:
    """Rows per file, from the scale; `S` of TPC-DI's rules is `unit`."""

    scale: float
    change_factor: float = 1.0
    update_share: float = 0.3

    @cached_property
    def unit(self) -> int:
        """A thousand per unit of scale."""
        return round(1000 * self.scale)

    @property
    def employees(self) -> int:
        """Rows of HR.csv."""
        return 5 * self.unit

    @cached_property
    def companies(self) -> Growth:
        """CMP records: one block in the first quarter and 202 quarters more."""
        return growth(self.unit // 2, 202)

    @cached_property
    def securities(self) -> Growth:
        """SEC records: they start a quarter after the companies."""
        return growth(self.unit * 4 // 5, 201)

    @cached_property
    def _step_unit(self) -> int:
        """The unit that sizes one step of customers: small scales have fewer steps, not empty ones."""
        return max(self.unit, 2000)

    @cached_property
    def slots(self) -> int:
        """Into how many stretches of time customers and watches are divided."""
        return _half_up(5 * self.unit / _half_up(0.0115 * self._step_unit))

    @cached_property
    def actions(self) -> Actions:
        """CustomerMgmt.xml."""
        unit = self._step_unit
        step = _half_up(0.0115 * unit)
        return Actions(
            initial=5 * self.unit - (self.slots - 1) * step,
            steps=self.slots - 1,
            new=math.ceil(0.0035 * unit - 1e-9),
            add_account=_floor(0.0035 * unit),
            update_account=_floor(0.002 * unit),
            close_account=_floor(0.001 * unit),
            update_customer=_floor(0.001 * unit),
            inactivate=_floor(0.0005 * unit),
        )

    def _changes(self, rows: int) -> Changes:
        updated = max(1, _floor(rows * self.update_share * 2 / 3)) if self.update_share else 0
        closed = max(1, _floor(rows * self.update_share / 3)) if self.update_share else 0
        return Changes(max(0, rows - updated - closed), updated, closed)

    @cached_property
    def customer_changes(self) -> Changes:
        """Rows of Customer.txt in a batch."""
        return self._changes(max(3, _half_up(0.005 * self.unit * self.change_factor)))

    @cached_property
    def account_changes(self) -> Changes:
        """Rows of Account.txt in a batch; every new customer gets one of the new accounts."""
        rows = 2 * max(3, _half_up(0.005 * self.unit * self.change_factor))
        found = self._changes(rows)
        return Changes(max(found.inserted, self.customer_changes.inserted), found.updated, found.closed)

    @cached_property
    def prospects(self) -> int:
        """Rows of Prospect.csv in every batch."""
        return 5 * self.unit - _half_up(0.006 * self.unit)

    @cached_property
    def prospects_replaced(self) -> int:
        """Prospects that are gone in a batch, and as many that are new."""
        return min(self.prospects // 4, max(1, _half_up(0.006 * self.unit * self.change_factor)))

    @cached_property
    def prospects_changed(self) -> int:
        """Prospects with another value in a batch."""
        return min(self.prospects // 4, max(1, _half_up(0.008 * self.unit * self.change_factor)))

    @cached_property
    def trades_per_day(self) -> int:
        """Orders placed on each day of the historical load."""
        return math.ceil(130 * self.unit / 1828)

    @cached_property
    def trades_per_batch(self) -> int:
        """Orders placed on the day of an incremental batch."""
        return max(1, _half_up(self.trades_per_day * self.change_factor))

    @cached_property
    def watches_per_slot(self) -> int:
        """Rows of WatchHistory in each stretch of time.

        Below TPC-DI's scales there are not enough pairs of customers and securities: the share of the pairs
        that are watched is kept instead of their number.
        """
        wanted = 300 * self.unit * min(1.0, self.scale / OFFICIAL_SCALE)
        return max(5, math.ceil(wanted / self.slots))

    @cached_property
    def watches_per_batch(self) -> int:
        """Rows of WatchHistory in an incremental batch."""
        return max(5, _half_up(self.watches_per_slot * self.change_factor))


def placed_watches(rows: int) -> int:
    """How many of so many watch records place a watch: four of five."""
    return rows - _floor(rows * 0.2)
