"""Stage 2: a hash that is equal when two definitions mean the same.

The plan is read into relations and terms (`relations`, `terms`), whose order is settled here: parts that may
be swapped are sorted, relations are numbered, and everything is written down as text. The hash of the text
is the fingerprint. However parts are sorted, the text says all there is to say, so equal texts mean equal
queries: sorting badly costs a recompute, never a wrong result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from rennet.fingerprint.relations import EXPAND, UNION, Relation, Relations
from rennet.fingerprint.terms import Column, Expressions, Term, written
from rennet.plan.ir import Node

VERSION = 2

SETTINGS = (
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.session.timeZone",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.mapKeyDedupPolicy",
)
"""Settings that change what a query means; each is part of a refresh's provenance."""


def canonical(plan: Node, names: tuple[str, ...]) -> str:
    """What a plan with columns of these names means, as lines that plans of the same meaning share."""
    return _text(plan, names, {})


def fingerprint(text: str) -> str:
    """The versioned hash of a canonical text."""
    return f"{VERSION}:{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def makings(plan: Node) -> tuple[str, ...]:
    """What each column of a plan is computed from, whatever other columns there are.

    Columns that are told apart only by where they are used may look alike, and filters are left out: this
    is for finding columns that may be the same, not for being sure.
    """
    relation, columns = Relations(_subplan, {}).of(plan)
    reader = Expressions(columns, _subplan)
    terms = [reader.of(attribute) for attribute in plan.output]
    shape = _Writer(relation, terms).shape
    return tuple(f"{written(term, shape)}:{term.type}" for term in terms)


def _text(plan: Node, names: tuple[str, ...], outer: Mapping[int, Term]) -> str:
    relation, columns = Relations(_subplan, outer).of(plan)
    reader = Expressions({**outer, **columns}, _subplan)
    return _Writer(relation, [reader.of(a) for a in plan.output]).text(names)


def _subplan(plan: Node, outer: Mapping[int, Term]) -> str:
    return _text(plan, tuple(a.name for a in plan.output), outer)


