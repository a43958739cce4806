"""Windows: the partitions with changes; where frames are short, only the outputs that see a change."""

from __future__ import annotations

from dataclasses import dataclass

from rennet.delta.bounds import bounded
from rennet.delta.change import Change, total, weight_of, weighted, with_arrivals
from rennet.delta.keyed import recomputed
from rennet.delta.keys import changed_keys, matching
from rennet.delta.narrow import narrowed
from rennet.enable.frames import HERE, Frame, Offset, Span, negative, span
from rennet.enable.states import summable
from rennet.plan.expressions import (
    AggregateCall,
    Alias,
    Attribute,
    Bound,
    Expr,
    Named,
    alias,
    call,
    cast,
    columns_of,
    conjunction,
    disjunction,
    literal,
    or_else,
)
from rennet.plan.ir import INNER, Aggregate, Node, Once, Window, filter_, join, project

OVER = "WindowExpression"
WHOLE = "__mv_whole"
"""Says of a partition that all of it is in range."""
SLACK = 2
"""Days by which distances in local time are widened: where clocks are set, a day has no fixed length."""


@dataclass(frozen=True)
class Reach:
    """Per partition with changes: its keys, and two ranges of the order column, NULL where they are open."""

    rows: Node
    keys: tuple[Attribute, ...]
    order: Attribute
    """The column the ranges are of, in the window's input and output."""
    affected: tuple[Attribute, Attribute]
    """Outputs that may see a change."""
    needed: tuple[Attribute, Attribute]
    """Inputs those outputs see."""
    whole: Attribute
    """Is the whole partition in question, because a row without an order value changed?"""
    summary: Node
    """One row: the ends of the ranges that span those of all partitions."""
    unlimited: frozenset[int]
    """The ends, by id, that are open in every partition, because frames have no limit there."""


def window_rule(node: Window, inputs: tuple[Change, ...]) -> Node:
    """Δ ω(T) = ω(T' ⋉ K) − ω(T ⋉ K), K = the partitions in ΔT

    Where frames are short: Δ ω(T) = σA(ω(T' ⋉ I)) − σA(ω(T ⋉ I)). A holds the outputs whose frame meets a
    change, I the inputs that the frames of those meet.
    """
    (child,) = inputs
    assert child.delta is not None
    keys = columns_of(node.partition)
    limits = span(node)
    if limits is None:
        return recomputed(node, child, keys)
    gained, lost = outputs(node, child, keys, reached(child, keys, limits), limits)
    return total([weighted(gained, +1), weighted(lost, -1)])


def outputs(
    node: Window, child: Change, keys: tuple[Attribute, ...], reach: Reach, limits: Span
) -> tuple[Node, Node]:
    """σA(ω(T' ⋉ I)) and σA(ω(T ⋉ I))

    Where rows only arrive, what is needed of T is read once, and T' is that and ΔT.
    """
    if not child.grows or not looks_up(node, limits):
        return affected(node, child.after, keys, reach), affected(node, child.before, keys, reach)
    assert child.delta is not None
    shown = Once((_of_partitions(child.before, keys, reach, reach.affected),))
    old = _of_partitions(child.before, keys, reach, reach.needed)
    found = _looked_up(node, with_arrivals(shown, child.delta), old, child.delta, limits.frames[0])
    return found.after(with_arrivals(shown, child.delta)), found.before(shown)


def affected(node: Window, rows: Node, keys: tuple[Attribute, ...], reach: Reach) -> Node:
    """σA(ω(T ⋉ I)), the limits of a partition's ranges being carried along by its rows"""
    windowed = node.with_children((_needed(rows, keys, reach, reach.needed),))
    return project(filter_(windowed, inside(reach.order, reach.affected, reach.whole)), node.output)


def _of_partitions(
    rows: Node, keys: tuple[Attribute, ...], reach: Reach, limits: tuple[Attribute, Attribute]
) -> Node:
    """The rows of the partitions in question that lie in one of their ranges."""
    return project(_needed(rows, keys, reach, limits), rows.output)


def _needed(
    rows: Node, keys: tuple[Attribute, ...], reach: Reach, limits: tuple[Attribute, Attribute]
) -> Node:
    """T ⋉ I, each row with the ranges of its partition"""
    here = inside(reach.order, limits, reach.whole)
    on = conjunction([matching(keys, reach.keys), here])
    few, _ = narrowed(rows, reach.rows, on)
    return join(between_bounds(few, reach, limits), reach.rows, INNER, on)


ORDERLESS = frozenset({"Max", "Min", "Count", "BoolAnd", "BoolOr"})
"""Functions of a frame's rows, whatever their order; of sums, those of exact numbers."""


