"""Stage 3: functions of one column that rise with it, so that a limit for them is a limit for the column.

`rising` proves it by structure: every rule below is one function, and what no rule knows is not proven. Each
proof comes with the values the function can take, exact and as whole numbers, so that nothing overflows:
a column is looked at within those of its values for which that is certain. Beyond them nothing is claimed.

Local time falls back where clocks are set, in some places across midnight. No zone is further than 18 hours
from UTC, so whatever local time says of an instant rises again within a day and a half: `SLACK`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date

from rennet.plan.expressions import Attribute, Expr
from rennet.plan.inverse import Rising

WHOLE = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
"""Bits of the whole numbers."""
DAY = 86_400_000_000
"""Microseconds of a day."""
EPOCH = date(1970, 1, 1).toordinal()
DAYS = (date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH)
"""The years 1 to 9999, in days since 1970."""
MOMENTS = ((DAYS[0] + 3) * DAY, (DAYS[1] - 3) * DAY)
"""The same in microseconds, less what a zone can make of the first and last days."""
INSTANTS = ("timestamp", "timestamp_ntz")
LIMITS = {"date": DAYS, "timestamp": MOMENTS, "timestamp_ntz": MOMENTS}
SLACK = 2
"""Days after which local time has risen again, wherever clocks are set."""
EXACT = 1 << 62
"""Whole numbers up to this one stay whole when a DOUBLE is rounded to one."""


@dataclass(frozen=True)
class Proof:
    """A function that rises with a column, but for a slack in the column's own units, and its values."""

    column: Attribute
    low: int
    high: int
    slack: int = 0

    @property
    def is_date(self) -> bool:
        """Is every value a day of the years 1 to 9999?"""
        return DAYS[0] <= self.low and self.high <= DAYS[1]

    def to(self, low: int, high: int, type: str) -> Proof | None:
        """The same for a function of this one's values, unless some of them do not fit their type."""
        bits = WHOLE.get(type)
        least, most = LIMITS.get(type, (-EXACT, EXACT)) if bits is None else (-(1 << bits), (1 << bits) - 1)
        return replace(self, low=low, high=high) if least <= low and high <= most else None


Domain = tuple[int, int]
"""The values of the column that are looked at."""
Rule = Callable[[Expr, Domain], Proof | None]


def rising(function: Expr) -> Rising | None:
    """What is known of a function of one column: that it rises, and for which values of the column."""
    columns = {e for e in function.walk() if isinstance(e, Attribute)}
    if len(columns) != 1 or not all(e.deterministic for e in function.walk()):
        return None
    (column,) = columns
    for low, high in _domains(column.type):
        proof = _proof(function, (low, high))
        if proof is not None:
            return Rising(column, low, high, proof.slack)
    return None


def _domains(type: str) -> list[Domain]:
    """The values of a type, all of them first, then fewer and fewer: some functions overflow on all."""
    if type in WHOLE:
        return [(-(1 << bits), (1 << bits) - 1) for bits in range(WHOLE[type], 6, -1)]
    if type not in LIMITS:
        return []
    (low, high), century = LIMITS[type], 36_600 * (1 if type == "date" else DAY)
    return [(low, high), (low + century, high - century)]


def _proof(function: Expr, domain: Domain) -> Proof | None:
    if isinstance(function, Attribute):
        return Proof(function, *domain)
    rule = RULES.get(function.op)
    return None if rule is None else rule(function, domain)


# -- rules: each says for which arguments the function rises ----------------------------------------------


def _cast(function: Expr, domain: Domain) -> Proof | None:
    """Between whole numbers that fit; from an instant to its day; from a written date to its number."""
    (child,) = function.children
    if child.op == "DateFormatClass":
        return _written(child, function.type, domain)
    found = _proof(child, domain)
    if found is None:
        return None
    if child.type in WHOLE and function.type in (*WHOLE, "double"):
        return found.to(found.low, found.high, function.type)
    if child.type in INSTANTS and function.type == "date":
        return _as_days(found, child)
    return None


def _as_days(found: Proof, instant: Expr) -> Proof | None:
    """The day of an instant: that of local time, unless the instant has no zone."""
    if not isinstance(instant, Attribute):  # only of a column it is known how far a slack reaches
        return None
    slack = SLACK * DAY if instant.type == "timestamp" else 0
    days = found.low // DAY - SLACK, found.high // DAY + SLACK
    return replace(found, slack=slack).to(*days, "date")


def _day_of(value: Expr, domain: Domain) -> Proof | None:
    """A date, or the date that an instant is on; a date made an instant for a format stays on its day."""
    if value.op == "Cast" and value.children[0].type == "date":
        value = value.children[0]
    found = _proof(value, domain) if value.type in ("date", *INSTANTS) else None
    if found is not None and value.type != "date":
        found = _as_days(found, value)
    return found if found is not None and found.is_date else None


WRITTEN = {"yyyyMMdd": 10_000, "yyyyMM": 100, "yyyy": 1}
"""Formats that are numbers when read as such, and by what the year is multiplied in them."""


