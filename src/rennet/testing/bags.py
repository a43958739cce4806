"""What rennet plans mean, without Spark: the judge of the delta laws.

A relation is a bag of tuples. Values are Python's own: int, str, bool, and None for NULL; DECIMAL and DOUBLE
are Fractions, so that two formulas that should agree agree exactly. Logic is three-valued, arithmetic is
ANSI's: what overflows or divides by zero fails.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any

from rennet.delta.temporal import at_earlier_moment
from rennet.errors import PlanError, RennetError
from rennet.plan.expressions import AFTER, BEFORE, AggregateCall, Alias, Attribute, Bound, Expr, value_of
from rennet.plan.ir import (
    ANTI,
    EXISTENCE,
    FULL,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    SINGLE,
    Aggregate,
    Constant,
    Expand,
    Filter,
    Foreign,
    Generate,
    GroupMap,
    Join,
    Limited,
    Node,
    Once,
    PassThrough,
    Project,
    Replicate,
    Scan,
    State,
    Stored,
    Union,
    Window,
)

MOMENTS = {BEFORE: 0, AFTER: 1}
"""Time is a whole number here, and one passes between two refreshes."""
Value = Any
"""None, bool, int, str or Fraction."""
Row = tuple[Value, ...]
Bag = Counter[Row]
"""How many times each row is there."""


class EvaluationError(RennetError):
    """A query that fails on its data, as Spark would under ANSI rules."""

    code = "EVALUATION_FAILED"


# -- bags -----------------------------------------------------------------------------------------------


def bag(rows: Iterable[Row] = ()) -> Bag:
    return Counter(rows)


def net(delta: Bag) -> Bag:
    """A delta's rows without their weights, each with the sum of them; none with zero."""
    summed: Bag = Counter()
    for row, copies in delta.items():
        summed[row[:-1]] += row[-1] * copies
    return _without_zeros(summed)


def plus(rows: Bag, change: Bag) -> Bag:
    """T + ΔT, both with signed counts."""
    summed = rows.copy()
    for row, copies in change.items():
        summed[row] += copies
    return _without_zeros(summed)


def minus(after: Bag, before: Bag) -> Bag:
    """T' − T, with signed counts."""
    return plus(after, Counter({row: -copies for row, copies in before.items()}))


def _without_zeros(rows: Bag) -> Bag:
    return Counter({row: copies for row, copies in rows.items() if copies})


def as_delta(change: Bag) -> Bag:
    """Signed counts as rows with a weight."""
    return Counter({(*row, copies): 1 for row, copies in change.items()})


# -- worlds ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """What the leaves of a plan hold: sources by name before and after, and the view itself."""

    before: Mapping[str, Bag] = field(default_factory=dict)
    after: Mapping[str, Bag] = field(default_factory=dict)
    deltas: Mapping[str, Bag] = field(default_factory=dict)
    """Rows with weights; where none are given, the plain difference of after and before."""
    stored: Bag = field(default_factory=Counter)
    fixed: Mapping[str, Bag] = field(default_factory=dict)
    """Leaves that are no Delta tables, by name or kind."""
    functions: Mapping[str, Callable[[list[Row]], Iterable[Row]]] = field(default_factory=dict)
    """What is applied to whole groups, by the text of the function."""
    strict: bool = False
    """Is it an error if an order leaves open what a result is? If not, the rows' content decides."""
    _done: dict[int, tuple[Node, Bag]] = field(default_factory=dict, compare=False, repr=False)

    def delta(self, source: str) -> Bag:
        given = self.deltas.get(source)
        return as_delta(minus(self.after[source], self.before[source])) if given is None else given


def at(plan: Node, state: State) -> Node:
    """The plan with all its sources in one state, at the moment that goes with it."""

    def move(node: Node) -> Node:
        if isinstance(node, Scan):
            return node.at(state)
        return at_earlier_moment(node) if state is State.BEFORE else node

    return plan.transform_up(move)


def evaluate(node: Node, world: World) -> Bag:
    """The rows of a plan; a node met twice is evaluated once."""
    found = world._done.get(id(node))
    if found is None:
        found = world._done[id(node)] = (node, _evaluate(node, world))
    return found[1]


def _evaluate(node: Node, world: World) -> Bag:
    meaning = NODES.get(type(node))
    if meaning is None:
        raise PlanError(f"the evaluator of bags does not know the operator {node.op}")
    rows = meaning(node, world, *(evaluate(child, world) for child in node.children))
    if any(len(row) != len(node.output) for row in rows):
        raise PlanError(f"{node.op} promises {len(node.output)} columns and gives rows of another length")
    return rows


