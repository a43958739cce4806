"""Random queries, made directly of rennet's nodes: small domains, NULLs, duplicates, self joins.

`STRATEGIES` has one maker per delta rule. A new rule needs an entry here, and nothing else, to be held to
every law: `maker.plan(depth)` gives it inputs, `maker.predicate` and the like give it expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import strategies as st

from rennet.enable.states import DECIMAL
from rennet.plan.expressions import AggregateCall, Attribute, Expr, Named, alias, cast, literal
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
    Generate,
    GroupMap,
    Join,
    Limited,
    Node,
    PassThrough,
    Project,
    Scan,
    Union,
    Window,
)

Draw = Callable[[st.SearchStrategy[Any]], Any]

VALUES: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, 2),
    "bigint": (0, 1),
    "string": ("a", "b"),
    "boolean": (False, True),
    "decimal(5,2)": (Fraction(0), Fraction(1, 2), Fraction(5, 4)),
}
"""Few values, so that rows meet."""


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    nullable: bool

    @property
    def values(self) -> tuple[Any, ...]:
        return (None, *VALUES[self.type]) if self.nullable else VALUES[self.type]


Schema = tuple[Column, ...]
SCHEMAS: dict[str, Schema] = {
    "r": (Column("k", "int", True), Column("v", "int", True)),
    "s": (Column("k", "int", True), Column("d", "decimal(5,2)", True), Column("n", "int", False)),
    "t": (Column("s", "string", True), Column("b", "boolean", True), Column("m", "bigint", False)),
}


def column(name: str, type: str, nullable: bool = True) -> Attribute:
    """A column under an id of its own."""
    typed = Expr("", type=type, nullable=nullable)
    return alias(typed, name).attribute


def scan(source: str) -> Scan:
    """A source under fresh ids, so that it may be read twice."""
    return Scan(source, tuple(column(c.name, c.type, c.nullable) for c in SCHEMAS[source]), name=source)


def values(rows: Sequence[tuple[Any, ...]], *columns: tuple[str, str]) -> Constant:
    """VALUES, a leaf that never changes."""
    output = tuple(column(name, type) for name, type in columns)
    return Constant("LocalRelation", output, repr(list(rows)))


def catalyst(name: str, *arguments: Expr, type: str = "boolean", nullable: bool = True) -> Expr:
    """A function under the name Catalyst gives it."""
    return Expr(name, arguments, type=type, nullable=nullable)


def is_number(type: str) -> bool:
    return type in ("int", "bigint", "double") or type.startswith("decimal")


# -- aggregates -----------------------------------------------------------------------------------------


def count(*arguments: Expr, distinct: bool = False, condition: Expr | None = None) -> AggregateCall:
    given = arguments or (literal(1, "int"),)
    return AggregateCall("Count", given, "bigint", False, distinct=distinct, condition=condition)


def total(argument: Expr, distinct: bool = False, condition: Expr | None = None) -> AggregateCall:
    return AggregateCall("Sum", (argument,), sum_type(argument.type), distinct=distinct, condition=condition)


def sum_type(type: str) -> str:
    found = DECIMAL.fullmatch(type)
    if found:
        return f"decimal({min(38, int(found[1]) + 10)},{found[2]})"
    return "double" if type == "double" else "bigint"


def extreme(op: str, argument: Expr, condition: Expr | None = None) -> AggregateCall:
    return AggregateCall(op, (argument,), argument.type, condition=condition)


def average(argument: Expr, distinct: bool = False, condition: Expr | None = None) -> AggregateCall:
    """With Spark's formula over its buffer columns, as the reader gives it."""
    found = DECIMAL.fullmatch(argument.type)
    rows = column("count", "bigint", False)
    if found:
        summed, type = column("sum", sum_type(argument.type)), _average_type(found)
        quotient = cast(catalyst("Divide", summed, cast(rows, "decimal(20,0)"), type=type), type)
    else:
        summed, type = column("sum", "double"), "double"
        quotient = catalyst("Divide", summed, cast(rows, "double"), type=type)
    return AggregateCall(
        "Average",
        (argument,),
        type,
        distinct=distinct,
        condition=condition,
        evaluate=_unless_empty(rows, 0, quotient),
    )


def _average_type(found: Any) -> str:
    return f"decimal({min(38, int(found[1]) + 4)},{min(37, int(found[2]) + 4)})"


