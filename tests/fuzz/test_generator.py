"""The generator of random cases: without Spark."""

from __future__ import annotations

import re
from collections import deque
from itertools import islice

from rennet.testing.fuzz.cases import CHANGES, TOGETHER, Batch, batches, coverage
from rennet.testing.fuzz.changes import KINDS
from rennet.testing.fuzz.operators import LEAVES, OPERATORS
from rennet.testing.fuzz.tree import operators, pairs, sql


def made(seed: int, count: int) -> list[Batch]:
    return list(islice(batches(seed, coverage()), count))


def test_a_seed_makes_the_same_cases() -> None:
    assert made(7, 5) == made(7, 5)
    assert [b.setup for b in made(7, 5)] == [b.setup for b in made(7, 5)]


def test_seeds_differ() -> None:
    assert made(7, 1) != made(8, 1)


def test_batches_are_complete() -> None:
    for number, batch in enumerate(made(3, 20)):
        assert [case.number for case in batch.cases] == list(
            range(number * TOGETHER, (number + 1) * TOGETHER)
        )
        assert len(batch.changes) == CHANGES
        names = {made.name for made in (*batch.tables, *batch.views)}
        assert all(case.query.names_read() & names for case in batch.cases)


def test_names_are_unique_and_known() -> None:
    """Every column a node mentions comes from below it, from itself, or from a CTE in scope."""
    for batch in made(11, 40):
        for case in batch.cases:
            known = {c.name for node in case.query.walk() for c in node.columns}
            given = re.findall(r"AS ([ck]\d+)\b", case.sql)
            mentioned = set(re.findall(r"\b[ck]\d+\b", case.sql))
            generated = set(re.findall(r"\b[ck]\d+\b", " ".join(n.template for n in case.query.walk())))
            assert mentioned <= known | generated | set(given), case.sql


def test_every_operator_and_change_occurs() -> None:
    some = made(5, 150)
    assert {op for b in some for case in b.cases for op in operators(case.query)} == {*OPERATORS, *LEAVES}
    titles = {title for b in some for change in b.changes for title in change.title.split(", ")}
    assert titles == set(KINDS)


def test_every_pair_of_operators_is_reached_by_ten_seeds() -> None:
    missing = coverage().possible
    for seed in range(1, 11):
        covered = coverage(seed)
        deque(islice(batches(seed, covered), 300 // TOGETHER), maxlen=0)
        missing = missing.intersection(covered.missing)
    assert not missing


def test_coverage_leads_the_choice() -> None:
    covered = coverage()
    before = covered.weight("filter", "union") / covered.weight("", "union")
    case = next(c for b in batches(2, covered) for c in b.cases if ("filter", "union") in pairs(c.query))
    assert before > covered.weight("filter", "union") / covered.weight("", "union") == 1, sql(case.query)
    assert covered.gain(case.query) == 0
