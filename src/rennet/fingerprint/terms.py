"""Expressions in canonical form: what is written differently and computes the same becomes equal.

A term names columns by the relation that makes them, never by Spark's ids. Where operands may be swapped
the term says so, and their order is settled only when it is written down. Anything not understood keeps
Spark's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rennet.plan.expressions import AggregateCall, Alias, Attribute, Carried, Expr, Subquery

if TYPE_CHECKING:
    from rennet.fingerprint.relations import Relation
    from rennet.plan.ir import Node

SPELLINGS = {
    "and": "And", "or": "Or", "not": "Not", "=": "EqualTo", "<=>": "EqualNullSafe", "<": "LessThan",
    "<=": "LessThanOrEqual", ">": "GreaterThan", ">=": "GreaterThanOrEqual", "+": "Add", "*": "Multiply",
}  # fmt: skip
"""Functions rennet writes, under Catalyst's names for them."""
FLIPPED = {"GreaterThan": "LessThan", "GreaterThanOrEqual": "LessThanOrEqual"}
OPPOSITE = {"LessThan": "LessThanOrEqual", "LessThanOrEqual": "LessThan"}
SWAPPABLE = {"EqualTo", "EqualNullSafe", "Add", "Multiply", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}
"""Of two operands, in any order. Longer sums are left alone: overflow and rounding depend on the order."""
JUNCTIONS = {"And": "Or", "Or": "And"}
"""Of any number of operands, in any order, each counting once; and what negation makes of them."""
PLAIN = {"EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "Not", "IsNull", "IsNotNull", "Coalesce",
         "WindowExpression"}  # fmt: skip
"""Nothing but a function of their operands, so that their text says nothing more."""
SEEDED = {"Rand", "Randn", "Uuid", "Shuffle", "RandStr", "Uniform"}
"""Random functions; a seed that Spark makes up is another one at every analysis."""
PYTHON = {"PythonUDF", "PythonUDAF", "PythonUDTF"}
CODED = {*PYTHON, "ScalaUDF"}
"""Functions whose text the reader ends with what tells their code apart."""
INDIFFERENT_TO_DISTINCT = {"Max", "Min", "BoolAnd", "BoolOr"}
NULL = '["null", true]'
INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}

_ID = re.compile(r"#(\d+)L?")
_COMMON = re.compile(r"_common_expr_\d+")
_COMMON_ID = re.compile(r"CommonExpressionId\((\d+)")
_SEED = re.compile(r"-?\d{11,}")
_ZONE = re.compile(r"\|Some\([^)]*\)")
_TEMPORAL = ("date", "time", "interval", "variant")
_ADDRESS = re.compile(r"@[0-9a-f]{5,8}\b")
"""Where an object lies in the JVM's memory."""


@dataclass(eq=False)
class Term:
    """A function of its children; `unordered` children may be swapped, `unique` ones count once."""

    op: str
    children: tuple[Term, ...] = ()
    type: str = ""
    detail: str = ""
    unordered: bool = False
    unique: bool = False
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = 1 + sum(child.size for child in self.children)


@dataclass(eq=False)
class Column(Term):
    """A column that a relation makes: `name` is its own, `defined` what it is computed from, if anything."""

    name: str = ""
    owner: Relation | None = None
    defined: tuple[Term, ...] = ()


def written(term: Term, named: Callable[[Column], str]) -> str:
    """The term as text, with columns as `named` calls them."""
    if isinstance(term, Column):
        return named(term)
    parts = [written(child, named) for child in term.children]
    if term.unique:
        parts = list(dict.fromkeys(parts))
    if term.unordered:
        parts.sort()
    if term.unique and term.op in JUNCTIONS and len(parts) == 1:
        return parts[0]
    head = term.op + (f"[{term.detail}]" if term.detail else "")
    kind = f":{term.type}" if term.type not in ("", "boolean") else ""
    return f"{head}({', '.join(parts)}){kind}"