def looks_up(node: Window, limits: Span) -> bool:
    """Is every function one of a short range of values, in which the row itself is, and of nothing else?"""
    if len(limits.frames) != 1 or len(node.order) != 1:
        return False
    (frame,) = limits.frames
    if None in frame or HERE not in frame:
        return False
    return all(isinstance(e, Alias) and e.child.op == OVER and _by_range(e.child) for e in node.exprs)


def _by_range(over: Expr) -> bool:
    function, spec = over.children
    return "RangeFrame" in spec.children[-1].text and _orderless(function)


def _orderless(function: Expr) -> bool:
    if not isinstance(function, AggregateCall):
        return False
    if function.op in ("Sum", "Average"):
        return summable(function.children[0].type)
    inexact = any(word in function.type for word in ("float", "double", "collate"))
    return function.op in ORDERLESS and not inexact


@dataclass(frozen=True)
class Values:
    """What functions say for every partition and value of the order column, after and before a change."""

    node: Window
    rows: Node
    told: tuple[Attribute, ...]
    """The columns of the window's input that decide it, by position those of `rows`."""

    def after(self, outputs: Node) -> Node:
        return self._of(outputs, 0)

    def before(self, outputs: Node) -> Node:
        return self._of(outputs, 1)

    def _of(self, outputs: Node, which: int) -> Node:
        count, many = len(self.told), len(self.node.exprs)
        keys = self.rows.output[:count]
        values = self.rows.output[count + which * many : count + (which + 1) * many]
        pairs = zip(values, self.node.exprs, strict=True)
        named = tuple(alias(value, shown.name, shown.id) for value, shown in pairs)
        met = join(outputs, self.rows, INNER, matching(self.told, keys))
        return project(met, (*outputs.output, *named))


def _looked_up(node: Window, outputs: Node, rows: Node, delta: Node, frame: Frame) -> Values:
    """ω(T') and ω(T) of some rows A: γ(keys of A ⋈ T' in their frames), for ω(T) without what arrived

    A function of a range of values is the same for all rows of a partition that tie, so that it depends on
    the partition and the value of the order column alone. Of a value that is NULL, the frame is the other
    NULLs.
    """
    order = node.order[0].children[0]
    assert isinstance(order, Attribute)
    told = (*columns_of(node.partition), order)
    distinct = changed_keys(outputs, told)
    *keys, here = distinct.output
    low, high = (_shifted(here, offset) for offset in frame)
    within = conjunction([call(">=", order, low, type="boolean"), call("<=", order, high, type="boolean")])
    alone = conjunction([call("isnull", each, type="boolean") for each in (here, order)])
    on = conjunction([matching(told[:-1], tuple(keys)), disjunction([within, alone])])
    was, came = (alias(literal(each, "boolean"), "__mv_was") for each in (True, False))
    arrived = project(delta, (*delta.output[:-1], came, weight_of(delta)))
    everything = with_arrivals(project(rows, (*rows.output, was)), arrived)
    functions = [e.child.children[0] for e in node.exprs if isinstance(e, Alias)]
    earlier = [_where(function, was.attribute) for function in functions]
    named = tuple(alias(f, f"__mv_value_{i}") for i, f in enumerate((*functions, *earlier)))
    found = Aggregate(distinct.output, (*distinct.output, *named), (join(everything, distinct, INNER, on),))
    return Values(node, Once((found,)), told)


def _where(function: Expr, condition: Expr) -> Expr:
    """The function of the rows for which the condition holds: for it, NULL is not there."""
    nothing = (call("if", condition, e, literal(None, e.type), type=e.type) for e in function.children)
    return function.with_children(tuple(nothing))


def inside(value: Expr, limits: tuple[Expr, Expr], whole: Expr) -> Expr:
    """Is a value in a range? One without a value is in every range."""
    above = or_else(call(">=", value, limits[0]), True)
    below = or_else(call("<=", value, limits[1]), True)
    return disjunction([whole, conjunction([above, below])])


def between_bounds(rows: Node, reach: Reach, limits: tuple[Attribute, Attribute]) -> Node:
    """The rows in the range that spans those of all partitions: as values, so that files can be skipped.

    Both ends are those of one look at the changes, whichever of the ranges is asked for.
    """
    first = 0 if limits == reach.affected else 4
    bounds = tuple(
        Bound.of(sign, reach.order, reach.summary, at, opened_by=at + 1)
        for sign, end, at in zip((">=", "<="), limits, (first, first + 2), strict=True)
        if end.id not in reach.unlimited
    )
    return filter_(bounded(rows, bounds), conjunction(list(bounds))) if bounds else rows


