"""Relational plans as frozen Python data.

Stages 1 to 5 work on these and need no JVM: `plan.catalyst` reads them from Spark, `plan.dataframe`
writes them back. A node's `output` is the one contract all rewrites rely on: the attribute ids it
promises to its parent. The before-state, the after-state and the delta of a node promise the same ids,
so no expression ever has to be rewritten. Constructors refuse ill-formed plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, Self

from rennet.errors import PlanError
from rennet.plan.expressions import Attribute, Expr, Named, attribute_of


class State(Enum):
    """Which of a source's states a scan reads."""

    CURRENT = "current"
    BEFORE = "before"
    AFTER = "after"
    DELTA = "delta"


class Node:
    """Base of all relations."""

    output: tuple[Attribute, ...]
    children: tuple[Node, ...]
    handle: Any
    exact: ClassVar[bool] = True  # the node has a meaning of its own in rennet, unlike `Other`

    @property
    def op(self) -> str:
        return type(self).__name__

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(a.id for a in self.output)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return ()

    def with_children(self, children: tuple[Node, ...]) -> Node:
        raise NotImplementedError

    def walk(self) -> Iterator[Node]:
        """The node and everything below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def transform_up(self, change: Callable[[Node], Node]) -> Node:
        """Rebuild bottom-up, giving each rebuilt node to `change`."""
        children = tuple(child.transform_up(change) for child in self.children)
        same = all(new is old for new, old in zip(children, self.children, strict=True))
        return change(self if same else self.with_children(children))

    def _require(self, needed: frozenset[int], available: frozenset[int]) -> None:
        missing = needed - available
        if missing:
            raise PlanError(f"{self.op} reads columns its input does not have: {sorted(missing)}")


@dataclass(frozen=True)
class Scan(Node):
    """A Delta table in one of its states; a DELTA scan has a weight as its last column."""

    source: str
    output: tuple[Attribute, ...]
    state: State = State.CURRENT
    name: str = field(default="", compare=False)
    handle: Any = field(default=None, compare=False, repr=False)
    children: tuple[Node, ...] = ()

    def at(self, state: State) -> Scan:
        return replace(self, state=state)

    def with_children(self, children: tuple[Node, ...]) -> Node:
        return self


@dataclass(frozen=True)
class Constant(Node):
    """A leaf that never changes: VALUES, range(), one row."""

    kind: str
    output: tuple[Attribute, ...]
    text: str = ""
    handle: Any = field(default=None, compare=False, repr=False)
    children: tuple[Node, ...] = ()
    rows: str = ""
    """The rows as SQL, where `text` does not tell all of them apart."""

    def with_children(self, children: tuple[Node, ...]) -> Node:
        return self


@dataclass(frozen=True)
class Foreign(Node):
    """A leaf whose changes rennet cannot read: a table that is not Delta, an in-memory frame."""

    kind: str
    name: str
    output: tuple[Attribute, ...]
    handle: Any = field(default=None, compare=False, repr=False)
    children: tuple[Node, ...] = ()
    text: str = ""
    """Where its rows come from, as far as Spark says."""

    def with_children(self, children: tuple[Node, ...]) -> Node:
        return self


@dataclass(frozen=True)
class Stored(Node):
    """The view's own backing table as it is before this refresh."""

    output: tuple[Attribute, ...]
    handle: Any = field(default=None, compare=False, repr=False)
    children: tuple[Node, ...] = ()

    def with_children(self, children: tuple[Node, ...]) -> Node:
        return self


@dataclass(frozen=True)
class _Unary(Node):
    @property
    def child(self) -> Node:
        return self.children[0]

    def with_children(self, children: tuple[Node, ...]) -> Self:
        return replace(self, children=children)  # type: ignore[call-arg]


@dataclass(frozen=True)
class Project(_Unary):
    exprs: tuple[Named, ...]
    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        needed: frozenset[int] = frozenset().union(*(e.references for e in self.exprs))
        self._require(needed, self.child.ids)

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return tuple(attribute_of(e) for e in self.exprs)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return self.exprs


@dataclass(frozen=True)
class Filter(_Unary):
    condition: Expr
    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._require(self.condition.references, self.child.ids)

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.child.output

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.condition,)


