"""Stage 3: queries that look at the clock.

`current_timestamp()` and its kin stand for the moment of the refresh, which is kept in the provenance, so
that the next refresh knows what they stood for before. Here each becomes a `Moment`, and expressions that
hold one are moved into filters and projections, the two operators that have a law for them
(`rennet.delta.temporal`). What cannot be moved stays as it is, and `enable.determinism` names it.

Constants that a new definition changed (`enable.constants`) are moved in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rennet.plan.expressions import (
    MOVING,
    TIME_FUNCTIONS,
    AggregateCall,
    Alias,
    Attribute,
    Expr,
    Named,
    alias,
    attribute_of,
    conjunction,
    conjuncts,
    moment,
    value_of,
)
from rennet.plan.ir import (
    ANTI,
    FULL,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    Aggregate,
    Filter,
    Join,
    Node,
    Project,
    Window,
    filter_,
    join,
    project,
)

COMPARISONS = {"GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual", "EqualTo", "EqualNullSafe",
               "In", "InSet"}  # fmt: skip
SLOW = {"CurrentDate"}
"""Functions of time that mostly say the same at the next refresh."""


def with_moments(plan: Node) -> Node:
    """Functions of time as moments, and constants that changed, in filters and projections."""
    return plan.transform_up(_isolated)


def temporal(expression: Expr) -> bool:
    """Does its value depend on when it is asked for?"""
    return any(part.op in TIME_FUNCTIONS or part.op in MOVING for part in expression.walk())


def _isolated(node: Node) -> Node:
    if not any(temporal(expression) for expression in node.expressions):
        return node
    isolate = ISOLATE.get(type(node))
    return node if isolate is None else isolate(node)


def marked(expression: Expr) -> Expr:
    """The functions of time in it as the moment of the refresh."""
    return expression.transform(lambda part: moment(part) if part.op in TIME_FUNCTIONS else None)


def _filter(node: Filter) -> Node:
    """σ(a ∧ b(now)) = σ(b(now)) over σ(a), so that what does not depend on time is decided first"""
    return _over(node.child, conjuncts(node.condition))


def _over(child: Node, parts: list[Expr]) -> Node:
    fixed = [part for part in parts if not temporal(part)]
    moving = [marked(part) for part in parts if temporal(part)]
    below = filter_(child, conjunction(fixed)) if fixed else child
    return filter_(below, conjunction(moving)) if moving else below


def _project(node: Project) -> Node:
    """Values that time changes here and there; one that it changes in every row is left as it is"""
    if not all(rarely(value_of(e)) for e in node.exprs):
        return node
    return project(node.child, tuple(_renewed(e, marked(value_of(e))) for e in node.exprs))


def rarely(expression: Expr) -> bool:
    """Is time only compared with, so that few rows change from one refresh to the next?"""
    if expression.op in COMPARISONS:
        return bool(expression.references)
    if expression.op in TIME_FUNCTIONS:
        return expression.op in SLOW
    if expression.op in MOVING:
        return False
    return all(rarely(child) for child in expression.children)


def _join(node: Join) -> Node:
    """L ⋈(a ∧ b(now)) R = σ(b(now)) over L ⋈(a) R; in other joins each side decides its own part first"""
    parts = conjuncts(node.condition) if node.condition is not None else []
    if node.how == INNER:
        fixed = [part for part in parts if not temporal(part)]
        made = join(node.left, node.right, INNER, conjunction(fixed) if fixed else None)
        return project(_over(made, [part for part in parts if temporal(part)]), node.output)
    if node.how not in (LEFT, RIGHT, FULL, SEMI, ANTI):
        return node
    left, right = _Columns(), _Columns()
    condition: list[Expr] = []
    for part in parts:
        if not temporal(part):
            condition.append(part)
        elif part.references <= node.left.ids:
            condition.append(left.column(part))
        elif part.references <= node.right.ids:
            condition.append(right.column(part))
        else:
            return node
    made = join(left.over(node.left), right.over(node.right), node.how, conjunction(condition))
    return project(made, node.output)


def _aggregate(node: Aggregate) -> Node:
    """γ(f(x, now)) = γ(f(y)) over π(x, now → y); what is done with results and the time is done above"""
    if any(temporal(e) for e in node.grouping):
        return node
    below = _Columns()
    exprs = tuple(_renewed(e, _within_calls(value_of(e), below)) for e in node.exprs)
    if below.refused:
        return node
    child = below.over(node.child)
    if not any(temporal(e) for e in exprs):
        return Aggregate(node.grouping, exprs, (child,))
    return _project(finished_above(Aggregate(node.grouping, exprs, (child,))))


def finished_above(node: Aggregate) -> Project:
    """The aggregates and keys alone, with the expressions over them in a projection on top."""
    inner: dict[Expr, Named] = {e: e for e in node.grouping if isinstance(e, Attribute)}

    def taken(part: Expr) -> Expr | None:
        if isinstance(part, AggregateCall) or part in node.grouping:
            return attribute_of(inner.setdefault(part, alias(part, f"__mv_part_{len(inner)}")))
        return None

    shown = tuple(_renewed(e, value_of(e).transform(taken)) for e in node.exprs)
    below = Aggregate(node.grouping, tuple(inner.values()), node.children)
    return Project(shown, (below,))


def _within_calls(expression: Expr, below: _Columns) -> Expr:
    """Replace what depends on time inside aggregate calls by columns of the input."""

    def pull(part: Expr) -> Expr | None:
        if not isinstance(part, AggregateCall):
            return None
        return part.transform(lambda e: below.column(e) if e is not part and temporal(e) else None)

    return expression.transform(pull)


def _window(node: Window) -> Node:
    """ω(f(x, now)) = ω(f(y)) over π(x, now → y)"""
    if any(temporal(e) for e in (*node.partition, *node.order)):
        return node
    below = _Columns()
    exprs = tuple(_renewed(e, _within_calls(value_of(e), below)) for e in node.exprs)
    if below.refused or any(temporal(e) for e in exprs):
        return node
    renewed = replace(node, exprs=exprs, children=(below.over(node.child),), handle=None)
    return project(renewed, node.output)


def _renewed(named: Named, value: Expr) -> Named:
    """The column under its own id, with another way to compute it."""
    return named if isinstance(named, Attribute) else alias(value, named.name, named.id)


@dataclass
class _Columns:
    """Expressions that become columns of an operator's input."""

    made: dict[Expr, Alias] = field(default_factory=dict)
    refused: bool = False

    def column(self, expression: Expr) -> Attribute:
        self.refused |= not rarely(expression)
        name = f"__mv_timed_{len(self.made)}"
        return self.made.setdefault(expression, alias(marked(expression), name)).attribute

    def over(self, child: Node) -> Node:
        return project(child, (*child.output, *self.made.values())) if self.made else child


ISOLATE: dict[type[Node], Callable[..., Node]] = {
    Filter: _filter,
    Project: _project,
    Join: _join,
    Aggregate: _aggregate,
    Window: _window,
}
