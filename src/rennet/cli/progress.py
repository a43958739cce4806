"""A spinner on the terminal that says what is being done, what Spark is doing, and for how long."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pyspark import SparkContext
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

INTERVAL = 0.5
STANDARD_ERROR = 2


class Activity:
    """Shows what is going on, if the standard error is a terminal; otherwise does nothing."""

    def __init__(self, shown: bool | None = None) -> None:
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._console: Console | None = None
        self._what = ""

    def now(self, what: str) -> None:
        """What is being done from now on."""
        self._what = what

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Spin while the block runs; nothing of it remains on the screen."""
        self.now(what)
        if not self._shown:
            yield
            return
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        ended = threading.Event()
        with Progress(*columns, console=self._terminal(), transient=True) as progress:
            task = progress.add_task(what, total=None)
            watch = threading.Thread(target=self._watch, args=(progress, task, ended), daemon=True)
            watch.start()
            try:
                yield
            finally:
                ended.set()
                watch.join()

    def _terminal(self) -> Console:
        """A way to the terminal of its own: Spark's start sends the standard error elsewhere."""
        if self._console is None:
            self._console = Console(file=os.fdopen(os.dup(STANDARD_ERROR), "w"), highlight=False)
        return self._console

    def _watch(self, progress: Progress, task: TaskID, ended: threading.Event) -> None:
        while not ended.wait(INTERVAL):
            progress.update(task, description=f"{self._what}{running()}")


def running() -> str:
    """The stages Spark is working on, in a few words."""
    with suppress(Exception):
        context = SparkContext._active_spark_context
        if context is None:
            return ""
        tracker = context.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        if known:
            done = sum(stage.numCompletedTasks for stage in known)
            total = sum(stage.numTasks for stage in known)
            return f" · Spark: {known[0].name.split(' at ')[0]}, {done} of {total} tasks"
    return ""