def _written(function: Expr, type: str, domain: Domain) -> Proof | None:
    """date_format(d, 'yyyyMMdd') as a number, in the years 1 to 9999"""
    value, form = function.children
    times, found = WRITTEN.get(_text(form) or ""), _day_of(value, domain)
    if found is None or times is None or type not in WHOLE:
        return None
    return found.to(0, 9999 * times + 1231, type)


def _trunc(function: Expr, domain: Domain) -> Proof | None:
    """The first day of a date's week, month, quarter or year"""
    value, unit = function.children
    found, length = _proof(value, domain), UNITS.get((_text(unit) or "").lower())
    if found is None or length is None or value.type != "date" or not found.is_date:
        return None
    # The first day of year 1 is a Monday: nothing that starts before it has a day after it.
    return found.to(max(found.low - length, DAYS[0]), found.high, "date")


UNITS = {
    **dict.fromkeys(("year", "yyyy", "yy"), 366),
    "quarter": 92,
    **dict.fromkeys(("month", "mon", "mm"), 31),
    "week": 7,
    **dict.fromkeys(("day", "dd", "hour", "minute", "second", "millisecond", "microsecond"), 1),
}
"""The longest each unit can be, in days."""


def _date_trunc(function: Expr, domain: Domain) -> Proof | None:
    """The start of an instant's unit, which is at most as far back as the unit is long

    So f(a) ≤ a ≤ b − length ≤ f(b) if b is a unit later than a, whatever the zone makes of either.
    """
    unit, value = function.children
    length = UNITS.get((_text(unit) or "").lower())
    if length is None or value.type not in INSTANTS:
        return None
    column = value.children[0] if value.op == "Cast" else value
    if not isinstance(column, Attribute) or column.type not in ("date", "timestamp"):
        return None
    # A day starts within a day and a half of when it does in UTC, the same for the start of its unit.
    days, per = (length + 2 * SLACK, 1) if column.type == "date" else (length + SLACK, DAY)
    low, high = (end * (DAY // per) for end in domain)
    return Proof(column, low, high, days * per).to(low - 2 * length * DAY, high + 2 * DAY, "bigint")


def _unit(per: int) -> Rule:
    """Whole units of an instant or date since 1970."""

    def rule(function: Expr, domain: Domain) -> Proof | None:
        found = _proof(function.children[0], domain)
        return None if found is None else found.to(found.low // per, found.high // per, function.type)

    return rule


def _shifted(sign: int) -> Rule:
    """A date some days later or earlier."""

    def rule(function: Expr, domain: Domain) -> Proof | None:
        value, distance = function.children
        found, days = _proof(value, domain), _number(distance)
        if found is None or days is None or value.type != "date":
            return None
        moved = found.low + sign * days, found.high + sign * days
        # A date far beyond the years 1 to 9999 is still a date: days are kept as an INT.
        return found.to(*moved, "int")

    return rule


def _sum(function: Expr, domain: Domain) -> Proof | None:
    """f + g, f + constant, and sums of the parts of a date"""
    if function.type not in WHOLE:
        return None
    parts = _calendar(function, domain)
    if parts is not None:
        return parts
    left, right = (_term(child, domain) for child in function.children)
    if left is None or right is None:
        return None
    low, high = left[1] + right[1], left[2] + right[2]
    proofs = [proof for proof in (left[0], right[0]) if proof is not None]
    if not proofs:
        return None
    return replace(proofs[0], slack=max(p.slack for p in proofs)).to(low, high, function.type)


def _term(child: Expr, domain: Domain) -> tuple[Proof | None, int, int] | None:
    """Its least and greatest value: of a constant, the constant."""
    constant = _number(child)
    if constant is not None:
        return None, constant, constant
    found = _proof(child, domain)
    return None if found is None else (found, found.low, found.high)


def _difference(function: Expr, domain: Domain) -> Proof | None:
    """f − constant"""
    left, right = function.children
    found, by = _proof(left, domain), _number(right)
    if found is None or by is None or function.type not in WHOLE:
        return None
    return found.to(found.low - by, found.high - by, function.type)


def _product(function: Expr, domain: Domain) -> Proof | None:
    """f · constant, of a constant that is not negative"""
    if function.type not in WHOLE:
        return None
    for value, factor in (function.children, function.children[::-1]):
        times, found = _number(factor), _proof(value, domain)
        if found is not None and times is not None and times >= 0:
            return found.to(found.low * times, found.high * times, function.type)
    return None


def _quotient(function: Expr, domain: Domain) -> Proof | None:
    """f / constant and f DIV constant, of a positive constant: a whole one makes nothing larger"""
    value, divisor = function.children
    by, found = _number(divisor), _proof(value, domain)
    if found is None or by is None or by <= 0 or function.type not in ("double", "bigint"):
        return None
    return found.to(min(found.low, 0), max(found.high, 0), function.type)


def _rounded(function: Expr, domain: Domain) -> Proof | None:
    """floor(f) and ceil(f)"""
    (value,) = function.children
    found = _proof(value, domain)
    if found is None or function.type != "bigint" or value.type not in (*WHOLE, "double"):
        return None
    return found.to(found.low - 1, found.high + 1, "double")


# -- the parts of a date ----------------------------------------------------------------------------------

PARTS = {
    "Year": (1, 9999),
    "YearOfWeek": (0, 10_000),
    "Quarter": (1, 4),
    "Month": (1, 12),
    "WeekOfYear": (1, 53),
    "DayOfMonth": (1, 31),
    "DayOfYear": (1, 366),
}
"""The values of each part of a date in the years 1 to 9999."""
CHAINS = (
    ("Year", "Quarter"),
    ("Year", "Month", "DayOfMonth"),
    ("Year", "DayOfYear"),
    ("YearOfWeek", "WeekOfYear"),
)
"""Parts that rise with the date when they are compared one after the other."""


def _calendar(function: Expr, domain: Domain) -> Proof | None:
    """Σ aᵢ · partᵢ + constant, of parts in the order of a chain, if aᵢ ≥ Σ over j > i of aⱼ · (maxⱼ − minⱼ)

    When a part rises by one, those after it can take no more than that away.
    """
    terms = _terms(function)
    if terms is None:
        return None
    constant = sum(number for number, part in terms if part is None)
    parts = {part.op: (number, part.children[0]) for number, part in terms if part is not None}
    chain = next((chain[: len(parts)] for chain in CHAINS if set(chain[: len(parts)]) == set(parts)), ())
    dates = {value for _, value in parts.values()}
    if not chain or len(dates) != 1 or len(parts) != sum(part is not None for _, part in terms):
        return None
    taken = 0
    for name in reversed(chain):
        times, (least, most) = parts[name][0], PARTS[name]
        if times < taken:
            return None
        taken += times * (most - least)
    (value,) = dates
    found = _day_of(value, domain)
    if found is None:
        return None
    low, high = (constant + sum(parts[name][0] * PARTS[name][end] for name in chain) for end in (0, 1))
    return found.to(low, high, function.type)


def _terms(function: Expr) -> list[tuple[int, Expr | None]] | None:
    """A sum's terms, each a factor and a part of a date, or a constant by itself, if nothing overflows."""
    constant = _number(function)
    made: list[tuple[int, Expr | None]] | None = None
    if constant is not None:
        made = [(constant, None)]
    elif function.op in PARTS:
        made = [(1, function)]
    elif function.op == "Cast":
        made = _terms(function.children[0])
    elif function.op == "Add":
        left, right = (_terms(child) for child in function.children)
        made = None if left is None or right is None else [*left, *right]
    elif function.op == "Multiply":
        made = _multiplied(*function.children) or _multiplied(*function.children[::-1])
    if made is None or function.type not in WHOLE:
        return None
    largest = sum(abs(times) * (1 if part is None else PARTS[part.op][1]) for times, part in made)
    return made if largest < 1 << WHOLE[function.type] else None


def _multiplied(value: Expr, factor: Expr) -> list[tuple[int, Expr | None]] | None:
    times, terms = _number(factor), _terms(value)
    if times is None or times < 0 or terms is None:
        return None
    return [(number * times, part) for number, part in terms]


# -- constants --------------------------------------------------------------------------------------------


def _number(value: Expr) -> int | None:
    """The whole number that a literal is."""
    if value.op == "Cast" and value.type in (*WHOLE, "double"):
        inner = _number(value.children[0])
        return inner if inner is not None and abs(inner) < 1 << WHOLE.get(value.type, 53) else None
    if value.op != "Literal" or value.type not in (*WHOLE, "double"):
        return None
    try:
        made = float(value.text) if value.type == "double" else int(value.text)
        return int(made) if made == int(made) else None
    except (ValueError, OverflowError):
        return None


def _text(value: Expr) -> str | None:
    """The text that a literal is, in quotes if rennet made it."""
    if value.op != "Literal" or not value.type.startswith("string"):
        return None
    return str(ast.literal_eval(value.text)) if value.text[:1] in "'\"" else value.text


RULES: dict[str, Rule] = {
    "Cast": _cast,
    "TruncDate": _trunc,
    "TruncTimestamp": _date_trunc,
    "UnixDate": _unit(1),
    "UnixSeconds": _unit(1_000_000),
    "UnixMillis": _unit(1_000),
    "UnixMicros": _unit(1),
    "DateAdd": _shifted(+1),
    "DateSub": _shifted(-1),
    "Year": _calendar,
    "YearOfWeek": _calendar,
    "Add": _sum,
    "Subtract": _difference,
    "Multiply": _product,
    "Divide": _quotient,
    "IntegralDivide": _quotient,
    "Floor": _rounded,
    "Ceil": _rounded,
}
"""Functions by Catalyst's names, and what proves that they rise."""
