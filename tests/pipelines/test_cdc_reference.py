"""The reference of AUTO CDC: it means what it should, and the state rennet keeps is enough to reach it."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from rennet.testing.cdc import Event, Kind, Version, scd1, scd2
from tests.pipelines.histories import events, split
from tests.pipelines.states import Type1, Type2

TRACKED = st.sampled_from([None, (0,), (0, 2)])


def up(sequence: int, *values: int | None, key: int = 1) -> Event:
    return Event(key, sequence, Kind.UPSERT, values)


def gone(sequence: int, key: int = 1) -> Event:
    return Event(key, sequence, Kind.DELETE)


def test_the_newest_values_win_whatever_came_last() -> None:
    assert scd1([up(3, 30), up(1, 10), up(2, 20)]) == {1: (30,)}


def test_a_late_event_does_not_bring_a_deleted_key_back() -> None:
    assert scd1([gone(5), up(4, 1)]) == {}
    assert scd1([gone(5), up(6, 1)]) == {1: (1,)}


def test_of_one_moment_a_delete_wins_and_a_truncate_is_first() -> None:
    truncate = Event(None, 5, Kind.TRUNCATE)
    assert scd1([gone(5), up(5, 1)]) == {}
    assert scd1([up(5, 1), truncate, up(4, 2, key=2)]) == {1: (1,)}


def test_a_null_says_nothing_when_nulls_are_ignored() -> None:
    assert scd1([up(1, 7, 8), up(2, None, 9)], ignore_nulls=True) == {1: (7, 9)}
    assert scd1([up(1, 7, 8), gone(2), up(3, None, 9)], ignore_nulls=True) == {1: (None, 9)}


def test_history_has_a_version_for_every_state() -> None:
    found = scd2([up(1, 10), up(4, 10), up(2, 20), gone(6)])
    assert found == {Version(1, (10,), 1, 2), Version(1, (20,), 2, 4), Version(1, (10,), 4, 6)}


def test_an_untracked_column_is_updated_in_place() -> None:
    found = scd2([up(1, 10, 0), up(2, 10, 5), up(3, 20, 6)], tracked=(0,))
    assert found == {Version(1, (10, 5), 1, 3), Version(1, (20, 6), 3, None)}


@given(events(truncates=True), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_and_repetition_do_not_matter(
    found: list[Event], ignore_nulls: bool, random_: random.Random
) -> None:
    mixed = found + random_.sample(found, len(found) // 2)
    random_.shuffle(mixed)
    assert scd1(mixed, ignore_nulls) == scd1(found, ignore_nulls)
    history = [event for event in found if event.kind is not Kind.TRUNCATE]
    mixed = [event for event in mixed if event.kind is not Kind.TRUNCATE]
    assert scd2(mixed, ignore_nulls) == scd2(history, ignore_nulls)


@given(events(), st.booleans(), TRACKED)
def test_what_is_open_in_history_is_the_newest_state(
    found: list[Event], ignore_nulls: bool, tracked: tuple[int, ...] | None
) -> None:
    versions = scd2(found, ignore_nulls, tracked)
    assert {v.key: v.values for v in versions if v.end is None} == scd1(found, ignore_nulls)


@given(events(), st.booleans(), TRACKED)
def test_versions_of_a_key_follow_each_other(
    found: list[Event], ignore_nulls: bool, tracked: tuple[int, ...] | None
) -> None:
    versions = sorted(scd2(found, ignore_nulls, tracked), key=lambda v: (v.key, v.start))
    for before, after in pairwise(versions):
        if before.key == after.key:
            assert before.start < before.end <= after.start


@settings(max_examples=400)
@given(events(truncates=True, most=16), st.booleans(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_kept_state_of_type_1_is_enough(
    found: list[Event], ignore_nulls: bool, batches: int, random_: random.Random
) -> None:
    table = Type1(ignore_nulls)
    seen: list[Event] = []
    for batch in split(random_, found, batches):
        table.apply(batch)
        seen += batch
        assert table.shown() == scd1(seen, ignore_nulls)


@settings(max_examples=400)
@given(events(most=16), st.booleans(), TRACKED, st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_kept_state_of_type_2_is_enough(
    found: list[Event],
    ignore_nulls: bool,
    tracked: tuple[int, ...] | None,
    batches: int,
    random_: random.Random,
) -> None:
    table = Type2(ignore_nulls, tracked)
    seen: list[Event] = []
    for batch in split(random_, found, batches):
        table.apply(batch)
        seen += batch
        assert table.shown() == scd2(seen, ignore_nulls, tracked)