def _summary(rows: Node, limits: tuple[Attribute, ...], whole: Attribute) -> Node:
    """The outermost of limits that are low, high, low, high, and after each whether it is open.

    A side that is open in one partition is open for all: MIN and MAX would pass over it.
    """
    made = []
    for end, limit in zip(("min", "max", "min", "max"), limits, strict=True):
        unbounded = call("max", call("isnull", limit), type="boolean")
        made.append(alias(call(end, limit, type=limit.type), f"{end}_{limit.name}"))
        made.append(alias(call("or", call("max", whole), unbounded, type="boolean"), f"open_{limit.name}"))
    return Aggregate((), tuple(made), (rows,))


def reached(child: Change, keys: tuple[Attribute, ...], span: Span) -> Reach:
    """The ranges of every partition that has changes."""
    copies = tuple(alias(key, f"__mv_key_{i}") for i, key in enumerate(keys))
    order = alias(span.order, "__mv_order")
    below = project(child.telling((*keys, span.order)), (*copies, order))
    names = tuple(copy.attribute for copy in copies)
    at = order.attribute
    first, last = alias(call("min", at, type=at.type), "first"), alias(call("max", at, type=at.type), "last")
    unknown = alias(call("max", call("isnull", at), type="boolean", nullable=False), WHOLE)
    extent: Node = Aggregate(names, (*names, first, last, unknown), (below,))
    if not names:  # without partitions there is a row even if nothing changed
        extent = filter_(extent, call("isnotnull", unknown.attribute, type="boolean"))
    # A changed row is an output too, even if its own frame leaves it out.
    ends = first.attribute, last.attribute
    low = _lowest([ends[0], *(_shifted(ends[0], negative(up)) for _, up in span.frames)])
    high = _highest([ends[1], *(_shifted(ends[1], negative(down)) for down, _ in span.frames)])
    a_low, a_high = alias(low, "__mv_low"), alias(high, "__mv_high")
    seen = project(extent, (*names, unknown.attribute, a_low, a_high))
    i_low, i_high = _widened(a_low.attribute, a_high.attribute, span.frames)
    columns: tuple[Named, ...] = (*seen.output, i_low, i_high)
    outputs = (a_low.attribute, a_high.attribute)
    inputs = (i_low.attribute, i_high.attribute)
    rows = Once((project(seen, columns),))
    summary = _summary(rows, (*outputs, *inputs), unknown.attribute)
    unlimited = _unlimited(outputs, inputs, span.frames)
    return Reach(rows, names, span.order, outputs, inputs, unknown.attribute, summary, unlimited)


def _unlimited(
    outputs: tuple[Attribute, Attribute], inputs: tuple[Attribute, Attribute], frames: tuple[Frame, ...]
) -> frozenset[int]:
    """A frame without a lower end sees every change below it: outputs have no upper end; and so on."""
    down, up = any(down is None for down, _ in frames), any(up is None for _, up in frames)
    ends = {outputs[0]: up, outputs[1]: down, inputs[0]: up or down, inputs[1]: up or down}
    return frozenset(end.id for end, is_open in ends.items() if is_open)


def _widened(low: Attribute, high: Attribute, frames: tuple[Frame, ...]) -> tuple[Alias, Alias]:
    """From outputs to the inputs they see, themselves among them."""
    lows = [low, *(_shifted(low, down) for down, _ in frames if down is not HERE)]
    highs = [high, *(_shifted(high, up) for _, up in frames if up is not HERE)]
    return alias(_lowest(lows), "__mv_from"), alias(_highest(highs), "__mv_to")


def _shifted(value: Attribute, offset: Offset) -> Expr:
    """The value moved by a distance; NULL, which is open, if there is no limit or no such value."""
    if offset is None:
        return literal(None, value.type)
    if offset is HERE:
        return value
    return Expr("Shift", (value, offset), type=value.type)


def _lowest(parts: list[Expr]) -> Expr:
    return _slack(_outermost("least", parts), -SLACK, parts)


def _highest(parts: list[Expr]) -> Expr:
    return _slack(_outermost("greatest", parts), SLACK, parts)


def _outermost(which: str, parts: list[Expr]) -> Expr:
    """The outermost of them; open if any is, though LEAST and GREATEST would pass over it."""
    found = list(dict.fromkeys(parts))
    if len(found) == 1:
        return found[0]
    made = call(which, *found, type=found[0].type)
    for part in found:
        made = call("if", call("isnull", part), literal(None, part.type), made, type=part.type)
    return made


def _slack(value: Expr, days: int, parts: list[Expr]) -> Expr:
    if value.type != "timestamp" or not any(part.op == "Shift" for part in parts):
        return value
    return Expr("Shift", (value, call("make_dt_interval", cast(literal(days), "int"))), type=value.type)