class Expressions:
    """Reads expressions over known columns."""

    def __init__(
        self,
        columns: Mapping[int, Term],
        subplan: Callable[[Node, Mapping[int, Term]], str],
        aggregated: Callable[[Term], Term] | None = None,
    ) -> None:
        self._columns = columns
        self._subplan = subplan
        self._aggregated = aggregated
        self._variables: dict[int, str] = {}
        self._common: dict[str, Term] = {}
        self._depth = 0

    def of(self, expression: Expr) -> Term:
        if isinstance(expression, Attribute):
            return self._column(expression.id, expression.name, expression.type)
        if isinstance(expression, Alias):
            return self.of(expression.child)
        if isinstance(expression, Carried) and expression.before is not None:
            return self.of(expression.before)  # what the stored rows were made with
        if isinstance(expression, AggregateCall):
            made = self._call(expression)
            return made if self._aggregated is None else self._aggregated(made)
        if isinstance(expression, Subquery) and expression.plan is not None:
            return self._subquery(expression, expression.plan)
        if expression.op == "Literal":
            value = expression.state or expression.text
            text = json.dumps([value, expression.nullable], ensure_ascii=False)
            return Term("Literal", type=expression.type, detail=text)
        if expression.op == "OuterReference":
            return self._outer(expression)
        if expression.op == "CommonExpressionRef":
            return self._common[_common_id(expression)]
        if expression.op == "With":
            return self._with(expression)
        if expression.op == "NamedLambdaVariable":
            return Term("Variable", type=expression.type, detail=self._variable(expression))
        if expression.op == "LambdaFunction":
            return self._lambda(expression)
        return self._function(expression)

    # -- leaves ----------------------------------------------------------------------------------------

    def _column(self, id: int, name: str, type: str) -> Term:
        found = self._columns.get(id)
        # An id nobody made: kept as it is, which at worst makes equal queries look different.
        return found if found is not None else Term("Unknown", type=type, detail=f"{name}#{id}")

    def _outer(self, expression: Expr) -> Term:
        found = _ID.search(expression.text)
        return self._column(int(found[1]) if found else -1, expression.text, expression.type)

    def _variable(self, expression: Expr) -> str:
        found = _ID.search(expression.text)
        return self._variables.get(int(found[1]), expression.text) if found else expression.text

    def _lambda(self, expression: Expr) -> Term:
        """Variables are named by how deep and at which place they are bound."""
        self._depth += 1
        body, *arguments = expression.children
        for position, argument in enumerate(arguments):
            found = _ID.search(argument.text)
            if found:
                self._variables[int(found[1])] = f"{self._depth}.{position}"
        made = Term("Lambda", tuple(self.of(e) for e in (body, *arguments)), expression.type)
        self._depth -= 1
        return made

    def _with(self, expression: Expr) -> Term:
        """Common expressions are written out where they are used, as the optimizer would do."""
        body, *definitions = expression.children
        for definition in definitions:
            self._common[_common_id(definition)] = self.of(definition.children[0])
        return self.of(body)

    def _subquery(self, expression: Subquery, plan: Node) -> Term:
        """What its plan reads from outside is known by its place among the outer expressions."""
        children = tuple(self.of(child) for child in expression.children)
        outer: dict[int, Term] = {}
        for child in expression.children:
            for id in sorted(child.references):
                outer.setdefault(id, Term("Outer", detail=str(len(outer))))
        read = tuple(self._column(id, "", "") for id in outer)
        text = json.dumps([renumbered(_residue(expression)), self._subplan(plan, outer)], ensure_ascii=False)
        return Term(expression.op, (*children, *read), expression.type, text)

    # -- functions -------------------------------------------------------------------------------------

    def _call(self, call: AggregateCall) -> Term:
        children = tuple(self.of(child) for child in call.children)
        distinct = call.distinct and call.op not in INDIFFERENT_TO_DISTINCT
        detail = _residue(call) + (" DISTINCT" if distinct else "")
        if call.condition is not None:
            children = (*children, Term("Where", (self.of(call.condition),)))
        return Term(call.op, children, call.type, detail)

    def _function(self, expression: Expr) -> Term:
        op = SPELLINGS.get(expression.op, expression.op)
        if op in JUNCTIONS:
            return self._junction(op, expression)
        children = tuple(self.of(child) for child in expression.children)
        if op == "SQLScalarFunction":
            return children[-1]  # its body, which reads the arguments
        if op == "TypedNullLiteral":
            return Term("Literal", type=expression.type, detail=NULL)
        if _is_replaced(expression):
            return children[0]
        if op == "Not":
            return _negation(children[0])
        if op in FLIPPED:
            return Term(FLIPPED[op], children[::-1], expression.type)
        if op in ("If", "CaseWhen"):
            return _case(children, expression.type)
        if op == "In":
            return _membership(children, expression.type)
        if op == "Cast":
            return _cast(expression, children[0])
        if op in PYTHON:
            return Term(op, children, expression.type, expression.state or expression.text)
        if op in SEEDED and _has_made_up_seed(expression):
            return _unseeded(op, expression, children)
        if op == "WindowSpecDefinition":
            return _window(expression, children)
        detail = "" if op in PLAIN else _residue(expression)
        return Term(op, children, expression.type, detail, unordered=op in SWAPPABLE)

    def _junction(self, op: str, expression: Expr) -> Term:
        parts = tuple(self.of(child) for child in expression.children)
        flat = tuple(x for part in parts for x in (part.children if part.op == op else (part,)))
        return Term(op, flat, expression.type, unordered=True, unique=expression.deterministic)


def _negation(term: Term) -> Term:
    """NOT, moved inwards; every step holds for NULL and for NaN, which Spark orders above all numbers."""
    if term.op == "Not":
        return term.children[0]
    if term.op in JUNCTIONS:
        parts = tuple(_negation(child) for child in term.children)
        return Term(JUNCTIONS[term.op], parts, term.type, unordered=True, unique=term.unique)
    if term.op in OPPOSITE:
        return Term(OPPOSITE[term.op], term.children[::-1], term.type)
    if term.op in ("IsNull", "IsNotNull"):
        return Term("IsNotNull" if term.op == "IsNull" else "IsNull", term.children, term.type)
    return Term("Not", (term,), "boolean")


