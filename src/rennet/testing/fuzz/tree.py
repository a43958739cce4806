"""A query as a small tree: one SELECT per node, over its children as subqueries.

Column names are unique in a whole query, so that an expression is plain text, needs no qualifiers, and a
node can be cut out by renaming. What a shrinker may drop is listed apart: items of the SELECT list and
parts of clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

NAME = re.compile(r"\b[ck]\d+\b")
"""Names of columns the generator makes up."""


@dataclass(frozen=True)
class Column:
    """A column of a relation: its name and what kind of values it has."""

    name: str
    kind: str


@dataclass(frozen=True)
class Item:
    """One column of a SELECT list; a set operation has a text for each of its sides."""

    column: Column
    texts: tuple[str, ...]

    def text(self, side: int) -> str:
        """As written in the SELECT list of that side."""
        made = self.texts[side]
        return made if made == self.column.name else f"{made} AS {self.column.name}"


@dataclass(frozen=True)
class Clause:
    """`head part, part, …`, or nothing when it has no parts."""

    head: str
    parts: tuple[str, ...]
    joiner: str = ", "
    tail: str = ""
    droppable: bool = True

    @property
    def text(self) -> str:
        return f"{self.head} {self.joiner.join(self.parts)}{self.tail}" if self.parts else ""


@dataclass(frozen=True)
class Relation:
    """One node. `template` has `{r0}` for a child, `{i0}` for the items of a side, `{w0}` for a clause."""

    op: str
    """The name coverage counts it by; nothing for mere glue."""
    template: str
    items: tuple[Item, ...]
    children: tuple[Relation, ...] = ()
    clauses: tuple[Clause, ...] = ()
    rows: float = field(default=1.0, compare=False)
    """About how many rows there are."""
    reads: str = field(default="", compare=False)
    """The table, view or CTE a leaf reads."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(item.column for item in self.items)

    def walk(self) -> Iterator[Relation]:
        yield self
        for child in self.children:
            yield from child.walk()

    def names_read(self) -> set[str]:
        """What the leaves read."""
        return {node.reads for node in self.walk() if node.reads}

    def mentions(self) -> set[str]:
        """Every column name in this node's own text."""
        texts = [text for item in self.items for text in item.texts]
        texts += [part for clause in self.clauses for part in (clause.head, *clause.parts, clause.tail)]
        return {name for text in (self.template, *texts) for name in NAME.findall(text)}


def sql(node: Relation, indent: str = "") -> str:
    """The query text, one line per node and two blanks per level."""
    inner = indent + "  "
    values = {f"r{n}": f"(\n{inner}{sql(child, inner)}\n{indent})" for n, child in enumerate(node.children)}
    for side in range(len(node.items[0].texts)):
        values[f"i{side}"] = ", ".join(item.text(side) for item in node.items)
    values |= {f"w{n}": clause.text for n, clause in enumerate(node.clauses)}
    return node.template.format(**values).strip()


def renamed(node: Relation, names: Mapping[str, str], deep: bool = True) -> Relation:
    """The same tree with other column names."""

    def put(text: str) -> str:
        return NAME.sub(lambda found: names.get(found.group(), found.group()), text)

    items = tuple(
        Item(Column(put(item.column.name), item.column.kind), tuple(map(put, item.texts)))
        for item in node.items
    )
    clauses = tuple(
        replace(c, head=put(c.head), parts=tuple(map(put, c.parts)), tail=put(c.tail)) for c in node.clauses
    )
    children = tuple(renamed(c, names) for c in node.children) if deep else node.children
    return replace(node, template=put(node.template), items=items, clauses=clauses, children=children)


def selected(child: Relation, items: tuple[Item, ...], op: str = "") -> Relation:
    """SELECT items FROM child: glue, unless it has a name."""
    return Relation(op, "SELECT {i0} FROM {r0} AS s", items, (child,), rows=child.rows)


def keep(column: Column) -> Item:
    """A column passed through."""
    return Item(column, (column.name,))


def real(node: Relation) -> Relation:
    """The first node below that is not glue."""
    while not node.op:
        (node,) = node.children
    return node


def pairs(node: Relation) -> Iterator[tuple[str, str]]:
    """Every (parent, child) of operators, through glue."""
    for child in node.children:
        if node.op:
            yield node.op, real(child).op
        yield from pairs(child)


def operators(node: Relation) -> list[str]:
    """Every operator of the query, outermost first."""
    return [found.op for found in node.walk() if found.op]