def moments(op: str, *arguments: Expr, condition: Expr | None = None) -> AggregateCall:
    """VARIANCE and COVAR, over doubles as Spark has it."""
    rows = column("n", "double", False)
    spread = column("m2" if op.startswith("Variance") else "ck", "double", False)
    fewer = 1 if op.endswith(("Samp", "Sample")) else 0
    divisor = catalyst("Subtract", rows, cast(literal(fewer), "double"), type="double")
    made = _unless_empty(rows, fewer, catalyst("Divide", spread, divisor, type="double"))
    doubles = tuple(cast(argument, "double") for argument in arguments)
    return AggregateCall(op, doubles, "double", condition=condition, evaluate=made)


def _unless_empty(rows: Attribute, fewer: int, value: Expr) -> Expr:
    empty = catalyst("LessThanOrEqual", rows, literal(fewer, rows.type))
    return catalyst("If", empty, literal(None, value.type), value, type=value.type)


MOMENTS = ("VariancePop", "VarianceSamp", "CovPopulation", "CovSample")


@cache
def _between(least: int, most: int) -> st.SearchStrategy[int]:
    return st.integers(least, most)  # made once: making a strategy costs more than drawing from it


# -- makers ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Maker:
    """Makes plans out of what hypothesis draws, using the given rules."""

    draw: Draw
    rules: Sequence[str]

    def number(self, least: int, most: int) -> int:
        return int(self.draw(_between(least, most))) if most > least else least

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def chance(self, of: int) -> bool:
        """True once in `of` times; hypothesis shrinks it to False."""
        return self.number(0, of - 1) == of - 1

    def some(self, choices: Sequence[Any], least: int, most: int) -> list[Any]:
        """Several of them, each once."""
        size = self.number(least, most) if choices else 0
        return list(dict.fromkeys(self.one(choices) for _ in range(size)))

    # -- relations

    def plan(self, depth: int) -> Node:
        if depth <= 0 or self.chance(6):
            return self.leaf()
        return STRATEGIES[self.one(self.rules)](self, depth - 1)

    def leaf(self) -> Node:
        if self.chance(8):
            rows = [(self.one((None, 0, 1)),) for _ in range(self.number(0, 2))]
            return values(rows, ("c", "int"))
        return scan(self.one(sorted(SCHEMAS)))

    def shaped(self, node: Node, types: Sequence[str]) -> Node:
        """A projection to columns of the given types."""
        exprs = [alias(self.value(node.output, type), f"u{i}") for i, type in enumerate(types)]
        return Project(tuple(exprs), (node,))

    # -- expressions

    def value(self, columns: Sequence[Attribute], type: str) -> Expr:
        """Something of a type, mostly a column."""
        found = [c for c in columns if c.type == type]
        if is_number(type) and self.chance(4):
            return self.arithmetic(columns, type)
        if found and not self.chance(6):
            return self.one(found)  # type: ignore[no-any-return]
        numbers = [c for c in columns if is_number(c.type)]
        if is_number(type) and numbers and self.chance(2):
            return cast(self.one(numbers), type)
        return self.literal(type)

    def literal(self, type: str) -> Expr:
        if self.chance(8):
            return literal(None, type)
        if type == "boolean":
            return literal(self.chance(2), type)
        return literal(self.one(("a", "b")) if type == "string" else self.one((0, 1, 2)), type)

    def arithmetic(self, columns: Sequence[Attribute], type: str) -> Expr:
        found = [c for c in columns if c.type == type]
        left = self.one(found) if found else self.literal(type)
        right = self.literal(type)
        choice = self.one(("Add", "Subtract", "Coalesce", "If"))
        if choice == "If":
            return catalyst("If", self.predicate(columns), left, right, type=type)
        nullable = (left.nullable and right.nullable) if choice == "Coalesce" else True
        return catalyst(choice, left, right, type=type, nullable=nullable)

    def predicate(self, columns: Sequence[Attribute], depth: int = 1) -> Expr:
        if depth and self.chance(4):
            parts = [self.predicate(columns, depth - 1) for _ in range(2)]
            return catalyst(self.one(("And", "Or")), *parts)
        if not columns:
            return self.literal("boolean")
        subject = self.one(columns)
        if self.chance(5):
            return catalyst(self.one(("IsNotNull", "IsNull")), subject, nullable=False)
        if subject.type == "boolean" and self.chance(2):
            return subject if self.chance(2) else catalyst("Not", subject)
        op = self.one(("GreaterThan", "LessThan", "EqualTo", "EqualNullSafe"))
        others = [c for c in columns if c.type == subject.type and c != subject]
        other = self.one(others) if others and self.chance(2) else self.literal(subject.type)
        return catalyst(op, subject, other)

    def join_condition(self, left: Node, right: Node) -> Expr | None:
        """Mostly columns of both sides being equal; else anything, or nothing."""
        pairs = [(a, b) for a in left.output for b in right.output if a.type == b.type]
        if not pairs or self.chance(6):
            both = (*left.output, *right.output)
            return None if self.chance(3) else self.predicate(both)
        op = self.one(("EqualTo", "EqualTo", "EqualNullSafe", "LessThan"))
        parts = [catalyst(op, *pair) for pair in self.some(pairs, 1, 2)]
        if self.chance(4):
            parts.append(self.predicate((*left.output, *right.output), 0))
        return parts[0] if len(parts) == 1 else catalyst("And", *parts[:2])

    def aggregate_call(self, columns: Sequence[Attribute], sums: bool = False) -> AggregateCall:
        """Any aggregate, or one that can be kept by adding to sums."""
        numbers = [c for c in columns if is_number(c.type) and not (sums and c.type == "double")]
        exact = [c for c in columns if c.type in ("int", "decimal(5,2)")]
        condition = self.predicate(columns, 0) if self.chance(5) else None
        distinct = not sums and self.chance(4)
        kinds = ["CountColumn", "Count"] if columns else ["Count"]
        kinds += ["Sum", "Sum", "Average"] if numbers else []
        kinds += ["Moments"] if exact else []
        kinds += ["Min", "Max"] if columns and not sums else []
        kind = self.one(kinds)
        if kind == "Count":
            return count(condition=condition)
        if kind == "CountColumn":
            return count(*self.some(columns, 1, 2), distinct=distinct, condition=condition)
        if kind in ("Min", "Max"):
            return extreme(kind, self.one(columns), condition)
        if kind == "Moments":
            op = self.one(MOMENTS)
            arguments = [self.one(exact) for _ in range(2 if op.startswith("Cov") else 1)]
            return moments(op, *arguments, condition=condition)
        argument = self.one(numbers)
        return (total if kind == "Sum" else average)(argument, distinct, condition)

    def layered(self, plan: Node) -> Node:
        """With projections and filters over it."""
        for _ in range(self.number(0, 3)):
            plan = layer(self, plan)
        return plan