# -- relations ------------------------------------------------------------------------------------------


def _scan(node: Scan, world: World) -> Bag:
    if node.state is State.DELTA:
        return world.delta(node.source)
    return world.before[node.source] if node.state is State.BEFORE else world.after[node.source]


def _constant(node: Constant, world: World) -> Bag:
    if node.kind == "OneRowRelation":
        return bag([()])
    if node.kind == "EmptyRelation":
        return bag()
    if node.kind == "LocalRelation":
        rows = ast.literal_eval(node.text)
        return bag(tuple(convert(v, a.type) for v, a in zip(row, node.output, strict=True)) for row in rows)
    return _fixed(node.kind, world)


def _fixed(name: str, world: World) -> Bag:
    if name not in world.fixed:
        raise PlanError(f"nothing says what the leaf {name} holds")
    return world.fixed[name]


def _project(node: Project, world: World, rows: Bag) -> Bag:
    values = [_over_rows(value_of(e), node.child.output) for e in node.exprs]
    made: Bag = Counter()
    for row, copies in rows.items():
        made[tuple(value(row) for value in values)] += copies
    return made


def _filter(node: Filter, world: World, rows: Bag) -> Bag:
    condition = node.condition.transform(lambda e: _looked_up(e, world) if isinstance(e, Bound) else None)
    test = _over_rows(condition, node.child.output)
    return Counter({row: copies for row, copies in rows.items() if test(row) is True})


def _looked_up(bound: Bound, world: World) -> Expr:
    """The comparison with what its summary says, or TRUE."""
    assert bound.summary is not None
    ((found, _),) = evaluate(bound.summary, world).items()
    value = found[bound.column]
    if found[bound.opened_by] or value is None:
        return Expr("Literal", type="boolean", text="True")
    (column,) = bound.children
    compared = Expr(bound.op, (column, Expr("Literal", type=column.type, text=repr(value))), type="boolean")
    return Expr("or", (compared, Expr("isnull", (column,), type="boolean")), type="boolean")


def _union(node: Union, world: World, *parts: Bag) -> Bag:
    made: Bag = Counter()
    for part in parts:
        made.update(part)
    return made


def _join(node: Join, world: World, left: Bag, right: Bag) -> Bag:
    """Pairs that match, and what the kind of join makes of rows that match nothing."""
    both = (*node.left.output, *node.right.output)
    promised = node.left.output if node.how in (SEMI, ANTI) else both
    if node.how == EXISTENCE:
        promised = (*node.left.output, *node.output[-1:])
    if [a.id for a in node.output] != [a.id for a in promised]:
        raise PlanError(f"a join of kind {node.how} does not put out the columns of its sides")
    test = (lambda row: True) if node.condition is None else _over_rows(node.condition, both)
    pairs = {(a, b): m * n for a, m in left.items() for b, n in right.items() if test((*a, *b)) is True}
    met_left, met_right = {a for a, _ in pairs}, {b for _, b in pairs}
    if node.how == EXISTENCE:
        return Counter({(*a, a in met_left): n for a, n in left.items()})
    if node.how in (SEMI, ANTI):
        return Counter({a: n for a, n in left.items() if (a in met_left) == (node.how == SEMI)})
    if node.how == SINGLE and any(
        sum(n for (b, _), n in pairs.items() if b == a) > m for a, m in left.items()
    ):
        raise EvaluationError("a row has two matches where one is allowed")
    if node.how not in (INNER, LEFT, RIGHT, FULL, SINGLE):
        raise PlanError(f"the evaluator of bags does not know the join {node.how}")
    made: Bag = Counter({(*a, *b): copies for (a, b), copies in pairs.items()})
    if node.how in (LEFT, FULL, SINGLE):
        nothing = (None,) * len(node.right.output)
        made.update({(*a, *nothing): n for a, n in left.items() if a not in met_left})
    if node.how in (RIGHT, FULL):
        nothing = (None,) * len(node.left.output)
        made.update({(*nothing, *b): n for b, n in right.items() if b not in met_right})
    return made


def _aggregate(node: Aggregate, world: World, rows: Bag) -> Bag:
    columns = node.child.output
    groups = _groups(rows, node.grouping, columns)
    if not node.grouping and not groups:
        groups = {(): Counter()}
    values = [_over_groups(value_of(e), columns) for e in node.exprs]
    return bag(tuple(value(group) for value in values) for group in groups.values())


