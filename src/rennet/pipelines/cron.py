"""When a cron expression fires next, in its time zone.

Expressions are those `rennet.sql.schedule` accepts: unix cron with five fields, Quartz with six or seven.
A local time that daylight saving skips does not fire; one that it repeats fires once.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from rennet.sql.schedule import QUARTZ, UNIX, Cron, Field

HORIZON = 366 * 28
"""Days to look ahead: after 28 years the calendar repeats."""


def next_fire(cron: Cron, after: datetime) -> datetime | None:
    """The first moment after this one, in UTC; None if there is none."""
    zone = ZoneInfo(cron.time_zone) if cron.time_zone != "UTC" else UTC
    parts = cron.expression.split()
    times = _times(cron, parts)
    # Clocks are set back by less than a day, so yesterday's local times cannot be missed.
    first = after.astimezone(zone).date()
    for day in _days(cron, parts, first):
        for each in times:
            local = datetime.combine(day, each, zone)
            moment = local.astimezone(UTC)
            exists = moment.astimezone(zone).replace(tzinfo=None) == local.replace(tzinfo=None)
            if exists and moment > after:
                return moment
    return None


def _times(cron: Cron, parts: list[str]) -> list[time]:
    fields: tuple[Field, ...] = QUARTZ if cron.quartz else UNIX
    offset = 0 if cron.quartz else -1
    second = sorted(_values(fields[0], parts[0])) if cron.quartz else [0]
    minute, hour = (sorted(_values(fields[i + offset], parts[i + offset])) for i in (1, 2))
    return [time(h, m, s) for h in hour for m in minute for s in second]


def _days(cron: Cron, parts: list[str], first: date) -> Iterator[date]:
    fields: tuple[Field, ...] = QUARTZ if cron.quartz else UNIX
    at = 3 if cron.quartz else 2
    months = _values(fields[at + 1], parts[at + 1])
    years = _values(fields[6], parts[6]) if len(parts) == 7 else None
    for n in range(HORIZON):
        day = first + timedelta(n)
        if day.month in months and (years is None or day.year in years) and _is_day(cron, parts, day):
            yield day


def _is_day(cron: Cron, parts: list[str], day: date) -> bool:
    """Whether both day fields agree; unix cron takes either, if both are restricted."""
    at = 3 if cron.quartz else 2
    of_month, of_week = parts[at], parts[at + 2]
    fields: tuple[Field, ...] = QUARTZ if cron.quartz else UNIX
    in_month = _in_month(fields[at], of_month.upper(), day)
    in_week = _in_week(fields[at + 2], of_week.upper(), day, cron.quartz)
    if not cron.quartz and not of_month.startswith("*") and not of_week.startswith("*"):
        return in_month or in_week
    return in_month and in_week


def _in_month(field: Field, text: str, day: date) -> bool:
    last = calendar.monthrange(day.year, day.month)[1]
    if text == "?":
        return True
    if text == "L":
        return day.day == last
    if text == "LW":
        return day == _weekday_near(day.replace(day=last))
    if text.startswith("L-"):
        return day.day == last - int(text[2:])
    if text.endswith("W"):
        wanted = field.value(text[:-1])
        return wanted <= last and day == _weekday_near(day.replace(day=wanted))
    return day.day in _values(field, text)


def _weekday_near(day: date) -> date:
    """The day itself, or the nearest one from Monday to Friday in the same month."""
    if day.weekday() < 5:
        return day
    step = -1 if day.weekday() == 5 else 1
    near = day + timedelta(step)
    return near if near.month == day.month else day + timedelta(-2 * step)


def _in_week(field: Field, text: str, day: date, quartz: bool) -> bool:
    """Days of the week count from Sunday: as 1 by Quartz, as 0 (and 7) by unix cron."""
    today = (day.weekday() + 1) % 7 + (1 if quartz else 0)
    if text == "?":
        return True
    if text == "L":
        return today == 7
    if "#" in text:
        wanted, _, nth = text.partition("#")
        return today == field.value(wanted) and (day.day - 1) // 7 + 1 == int(nth)
    if text.endswith("L") and text[:-1]:
        last_week = day.day + 7 > calendar.monthrange(day.year, day.month)[1]
        return today == field.value(text[:-1]) and last_week
    values = _values(field, text)
    return today in values or (not quartz and today == 0 and 7 in values)


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
