"""What rennet's expressions mean, without Spark: values, three-valued logic, ANSI arithmetic.

Values are Python's own: int, str, bool, and None for NULL; DECIMAL and DOUBLE are Fractions, so that two
formulas that should agree agree exactly. What overflows or divides by zero fails.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from rennet.errors import PlanError, RennetError
from rennet.plan.expressions import AFTER, BEFORE, AggregateCall, Alias, Attribute, Carried, Expr

MOMENTS = {BEFORE: 0, AFTER: 1}
"""Time is a whole number here, and one passes between two refreshes."""
Value = Any
"""None, bool, int, str or Fraction."""
Row = tuple[Value, ...]
Bag = Counter[Row]
"""How many times each row is there."""


class EvaluationError(RennetError):
    """A query that fails on its data, as Spark would under ANSI rules."""

    code = "EVALUATION_FAILED"


def bag(rows: Iterable[Row] = ()) -> Bag:
    return Counter(rows)


def nulls_first(row: Row) -> Row:
    """What a row, or a struct, is compared by with others of its type."""
    return tuple((value is not None, value) if value is not None else (False,) for value in row)


# -- expressions ----------------------------------------------------------------------------------------

Compiled = Callable[[Any], Value]
"""A value from what an expression is over: a row, or the bag of rows of a group."""
Lookup = Callable[[Expr], Compiled | None]
Meaning = Callable[[Expr, list[Compiled]], Compiled]
"""How a function is computed, given how its arguments are."""


def _compiled(expression: Expr, lookup: Lookup) -> Compiled:
    found = lookup(expression)
    if found is not None:
        return found
    if isinstance(expression, Alias):
        return _compiled(expression.child, lookup)
    meaning = FUNCTIONS.get(expression.op)
    if meaning is None:
        raise PlanError(f"the evaluator of bags does not know the function {expression.op}")
    return meaning(expression, [_compiled(child, lookup) for child in expression.children])


def _position(column: Attribute, columns: tuple[Attribute, ...]) -> int:
    for i, found in enumerate(columns):
        if found.id == column.id:
            return i
    raise PlanError(f"column {column.name}#{column.id} is not in the input")


def over_rows(expression: Expr, columns: tuple[Attribute, ...]) -> Compiled:
    def lookup(part: Expr) -> Compiled | None:
        return operator.itemgetter(_position(part, columns)) if isinstance(part, Attribute) else None

    return _compiled(expression, lookup)


def over_groups(expression: Expr, columns: tuple[Attribute, ...]) -> Compiled:
    """Outside of aggregates all rows of a group have the same values, so any row will do."""

    def lookup(part: Expr) -> Compiled | None:
        if isinstance(part, Attribute):
            position = _position(part, columns)
            return lambda group: next(iter(group))[position]
        if isinstance(part, AggregateCall) or part.op in AGGREGATES:
            return aggregated(part, columns)
        return None

    return _compiled(expression, lookup)


def aggregated(aggregate: Expr, columns: tuple[Attribute, ...]) -> Compiled:
    function = AGGREGATES.get(aggregate.op)
    if function is None:
        raise PlanError(f"the evaluator of bags does not know the aggregate {aggregate.op}")
    arguments = [over_rows(child, columns) for child in aggregate.children]
    condition = aggregate.condition if isinstance(aggregate, AggregateCall) else None
    test = (lambda row: True) if condition is None else over_rows(condition, columns)
    distinct = isinstance(aggregate, AggregateCall) and aggregate.distinct

    def compute(group: Bag) -> Value:
        found: Bag = Counter()
        for row, copies in group.items():
            if test(row) is True:
                found[tuple(argument(row) for argument in arguments)] += copies
        rows = list(found) if distinct else list(found.elements())
        return convert(function([row for row in rows if None not in row]), aggregate.type)

    return compute


# -- aggregate functions: of the argument tuples without NULLs --------------------------------------------


def _sum(rows: list[Row]) -> Value:
    return sum(row[0] for row in rows) if rows else None


def _average(rows: list[Row]) -> Value:
    return Fraction(sum(row[0] for row in rows)) / len(rows) if rows else None


def _place(value: Value) -> Value:
    return nulls_first(value) if isinstance(value, tuple) else value


def _covariance(fewer: int) -> Callable[[list[Row]], Value]:
    """Σ (x − x̄)(y − ȳ) / (n − fewer); with one argument, the variance."""

    def compute(rows: list[Row]) -> Value:
        if len(rows) <= fewer:
            return None
        xs, ys = ([Fraction(row[i]) for row in rows] for i in (0, -1))
        x, y = sum(xs) / len(xs), sum(ys) / len(ys)
        return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / (len(rows) - fewer)

    return compute


AGGREGATES: dict[str, Callable[[list[Row]], Value]] = {
    **dict.fromkeys(("sum", "Sum"), _sum),
    **dict.fromkeys(("count", "Count"), len),
    **dict.fromkeys(("avg", "Average"), _average),
    **dict.fromkeys(("min", "Min"), lambda rows: min((r[0] for r in rows), default=None, key=_place)),
    **dict.fromkeys(("max", "Max"), lambda rows: max((r[0] for r in rows), default=None, key=_place)),
    "max_by": lambda rows: max(rows, default=(None,), key=lambda row: _place(row[1]))[0],
    **dict.fromkeys(("every", "BoolAnd"), lambda rows: all(row[0] for row in rows) if rows else None),
    **dict.fromkeys(("some", "BoolOr"), lambda rows: any(row[0] for row in rows) if rows else None),
    "VariancePop": _covariance(0),
    "VarianceSamp": _covariance(1),
    "CovPopulation": _covariance(0),
    "CovSample": _covariance(1),
}


# -- functions: by the SQL name rennet writes and the name Catalyst gives them ----------------------------


def _strict(function: Callable[..., Value]) -> Meaning:
    """NULL in, NULL out."""

    def meaning(expression: Expr, arguments: list[Compiled]) -> Compiled:
        def compute(over: Any) -> Value:
            values = [argument(over) for argument in arguments]
            return None if None in values else function(*values)

        return compute

    return meaning


def _lenient(function: Callable[..., Value]) -> Meaning:
    """NULL is a value like any other."""

    def meaning(expression: Expr, arguments: list[Compiled]) -> Compiled:
        return lambda over: function(*(argument(over) for argument in arguments))

    return meaning


def _both(expression: Expr, arguments: list[Compiled]) -> Compiled:
    def compute(over: Any) -> Value:
        values = [argument(over) for argument in arguments]
        return False if False in values else None if None in values else True

    return compute


def _either(expression: Expr, arguments: list[Compiled]) -> Compiled:
    def compute(over: Any) -> Value:
        values = [argument(over) for argument in arguments]
        return True if True in values else None if None in values else False

    return compute


def _case(expression: Expr, arguments: list[Compiled]) -> Compiled:
    """Condition, value, condition, value, …, and what else; only the value that is taken is computed."""
    branches = list(zip(arguments[:-1:2], arguments[1::2], strict=False))
    otherwise = arguments[-1] if len(arguments) % 2 else lambda over: None

    def compute(over: Any) -> Value:
        taken = (value for condition, value in branches if condition(over) is True)
        return next(taken, otherwise)(over)

    return compute


def _coalesce(expression: Expr, arguments: list[Compiled]) -> Compiled:
    def compute(over: Any) -> Value:
        values = (argument(over) for argument in arguments)
        return next((value for value in values if value is not None), None)

    return compute


def _in(expression: Expr, arguments: list[Compiled]) -> Compiled:
    equal = [_strict(operator.eq)(expression, [arguments[0], other]) for other in arguments[1:]]
    return _either(expression, equal)


def _divide(a: Value, b: Value) -> Value:
    if b == 0:
        raise EvaluationError("division by zero")
    return Fraction(a) / Fraction(b)


def _literal(expression: Expr, arguments: list[Compiled]) -> Compiled:
    value = convert(ast.literal_eval(expression.text), expression.type)
    return lambda over: value


def _carried(expression: Expr, arguments: list[Compiled]) -> Compiled:
    assert isinstance(expression, Carried)
    return _literal(expression.value, arguments)


def _cast(expression: Expr, arguments: list[Compiled]) -> Compiled:
    (argument,) = arguments
    return lambda over: convert(argument(over), expression.type)


def _default(expression: Expr, arguments: list[Compiled]) -> Compiled:
    zero = "" if expression.type == "string" else convert(0, expression.type)
    value = None if expression.nullable else zero
    return lambda over: value


FUNCTIONS: dict[str, Meaning] = {
    **dict.fromkeys(("=", "==", "EqualTo"), _strict(operator.eq)),
    **dict.fromkeys(("<=>", "EqualNullSafe"), _lenient(operator.eq)),
    **dict.fromkeys(("<", "LessThan"), _strict(operator.lt)),
    **dict.fromkeys(("<=", "LessThanOrEqual"), _strict(operator.le)),
    **dict.fromkeys((">", "GreaterThan"), _strict(operator.gt)),
    **dict.fromkeys((">=", "GreaterThanOrEqual"), _strict(operator.ge)),
    **dict.fromkeys(("in", "In"), _in),
    **dict.fromkeys(("and", "And"), _both),
    **dict.fromkeys(("or", "Or"), _either),
    **dict.fromkeys(("not", "Not"), _strict(operator.not_)),
    **dict.fromkeys(("isnull", "IsNull"), _lenient(lambda a: a is None)),
    **dict.fromkeys(("isnotnull", "IsNotNull"), _lenient(lambda a: a is not None)),
    **dict.fromkeys(("coalesce", "Coalesce"), _coalesce),
    **dict.fromkeys(("if", "If", "CaseWhen"), _case),
    **dict.fromkeys(("+", "Add", "Shift"), _strict(operator.add)),
    **dict.fromkeys(("-", "Subtract"), _strict(operator.sub)),
    **dict.fromkeys(("*", "Multiply"), _strict(operator.mul)),
    **dict.fromkeys(("/", "Divide"), _strict(_divide)),
    **dict.fromkeys(("negative", "UnaryMinus"), _strict(operator.neg)),
    **dict.fromkeys(("abs", "Abs"), _strict(abs)),
    **dict.fromkeys(("greatest", "Greatest"), _lenient(lambda *v: max(_present(v), default=None))),
    **dict.fromkeys(("least", "Least"), _lenient(lambda *v: min(_present(v), default=None))),
    **dict.fromkeys(("upper", "Upper"), _strict(str.upper)),
    **dict.fromkeys(("concat", "Concat"), _strict(lambda *v: "".join(v))),
    **dict.fromkeys(("array", "CreateArray"), _lenient(lambda *v: v)),
    **dict.fromkeys(("xxhash64", "XxHash64"), _lenient(lambda *v: hash(v))),
    "Literal": _literal,
    "Cast": _cast,
    "DefaultValue": _default,
    "named_struct": _lenient(lambda *v: v[1::2]),
    "Field": lambda expression, arguments: _strict(lambda v: v[int(expression.text[2:-1])])(
        expression, arguments
    ),
    "Carried": _carried,
    "Moment": lambda expression, arguments: lambda row: MOMENTS[expression.text],
}


def _present(values: tuple[Value, ...]) -> list[Value]:
    return [value for value in values if value is not None]


# -- types ------------------------------------------------------------------------------------------------

WHOLE = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
MAKERS: dict[str, Callable[[Value], Value]] = {
    "boolean": lambda value: value == "true" if isinstance(value, str) else bool(value),
    "double": Fraction,
    "float": Fraction,
    "string": lambda value: str(value).lower() if isinstance(value, bool) else str(value),
}


def convert(value: Value, type: str) -> Value:
    """ANSI's cast; a type that is not modelled leaves the value as it is."""
    if value is None:
        return None
    if type in WHOLE:
        most = 2 ** WHOLE[type]
        return _fitting(int(value), -most, most - 1, type)
    found = DECIMAL.fullmatch(type)
    if found:
        precision, scale = int(found[1]), int(found[2])
        rounded = _half_up(Fraction(value) * Fraction(10) ** scale)
        most = 10**precision - 1
        return _fitting(rounded, -most, most, type) / Fraction(10) ** scale
    return MAKERS[type](value) if type in MAKERS else value


def _half_up(value: Fraction) -> int:
    rounded = math.floor(abs(value) + Fraction(1, 2))
    return rounded if value > 0 else -rounded


def _fitting(value: int, least: int, most: int, type: str) -> int:
    if not least <= value <= most:
        raise EvaluationError(f"{value} does not fit a {type}")
    return value
