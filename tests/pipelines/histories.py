"""Random histories of change events: few keys, few moments, so that everything collides."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from rennet.testing.cdc import Event, Kind

VALUES = st.tuples(*([st.one_of(st.none(), st.integers(0, 2))] * 3))


def events(truncates: bool = False, most: int = 12) -> st.SearchStrategy[list[Event]]:
    """Some events of three keys at up to eight moments, in no order."""
    kinds = [Kind.UPSERT, Kind.UPSERT, Kind.DELETE] + [Kind.TRUNCATE] * truncates
    made = st.builds(_event, st.integers(0, 2), st.integers(0, 7), st.sampled_from(kinds), VALUES)
    return st.lists(made, max_size=most)


def _event(key: int, sequence: int, kind: Kind, values: tuple[int | None, ...]) -> Event:
    return Event(key, sequence, kind, values if kind is Kind.UPSERT else ())


def history(random_: random.Random, key: int, moments: int = 8, truncates: bool = False) -> list[Event]:
    """The events of one key, some of them twice, in any order."""
    found = []
    for _ in range(random_.randint(1, 9)):
        kind = random_.choice([Kind.UPSERT, Kind.UPSERT, Kind.UPSERT, Kind.DELETE])
        if truncates and random_.random() < 0.02:
            kind = Kind.TRUNCATE
        values = tuple(random_.choice([None, 0, 1, 2]) for _ in range(3))
        found.append(_event(key, random_.randrange(moments), kind, values))
    found += [event for event in found if random_.random() < 0.15]
    random_.shuffle(found)
    return found


def split(random_: random.Random, found: list[Event], batches: int) -> list[list[Event]]:
    """The events in batches, each event in a random one."""
    parts: list[list[Event]] = [[] for _ in range(batches)]
    for event in found:
        random_.choice(parts).append(event)
    return parts
