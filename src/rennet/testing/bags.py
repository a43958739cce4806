"""What rennet plans mean, without Spark: the judge of the delta laws.

A relation is a bag of tuples. What expressions mean is in `testing.values`, what order means in
`testing.ordered`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from rennet.delta.temporal import at_earlier_moment
from rennet.errors import PlanError
from rennet.plan.expressions import Attribute, Bound, Expr, call, disjunction, value_of
from rennet.plan.inverse import Rising, source_limit
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
    Slice,
    State,
    Stored,
    Union,
    Window,
)
from rennet.testing.ordered import in_order, sort_key, windowed
from rennet.testing.values import (
    Bag,
    EvaluationError,
    Row,
    Value,
    bag,
    convert,
    nulls_first,
    over_groups,
    over_rows,
)

# -- bags -----------------------------------------------------------------------------------------------


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
    values = [over_rows(value_of(e), node.child.output) for e in node.exprs]
    made: Bag = Counter()
    for row, copies in rows.items():
        made[tuple(value(row) for value in values)] += copies
    return made


def _filter(node: Filter, world: World, rows: Bag) -> Bag:
    condition = node.condition.transform(lambda e: _looked_up(e, world) if isinstance(e, Bound) else None)
    test = over_rows(condition, node.child.output)
    return Counter({row: copies for row, copies in rows.items() if test(row) is True})


def _looked_up(bound: Bound, world: World) -> Expr:
    """The comparison with what its summary says, or TRUE."""
    assert bound.summary is not None
    ((found, _),) = evaluate(bound.summary, world).items()
    value = found[bound.column]
    if found[bound.opened_by] or value is None:
        return Expr("Literal", type="boolean", text="True")
    (column,) = bound.children
    text = repr(str(value) if isinstance(value, Fraction) else value)
    if bound.rising is not None:
        return _at_the_source(bound, value, bound.rising)
    compared = Expr(bound.op, (column, Expr("Literal", type=column.type, text=text)), type="boolean")
    return Expr("or", (compared, Expr("isnull", (column,), type="boolean")), type="boolean")


def _at_the_source(bound: Bound, value: Value, rising: Rising) -> Expr:
    """The comparison of the column that the function rises with; nothing is said beyond where it does."""
    (function,) = bound.children
    computed = over_rows(function, (rising.column,))
    limit = source_limit(bound.op, value, rising, lambda found: computed((found,)))
    column = rising.column
    if limit is None:
        return Expr("Literal", type="boolean", text="True")
    ends = ((bound.op, limit), ("<", rising.low), (">", rising.high))
    literals = [(sign, Expr("Literal", type=column.type, text=repr(end))) for sign, end in ends]
    return disjunction(
        [call("isnull", column, type="boolean"), *(call(s, column, e, type="boolean") for s, e in literals)]
    )


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
    test = (lambda row: True) if node.condition is None else over_rows(node.condition, both)
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
    values = [over_groups(value_of(e), columns) for e in node.exprs]
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
    arguments = [over_rows(e, node.child.output) for e in node.generator.children]
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
    lists = [[over_rows(e, node.child.output) for e in each] for each in node.projections]
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
        made.update(function(sorted(group.elements(), key=nulls_first)))
    return made


def _groups(rows: Bag, keys: tuple[Expr, ...], columns: tuple[Attribute, ...]) -> dict[Row, Bag]:
    values = [over_rows(key, columns) for key in keys]
    groups: dict[Row, Bag] = {}
    for row, copies in rows.items():
        groups.setdefault(tuple(value(row) for value in values), Counter())[row] += copies
    return groups


def _limited(node: Limited, world: World, rows: Bag) -> Bag:
    return bag(_in_order(node, world))


def _in_order(node: Node, world: World) -> list[Row]:
    """The rows a LIMIT counts; a LIMIT per partition takes nothing away from the one above it."""
    if isinstance(node, Limited):
        rows, count = _in_order(node.child, world), over_rows(node.count, ())(())
        takes = {"GlobalLimit": rows[:count], "Offset": rows[count:], "Tail": rows[-count:] if count else []}
        return takes.get(node.kind, rows)
    if isinstance(node, PassThrough) and node.kind == "Sort":
        return in_order(evaluate(node, world), sort_key(node.exprs, node.output), world.strict)
    return in_order(evaluate(node, world), lambda row: (), world.strict)


def _window(node: Window, world: World, rows: Bag) -> Bag:
    columns = node.child.output
    key, place = sort_key(node.order, columns), sort_key((*node.order, *node.peers), columns)
    functions = [windowed(value_of(e), node) for e in node.exprs]
    tied = world.strict and any(open_ for _, open_ in functions)
    made: Bag = Counter()
    for group in _groups(rows, node.partition, columns).values():
        ordered = in_order(group, place, tied)
        peers = [key(row) for row in ordered]
        for i, row in enumerate(ordered):
            made[(*row, *(function(ordered, peers, i) for function, _ in functions))] += 1
    return made


def _stored(node: Stored, world: World) -> Bag:
    """The view's rows; with their places, if the node has two columns more than they have."""
    if not world.stored or len(node.output) == len(next(iter(world.stored))):
        return world.stored
    return bag([(*row, "file", place) for place, row in enumerate(world.stored.elements())])


NODES: dict[type[Node], Callable[..., Bag]] = {
    Scan: _scan,
    Constant: _constant,
    Foreign: lambda node, world: _fixed(node.name, world),
    Stored: _stored,
    Project: _project,
    Filter: _filter,
    Slice: _filter,
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
