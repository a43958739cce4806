"""Stage 3: aggregates that leave their result open, made to decide it.

FIRST may take any row, MAX_BY any of the tied ones, COLLECT_LIST any order. Every choice is a legal answer
of the query; rennet makes the one the values themselves decide, so that it is the same at every refresh and
what was stored can be computed again. Columns that are picked together stay together: all FIRSTs of a
GROUP BY come from one row, all lists of it run in parallel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rennet.enable.order import orderable
from rennet.plan.expressions import (
    DECIDED,
    AggregateCall,
    Expr,
    Named,
    aggregate_calls,
    call,
    field_of,
    literal,
    struct,
)
from rennet.plan.ir import Aggregate, Node, Window

Decision = Callable[[AggregateCall, tuple[AggregateCall, ...]], Expr | None]
"""An aggregate in deterministic form, given those of its kind that see the same rows; None if it has none."""


def with_picks_decided(plan: Node) -> Node:
    """Every aggregate that leaves its result open, replaced by one that does not, where there is one."""
    return plan.transform_up(_decided)


def _decided(node: Node) -> Node:
    if not isinstance(node, Aggregate | Window):
        return node
    calls = aggregate_calls(node.exprs)
    made = {each: _decision(each, calls, isinstance(node, Window)) for each in calls}
    if not any(made.values()):
        return node

    def decide(expression: Expr) -> Expr | None:
        if isinstance(node, Window) and expression.op == "WindowExpression":
            return _windowed(expression, made)
        return made.get(expression) if isinstance(expression, AggregateCall) else None

    exprs: tuple[Named, ...] = tuple(e.transform(decide) for e in node.exprs)  # type: ignore[misc]
    return replace(node, exprs=exprs, handle=None)


def _windowed(expression: Expr, made: dict[AggregateCall, Expr | None]) -> Expr | None:
    """f(agg) OVER w = f(agg OVER w): what is done with the decided aggregate is done outside the window."""
    function, spec = expression.children
    decided = made.get(function) if isinstance(function, AggregateCall) else None
    if decided is None:
        return expression

    def over(part: Expr) -> Expr | None:
        return expression.with_children((part, spec)) if isinstance(part, AggregateCall) else None

    return decided.transform(over)


def _decision(item: AggregateCall, calls: tuple[AggregateCall, ...], window: bool) -> Expr | None:
    decide = (IN_WINDOWS if window else DECISIONS).get(item.op)
    if decide is None:
        return None
    together = item.op, item.condition, item.distinct
    kin = tuple(c for c in calls if (c.op, c.condition, c.distinct) == together)
    return decide(item, kin)


# -- one decision each ----------------------------------------------------------------------------------


def pick_decision(item: AggregateCall, kin: tuple[AggregateCall, ...]) -> Expr | None:
    """FIRST(a), FIRST(b) = the fields of MIN((a, b)); LAST takes the maximum"""
    ignoring = "ignore nulls" in item.text
    which = "Min" if item.op == "First" else "Max"
    picked = [c.children[0] for c in kin if ("ignore nulls" in c.text) == ignoring]
    if not all(orderable(p.type) for p in picked):
        return None
    if ignoring or len(picked) == 1:
        return _extreme(which, item.children[0], item.condition)
    row = _extreme(which, struct(picked), item.condition)
    return field_of(row, picked.index(item.children[0]), item.type)


def by_decision(item: AggregateCall, kin: tuple[AggregateCall, ...]) -> Expr | None:
    """MAX_BY(x, y) = MAX((y, x)).x over the rows that have a y: ties in y go to the largest x"""
    value, order = item.children[:2]
    if not (orderable(value.type) and orderable(order.type)):
        return None
    present = call("isnotnull", order, type="boolean", nullable=False)
    condition = present if item.condition is None else call("and", item.condition, present, type="boolean")
    which = "Max" if item.op == "MaxBy" else "Min"
    return field_of(_extreme(which, struct([order, value]), condition), 1, item.type)


def list_decision(item: AggregateCall, kin: tuple[AggregateCall, ...]) -> Expr | None:
    """COLLECT_LIST(a), COLLECT_LIST(b) = the columns of one sorted list of (a, b), NULLs left out"""
    picked = [c.children[0] for c in kin]
    if not all(orderable(p.type) for p in picked):
        return None
    if len(picked) == 1 or item.distinct:
        return _sorted(item)
    rows = replace(kin[0], children=(struct(picked),), type="", text=DECIDED, rebuilt=True)
    column = field_of(call("sort_array", rows), picked.index(item.children[0]), item.type)
    if "respect nulls" in item.text:
        return column
    return call("array_compact", column, type=item.type, nullable=item.nullable)


def set_decision(item: AggregateCall, kin: tuple[AggregateCall, ...]) -> Expr | None:
    """COLLECT_SET(a), sorted"""
    return _sorted(item) if orderable(item.children[0].type) else None


def text_decision(item: AggregateCall, kin: tuple[AggregateCall, ...]) -> Expr | None:
    """LISTAGG(x) WITHIN GROUP (ORDER BY y) = … ORDER BY y, x"""
    value = item.children[0]
    if item.distinct and len(item.children) > 2:  # then Spark sees to it that it orders by what it lists
        return replace(item, text=item.text + DECIDED)
    order = Expr("SortOrder", (value,), type=value.type)
    return replace(item, children=(*item.children, order), text=item.text + DECIDED, rebuilt=True)


def mode_decision(item: AggregateCall, kin: tuple[AggregateCall, ...]) -> Expr | None:
    """MODE(x) = MODE(x, true): of the most frequent values the lowest"""
    (value,) = item.children
    if "Some(" in item.text:  # it says which of the most frequent values itself
        return replace(item, text=item.text + DECIDED)
    if not orderable(value.type):
        return None
    if item.condition is not None:
        value = _where(item.condition, value)
    return AggregateCall("Mode", (value, literal(True, "boolean")), type=item.type, text=DECIDED)


def _sorted(item: AggregateCall) -> Expr:
    marked = replace(item, text=item.text + DECIDED)
    return call("sort_array", marked, type=item.type, nullable=item.nullable)


def _where(condition: Expr, value: Expr) -> Expr:
    """The value or NULL, which does for a FILTER where NULLs are passed over."""
    return call("if", condition, value, Expr("DefaultValue", type=value.type), type=value.type)


def _extreme(which: str, value: Expr, condition: Expr | None) -> AggregateCall:
    shown = value if condition is None else _where(condition, value)
    return AggregateCall(which, (shown,), type=value.type, text=which.lower())


DECISIONS: dict[str, Decision] = {
    "First": pick_decision,
    "Last": pick_decision,
    "MaxBy": by_decision,
    "MinBy": by_decision,
    "CollectList": list_decision,
    "CollectSet": set_decision,
    "ListAgg": text_decision,
    "Mode": mode_decision,
}
IN_WINDOWS: dict[str, Decision] = {op: DECISIONS[op] for op in ("MaxBy", "MinBy", "CollectSet", "Mode")}
"""The others follow the order of the window, which `enable.order` makes total."""
