"""What a refresh has to do, operator by operator, and how much of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2s

from rennet.cost.sizes import Flows, Statistics, TableSize, kept, width
from rennet.delta.generate import Alike, Keyed, Placed, RefreshPlan, Removed, rows_named
from rennet.plan.expressions import Attribute, columns_of, conjuncts, equalities
from rennet.plan.ir import (
    Aggregate,
    Expand,
    Filter,
    Generate,
    GroupMap,
    Join,
    Node,
    Once,
    Project,
    Scan,
    Slice,
    State,
    Stored,
    Window,
)
from rennet.plan.render import describe

BROADCAST = 10 << 20
"""A side of a join below so many bytes is sent to every task instead of shuffling both."""
NUMBER = 12
"""Bytes of a row that is one number, by which keys are measured."""
PLACE = 150
"""Bytes of a place in the view: the name of a file, and the number of a row."""
HASH = 8
"""Bytes of the hash that rows are looked up by; it cannot be compressed."""
WORTH_A_FEED = 200_000
"""If rows were deleted from files of so many, whoever reads the changes is spared going through those.

At 57,000 rows and 200 changes the feed took 60 ms, 8 ms of them CPU, and reading the file 5 ms of CPU."""
MARK = 2
"""Values that are written for a row that is marked as deleted: rows to delete lie anywhere, and their files
get a list of them each."""
GATHERED = 4
"""The same in rows of an aggregate, for the job that makes those lists: 630,000 rows took it 0.4 s."""
JOBS = {True: 3.0, False: 8.0}
"""Spark jobs of a full recompute, and of any other refresh."""


class Kind(StrEnum):
    """What is counted, and in which unit."""

    SCAN = "scan"  # bytes in files
    ROWS = "filter/project"  # rows times expressions
    BROADCAST_JOIN = "broadcast join"  # rows of both sides and of the result
    SHUFFLE_JOIN = "shuffle join"
    NESTED_JOIN = "nested loop join"  # pairs of rows
    AGGREGATE = "aggregate"  # rows and groups, by how wide their keys are
    WINDOW = "window"  # rows
    PYTHON = "python"  # rows
    SHUFFLE = "shuffle"  # bytes
    WRITE = "write"  # values: rows times columns
    COMMIT = "jobs and commit"  # jobs


@dataclass(frozen=True)
class Operator:
    """One operator's work. Operators of the same shape do the same to different amounts of data."""

    kind: Kind
    text: str
    shape: str
    units: float


def operators(plan: RefreshPlan, statistics: Statistics) -> list[Operator]:
    """Everything a refresh by this plan does."""
    return list(_Counting(statistics).refresh(plan))


