"""The keys of changed rows, and the rows that have them."""

from __future__ import annotations

from rennet.enable.layout import Layout
from rennet.plan.expressions import Attribute, Expr, alias, columns_of, conjunction, fresh_copy, same
from rennet.plan.ir import Aggregate, Node, Stored, project


def group_columns(node: Aggregate) -> tuple[Attribute, ...]:
    """The columns that tell groups apart; a constant tells nothing apart, and fewer keys only select more."""
    return columns_of(node.grouping)


def changed_keys(delta: Node, keys: tuple[Attribute, ...]) -> Node:
    """The distinct values of `keys` in a delta, in columns of their own."""
    copies = tuple(alias(key, f"__mv_key_{i}") for i, key in enumerate(keys))
    columns = tuple(copy.attribute for copy in copies)
    return Aggregate(columns, columns, (project(delta, copies),))


def matching(left: tuple[Attribute, ...], right: tuple[Attribute, ...]) -> Expr:
    """Null-safe equality, column by column."""
    return conjunction([same(a, b) for a, b in zip(left, right, strict=True)])


FILE, ROW = "__mv_file", "__mv_row"
"""Where a stored row is: its file, and its position in there."""


def stored_rows(layout: Layout, placed: bool = False) -> tuple[Stored, dict[int, Attribute]]:
    """The view's own rows, and for each of its columns, by id, the one to read.

    If `placed`, the rows' files and positions are columns too, the last ones.
    """
    places = (Attribute("", type="string", name=FILE), Attribute("", type="bigint", name=ROW))
    wanted = (*layout.columns, *places) if placed else layout.columns
    stored = Stored(tuple(fresh_copy(c).attribute for c in wanted))
    return stored, {c.id: found for c, found in zip(layout.columns, stored.output, strict=False)}
