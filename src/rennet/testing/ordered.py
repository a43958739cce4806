"""What rennet's orders and window functions mean, without Spark."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, pairwise

from rennet.errors import PlanError
from rennet.plan.expressions import AggregateCall, Attribute, Expr
from rennet.plan.ir import Window
from rennet.testing.values import (
    Bag,
    Compiled,
    EvaluationError,
    Row,
    Value,
    aggregated,
    bag,
    nulls_first,
    over_rows,
)

# -- order ------------------------------------------------------------------------------------------------


class _Backwards(tuple[Value, ...]):
    def __lt__(self, other: tuple[Value, ...]) -> bool:
        return tuple.__gt__(self, other)


def sort_key(order: tuple[Expr, ...], columns: tuple[Attribute, ...]) -> Callable[[Row], Row]:
    """What rows are compared by; NULLs come first, in descending order last, unless the text says."""
    values = [over_rows(each.children[0], columns) for each in order]
    down = [" DESC" in each.text for each in order]
    last = [
        "NULLS LAST" in e.text or (d and "NULLS FIRST" not in e.text)
        for e, d in zip(order, down, strict=True)
    ]

    def key(row: Row) -> Row:
        made = []
        for value, descending, nulls_last in zip(values, down, last, strict=True):
            found = value(row)
            place = (found is None) == nulls_last
            made.append((place, () if found is None else (_Backwards if descending else tuple)((found,))))
        return tuple(made)

    return key


def in_order(rows: Bag, key: Callable[[Row], Row], strict: bool) -> list[Row]:
    """In order; what the order leaves open is decided by content, or an error."""
    made = sorted(rows.elements(), key=nulls_first)
    made.sort(key=key)
    if strict and any(a != b and key(a) == key(b) for a, b in pairwise(made)):
        raise EvaluationError("the order leaves open which of two different rows comes first")
    return made


WindowFunction = Callable[[list[Row], list[Row], int], Value]
"""From a partition in order, what each of its rows is ordered by, and the position of a row."""


def windowed(expression: Expr, node: Window) -> tuple[WindowFunction, bool]:
    """A window function, and whether it tells apart rows that the order does not."""
    if expression.op != "WindowExpression":
        raise PlanError(f"{expression.op} is not a window function")
    function, spec = expression.children
    *keys, frame = spec.children
    if keys != [*node.partition, *node.order]:
        raise PlanError("a window function is over another window than its node")
    if isinstance(function, AggregateCall):
        return _framed(function, frame, node)
    meaning = WINDOW_FUNCTIONS.get(function.op)
    if meaning is None:
        raise PlanError(f"the evaluator of bags does not know the window function {function.op}")
    arguments = [over_rows(e, node.child.output) for e in function.children]
    made: WindowFunction = lambda rows, peers, i: meaning(rows, peers, i, *arguments)  # noqa: E731
    return made, function.op not in ("Rank", "DenseRank")


def _shifted(sign: int) -> Callable[..., Value]:
    def compute(
        rows: list[Row], peers: list[Row], i: int, value: Compiled, by: Compiled, default: Compiled
    ) -> Value:
        there = i + sign * by(rows[i])
        return value(rows[there]) if 0 <= there < len(rows) else default(rows[i])

    return compute


def _values(rows: list[Row], arguments: tuple[Compiled, ...]) -> list[Row]:
    """Ranks go by their own arguments, as Spark has it: the window may be ordered by more."""
    return [tuple(argument(row) for argument in arguments) for row in rows]


WINDOW_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "RowNumber": lambda rows, peers, i: i + 1,
    "Rank": lambda rows, peers, i, *by: _values(rows, by).index(_values(rows, by)[i]) + 1,
    "DenseRank": lambda rows, peers, i, *by: len(list(groupby(_values(rows[: i + 1], by)))),
    "Lag": _shifted(-1),
    "Lead": _shifted(+1),
}


def _framed(aggregate: AggregateCall, frame: Expr, node: Window) -> tuple[WindowFunction, bool]:
    """An aggregate over the rows of a frame; by RANGE, rows that tie are in it together."""
    columns = node.child.output
    function = aggregated(aggregate, columns)
    by_rows = "RowFrame" in frame.text
    lower, upper = frame.children
    if not by_rows and any(bound.op not in ENDS for bound in frame.children):
        return _by_distance(function, lower, upper, node), False

    def compute(rows: list[Row], peers: list[Row], i: int) -> Value:
        first = i if by_rows else peers.index(peers[i])
        last = i if by_rows else len(peers) - 1 - peers[::-1].index(peers[i])
        start = 0 if lower.op == "UnboundedPreceding$" else first + _number(lower)
        end = len(rows) if upper.op == "UnboundedFollowing$" else last + _number(upper) + 1
        return function(bag(rows[max(0, start) : max(0, end)]))

    whole = lower.op == "UnboundedPreceding$" and upper.op == "UnboundedFollowing$"
    return compute, by_rows and not whole


ENDS = {"UnboundedPreceding$", "CurrentRow$", "UnboundedFollowing$"}


def _number(bound: Expr) -> int:
    return 0 if bound.op == "CurrentRow$" else int(over_rows(bound, ())(()))


def _by_distance(function: Compiled, lower: Expr, upper: Expr, node: Window) -> WindowFunction:
    """By RANGE of values: a row without a value sees those like it, and whatever lies on an open side."""
    (order,) = node.order
    value = over_rows(order.children[0], node.child.output)
    sign = -1 if "DESC" in order.text else 1

    def compute(rows: list[Row], peers: list[Row], i: int) -> Value:
        here = value(rows[i])

        def seen(j: int) -> bool:
            there = value(rows[j])
            if here is None or there is None:
                alike = here is None and there is None
                before, after = lower.op == "UnboundedPreceding$", upper.op == "UnboundedFollowing$"
                return alike or (before and j < i) or (after and j > i)
            distance = sign * (there - here)
            above = lower.op == "UnboundedPreceding$" or distance >= _number(lower)
            return above and (upper.op == "UnboundedFollowing$" or distance <= _number(upper))

        return function(bag(rows[j] for j in range(len(rows)) if seen(j)))

    return compute
