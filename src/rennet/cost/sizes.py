"""How many rows flow through a plan: from what the logs say about its leaves, without reading data.

Every flow knows how many rows it has and how many it would have if everything it stems from were whole. The
share of the two survives joins: a thousandth of a dimension meets a thousandth of the facts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import expm1

from rennet.delta.change import WEIGHT
from rennet.delta.windows import WHOLE
from rennet.plan.expressions import Alias, Attribute, Bound, Expr, columns_of, conjuncts, equalities
from rennet.plan.ir import (
    ANTI,
    EXISTENCE,
    FULL,
    LEFT,
    RIGHT,
    SEMI,
    SINGLE,
    Aggregate,
    Constant,
    Expand,
    Filter,
    Generate,
    Join,
    Limited,
    Node,
    Once,
    Project,
    Scan,
    State,
    Stored,
    Union,
    Window,
)

WIDTHS = {
    "boolean": 1,
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "date": 4,
    "float": 4,
    "string": 16,
    "binary": 32,
}
"""Bytes of a value, by type; the others take eight, nested ones more."""
NESTED = ("array", "map", "struct", "variant")
COMPRESSED = 0.6
"""What Parquet makes of a byte."""
KEPT = {"EqualTo": 0.1, "EqualNullSafe": 0.1, "In": 0.2, "InSet": 0.2, "IsNotNull": 0.95, "IsNull": 0.05}
"""Which part of the rows a condition keeps; a third where nothing better is known."""
SIGNS = {WEIGHT: 0.5}
"""Which part of the rows has a weight of one sign: a row that changed is one that went and one that came."""
COUNTED = 0.95
"""Which part has a count, or a sum of weights, that is not zero."""
GROUPS = 0.75
"""So many groups have n rows, as a power of n, where the view itself does not tell."""
SERIES = 0.5
"""The same of the partitions of an ordered window: as many as each has rows."""
ALONE = 0.05
"""Which part of a partition a single change concerns."""
INSIDE = 0.9
"""Which part of the rows that are needed for a range of a window lies in it."""
FEWER = 2.0
"""A side of a join with so many times fewer rows than the result is not where those come from."""
GENERATED = 3.0
"""Rows made of one by a generator."""


@dataclass(frozen=True)
class TableSize:
    """What a log says about a table; rows are known where its files have statistics."""

    bytes: float
    rows: float | None = None

    def rows_of(self, columns: tuple[Attribute, ...]) -> float:
        return self.rows if self.rows is not None else self.bytes / (COMPRESSED * width(columns))


@dataclass(frozen=True)
class Backing:
    """How the view's rows are kept."""

    files: int = 1
    columns: int = 1
    vectors: bool = True
    """May rows be marked as deleted? If not, the files they are in are written again."""


