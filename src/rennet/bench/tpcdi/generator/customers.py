"""Customers and their accounts: who exists when, and what happens to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rennet.bench.tpcdi.generator.draws import Ints, Keyed, Mask, Stream, chance
from rennet.bench.tpcdi.generator.market import day_number
from rennet.bench.tpcdi.generator.text import DAY
from rennet.bench.tpcdi.settings import CUSTOMERS_FROM, FIRST_BATCH, TRADES_FROM, Settings

ACTIONS = ("NEW", "ADDACCT", "UPDACCT", "CLOSEACCT", "UPDCUST", "INACT")
NEW, ADDACCT, UPDACCT, CLOSEACCT, UPDCUST, INACT = range(6)
NEW_WITHOUT_ACCOUNT = 6
"""A row of Customer.txt; the new customer's account is a row of Account.txt."""
CUSTOMER_FIELDS = (
    *("tier", "street", "flat", "postal code", "city", "state", "country"),
    *("mail 1", "mail 2", "phone 1", "phone 2", "phone 3"),
)
"""What an update of a customer may change."""
ACCOUNT_FIELDS = ("tax status", "broker", "name")
NO_ACCOUNT = -1


@dataclass(frozen=True)
class Happened:
    """Actions in the order of time. Keys are unique and name the values an action brings."""

    kinds: Ints
    moments: Ints
    customers: Ints
    accounts: Ints
    keys: Ints

    def where(self, chosen: Mask) -> Happened:
        """Some of the actions."""
        columns = (self.kinds, self.moments, self.customers, self.accounts, self.keys)
        return Happened(*(column[chosen] for column in columns))