class _Writer:
    """Settles the order of everything in one plan and writes it down."""

    def __init__(self, root: Relation, outputs: list[Term]) -> None:
        self._root = root
        self._outputs = outputs
        self._shapes: dict[int, str] = {}
        self._levels: dict[int, int] = {}
        self._mentions: dict[int, frozenset[int]] = {}
        self._labels: dict[int, str] = {}
        self._keys: dict[int, str] = {}
        self._everything = list(_relations(root))
        self._used = self._find_used()

    def text(self, names: tuple[str, ...]) -> str:
        self._settle(self._root)
        lines = [
            f"{_quoted(name)} {term.type} = {written(term, self._name)}"
            for name, term in zip(names, self._outputs, strict=True)
        ]
        return "\n".join([*lines, *self._lines(self._root, "")])

    # -- what counts -----------------------------------------------------------------------------------

    def _find_used(self) -> set[int]:
        used: set[int] = set()
        pending = [*self._outputs, *(t for each in self._everything for t in _always(each))]
        while pending:
            term = pending.pop()
            if isinstance(term, Column):
                if id(term) in used:
                    continue
                used.add(id(term))
                pending += term.defined
            pending += term.children
        return used

    def _columns(self, relation: Relation) -> list[Column]:
        """The columns that count, in the order they are written: by what they are, dependencies first."""
        found = [c for c in relation.columns if relation.whole or id(c) in self._used]
        if any(c.name for c in found) and relation.kind == "Scan":
            return sorted(found, key=lambda c: c.name)
        return sorted(found, key=lambda c: (self._level(c), self.shape(c)))

    def _level(self, column: Column) -> int:
        known = self._levels.get(id(column))
        if known is None:
            below = [c for d in column.defined for c in _mentioned(d) if c.owner is column.owner]
            known = self._levels[id(column)] = 1 + max((self._level(c) for c in below), default=-1)
        return known

    # -- sorting without names -------------------------------------------------------------------------

    def shape(self, part: Relation | Column) -> str:
        """A hash of what it is made of, whatever stands around it; twins in a plan share it."""
        known = self._shapes.get(id(part))
        if known is None:
            made = self._column_shape(part) if isinstance(part, Column) else self._relation_shape(part)
            known = self._shapes[id(part)] = _short(made)
        return known

    def _column_shape(self, column: Column) -> list[object]:
        assert column.owner is not None
        defined = [written(d, self.shape) for d in column.defined]
        return [self.shape(column.owner), column.name, sorted(defined)]

    def _relation_shape(self, relation: Relation) -> list[object]:
        inputs = [self.shape(each) for each in relation.inputs]
        rows = [[written(t, self.shape) for t in row] for row in relation.rows] if relation.whole else []
        return [
            relation.kind,
            relation.detail,
            sorted(inputs) if relation.unordered else inputs,
            [written(t, self.shape) for t in relation.fixed],
            sorted({written(t, self.shape) for t in relation.bag}),
            rows,
        ]

    def _uses(self, relation: Relation) -> list[str]:
        """How the rest of the plan uses its columns: what tells twins apart."""
        own = {id(c) for each in _relations(relation) for c in each.columns}

        def named(column: Column) -> str:
            return f"@{column.name}{self.shape(column)}" if id(column) in own else self.shape(column)

        sites = [(f"output {i}", term) for i, term in enumerate(self._outputs)]
        for each in self._everything:
            sites += [(each.kind, t) for t in _always(each)]
            sites += [(each.kind, d) for c in each.columns for d in c.defined]
        return sorted(
            f"{where} {written(term, named)}"
            for where, term in sites
            if not own.isdisjoint(self._columns_in(term))
        )

    def _columns_in(self, term: Term) -> frozenset[int]:
        """The columns a term mentions, by id; asked for once for each relation, so it is remembered."""
        known = self._mentions.get(id(term))
        if known is None:
            known = self._mentions[id(term)] = frozenset(map(id, _mentioned(term)))
        return known

    def _settle(self, relation: Relation) -> None:
        """Sort the inputs, and number relations from the top."""
        self._labels[id(relation)] = f"r{len(self._labels)}"
        if relation.unordered and len(relation.inputs) > 1:
            self._sort(relation)
        for each in relation.inputs:
            self._settle(each)

    def _sort(self, relation: Relation) -> None:
        shapes = [self.shape(each) for each in relation.inputs]
        rows = relation.rows or [()] * len(shapes)
        columns = self._columns(relation)
        keys: list[tuple[object, ...]] = []
        for number, each in enumerate(relation.inputs):
            row = [written(c.defined[number], self.shape) for c in columns] if relation.kind == UNION else []
            twin = shapes.count(shapes[number]) > 1 and relation.kind != UNION
            keys.append((shapes[number], row, self._uses(each) if twin else []))
        order = sorted(range(len(shapes)), key=lambda number: keys[number])
        if relation.kind == UNION:
            for column in relation.columns:
                column.defined = tuple(column.defined[number] for number in order)
        relation.inputs = [relation.inputs[number] for number in order]
        relation.rows = [rows[number] for number in order]

    # -- writing ---------------------------------------------------------------------------------------

    def _name(self, column: Column) -> str:
        assert column.owner is not None
        if id(column) not in self._keys:
            self._assign(column.owner)
        return f"{self._labels[id(column.owner)]}.{self._keys[id(column)]}"

    def _assign(self, relation: Relation) -> None:
        """Give the columns of a relation their names; those that are computed alike share one."""
        known: dict[tuple[str, ...], str] = {}
        for column in self._columns(relation):
            if column.defined and not relation.whole:
                defined = tuple(written(d, self._name) for d in column.defined)
                self._keys[id(column)] = known.setdefault((column.name, *defined), f"c{len(known)}")
            else:
                self._keys[id(column)] = _quoted(column.name)

    def _lines(self, relation: Relation, indent: str) -> Iterator[str]:
        fixed = ", ".join(written(t, self._name) for t in relation.fixed)
        detail = f" {_quoted(relation.detail)}" if relation.detail else ""
        yield f"{indent}{self._labels[id(relation)]} {relation.kind}{detail}" + (
            f" ({fixed})" if fixed else ""
        )
        inner = indent + "  "
        for condition in sorted({written(t, self._name) for t in relation.bag}):
            yield f"{inner}by {condition}"
        yield from dict.fromkeys(f"{inner}{line}" for line in self._column_lines(relation))
        if relation.kind == EXPAND:
            yield from (f"{inner}| {row}" for row in sorted(self._rows(relation)))
        for number, each in enumerate(relation.inputs):
            if relation.kind == UNION or (relation.whole and relation.rows):
                yield f"{inner}| {self._rows(relation)[number]}"
            yield from self._lines(each, inner)

    def _column_lines(self, relation: Relation) -> Iterator[str]:
        for column in self._columns(relation):
            name = self._name(column)
            if not column.defined or relation.kind in (UNION, EXPAND):
                yield f"{name} {column.type}"
            else:
                yield f"{name} = {', '.join(written(d, self._name) for d in column.defined)}"

    def _rows(self, relation: Relation) -> list[str]:
        """What each input of a union, or each projection, gives to the columns."""
        if relation.whole:
            return [", ".join(written(t, self._name) for t in row) for row in relation.rows]
        columns = {self._name(c): c for c in self._columns(relation)}.values()
        return [
            ", ".join(written(c.defined[number], self._name) for c in columns)
            for number in range(len(relation.rows))
        ]


def _always(relation: Relation) -> Iterator[Term]:
    """Terms that count whatever columns are used."""
    yield from relation.fixed
    yield from relation.bag
    if relation.whole:
        yield from (t for row in relation.rows for t in row)
        yield from (d for c in relation.columns for d in c.defined)


def _relations(relation: Relation) -> Iterator[Relation]:
    yield relation
    for each in relation.inputs:
        yield from _relations(each)


def _mentioned(term: Term) -> Iterator[Column]:
    if isinstance(term, Column):
        yield term
    for child in term.children:
        yield from _mentioned(child)


def _short(made: object) -> str:
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()[:16]


def _quoted(text: str) -> str:
    """On one line, and told apart from the words around it."""
    return text if text.isidentifier() else json.dumps(text, ensure_ascii=False)
