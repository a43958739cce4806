"""When a view is refreshed by itself: every so often, by a cron expression, or when its sources change.

A schedule is checked when it is made, so one that exists is valid. Errors are `StatementError`.
"""

from __future__ import annotations

import difflib
import re
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rennet.errors import StatementError

SECONDS = {"SECONDS": 1, "MINUTES": 60, "HOURS": 3600, "DAYS": 86400, "WEEKS": 604800}
"""How long each unit is. A unit may be written in the singular, and in any case."""

EVERY = {"MINUTES": 59, "HOURS": 72, "DAYS": 31, "WEEKS": 8}
"""The greatest n of `EVERY n unit`: Databricks' limits, and minutes, which it does not have."""

EVERY_ALLOWED = "Allowed are " + ", ".join(f"{unit} 1-{most}" for unit, most in EVERY.items()) + "."


def unit(word: str) -> str:
    """A unit of time as `SECONDS` spells it: `hour` -> `HOURS`."""
    name = word.upper().removesuffix("S") + "S"
    if name not in SECONDS:
        raise StatementError(f"{word!r} is not a unit of time.", f"Write one of {', '.join(SECONDS)}.")
    return name


def _words(n: int, name: str) -> str:
    return name[:-1].lower() if n == 1 else f"{n} {name.lower()}"


def _whole(seconds: int) -> tuple[int, str]:
    """A duration in the greatest unit that divides it: 7200 -> (2, `HOURS`)."""
    name = max((u for u in SECONDS if seconds % SECONDS[u] == 0), key=SECONDS.__getitem__)
    return seconds // SECONDS[name], name


@dataclass(frozen=True)
class Every:
    """`SCHEDULE EVERY n {MINUTES|HOURS|DAYS|WEEKS}`."""

    n: int
    unit: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", unit(self.unit))
        if not 1 <= self.n <= EVERY.get(self.unit, 0):
            raise StatementError(f"EVERY {self.n} {self.unit} is out of range.", EVERY_ALLOWED)

    @property
    def seconds(self) -> int:
        """The time between two refreshes."""
        return self.n * SECONDS[self.unit]

    def to_sql(self) -> str:
        """The clause that makes this schedule."""
        return f"SCHEDULE EVERY {self.n} {self.unit[:-1] if self.n == 1 else self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """This schedule as JSON can hold it; `from_dict` reads it."""
        return {"type": "EVERY", "n": self.n, "unit": self.unit}

    def describe(self) -> str:
        """This schedule in words."""
        return f"every {_words(self.n, self.unit)}"


@dataclass(frozen=True)
class Cron:
    """`SCHEDULE CRON '…' [AT TIME ZONE '…']`: Quartz with 6 or 7 fields, unix cron with 5."""

    expression: str
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        object.__setattr__(self, "expression", " ".join(self.expression.split()))
        _check_cron(self.expression)
        check_time_zone(self.time_zone)

    @property
    def quartz(self) -> bool:
        """Whether the first field is seconds, and days of the week count from 1 = Sunday."""
        return len(self.expression.split()) != len(UNIX)

    def to_sql(self) -> str:
        """The clause that makes this schedule."""
        return f"SCHEDULE CRON '{self.expression}' AT TIME ZONE '{self.time_zone}'"

    def to_dict(self) -> dict[str, Any]:
        """This schedule as JSON can hold it; `from_dict` reads it."""
        return {"type": "CRON", "expression": self.expression, "time_zone": self.time_zone}

    def describe(self) -> str:
        """This schedule in words."""
        return f"by the cron expression '{self.expression}' in time zone {self.time_zone}"


@dataclass(frozen=True)
class OnUpdate:
    """`TRIGGER ON UPDATE [AT MOST EVERY INTERVAL …]`; `at_most_every` is in seconds."""

    at_most_every: int | None = None

    def __post_init__(self) -> None:
        if self.at_most_every is not None and self.at_most_every < SECONDS["MINUTES"]:
            raise StatementError("AT MOST EVERY is shorter than a minute.", "A minute is the least.")

    def to_sql(self) -> str:
        """The clause that makes this schedule."""
        if self.at_most_every is None:
            return "TRIGGER ON UPDATE"
        n, name = _whole(self.at_most_every)
        return f"TRIGGER ON UPDATE AT MOST EVERY INTERVAL {n} {name[:-1] if n == 1 else name}"

    def to_dict(self) -> dict[str, Any]:
        """This schedule as JSON can hold it; `from_dict` reads it."""
        return {"type": "ON UPDATE", "at_most_every": self.at_most_every}

    def describe(self) -> str:
        """This schedule in words."""
        if self.at_most_every is None:
            return "when a source changes"
        return f"when a source changes, at most every {_words(*_whole(self.at_most_every))}"


Schedule: TypeAlias = Every | Cron | OnUpdate

_TYPES: dict[str, Callable[..., Schedule]] = {"EVERY": Every, "CRON": Cron, "ON UPDATE": OnUpdate}


def from_dict(data: Mapping[str, Any]) -> Schedule:
    """The schedule that `to_dict` wrote."""
    fields = dict(data)
    return _TYPES[fields.pop("type")](**fields)


def check_time_zone(name: str) -> None:
    """Refuse a name the time zone database does not have. UTC needs no database."""
    if name == "UTC":
        return
    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        zones = {zone.lower(): zone for zone in zoneinfo.available_timezones()}
        close = difflib.get_close_matches(name.lower(), zones, n=1)
        hint = f"Did you mean {zones[close[0]]!r}?" if close else "Examples are 'UTC' and 'Europe/Paris'."
        raise StatementError(f"{name!r} is not a time zone.", hint) from None


MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True)
class Field:
    """One field of a cron expression: its range, its names (of low, low + 1, …) and its special forms."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    special: str = ""
    """A regex of forms that are not lists of values and ranges, `{v}` standing for a value."""
    wraps: bool = False
    """Whether a range may run over the end, as Quartz has it (`FRI-MON`)."""

    def value(self, text: str) -> int:
        """A number or a name, in range."""
        if text.upper() in self.names:
            return self.low + self.names.index(text.upper())
        if not (text.isascii() and text.isdigit()):
            raise self.error(f"{text!r} is not a value")
        if not self.low <= int(text) <= self.high:
            raise self.error(f"{text} is out of range")
        return int(text)

    def error(self, problem: str) -> StatementError:
        """What is wrong, in which field, and what that field takes."""
        named = f" or {self.names[0]}-{self.names[-1]}" if self.names else ""
        return StatementError(
            f"In the {self.name} field of the cron expression, {problem}.",
            f"The {self.name} field takes {self.low}-{self.high}{named}, lists, ranges and steps.",
        )

    def check(self, text: str) -> None:
        """`*`, a special form, or a list of `value`, `low-high`, each perhaps with `/step`."""
        special = re.fullmatch(self.special, text, re.IGNORECASE) if self.special else None
        if special is None:
            for item in text.split(","):
                self._check_item(item)
        elif special["v"]:
            self.value(special["v"])

    def _check_item(self, item: str) -> None:
        span, slash, step = item.partition("/")
        low, dash, high = span.partition("-")
        if span != "*":
            first = self.value(low)
            if dash and self.value(high) < first and not self.wraps:
                raise self.error(f"the range {span} runs backwards")
        if slash and not (step.isascii() and step.isdigit() and 1 <= int(step) <= self.high):
            raise self.error(f"the step in {item!r} is not a number from 1 to {self.high}")


