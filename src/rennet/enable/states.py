"""Stage 3: aggregates that can be kept up to date by adding to sums, or by comparing with an extreme.

Each such aggregate is a formula over *states*. A state is the sum, over a group's rows, of a value that
is never NULL: `full` adds it up over rows, `delta` over changes with their weights. So the state after a
refresh is the state before plus the delta's, whatever the changes were; NULLs are handled by counting
the rows that have a value, which is why a SUM that lost its last value is NULL and not 0.

An extreme is kept by comparing: what came may beat it, and only a group that lost a row as good as it, with
nothing as good come in its place, has to be looked at again.

Only exact types are summed this way. Sums of FLOAT and DOUBLE would drift; their groups are recomputed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rennet.plan.expressions import (
    AggregateCall,
    Alias,
    Attribute,
    Expr,
    alias,
    call,
    cast,
    conjunction,
    literal,
)

WHOLE_NUMBERS = {"tinyint", "smallint", "int", "bigint"}
SMALL_NUMBERS = {"tinyint", "smallint", "int"}
DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
WEIGHT_TYPE = "decimal(10,0)"


@dataclass(frozen=True)
class State:
    """One hidden column: `value` is a row's share, of type `type`, never NULL in a sum.

    With `extreme`, which is min or max, the column is that of the values instead of their sum.
    """

    column: Alias
    value: Expr
    type: str
    extreme: str = ""

    @property
    def attribute(self) -> Attribute:
        return self.column.attribute

    def delta(self, weight: Attribute) -> Expr:
        """The sum of the shares of the changes."""
        factor = weight if self.type == "bigint" else cast(weight, WEIGHT_TYPE)
        return _total(call("*", self.value, factor), self.type)

    def among(self, weight: Attribute, sign: str) -> Expr:
        """The extreme of the values that came (>) or went (<)."""
        moved = call(sign, weight, literal(0), type="boolean")
        shown = call("if", moved, self.value, literal(None, self.type), type=self.type)
        return call(self.extreme, shown, type=self.type)


class States:
    """Collects the states a view's aggregates need, each once."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self.rows = self._state(literal(1), "bigint", "__mv_rows")

    def _state(self, value: Expr, type: str, name: str = "") -> Attribute:
        for known in self.states:
            if known.value == value and known.type == type and not known.extreme:
                return known.attribute
        column = alias(_total(value, type), name or f"__mv_state_{len(self.states)}")
        self.states.append(State(column, value, type))
        return column.attribute

    def best(self, which: str, value: Expr) -> Attribute:
        """The least or greatest value, NULL if there is none."""
        for known in self.states:
            if known.value == value and known.extreme == which:
                return known.attribute
        column = alias(call(which, value, type=value.type), f"__mv_state_{len(self.states)}")
        self.states.append(State(column, value, value.type, which))
        return column.attribute

    def sum(self, value: Expr, counted: Expr | None, type: str) -> Attribute:
        """Σ value over the rows that count.

        A decimal keeps its own precision here: times a weight it must still fit 38 digits.
        """
        share = value if DECIMAL.fullmatch(value.type) else cast(value, "bigint")
        zero = cast(literal(0), share.type)
        if counted is not None:
            share = call("if", counted, call("coalesce", share, zero), zero, type=share.type)
        return self._state(share, type)

    def count(self, counted: Expr | None) -> Attribute:
        """How many rows count; all of them when there is no condition."""
        if counted is None:
            return self.rows
        return self._state(call("if", counted, literal(1), literal(0)), "bigint")


def _total(value: Expr, type: str) -> Expr:
    return call("coalesce", cast(call("sum", value), type), cast(literal(0), type), type=type, nullable=False)


def formula(states: States, aggregate: AggregateCall) -> Expr | None:
    """The aggregate's value from states, or nothing when it cannot be kept that way."""
    maker = FORMULAS.get(aggregate.op)
    if maker is None or (aggregate.distinct and maker is not extreme_formula):
        return None
    return maker(states, aggregate)


