"""Windows whose functions go on from row to row: from the first change on, the view itself is the start."""

from __future__ import annotations

from hypothesis import given

from rennet.delta.generate import RefreshPlan, window_function
from rennet.plan.expressions import Expr, alias, literal
from rennet.plan.ir import Node, State, Stored, Window, filter_, project
from tests.laws.cases import LAW, Case, cases
from tests.laws.queries import HERE, START, Maker, catalyst, count, extreme, over_window, total
from tests.laws.refreshing import built, refreshed, shown


def running_window(maker: Maker) -> Node:
    child = maker.plan(maker.number(0, 1))
    partition = tuple(maker.some(child.output, 0, 1))
    numbers = [column for column in child.output if column.type == "int"]
    if not numbers:
        child = project(child, (*child.output, alias(literal(1, "int"), "one")))
        numbers = list(child.output[-1:])
    by, value = maker.one(numbers), maker.one(numbers)
    order = (Expr("SortOrder", (by,), type=by.type, text=f"{by.name} ASC NULLS FIRST"),)
    functions: list[Expr] = [
        total(value),
        count(value),
        extreme("Min", value),
        extreme("Max", value),
        Expr("DenseRank", (by,), type="int", nullable=False),
    ]
    chosen = maker.some(functions, 1, 3)
    made = [over_window(f, partition, order, (START, HERE), by_rows=f.op == "DenseRank") for f in chosen]
    plan: Node = Window(tuple(alias(f, f"w{i}") for i, f in enumerate(made)), partition, order, (child,))
    if maker.chance(3):
        plan = filter_(plan, catalyst("IsNotNull", plan.output[-1]))
    return project(plan, plan.output[1:]) if maker.chance(3) else plan


@LAW
@given(cases(running_window))
def test_running_totals_go_on_from_the_view(case: Case) -> None:
    layout = case.layout
    plan = window_function(layout, case.derivation)
    if not isinstance(plan, RefreshPlan):
        return
    assert plan.inserted is not None
    # Behind a filter the view does not have every row to go on from.
    goes_on = any(isinstance(node, Stored) for node in plan.inserted.walk())
    assert goes_on == bool(layout.running)
    stored = refreshed(plan, built(layout, case.world, State.BEFORE), case.world)
    assert stored == built(layout, case.world, State.AFTER)
    assert shown(layout, stored) == case.after