_DAY_OF_MONTH = r"\?|L|LW|L-([0-9]|[12][0-9]|30)|(?P<v>\w+?)W"
_DAY_OF_WEEK = r"\?|L|(?P<v>\w+?)(L|#[1-5])"

QUARTZ = (
    Field("seconds", 0, 59, wraps=True),
    Field("minutes", 0, 59, wraps=True),
    Field("hours", 0, 23, wraps=True),
    Field("day-of-month", 1, 31, special=_DAY_OF_MONTH, wraps=True),
    Field("month", 1, 12, MONTHS, wraps=True),
    Field("day-of-week", 1, 7, DAYS, special=_DAY_OF_WEEK, wraps=True),
    Field("year", 1970, 2099),
)
"""Quartz: `?` in exactly one of the two day fields, and the year may be left out."""

UNIX = (
    Field("minute", 0, 59),
    Field("hour", 0, 23),
    Field("day-of-month", 1, 31),
    Field("month", 1, 12, MONTHS),
    Field("day-of-week", 0, 7, DAYS),
)
"""Unix cron: both 0 and 7 are Sunday."""


def _check_cron(expression: str) -> None:
    """Check an expression field by field."""
    parts = expression.split()
    if len(parts) not in (5, 6, 7):
        raise StatementError(
            f"The cron expression {expression!r} has {len(parts)} field{'' if len(parts) == 1 else 's'}.",
            "Write 5 (unix: minute hour day-of-month month day-of-week) or 6 to 7 (Quartz: seconds minutes "
            "hours day-of-month month day-of-week [year]).",
        )
    for field, part in zip(UNIX if len(parts) == 5 else QUARTZ, parts, strict=False):
        field.check(part)
    if len(parts) > 5 and (parts[3] == "?") == (parts[5] == "?"):
        raise StatementError(
            f"The cron expression {expression!r} must have ? in exactly one of the day fields.",
            "Write ? in the one that does not matter: '0 0 6 * * ?' is daily at 6.",
        )
