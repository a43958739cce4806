"""Running totals and numbers: what comes after the first change goes on from what the view has before it."""

from __future__ import annotations

from rennet.delta.change import Change
from rennet.delta.keys import matching, stored_rows
from rennet.delta.windows import Reach, between_bounds, reached
from rennet.enable.frames import Running, Span
from rennet.enable.layout import Layout
from rennet.plan.expressions import (
    Alias,
    Attribute,
    Expr,
    Named,
    alias,
    call,
    cast,
    columns_of,
    conjunction,
    fresh_copy,
    literal,
)
from rennet.plan.ir import INNER, LEFT, Aggregate, Node, Once, Window, join, project


def continued(
    layout: Layout, span: Span, window: Window, child: Change, functions: tuple[Running, ...]
) -> tuple[Node, Reach]:
    """ω(T')(r) = ω(V)(last row before the first change) ⊕ ω(T' from the first change on)(r)

    The rows from each partition's first change on, and where that is.
    """
    assert child.delta is not None
    keys = columns_of(window.partition)
    reach = reached(child, keys, span)
    start = Once((_with_last_values(layout, reach, functions),))
    low = reach.affected[0]
    here = call("or", reach.whole, call(">=", span.order, low, type="boolean"), type="boolean")
    rows = between_bounds(child.after, reach, reach.affected)
    suffix = join(rows, start, INNER, conjunction([matching(keys, reach.keys), here]))
    counted = window.with_children((suffix,))
    values = start.output[len(reach.rows.output) :]
    added: dict[int, Named] = {
        each.output.id: _combined(each, value) for each, value in zip(functions, values, strict=True)
    }
    renewed = project(counted, tuple(added.get(a.id, a) for a in window.output))
    return renewed, reach


def _with_last_values(layout: Layout, reach: Reach, functions: tuple[Running, ...]) -> Node:
    """Each partition's limits, and what the view's last row before them says; NULL if there is none."""
    assert layout.order is not None
    stored, where = stored_rows(layout)
    at = where[layout.order.id]
    earlier = call("or", call("<", at, reach.affected[0]), call("isnull", at), type="boolean")
    not_all = call("not", reach.whole, type="boolean", nullable=False)
    same_key = matching(tuple(where[k.id] for k in layout.keys), reach.keys)
    before = join(stored, reach.rows, INNER, conjunction([same_key, not_all, earlier]))
    copies = tuple(fresh_copy(key) for key in reach.keys)
    results = zip(functions, layout.running, strict=True)
    last = tuple(_last(at, where[column.id], function) for function, column in results)
    ends = Aggregate(reach.keys, (*copies, *last), (before,))
    found = join(reach.rows, ends, LEFT, matching(reach.keys, ends.output[: len(copies)]))
    return project(found, (*reach.rows.output, *ends.output[len(copies) :]))


def _last(order: Attribute, value: Attribute, function: Running) -> Alias:
    """What never falls is largest at the last row, what never rises smallest; a sum is taken from there.

    Rows that tie in the order have one sum. NULLs come first in the order, and MAX_BY passes over them.
    """
    if function.combine == "least" or function.never_falls:
        found = call("min" if function.combine == "least" else "max", value, type=value.type)
    else:
        first = call("if", call("isnull", order), value, literal(None, value.type), type=value.type)
        known = call("max_by", value, order, type=value.type)
        found = call("coalesce", known, call("max", first, type=value.type), type=value.type)
    return alias(found, f"{function.output.name}_before")


def _combined(function: Running, before: Attribute) -> Alias:
    now = function.output
    made: Expr
    if function.combine == "plus":
        zero = cast(literal(0), now.type)
        total = cast(call("+", call("coalesce", before, zero), now), now.type)
        made = call("coalesce", total, before, type=now.type, nullable=now.nullable)
    else:
        made = call(function.combine, before, now, type=now.type)
    return alias(made, now.name, now.id)
