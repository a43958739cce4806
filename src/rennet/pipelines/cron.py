"""When a cron expression fires next, in its time zone.

`croniter` finds the moments. Expressions are those `rennet.sql.schedule` accepts, unix cron with five fields
and Quartz with six or seven, put into the words that mean the same to croniter. A local time that daylight
saving skips does not fire; one that it repeats fires once.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, croniter

from rennet.sql.schedule import QUARTZ, UNIX, Cron, Field

YEARS = 28
"""How far to look ahead: after so many the calendar repeats."""

DAYS = DAY_OF_MONTH, DAY_OF_WEEK = 3, 5
"""Places of Quartz's fields for days."""
MONTH_DAY, WEEK_DAY = QUARTZ[DAY_OF_MONTH], QUARTZ[DAY_OF_WEEK]

Days = Callable[[date], bool]


def next_fire(cron: Cron, after: datetime) -> datetime | None:
    """The first moment after this one, in UTC; None if there is none."""
    zone = ZoneInfo(cron.time_zone) if cron.time_zone != "UTC" else UTC
    parts = cron.expression.upper().split()
    expression, wanted = _quartz(parts) if cron.quartz else (_unix(parts), _any_day)
    # Local times without a zone only ever go forward; whether each is a moment, and which, is told below.
    walk = croniter(
        expression,
        after.astimezone(zone).replace(tzinfo=None, fold=0),
        ret_type=datetime,
        second_at_beginning=cron.quartz,
        max_years_between_matches=YEARS,
        # Unix cron takes a day that either field wants, but only if neither begins with a star.
        day_or=not cron.quartz and not any(part.startswith("*") for part in (parts[2], parts[4])),
    )
    while True:
        try:
            local: datetime = walk.get_next()
        except CroniterBadDateError:
            return None
        if local.year > after.year + YEARS:
            return None
        if not wanted(local.date()):
            walk.set_current(datetime.combine(local, time.max, None).replace(microsecond=0), force=True)
            continue
        moment = local.replace(tzinfo=zone).astimezone(UTC)
        exists = moment.astimezone(zone).replace(tzinfo=None) == local
        if exists and moment > after:
            return moment


def _any_day(_: date) -> bool:
    return True


def _unix(parts: list[str]) -> str:
    """Lists of values; 7 is a second name of Sunday."""
    *others, of_week = [_listed(field, part) for field, part in zip(UNIX, parts, strict=True)]
    return " ".join([*others, of_week.replace("7", "0")])


def _quartz(parts: list[str]) -> tuple[str, Days]:
    """Quartz in croniter's words: lists of values, days of the week from Sunday = 0; and which days are meant
    where croniter has no word for it."""
    of_month, of_week = parts[DAY_OF_MONTH], parts[DAY_OF_WEEK]
    said = ["*" if place in DAYS else _listed(QUARTZ[place], part) for place, part in enumerate(parts)]
    said[DAY_OF_WEEK] = _week(of_week)
    if of_month == "LW":
        said[DAY_OF_MONTH], said[DAY_OF_WEEK] = "26-31", "1-5"
        return " ".join(said), _is_last_weekday
    if of_month.startswith("L-"):
        before = int(of_month[2:])
        said[DAY_OF_MONTH] = f"{max(1, 28 - before)}-{31 - before}"
        return " ".join(said), lambda day: day.day == _days_in(day) - before
    said[DAY_OF_MONTH] = of_month if "L" in of_month or "W" in of_month else _listed(MONTH_DAY, of_month)
    return " ".join(said), _any_day


def _listed(field: Field, text: str, first: int = 0) -> str:
    """The values of a field one by one: croniter has its own ideas of `7-7` and of ranges over the end."""
    if text in ("*", "?"):
        return "*"
    return ",".join(str(value - first) for value in sorted(_values(field, text)))


def _week(text: str) -> str:
    """Days of the week, which Quartz counts from Sunday = 1."""
    if text == "L":
        return "6"
    if "#" in text:
        day, _, nth = text.partition("#")
        return f"{WEEK_DAY.value(day) - 1}#{nth}"
    if text.endswith("L"):
        return f"L{WEEK_DAY.value(text[:-1]) - 1}"
    return _listed(WEEK_DAY, text, first=1)


def _days_in(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _is_last_weekday(day: date) -> bool:
    """Of a day from Monday to Friday: is there none after it in its month?"""
    left = _days_in(day) - day.day
    return left < (3 if day.weekday() == 4 else 1)


def _values(field: Field, text: str) -> set[int]:
    """All values of a list of `*`, `a`, `a-b`, each perhaps with `/step`."""
    found: set[int] = set()
    for item in text.split(","):
        span, slash, step = item.partition("/")
        low, dash, high = span.partition("-")
        first = field.low if span == "*" else field.value(low)
        last = field.high if span == "*" or (slash and not dash) else field.value(high or low)
        count = field.high - field.low + 1
        length = (last - first) % count if dash else last - first
        found |= {field.low + (first - field.low + i) % count for i in range(0, length + 1, int(step or 1))}
    return found
