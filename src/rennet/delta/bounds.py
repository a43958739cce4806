"""Limits of computed values as limits of the columns they are computed from, at the scans.

Statistics of files are about columns. Spark takes a comparison of a column to the scan by itself; one of a
function of it would read every file.
"""

from __future__ import annotations

from dataclasses import replace

from rennet.delta.select import selected_below
from rennet.enable.monotone import rising
from rennet.plan.expressions import Attribute, Bound, Expr, alias, call, conjunction, literal
from rennet.plan.ir import Aggregate, Node, Scan, Slice, filter_

ORDERED = frozenset({"tinyint", "smallint", "int", "bigint", "date", "timestamp", "timestamp_ntz"})
"""Types of keys that often grow with time, so that those of one change lie together."""
Asked = tuple[Expr, Bound]
"""A value in the columns of some node, and the limit it has to keep."""


def bounded(rows: Node, bounds: tuple[Bound, ...]) -> Node:
    """σ(f(c) ≥ b)(T) = σ(f(c) ≥ b)(σ(c ≥ min{v | f(v) ≥ b})(T)), of a function f that rises with c

    The inner selection alone, of all columns that the bounds rise with.
    """
    return _bounded(rows, tuple((bound.children[0], bound) for bound in bounds))


def key_bounds(keys: tuple[Attribute, ...], wanted: Node) -> tuple[Bound, ...]:
    """T ⋉ K = σ(min(K) ≤ k ≤ max(K))(T) ⋉ K, where k may be NULL as well

    The limits of the first key that has an order; none if no key has.
    """
    pairs = zip(keys, wanted.output, strict=True)
    found = next(((mine, theirs) for mine, theirs in pairs if theirs.type in ORDERED), None)
    if found is None:
        return ()
    mine, theirs = found
    ends = [alias(call(end, theirs, type=theirs.type), end) for end in ("min", "max")]
    never = alias(call("max", literal(False, "boolean"), type="boolean"), "open")
    summary = Aggregate((), (*ends, never), (wanted,))
    limits = (Bound.of(sign, mine, summary, at, opened_by=2) for at, sign in enumerate((">=", "<=")))
    return tuple(replace(limit, of_keys=True) for limit in limits)


def _bounded(node: Node, asked: tuple[Asked, ...]) -> Node:
    """The node over fewer rows of its sources; itself if nothing of them can be left out."""
    if isinstance(node, Scan | Slice):
        return _limited(node, asked)
    below = selected_below(node, asked)
    pairs = zip(node.children, below, strict=True)
    made = tuple(_bounded(child, each) if each else child for child, each in pairs)
    same = all(new is old for new, old in zip(made, node.children, strict=True))
    return node if same else node.with_children(made)


def _limited(rows: Node, asked: tuple[Asked, ...]) -> Node:
    implied: list[Expr] = []
    for value, bound in asked:
        known = None if isinstance(value, Attribute) else rising(value)
        if known is not None:
            implied.append(replace(bound, children=(value,), rising=known))
        elif bound.of_keys and isinstance(value, Attribute):
            implied.append(replace(bound, children=(value,)))
    return filter_(rows, conjunction(implied)) if implied else rows