def _replicate(node: Replicate, world: World, rows: Bag) -> Bag:
    """As Spark's `array_repeat` has it: a weight below one gives no row."""
    made: Bag = Counter()
    for row, copies in rows.items():
        if row[-1] > 0:
            made[row[:-1]] += row[-1] * copies
    return made


def _generate(node: Generate, world: World, rows: Bag) -> Bag:
    generator = GENERATORS.get(node.generator.op)
    if generator is None:
        raise PlanError(f"the evaluator of bags does not know the generator {node.generator.op}")
    arguments = [_over_rows(e, node.child.output) for e in node.generator.children]
    made: Bag = Counter()
    for row, copies in rows.items():
        for values in generator(*(argument(row) for argument in arguments)):
            made[(*(row[i] for i in node.kept), *values)] += copies
    return made


GENERATORS: dict[str, Callable[..., Iterable[Row]]] = {
    "Explode": lambda array: [(value,) for value in array or ()],
    "PosExplode": lambda array: list(enumerate(array or ())),
    "Stack": lambda count, *values: [
        values[i : i + len(values) // count] for i in range(0, len(values), len(values) // count)
    ],
}
"""The rows a generator makes of its arguments."""


def _expand(node: Expand, world: World, rows: Bag) -> Bag:
    lists = [[_over_rows(e, node.child.output) for e in each] for each in node.projections]
    made: Bag = Counter()
    for row, copies in rows.items():
        for each in lists:
            made[tuple(value(row) for value in each)] += copies
    return made


def _group_map(node: GroupMap, world: World, rows: Bag) -> Bag:
    function = world.functions.get(node.function.text)
    if function is None:
        raise PlanError(f"nothing says what the function {node.function.text} does")
    made: Bag = Counter()
    for group in _groups(rows, node.keys, node.child.output).values():
        made.update(function(sorted(group.elements(), key=_comparable)))
    return made


def _groups(rows: Bag, keys: tuple[Expr, ...], columns: tuple[Attribute, ...]) -> dict[Row, Bag]:
    values = [_over_rows(key, columns) for key in keys]
    groups: dict[Row, Bag] = {}
    for row, copies in rows.items():
        groups.setdefault(tuple(value(row) for value in values), Counter())[row] += copies
    return groups


# -- order ------------------------------------------------------------------------------------------------


def _comparable(row: Row) -> Row:
    """A row that can be compared with others of its type, NULLs first."""
    return tuple((value is not None, value) if value is not None else (False,) for value in row)


class _Backwards(tuple[Value, ...]):
    def __lt__(self, other: tuple[Value, ...]) -> bool:
        return tuple.__gt__(self, other)


def _sort_key(order: tuple[Expr, ...], columns: tuple[Attribute, ...]) -> Callable[[Row], Row]:
    """What rows are compared by; NULLs come first, in descending order last, unless the text says."""
    values = [_over_rows(each.children[0], columns) for each in order]
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


def _sorted(rows: Bag, key: Callable[[Row], Row], strict: bool) -> list[Row]:
    """In order; what the order leaves open is decided by content, or an error."""
    made = sorted(rows.elements(), key=_comparable)
    made.sort(key=key)
    if strict and any(a != b and key(a) == key(b) for a, b in pairwise(made)):
        raise EvaluationError("the order leaves open which of two different rows comes first")
    return made


def _limited(node: Limited, world: World, rows: Bag) -> Bag:
    return bag(_in_order(node, world))


def _in_order(node: Node, world: World) -> list[Row]:
    """The rows a LIMIT counts; a LIMIT per partition takes nothing away from the one above it."""
    if isinstance(node, Limited):
        rows, count = _in_order(node.child, world), _over_rows(node.count, ())(())
        takes = {"GlobalLimit": rows[:count], "Offset": rows[count:], "Tail": rows[-count:] if count else []}
        return takes.get(node.kind, rows)
    if isinstance(node, PassThrough) and node.kind == "Sort":
        return _sorted(evaluate(node, world), _sort_key(node.exprs, node.output), world.strict)
    return _sorted(evaluate(node, world), lambda row: (), world.strict)


def _window(node: Window, world: World, rows: Bag) -> Bag:
    columns = node.child.output
    key, place = _sort_key(node.order, columns), _sort_key((*node.order, *node.peers), columns)
    functions = [_windowed(value_of(e), node) for e in node.exprs]
    tied = world.strict and any(open_ for _, open_ in functions)
    made: Bag = Counter()
    for group in _groups(rows, node.partition, columns).values():
        ordered = _sorted(group, place, tied)
        peers = [key(row) for row in ordered]
        for i, row in enumerate(ordered):
            made[(*row, *(function(ordered, peers, i) for function, _ in functions))] += 1
    return made


WindowFunction = Callable[[list[Row], list[Row], int], Value]
"""From a partition in order, what each of its rows is ordered by, and the position of a row."""


def _windowed(expression: Expr, node: Window) -> tuple[WindowFunction, bool]:
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
    arguments = [_over_rows(e, node.child.output) for e in function.children]
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
    function = _aggregated(aggregate, columns)
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
    return 0 if bound.op == "CurrentRow$" else int(_over_rows(bound, ())(()))


def _by_distance(function: Compiled, lower: Expr, upper: Expr, node: Window) -> WindowFunction:
    """By RANGE of values: a row without a value sees those like it, and whatever lies on an open side."""
    (order,) = node.order
    value = _over_rows(order.children[0], node.child.output)
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


NODES: dict[type[Node], Callable[..., Bag]] = {
    Scan: _scan,
    Constant: _constant,
    Foreign: lambda node, world: _fixed(node.name, world),
    Stored: lambda node, world: world.stored,
    Project: _project,
    Filter: _filter,
    Union: _union,
    Join: _join,
    Aggregate: _aggregate,
    Window: _window,
    Generate: _generate,
    Expand: _expand,
    PassThrough: lambda node, world, rows: rows,
    Limited: _limited,
    GroupMap: _group_map,
    Replicate: _replicate,
    Once: lambda node, world, rows: rows,
}
"""The meaning of each node, from the rows of its inputs; an `Other` has none."""


# -- expressions ----------------------------------------------------------------------------------------

Compiled = Callable[[Any], Value]
"""A value from what an expression is over: a row, or the bag of rows of a group."""
Lookup = Callable[[Expr], Compiled | None]
Meaning = Callable[[Expr, list[Compiled]], Compiled]
"""How a function is computed, given how its arguments are."""


def _compiled(expression: Expr, lookup: Lookup) -> Compiled:
    found = lookup(expression)
    if found is not None:
        return found
    if isinstance(expression, Alias):
        return _compiled(expression.child, lookup)
    meaning = FUNCTIONS.get(expression.op)
    if meaning is None:
        raise PlanError(f"the evaluator of bags does not know the function {expression.op}")
    return meaning(expression, [_compiled(child, lookup) for child in expression.children])


def _position(column: Attribute, columns: tuple[Attribute, ...]) -> int:
    for i, found in enumerate(columns):
        if found.id == column.id:
            return i
    raise PlanError(f"column {column.name}#{column.id} is not in the input")


def _over_rows(expression: Expr, columns: tuple[Attribute, ...]) -> Compiled:
    def lookup(part: Expr) -> Compiled | None:
        return operator.itemgetter(_position(part, columns)) if isinstance(part, Attribute) else None

    return _compiled(expression, lookup)


def _over_groups(expression: Expr, columns: tuple[Attribute, ...]) -> Compiled:
    """Outside of aggregates all rows of a group have the same values, so any row will do."""

    def lookup(part: Expr) -> Compiled | None:
        if isinstance(part, Attribute):
            position = _position(part, columns)
            return lambda group: next(iter(group))[position]
        if isinstance(part, AggregateCall) or part.op in AGGREGATES:
            return _aggregated(part, columns)
        return None

    return _compiled(expression, lookup)


def _aggregated(aggregate: Expr, columns: tuple[Attribute, ...]) -> Compiled:
    function = AGGREGATES.get(aggregate.op)
    if function is None:
        raise PlanError(f"the evaluator of bags does not know the aggregate {aggregate.op}")
    arguments = [_over_rows(child, columns) for child in aggregate.children]
    condition = aggregate.condition if isinstance(aggregate, AggregateCall) else None
    test = (lambda row: True) if condition is None else _over_rows(condition, columns)
    distinct = isinstance(aggregate, AggregateCall) and aggregate.distinct

    def compute(group: Bag) -> Value:
        found: Bag = Counter()
        for row, copies in group.items():
            if test(row) is True:
                found[tuple(argument(row) for argument in arguments)] += copies
        rows = list(found) if distinct else list(found.elements())
        return convert(function([row for row in rows if None not in row]), aggregate.type)

    return compute


# -- aggregate functions: of the argument tuples without NULLs --------------------------------------------


def _sum(rows: list[Row]) -> Value:
    return sum(row[0] for row in rows) if rows else None


def _average(rows: list[Row]) -> Value:
    return Fraction(sum(row[0] for row in rows)) / len(rows) if rows else None


def _place(value: Value) -> Value:
    """What a value is compared by; in a struct, NULL comes first."""
    if not isinstance(value, tuple):
        return value
    return tuple((part is not None, () if part is None else (part,)) for part in value)


def _covariance(fewer: int) -> Callable[[list[Row]], Value]:
    """Σ (x − x̄)(y − ȳ) / (n − fewer); with one argument, the variance."""

    def compute(rows: list[Row]) -> Value:
        if len(rows) <= fewer:
            return None
        xs, ys = ([Fraction(row[i]) for row in rows] for i in (0, -1))
        x, y = sum(xs) / len(xs), sum(ys) / len(ys)
        return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / (len(rows) - fewer)

    return compute


AGGREGATES: dict[str, Callable[[list[Row]], Value]] = {
    **dict.fromkeys(("sum", "Sum"), _sum),
    **dict.fromkeys(("count", "Count"), len),
    **dict.fromkeys(("avg", "Average"), _average),
    **dict.fromkeys(("min", "Min"), lambda rows: min((r[0] for r in rows), default=None, key=_place)),
    **dict.fromkeys(("max", "Max"), lambda rows: max((r[0] for r in rows), default=None, key=_place)),
    **dict.fromkeys(("every", "BoolAnd"), lambda rows: all(row[0] for row in rows) if rows else None),
    **dict.fromkeys(("some", "BoolOr"), lambda rows: any(row[0] for row in rows) if rows else None),
    "VariancePop": _covariance(0),
    "VarianceSamp": _covariance(1),
    "CovPopulation": _covariance(0),
    "CovSample": _covariance(1),
}


# -- functions: by the SQL name rennet writes and the name Catalyst gives them ----------------------------


def _strict(function: Callable[..., Value]) -> Meaning:
    """NULL in, NULL out."""

    def meaning(expression: Expr, arguments: list[Compiled]) -> Compiled:
        def compute(over: Any) -> Value:
            values = [argument(over) for argument in arguments]
            return None if None in values else function(*values)

        return compute

    return meaning


def _lenient(function: Callable[..., Value]) -> Meaning:
    """NULL is a value like any other."""

    def meaning(expression: Expr, arguments: list[Compiled]) -> Compiled:
        return lambda over: function(*(argument(over) for argument in arguments))

    return meaning


def _both(expression: Expr, arguments: list[Compiled]) -> Compiled:
    def compute(over: Any) -> Value:
        values = [argument(over) for argument in arguments]
        return False if False in values else None if None in values else True

    return compute


def _either(expression: Expr, arguments: list[Compiled]) -> Compiled:
    def compute(over: Any) -> Value:
        values = [argument(over) for argument in arguments]
        return True if True in values else None if None in values else False

    return compute


def _case(expression: Expr, arguments: list[Compiled]) -> Compiled:
    """Condition, value, condition, value, …, and what else; only the value that is taken is computed."""
    branches = list(zip(arguments[:-1:2], arguments[1::2], strict=False))
    otherwise = arguments[-1] if len(arguments) % 2 else lambda over: None

    def compute(over: Any) -> Value:
        taken = (value for condition, value in branches if condition(over) is True)
        return next(taken, otherwise)(over)

    return compute


def _coalesce(expression: Expr, arguments: list[Compiled]) -> Compiled:
    def compute(over: Any) -> Value:
        values = (argument(over) for argument in arguments)
        return next((value for value in values if value is not None), None)

    return compute


def _in(expression: Expr, arguments: list[Compiled]) -> Compiled:
    equal = [_strict(operator.eq)(expression, [arguments[0], other]) for other in arguments[1:]]
    return _either(expression, equal)


def _divide(a: Value, b: Value) -> Value:
    if b == 0:
        raise EvaluationError("division by zero")
    return Fraction(a) / Fraction(b)


def _literal(expression: Expr, arguments: list[Compiled]) -> Compiled:
    value = convert(ast.literal_eval(expression.text), expression.type)
    return lambda over: value


def _cast(expression: Expr, arguments: list[Compiled]) -> Compiled:
    (argument,) = arguments
    return lambda over: convert(argument(over), expression.type)


def _default(expression: Expr, arguments: list[Compiled]) -> Compiled:
    zero = "" if expression.type == "string" else convert(0, expression.type)
    value = None if expression.nullable else zero
    return lambda over: value


FUNCTIONS: dict[str, Meaning] = {
    **dict.fromkeys(("=", "==", "EqualTo"), _strict(operator.eq)),
    **dict.fromkeys(("<=>", "EqualNullSafe"), _lenient(operator.eq)),
    **dict.fromkeys(("<", "LessThan"), _strict(operator.lt)),
    **dict.fromkeys(("<=", "LessThanOrEqual"), _strict(operator.le)),
    **dict.fromkeys((">", "GreaterThan"), _strict(operator.gt)),
    **dict.fromkeys((">=", "GreaterThanOrEqual"), _strict(operator.ge)),
    **dict.fromkeys(("in", "In"), _in),
    **dict.fromkeys(("and", "And"), _both),
    **dict.fromkeys(("or", "Or"), _either),
    **dict.fromkeys(("not", "Not"), _strict(operator.not_)),
    **dict.fromkeys(("isnull", "IsNull"), _lenient(lambda a: a is None)),
    **dict.fromkeys(("isnotnull", "IsNotNull"), _lenient(lambda a: a is not None)),
    **dict.fromkeys(("coalesce", "Coalesce"), _coalesce),
    **dict.fromkeys(("if", "If", "CaseWhen"), _case),
    **dict.fromkeys(("+", "Add", "Shift"), _strict(operator.add)),
    **dict.fromkeys(("-", "Subtract"), _strict(operator.sub)),
    **dict.fromkeys(("*", "Multiply"), _strict(operator.mul)),
    **dict.fromkeys(("/", "Divide"), _strict(_divide)),
    **dict.fromkeys(("negative", "UnaryMinus"), _strict(operator.neg)),
    **dict.fromkeys(("abs", "Abs"), _strict(abs)),
    **dict.fromkeys(("greatest", "Greatest"), _lenient(lambda *v: max(_present(v), default=None))),
    **dict.fromkeys(("least", "Least"), _lenient(lambda *v: min(_present(v), default=None))),
    **dict.fromkeys(("upper", "Upper"), _strict(str.upper)),
    **dict.fromkeys(("concat", "Concat"), _strict(lambda *v: "".join(v))),
    **dict.fromkeys(("array", "CreateArray"), _lenient(lambda *v: v)),
    **dict.fromkeys(("xxhash64", "XxHash64"), _lenient(lambda *v: hash(v))),
    "Literal": _literal,
    "Cast": _cast,
    "DefaultValue": _default,
    "named_struct": _lenient(lambda *v: v[1::2]),
    "Field": lambda expression, arguments: _strict(lambda v: v[int(expression.text[2:-1])])(
        expression, arguments
    ),
    "Moment": lambda expression, arguments: lambda row: MOMENTS[expression.text],
}


def _present(values: tuple[Value, ...]) -> list[Value]:
    return [value for value in values if value is not None]


# -- types ------------------------------------------------------------------------------------------------

WHOLE = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
MAKERS: dict[str, Callable[[Value], Value]] = {
    "boolean": bool,
    "double": Fraction,
    "float": Fraction,
    "string": lambda value: str(value).lower() if isinstance(value, bool) else str(value),
}


def convert(value: Value, type: str) -> Value:
    """ANSI's cast; a type that is not modelled leaves the value as it is."""
    if value is None:
        return None
    if type in WHOLE:
        return _fitting(int(value), 2 ** WHOLE[type], type)
    found = DECIMAL.fullmatch(type)
    if found:
        precision, scale = int(found[1]), int(found[2])
        rounded = _half_up(Fraction(value) * Fraction(10) ** scale)
        return _fitting(rounded, 10**precision, type) / Fraction(10) ** scale
    return MAKERS[type](value) if type in MAKERS else value


def _half_up(value: Fraction) -> int:
    rounded = math.floor(abs(value) + Fraction(1, 2))
    return rounded if value > 0 else -rounded


def _fitting(value: int, limit: int, type: str) -> int:
    if abs(value) >= limit:
        raise EvaluationError(f"{value} does not fit a {type}")
    return value
