"""Stage 3: what the backing table holds, so that it can be maintained.

The user's columns come first, then hidden ones: the keys that tell rows apart, the states of aggregates
that are kept by adding, or a hash of the row's content. The view on top shows the user's columns only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rennet.enable.frames import Span, running, span
from rennet.enable.moments import temporal
from rennet.enable.states import State, States, formula
from rennet.plan.expressions import (
    AggregateCall,
    Alias,
    Attribute,
    Expr,
    Named,
    aggregate_calls,
    alias,
    attribute_of,
    call,
    columns_of,
    literal,
    or_else,
    value_of,
)
from rennet.plan.ir import Aggregate, Filter, Node, Project, Window, project

PREFIX = "__mv_"
VISIBLE = "__mv_visible"
CONTENT = "__mv_content"
UNHASHABLE = ("map<", "variant")


@dataclass(frozen=True)
class Layout:
    """The plan whose output is the backing table's columns, and how its rows are told apart."""

    plan: Node
    user_columns: int
    keys: tuple[Attribute, ...] = ()
    """Columns of `plan` that say which group, or which window partition, a row belongs to."""
    grouped: Aggregate | None = None
    """The node of `plan` that makes those groups."""
    windowed: Window | None = None
    """The node of `plan` whose partitions the keys are."""
    span: Span | None = None
    """How far its functions look, if not everywhere."""
    order: Attribute | None = None
    """The column of `plan` that this is told by."""
    running: tuple[Attribute, ...] = ()
    """The columns of `plan` that hold the window's results, if those go on from row to row."""
    states: tuple[State, ...] = ()
    rows: Attribute | None = None
    visible: Attribute | None = None
    content: Attribute | None = None
    fixed: tuple[Alias, ...] = ()
    """Columns computed from those of `plan` for rows that come, and then kept."""

    partitioned_by: tuple[str, ...] = ()
    """The columns that the backing table is partitioned by."""

    @property
    def columns(self) -> tuple[Attribute, ...]:
        return self.plan.output

    @property
    def stored(self) -> tuple[Attribute, ...]:
        """All columns of the backing table."""
        return (*self.columns, *(each.attribute for each in self.fixed))

    def finished(self, rows: Node) -> Node:
        """Rows of `plan` that come, with the columns that are computed for them now."""
        if not self.fixed:
            return rows
        now = {column.id: found for column, found in zip(self.columns, rows.output, strict=True)}

        def present(part: Expr) -> Expr | None:
            return now.get(part.id) if isinstance(part, Attribute) else None

        made = (alias(each.child.transform(present), each.name) for each in self.fixed)
        return project(rows, (*rows.output, *made))

    @property
    def unique(self) -> bool:
        """Does a key have at most one row?"""
        return self.grouped is not None and bool(self.keys)

    @property
    def merges(self) -> bool:
        return bool(self.states)


def lay_out(plan: Node) -> Layout:
    """Choose the layout for a normalized plan."""
    top = peel(plan)
    if isinstance(top, Aggregate):
        return _merged(plan, top) or _grouped(plan, top)
    if isinstance(top, Window):
        limits = span(top)
        if limits is not None or columns_of(top.partition):
            return _windowed(plan, top, limits)
    return by_content(plan)


def plain(plan: Node) -> Layout:
    """For a view that is always computed in full: the user's columns and nothing else."""
    return Layout(plan, len(plan.output))


def peel(plan: Node) -> Node:
    """The first node below the projections and filters on top that do not look at the clock."""
    while isinstance(plan, Project | Filter) and not any(temporal(e) for e in plan.expressions):
        plan = plan.child
    return plan


def by_content(plan: Node) -> Layout:
    """Rows are told apart by what they hold; the hash makes them quick to find."""
    content = _content(plan)
    if content is None:
        return plain(plan)
    return Layout(project(plan, (*plan.output, content)), len(plan.output), content=content.attribute)


def _content(plan: Node) -> Alias | None:
    parts = [_hashable(column) for column in plan.output]
    if any(part is None for part in parts):
        return None
    hashed = tuple(part for part in parts if part is not None)
    return alias(Expr("xxhash64", hashed, type="bigint", nullable=False), CONTENT)


def _hashable(column: Attribute) -> Expr | None:
    """A map has no order of its own: its sorted entries say the same."""
    inner = column.type.removeprefix("map<")
    if any(word in inner for word in UNHASHABLE):
        return None
    return column if inner == column.type else call("sort_array", call("map_entries", column))


def _windowed(plan: Node, top: Window, limits: Span | None) -> Layout:
    """Carry the partition and order columns to the top, so that rows can be found and replaced by them."""
    keys = columns_of(top.partition)
    going_on = () if limits is None else _going_on(plan, top)
    wanted = keys if limits is None else tuple(dict.fromkeys((*keys, limits.order, *going_on)))
    carried = _carrying(plan, top, top, wanted)
    content = _content(carried)
    full = carried if content is None else project(carried, (*carried.output, content))
    names = {key.id: f"{PREFIX}key_{i}" for i, key in enumerate(wanted) if key.id not in plan.ids}
    full, found = _hidden_names(full, names, wanted)
    return Layout(
        full,
        len(plan.output),
        found[: len(keys)],
        windowed=top,
        span=limits,
        order=None if limits is None else found[wanted.index(limits.order)],
        running=tuple(found[wanted.index(each)] for each in going_on),
        content=content.attribute if content else None,
    )


def _going_on(plan: Node, top: Window) -> tuple[Attribute, ...]:
    """The results that go on from row to row; behind a filter the rows to go on from may be missing."""
    while plan is not top:
        if not isinstance(plan, Project):
            return ()
        plan = plan.child
    return tuple(each.output for each in running(top) or ())


