"""Only the rows that can meet a change: where many rows are looked at together, few of them are enough.

L ⋈ ΔR = (L ⋉ ΔR) ⋈ ΔR, and a semi join may go below whatever keeps the rows of one key together: aggregates
by it, windows partitioned by it. There it spares the work of all other groups; a plain join would only throw
their results away.
"""

from __future__ import annotations

from collections.abc import Callable

from rennet.delta.bounds import bounded, key_bounds
from rennet.delta.keys import changed_keys, group_columns
from rennet.delta.select import computable, reads, renamed, selected_below, through
from rennet.plan.expressions import (
    AggregateCall,
    Attribute,
    Bound,
    Expr,
    alias,
    conjunction,
    equalities,
    same,
)
from rennet.plan.ir import (
    SEMI,
    Aggregate,
    Filter,
    Join,
    Node,
    Once,
    PassThrough,
    Project,
    Scan,
    Union,
    Window,
    join,
    project,
)

Key = tuple[Expr, Attribute]
"""What rows must agree in: an expression of theirs, and a column of the wanted ones."""
Place = Callable[[Node, tuple[Key, ...], Node], Node | None]
"""Puts a semi join with the wanted keys into a plan."""

WITNESSED = frozenset({"Max", "Min", "First", "Last"})
"""Aggregates whose value is that of one of the rows, NULL only if a row, or every row, has NULL."""


def narrowed(rows: Node, met: Node, condition: Expr | None) -> tuple[Node, Node]:
    """The rows that a join on the condition may need, and the relation it meets, which is computed once.

    Both are given back as they are if all rows would have to be looked at anyway.
    """
    return _meeting(rows, met, condition, _pushed)


def meeting(rows: Node, met: Node, condition: Expr | None) -> tuple[Node, Node]:
    """The same, with the semi join wherever it ends up: at the rows themselves if nowhere below."""
    return _meeting(rows, met, condition, _placed)


def meeting_through(rows: Node, met: Node, condition: Expr | None) -> tuple[Node, Node] | None:
    """R ⋉ (L ⋉ D) ⊆ R ⋉ D, for what both R and D must agree with L in; those rows of R, and D

    None if `met` is not such a semi join, or there is nothing they must all agree in.
    """
    semi = met.child if isinstance(met, Once) else met
    if not isinstance(semi, Join) or semi.how != SEMI or not _is_read(semi.right):
        return None
    agreed = dict(agreeing(semi.left, semi.right, semi.condition))
    pairs = [(mine, agreed[theirs]) for mine, theirs in agreeing(rows, met, condition) if theirs in agreed]
    return _agreeing(rows, semi.right, pairs, _placed) if pairs else None


def _meeting(rows: Node, met: Node, condition: Expr | None, place: Place) -> tuple[Node, Node]:
    return _agreeing(rows, met, agreeing(rows, met, condition), place)


def _agreeing(rows: Node, met: Node, pairs: list[tuple[Expr, Expr]], place: Place) -> tuple[Node, Node]:
    """The rows that agree with one of those met in what the pairs say, and the latter, computed once."""
    if not pairs:
        return rows, met
    once = met if _is_read(met) else Once((met,))
    copies = tuple(alias(theirs, f"__mv_met_{i}") for i, (_, theirs) in enumerate(pairs))
    wanted = project(once, copies)
    keys = tuple((mine, copy.attribute) for (mine, _), copy in zip(pairs, copies, strict=True))
    found = place(rows, keys, wanted)
    return (rows, met) if found is None else (found, once)


def _is_read(rows: Node) -> bool:
    """Are they only read, so that keeping them would cost more than reading them again?"""
    return isinstance(rows, Once | Scan) or (isinstance(rows, Project | Filter) and _is_read(rows.child))


def agreeing(rows: Node, met: Node, condition: Expr | None) -> list[tuple[Expr, Expr]]:
    """What the two sides must agree in; that NULLs agree too only keeps more."""
    found = []
    for part in equalities(condition):
        for mine, theirs in (part.children, part.children[::-1]):
            if reads(mine, rows.ids) and reads(theirs, met.ids):
                found.append((mine, theirs))
    return found