def counted(aggregate: AggregateCall, arguments: tuple[Expr, ...]) -> Expr | None:
    """When a row takes part: all arguments non-NULL and the FILTER true."""
    parts = [call("isnotnull", a, type="boolean", nullable=False) for a in arguments if a.nullable]
    if aggregate.condition is not None:
        parts.append(call("<=>", aggregate.condition, literal(True, "boolean"), type="boolean"))
    return conjunction(parts) if parts else None


def count_formula(states: States, aggregate: AggregateCall) -> Expr | None:
    """COUNT(a, b) = Σ [a and b are not NULL]"""
    return states.count(counted(aggregate, aggregate.children))


def sum_formula(states: States, aggregate: AggregateCall) -> Expr | None:
    """SUM(x) = Σ x if any x is not NULL, else NULL"""
    (value,) = aggregate.children[:1]
    if not summable(value.type) or "try_" in aggregate.text:
        return None
    when = counted(aggregate, (value,))
    total = states.sum(value, when, aggregate.type)
    return _unless_none(states.count(when), total, aggregate.type)


def extreme_formula(states: States, aggregate: AggregateCall) -> Expr | None:
    """MAX(x) = the greatest x, kept by comparison"""
    (value,) = aggregate.children
    if "collate" in value.type:  # equal strings may differ: which one is kept is left open
        return None
    if names_twice(value.type):
        return None
    if aggregate.condition is not None:
        value = call("if", aggregate.condition, value, literal(None, value.type), type=value.type)
    return states.best(aggregate.op.lower(), value)


PART_OF_A_TYPE = re.compile(r"struct<|\w+<|>|[^<>,:]+:")


def names_twice(type: str) -> bool:
    """Has a struct in it two fields of one name? Spark computes with those, but Delta does not store them."""
    seen: list[set[str]] = [set()]
    for part in PART_OF_A_TYPE.findall(type.lower()):
        if part.endswith("<"):
            seen.append(set())
        elif part == ">":
            seen = seen[:-1] or [set()]  # a name may have such a sign in it
        elif part in seen[-1]:
            return True
        else:
            seen[-1].add(part)
    return False


def average_formula(states: States, aggregate: AggregateCall) -> Expr | None:
    """AVG(x) = Spark's own formula over Σ x and the count of x"""
    (value,) = aggregate.children[:1]
    if not summable(value.type) or aggregate.evaluate is None or "try_" in aggregate.text:
        return None
    when = counted(aggregate, (value,))
    if value.type == "bigint":  # AVG does not overflow where SUM would
        total = states.sum(cast(value, "decimal(20,0)"), when, "decimal(38,0)")
    else:
        total = states.sum(value, when, _sum_type(value.type))
    buffers = {"sum": total, "count": states.count(when)}
    return over_buffers(aggregate.evaluate, lambda name: buffers[name])


def moments_formula(states: States, aggregate: AggregateCall) -> Expr | None:
    """VARIANCE, STDDEV, COVAR, CORR = Spark's own formula over n, Σx, Σx², Σxy

    The sums are of whole numbers (decimals are scaled up), hence exact; only the last step is in
    floating point. A sum too large for its type fails the refresh, which then recomputes.
    """
    scaled = [_scaled(argument) for argument in aggregate.children[:2]]
    if any(each is None for each in scaled) or aggregate.evaluate is None:
        return None
    values = [each for each in scaled if each is not None]
    when = counted(aggregate, tuple(value for value, _ in values))
    count = states.count(when)
    moments = _Moments(states, when, count)
    first, last = values[0], values[-1]
    buffers = {
        "n": lambda: cast(count, "double"),
        "avg": lambda: moments.mean(first),
        "xAvg": lambda: moments.mean(first),
        "yAvg": lambda: moments.mean(last),
        "m2": lambda: moments.spread(first, first),
        "xMk": lambda: moments.spread(first, first),
        "yMk": lambda: moments.spread(last, last),
        "ck": lambda: moments.spread(first, last),
    }
    return over_buffers(aggregate.evaluate, lambda name: buffers[name]())