@dataclass(frozen=True)
class Slice(Filter):
    """The rows of some partitions of a table: files of others are not opened."""


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL by position, under the ids of its own `output`."""

    output: tuple[Attribute, ...]
    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for child in self.children:
            if len(child.output) != len(self.output):
                raise PlanError("UNION ALL of relations with different numbers of columns")

    def with_children(self, children: tuple[Node, ...]) -> Union:
        return replace(self, children=children)


INNER, LEFT, RIGHT, FULL, SEMI, ANTI = "inner", "left", "right", "full", "semi", "anti"
EXISTENCE = "existence"
"""Every left row once, with a column that says whether it has a match."""
SINGLE = "single"
"""Every left row once, with its one match or NULLs; two matches are an error."""


@dataclass(frozen=True)
class Join(Node):
    """`how` is inner (cross included), left, right, full, semi, anti, existence, single, or Spark's own."""

    how: str
    condition: Expr | None
    children: tuple[Node, ...]
    output: tuple[Attribute, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        clash = self.left.ids & self.right.ids
        if clash:
            raise PlanError(f"the two sides of a join share columns {sorted(clash)}")
        if self.condition is not None:
            self._require(self.condition.references, self.left.ids | self.right.ids)

    @property
    def left(self) -> Node:
        return self.children[0]

    @property
    def right(self) -> Node:
        return self.children[1]

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return () if self.condition is None else (self.condition,)

    def with_children(self, children: tuple[Node, ...]) -> Join:
        return replace(self, children=children)


@dataclass(frozen=True)
class Aggregate(_Unary):
    """GROUP BY `grouping`; without any, one row even over nothing."""

    grouping: tuple[Expr, ...]
    exprs: tuple[Named, ...]
    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        needed: frozenset[int] = frozenset().union(*(e.references for e in (*self.grouping, *self.exprs)))
        self._require(needed, self.child.ids)

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return tuple(attribute_of(e) for e in self.exprs)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (*self.grouping, *self.exprs)


@dataclass(frozen=True)
class Window(_Unary):
    """Every row with what window functions say of it."""

    exprs: tuple[Named, ...]
    partition: tuple[Expr, ...]
    order: tuple[Expr, ...]
    children: tuple[Node, ...]
    peers: tuple[Expr, ...] = ()
    """How rows that `order` does not tell apart are put in order before the functions see them."""
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return (*self.child.output, *(attribute_of(e) for e in self.exprs))

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (*self.partition, *self.order, *self.peers, *self.exprs)


@dataclass(frozen=True)
class Generate(_Unary):
    """Every row once for each row a generator makes of it: explode, inline, stack and their kin."""

    generator: Expr
    made: tuple[Attribute, ...]
    children: tuple[Node, ...]
    kept: tuple[int, ...]
    """Positions of the input's columns that are put out."""
    handle: Any = field(default=None, compare=False, repr=False)
    outer: bool = False
    """Does a row for which nothing is made stay, with NULLs?"""

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return (*(self.child.output[i] for i in self.kept), *self.made)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.generator,)


@dataclass(frozen=True)
class Expand(_Unary):
    """Every row once for each list of projections, as GROUPING SETS and UNPIVOT need it."""

    projections: tuple[tuple[Expr, ...], ...]
    output: tuple[Attribute, ...]
    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(e for each in self.projections for e in each)


@dataclass(frozen=True)
class PassThrough(_Unary):
    """The same rows: an order, a partitioning, a hint, a metric."""

    kind: str
    exprs: tuple[Expr, ...]
    children: tuple[Node, ...]
    text: str = ""
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def op(self) -> str:
        return self.kind

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.child.output

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return self.exprs


@dataclass(frozen=True)
class Limited(_Unary):
    """The first rows of an order, or what is left after skipping some."""

    kind: str
    count: Expr
    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def op(self) -> str:
        return self.kind

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.child.output

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.count,)


@dataclass(frozen=True)
class GroupMap(_Unary):
    """A function applied to each group as a whole: `applyInPandas`, `applyInArrow`."""

    kind: str
    keys: tuple[Attribute, ...]
    function: Expr
    output: tuple[Attribute, ...]
    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def op(self) -> str:
        return self.kind

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (*self.keys, self.function)


@dataclass(frozen=True)
class Replicate(_Unary):
    """Every row as many times as its last column says, without that column."""

    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.child.output[:-1]


@dataclass(frozen=True)
class Once(_Unary):
    """The same rows, computed once however often they are used."""

    children: tuple[Node, ...]
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def output(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        return self.child.output


@dataclass(frozen=True)
class Other(Node):
    """Any other operator: read, written back and named, with the columns and expressions it has."""

    kind: str
    output: tuple[Attribute, ...]
    children: tuple[Node, ...]
    exprs: tuple[Expr, ...] = ()
    text: str = ""
    handle: Any = field(default=None, compare=False, repr=False)

    @property
    def op(self) -> str:
        return self.kind

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return self.exprs

    def with_children(self, children: tuple[Node, ...]) -> Other:
        return replace(self, children=children)


# -- making nodes ---------------------------------------------------------------------------------------


def join(left: Node, right: Node, how: str, condition: Expr | None) -> Join:
    """A join made by rennet; semi and anti joins put out the left side only."""
    output = left.output if how in (SEMI, ANTI) else joined_columns(left, right, how)
    return Join(how, condition, (left, right), output)


def joined_columns(left: Node, right: Node, how: str) -> tuple[Attribute, ...]:
    """Both sides' columns; those of a side that may be missing can be NULL."""
    first = _optional(left.output) if how in (RIGHT, FULL) else left.output
    second = _optional(right.output) if how in (LEFT, FULL) else right.output
    return (*first, *second)


def _optional(columns: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    return tuple(replace(column, nullable=True) for column in columns)


def union(parts: list[Node]) -> Node:
    """UNION ALL under the ids of the first part."""
    return parts[0] if len(parts) == 1 else Union(parts[0].output, tuple(parts))


def project(child: Node, exprs: tuple[Named, ...]) -> Project:
    return Project(exprs, (child,))


def filter_(child: Node, condition: Expr) -> Filter:
    return Filter(condition, (child,))
