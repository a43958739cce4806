"""Expressions as frozen Python data.

An expression read from Spark keeps the Catalyst object it came from in `handle` and is written back
unchanged; if only its children were replaced, the handle serves as the template. An expression made by
rennet has no handle: its `op` is then the name of a Spark SQL function, whose arguments must have the
types it wants.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rennet.plan.inverse import Rising
    from rennet.plan.ir import Node

_fresh = count(-1, -1)
_ID = re.compile(r"#\d+L?")

TIME_FUNCTIONS = frozenset({"CurrentTimestamp", "CurrentDate", "Now", "LocalTimestamp", "CurrentTime"})
"""Catalyst's names of the functions whose value is the moment the query runs."""

BEFORE, AFTER = "before", "after"
"""The moments of a refresh: that of the last one, and its own."""

MOVING = frozenset({"Moment", "Carried"})
"""Expressions that had one value at the last refresh and may have another one at this."""

DECIDED = " (decided)"
"""Ends the text of an aggregate that leaves nothing open, though others of its name may."""


@dataclass(frozen=True)
class Expr:
    """A function of its children; `text` is what the children do not say (a literal, a field, a mode)."""

    op: str
    children: tuple[Expr, ...] = ()
    type: str = ""
    nullable: bool = True
    deterministic: bool = True
    text: str = ""
    state: str = ""
    """Everything Spark's constructor was given, where `text` may not tell it all: modes, options, code."""
    handle: Any = field(default=None, compare=False, repr=False)
    rebuilt: bool = field(default=False, compare=False, repr=False)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        """The same function of other arguments."""
        if all(new is old for new, old in zip(children, self.children, strict=True)):
            return self
        return replace(self, children=children, rebuilt=True)

    def walk(self) -> Iterator[Expr]:
        """The expression and everything below it, parents first; does not enter subqueries."""
        yield self
        for child in self.children:
            yield from child.walk()

    def transform(self, change: Callable[[Expr], Expr | None]) -> Expr:
        """Replace top-down: where `change` gives an expression it is taken and not entered."""
        made = change(self)
        if made is not None:
            return made
        if not self.children:
            return self
        return self.with_children(tuple(child.transform(change) for child in self.children))

    @property
    def references(self) -> frozenset[int]:
        """Ids of the attributes it reads."""
        return frozenset(e.id for e in self.walk() if isinstance(e, Attribute))


@dataclass(frozen=True)
class Attribute(Expr):
    """A column of some node's output, told apart by `id` alone: names may repeat."""

    id: int = 0
    name: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribute) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


@dataclass(frozen=True)
class Alias(Expr):
    """A named, computed column."""

    id: int = 0
    name: str = ""

    @property
    def child(self) -> Expr:
        return self.children[0]

    @property
    def attribute(self) -> Attribute:
        return Attribute(
            "AttributeReference",
            type=self.type,
            nullable=self.nullable,
            handle=None if self.rebuilt else self.handle,
            id=self.id,
            name=self.name,
        )


Named = Attribute | Alias


@dataclass(frozen=True)
class AggregateCall(Expr):
    """An aggregate function: `op` is the function's Catalyst name, the children are its arguments."""

    distinct: bool = False
    condition: Expr | None = None
    evaluate: Expr | None = field(default=None, compare=False, repr=False)
    """Spark's own formula for the result over the function's buffer columns, where rennet uses it."""

    def transform(self, change: Callable[[Expr], Expr | None]) -> Expr:
        made = super().transform(change)
        if not isinstance(made, AggregateCall) or made.condition is None:
            return made
        condition = made.condition.transform(change)
        return made if condition is made.condition else replace(made, condition=condition, rebuilt=True)

    def walk(self) -> Iterator[Expr]:
        yield from super().walk()
        if self.condition is not None:
            yield from self.condition.walk()


@dataclass(frozen=True)
class Subquery(Expr):
    """A subquery used as a value or a predicate, with the plan it runs."""

    plan: Node | None = None


@dataclass(frozen=True)
class Bound(Expr):
    """Compares a column with a value that is found before the query runs, so that files can be skipped.

    `summary` has one row. True if its column `opened_by` is, or if there is no value to compare with, or
    nothing to compare. With `rising`, the column that the compared function rises with is compared instead,
    with the outermost value for which the function may keep the limit.
    """

    summary: Node | None = None
    column: int = 0
    opened_by: int = 0
    rising: Rising | None = None
    of_keys: bool = False
    """Are the limits those of keys that are looked for one by one as well?"""

    @staticmethod
    def of(sign: str, value: Expr, summary: Node, column: int, opened_by: int) -> Bound:
        return Bound(sign, (value,), "boolean", summary=summary, column=column, opened_by=opened_by)