# -- one strategy per rule --------------------------------------------------------------------------------


def project(maker: Maker, depth: int) -> Node:
    return projected(maker, maker.plan(depth))


def projected(maker: Maker, child: Node) -> Node:
    kept: list[Named] = maker.some(child.output, 1, 3)
    types = maker.some(sorted({*(c.type for c in child.output), "int"}), 0, 2)
    made: list[Named] = [alias(maker.value(child.output, type), f"p{i}") for i, type in enumerate(types)]
    return Project((*kept, *made), (child,)) if kept or made else child


def filtered(maker: Maker, depth: int) -> Node:
    child = maker.plan(depth)
    return Filter(maker.predicate(child.output), (child,))


def layer(maker: Maker, child: Node) -> Node:
    """A projection or a filter over what is given."""
    if maker.chance(2):
        return Filter(maker.predicate(child.output), (child,))
    return projected(maker, child)


def union(maker: Maker, depth: int) -> Node:
    first = maker.plan(depth)
    types = [c.type for c in first.output]
    rest = [maker.shaped(maker.plan(depth), types) for _ in range(maker.one((1, 1, 2)))]
    if maker.chance(6):
        rest.append(first)  # the same relation twice
    nullable = [any(part.output[i].nullable for part in (first, *rest)) for i in range(len(types))]
    output = tuple(replace(c, nullable=n) for c, n in zip(first.output, nullable, strict=True))
    if maker.chance(2):
        output = tuple(column(c.name, c.type, c.nullable) for c in output)
    return Union(output, (first, *rest))


def join(how: str) -> Callable[[Maker, int], Node]:
    def make(maker: Maker, depth: int) -> Node:
        left, right = maker.plan(depth), maker.plan(depth)
        return joined(left, right, how, maker.join_condition(left, right))

    return make


def single_join(maker: Maker, depth: int) -> Node:
    """With a right side that has each key once."""
    left, below = maker.plan(depth), maker.plan(depth)
    key = below.output[0]
    right = Aggregate((key,), (alias(key, "k"), alias(count(), "n")), (below,))
    return joined(left, right, SINGLE, catalyst("EqualTo", left.output[0], right.output[0]))