def having(
    rows: Node, keys: tuple[Attribute, ...], wanted: Node, bounds: tuple[Bound, ...] | None = None
) -> Node:
    """T ⋉ K: the rows whose keys are among the wanted ones, NULL being a key like any other.

    `bounds` are those of the keys, where they have been asked for already.
    """
    limits = key_bounds(keys, wanted) if bounds is None else bounds
    pairs = tuple(zip(keys, wanted.output, strict=True))
    return bounded(_selected(rows, pairs, wanted), limits)


def _placed(node: Node, keys: tuple[Key, ...], wanted: Node) -> Node:
    """All rows with a wanted key and perhaps others, the semi join as far down as it can go."""
    return _pushed(node, keys, wanted) or _selected(node, keys, wanted)


def _selected(node: Node, keys: tuple[Key, ...], wanted: Node) -> Node:
    """The rows with a wanted key and no others, the semi join as far down as all keys can go together.

    Further down it may go with some of them: left out there is only what is left out here as well.
    """
    if isinstance(node, Filter | PassThrough):
        return node.with_children((_selected(node.child, keys, wanted),))
    if isinstance(node, Project):
        below = through(node.exprs, keys)
        if all(computable(mine, node.child.ids) for mine, _ in below):
            return node.with_children((_selected(node.child, below, wanted),))
    if isinstance(node, Union):
        return node.with_children(
            tuple(_selected(child, renamed(node, child, keys), wanted) for child in node.children)
        )
    if isinstance(node, Aggregate | Window):
        (below,) = selected_below(node, keys)
        if len(below) == len(keys):
            return node.with_children((_selected(node.child, below, wanted),))
    return _semi_joined(_pushed(node, keys, wanted) or node, keys, wanted)


def _semi_joined(node: Node, keys: tuple[Key, ...], wanted: Node) -> Node:
    condition = conjunction([same(mine, theirs) for mine, theirs in keys])
    asked = tuple(theirs for _, theirs in keys)
    few = wanted if wanted.output == asked else project(wanted, asked)
    return join(node, few, SEMI, condition)


def _pushed(node: Node, keys: tuple[Key, ...], wanted: Node) -> Node | None:
    """The node over fewer rows, or None if there is nothing below it that this would spare."""
    below = selected_below(node, keys)
    if isinstance(node, Aggregate | Window) and below[0]:
        return node.with_children((_placed(node.child, below[0], wanted),))
    if isinstance(node, Aggregate):
        return _witnessed(node, through(node.exprs, keys), wanted)
    return _inputs(node, below, wanted)


def _inputs(node: Node, keys: list[tuple[Key, ...]], wanted: Node) -> Node | None:
    """Whatever of its inputs can be narrowed."""
    pairs = list(zip(node.children, keys, strict=True))
    found = [_pushed(child, each, wanted) if each else None for child, each in pairs]
    if not any(found):
        return None
    return node.with_children(tuple(new or old for new, old in zip(found, node.children, strict=True)))


def _witnessed(node: Aggregate, keys: tuple[Key, ...], wanted: Node) -> Node | None:
    """σ(γ(T)) = σ(γ(T ⋉ K)), K = the groups with a row that has the value which σ asks of the group"""
    groups = group_columns(node)
    witnesses = [(value, theirs) for mine, theirs in keys if (value := _witness(mine)) is not None]
    if not groups or not witnesses:
        return None
    witnessing = _placed(node.child, tuple(witnesses[:1]), wanted)
    named = Once((changed_keys(witnessing, groups),))
    pairs = tuple(zip(groups, named.output, strict=True))
    return node.with_children((_placed(node.child, pairs, named),))


def _witness(value: Expr) -> Expr | None:
    """What a row of the group has where the group has this value: max(struct(a, b)).b is b of some row."""
    calls = [e for e in value.walk() if isinstance(e, AggregateCall)]
    if len(set(calls)) != 1 or calls[0].op not in WITNESSED or calls[0].condition is not None:
        return None
    inside = calls[0].references
    made = value.transform(lambda e: e.children[0] if isinstance(e, AggregateCall) else None)
    return made if reads(made, inside) else None
