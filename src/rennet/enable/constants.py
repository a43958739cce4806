"""Stage 3: a definition that differs from the stored one in constants only.

Both plans are walked side by side. Where a constant differs, the new plan gets an expression that stands for
the old one before and the new one after, and the laws of what changes with the clock apply to it
(`rennet.delta.temporal`). The walk proves nothing: that nothing but these constants differs is known when
the new plan, with the old constants put back, has the fingerprint of the stored one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rennet.enable.moments import rarely
from rennet.plan.expressions import AggregateCall, Carried, Expr, Subquery, value_of
from rennet.plan.ir import Aggregate, Filter, Join, Node, Project, Window

EXPRESSIONS: dict[type[Node], tuple[str, ...]] = {
    Filter: ("condition",),
    Project: ("exprs",),
    Join: ("condition",),
    Aggregate: ("grouping", "exprs"),
    Window: ("exprs", "partition", "order", "peers"),
}
"""The operators whose expressions may be isolated (`enable.moments`), and the fields that hold them."""


def with_constants(new: Node, old: Node, rebuilt: bool = True) -> Node:
    """The new plan, its constants standing for those of the old one before.

    Where the plans are of different shapes the new one is left as it is. Without `rebuilt` the expressions
    keep the words Spark has for them, so that they can be fingerprinted, but cannot be written.
    """
    pairs = zip(new.children, old.children, strict=False)
    children = tuple(with_constants(a, b, rebuilt) for a, b in pairs)
    if type(new) is not type(old) or len(children) != len(new.children):
        return new
    same = all(a is b for a, b in zip(children, new.children, strict=True))
    made = new if same else new.with_children(children)
    changed: dict[str, Any] = {}
    for name in EXPRESSIONS.get(type(new), ()):
        found = _field(getattr(new, name), getattr(old, name), rebuilt)
        if found is not getattr(new, name):
            changed[name] = found
    return replace(made, **changed, handle=None) if changed else made  # type: ignore[type-var]


def _field(new: Any, old: Any, rebuilt: bool) -> Any:
    """The expression, or the expressions, of one field."""
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        made = tuple(_expression(a, b, rebuilt) for a, b in zip(new, old, strict=True))
        return new if all(a is b for a, b in zip(made, new, strict=True)) else made
    if isinstance(new, Expr) and isinstance(old, Expr):
        return _expression(new, old, rebuilt)
    return new


def _expression(new: Expr, old: Expr, rebuilt: bool) -> Expr:
    if new.op != old.op or type(new) is not type(old) or len(new.children) != len(old.children):
        return new
    if new.op == "Literal":
        return Carried.of(old, new) if _differ(new, old) else new
    if isinstance(new, Subquery):
        return new
    children = tuple(_expression(a, b, rebuilt) for a, b in zip(new.children, old.children, strict=True))
    made = new
    if any(a is not b for a, b in zip(children, new.children, strict=True)):
        made = replace(new, children=children, rebuilt=rebuilt or new.rebuilt)
    if isinstance(new, AggregateCall) and isinstance(old, AggregateCall) and isinstance(made, AggregateCall):
        condition = _field(new.condition, old.condition, rebuilt)
        if condition is not new.condition:
            made = replace(made, condition=condition, rebuilt=rebuilt or new.rebuilt)
    return made


def _differ(new: Expr, old: Expr) -> bool:
    """Are they other values of one type? A constant of another type would change the types around it."""
    alike = new.type == old.type and new.nullable == old.nullable
    return alike and (new.text, new.state) != (old.text, old.state)


def as_now(plan: Node) -> Node:
    """The plan as if its constants had always been what they are now; for fingerprints only."""
    children = tuple(as_now(child) for child in plan.children)
    made = plan.with_children(children) if children else plan
    changed = {name: _now(getattr(plan, name)) for name in EXPRESSIONS.get(type(plan), ())}
    return replace(made, **changed) if changed else made  # type: ignore[type-var]


def _now(found: Any) -> Any:
    if isinstance(found, tuple):
        return tuple(_now(each) for each in found)
    if isinstance(found, Carried):
        return replace(found, before=found.after)
    if isinstance(found, AggregateCall) and found.condition is not None:
        found = replace(found, condition=_now(found.condition))
    return replace(found, children=_now(found.children)) if isinstance(found, Expr) else found


def changed_constants(plan: Node) -> tuple[Carried, ...]:
    """The constants of a plan that stand for others before, each once."""
    return tuple(dict.fromkeys(_carried(plan)))


def _carried(plan: Node) -> Iterator[Carried]:
    for node in plan.walk():
        for expression in node.expressions:
            yield from (part for part in expression.walk() if isinstance(part, Carried))


def isolated(plan: Node) -> bool:
    """Do the changed constants stand only where there is a law for them, in filters and projections?

    A projection that would compute another value for every row is as dear as computing everything anew.
    """
    return all(
        isinstance(node, Filter)
        or (isinstance(node, Project) and all(map(rarely, map(value_of, node.exprs))))
        for node in plan.walk()
        if any(isinstance(part, Carried) for e in node.expressions for part in e.walk())
    )
