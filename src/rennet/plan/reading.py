"""What plans read, and which nodes they have: plans are graphs, whose nodes may share others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rennet.plan.ir import (
    Aggregate,
    Expand,
    Filter,
    Generate,
    Join,
    Limited,
    Node,
    Once,
    PassThrough,
    Project,
    Scan,
    Window,
)


def sources(plan: Node) -> tuple[str, ...]:
    """The Delta tables a plan reads, each once, in order of appearance."""
    return tuple(dict.fromkeys(n.source for n in plan.walk() if isinstance(n, Scan)))


BY_ID = (Project, Filter, Join, Aggregate, Window, Generate, Expand, PassThrough, Limited)
"""Nodes that name every column they use, or pass it on under its own id."""


def used_columns(plan: Node) -> dict[str, set[str]]:
    """Per Delta table, the names of the columns that can reach the result."""
    nodes = list(plan.walk())
    references: set[int] = {a.id for a in plan.output}
    for node in nodes:
        for expression in node.expressions:
            references |= expression.references
        if not isinstance(node, BY_ID):
            references |= {a.id for child in node.children for a in child.output}
    used: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, Scan):
            found = used.setdefault(node.source, set())
            found |= {a.name for a in node.output if a.id in references}
    return used


def distinct(trees: Iterable[Node]) -> Iterator[Node]:
    """Every node of some plans once, though several of them may share it."""
    seen: set[int] = set()
    waiting = list(trees)
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            waiting += node.children
            yield node


def as_computed(node: Node, done: set[int]) -> Iterator[Node]:
    """A node and those below it, as often as they are computed: what is kept is `done` after once."""
    if isinstance(node, Once):
        if id(node.child) in done:
            return
        done.add(id(node.child))
    yield node
    for child in node.children:
        yield from as_computed(child, done)
