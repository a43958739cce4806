"""The judge is judged: the evaluator of bags against SQLite, and by hand where SQLite is no help."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rennet.enable.order import with_ties_broken
from rennet.errors import PlanError
from rennet.plan.expressions import AggregateCall, Attribute, Expr, alias, call, cast, literal
from rennet.plan.ir import (
    Aggregate,
    Constant,
    Foreign,
    Generate,
    Join,
    Limited,
    Node,
    Other,
    PassThrough,
    Replicate,
    Scan,
    State,
    Stored,
    project,
)
from rennet.plan.reading import sources
from rennet.testing.bags import World, evaluate, minus, net, plus
from rennet.testing.values import EvaluationError, bag, convert
from tests.laws.cases import ANY, DERIVED, LAW, Case, worlds
from tests.laws.queries import STRATEGIES, Draw, Maker, average, column, count, moments, scan, total, values
from tests.laws.sqlite import answer

UNKNOWN_TO_SQLITE = ("Generate", "GroupMap")


class PlainMaker(Maker):
    """Makes only what SQLite computes exactly."""

    def aggregate_call(self, columns: Sequence[Attribute], sums: bool = False) -> AggregateCall:
        made = super().aggregate_call(columns, sums)
        return made if made.op in ("Count", "Sum", "Min", "Max") else count(condition=made.condition)


@st.composite
def known_to_sqlite(draw: Draw, rule: str) -> Case:
    maker = PlainMaker(draw, [name for name in DERIVED if name not in UNKNOWN_TO_SQLITE])
    plan = with_ties_broken(STRATEGIES[rule](maker, maker.number(0, 2)))
    return Case(plan, *worlds(maker, sources(plan), ANY))


@LAW
@given(
    st.sampled_from([name for name in STRATEGIES if name not in UNKNOWN_TO_SQLITE]).flatmap(known_to_sqlite)
)
def test_sqlite_agrees(case: Case) -> None:
    assert case.after == answer(case.plan, case.world)


# -- by hand ----------------------------------------------------------------------------------------------

ONE = World()


def value(expression: Expr) -> Any:
    one_row = Constant("OneRowRelation", ())
    ((found,),) = evaluate(project(one_row, (alias(expression, "x"),)), ONE)
    return found


T, F, N = literal(True, "boolean"), literal(False, "boolean"), literal(None, "boolean")


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        (call("and", N, F), False),
        (call("and", N, T), None),
        (call("or", N, T), True),
        (call("or", N, F), None),
        (call("not", N), None),
        (call("=", N, N), None),
        (call("<=>", N, N), True),
        (call("<=>", N, F), False),
        (call("in", literal(1), literal(2), literal(None)), None),
        (call("in", literal(1), literal(1), literal(None)), True),
        (call("if", N, literal(1), literal(2)), 2),
        (Expr("CaseWhen", (N, literal(1), T, literal(2))), 2),
        (Expr("CaseWhen", (F, literal(1))), None),
        (call("if", F, call("/", literal(1), literal(0)), literal(2)), 2),
        (call("coalesce", literal(1), call("/", literal(1), literal(0))), 1),
        (call("+", literal(1), literal(None)), None),
        (call("/", literal(1), literal(4)), Fraction(1, 4)),
        (cast(call("/", literal(1), literal(3)), "decimal(5,2)"), Fraction(33, 100)),
        (cast(call("/", literal(-1), literal(8)), "decimal(5,2)"), Fraction(-13, 100)),
        (cast(call("/", literal(-7), literal(4)), "int"), -1),
        (cast(literal(True, "boolean"), "string"), "true"),
        (call("greatest", literal(None), literal(1)), 1),
        (Expr("DefaultValue", type="int", nullable=False), 0),
        (Expr("DefaultValue", type="int"), None),
    ],
)
def test_values(expression: Expr, wanted: Any) -> None:
    assert value(expression) == wanted
    assert type(value(expression)) is type(wanted)


@pytest.mark.parametrize(
    "expression",
    [
        call("/", literal(1), literal(0)),
        cast(literal(2**31), "int"),
        cast(literal(1000), "decimal(5,2)"),
    ],
)
def test_what_fails_in_spark_fails_here(expression: Expr) -> None:
    with pytest.raises(EvaluationError):
        value(expression)


def test_hashes_are_equal_for_equal_rows() -> None:
    assert value(call("xxhash64", literal(1), N)) == value(call("xxhash64", literal(1), N))
    assert value(call("xxhash64", literal(1), N)) != value(call("xxhash64", N, literal(1)))


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([], (0, None, None, None, None)),
        ([(None,)], (0, None, None, None, None)),
        ([(1,)], (1, 1, 1, 0, None)),
        ([(1,), (2,), (None,)], (2, 3, Fraction(3, 2), Fraction(1, 4), Fraction(1, 2))),
    ],
)
def test_aggregates(rows: list[tuple[Any, ...]], wanted: tuple[Any, ...]) -> None:
    leaf = values(rows, ("x", "int"))
    (x,) = leaf.output
    made = [count(x), total(x), average(x), moments("VariancePop", x), moments("VarianceSamp", x)]
    named = tuple(alias(each, f"a{i}") for i, each in enumerate(made))
    assert evaluate(Aggregate((), named, (leaf,)), ONE) == bag([wanted])


def test_generators() -> None:
    leaf = values([(1, 2), (3, None)], ("a", "int"), ("b", "int"))
    array = Expr("CreateArray", leaf.output, type="array<int>")
    made = (column("x", "int"),)
    exploded = Generate(Expr("Explode", (array,)), made, (leaf,), (0,))
    assert evaluate(exploded, ONE) == bag([(1, 1), (1, 2), (3, 3), (3, None)])
    numbered = Generate(Expr("PosExplode", (array,)), (column("pos", "int"), *made), (leaf,), ())
    assert evaluate(numbered, ONE) == bag([(0, 1), (1, 2), (0, 3), (1, None)])
    nothing = Generate(Expr("Explode", (literal(None, "array<int>"),)), made, (leaf,), (0,))
    assert evaluate(nothing, ONE) == bag()
    stacked = Generate(Expr("Stack", (literal(2), *leaf.output)), made, (leaf,), ())
    assert evaluate(stacked, ONE) == bag([(1,), (2,), (3,), (None,)])


def test_replicate_repeats_by_the_last_column() -> None:
    leaf = values([("a", 2), ("a", 1), ("b", 0), ("c", -1)], ("x", "string"), ("w", "bigint"))
    assert evaluate(Replicate((leaf,)), ONE) == bag([("a",)] * 3)


def test_states_of_a_source() -> None:
    source = scan("r")
    world = World({"r": bag([(1, 1)])}, {"r": bag([(1, 1), (1, 1), (2, 2)])}, stored=bag([(9,)]))
    assert evaluate(source.at(State.BEFORE), world) == bag([(1, 1)])
    assert evaluate(source, world) == evaluate(source.at(State.AFTER), world) == world.after["r"]
    weight = column("w", "bigint")
    delta = evaluate(Scan("r", (*source.output, weight), State.DELTA), world)
    assert net(delta) == minus(world.after["r"], world.before["r"]) == {(1, 1): 1, (2, 2): 1}
    assert plus(world.before["r"], net(delta)) == world.after["r"]
    assert evaluate(Stored((weight,)), world) == bag([(9,)])
    assert evaluate(Foreign("csv", "f", (weight,)), World(fixed={"f": bag([(7,)])})) == bag([(7,)])


def test_an_open_order_is_an_error_where_asked() -> None:
    leaf = values([(1, 1), (1, 2)], ("a", "int"), ("b", "int"))
    order = Expr("SortOrder", (leaf.output[0],), text="a ASC NULLS FIRST")
    first = Limited("GlobalLimit", literal(1, "int"), (PassThrough("Sort", (order,), (leaf,)),))
    assert evaluate(first, World()) == bag([(1, 1)])
    with pytest.raises(EvaluationError):
        evaluate(first, World(strict=True))


@pytest.mark.parametrize(
    "plan",
    [
        Other("Sample", (), (Constant("OneRowRelation", ()),)),
        Foreign("csv", "unknown", ()),
        Join("LeftSingle", None, (values([], ("a", "int")), values([], ("b", "int"))), ()),
        project(Constant("OneRowRelation", ()), (alias(Expr("Rand"), "x"),)),
        Stored((column("a", "int"), column("b", "int"))),
    ],
    ids=lambda plan: plan.op,
)
def test_what_is_not_known_is_said(plan: Node) -> None:
    with pytest.raises(PlanError):
        evaluate(plan, World(stored=bag([(1,)])))


def test_a_type_that_is_not_modelled_keeps_its_value() -> None:
    assert convert((1, 2), "array<int>") == (1, 2)
