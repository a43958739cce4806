"""A query and what happens to its sources: the thing every law is about."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from rennet.delta.rules import GROWING, RULES, Derivation
from rennet.enable.layout import Layout, lay_out
from rennet.enable.order import with_ties_broken, without_order
from rennet.plan.expressions import AggregateCall, Alias, Attribute, Expr
from rennet.plan.ir import Aggregate, Join, Node, Scan, State
from rennet.plan.reading import sources
from rennet.testing.bags import World, as_delta, at, evaluate, minus
from rennet.testing.values import Bag, bag
from tests.laws.queries import (
    GROUP_FUNCTIONS,
    SCHEMAS,
    STRATEGIES,
    Draw,
    Maker,
    aggregate,
    catalyst,
    joined,
    windowed,
)

EXAMPLES = int(os.environ.get("RENNET_EXAMPLES", "300"))
LAW = settings(
    max_examples=EXAMPLES,
    derandomize="RENNET_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
"""The same examples every time; `RENNET_EXAMPLES=5000` looks at more, and at others."""
BRIEFLY = settings(LAW, max_examples=max(1, EXAMPLES // 3))
"""For laws that are looked at once for every rule or technique."""


@dataclass(frozen=True)
class Case:
    """A query, its sources before and after, and what is said about the change."""

    plan: Node
    world: World
    changed: Mapping[str, bool]
    """The sources that changed, and whether they only grew."""

    @property
    def layout(self) -> Layout:
        """As planning has it, of a view partitioned by whatever it can be."""
        names = Counter(column.name for column in self.plan.output)
        alone = tuple(name for name, times in names.items() if times == 1)
        return replace(lay_out(without_order(self.plan)), partitioned_by=alone)

    @property
    def derivation(self) -> Derivation:
        """Every column of a source is one that it is partitioned by."""
        touched = {
            source: {
                column.name: frozenset(written(row[place]) for row in self.world.delta(source))
                for place, column in enumerate(SCHEMAS[source])
            }
            for source in self.changed
        }
        return Derivation(self.changed, touched)

    @property
    def before(self) -> Bag:
        return evaluate(at(self.plan, State.BEFORE), self.world)

    @property
    def after(self) -> Bag:
        return evaluate(at(self.plan, State.AFTER), self.world)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def __repr__(self) -> str:
        lines = ["", text(self.plan)]
        for name in sources(self.plan):
            lines.append(f"{name} before {dict(self.world.before[name])}")
            lines.append(f"{name} after  {dict(self.world.after[name])}")
            lines.append(f"{name} delta  {dict(self.world.delta(name))} changed={self.changed.get(name)}")
        return "\n".join(lines)


def written(value: object) -> str | None:
    """A partition's value as a log has it."""
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def text(node: Node, indent: str = "") -> str:
    """A plan in full, with the ids by which columns are told apart."""
    how = f" {node.how}" if isinstance(node, Join) else f" {node.source}" if isinstance(node, Scan) else ""
    grouping = f" by {[_said(e) for e in node.grouping]}" if isinstance(node, Aggregate) else ""
    expressions = node.exprs if isinstance(node, Aggregate) else node.expressions
    said = ", ".join(_said(e) for e in expressions or node.output)
    lines = [f"{indent}{node.op}{how}{grouping}: {said}"]
    return "\n".join([*lines, *(text(child, indent + "  ") for child in node.children)])


def _said(expression: Expr) -> str:
    if isinstance(expression, Attribute):
        return f"{expression.name}#{expression.id}"
    inner = expression.text if expression.op == "Literal" else ", ".join(map(_said, expression.children))
    if isinstance(expression, Alias):
        return f"{inner} AS {expression.name}#{expression.id}"
    made = f"{expression.op}({inner})"
    if isinstance(expression, AggregateCall):
        made += " distinct" if expression.distinct else ""
        made += f" where {_said(expression.condition)}" if expression.condition is not None else ""
    return made


# -- sources ----------------------------------------------------------------------------------------------


def _same(before: Bag, drawn: Bag) -> Bag:
    return before


def _other(before: Bag, drawn: Bag) -> Bag:
    return drawn


def _more(before: Bag, drawn: Bag) -> Bag:
    return before + drawn


def _less(before: Bag, drawn: Bag) -> Bag:
    return before - drawn


def _edited(before: Bag, drawn: Bag) -> Bag:
    """One row fewer and the drawn ones more."""
    return before - bag(list(before)[:1]) + drawn


def _nothing(before: Bag, drawn: Bag) -> Bag:
    return bag()


Changes = tuple[Callable[[Bag, Bag], Bag], ...]
"""Ways to change; the last is none at all, and never taken for the first source."""
ANY: Changes = (_other, _edited, _more, _less, _nothing, _same)
GROWTH: Changes = (_more, _same)


