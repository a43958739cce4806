"""Cron expressions, and a watch whose clock the test drives."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from rennet.pipelines.cron import next_fire
from rennet.pipelines.watch import Watch, Watched
from rennet.sql.schedule import Cron, Every, OnUpdate, Schedule


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        ("*/15 * * * *", "UTC", "2026-01-01T00:00", "2026-01-01T00:15"),
        ("0 6 * * MON-FRI", "UTC", "2026-01-02T06:00", "2026-01-05T06:00"),
        ("0 0 13 * 5", "UTC", "2026-03-01T00:00", "2026-03-06T00:00"),
        ("0 0 * * 7", "UTC", "2026-03-02T00:00", "2026-03-08T00:00"),
        ("30 0 6 * * ?", "UTC", "2026-01-01T06:00:30", "2026-01-02T06:00:30"),
        ("0 0 0 L * ?", "UTC", "2026-02-01T00:00", "2026-02-28T00:00"),
        ("0 0 0 L-2 * ?", "UTC", "2026-02-01T00:00", "2026-02-26T00:00"),
        ("0 0 0 LW * ?", "UTC", "2026-05-01T00:00", "2026-05-29T00:00"),
        ("0 0 0 15W * ?", "UTC", "2026-08-01T00:00", "2026-08-14T00:00"),
        ("0 0 0 1W * ?", "UTC", "2026-07-15T00:00", "2026-08-03T00:00"),
        ("0 0 0 ? * 6#3", "UTC", "2026-01-01T00:00", "2026-01-16T00:00"),
        ("0 0 0 ? * 6L", "UTC", "2026-01-01T00:00", "2026-01-30T00:00"),
        ("0 0 0 ? * FRI-MON", "UTC", "2026-01-06T00:00", "2026-01-09T00:00"),
        ("0 5/20 * * * ?", "UTC", "2026-01-01T00:46", "2026-01-01T01:05"),
        ("0 0 0 29 2 ? 2028", "UTC", "2026-01-01T00:00", "2028-02-29T00:00"),
        ("0 2 * * *", "Europe/Berlin", "2026-06-01T12:00", "2026-06-02T00:00"),
        # The night the clocks go forward has no half past two, the one they go back has two.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", "2026-03-30T00:30"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30", "2026-10-26T01:30"),
    ],
)
def test_a_cron_expression_fires(expression: str, zone: str, after: str, expected: str) -> None:
    assert next_fire(Cron(expression, zone), at(after)) == at(expected)


def test_a_cron_expression_that_is_over_never_fires() -> None:
    assert next_fire(Cron("0 0 0 1 1 ? 2020"), at("2026-01-01T00:00")) is None


@dataclass
class FakeClock:
    time: datetime
    until: datetime

    def now(self) -> datetime:
        return self.time

    def wait(self, seconds: float) -> bool:
        self.time += timedelta(seconds=seconds)
        return self.time > self.until


@dataclass
class FakeView:
    name: str
    schedule: Schedule
    refreshed_at: datetime
    clock: FakeClock
    changes_at: list[datetime] = field(default_factory=list)
    fails: bool = False
    refreshes: list[datetime] = field(default_factory=list)

    def moved(self) -> bool:
        last = self.refreshes[-1] if self.refreshes else self.refreshed_at
        return any(last < each <= self.clock.time for each in self.changes_at)

    def refresh(self) -> str:
        self.refreshes.append(self.clock.time)
        if self.fails:
            raise ValueError("no luck")
        return "done"


START = at("2026-01-01T00:00")


def watched(schedule: Schedule, minutes: int, down_since: int = 0, **given: object) -> FakeView:
    clock = FakeClock(START, START + timedelta(minutes=minutes))
    view = FakeView("v", schedule, START - timedelta(minutes=down_since), clock, **given)  # type: ignore[arg-type]
    views: list[Watched] = [view]
    Watch(lambda: views, clock).run()
    return view


def test_every_so_often() -> None:
    assert watched(Every(10, "MINUTES"), 30).refreshes == [START + timedelta(minutes=m) for m in (10, 20, 30)]


def test_what_was_missed_is_made_up_for_once() -> None:
    assert watched(Every(10, "MINUTES"), 5, down_since=600).refreshes == [START]
    assert watched(Cron("0 * * * *"), 30, down_since=600).refreshes == [START]


def test_a_trigger_waits_for_a_change_and_for_its_floor() -> None:
    changes = [START + timedelta(minutes=m) for m in (5, 6, 7)]
    found = watched(OnUpdate(), 20, changes_at=changes).refreshes
    assert found == changes
    found = watched(OnUpdate(600), 30, changes_at=changes).refreshes
    assert found == [START + timedelta(minutes=10)]


def test_a_failing_view_is_tried_again_at_its_next_time() -> None:
    assert len(watched(Every(10, "MINUTES"), 30, fails=True).refreshes) == 3
