"""Runs schedules and triggers, in the foreground, until told to stop.

One thing is refreshed at a time. What was missed while nobody watched is made up for by one refresh, not by
many.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from rennet.pipelines.cron import next_fire
from rennet.sql.schedule import Every, OnUpdate, Schedule

POLL = 10.0
"""Seconds between two looks at the logs of sources, and at what views there are."""


class Clock(Protocol):
    """Tells the time and waits; tests have their own."""

    def now(self) -> datetime: ...

    def wait(self, seconds: float) -> bool:
        """Wait; true if it is time to stop."""
        ...


class SystemClock:
    """The real time, and an event that ends the waiting."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, seconds: float) -> bool:
        return self.stopped.wait(seconds)


class Watched(Protocol):
    """A view, a dataset or a whole pipeline that has a schedule."""

    @property
    def name(self) -> str: ...

    @property
    def schedule(self) -> Schedule: ...

    @property
    def refreshed_at(self) -> datetime: ...

    def moved(self) -> bool:
        """Whether a source has another version than when it was last refreshed; no data is read."""
        ...

    def refresh(self) -> str:
        """Bring it up to date; gives what was done."""
        ...


def due_at(schedule: Schedule, last: datetime) -> datetime | None:
    """When a view that was last refreshed then is to be refreshed next, or may be if its sources moved."""
    if isinstance(schedule, Every):
        return last + timedelta(seconds=schedule.seconds)
    if isinstance(schedule, OnUpdate):
        return last + timedelta(seconds=schedule.at_most_every or 0)
    return next_fire(schedule, last)


@dataclass
class Watch:
    """Looks at what is due, refreshes it, and waits for the next."""

    views: Callable[[], list[Watched]]
    clock: Clock
    told: Callable[[str], None] = lambda _: None
    poll: float = POLL
    _tried: dict[str, datetime] = field(default_factory=dict)

    def run(self) -> None:
        """Until the clock says stop."""
        while not self.clock.wait(self.turn()):
            pass

    def turn(self) -> float:
        """Refresh what is due now; gives how many seconds to wait."""
        wait = self.poll
        for view in self.views():
            due = due_at(view.schedule, self._last(view))
            if due is None:
                continue
            now = self.clock.now()
            if due > now:
                wait = min(wait, (due - now).total_seconds())
            elif not isinstance(view.schedule, OnUpdate) or self._moved(view):
                self._refresh(view)
        return wait

    def _last(self, view: Watched) -> datetime:
        """When it was last refreshed or tried: a refresh that finds nothing to do leaves no commit."""
        return max(view.refreshed_at, self._tried.get(view.name, view.refreshed_at))

    def _moved(self, view: Watched) -> bool:
        try:
            return view.moved()
        except Exception as error:  # a source that is gone must not end the watch
            self._tried[view.name] = self.clock.now()
            self.told(f"{view.name}: {error}")
            return False

    def _refresh(self, view: Watched) -> None:
        self._tried[view.name] = self.clock.now()
        try:
            self.told(f"{view.name}: {view.refresh()}")
        except Exception as error:  # the next turn tries again, and the other views go on
            self.told(f"{view.name}: failed: {error}")