def joined(left: Node, right: Node, how: str, condition: Expr | None) -> Join:
    """A join as Spark has it: columns of a side that may be missing are nullable above it."""
    kept = left.output if how not in (RIGHT, FULL) else _nullable(left.output)
    if how in (SEMI, ANTI):
        return Join(how, condition, (left, right), kept)
    if how == EXISTENCE:
        return Join(how, condition, (left, right), (*kept, column("exists", "boolean", False)))
    added = right.output if how not in (LEFT, FULL, SINGLE) else _nullable(right.output)
    return Join(how, condition, (left, right), (*kept, *added))


def _nullable(columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    return tuple(replace(c, nullable=True) for c in columns)


def aggregate(maker: Maker, depth: int, keyed: bool = False, sums: bool = False) -> Node:
    child = maker.plan(depth)
    keys = maker.some(child.output, int(keyed), 2)
    grouping: list[Expr] = [*keys]
    if not sums and maker.chance(10):
        grouping.append(literal(1, "int"))
    shown: list[Named] = [k if maker.chance(3) else alias(k, f"g{i}") for i, k in enumerate(keys)]
    if shown and maker.chance(5):
        shown.pop()
    for i in range(maker.number(0 if shown else 1, 3)):
        shown.append(alias(_over(maker, maker.aggregate_call(child.output, sums)), f"a{i}"))
    return Aggregate(tuple(grouping), tuple(shown), (child,))


def _over(maker: Maker, call: AggregateCall) -> Expr:
    """An aggregate, or an expression over it."""
    if is_number(call.type) and maker.chance(4):
        return catalyst(maker.one(("Add", "Coalesce")), call, literal(1, call.type), type=call.type)
    return call


def window(maker: Maker, depth: int) -> Node:
    return windowed(maker, maker.plan(depth))


def windowed(maker: Maker, child: Node, keyed: bool = False) -> Node:
    """Ties are left open, as users leave them."""
    partition = tuple(maker.some(child.output, int(keyed), 2))
    order = tuple(ordering(maker, c) for c in maker.some(child.output, 1, 2))
    if maker.chance(5):
        order = ()
    made = [window_function(maker, child.output, partition, order) for _ in range(maker.number(1, 2))]
    exprs = tuple(alias(function, f"w{i}") for i, function in enumerate(made))
    return Window(exprs, partition, order, (child,))


def ordering(maker: Maker, column: Attribute) -> Expr:
    direction = maker.one(("ASC NULLS FIRST", "DESC NULLS LAST", "ASC NULLS LAST", "DESC NULLS FIRST"))
    return Expr("SortOrder", (column,), type=column.type, text=f"{column.name} {direction}")


START, HERE, END = Expr("UnboundedPreceding$"), Expr("CurrentRow$"), Expr("UnboundedFollowing$")


DISTANCES: tuple[tuple[Expr, Expr], ...] = (
    (literal(-1, "int"), HERE),
    (literal(-2, "int"), literal(-1, "int")),
    (HERE, literal(1, "int")),
    (HERE, HERE),
    (literal(-1, "int"), literal(1, "int")),
    (literal(1, "int"), END),
    (START, literal(-1, "int")),
)
"""Frames by RANGE of values."""


def window_function(
    maker: Maker, columns: Sequence[Attribute], partition: tuple[Attribute, ...], order: tuple[Expr, ...]
) -> Expr:
    kinds = ("Aggregate", "Aggregate", "RowNumber", "Rank", "DenseRank", "Lag", "Lead")
    kind = maker.one(kinds) if order and columns else "Aggregate"
    function: Expr
    bounds: tuple[Expr, Expr] = (START, HERE) if order else (START, END)
    by_rows = kind != "Aggregate"
    if kind == "Aggregate":
        function = replace(maker.aggregate_call(columns), distinct=False)
        by_rows = bool(order) and maker.chance(2)
        if by_rows:
            near = (literal(-1, "int"), HERE), (HERE, literal(1, "int")), (HERE, HERE)
            bounds = maker.one((bounds, (START, END), *near))
        elif len(order) == 1 and order[0].children[0].type == "int":
            bounds = maker.one((bounds, *(tuple(pair) for pair in DISTANCES)))
    elif kind in ("Lag", "Lead"):
        value = maker.one(columns)
        function = Expr(kind, (value, literal(1, "int"), literal(None, value.type)), type=value.type)
    else:
        arguments = tuple(e.children[0] for e in order) if kind != "RowNumber" else ()
        function = Expr(kind, arguments, type="int", nullable=False)
    return over_window(function, partition, order, bounds, by_rows)


def over_window(
    function: Expr,
    partition: tuple[Attribute, ...],
    order: tuple[Expr, ...],
    bounds: tuple[Expr, Expr],
    by_rows: bool,
) -> Expr:
    """`function OVER (…)`, in Catalyst's words."""
    kind = "RowFrame" if by_rows else "RangeFrame"
    names = ", ".join(f"{b.op.lower()}()" if b.op.endswith("$") else b.text for b in bounds)
    frame = Expr("SpecifiedWindowFrame", bounds, text=f"specifiedwindowframe({kind}, {names})")
    spec = Expr("WindowSpecDefinition", (*partition, *order, frame))
    return Expr("WindowExpression", (function, spec), type=function.type, nullable=function.nullable)


def generate(maker: Maker, depth: int) -> Node:
    child = maker.plan(depth)
    type = maker.one(sorted({*(c.type for c in child.output), "int"}))
    values_ = tuple(maker.value(child.output, type) for _ in range(maker.number(1, 3)))
    kept = tuple(i for i in range(len(child.output)) if not maker.chance(3))
    if maker.chance(3):
        generator = Expr("Stack", (literal(len(values_), "int"), *values_))
        return Generate(generator, (column("x", type),), (child,), kept)
    array = catalyst("CreateArray", *values_, type=f"array<{type}>", nullable=False)
    if maker.chance(3):
        nothing = literal(None, array.type)
        array = catalyst("If", maker.predicate(child.output), array, nothing, type=array.type)
    if maker.chance(3):
        made = (column("pos", "int", False), column("x", type))
        return Generate(Expr("PosExplode", (array,)), made, (child,), kept)
    return Generate(Expr("Explode", (array,)), (column("x", type),), (child,), kept)


def expand(maker: Maker, depth: int) -> Node:
    """As for GROUPING SETS: the columns as they are, copies of some or NULL, and which copy it is."""
    child = maker.plan(depth)
    keys = maker.some(child.output, 1, 2)
    copies = tuple(column(k.name, k.type) for k in keys)
    which = column("spark_grouping_id", "bigint", False)
    lists = []
    for i in range(maker.number(1, 3)):
        shown = [k if maker.chance(2) else literal(None, k.type) for k in keys]
        lists.append((*child.output, *shown, literal(i)))
    return Expand(tuple(lists), (*child.output, *copies, which), (child,))


def pass_through(maker: Maker, depth: int) -> Node:
    child = maker.plan(depth)
    if maker.chance(3):
        return PassThrough("Repartition", (), (child,))
    order = tuple(ordering(maker, c) for c in maker.some(child.output, 1, 2))
    return PassThrough("Sort", order, (child,))


def limited(maker: Maker, depth: int) -> Node:
    """By an order that tells all rows apart: other limits are always recomputed."""
    child = maker.plan(depth)
    order = tuple(ordering(maker, c) for c in dict.fromkeys((*maker.some(child.output, 0, 2), *child.output)))
    plan: Node = PassThrough("Sort", order, (child,))
    if maker.chance(3):
        plan = Limited("Offset", literal(maker.number(0, 2), "int"), (plan,))
        if maker.chance(2):
            return plan
    count = literal(maker.number(0, 3), "int")
    return Limited("GlobalLimit", count, (Limited("LocalLimit", count, (plan,)),))


def group_map(maker: Maker, depth: int) -> Node:
    child = maker.plan(depth)
    keys = tuple(maker.some(child.output, 0, 2))
    name = maker.one(sorted(GROUP_FUNCTIONS))
    output = (column("size", "bigint", False), column("mark", "boolean", False))
    return GroupMap("FlatMapGroupsInPandas", keys, Expr("PythonUDF", text=name), output, (child,))


GROUP_FUNCTIONS: dict[str, Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]]] = {
    "summary": lambda rows: [(len(rows), None in rows[0])],
    "row by row": lambda rows: [(i, row == rows[0]) for i, row in enumerate(rows)],
    "nothing for one": lambda rows: [(len(rows), True)] * (len(rows) - 1),
}
"""Functions of a whole group: each depends on all its rows."""


STRATEGIES: dict[str, Callable[[Maker, int], Node]] = {
    "Project": project,
    "Filter": filtered,
    "Union": union,
    "Aggregate": aggregate,
    "Window": window,
    "GroupMap": group_map,
    "Limited": limited,
    "Generate": generate,
    "Expand": expand,
    "PassThrough": pass_through,
    **{f"Join.{how}": join(how) for how in (INNER, LEFT, RIGHT, FULL, SEMI, ANTI, EXISTENCE)},
    "Join.single": single_join,
}
"""By the name of the rule they exercise: a node of that kind over inputs of a given depth."""
