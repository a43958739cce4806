"""Smaller variants of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rennet.testing.fuzz import values
from rennet.testing.fuzz.tables import Table
from rennet.testing.fuzz.tree import NAME, Column, Item, Relation, selected


def smaller_trees(query: Relation, tables: Sequence[Table]) -> Iterator[Relation]:
    """Variants with fewer operators."""
    yield from (node for node in query.walk() if node is not query)
    yield from _everywhere(query, lambda node, needed: _cut(node, needed, tables))


def smaller_texts(query: Relation, tables: Sequence[Table]) -> Iterator[Relation]:
    """Variants with fewer columns, conditions and mere glue."""
    yield from smaller_trees(query, tables)
    yield from _everywhere(query, _trimmed)


def _everywhere(
    query: Relation, change: Callable[[Relation, set[str] | None], Iterator[Relation]]
) -> Iterator[Relation]:
    """The query with one node changed; `change` is told which of the node's columns are needed."""
    yield from change(query, None)
    yield from _below(query, change)


def _below(
    parent: Relation, change: Callable[[Relation, set[str] | None], Iterator[Relation]]
) -> Iterator[Relation]:
    needed = parent.mentions()
    for node in parent.walk():  # a correlated subquery, or a CTE, may be named from further below
        needed |= node.mentions()
    for position, child in enumerate(parent.children):
        used = needed & {column.name for column in child.columns}
        for made in (*change(child, used), *_below(child, change)):
            children = (*parent.children[:position], made, *parent.children[position + 1 :])
            yield replace(parent, children=children)


def _cut(node: Relation, needed: set[str] | None, tables: Sequence[Table]) -> Iterator[Relation]:
    """The node's children in its place, or a table."""
    columns = [c for c in node.columns if needed is None or c.name in needed] or list(node.columns[:1])
    for child in node.children:
        yield _standing_in(child, columns)
    if node.children:
        for table in tables:
            items = tuple(Item(c, (_text(table.columns, c),)) for c in columns)
            yield Relation("table", f"SELECT {{i0}} FROM {table.name}", items, reads=table.name)


def _standing_in(child: Relation, columns: Sequence[Column]) -> Relation:
    """A relation with these columns, made of another's."""
    return selected(child, tuple(Item(c, (_text(child.columns, c),)) for c in columns))


def _text(columns: Sequence[Column], wanted: Column) -> str:
    """The same column, else one of its kind, else a constant."""
    if wanted in columns:
        return wanted.name
    found = [c.name for c in columns if c.kind == wanted.kind]
    return found[0] if found else CONSTANTS[wanted.kind]


CONSTANTS = {
    values.INT: "1",
    values.DECIMAL: "1.5BD",
    values.DOUBLE: "0.25D",
    values.APPROXIMATE: "0.25D",
    values.STRING: "'a'",
    values.DATE: "DATE'2024-01-01'",
    values.TIMESTAMP: "TIMESTAMP'2024-01-01 00:00:00'",
    values.BOOLEAN: "true",
    values.INTS: "array(1)",
    values.STRINGS: "array('a')",
    values.STRUCT: "named_struct('a', 1, 'b', 'a')",
    values.MAP: "map('a', 1)",
}


def _trimmed(node: Relation, needed: set[str] | None) -> Iterator[Relation]:
    """The node with a column, a condition or a projection less."""
    for position, item in enumerate(node.items):
        if len(node.items) > 1 and (needed is None or item.column.name not in needed):
            yield replace(node, items=node.items[:position] + node.items[position + 1 :])
    for position, clause in enumerate(node.clauses):
        for part in range(len(clause.parts)):
            if clause.droppable or len(clause.parts) > 1:
                fewer = replace(clause, parts=clause.parts[:part] + clause.parts[part + 1 :])
                clauses = (*node.clauses[:position], fewer, *node.clauses[position + 1 :])
                yield replace(node, clauses=clauses)
    yield from _simpler_items(node)
    yield from _merged(node)


def _simpler_items(node: Relation) -> Iterator[Relation]:
    """An item replaced by a column it mentions."""
    kinds = {c.name: c.kind for child in node.children for c in child.columns}
    for position, item in enumerate(node.items):
        if len(item.texts) > 1:
            continue
        for name in dict.fromkeys(NAME.findall(item.texts[0])):
            if name != item.texts[0] and kinds.get(name) == item.column.kind:
                simpler = Item(item.column, (name,))
                yield replace(node, items=(*node.items[:position], simpler, *node.items[position + 1 :]))


def _merged(node: Relation) -> Iterator[Relation]:
    """A mere choice of columns done by the node below."""
    if node.template != "SELECT {i0} FROM {r0} AS s" or node.clauses:
        return
    (child,) = node.children
    below = {item.column.name: item for item in child.items}
    items = []
    for item in node.items:
        (text,) = item.texts
        if text in below:
            items.append(Item(item.column, below[text].texts))
        elif text in CONSTANTS.values() and len(child.items[0].texts) == 1:
            items.append(Item(item.column, (text,)))
        else:
            return
    yield replace(child, items=tuple(items))
