"""rennet plans as SQLite's SQL: a second opinion on what they mean."""

from __future__ import annotations

import ast
import sqlite3
from collections.abc import Callable
from typing import Any

from rennet.plan.expressions import AggregateCall, Alias, Attribute, Expr, value_of
from rennet.plan.ir import (
    ANTI,
    EXISTENCE,
    SEMI,
    SINGLE,
    Aggregate,
    Constant,
    Expand,
    Filter,
    Join,
    Limited,
    Node,
    PassThrough,
    Project,
    Scan,
    Union,
    Window,
)
from rennet.plan.reading import sources
from rennet.testing.bags import World
from rennet.testing.values import Bag, bag
from tests.laws.queries import SCHEMAS

INFIX = {
    **{"EqualTo": "=", "EqualNullSafe": "IS", "LessThan": "<", "GreaterThan": ">"},
    **{"And": "AND", "Or": "OR", "Add": "+", "Subtract": "-", "LessThanOrEqual": "<="},
}
BOUNDS = {
    "UnboundedPreceding$": "UNBOUNDED PRECEDING",
    "CurrentRow$": "CURRENT ROW",
    "UnboundedFollowing$": "UNBOUNDED FOLLOWING",
}


def answer(plan: Node, world: World) -> Bag:
    """The rows SQLite gives for a plan, over the sources after their changes."""
    with sqlite3.connect(":memory:") as connection:
        for source in sources(plan):
            names = [column.name for column in SCHEMAS[source]]
            connection.execute(f"CREATE TABLE {source} ({', '.join(names)})")
            rows = [[_stored(value) for value in row] for row in world.after[source].elements()]
            connection.executemany(f"INSERT INTO {source} VALUES ({', '.join('?' * len(names))})", rows)
        return bag(connection.execute(query(plan)))


def _stored(value: Any) -> Any:
    return value if value is None or isinstance(value, int | str) else float(value)


# -- relations --------------------------------------------------------------------------------------------


def name(column: Attribute) -> str:
    return f"c{abs(column.id)}"


def query(node: Node) -> str:
    return WRITERS[type(node)](node)


def _below(node: Node) -> str:
    return f"({query(node)})"


def _columns(named: tuple[Attribute, ...], written: list[str]) -> str:
    return ", ".join(f"{text} AS {name(column)}" for column, text in zip(named, written, strict=True))


def _scan(node: Scan) -> str:
    return f"SELECT {_columns(node.output, [c.name for c in node.output])} FROM {node.source}"


def _constant(node: Constant) -> str:
    nothing = f"SELECT {_columns(node.output, ['NULL'] * len(node.output))} WHERE 0"
    rows = [[_value(value) for value in row] for row in ast.literal_eval(node.text)]
    return " UNION ALL ".join([nothing, *(f"SELECT {', '.join(row)}" for row in rows)])


def _project(node: Project) -> str:
    made = [sql(value_of(e)) for e in node.exprs]
    return f"SELECT {_columns(node.output, made)} FROM {_below(node.child)}"


def _filter(node: Filter) -> str:
    return f"SELECT * FROM {_below(node.child)} WHERE {sql(node.condition)}"


def _union(node: Union) -> str:
    each = [[name(column) for column in child.output] for child in node.children]
    parts = zip(node.children, each, strict=True)
    made = [f"SELECT {_columns(node.output, names)} FROM {_below(child)}" for child, names in parts]
    return " UNION ALL ".join(made)


def _join(node: Join) -> str:
    condition = "1" if node.condition is None else sql(node.condition)
    exists = f"EXISTS (SELECT 1 FROM {_below(node.right)} WHERE {condition})"
    if node.how == EXISTENCE:
        return f"SELECT *, {exists} AS {name(node.output[-1])} FROM {_below(node.left)}"
    if node.how in (SEMI, ANTI):
        return f"SELECT * FROM {_below(node.left)} WHERE {'' if node.how == SEMI else 'NOT '}{exists}"
    how = "left" if node.how == SINGLE else node.how
    return f"SELECT * FROM {_below(node.left)} {how} JOIN {_below(node.right)} ON {condition}"


def _aggregate(node: Aggregate) -> str:
    made = [sql(value_of(e)) for e in node.exprs]
    by = ", ".join(sql(e) if isinstance(e, Attribute) else f"{sql(e)} + 0" for e in node.grouping)
    grouped = f" GROUP BY {by}" if by else ""
    return f"SELECT {_columns(node.output, made)} FROM {_below(node.child)}{grouped}"


def _expand(node: Expand) -> str:
    each = [_columns(node.output, [sql(e) for e in one]) for one in node.projections]
    return " UNION ALL ".join(f"SELECT {columns} FROM {_below(node.child)}" for columns in each)


