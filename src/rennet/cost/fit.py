"""Stage 5, once a plan is chosen: what its known sizes permit that Spark cannot see for itself.

Spark takes the changes of a table to be as large as the files they lie in, and so it would shuffle a table
of millions to meet a thousand changed rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rennet.cost.sizes import Flows, width
from rennet.delta.generate import Alike, Keyed, Placed, RefreshPlan, Repair
from rennet.delta.narrow import meeting
from rennet.plan.ir import (
    ANTI,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    Aggregate,
    Filter,
    Join,
    Node,
    Once,
    Project,
    Scan,
    State,
    Union,
)

SMALL = 16 << 20
"""Rows of so many bytes, as estimated, are sent to every task."""
LARGER = 8
"""A side is worth pruning if it is so many times larger than the other."""


@dataclass
class Fitting:
    """Rewrites the plans of one refresh; a node that two of them share stays shared."""

    flows: Flows
    _done: dict[int, tuple[Node, Node]] = field(default_factory=dict)

    def small(self, node: Node) -> bool:
        """Is it worth sending it to every task instead of shuffling what it is joined with?"""
        return _bounded(node) and self._bytes(node) <= SMALL

    def sent(self, node: Join) -> int | None:
        """Which side of a join to send to every task, if any: 0 for the left one, 1 for the right one."""
        if node.how in (INNER, LEFT, SEMI, ANTI) and self.small(node.right):
            return 1
        return 0 if node.how in (INNER, RIGHT) and self.small(node.left) else None

    def fitted(self, plan: RefreshPlan) -> RefreshPlan:
        """The same rows, less read and shuffled for them."""
        removed = plan.removed
        if isinstance(removed, Keyed):
            removed = replace(removed, keys=self.node(removed.keys))
        elif isinstance(removed, Alike):
            removed = Alike(self.node(removed.delta))
        elif isinstance(removed, Placed):
            removed = Placed(self.node(removed.rows))
        repair = plan.repair and Repair(self.node(plan.repair.keys), self.node(plan.repair.rows))
        inserted = plan.inserted and self.node(plan.inserted)
        return replace(plan, inserted=inserted, removed=removed, repair=repair)

    def node(self, node: Node) -> Node:
        found = self._done.get(id(node))
        if found is None:
            children = tuple(self.node(child) for child in node.children)
            same = all(a is b for a, b in zip(children, node.children, strict=True))
            made = node if same else node.with_children(children)
            if isinstance(made, Join):
                made = self._pruned(made)
            found = self._done[id(node)] = (node, made)
        return found[1]

    def _pruned(self, node: Join) -> Join:
        """L ⟕ R = L ⟕ (R ⋉ L), for a small L: only R ⋉ L can be found by sending L to every task"""
        if node.how not in (LEFT, RIGHT):
            return node
        outer, inner = node.children if node.how == LEFT else reversed(node.children)
        if not self.small(outer) or self._bytes(inner) < max(SMALL, LARGER * self._bytes(outer)):
            return node
        few, once = meeting(inner, outer, node.condition)
        return node.with_children((once, few) if node.how == LEFT else (few, once))

    def _bytes(self, node: Node) -> float:
        return self.flows.of(node).rows * width(node.output)


def _bounded(node: Node) -> bool:
    """Can there be no more rows than were counted? One changed row may meet a million others in a join."""
    if isinstance(node, Join):
        return node.how in (SEMI, ANTI) and _bounded(node.left)
    if isinstance(node, Scan):
        return node.state is State.DELTA
    return isinstance(node, BOUNDED) and all(map(_bounded, node.children))


BOUNDED = (Project, Filter, Union, Aggregate, Once)