@dataclass(frozen=True)
class Carried(Expr):
    """A constant that another definition changed: it was `before` in the stored rows and is `after` now.

    `text` says which of the two is meant.
    """

    before: Expr | None = None
    after: Expr | None = None

    @staticmethod
    def of(before: Expr, after: Expr) -> Carried:
        return Carried(
            "Carried", type=after.type, nullable=after.nullable, text=AFTER, before=before, after=after
        )

    @property
    def value(self) -> Expr:
        made = self.before if self.text == BEFORE else self.after
        assert made is not None
        return made


# -- making expressions -------------------------------------------------------------------------------


def call(name: str, *arguments: Expr, type: str = "", nullable: bool = True) -> Expr:
    """A Spark SQL function or operator by name, such as `+`, `<=>`, `coalesce`."""
    return Expr(name, arguments, type=type, nullable=nullable)


def literal(value: int | bool | str | None, type: str = "bigint") -> Expr:
    return Expr("Literal", type=type, nullable=value is None, text=repr(value))


def cast(child: Expr, type: str) -> Expr:
    return Expr("Cast", (child,), type=type, nullable=child.nullable)


def alias(child: Expr, name: str, id: int | None = None) -> Alias:
    """Name an expression, with a fresh id unless one is to be kept."""
    made = next(_fresh) if id is None else id
    return Alias("Alias", (child,), type=child.type, nullable=child.nullable, id=made, name=name)


def fresh_copy(attribute: Attribute) -> Alias:
    """The column under a new id, so that a relation can meet itself in a join."""
    return alias(attribute, attribute.name)


def moment(function: Expr) -> Expr:
    """A function of time as a value of this refresh; its handle says in which time zone."""
    return Expr("Moment", type=function.type, nullable=False, text=AFTER, handle=function.handle)


def conjuncts(condition: Expr) -> list[Expr]:
    """The parts that must all be true."""
    if condition.op not in ("And", "and"):
        return [condition]
    return [part for child in condition.children for part in conjuncts(child)]


def equalities(condition: Expr | None) -> list[Expr]:
    """What of a join's condition rows can be looked up by, whether or not NULLs are equal."""
    parts = [] if condition is None else conjuncts(condition)
    return [part for part in parts if part.op in ("EqualTo", "EqualNullSafe", "=", "<=>")]


def conjunction(parts: list[Expr]) -> Expr:
    """All of them; true when there are none."""
    if not parts:
        return literal(True, "boolean")
    made = parts[0]
    for part in parts[1:]:
        made = call("and", made, part, type="boolean")
    return made


def disjunction(parts: list[Expr]) -> Expr:
    """Any of them; false when there are none."""
    if not parts:
        return literal(False, "boolean")
    made = parts[0]
    for part in parts[1:]:
        made = call("or", made, part, type="boolean")
    return made


def or_else(condition: Expr, otherwise: bool) -> Expr:
    """The condition, or what it counts as when it is NULL."""
    return call("coalesce", condition, literal(otherwise, "boolean"), type="boolean", nullable=False)


def same(left: Expr, right: Expr) -> Expr:
    """Null-safe equality: grouping treats NULL as a value."""
    return call("<=>", left, right, type="boolean", nullable=False)


def differs(left: Expr, right: Expr) -> Expr:
    """Plain inequality, NULL if either side is."""
    return call("not", call("=", left, right, type="boolean"), type="boolean")


def struct(parts: list[Expr]) -> Expr:
    """A struct with the fields c0, c1, …"""
    fields = ",".join(f"c{i}:{part.type}" for i, part in enumerate(parts))
    arguments = [e for i, part in enumerate(parts) for e in (literal(f"c{i}", "string"), part)]
    return call("named_struct", *arguments, type=f"struct<{fields}>", nullable=False)


def field_of(value: Expr, position: int, type: str) -> Expr:
    """A field of such a struct, or of all structs in an array."""
    return Expr("Field", (value,), type=type, text=repr(f"c{position}"))


def columns_of(expressions: Iterable[Expr]) -> tuple[Attribute, ...]:
    """Those that are plain columns, each once."""
    return tuple(dict.fromkeys(e for e in expressions if isinstance(e, Attribute)))


def aggregate_calls(expressions: Iterable[Expr]) -> tuple[AggregateCall, ...]:
    """The aggregate functions called in them, each once."""
    parts = (part for expression in expressions for part in expression.walk())
    return tuple(dict.fromkeys(part for part in parts if isinstance(part, AggregateCall)))


def without_ids(text: str) -> str:
    """Spark's words without its ids of columns, which are others each time."""
    return _ID.sub("", text)


def attribute_of(named: Named) -> Attribute:
    return named if isinstance(named, Attribute) else named.attribute


def value_of(named: Named) -> Expr:
    """What a named expression computes."""
    return named if isinstance(named, Attribute) else named.child
