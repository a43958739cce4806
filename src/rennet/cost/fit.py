"""Stage 5, once a plan is chosen: what its known sizes permit that Spark cannot see for itself.

Spark takes the changes of a table to be as large as the files they lie in, and so it would shuffle a table
of millions to meet a thousand changed rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rennet.cost.sizes import Flows, width
from rennet.cost.states import looked_at_once
from rennet.delta.generate import Alike, Keyed, Placed, RefreshPlan, Repair
from rennet.delta.narrow import meeting, meeting_through
from rennet.plan.ir import (
    ANTI,
    EXISTENCE,
    INNER,
    LEFT,
    RIGHT,
    SEMI,
    SINGLE,
    Aggregate,
    Filter,
    GroupMap,
    Join,
    Limited,
    Node,
    Once,
    Project,
    Scan,
    State,
    Union,
    Window,
)
from rennet.plan.prune import Pruning
from rennet.plan.reading import as_computed, distinct

SMALL = 16 << 20
"""Rows of so many bytes, as estimated, are sent to every task."""
WORTH_PRUNING, LARGER = SMALL, 8
"""A side is worth pruning if it has so many bytes, and so many times those of the other."""
WORTH_KEEPING = 8 << 20
"""Changes that so many bytes must be read for are kept if they are used again."""

FEW_ROWS = 10_000
"""Rows that are kept may stay in the driver if there are no more of them, as estimated."""

_Done = dict[int, tuple[Node, Node]]


@dataclass
class Fitting:
    """Rewrites the plans of one refresh; a node that two of them share stays shared."""

    flows: Flows
    _done: _Done = field(default_factory=dict)

    def small(self, node: Node) -> bool:
        """Is it worth sending it to every task instead of shuffling what it is joined with?"""
        return _bounded(node) and self._bytes(node) <= SMALL

    def sent(self, node: Join) -> int | None:
        """Which side of a join to send to every task, if any: 0 for the left one, 1 for the right one."""
        if node.how in (INNER, LEFT, SEMI, ANTI) and self.small(node.right):
            return 1
        return 0 if node.how in (INNER, RIGHT) and self.small(node.left) else None

    def few(self, node: Node) -> bool:
        """Are there likely to be so few rows that it is best to keep them in the driver?"""
        return self.flows.of(node).rows <= FEW_ROWS and self._bytes(node) <= SMALL

    def unsure(self, node: Node) -> bool:
        """May there be any number of rows, and are there likely to be so few that knowing it is worth a job?

        Then Spark sends them to every task, where it would shuffle a large table to meet them.
        """
        return not _bounded(node) and self._bytes(node) <= SMALL

    def moved(self, plan: RefreshPlan) -> float:
        """The most bytes that one operator of a plan has sent from task to task, as estimated."""
        seen: set[int] = set()
        found = 0.0
        for tree in trees(plan):
            for node in as_computed(tree, seen):
                if isinstance(node, SHUFFLING) or (isinstance(node, Join) and self.sent(node) is None):
                    found = max(found, *map(self._bytes, node.children))
        return found

    def fitted(self, plan: RefreshPlan) -> RefreshPlan:
        """The same rows, less read and shuffled for them."""
        return fewer_columns(self._sharing(self._looked_at_once(mapped(plan, self.node))))

    def node(self, node: Node) -> Node:
        return _rewritten(node, self._pruned, self._done)

    def _pruned(self, node: Node) -> Node:
        """L ⟕ R = L ⟕ (R ⋉ L), for a small L: only R ⋉ L can be found by sending L to every task

        L need not be small if what it was selected by is: L ⟕ R = L ⟕ (R ⋉ D) for L = L' ⋉ D. Also for semi,
        anti, existence and single joins in place of ⟕.
        """
        if not isinstance(node, Join) or node.how not in ONE_SIDED:
            return node
        outer, inner = node.children if node.how != RIGHT else reversed(node.children)
        if self.small(outer):
            few, once = meeting(inner, outer, node.condition)
            by = outer
        else:
            found = meeting_through(inner, outer, node.condition)
            if found is None or not self.small(found[1]):
                return node
            (few, by), once = found, outer
        if self._bytes(inner) < max(WORTH_PRUNING, LARGER * self._bytes(by)):
            return node
        return node.with_children((once, few) if node.how != RIGHT else (few, once))

    def _looked_at_once(self, plan: RefreshPlan) -> RefreshPlan:
        """A large table that is looked at for few keys, in whatever states, is read once for all of them."""
        if not looked_at_once(trees(plan), self._worth_one_look):
            return plan
        plan = fewer_columns(plan, alike=True)
        while instead := looked_at_once(trees(plan), self._worth_one_look):
            plan = _replaced(plan, instead)
        return plan

    def _worth_one_look(self, node: Join) -> bool:
        large = self._bytes(node.left) >= WORTH_PRUNING
        return large and self.small(node.right) and self._bytes(node) <= SMALL

    def _sharing(self, plan: RefreshPlan) -> RefreshPlan:
        """Changes for which much has to be read are read once, however often they are used."""
        seen: set[int] = set()
        uses: Counter[Scan] = Counter()
        mapped(plan, lambda node: uses.update(_changes_read(node, seen)) or node)
        kept = {scan: Once((scan,)) for scan, times in uses.items() if times > 1 and self._dear(scan)}

        scans = (node for node in distinct(trees(plan)) if isinstance(node, Scan))
        return _replaced(plan, {id(scan): kept[scan] for scan in scans if scan in kept})

    def _dear(self, scan: Scan) -> bool:
        read = self.flows.statistics.changes.get(scan.source)
        return read is not None and read.bytes >= WORTH_KEEPING and self.small(scan)

    def _bytes(self, node: Node) -> float:
        return self.flows.of(node).rows * width(node.output)


def fewer_columns(plan: RefreshPlan, alike: bool = False) -> RefreshPlan:
    """Columns that nobody reads are left out, below what is kept as well; for `alike` see `Pruning`."""
    return mapped(plan, Pruning(trees(plan), alike).node)


def trees(plan: RefreshPlan) -> list[Node]:
    """Everything a plan computes."""
    found: list[Node] = []

    def note(node: Node) -> Node:
        found.append(node)
        return node

    mapped(plan, note)
    return found


def mapped(plan: RefreshPlan, change: Callable[[Node], Node]) -> RefreshPlan:
    """The plan with each of its trees changed."""
    removed = plan.removed
    if isinstance(removed, Keyed):
        removed = replace(removed, keys=change(removed.keys))
    elif isinstance(removed, Alike):
        removed = Alike(change(removed.delta))
    elif isinstance(removed, Placed):
        removed = Placed(change(removed.rows))
    repair = plan.repair and Repair(change(plan.repair.keys), change(plan.repair.rows))
    inserted = plan.inserted and change(plan.inserted)
    return replace(plan, inserted=inserted, removed=removed, repair=repair)


def _replaced(plan: RefreshPlan, instead: Mapping[int, Node]) -> RefreshPlan:
    """The plan with other nodes instead of some, which are given by their ids."""
    done: _Done = {}
    put = lambda node: instead.get(id(node), node)  # noqa: E731
    return mapped(plan, lambda node: _rewritten(node, put, done)) if instead else plan


def _rewritten(node: Node, change: Callable[[Node], Node], done: _Done) -> Node:
    """Every node changed, from below; one that is shared stays shared."""
    found = done.get(id(node))
    if found is None:
        children = tuple(_rewritten(child, change, done) for child in node.children)
        same = all(a is b for a, b in zip(children, node.children, strict=True))
        found = done[id(node)] = (node, change(node if same else node.with_children(children)))
    return found[1]


def _changes_read(node: Node, seen: set[int]) -> Iterator[Scan]:
    """The changes of sources, as often as they would be read."""
    for each in as_computed(node, seen):
        if isinstance(each, Scan) and each.state is State.DELTA:
            yield each


def _bounded(node: Node) -> bool:
    """Can there be no more rows than were counted? One changed row may meet a million others in a join."""
    if isinstance(node, Join):
        return node.how in (SEMI, ANTI) and _bounded(node.left)
    if isinstance(node, Scan):
        return node.state is State.DELTA
    return isinstance(node, BOUNDED) and all(map(_bounded, node.children))


ONE_SIDED = (LEFT, RIGHT, SEMI, ANTI, EXISTENCE, SINGLE)
"""Joins that only look at one side for what there is on the other."""
SHUFFLING = (Aggregate, Window, GroupMap, Limited)
"""Operators that need the rows of one key, or all, in one task."""
BOUNDED = (Project, Filter, Union, Aggregate, Once)
