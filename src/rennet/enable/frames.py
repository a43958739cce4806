"""Stage 3: how far a window function looks.

A frame says which rows an output sees; read backwards, it says which outputs see a changed row. Both are
told by the value of the first column the window is ordered by: a frame BETWEEN 7 PRECEDING AND CURRENT ROW
sees [o − 7, o], so a row at c is seen by the outputs in [c, c + 7]. Where a side has no such limit, it is
open.
"""

from __future__ import annotations

from dataclasses import dataclass

from rennet.enable.states import summable
from rennet.plan.expressions import AggregateCall, Alias, Attribute, Expr, call, literal
from rennet.plan.ir import Window

HERE = literal(0, "int")
"""No distance at all: the row itself and those that tie with it."""
Offset = Expr | None
"""A distance, HERE, or None for no limit."""
Frame = tuple[Offset, Offset]
"""How far down and up a function looks, in values of the order column; down is negative."""

WHOLE: Frame = (None, None)
UP_TO_HERE: Frame = (None, HERE)
FROM_HERE: Frame = (HERE, None)
RANKS = {"RowNumber", "Rank", "DenseRank"}
SHIFTABLE = {"tinyint", "smallint", "int", "bigint", "float", "double", "date", "timestamp", "timestamp_ntz"}
"""Types a distance can be added to."""
COMPARABLE = SHIFTABLE | {"string", "boolean"}


@dataclass(frozen=True)
class Span:
    """What decides which rows a change can reach: a column, and the frames over it."""

    order: Attribute
    frames: tuple[Frame, ...]


def span(node: Window) -> Span | None:
    """How far the functions of a window look, or None if all the way on both sides."""
    if not node.order:
        return None
    first = node.order[0]
    order = first.children[0]
    if not isinstance(order, Attribute) or not _comparable(order.type):
        return None
    seen = [
        _frame(part, order.type) for e in node.exprs for part in e.walk() if part.op == "WindowExpression"
    ]
    frames = tuple(dict.fromkeys(_flipped(frame) if "DESC" in first.text else frame for frame in seen))
    open_below, open_above = (any(frame[i] is None for frame in frames) for i in (0, 1))
    return None if not frames or (open_below and open_above) else Span(order, frames)


def _comparable(type: str) -> bool:
    return type in COMPARABLE or type.startswith("decimal")


def _flipped(frame: Frame) -> Frame:
    """In a descending order what precedes is larger."""
    lower, upper = frame
    return negative(upper), negative(lower)


def negative(offset: Offset) -> Offset:
    if offset is None or offset is HERE:
        return offset
    return call("negative", offset, type=offset.type, nullable=False)


def _frame(expression: Expr, type: str) -> Frame:
    function, spec = expression.children
    if function.op in RANKS:
        return UP_TO_HERE
    if function.op in ("Lag", "Lead"):
        forward = function.children[1].op == "Literal" and "-" not in function.children[1].text
        return WHOLE if not forward else UP_TO_HERE if function.op == "Lag" else FROM_HERE
    frame = spec.children[-1]
    if frame.op != "SpecifiedWindowFrame" or function.op in ("NTile", "PercentRank", "CumeDist"):
        return WHOLE
    lower, upper = frame.children
    if "RowFrame" in frame.text:
        return _rows(lower, upper)
    return _distance(lower, type), _distance(upper, type)


def _rows(lower: Expr, upper: Expr) -> Frame:
    """Counted in rows: on that side there is no limit in values, unless the row itself is the end."""
    down = HERE if lower.op == "CurrentRow$" else None
    up = HERE if upper.op == "CurrentRow$" or _precedes(upper) else None
    return down, up


def _precedes(bound: Expr) -> bool:
    return bound.op == "UnaryMinus" or (bound.op == "Literal" and bound.text.startswith("-"))


def _distance(bound: Expr, type: str) -> Offset:
    if bound.op == "CurrentRow$":
        return HERE
    # Months have no length: what is a month before March 31 is also a month before March 28.
    if bound.op.startswith("Unbounded") or type not in SHIFTABLE or _has_months(bound.type):
        return None
    return bound


def _has_months(type: str) -> bool:
    return "year" in type or "month" in type or type == "interval"


# -- functions that go on from where they were ------------------------------------------------------------


@dataclass(frozen=True)
class Running:
    """A function of all rows so far: its value after some more rows, from its value before them."""

    output: Attribute
    combine: str
    """How the two values make one: plus, least or greatest; a missing one counts for nothing."""
    never_falls: bool = False
    """From row to row it stays or grows."""


def running(node: Window) -> tuple[Running, ...] | None:
    """The functions of a window, if all go on from the row before; None if one looks elsewhere.

    The value to go on from is found in the view by the order column alone. Where several rows tie in it,
    they must have the same value, or a value that only grows, so that the last one is the largest.
    """
    if not node.order or "DESC" in node.order[0].text or "NULLS LAST" in node.order[0].text:
        return None
    made = [_running(e, len(node.order) > 1) for e in node.exprs]
    return None if None in made else tuple(each for each in made if each is not None)


def _running(named: Expr, ordered_further: bool) -> Running | None:
    if not isinstance(named, Alias) or named.child.op != "WindowExpression":
        return None
    function, spec = named.child.children
    if function.op in ("RowNumber", "DenseRank"):
        return Running(named.attribute, "plus", never_falls=True)
    frame = spec.children[-1]
    if not isinstance(function, AggregateCall) or function.distinct or frame.op != "SpecifiedWindowFrame":
        return None
    if [bound.op for bound in frame.children] != ["UnboundedPreceding$", "CurrentRow$"]:
        return None
    tied = not ordered_further and "RangeFrame" in frame.text
    if function.op == "Count":
        return Running(named.attribute, "plus", never_falls=True)
    if function.op == "Sum" and tied and summable(function.children[0].type):
        return Running(named.attribute, "plus")
    if function.op in ("Min", "Max") and tied and "collate" not in function.type:
        grows = function.op == "Max"
        return Running(named.attribute, "greatest" if grows else "least", never_falls=grows)
    return None