def _case(children: tuple[Term, ...], type: str) -> Term:
    """IF is a CASE; without ELSE it is NULL."""
    if len(children) % 2 and _is_null(children[-1]):
        children = children[:-1]
    return Term("CaseWhen", children, type)


def _is_null(term: Term) -> bool:
    while term.op == "Cast":
        term = term.children[0]
    return term.op == "Literal" and term.detail == NULL


def _is_replaced(expression: Expr) -> bool:
    """Does Spark run its only operand in its stead?

    Such a function keeps the arguments it was written with beside what it became. The optimizer drops it
    everywhere but in subqueries. Where the arguments hold no column it stays: fingerprints made so far
    have it.
    """
    if len(expression.children) != 1 or not expression.state:
        return False
    written, _, replacement = expression.state.rpartition("|" + _words(expression.children[0]))
    return not replacement and bool(_ID.search(written))


def _common_id(expression: Expr) -> str:
    found = _COMMON_ID.search(expression.state or expression.text)
    return found[1] if found else expression.text


def _membership(children: tuple[Term, ...], type: str) -> Term:
    """x IN (a) is x = a; the order and repetition of the list mean nothing."""
    if len(children) == 2:
        return Term("EqualTo", children, type, unordered=True)
    values = Term("List", children[1:], unordered=True, unique=True)
    return Term("In", (children[0], values), type)


def _cast(expression: Expr, child: Term) -> Term:
    if child.type == expression.type:
        return child
    wide, narrow = INTEGERS.get(expression.type, 0), INTEGERS.get(child.type, 0)
    if child.op == "Literal" and narrow and wide > narrow and not _is_null(child):
        return Term("Literal", type=expression.type, detail=child.detail)
    detail = _residue(expression)
    if not any(word in f"{child.type} {expression.type}" for word in _TEMPORAL):
        detail = _ZONE.sub("", detail)  # Spark gives every cast the time zone, whether it needs it or not
    return Term("Cast", (child,), expression.type, detail)


def _has_made_up_seed(expression: Expr) -> bool:
    """Spark's own seeds are any 64 bits; those of people are short, or at least said not to be hidden."""
    return expression.state.endswith("|true") or bool(_SEED.search(expression.state))


def _unseeded(op: str, expression: Expr, children: tuple[Term, ...]) -> Term:
    """The random function without its seed, which is its last operand or an option."""
    option = "Some(" in expression.state
    return Term(op, children if option else children[:-1], expression.type, "any seed")


def _window(expression: Expr, children: tuple[Term, ...]) -> Term:
    """PARTITION BY is a set; orders and the frame are told apart from it by their ops."""
    kinds = [child.op for child in expression.children]
    keys = tuple(c for c, k in zip(children, kinds, strict=True) if k not in ("SortOrder", *FRAMES))
    rest = tuple(c for c, k in zip(children, kinds, strict=True) if k in ("SortOrder", *FRAMES))
    return Term("Over", (Term("PartitionBy", keys, unordered=True, unique=True), *rest))


FRAMES = ("SpecifiedWindowFrame", "UnspecifiedFrame$", "UnspecifiedFrame")


def _residue(expression: Expr) -> str:
    """What Spark says of it without its children, which are written on their own.

    If a child cannot be found in it, or the expression was rebuilt, it stays whole.
    """
    text = _ADDRESS.sub("", expression.state or expression.text)
    if expression.rebuilt:
        return renumbered(text)
    made, at = [], 0
    for child in expression.children:
        words = _words(child)
        found = text.find(words, at) if words else -1
        if found < 0:
            return renumbered(text)
        made.append(text[at:found])
        at = found + len(words)
    return "·".join([*made, text[at:]])  # no ids are left: what looks like one is an option of the user's


def _words(expression: Expr) -> str:
    """How Spark writes it inside of other expressions."""
    if isinstance(expression, Attribute):
        long = "L" if expression.type == "bigint" else ""
        return f"{expression.name}#{expression.id}{long}"
    if isinstance(expression, Carried):
        return expression.after.text if expression.after is not None else ""
    if expression.op in CODED:
        return expression.text.rpartition(" code ")[0]
    if isinstance(expression, AggregateCall) and expression.condition is not None:
        return f"{expression.text} FILTER (WHERE {_words(expression.condition)})"
    return "" if isinstance(expression, Alias) else expression.text


def renumbered(text: str, known: Mapping[int, str] | None = None) -> str:
    """Spark's own words, its ids replaced by what is known of them, or by the order they appear in."""
    numbers: dict[str, str] = {}

    def place(found: re.Match[str]) -> str:
        name = known.get(int(found[1])) if known else None
        return f"#{name}" if name else numbers.setdefault(found[1], f"#{len(numbers)}")

    return _ID.sub(place, _COMMON.sub("_common_expr", text))
