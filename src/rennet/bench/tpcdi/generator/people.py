"""Names, addresses and the like: values that belong to a key."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rennet.bench.tpcdi.generator import text
from rennet.bench.tpcdi.generator.draws import Ints, Keyed, below, chance
from rennet.bench.tpcdi.generator.static import REGIONS
from rennet.bench.tpcdi.generator.text import Chars, beside, fixed

COUNTRIES = ("United States of America", "Canada")
STREETS = (" Street", " Avenue", " Road", " Lane", " Way", " Court")


def last_name(of: Keyed, keys: Ints) -> Chars:
    """A family name."""
    return text.word(of.words("last name", keys, 22), 4, 22)


def first_name(of: Keyed, keys: Ints) -> Chars:
    """A given name."""
    return text.word(of.words("first name", keys, 16), 3, 16)


def middle_initial(of: Keyed, keys: Ints) -> Chars:
    """One letter, or none."""
    return text.only(text.word(of.words("middle", keys, 1), 1, 1), ~chance(of.bits("no middle", keys), 0.05))


def street(of: Keyed, keys: Ints) -> Chars:
    """The first line of an address."""
    number = text.whole(1 + below(of.bits("house", keys), 9999), 4)
    name = text.word(of.words("street", keys, 52), 18, 52)
    kind = text.chosen(STREETS, below(of.bits("kind of street", keys), len(STREETS)))
    return beside(number, fixed(" ", len(keys)), name, kind)


def flat(of: Keyed, keys: Ints) -> Chars:
    """The second line of an address, mostly absent."""
    made = beside(fixed("Apt. ", len(keys)), text.padded(below(of.bits("flat", keys), 1000), 3))
    return text.only(made, chance(of.bits("in a flat", keys), 0.1))


def postal_code(of: Keyed, keys: Ints) -> Chars:
    """Five digits."""
    return text.padded(below(of.bits("postal code", keys), 100_000), 5)


def city(of: Keyed, keys: Ints) -> Chars:
    """A town."""
    return text.word(of.words("city", keys, 24), 6, 24)


def country(of: Keyed, keys: Ints) -> Chars:
    """Mostly the United States, else Canada, or unknown."""
    made = text.chosen(COUNTRIES, chance(of.bits("country", keys), 0.2).astype(np.int64))
    return text.only(made, ~chance(of.bits("no country", keys), 0.05))


def state(of: Keyed, keys: Ints) -> Chars:
    """A state or province."""
    return text.chosen(REGIONS, below(of.bits("state", keys), len(REGIONS)))


def address(of: Keyed, keys: Ints) -> tuple[Chars, Chars, Chars, Chars, Chars]:
    """Two lines, postal code, city, state."""
    return street(of, keys), flat(of, keys), postal_code(of, keys), city(of, keys), state(of, keys)


def email(of: Keyed, keys: Ints, which: str) -> Chars:
    """An address for electronic mail; the second one is absent for half."""
    n = len(keys)
    made = beside(
        text.in_lower_case(text.word(of.words(f"box {which}", keys, 10), 4, 10)),
        fixed("@", n),
        text.in_lower_case(text.word(of.words(f"host {which}", keys, 8), 4, 8)),
        fixed(".com", n),
    )
    return text.only(made, ~chance(of.bits(f"no mail {which}", keys), 0.05 if which == "1" else 0.5))


Maker = Callable[[Keyed, Ints], Chars]
"""Any of these functions."""
