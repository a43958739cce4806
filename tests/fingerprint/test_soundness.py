"""A wrong "same" is the worst a fingerprint can do: queries that give other rows must have other texts.

Queries are generated, each is changed in one place in every way there is, and both are run on plain bags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given

from rennet.errors import PlanError
from rennet.fingerprint.canonical import canonical
from rennet.plan.expressions import AggregateCall, Attribute, Expr
from rennet.plan.ir import (
    ANTI,
    FULL,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    Aggregate,
    Filter,
    Generate,
    Join,
    Limited,
    Node,
    Project,
    State,
    Union,
    Window,
)
from rennet.testing.bags import at, evaluate
from tests.laws.cases import BRIEFLY, Case, compositions

OTHER_OPS = {
    "Min": "Max", "Max": "Min", "EqualTo": "EqualNullSafe", "LessThan": "LessThanOrEqual", "And": "Or",
    "Or": "And", "GreaterThan": "LessThan", "IsNull": "IsNotNull", "RowNumber": "Rank", "Lag": "Lead",
}  # fmt: skip


def text(plan: Node) -> str:
    return canonical(plan, tuple(f"c{i}" for i in range(len(plan.output))))


def changed_expressions(expression: Expr, available: tuple[Attribute, ...]) -> Iterator[Expr]:
    """The expression with one part of it changed."""
    for number, _ in enumerate(expression.walk()):
        for change in (_other_op, _other_literal, _other_order, lambda e: _other_column(e, available)):
            made = _at(expression, number, change)
            if made is not None:
                yield made


def _at(expression: Expr, number: int, change: Callable[[Expr], Expr | None]) -> Expr | None:
    """Only the part that `walk` comes to as the given one."""
    wanted = [part for part in expression.walk()][number]  # noqa: C416
    other = change(wanted)
    if other is None:
        return None
    return expression.transform(lambda part: other if part is wanted else None)


def _other_op(part: Expr) -> Expr | None:
    other = OTHER_OPS.get(part.op)
    if isinstance(part, AggregateCall) and other is None:
        return replace(part, distinct=not part.distinct)
    return replace(part, op=other) if other else None


def _other_literal(part: Expr) -> Expr | None:
    if part.op != "Literal" or not part.text.lstrip("-").isdigit():
        return None
    return replace(part, text=str(int(part.text) + 1))


def _other_order(part: Expr) -> Expr | None:
    if part.op != "SortOrder":
        return None
    text = part.text.replace(" DESC", "") if " DESC" in part.text else part.text + " DESC"
    return replace(part, text=text)


def _other_column(part: Expr, available: tuple[Attribute, ...]) -> Expr | None:
    if not isinstance(part, Attribute):
        return None
    return next((a for a in available if a.type == part.type and a != part), None)


def changed_nodes(node: Node) -> Iterator[Node]:
    """The node with one thing about it changed."""
    if isinstance(node, Join) and node.how in (INNER, LEFT, RIGHT, FULL):
        yield from (replace(node, how=how) for how in (INNER, LEFT, RIGHT, FULL) if how != node.how)
    if isinstance(node, Join) and node.how in (SEMI, ANTI):
        yield replace(node, how=ANTI if node.how == SEMI else SEMI)
    if isinstance(node, Join):
        yield replace(node, condition=None)
    if isinstance(node, Union):
        yield replace(node, children=(*node.children, node.children[0]))
        yield replace(node, children=node.children[1:])
    if isinstance(node, Filter | Limited):
        yield node.child
    if isinstance(node, Generate):
        yield replace(node, outer=not node.outer)
    available = tuple(a for child in node.children for a in child.output)
    for name in ("condition", "generator", "count"):
        found: Any = getattr(node, name, None)
        if isinstance(found, Expr):
            yield from (replace(node, **{name: e}) for e in changed_expressions(found, available))  # type: ignore[type-var]
    if isinstance(node, Project | Aggregate | Window):
        for place, named in enumerate(node.exprs):
            for other in changed_expressions(named, available):
                if type(other) is type(named):
                    yield replace(node, exprs=(*node.exprs[:place], other, *node.exprs[place + 1 :]))


def mutants(plan: Node) -> Iterator[Node]:
    """Every plan that differs from this one in one place."""

    def attempt(made: Iterator[Node]) -> Iterator[Node]:
        while True:
            try:
                yield next(made)
            except StopIteration:
                return
            except PlanError:
                return

    yield from attempt(changed_nodes(plan))
    for place, child in enumerate(plan.children):
        for other in mutants(child):
            try:
                yield plan.with_children((*plan.children[:place], other, *plan.children[place + 1 :]))
            except PlanError:
                continue


def rows(plan: Node, case: Case) -> object:
    try:
        return evaluate(at(plan, State.AFTER), case.world)
    except Exception:  # what is changed at random need not make sense
        return None


def check(case: Case) -> None:
    expected, said = rows(case.plan, case), text(case.plan)
    for number, other in enumerate(mutants(case.plan)):
        if number >= 60:
            break
        if text(other) == said:
            found = rows(other, case)
            assert found is None or found == expected, text(other)


def test_other_rows_have_other_texts() -> None:
    BRIEFLY(given(compositions(3))(check))()