@cache
def rows(source: str, most: int) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    every = list(product(*(column.values for column in SCHEMAS[source])))
    return st.lists(st.sampled_from(every), max_size=most)


def worlds(maker: Maker, names: Iterable[str], changes: Changes) -> tuple[World, dict[str, bool]]:
    """Sources before and after, and their changes in some legal form."""
    before: dict[str, Bag] = {}
    after: dict[str, Bag] = {}
    deltas: dict[str, Bag] = {}
    changed: dict[str, bool] = {}
    for source in names:
        before[source] = bag(maker.draw(rows(source, 4)))
        change = maker.one(changes if changed else changes[:-1])
        drawn = bag() if change in (_nothing, _same) else bag(maker.draw(rows(source, 3)))
        after[source] = change(before[source], drawn)
        difference = minus(after[source], before[source])
        if change is _more:
            changed[source] = True
            deltas[source] = bag((*row, 1) for row in difference.elements())
        elif difference or (changes is ANY and maker.chance(2)):
            changed[source] = False
            deltas[source] = messy(maker, source, difference)
    return World(before, after, deltas, functions=GROUP_FUNCTIONS, strict=True), changed


def messy(maker: Maker, source: str, difference: Bag) -> Bag:
    """The same signed bag as a reader may give it: weights split up, rows that came and went."""
    delta = as_delta(difference)
    if maker.chance(2):
        delta = bag()
        for row, weight in difference.items():
            delta.update([(*row, weight + 1), (*row, -1)])
    for row in maker.draw(rows(source, 1)):
        weight = maker.one((1, 2, 0))
        delta.update([(*row, weight), (*row, -weight)])
    return delta


# -- cases ------------------------------------------------------------------------------------------------

DERIVED = tuple(name for name in STRATEGIES if name in RULES)
"""What random queries are made of: the operators that have a delta rule."""


@st.composite
def cases(
    draw: Draw,
    make: Callable[[Maker], Node],
    changes: Changes = ANY,
    rules: Collection[str] = DERIVED,
) -> Case:
    maker = Maker(draw, sorted(rules))
    plan = with_ties_broken(make(maker))
    world, changed = worlds(maker, sources(plan), changes)
    return Case(plan, world, changed)


def alone(rule: str) -> st.SearchStrategy[Case]:
    """One operator over sources."""
    return cases(lambda maker: STRATEGIES[rule](maker, 0))


def over(rule: str, depth: int = 1) -> st.SearchStrategy[Case]:
    """One operator over other operators."""
    return cases(lambda maker: STRATEGIES[rule](maker, depth))


def grown(rule: str) -> st.SearchStrategy[Case]:
    """One operator over sources that only grow, or over operators that keep it so."""
    below = [name for name in DERIVED if name in GROWING]
    return cases(lambda maker: STRATEGIES[rule](maker, maker.number(0, 1)), GROWTH, below)


def met(how: str) -> st.SearchStrategy[Case]:
    """Aggregates and windows, joined on any of their columns."""

    def make(maker: Maker) -> Node:
        rule = maker.one(("Aggregate", "Window"))
        many = STRATEGIES[rule](maker, maker.number(0, 1))
        few = maker.plan(maker.number(0, 1))
        pairs = [(a, b) for a in many.output[::-1] for b in few.output if a.type == b.type]
        sign = maker.one(("EqualTo", "EqualNullSafe"))
        on = catalyst(sign, *maker.one(pairs)) if pairs else None
        left, right = (many, few) if maker.chance(2) else (few, many)
        return joined(left, right, how, on)

    return cases(make)


def compositions(depth: int = 4) -> st.SearchStrategy[Case]:
    return cases(lambda maker: maker.plan(maker.one(range(1, depth + 1))))


def growing(depth: int = 3) -> st.SearchStrategy[Case]:
    """Sources that only grow, under operators that keep it so."""
    rules = [name for name in DERIVED if name in GROWING]
    return cases(lambda maker: maker.plan(maker.one(range(1, depth + 1))), GROWTH, rules)


def grouped(keyed: bool = False, sums: bool = False) -> st.SearchStrategy[Case]:
    """Views that end in GROUP BY, with HAVING and projections over it."""
    return cases(lambda maker: maker.layered(aggregate(maker, maker.number(0, 1), keyed, sums)))


def windows(keyed: bool = False) -> st.SearchStrategy[Case]:
    """Views that end in window functions, with filters and projections over them."""
    return cases(lambda maker: maker.layered(windowed(maker, maker.plan(maker.number(0, 1)), keyed)))