@dataclass(frozen=True)
class Statistics:
    """What is known before a refresh runs."""

    now: Mapping[str, TableSize]
    changes: Mapping[str, TableSize]
    """Per changed source, the bytes that reading its changes takes, and the changed rows."""
    view: TableSize
    keys: Collection[frozenset[int]] = ()
    """Sets of columns, by id, of which the view has one row for each combination."""
    query: Node | None = None
    """What the view's rows are the result of: how many there are tells of the groups below, too."""
    used: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Per source, the columns that can reach the result."""
    netted: Collection[str] = ()
    """Sources whose changes hold rows with both signs, which cancel."""
    growing: Collection[str] = ()
    """Sources that only gained rows: what is new often is at the end, what is changed may be anywhere."""
    backing: Backing = field(default_factory=Backing)


@dataclass(frozen=True)
class Flow:
    """Rows, and how many there would be if nothing had been left out for being unchanged."""

    rows: float
    base: float
    together: bool = False
    """Were rows left out by key, so that of each group there are all or none?"""
    scattered: bool = False
    """Are they changes that may be anywhere?"""
    reach: float = 1.0
    """Of partitions of a window: which part of each the changes concern."""

    @property
    def share(self) -> float:
        return min(1.0, self.rows / self.base) if self.base else 1.0

    def times(self, factor: float) -> Flow:
        return replace(self, rows=self.rows * factor, base=self.base * factor)


def width(columns: tuple[Attribute, ...]) -> float:
    """Bytes of one row."""
    return 4.0 + sum(_width(column.type) for column in columns)


def _width(kind: str) -> int:
    if kind.startswith(NESTED):
        return 48
    return WIDTHS.get(kind.split(" collate ", maxsplit=1)[0], 8)


class Flows:
    """The flow out of every node of one refresh's plans; each node is looked at once."""

    def __init__(self, statistics: Statistics) -> None:
        self.statistics = statistics
        self._known: dict[int, tuple[Node, Flow]] = {}
        self._as_many = _groups_as_many_as_rows(statistics)

    def of(self, node: Node) -> Flow:
        found = self._known.get(id(node))
        if found is None:
            # The node is kept, so that its id is not given to another one.
            found = self._known[id(node)] = (node, self._flow(node))
        return found[1]

    def _flow(self, node: Node) -> Flow:
        if isinstance(node, Scan):
            return self._scan(node)
        if isinstance(node, Stored):
            rows = self.statistics.view.rows_of(node.output)
            return Flow(rows, rows)
        if isinstance(node, Constant) or not node.children:
            return Flow(1.0, 1.0)
        if isinstance(node, Join):
            return self._join(node)
        below = [self.of(child) for child in node.children]
        if isinstance(node, Union):
            together, scattered = any(f.together for f in below), any(f.scattered for f in below)
            return Flow(sum(f.rows for f in below), sum(f.base for f in below), together, scattered)
        (flow,) = below if len(below) == 1 else (max(below, key=lambda f: f.rows),)
        if isinstance(node, Filter):
            return flow.times(self._kept(node))
        if isinstance(node, Aggregate):
            return self._aggregate(node, flow)
        if isinstance(node, Generate):
            return flow.times(GENERATED)
        if isinstance(node, Expand):
            return flow.times(len(node.projections))
        if isinstance(node, Limited):
            return Flow(min(flow.rows, 1000.0), min(flow.base, 1000.0))
        return flow

    def _scan(self, node: Scan) -> Flow:
        whole = self.statistics.now.get(node.source, TableSize(0.0)).rows_of(node.output)
        if node.state is not State.DELTA:
            return Flow(whole, whole)
        changed = self.statistics.changes.get(node.source, TableSize(0.0))
        scattered = node.source not in self.statistics.growing
        return Flow(changed.rows_of(node.output), whole, scattered=scattered)

    def _join(self, node: Join) -> Flow:
        left, right = self.of(node.left), self.of(node.right)
        if node.how in (SEMI, ANTI):
            part = right.share if node.how == SEMI else 1.0 - 0.5 * right.share
            return Flow(left.rows * part, left.base, together=node.how == SEMI or left.together)
        if node.how in (EXISTENCE, SINGLE):
            return left
        if equalities(node.condition):
            base = max(left.base, right.base)
        else:
            base = left.base * right.base * (1.0 if node.condition is None else 0.1)
        rows = base * left.share * right.share * left.reach * right.reach
        if node.how in (LEFT, FULL):
            rows = max(rows, left.rows)
        if node.how in (RIGHT, FULL):
            rows = max(rows, right.rows)
        return Flow(rows, base, scattered=left.scattered or right.scattered)

    def _kept(self, node: Filter) -> float:
        """Limits of changes that may be anywhere leave nothing out."""
        parts = conjuncts(node.condition)
        return kept([part for part in parts if not (isinstance(part, Bound) and self._wide(part))])

    def _wide(self, limit: Bound) -> bool:
        below = () if limit.summary is None else limit.summary.children
        return any(self.of(rows).scattered for rows in below)

    def _aggregate(self, node: Aggregate, flow: Flow) -> Flow:
        if not node.grouping:
            return Flow(1.0, 1.0)
        if _adds_weights(node):  # changes of one row are few
            return flow
        if node.output[-1].name == WHOLE and flow.scattered:
            return _extents(flow)
        bringing = [self.of(each) for each in _bringing(node.child, columns_of(node.grouping))]
        groups = min(self._groups(node, flow), *(each.base for each in bringing))
        rows = max(1.0, groups * flow.share) if flow.together else groups
        return Flow(min(rows, *(each.rows for each in bringing)), groups)

    def _groups(self, node: Aggregate, flow: Flow) -> float:
        """One group for each row of the view, if it has one row a group; else a guess."""
        keys, view = _keys(node), self.statistics.view
        if view.rows is not None and keys in self.statistics.keys:
            return max(1.0, view.rows)
        guess = float(max(1.0, flow.base) ** GROUPS)
        return max(guess, min(flow.base, view.rows)) if view.rows and keys in self._as_many else guess