class Customers:
    """All customers and accounts so far.

    Values are not stored: for each field and entity there is the key of the action that set it last.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stream = Stream(settings.seed, "customers")
        self._mention = Keyed(settings.seed, "mention")
        sizes, later = settings.sizes, settings.batches - 1
        actions = sizes.actions
        customers = actions.initial + actions.steps * actions.new + later * sizes.customer_changes.inserted
        opened = actions.initial + actions.steps * (actions.new + actions.add_account)
        accounts = opened + later * sizes.account_changes.inserted
        self.count = self.account_count = self._actions = 0
        self._historical_actions = actions.total
        self.born = np.zeros(customers, np.int64)
        """When each customer came, in seconds: ascending."""
        self.created = np.zeros(customers, np.int64)
        """The key of the action that created each customer."""
        self.active = np.zeros(customers, np.bool_)
        self.owner = np.zeros(accounts, np.int64)
        self.open = np.zeros(accounts, np.bool_)
        self.set_by = {name: np.zeros(customers, np.int64) for name in CUSTOMER_FIELDS}
        self.account_set_by = {name: np.zeros(accounts, np.int64) for name in ACCOUNT_FIELDS}

    def existing(self, moment: int) -> int:
        """How many customers had come before a moment; so many accounts there were at least."""
        return int(np.searchsorted(self.born[: self.count], moment))

    def dealing(self, moment: int) -> int:
        """How many customers trade and watch at a moment: always the first ones, and fewer than exist.

        The years in which customers trade begin later than those in which they come, and last half as
        long. In them, as many deal as had come after the same part of the longer time: so old accounts
        are by far the busiest.
        """
        first, end = day_number(CUSTOMERS_FROM) * DAY, (day_number(FIRST_BATCH) + 1) * DAY
        start = day_number(TRADES_FROM) * DAY
        if moment >= end:
            return self.existing(moment)
        stretched = first + (moment - start) * (end - first) // (end - start)
        return max(self._settings.sizes.actions.initial, self.existing(stretched))

    def mentions(self, keys: Ints, field: str) -> Mask:
        """Whether an update says anything about a field: four of five do, one of five in later batches."""
        bits = self._mention.bits(field, keys)
        return np.where(keys < self._historical_actions, chance(bits, 0.8), chance(bits, 0.2))

    def history(self) -> Iterator[Happened]:
        """The actions up to the first batch, step by step."""
        plan, first = self._settings.sizes.actions, day_number(CUSTOMERS_FROM)
        total = day_number(FIRST_BATCH) + 1 - first
        yield self._happen(np.full(plan.initial, NEW), first, first + 1)
        counts = (plan.new, plan.add_account, plan.update_account, plan.close_account)
        kinds = np.repeat(np.arange(6), (*counts, plan.update_customer, plan.inactivate))
        for step in range(plan.steps):
            start = first + 1 + step * (total - 1) // plan.steps
            end = first + 1 + (step + 1) * (total - 1) // plan.steps
            yield self._happen(kinds[self._stream.order(len(kinds))], start, end)

    def _happen(self, kinds: Ints, first_day: int, end_day: int) -> Happened:
        """Let actions happen in some days; each hits another customer or account."""
        moments = np.sort(first_day * DAY + self._stream.below((end_day - first_day) * DAY, len(kinds)))
        customers = np.zeros(len(kinds), np.int64)
        accounts = np.full(len(kinds), NO_ACCOUNT)
        touched = np.flatnonzero(np.isin(kinds, (ADDACCT, UPDCUST, INACT)))
        customers[touched] = self._stream.pick(self.active[: self.count], len(touched))
        leaving = customers[kinds == INACT]
        closing = np.flatnonzero(np.isin(kinds, (UPDACCT, CLOSEACCT)))
        accounts[closing] = self._stream.pick(self._live_accounts(leaving), len(closing))
        customers[closing] = self.owner[accounts[closing]]
        customers[kinds == NEW] = self.count + np.arange(int((kinds == NEW).sum()))
        opening = np.isin(kinds, (NEW, ADDACCT))
        accounts[opening] = self.account_count + np.arange(int(opening.sum()))
        keys = self._actions + np.arange(len(kinds))
        happened = Happened(kinds, moments, customers, accounts, keys)
        self.apply(happened)
        return happened

    def _live_accounts(self, leaving: Ints) -> Mask:
        """Accounts that are open and whose owner is active and stays so."""
        active = self.active.copy()
        active[leaving] = False
        return self.open[: self.account_count] & active[self.owner[: self.account_count]]

    def apply(self, happened: Happened) -> None:
        """Make actions part of the state."""
        self._actions += len(happened.keys)
        new = happened.where(np.isin(happened.kinds, (NEW, NEW_WITHOUT_ACCOUNT)))
        self.born[new.customers] = new.moments
        self.created[new.customers] = new.keys
        self.active[new.customers] = True
        self.count += len(new.keys)
        opened = happened.where(np.isin(happened.kinds, (NEW, ADDACCT)))
        self.owner[opened.accounts] = opened.customers
        self.open[opened.accounts] = True
        self.account_count += len(opened.keys)
        self.active[happened.customers[happened.kinds == INACT]] = False
        self.open[happened.accounts[happened.kinds == CLOSEACCT]] = False
        of_customers = (NEW, NEW_WITHOUT_ACCOUNT, UPDCUST, INACT)
        self._remember(self.set_by, happened, of_customers, happened.customers)
        self._remember(self.account_set_by, happened, (NEW, ADDACCT, UPDACCT, CLOSEACCT), happened.accounts)

    def _remember(
        self, set_by: dict[str, Ints], happened: Happened, kinds: tuple[int, ...], who: Ints
    ) -> None:
        for field, keys in set_by.items():
            first = np.isin(happened.kinds, (NEW, NEW_WITHOUT_ACCOUNT, ADDACCT))
            says = np.isin(happened.kinds, kinds) & (first | self.says(happened, field))
            keys[who[says]] = happened.keys[says]

    def says(self, happened: Happened, field: str) -> Mask:
        """Which updates bring a value for a field; closing something brings none in the historical load."""
        updating = UPDACCT if field in ACCOUNT_FIELDS else UPDCUST
        ending = (happened.kinds == CLOSEACCT) | (happened.kinds == INACT)
        later = happened.keys >= self._historical_actions
        telling = (happened.kinds == updating) | (ending & later)
        return np.asarray(telling & self.mentions(happened.keys, field))

    def batch_customers(self, day: int) -> Happened:
        """The rows of Customer.txt in an incremental batch; no customer has two."""
        plan = self._settings.sizes.customer_changes
        touched = self._stream.pick(self.active[: self.count], plan.updated + plan.closed)
        who = np.concatenate([self.count + np.arange(plan.inserted), touched])
        kinds = np.repeat([NEW_WITHOUT_ACCOUNT, UPDCUST, INACT], [plan.inserted, plan.updated, plan.closed])
        return self._in_batch(kinds[: len(who)], day, who, np.full(len(who), NO_ACCOUNT))

    def batch_accounts(self, day: int, customers: Happened) -> Happened:
        """The rows of Account.txt: one account for each new customer, more for others, and changes."""
        plan = self._settings.sizes.account_changes
        new = np.sort(customers.customers[customers.kinds == NEW_WITHOUT_ACCOUNT])
        others = self.active[: self.count].copy()
        others[new] = False
        owners = np.concatenate([new, self._stream.pick(others, plan.inserted - len(new))])
        nobody = np.empty(0, np.int64)
        touched = self._stream.pick(self._live_accounts(nobody), plan.updated + plan.closed)
        accounts = np.concatenate([self.account_count + np.arange(len(owners)), touched])
        kinds = np.repeat([ADDACCT, UPDACCT, CLOSEACCT], [len(owners), plan.updated, plan.closed])
        owners = np.concatenate([owners, self.owner[touched]])
        return self._in_batch(kinds[: len(accounts)], day, owners, accounts)

    def _in_batch(self, kinds: Ints, day: int, customers: Ints, accounts: Ints) -> Happened:
        """Bring rows of a batch into a random order and make them part of the state."""
        order = self._stream.order(len(kinds))
        keys = self._actions + np.arange(len(kinds))
        moments = np.full(len(kinds), day * DAY)
        happened = Happened(kinds[order], moments, customers[order], accounts[order], keys)
        self.apply(happened)
        return happened
