"""Columns that nobody reads are neither read, nor handed on, nor kept.

Spark leaves columns out by itself, but not below rows that are kept in memory: those hold every column of
what they are computed from, and so all of them are read. And each column of each operator that is written
takes questions to the JVM.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from rennet.plan.expressions import Attribute, Bound, Expr, Named, Subquery
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
    Filter,
    Join,
    Limited,
    Node,
    Once,
    PassThrough,
    Project,
    Replicate,
    Scan,
    State,
    Union,
    Window,
    project,
)

JOINS = frozenset({INNER, LEFT, RIGHT, FULL, SEMI, ANTI, EXISTENCE, SINGLE})
HANDING_ON = (Filter, Window, PassThrough, Limited, Once, Replicate)
"""Operators with one input whose columns they put out, all but the last of it perhaps."""


class Pruning:
    """The same plans with fewer columns inside; of the `roots` all are wanted.

    What several of them share stays shared, with the columns that any of them reads. If `alike`, a table has
    the same columns in all its states.
    """

    def __init__(self, roots: Sequence[Node], alike: bool = False) -> None:
        self._done: dict[int, tuple[Node, Node]] = {}
        self._wanted: dict[int, set[int]] = {}
        order = _parents_first(roots)
        # What a subquery reads of the rows around it is not said by its plan.
        self._everything = any(_has_subquery(node) for node in order)
        for root in roots:
            self._want(root, root.ids)
        for node in order:
            for child, ids in _asked(node, self._wanted[id(node)]):
                self._want(child, ids)
        if alike:
            self._want_alike([node for node in order if isinstance(node, Scan)])

    def _want_alike(self, scans: Sequence[Scan]) -> None:
        wanted: dict[Hashable, set[int]] = {}
        for scan in scans:
            wanted.setdefault(table_of(scan), set()).update(self._wanted[id(scan)])
        for scan in scans:
            self._want(scan, wanted[table_of(scan)])

    def _want(self, node: Node, ids: Iterable[int]) -> None:
        self._wanted.setdefault(id(node), set()).update(ids)

    def node(self, node: Node) -> Node:
        """A root, or what is below one, with the columns that are wanted of it, in their order."""
        if self._everything:
            return node
        found = self._done.get(id(node))
        if found is None:
            found = self._done[id(node)] = (node, self._pruned(node))
        return found[1]

    def _pruned(self, node: Node) -> Node:
        wanted = self._wanted[id(node)]
        if isinstance(node, Scan):
            output = _of_scan(node, wanted)
            return node if output == node.output else replace(node, output=output)
        children = tuple(self.node(child) for child in node.children)
        if isinstance(node, Union):
            return _union(node, children, _positions(node, wanted))
        if isinstance(node, Project):
            return _project(node, children, wanted)
        if isinstance(node, Filter):
            node = self._with_summaries(node)
        if all(new is old for new, old in zip(children, node.children, strict=True)):
            return node
        return _join(node, children) if isinstance(node, Join) else node.with_children(children)

    def _with_summaries(self, node: Filter) -> Filter:
        """The plans that limits are looked up by are pruned too, for they share rows with the others."""

        def change(expression: Expr) -> Expr | None:
            if not isinstance(expression, Bound) or expression.summary is None:
                return None
            summary = self.node(expression.summary)
            return expression if summary is expression.summary else replace(expression, summary=summary)

        condition = node.condition.transform(change)
        return node if condition is node.condition else replace(node, condition=condition)


def table_of(scan: Scan) -> Hashable:
    """Which table of the query it is, in whatever state: one that is there twice is two."""
    columns = scan.output[:-1] if scan.state is State.DELTA else scan.output
    return scan.source, tuple(column.id for column in columns)


def _parents_first(roots: Sequence[Node]) -> list[Node]:
    """Every node once, after all that read it."""
    seen: set[int] = set()
    found: list[Node] = []

    def visit(node: Node) -> None:
        if id(node) not in seen:
            seen.add(id(node))
            for below in (*node.children, *_summaries(node)):
                visit(below)
            found.append(node)

    for root in roots:
        visit(root)
    return found[::-1]


def _summaries(node: Node) -> Iterator[Node]:
    if isinstance(node, Filter):
        for part in node.condition.walk():
            if isinstance(part, Bound) and part.summary is not None:
                yield part.summary


def _has_subquery(node: Node) -> bool:
    return any(isinstance(part, Subquery) for e in node.expressions for part in e.walk())


def _asked(node: Node, wanted: set[int]) -> Iterator[tuple[Node, Iterable[int]]]:
    """What has to be there of each plan below a node, for what is wanted of the node."""
    for summary in _summaries(node):
        yield summary, summary.ids
    if isinstance(node, Union):
        for child in node.children:
            yield child, (child.output[i].id for i in _positions(node, wanted))
        return
    expressions: Sequence[Expr] = _kept(node, wanted) if isinstance(node, Project) else node.expressions
    read = {id for e in expressions for id in e.references}
    if isinstance(node, Replicate):
        read.add(node.child.output[-1].id)
    for child in node.children:
        if isinstance(node, Project | Aggregate):
            yield child, read
        elif isinstance(node, HANDING_ON) or (isinstance(node, Join) and node.how in JOINS):
            yield child, (read | wanted) & child.ids
        else:
            yield child, child.ids


def _kept(node: Project, wanted: set[int]) -> tuple[Named, ...]:
    """What is wanted of a projection; at least one column."""
    pairs = zip(node.output, node.exprs, strict=True)
    return tuple(e for column, e in pairs if column.id in wanted) or node.exprs[:1]


def _positions(node: Union, wanted: set[int]) -> tuple[int, ...]:
    """The same of a union, by position."""
    return tuple(i for i, column in enumerate(node.output) if column.id in wanted) or (0,)


def _of_scan(node: Scan, wanted: set[int]) -> tuple[Attribute, ...]:
    """The same of a scan; that of changes has its weight at the end."""
    *columns, last = node.output
    if node.state is not State.DELTA:
        return tuple(c for c in node.output if c.id in wanted) or node.output[:1]
    return (*([c for c in columns if c.id in wanted] or columns[:1]), last)


def _union(node: Union, children: tuple[Node, ...], positions: tuple[int, ...]) -> Node:
    pairs = zip(node.children, children, strict=True)
    fitted = tuple(_exactly(new, tuple(old.output[i] for i in positions)) for old, new in pairs)
    if len(positions) == len(node.output) and all(
        new is old for new, old in zip(fitted, node.children, strict=True)
    ):
        return node
    return replace(node, output=tuple(node.output[i] for i in positions), children=fitted)


def _exactly(node: Node, columns: tuple[Attribute, ...]) -> Node:
    return node if node.output == columns else project(node, columns)


def _project(node: Project, children: tuple[Node, ...], wanted: set[int]) -> Node:
    """The projection of what is wanted; none at all if that is just what comes in."""
    (child,) = children
    kept = _kept(node, wanted)
    if kept == child.output:
        return child
    if len(kept) == len(node.exprs):
        return node if child is node.child else node.with_children(children)
    return replace(node, exprs=kept, children=children, handle=None)


def _join(node: Join, children: tuple[Node, ...]) -> Join:
    """What is left of its columns: those of its inputs, and those it made itself."""
    gone = node.left.ids | node.right.ids
    there = children[0].ids | children[1].ids
    output = tuple(column for column in node.output if column.id in there or column.id not in gone)
    return replace(node, children=children, output=output)