def _extents(flow: Flow) -> Flow:
    """The partitions of a window with changes, which lie here and there: all between them is concerned."""
    partitions = max(1.0, flow.base**SERIES)
    places = max(1.0, flow.rows * SIGNS[WEIGHT])
    touched = partitions * -expm1(-places / partitions)
    each = places / touched
    return Flow(touched, partitions, scattered=True, reach=max(ALONE, (each - 1) / (each + 1)))


def _adds_weights(node: Aggregate) -> bool:
    """Is it changes, row by row, of which only the weights are added up?"""
    shown = node.output
    return shown[-1].name == WEIGHT and len(shown) == len(node.grouping) + 1


def _keys(node: Aggregate) -> frozenset[int]:
    return frozenset(_origin(key, node.child).id for key in columns_of(node.grouping))


def _groups_as_many_as_rows(statistics: Statistics) -> frozenset[frozenset[int]]:
    """The aggregates that cannot have fewer groups than the view has rows, as far as one can tell."""
    if statistics.query is None or not statistics.view.rows:
        return frozenset()
    flows = Flows(replace(statistics, query=None))
    return frozenset(_trunk(statistics.query, flows, statistics.view.rows))


def _trunk(node: Node, flows: Flows, rows: float) -> Iterator[frozenset[int]]:
    """The keys of the aggregates that so many rows must have come through.

    They came from one side of a join if the other has far fewer; what makes several rows of one ends it.
    """
    below: Sequence[Node] = ()
    if isinstance(node, Aggregate) and node.grouping:
        yield _keys(node)
        below = node.children
    elif isinstance(node, Project | Filter | Window | Once):
        below = node.children
    elif isinstance(node, Join) and node.how in (SEMI, ANTI, EXISTENCE, SINGLE):
        below = (node.left,)
    elif isinstance(node, Join):
        sides = ((node.left, node.right), (node.right, node.left))
        below = [mine for mine, other in sides if FEWER * flows.of(other).base <= rows]
    for child in below:
        yield from _trunk(child, flows, rows)


def _bringing(node: Node, columns: tuple[Attribute, ...]) -> Iterator[Node]:
    """The node and those below it that have all these columns: none has more groups of them than rows."""
    yield node
    if not isinstance(node, Project | Filter | Join | Once):
        return
    below = tuple(_under(column, node) for column in columns)
    side = next((child for child in node.children if {c.id for c in below} <= child.ids), None)
    if side is not None:
        yield from _bringing(side, below)


def _origin(column: Attribute, node: Node) -> Attribute:
    """The column under the name it has below projections that only rename it."""
    while isinstance(node, Project):
        column, node = _under(column, node), node.child
    return column


def _under(column: Attribute, node: Node) -> Attribute:
    """The column that a node only renames; itself if it does more, or nothing."""
    if isinstance(node, Project):
        for made in node.exprs:
            if isinstance(made, Alias) and made.attribute.id == column.id:
                return made.child if isinstance(made.child, Attribute) else column
    return column


def kept(conditions: Sequence[Expr]) -> float:
    """Which part of the rows satisfies all of them; limits at a source only go before what is above them."""
    share = 1.0
    for part in conditions:
        if isinstance(part, Bound) and (part.of_keys or part.rising is not None):
            continue
        share *= _kept_by(part)
    return max(share, 0.01)


def _kept_by(part: Expr) -> float:
    told, *_ = (*part.children, part)
    if part.op == "not" and told.op == "=":  # of a count or a weight: nothing else is compared so here
        return COUNTED
    if part.op in (">", "<") and isinstance(told, Attribute):
        return SIGNS.get(told.name, COUNTED)
    if part.op == "or" and isinstance(told, Attribute) and told.name == WHOLE:
        return INSIDE
    return KEPT.get(part.op, 1 / 3)
