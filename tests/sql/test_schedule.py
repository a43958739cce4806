"""Schedules: what is valid, what they say of themselves, and that they survive JSON and SQL."""

from __future__ import annotations

import json

import pytest

from rennet.errors import StatementError
from rennet.sql.parse import parse
from rennet.sql.schedule import Cron, Every, OnUpdate, Schedule, from_dict
from rennet.sql.statements import AlterMaterializedView, SetSchedule

SAID: list[tuple[Schedule, str, str]] = [
    (Every(1, "HOUR"), "SCHEDULE EVERY 1 HOUR", "every hour"),
    (Every(6, "hours"), "SCHEDULE EVERY 6 HOURS", "every 6 hours"),
    (Every(59, "Minute"), "SCHEDULE EVERY 59 MINUTES", "every 59 minutes"),
    (
        Cron(" 0 0  6 * * ? ", "Europe/Paris"),
        "SCHEDULE CRON '0 0 6 * * ?' AT TIME ZONE 'Europe/Paris'",
        "by the cron expression '0 0 6 * * ?' in time zone Europe/Paris",
    ),
    (
        Cron("0 6 * * 1"),
        "SCHEDULE CRON '0 6 * * 1' AT TIME ZONE 'UTC'",
        "by the cron expression '0 6 * * 1' in time zone UTC",
    ),
    (OnUpdate(), "TRIGGER ON UPDATE", "when a source changes"),
    (
        OnUpdate(60),
        "TRIGGER ON UPDATE AT MOST EVERY INTERVAL 1 MINUTE",
        "when a source changes, at most every minute",
    ),
    (
        OnUpdate(5400),
        "TRIGGER ON UPDATE AT MOST EVERY INTERVAL 90 MINUTES",
        "when a source changes, at most every 90 minutes",
    ),
]


@pytest.mark.parametrize(("schedule", "sql", "words"), SAID, ids=[sql for _, sql, _ in SAID])
def test_says_what_it_is(schedule: Schedule, sql: str, words: str) -> None:
    assert schedule.to_sql() == sql
    assert schedule.describe() == words
    assert from_dict(json.loads(json.dumps(schedule.to_dict()))) == schedule
    altered = parse(f"ALTER MATERIALIZED VIEW v ADD {sql}")
    assert altered == AlterMaterializedView(("v",), SetSchedule(schedule))


def test_every_counts_seconds() -> None:
    assert [Every(2, unit).seconds for unit in ("MINUTES", "HOURS", "DAYS", "WEEKS")] == [
        120,
        7200,
        172800,
        1209600,
    ]


@pytest.mark.parametrize(("n", "unit"), [(59, "MINUTES"), (72, "HOURS"), (31, "DAYS"), (8, "WEEKS")])
def test_every_has_limits(n: int, unit: str) -> None:
    Every(1, unit)
    Every(n, unit)
    for outside in (0, -1, n + 1):
        with pytest.raises(StatementError, match=f"EVERY {outside} {unit} is out of range.*{unit} 1-{n}"):
            Every(outside, unit)


@pytest.mark.parametrize(
    "expression",
    [
        "* * * * *",
        "*/5 0-6,12 1,15 JAN-jun MON-FRI",
        "0 0 1 1 0",
        "0 0 * * 7",
        "10-50/10 5/2 * * *",
        "0 0 0 * * ?",
        "0 0/15 8-18 ? * MON-FRI",
        "0 0 22-2 ? * FRI-MON",
        "0 0 0 L * ?",
        "0 0 0 LW * ?",
        "0 0 0 L-3 * ?",
        "0 0 0 15W * ?",
        "0 0 0 ? * 6L",
        "0 0 0 ? * FRI#2",
        "0 0 0 ? * L 2030",
        "0 0 0 1 1 ? 2024-2030,2040/2",
    ],
)
def test_cron(expression: str) -> None:
    assert Cron(expression).quartz == (len(expression.split()) > 5)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "has 0 fields"),
        ("hourly", "has 1 field\\..*5 .unix.* or 6 to 7 .Quartz"),
        ("0 0 0 * * ? 2024 1", "has 8 fields"),
        ("60 * * * *", "minute field .* 60 is out of range.*takes 0-59"),
        ("* 24 * * *", "hour field .* 24 is out of range"),
        ("* * 0 * *", "day-of-month field .* 0 is out of range.*takes 1-31"),
        ("* * * 13 *", "month field .* 13 is out of range.*1-12 or JAN-DEC"),
        ("* * * * 8", "day-of-week field .* 8 is out of range.*0-7 or SUN-SAT"),
        ("* * * * MOO", "day-of-week field .* 'MOO' is not a value"),
        ("* * * * ?", "'\\?' is not a value"),
        ("* * L * *", "'L' is not a value"),
        ("50-10 * * * *", "the range 50-10 runs backwards"),
        ("*/0 * * * *", "the step in '\\*/0' is not a number from 1 to 59"),
        ("*/x * * * *", "the step in '\\*/x' is not"),
        ("1,,2 * * * *", "'' is not a value"),
        ("5- * * * *", "'' is not a value"),
        ("60 0 0 * * ?", "seconds field .* 60 is out of range"),
        ("0 0 0 32W * ?", "day-of-month field .* 32 is out of range"),
        ("0 0 0 L-31 * ?", "day-of-month field"),
        ("0 0 0 ? * 0", "day-of-week field .* 0 is out of range.*1-7"),
        ("0 0 0 ? * 6#6", "'6#6' is not a value"),
        ("0 0 0 ? * 8L", "8 is out of range"),
        ("0 0 0 * * ? 1969", "year field .* 1969 is out of range"),
        ("0 0 0 * * *", "exactly one of the day fields"),
        ("0 0 0 ? * ?", "exactly one of the day fields"),
        ("0 0 ٣ * * ?", "'٣' is not a value"),
    ],
)
def test_cron_refused(expression: str, message: str) -> None:
    with pytest.raises(StatementError, match=message):
        Cron(expression)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires"])
def test_time_zone(zone: str) -> None:
    assert Cron("0 0 * * *", zone).time_zone == zone


@pytest.mark.parametrize(
    ("zone", "hint"),
    [
        ("europe/paris ", "Europe/Paris"),
        ("Mars", "Examples"),
        ("", "Examples"),
        ("../etc", "Examples"),
        ("America", ""),
    ],
)
def test_time_zone_refused(zone: str, hint: str) -> None:
    with pytest.raises(StatementError, match=f"is not a time zone.*{hint}"):
        Cron("0 0 * * *", zone)


def test_on_update_waits_at_least_a_minute() -> None:
    with pytest.raises(StatementError, match="shorter than a minute"):
        OnUpdate(59)