def _window(node: Window) -> str:
    made = [
        f"{_over(value_of(e))} AS {name(a)}"
        for e, a in zip(node.exprs, node.output[-len(node.exprs) :], strict=True)
    ]
    return f"SELECT *, {', '.join(made)} FROM {_below(node.child)}"


def _over(expression: Expr) -> str:
    function, spec = expression.children
    *keys, frame = spec.children
    partition = [e for e in keys if e.op != "SortOrder"]
    order = [e for e in keys if e.op == "SortOrder"]
    parts = [f"PARTITION BY {', '.join(map(sql, partition))}"] if partition else []
    if function.op in ("Rank", "DenseRank"):
        order = order[: len(function.children)]
    if order:
        parts.append(f"ORDER BY {', '.join(map(_ordered, order))}")
    if isinstance(function, AggregateCall):
        kind = "ROWS" if "RowFrame" in frame.text else "RANGE"
        parts.append(f"{kind} BETWEEN {' AND '.join(map(_bound, frame.children))}")
        return f"{sql(function)} OVER ({' '.join(parts)})"
    called = {"RowNumber": "ROW_NUMBER", "Rank": "RANK", "DenseRank": "DENSE_RANK"}.get(function.op)
    if called:
        return f"{called}() OVER ({' '.join(parts)})"
    return f"{function.op.upper()}({', '.join(map(sql, function.children))}) OVER ({' '.join(parts)})"


def _bound(bound: Expr) -> str:
    if bound.op in BOUNDS:
        return BOUNDS[bound.op]
    steps = int(bound.text)
    return f"{abs(steps)} {'PRECEDING' if steps < 0 else 'FOLLOWING'}"


def _ordered(order: Expr) -> str:
    _, _, direction = order.text.partition(" ")
    return f"{sql(order.children[0])} {direction}"


def _limited(node: Limited) -> str:
    if node.kind == "LocalLimit":
        return query(node.child)
    counts = {"GlobalLimit": f"LIMIT {node.count.text}", "Offset": f"LIMIT -1 OFFSET {node.count.text}"}
    below: Node = node.child
    while isinstance(below, Limited):
        below = below.child
    assert isinstance(below, PassThrough)
    order = ", ".join(map(_ordered, below.exprs))
    return f"SELECT * FROM {_below(node.child)} ORDER BY {order} {counts[node.kind]}"


WRITERS: dict[type[Node], Callable[[Any], str]] = {
    Scan: _scan,
    Constant: _constant,
    Project: _project,
    Filter: _filter,
    Union: _union,
    Join: _join,
    Aggregate: _aggregate,
    Expand: _expand,
    Window: _window,
    PassThrough: lambda node: query(node.child),
    Limited: _limited,
}


# -- expressions ------------------------------------------------------------------------------------------


def sql(expression: Expr) -> str:
    if isinstance(expression, Attribute):
        return name(expression)
    if isinstance(expression, Alias):
        return sql(expression.child)
    if isinstance(expression, AggregateCall):
        return _called(expression)
    arguments = [sql(child) for child in expression.children]
    if expression.op in INFIX:
        return f"({arguments[0]} {INFIX[expression.op]} {arguments[1]})"
    return FUNCTIONS[expression.op](expression, *arguments)


def _called(aggregate: AggregateCall) -> str:
    condition = f" FILTER (WHERE {sql(aggregate.condition)})" if aggregate.condition is not None else ""
    distinct = "DISTINCT " if aggregate.distinct else ""
    arguments = [sql(child) for child in aggregate.children]
    if aggregate.op == "Count":
        there = " AND ".join(f"{argument} IS NOT NULL" for argument in arguments)
        which = " || ".join(f"QUOTE({argument}) || ','" for argument in arguments)
        return f"COUNT({distinct}CASE WHEN {there} THEN {which} END){condition}"
    return f"{aggregate.op.upper()}({distinct}{arguments[0]}){condition}"


def _value(value: Any) -> str:
    return "NULL" if value is None else str(int(value)) if isinstance(value, int) else f"'{value}'"


def _cast(expression: Expr, argument: str) -> str:
    return f"CAST({argument} AS {'INTEGER' if expression.type in ('int', 'bigint') else 'REAL'})"


FUNCTIONS: dict[str, Callable[..., str]] = {
    "Literal": lambda e: _value(ast.literal_eval(e.text)),
    "Cast": _cast,
    "If": lambda e, a, b, c: f"(CASE WHEN {a} THEN {b} ELSE {c} END)",
    "Coalesce": lambda e, *arguments: f"COALESCE({', '.join(arguments)})",
    "Not": lambda e, a: f"(NOT {a})",
    "IsNull": lambda e, a: f"({a} IS NULL)",
    "IsNotNull": lambda e, a: f"({a} IS NOT NULL)",
}