class _Counting:
    def __init__(self, statistics: Statistics) -> None:
        self.statistics = statistics
        self.flows = Flows(statistics)
        self._done: set[int] = set()
        self._shapes: dict[int, tuple[Node, str]] = {}

    def refresh(self, plan: RefreshPlan) -> Iterator[Operator]:
        yield Operator(Kind.COMMIT, f"{plan.technique}", f"commit {plan.everything}", JOBS[plan.everything])
        if plan.removed is not None:
            yield from self._removing(plan.removed)
        if plan.inserted is not None:
            yield from self._tree(plan.inserted)
            yield from self._written(plan.inserted, plan.removed)
        if plan.repair is not None:  # whether it has any keys is known once they are computed
            yield from self._tree(plan.repair.keys)
            yield from self._tree(plan.repair.rows)

    def _removing(self, removed: Removed) -> Iterator[Operator]:
        wanted = rows_named(removed)
        if wanted is None:  # whole files go: the commit says so, and that is all
            return
        yield from self._tree(wanted)
        if not isinstance(removed, Placed):
            yield from self._found(wanted, isinstance(removed, Keyed))
        if isinstance(removed, Alike):
            yield from self._told_apart(wanted)
        if not self.statistics.backing.vectors:
            yield from self._written_again(wanted)
            return
        shape, lost = self._shape(wanted), self._lost(removed, wanted)
        yield Operator(Kind.AGGREGATE, "Gather deleted rows by file", f"gather {shape}", GATHERED * lost)
        yield Operator(Kind.WRITE, "Mark deleted rows", f"mark {shape}", MARK * lost)

    def _lost(self, removed: Removed, wanted: Node) -> float:
        """The rows that go: of keys that the view has many rows of, their share of all."""
        flow = self.flows.of(wanted)
        if not isinstance(removed, Keyed) or self.statistics.keys:
            return flow.rows
        return self.statistics.view.rows_of(wanted.output) * flow.share * flow.reach

    def _written_again(self, wanted: Node) -> Iterator[Operator]:
        """The files that lose rows: at the worst each row is in another one, up to all there are."""
        view, backing, shape = self.statistics.view, self.statistics.backing, self._shape(wanted)
        share = min(1.0, self.flows.of(wanted).rows / max(backing.files, 1))
        yield Operator(Kind.SCAN, "Read files that lose rows", f"reread {shape}", view.bytes * share)
        rows = view.rows_of(wanted.output) * share
        yield Operator(Kind.BROADCAST_JOIN, "Tell rows that stay from others", f"tell {shape}", rows)
        # Those that go are written too: to the change feed.
        yield Operator(Kind.WRITE, "Write those again", f"rewrite {shape}", rows * backing.columns)

    def _found(self, wanted: Node, by_key: bool) -> Iterator[Operator]:
        """The stored rows to delete are looked up by their key, or by a hash of their content."""
        view = self.statistics.view
        shape = self._shape(wanted)
        stored = view.rows_of(wanted.output)
        read = view.bytes * 0.3 if by_key else min(view.bytes, HASH * stored)
        yield Operator(Kind.SCAN, "Find the rows to delete", f"find {shape}", read)
        looked = self.flows.of(wanted).rows + stored
        yield Operator(Kind.BROADCAST_JOIN, "Match them", f"match {shape}", looked)

    def _told_apart(self, wanted: Node) -> Iterator[Operator]:
        """Rows found by a hash of their content are counted for each hash: it must be that of one row."""
        rows, shape = self.flows.of(wanted).rows / 2, self._shape(wanted)
        yield Operator(Kind.WINDOW, "Count those of a hash", f"alone {shape}", rows)
        yield Operator(Kind.SHUFFLE, "Count those of a hash", f"sent {shape}", rows * PLACE)

    def _written(self, node: Node, removed: Removed | None) -> Iterator[Operator]:
        rows, shape = self.flows.of(node).rows, self._shape(node)
        if isinstance(removed, Alike) and self.statistics.view.rows_of(node.output) >= WORTH_A_FEED:
            # Change files have what came and what went; Delta sorts all rows by the kind of their file.
            rows += self.flows.of(removed.delta).rows
            yield Operator(Kind.WINDOW, "Sort by kind of change", f"sort {shape}", rows)
        yield Operator(Kind.WRITE, "Write", f"write {shape}", rows * len(node.output))

    def _tree(self, node: Node) -> Iterator[Operator]:
        if isinstance(node, Once):
            # Kept in memory: the second time costs next to nothing.
            if id(node.child) in self._done:
                return
            self._done.add(id(node.child))
        if isinstance(node, Slice):
            assert isinstance(node.child, Scan)
            read = self._read(node.child) * kept(conjuncts(node.condition))
            yield Operator(Kind.SCAN, describe(node), f"slice {self._shape(node)}", read)
            return
        for child in node.children:
            yield from self._tree(child)
        for kind, units in self._work(node):
            yield Operator(kind, describe(node), f"{kind} {self._shape(node)}", units)

    def _work(self, node: Node) -> Iterator[tuple[Kind, float]]:
        """The kinds of work of one node."""
        if isinstance(node, Scan):
            yield Kind.SCAN, self._read(node)
            if node.state is State.DELTA and node.source in self.statistics.netted:
                rows = self.flows.of(node).rows
                yield Kind.AGGREGATE, _grouped(rows, rows, node.output)
                yield Kind.SHUFFLE, self._bytes(node)
        elif isinstance(node, Stored):
            yield Kind.SCAN, self.statistics.view.bytes
        elif isinstance(node, Join):
            yield from self._join(node)
        elif isinstance(node, Filter | Project | Expand | Generate):
            yield Kind.ROWS, self.flows.of(node.child).rows * (1 + len(_computed(node)))
        elif isinstance(node, Aggregate):
            rows, groups = self.flows.of(node.child).rows, self.flows.of(node).rows
            yield Kind.AGGREGATE, _grouped(rows, groups, columns_of(node.grouping))
            yield Kind.SHUFFLE, self._bytes(node)
        elif isinstance(node, Window):
            yield Kind.WINDOW, self.flows.of(node.child).rows
            yield Kind.SHUFFLE, self._bytes(node.child)
        elif isinstance(node, GroupMap):
            yield Kind.PYTHON, self.flows.of(node.child).rows
            yield Kind.SHUFFLE, self._bytes(node.child)

    def _read(self, node: Scan) -> float:
        """Bytes read: of a table, its used columns; of a change, what its files hold of them."""
        tables = self.statistics.changes if node.state is State.DELTA else self.statistics.now
        used = self.statistics.used.get(node.source)
        columns = [c for c in node.output if used is None or c.name in used]
        part = width(tuple(columns)) / width(node.output)
        return tables.get(node.source, TableSize(0.0)).bytes * min(1.0, part)

    def _join(self, node: Join) -> Iterator[tuple[Kind, float]]:
        left, right = self.flows.of(node.left), self.flows.of(node.right)
        if not equalities(node.condition):
            yield Kind.NESTED_JOIN, left.rows * right.rows
            return
        rows = left.rows + right.rows + self.flows.of(node).rows
        sides = self._bytes(node.left), self._bytes(node.right)
        if min(sides) <= BROADCAST:
            yield Kind.BROADCAST_JOIN, rows
        else:
            yield Kind.SHUFFLE_JOIN, rows
            yield Kind.SHUFFLE, sum(sides)

    def _bytes(self, node: Node) -> float:
        return self.flows.of(node).rows * width(node.output)

    def _shape(self, node: Node) -> str:
        """The operator with all below it, whatever the ids of its columns."""
        found = self._shapes.get(id(node))
        if found is None:
            parts = (describe(node), *(self._shape(child) for child in node.children))
            made = blake2s("\n".join(parts).encode(), digest_size=6).hexdigest()
            found = self._shapes[id(node)] = (node, made)
        return found[1]


def _grouped(rows: float, groups: float, keys: Sequence[Attribute]) -> float:
    """Rows are put into groups in their task, and what comes of that once more in another.

    A key is hashed, compared and copied: one of all columns costs several times as much as a number.
    """
    return (rows + groups) * max(1.0, width(tuple(keys)) / NUMBER)


def _computed(node: Node) -> list[object]:
    """The expressions that are more than a column handed on."""
    return [e for e in node.expressions if e.children]
