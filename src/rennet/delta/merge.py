"""Groups whose aggregates are kept by what changed: their states before, and what to do to them."""

from __future__ import annotations

from dataclasses import replace

from rennet.delta.change import effectivize, weight_of
from rennet.delta.keys import FILE, ROW, group_columns, matching, stored_rows
from rennet.enable.layout import Layout
from rennet.enable.states import State
from rennet.plan.expressions import (
    Alias,
    Attribute,
    Expr,
    alias,
    call,
    cast,
    conjunction,
    differs,
    disjunction,
    fresh_copy,
    literal,
    or_else,
)
from rennet.plan.ir import LEFT, Aggregate, Node, filter_, join, project

LOST = "__mv_lost"
"""Of a merged group: may its extreme be gone, with nothing known to stand in its place?"""


def state_changes(layout: Layout, grouped: Aggregate, delta: Node, grows: bool) -> Node:
    """Per changed group, what to do to each state; groups where that is nothing are left out.

    A sum has one column, what to add. An extreme has two: that of the values that came, and of those that
    went.
    """
    states = layout.states
    if any(state.extreme for state in states) and not grows:
        delta, states = _net(grouped, delta, states)
    weight = weight_of(delta)
    keys = tuple(alias(k, f"__mv_key_{i}") for i, k in enumerate(group_columns(grouped)))
    columns = [column for state in states for column in _columns(state, weight)]
    summed = Aggregate(grouped.grouping, (*keys, *columns), (delta,))
    return filter_(summed, disjunction([_moves(column) for column in summed.output[len(keys) :]]))


def _net(grouped: Aggregate, delta: Node, states: tuple[State, ...]) -> tuple[Node, tuple[State, ...]]:
    """The changes of what the aggregates see, each once: a value that came this way is there afterwards.

    An update that leaves the extreme's column alone takes nothing from it then.
    """
    seen = {
        state.value: alias(state.value, f"__mv_value_{i}")
        for i, state in enumerate(states)
        if state.value.references
    }
    rows = project(delta, (*group_columns(grouped), *seen.values(), weight_of(delta)))
    shown = (
        replace(state, value=seen[state.value].attribute) if state.value in seen else state
        for state in states
    )
    return effectivize(rows), tuple(shown)


def _columns(state: State, weight: Attribute) -> list[Alias]:
    name = state.attribute.name
    if not state.extreme:
        return [alias(state.delta(weight), name)]
    return [
        alias(state.among(weight, sign), f"{name}_{what}") for sign, what in ((">", "came"), ("<", "went"))
    ]


def _moves(column: Attribute) -> Expr:
    if column.name.endswith(("_came", "_went")):
        return call("isnotnull", column, type="boolean", nullable=False)
    return differs(column, cast(literal(0), column.type))


def merged_states(layout: Layout, grouped: Aggregate, change: Node, grows: bool) -> Node:
    """The changed groups' states after the change, under the ids of the aggregate they stand for.

    Then come the places of their rows in the view, NULL for new groups, so that no one has to look for them
    again. If extremes may have been lost, the last column says whether one was.
    """
    stored, where = stored_rows(layout, placed=True)
    count = len(layout.keys)
    keys, rest = change.output[:count], list(change.output[count:])
    on = matching(tuple(where[k.id] for k in layout.keys), keys)
    joined = join(change, stored, LEFT, on)
    named = [alias(k, old.name, old.id) for k, old in zip(keys, grouped.output, strict=False)]
    lost: list[Expr] = []
    for state in layout.states:
        before = where[state.attribute.id]
        if state.extreme:
            came, went = rest.pop(0), rest.pop(0)
            after = _better(state, before, came)
            lost.append(_beaten(state, before, came, went))
        else:
            after = _added(state, before, rest.pop(0))
        named.append(alias(after, state.attribute.name, state.attribute.id))
    places = [fresh_copy(place) for place in stored.output[-2:]]
    if lost and not grows:
        places.append(alias(_any_lost(layout, named, lost), LOST))
    return project(joined, (*named, *places))


def places_of(merged: Node) -> tuple[Attribute, ...]:
    """The file and the position of each group's row."""
    return tuple(column for column in merged.output if column.name in (FILE, ROW))


def surviving(layout: Layout, merged: Node) -> Node:
    """The groups that still have rows and lost nothing, with the states alone."""
    rows = merged
    if layout.keys:
        assert layout.rows is not None
        rows = filter_(rows, call(">", layout.rows, literal(0), type="boolean"))
    if merged.output[-1].name == LOST:
        rows = filter_(rows, call("not", merged.output[-1], type="boolean"))
    hidden = {column.id for column in (*places_of(merged), merged.output[-1])}
    return project(rows, tuple(column for column in merged.output if column.id not in hidden))


def _added(state: State, before: Attribute, change: Attribute) -> Expr:
    stored = call("coalesce", before, cast(literal(0), state.type), type=state.type)
    return Expr("Cast", (call("+", stored, change),), type=state.type, nullable=False)


def _better(state: State, before: Attribute, came: Attribute) -> Expr:
    """The better of the two, NULL being worse than anything."""
    return call("least" if state.extreme == "min" else "greatest", before, came, type=state.type)


def _beaten(state: State, before: Attribute, came: Attribute, went: Attribute) -> Expr:
    """Did a row go that was as good as the extreme, and none as good as it come?"""
    sign = "<=" if state.extreme == "min" else ">="
    as_good = or_else(call(sign, went, before, type="boolean"), True)
    replaced = or_else(call(sign, came, went, type="boolean"), False)
    gone = call("isnotnull", went, type="boolean", nullable=False)
    return conjunction([gone, as_good, call("not", replaced, type="boolean", nullable=False)])


def _any_lost(layout: Layout, named: list[Alias], lost: list[Expr]) -> Expr:
    """Any of them; but a group left without rows goes, and has nothing to lose."""
    any_lost = disjunction(lost)
    if not layout.keys:
        return any_lost
    assert layout.rows is not None
    rows = next(e.child for e in named if e.id == layout.rows.id)
    return conjunction([call(">", rows, literal(0), type="boolean", nullable=False), any_lost])
