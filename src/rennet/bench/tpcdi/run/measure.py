"""What a block of code cost: wall time, and from Spark's status store CPU, rows, bytes and tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from rennet.bench.tpcdi.run.load import Interval, Point, busy, load, peak
from rennet.bench.windows import scanning
from rennet.jvm import JavaObject, Jvm

MOST_TASKS = 100_000
"""As many tasks of a stage as are looked at; Spark itself keeps no more of all stages together."""


@dataclass
class Measured:
    """Filled when the measured block ends."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    idle_seconds: float = 0.0
    """How long no task ran: planning, reading logs, committing."""
    jobs: int = 0
    stages: int = 0
    tasks: int = 0
    peak_tasks: int = 0
    rows_read: int = 0
    bytes_read: int = 0
    rows_written: int = 0
    bytes_written: int = 0
    shuffled_bytes: int = 0
    spilled_bytes: int = 0
    load: list[Point] = field(default_factory=list)
    """Seconds since the block began, and the number of tasks running from then on."""
    scans: dict[str, int] = field(default_factory=dict)
    """Rows that scans put out, by table."""


SUMS = {
    "rows_read": ("inputRecords",),
    "bytes_read": ("inputBytes",),
    "rows_written": ("outputRecords",),
    "bytes_written": ("outputBytes",),
    "shuffled_bytes": ("shuffleWriteBytes",),
    "spilled_bytes": ("memoryBytesSpilled", "diskBytesSpilled"),
}
"""What is added up over stages, and of which of Spark's counters."""


@contextmanager
def measuring(spark: SparkSession) -> Iterator[Measured]:
    """Measure a block, which must be all that runs on this Spark meanwhile."""
    found = Measured()
    jvm = Jvm.of(spark)
    context = jvm.session.sparkContext()
    store = context.statusStore()
    scheduler = context.dagScheduler()
    with scanning(spark) as scans:
        first = scheduler.numTotalJobs()
        began, started = time.time(), time.perf_counter()
        yield found
        found.wall_seconds = time.perf_counter() - started
    found.scans = dict(scans)
    jobs = [store.job(number) for number in range(first, scheduler.numTotalJobs())]
    found.jobs = len(jobs)
    numbers = sorted({int(stage) for job in jobs for stage in jvm.iterate(job.stageIds())})
    tasks = [interval for number in numbers for interval in _stage(jvm, store, number, found)]
    found.load = load((round(begin - began, 3), round(end - began, 3)) for begin, end in tasks)
    found.tasks, found.peak_tasks = len(tasks), peak(found.load)
    found.idle_seconds = max(0.0, found.wall_seconds - busy(found.load))


def _stage(jvm: Jvm, store: JavaObject, number: int, found: Measured) -> list[Interval]:
    """Add what a stage did; gives the times of its tasks."""
    try:
        stage = store.lastStageAttempt(number)
    except Exception:  # a stage whose result was there already is in no store
        return []
    if stage.numCompleteTasks() == 0:
        return []
    found.stages += 1
    found.cpu_seconds += stage.executorCpuTime() / 1e9
    for name, counters in SUMS.items():
        amount = sum(int(getattr(stage, counter)()) for counter in counters)
        setattr(found, name, getattr(found, name) + amount)
    return [_times(task) for task in jvm.items(store.taskList(number, stage.attemptId(), MOST_TASKS))]


def _times(task: Any) -> Interval:
    """When a task began and ended, in seconds of the clock.

    It ended when the executor was done with it: what Spark calls its duration goes on until the driver has
    looked at the result, when the next task may be running in its place.
    """
    begin = task.launchTime().getTime() / 1000
    metrics = task.taskMetrics()
    if metrics.isEmpty():
        return begin, begin
    found = metrics.get()
    took = found.executorDeserializeTime() + found.executorRunTime() + found.resultSerializationTime()
    return begin, begin + int(took) / 1000
