"""Which aggregates are kept by adding to sums."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rennet.enable.states import FORMULAS, States, formula, names_twice, summable
from rennet.plan.expressions import AggregateCall, Attribute, cast, literal
from tests.laws.queries import average, catalyst, column, count, moments, total

X = column("x", "int")
MONEY = column("m", "decimal(7,2)")


@pytest.mark.parametrize("type", ["tinyint", "int", "bigint", "decimal(27,2)", "decimal(5,0)"])
def test_exact_types_are_summed(type: str) -> None:
    assert summable(type)
    assert formula(States(), total(column("x", type))) is not None


@pytest.mark.parametrize("type", ["float", "double", "decimal(28,2)", "string", "interval day"])
def test_other_types_are_not(type: str) -> None:
    assert not summable(type)
    assert formula(States(), total(column("x", type))) is None
    assert formula(States(), average(column("x", type))) is None


@pytest.mark.parametrize(
    "call",
    [
        count(X, distinct=True),
        total(X, distinct=True),
        replace(total(X), text="try_sum(x)"),
        replace(average(X), text="try_avg(x)"),
        replace(average(X), evaluate=None),
        moments("VariancePop", column("x", "bigint")),
        moments("VariancePop", column("x", "decimal(11,2)")),
        moments("VariancePop", column("x", "double")),
        AggregateCall("CollectList", (X,), "array<int>"),
    ],
    ids=lambda call: f"{call.op} {call.text}",
)
def test_these_cannot_be_added_up(call: AggregateCall) -> None:
    assert formula(States(), call) is None


@pytest.mark.parametrize("argument", [X, MONEY])
@pytest.mark.parametrize("op", [name for name in FORMULAS if name.startswith(("Var", "Cov"))])
def test_moments_of_small_exact_numbers_can(op: str, argument: Attribute) -> None:
    arguments = (argument, X) if op.startswith("Cov") else (argument,)
    assert formula(States(), moments(op, *arguments)) is not None


def test_the_number_of_rows_is_always_kept() -> None:
    states = States()
    assert [state.attribute for state in states.states] == [states.rows]
    assert formula(states, count()) == states.rows
    assert formula(states, count(column("x", "int", nullable=False))) == states.rows
    assert len(states.states) == 1


def test_a_state_is_kept_once() -> None:
    states = States()
    for call in (total(X), average(X), count(X), total(X)):
        formula(states, call)
    assert len(states.states) == 3


def test_a_condition_is_part_of_the_state() -> None:
    states = States()
    formula(states, count(X))
    formula(states, count(X, condition=catalyst("GreaterThan", X, literal(0, "int"))))
    assert len(states.states) == 3


def test_the_average_of_long_numbers_does_not_overflow_where_the_sum_would() -> None:
    states = States()
    formula(states, average(column("x", "bigint")))
    assert {state.type for state in states.states} == {"bigint", "decimal(38,0)"}


def test_states_are_never_null() -> None:
    states = States()
    for call in (total(X), average(MONEY), count(X), moments("CovSample", X, MONEY)):
        formula(states, call)
    assert not any(state.attribute.nullable for state in states.states)


def test_a_cast_argument_is_summed_as_it_is() -> None:
    states = States()
    assert formula(states, total(cast(X, "decimal(10,0)"))) is not None
    assert formula(states, total(cast(X, "double"))) is None


@pytest.mark.parametrize(
    ("type", "twice"),
    [
        ("bigint", False),
        ("struct<c0:struct<a:bigint,b:decimal(10,2)>,c1:bigint>", False),
        ("struct<c0:struct<a:bigint,A:bigint>,c1:bigint>", True),
        ("array<struct<a:map<string,struct<a:int>>,b:int>>", False),
        ("map<string,struct<a:array<int>,b:int,a:date>>", True),
    ],
)
def test_fields_of_one_name_cannot_be_stored(type: str, twice: bool) -> None:
    assert names_twice(type) == twice