def _hidden_names(
    plan: Node, names: dict[int, str], keys: tuple[Attribute, ...]
) -> tuple[Node, tuple[Attribute, ...]]:
    """Give hidden copies of columns names under the reserved prefix."""
    if not names:
        return plan, keys
    hidden = {id: alias(a, names[id]) for a in plan.output for id in (a.id,) if id in names}
    made = project(plan, tuple(hidden.get(a.id, a) for a in plan.output))
    return made, tuple(hidden[k.id].attribute if k.id in hidden else k for k in keys)


def _grouped(plan: Node, top: Aggregate) -> Layout:
    """Carry the grouping columns to the top, so that a group's row can be found and replaced."""
    keys = columns_of(top.grouping)
    have = {value_of(e): e for e in top.exprs}
    hidden = tuple(alias(k, f"{PREFIX}key_{i}") for i, k in enumerate(keys) if k not in have)
    widened = Aggregate(top.grouping, (*top.exprs, *hidden), top.children)
    carried: dict[Expr, Attribute] = {k: attribute_of(have[k]) for k in keys if k in have}
    carried.update({h.child: h.attribute for h in hidden})
    wanted = tuple(carried[k] for k in keys)
    full = _carrying(plan, top, widened, wanted)
    return Layout(full, len(plan.output), wanted, widened)


def _merged(plan: Node, top: Aggregate) -> Layout | None:
    """Replace aggregates by states and formulas over them, where all of them can be."""
    keys = columns_of(top.grouping)
    if len(keys) != len(set(top.grouping)):
        return None  # grouping by a constant: nothing would tell an empty input from a group
    states, formulas = States(), {}
    for call_ in aggregate_calls(top.exprs):
        made = formula(states, call_)
        if made is None:
            return None
        formulas[call_] = made
    copies = {key: alias(key, f"{PREFIX}key_{i}") for i, key in enumerate(keys)}
    columns = tuple(copies[k] for k in keys)
    inner = Aggregate(top.grouping, (*columns, *(s.column for s in states.states)), top.children)

    def substitute(expression: Expr) -> Expr | None:
        if isinstance(expression, AggregateCall):
            return formulas[expression]
        if isinstance(expression, Attribute) and expression in copies:
            return copies[expression].attribute
        return None

    shown = tuple(_renamed(e, substitute) for e in top.exprs)
    outputs = project(inner, (*shown, *inner.output))
    full, visible = _flagged(plan, top, outputs, inner.output)
    public = {copies[key]: _shown_as(plan, shown, copies[key]) for key in keys}
    hidden = tuple(a for a in inner.output if not any(a.id == c.id and p for c, p in public.items()))
    final = project(full, (*plan.output, *hidden, *((visible,) if visible else ())))
    found = tuple(public[copies[key]] or copies[key].attribute for key in keys)
    return Layout(
        final,
        len(plan.output),
        found,
        inner,
        states=tuple(states.states),
        rows=states.rows,
        visible=visible,
    )


def _shown_as(plan: Node, shown: tuple[Named, ...], key: Alias) -> Attribute | None:
    """The user's column that is this key, if it reaches the top: then it need not be stored twice."""
    same = [e for e in shown if isinstance(e, Alias) and e.child == key.attribute]
    return next((column for e in same for column in plan.output if column.id == e.id), None)


def _renamed(expression: Named, substitute: Callable[[Expr], Expr | None]) -> Alias:
    made = value_of(expression).transform(substitute)
    return Alias("Alias", (made,), type=expression.type, nullable=expression.nullable,
                 deterministic=expression.deterministic, id=expression.id, name=expression.name)  # fmt: skip


def _carrying(plan: Node, old: Node, new: Node, wanted: tuple[Attribute, ...]) -> Node:
    """The layers above `old` put above `new`, with `wanted` passed through every projection."""
    if plan is old:
        return new
    (child,) = plan.children
    below = _carrying(child, old, new, wanted)
    if isinstance(plan, Project):
        missing = tuple(a for a in wanted if a.id not in plan.ids)
        return Project((*plan.exprs, *missing), (below,))
    return plan.with_children((below,))


def _flagged(
    plan: Node, old: Node, new: Node, hidden: tuple[Attribute, ...]
) -> tuple[Node, Attribute | None]:
    """The layers above the aggregate, with filters turned into a flag.

    Groups that a HAVING hides keep their states, or they could never come back. What stands above a
    filter is computed for shown rows only: it may fail on the others.
    """
    if plan is old:
        return new, None
    (child,) = plan.children
    below, visible = _flagged(child, old, new, hidden)
    if isinstance(plan, Filter):
        passed = or_else(plan.condition, False)
        if visible is not None:
            passed = call("if", visible, passed, literal(False, "boolean"), type="boolean", nullable=False)
        flag = alias(passed, VISIBLE)
        kept = tuple(a for a in below.output if a != visible)
        return project(below, (*kept, flag)), flag.attribute
    assert isinstance(plan, Project)
    exprs = tuple(_guarded(e, visible) for e in plan.exprs)
    carried = tuple(a for a in (*hidden, *((visible,) if visible else ())) if a.id not in plan.ids)
    return project(below, (*exprs, *carried)), visible


def _guarded(expression: Named, visible: Attribute | None) -> Named:
    if visible is None or isinstance(expression, Attribute) or isinstance(expression.child, Attribute):
        return expression
    kind, nullable = expression.type, expression.nullable
    otherwise = Expr("DefaultValue", type=kind, nullable=nullable)
    value = Expr("if", (visible, expression.child, otherwise), type=kind, nullable=nullable)
    return Alias("Alias", (value,), type=kind, nullable=nullable, id=expression.id, name=expression.name)