Scaled = tuple[Expr, int]
"""A value and the number of decimal places its whole-number form is scaled by."""


@dataclass(frozen=True)
class _Moments:
    states: States
    when: Expr | None
    count: Attribute

    def mean(self, x: Scaled) -> Expr:
        total = cast(self._sum(x), "double")
        return self._unless_empty(call("/", total, self._scale(x[1]), type="double"))

    def spread(self, x: Scaled, y: Scaled) -> Expr:
        """Σ (x − x̄)(y − ȳ) = (n·Σxy − Σx·Σy) / n"""
        product = call("*", _whole(x), _whole(y))
        both = self.states.sum(cast(product, "decimal(20,0)"), self.when, "decimal(38,0)")
        scaled_up = call("*", cast(self.count, "decimal(12,0)"), cast(both, "decimal(25,0)"))
        squared = call("*", cast(self._sum(x), "decimal(18,0)"), cast(self._sum(y), "decimal(18,0)"))
        difference = cast(
            call("-", cast(scaled_up, "decimal(38,0)"), cast(squared, "decimal(38,0)")), "double"
        )
        whole = call("/", difference, cast(self.count, "double"))
        return self._unless_empty(call("/", whole, self._power(x[1] + y[1]), type="double"))

    def _sum(self, x: Scaled) -> Attribute:
        return self.states.sum(_whole(x), self.when, "decimal(28,0)")

    def _scale(self, places: int) -> Expr:
        return call("*", cast(self.count, "double"), self._power(places), type="double")

    def _power(self, places: int) -> Expr:
        return cast(literal(10**places), "double")

    def _unless_empty(self, value: Expr) -> Expr:
        some = call(">", self.count, literal(0))
        return call("if", some, value, cast(literal(0), "double"), type="double", nullable=False)


def _whole(x: Scaled) -> Expr:
    value, places = x
    if places == 0:
        return cast(value, "decimal(10,0)")
    power = cast(literal(10**places), f"decimal({places + 1},0)")
    return cast(call("*", value, power), "decimal(10,0)")


def _scaled(argument: Expr) -> Scaled | None:
    """The exact number below the cast to DOUBLE that Spark puts around it."""
    value = argument.children[0] if argument.op == "Cast" else argument
    if value.type in SMALL_NUMBERS:
        return value, 0
    found = DECIMAL.fullmatch(value.type)
    if found and int(found[1]) <= 10 and int(found[2]) >= 0:
        return value, int(found[2])
    return None


def summable(type: str) -> bool:
    """Exact, and small enough that a value times a weight keeps every digit."""
    if type in WHOLE_NUMBERS:
        return True
    found = DECIMAL.fullmatch(type)
    return found is not None and int(found[1]) <= 27


def _sum_type(type: str) -> str:
    found = DECIMAL.fullmatch(type)
    return f"decimal({min(38, int(found[1]) + 10)},{found[2]})" if found else "bigint"


def _unless_none(count: Attribute, total: Attribute, type: str) -> Expr:
    return call("if", call(">", count, literal(0)), total, literal(None, type), type=type)


def over_buffers(evaluate: Expr, buffer: Callable[[str], Expr]) -> Expr:
    """Spark's final formula with our states in place of its buffer columns."""

    def substitute(expression: Expr) -> Expr | None:
        if isinstance(expression, Attribute):
            return cast(buffer(expression.name), expression.type)
        return None

    return evaluate.transform(substitute)


FORMULAS: dict[str, Callable[[States, AggregateCall], Expr | None]] = {
    "Count": count_formula,
    "Sum": sum_formula,
    "Min": extreme_formula,
    "Max": extreme_formula,
    "Average": average_formula,
    "StddevPop": moments_formula,
    "StddevSamp": moments_formula,
    "VariancePop": moments_formula,
    "VarianceSamp": moments_formula,
    "CovPopulation": moments_formula,
    "CovSample": moments_formula,
    "Corr": moments_formula,
}
