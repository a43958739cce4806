"""Plans in canonical form: relations whose parts may be put in any order, where the order means nothing.

Projections are dissolved into the terms that use them. Inner joins, filters, semi and anti joins become one
*selection*: a bag of inputs and a set of conditions. Columns nobody uses are left out. What is not
understood keeps its inputs and their columns exactly as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rennet.fingerprint.terms import Column, Expressions, Term, renumbered
from rennet.plan.expressions import AggregateCall, Attribute, Expr
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
    Constant,
    Expand,
    Filter,
    Foreign,
    Generate,
    Join,
    Limited,
    Node,
    PassThrough,
    Project,
    Scan,
    Union,
    Window,
)

LARGEST_DISSOLVED = 2000
"""A larger term is computed where it stands: repeated in others it could grow without bound."""
MARKERS = {"PipeOperator"}
"""Operators that only say how a query was written."""
SELECTION, WITH, UNION, EXPAND = "Select", "With", "Union all", "Expand"

_SPLITS = re.compile(r", splits=\w+(\(\d+\))?")
"""Into how many parts Spark cuts a range, which depends on the machine."""
_LOOP = re.compile(r"(?<=UnionLoop) \d+|(?<=UnionLoopRef) \d+")
"""The number Spark gives to a recursion, another one each time."""

Terms = dict[int, Term]
Subplan = Callable[[Node, Mapping[int, Term]], str]


@dataclass(eq=False)
class Relation:
    """Rows made of inputs; `fixed` terms are ordered, `bag` is a set, `rows` are lists along `columns`."""

    kind: str
    detail: str = ""
    inputs: list[Relation] = field(default_factory=list)
    unordered: bool = False
    fixed: tuple[Term, ...] = ()
    bag: list[Term] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    rows: list[tuple[Term, ...]] = field(default_factory=list)
    """UNION: what each input gives to each column; EXPAND: what each projection does."""
    whole: bool = False
    """Every column counts, whether it is used or not."""

    def column(self, name: str, type: str, *defined: Term) -> Column:
        made = Column("Column", type=type, name=name, owner=self, defined=defined)
        self.columns.append(made)
        return made


class Relations:
    """Reads plans; `outer` are columns of the query around a subquery."""

    def __init__(self, subplan: Subplan, outer: Mapping[int, Term]) -> None:
        self._subplan = subplan
        self._outer = outer

    def of(self, node: Node) -> tuple[Relation, Terms]:
        """The relation, and the term of each column the node puts out."""
        if node.op in MARKERS:
            return self.of(node.children[0])
        for kind, reader in READERS:
            if isinstance(node, kind):
                return reader(self, node)
        return self._opaque(node)

    def _terms(self, expressions: tuple[Expr, ...], columns: Terms) -> tuple[Term, ...]:
        reader = Expressions({**self._outer, **columns}, self._subplan)
        return tuple(reader.of(e) for e in expressions)

    def _conditions(self, condition: Expr | None, columns: Terms) -> list[Term]:
        if condition is None:
            return []
        (term,) = self._terms((condition,), columns)
        return list(term.children) if term.op == "And" else [term]

    # -- leaves ----------------------------------------------------------------------------------------

    def scan(self, node: Scan) -> tuple[Relation, Terms]:
        """A table; its columns may be called by their names in any case, and no two differ in that only."""
        made = Relation("Scan", node.source)
        return made, {a.id: made.column(a.name.lower(), a.type) for a in node.output}

    def leaf(self, node: Constant | Foreign) -> tuple[Relation, Terms]:
        name = node.name if isinstance(node, Foreign) else ""
        rows = node.kind == "LocalRelation"
        text = node.text if rows else _LOOP.sub("", _SPLITS.sub("", renumbered(node.text)))
        if isinstance(node, Constant) and node.rows:
            text = node.rows
        made = Relation(node.kind, f"{name} {text}".strip())
        return made, {a.id: made.column(f"{i} {a.name}", a.type) for i, a in enumerate(node.output)}

    # -- rows kept one by one --------------------------------------------------------------------------

    def project(self, node: Project) -> tuple[Relation, Terms]:
        below, columns = self.of(node.child)
        terms = self._terms(node.exprs, columns)
        stay = [
            not e.deterministic or t.size > LARGEST_DISSOLVED for e, t in zip(node.exprs, terms, strict=True)
        ]
        if not any(stay):
            return below, {e.id: t for e, t in zip(node.exprs, terms, strict=True)}
        made = Relation("Compute", inputs=[below], whole=True)
        return made, {
            e.id: made.column(str(i), e.type, t) if kept else t
            for i, (e, t, kept) in enumerate(zip(node.exprs, terms, stay, strict=True))
        }

    def filter(self, node: Filter) -> tuple[Relation, Terms]:
        below, columns = self.of(node.child)
        made = _selection(below)
        made.bag += self._conditions(node.condition, columns)
        return made, columns

    def window(self, node: Window) -> tuple[Relation, Terms]:
        below, columns = self.of(node.child)
        made = below if below.kind == WITH else Relation(WITH, inputs=[below])
        peers = Term("Peers", self._terms(node.peers, columns))
        found = dict(columns)
        for named in node.exprs:
            (term,) = self._terms((named,), columns)
            found[named.id] = made.column("", named.type, term, *([peers] if peers.children else []))
        return made, found

    def passing(self, node: PassThrough) -> tuple[Relation, Terms]:
        below, columns = self.of(node.child)
        local = "per partition" if node.text.endswith("false") else ""
        detail = local if node.kind == "Sort" else renumbered(node.text)
        return Relation(node.kind, detail, [below], fixed=self._terms(node.exprs, columns)), columns

    def limited(self, node: Limited) -> tuple[Relation, Terms]:
        below, columns = self.of(node.child)
        return Relation(node.kind, inputs=[below], fixed=self._terms((node.count,), columns)), columns

    def generate(self, node: Generate) -> tuple[Relation, Terms]:
        below, columns = self.of(node.child)
        outer = "outer" if node.outer else ""
        made = Relation("Generate", outer, [below], fixed=self._terms((node.generator,), columns))
        return made, columns | {a.id: made.column(str(i), a.type) for i, a in enumerate(node.made)}

    # -- joins -----------------------------------------------------------------------------------------

    def join(self, node: Join) -> tuple[Relation, Terms]:
        if node.how == RIGHT:
            left, right, how = node.right, node.left, LEFT
        else:
            left, right, how = node.left, node.right, node.how
        if how not in (INNER, LEFT, FULL, SEMI, ANTI, EXISTENCE, SINGLE):
            return self._opaque(node)
        first, first_columns = self.of(left)
        second, second_columns = self.of(right)
        both = first_columns | second_columns
        conditions = self._conditions(node.condition, both)
        if how == INNER:
            made, other = _selection(first), _selection(second)
            made.inputs += other.inputs
            made.bag += [*other.bag, *conditions]
            return made, both
        if how in (SEMI, ANTI):
            made, tested = _selection(first), _selection(second)
            test = Relation(how, inputs=tested.inputs, unordered=True, bag=[*tested.bag, *conditions])
            made.inputs.append(test)
            return made, first_columns
        return self._outer_join(node, how, (first, first_columns), (second, second_columns), conditions)

    def _outer_join(
        self, node: Join, how: str, left: tuple[Relation, Terms], right: tuple[Relation, Terms],
        conditions: list[Term],
    ) -> tuple[Relation, Terms]:  # fmt: skip
        """What may be missing is a column of the join: NULL, whatever it was computed from."""
        made = Relation(f"{how} join", inputs=[left[0], right[0]], unordered=how == FULL, bag=conditions)
        known = left[1]
        if how == FULL:
            known = {id: made.column("", term.type, term) for id, term in left[1].items()}
        if how == EXISTENCE:
            found = {a.id: made.column("exists", a.type) for a in node.output if a.id not in known}
        else:
            found = {id: made.column("", term.type, term) for id, term in right[1].items()}
        return made, known | found

    # -- groups and bags -------------------------------------------------------------------------------

    def aggregate(self, node: Aggregate) -> tuple[Relation, Terms]:
        below, columns = self.of(node.child)
        keys = self._terms(node.grouping, columns)
        made = Relation("Aggregate", "" if keys else "of everything", [below], bag=list(keys))
        known: Terms = dict(columns)
        for expression, key in zip(node.grouping, keys, strict=True):
            if isinstance(expression, Attribute):
                known[expression.id] = made.column("key", expression.type, key)

        def result(call: Term) -> Term:
            return made.column("", call.type, call)

        # Inside a call, columns are those of the input; outside of it, those of the groups.
        inner = Expressions({**self._outer, **columns}, self._subplan)
        outer = _GroupExpressions({**self._outer, **known}, self._subplan, inner, result)
        return made, {named.id: outer.of(named) for named in node.exprs}

    def union(self, node: Union) -> tuple[Relation, Terms]:
        made = Relation(UNION, unordered=True)
        for child in node.children:
            below, columns = self.of(child)
            made.inputs.append(below)
            made.rows.append(self._terms(child.output, columns))
        for position, attribute in enumerate(node.output):
            made.column("", attribute.type, *(row[position] for row in made.rows))
        return made, {a.id: c for a, c in zip(node.output, made.columns, strict=True)}

    def expand(self, node: Expand) -> tuple[Relation, Terms]:
        below, columns = self.of(node.child)
        made = Relation(EXPAND, inputs=[below])
        made.rows = [self._terms(projection, columns) for projection in node.projections]
        for position, attribute in enumerate(node.output):
            made.column("", attribute.type, *(row[position] for row in made.rows))
        return made, {a.id: c for a, c in zip(node.output, made.columns, strict=True)}

    # -- everything else -------------------------------------------------------------------------------

    def _opaque(self, node: Node) -> tuple[Relation, Terms]:
        """Inputs as they are, column by column with their names; the node's own text with ids by place."""
        made = Relation(node.op, whole=True)
        columns: Terms = {}
        places: dict[int, str] = {}
        for number, child in enumerate(node.children):
            below, found = self.of(child)
            named = tuple(
                Term("Named", (term,), detail=a.name)
                for a, term in zip(child.output, self._terms(child.output, found), strict=True)
            )
            made.inputs.append(below)
            made.rows.append(named)
            places |= {a.id: f"{number}.{i}" for i, a in enumerate(child.output)}
            columns |= found
        out: Terms = {a.id: made.column(f"{i} {a.name}", a.type) for i, a in enumerate(node.output)}
        places = {a.id: f"out.{i}" for i, a in enumerate(node.output)} | places
        own: Terms = {a.id: Term("Output", type=a.type, detail=str(i)) for i, a in enumerate(node.output)}
        made.fixed = self._terms(node.expressions, own | columns)
        how = node.how if isinstance(node, Join) else ""
        made.detail = f"{how} {_LOOP.sub('', renumbered(getattr(node, 'text', ''), places))}".strip()
        return made, out


class _GroupExpressions(Expressions):
    """Expressions over groups, whose aggregate calls are over rows."""

    def __init__(
        self, columns: Mapping[int, Term], subplan: Subplan, rows: Expressions, result: Callable[[Term], Term]
    ) -> None:
        super().__init__(columns, subplan, result)
        self._rows = rows

    def _call(self, call: AggregateCall) -> Term:
        return self._rows.of(call)


def _selection(relation: Relation) -> Relation:
    """The relation as a selection that may be added to."""
    if relation.kind == SELECTION:
        return relation
    return Relation(SELECTION, inputs=[relation], unordered=True)


READERS: tuple[tuple[type[Node], Callable[[Relations, Any], tuple[Relation, Terms]]], ...] = (
    (Scan, Relations.scan),
    (Constant, Relations.leaf),
    (Foreign, Relations.leaf),
    (Project, Relations.project),
    (Filter, Relations.filter),
    (Window, Relations.window),
    (PassThrough, Relations.passing),
    (Limited, Relations.limited),
    (Generate, Relations.generate),
    (Join, Relations.join),
    (Aggregate, Relations.aggregate),
    (Union, Relations.union),
    (Expand, Relations.expand),
)
