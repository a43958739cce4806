"""Prospect.csv: a whole new list with every batch, nearly the same as the one before."""

from __future__ import annotations

import numpy as np

from rennet.bench.tpcdi.generator import people, text
from rennet.bench.tpcdi.generator.customers import Customers
from rennet.bench.tpcdi.generator.draws import Bits, Ints, Keyed, Stream, below, between, chance, weighted
from rennet.bench.tpcdi.generator.files import Files
from rennet.bench.tpcdi.generator.text import Chars, beside, fixed
from rennet.bench.tpcdi.settings import Settings

CHUNK = 10_000
NOBODY = -1
COPIED = 0.315
"""The part of the prospects that are customers."""
IDENTITY = ("name", "street", "flat", "postal code", "city", "state", "country")
VERSIONS = 1_000
"""More than a prospect can have, so that a prospect and a version together make a key."""


class Prospects:
    """All prospects there ever were. Those copied from customers remember which values they copied."""

    def __init__(self, settings: Settings, customers: Customers, of_customers: Keyed) -> None:
        self._settings = settings
        self._customers = customers
        self._stream = Stream(settings.seed, "prospects")
        self._own = Keyed(settings.seed, "prospect")
        self._theirs = of_customers
        sizes = settings.sizes
        total = sizes.prospects + (settings.batches - 1) * sizes.prospects_replaced
        self._count = 0
        self._present = np.zeros(total, np.bool_)
        self._version = np.zeros(total, np.int64)
        self._copied = {name: np.full(total, NOBODY) for name in IDENTITY}
        self._taken = np.zeros(len(customers.born), np.bool_)

    def write(self, files: Files, batch: int) -> None:
        """The list of a batch."""
        sizes = self._settings.sizes
        if batch == 1:
            self._add(sizes.prospects)
        else:
            known = self._present[: self._count]
            known[self._stream.pick(known, sizes.prospects_replaced)] = False
            changed = self._stream.pick(known, sizes.prospects_changed)
            self._version[changed] = batch - 1
            self._add(sizes.prospects_replaced)
            files.audit(batch, "Prospect", "PS_CHANGED", len(changed))
            files.audit(batch, "Prospect", "PS_NEW", sizes.prospects_replaced)
        listed = np.flatnonzero(self._present)
        with files.open(batch, "Prospect.csv") as sink:
            for start in range(0, len(listed), CHUNK):
                sink.write(self._lines(listed[start : start + CHUNK]))

    def _add(self, count: int) -> None:
        """New prospects, some of them customers that are not prospects yet."""
        ids = self._count + np.arange(count)
        self._count += count
        self._present[ids] = True
        free = ~self._taken[: self._customers.count]
        wanted = int(self._stream.chance(COPIED, count).sum())
        who = self._stream.pick(free, wanted)
        self._taken[who] = True
        copies = ids[self._stream.order(count)[: len(who)]]
        self._copied["name"][copies] = self._customers.created[who]
        for name in IDENTITY[1:]:
            self._copied[name][copies] = self._customers.set_by[name][who]

    def _lines(self, ids: Ints) -> Chars:
        case = self._own.bits("case", ids)
        last = self._identity("name", people.last_name, ids)
        columns = [
            self._cased(last, case),
            self._cased(self._identity("name", people.first_name, ids), case),
            text.in_upper_case(self._identity("name", people.middle_initial, ids)),
            text.chosen("MFU", weighted(self._own.bits("gender", ids), (0.45, 0.45, 0.1))),
            self._cased(self._identity("street", people.street, ids), case),
            self._cased(self._identity("flat", people.flat, ids), case),
            self._identity("postal code", people.postal_code, ids),
            self._identity("city", people.city, ids),
            self._identity("state", people.state, ids),
            self._identity("country", people.country, ids),
            *self._own_values(ids),
        ]
        agency = beside(columns[0][:, :3], text.whole(ids))
        return text.lines([agency, *columns], ",")

    def _identity(self, name: str, made: people.Maker, ids: Ints) -> Chars:
        """A value that never changes: a copy of the customer's, or one's own."""
        copied = self._copied[name][ids]
        return text.either(made(self._theirs, np.maximum(copied, 0)), made(self._own, ids), copied != NOBODY)

    def _cased(self, chars: Chars, case: Bits) -> Chars:
        """Half as they are, a quarter in capitals, a quarter in small letters."""
        which = below(case, 4)
        made = text.either(text.in_upper_case(chars), chars, which == 2)
        return text.either(text.in_lower_case(chars), made, which == 3)

    def _own_values(self, ids: Ints) -> list[Chars]:
        """What may differ from one batch to the next, in the order of the columns."""
        keys, of, n = ids * VERSIONS + self._version[ids], self._own, len(ids)

        def number(name: str, low: int, high: int) -> Chars:
            return text.whole(between(of.bits(name, keys), low, high))

        def letter(name: str, letters: str, shares: tuple[float, ...]) -> Chars:
            return text.chosen(letters, weighted(of.bits(name, keys), shares))

        digits = text.padded(between(of.bits("phone", keys), 2 * 10**9, 10**10 - 1), 10)
        phone = (fixed("(", n), digits[:, :3], fixed(") ", n), digits[:, 3:6], fixed("-", n), digits[:, 6:])
        made = {
            "phone": beside(*phone),
            "income": number("income", 0, 500_000),
            "cars": number("cars", 0, 5),
            "children": number("children", 0, 5),
            "marital": letter("marital", "SMDWU", (0.2, 0.4, 0.1, 0.1, 0.2)),
            "age": number("age", 0, 100),
            "credit": number("credit", 300, 850),
            "home": letter("home", "ORU", (0.7, 0.2, 0.1)),
            "employer": text.prose(of.words("employer", keys, 30), 28, 30),
            "cards": number("cards", 0, 10),
            "worth": number("worth", 10_000, 4_000_000),
        }
        return [text.only(chars, ~chance(of.bits(f"no {name}", keys), 0.05)) for name, chars in made.items()]
