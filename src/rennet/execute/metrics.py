"""Wall and executor CPU time of what one refresh ran."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

from rennet.jvm import JavaObject, Jvm


@dataclass(frozen=True)
class Measured:
    """What a block of code took."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    jobs: int = 0


CALL_SITES = ("callSite.short", "callSite.long")
"""What Spark shows as the place in the code that a job or a table in memory comes from. Unless it is told, it
walks the stack for every one of the hundreds of datasets that a plan is made of."""


class Meter:
    """Counts the Spark jobs of a block of code by giving them a job group of their own."""

    def __init__(self, jvm: Jvm, description: str) -> None:
        self._jvm = jvm
        self._context = jvm.spark.sparkContext
        self._group = f"rennet-{uuid4()}"
        self._started = time.perf_counter()
        self._description = description
        self._read = Measured()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Jobs started inside belong to this meter."""
        names = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel", *CALL_SITES)
        before = [(name, self._context.getLocalProperty(name)) for name in names]
        self._context.setJobGroup(self._group, self._description)
        for name in CALL_SITES:
            self._context.setLocalProperty(name, self._description)
        try:
            yield
        finally:
            for name, value in before:
                self._context.setLocalProperty(name, value)  # type: ignore[arg-type]

    def wall(self) -> float:
        return time.perf_counter() - self._started

    def read(self) -> Measured:
        """What has run so far."""
        jobs = list(self._context.statusTracker().getJobIdsForGroup(self._group))
        if len(jobs) == self._read.jobs:
            return replace(self._read, wall_seconds=self.wall())
        spark_context = self._jvm.session.sparkContext()
        spark_context.listenerBus().waitUntilEmpty()
        store = spark_context.statusStore()
        stages = {stage for job in jobs for stage in self._stages(store, job)}
        nanoseconds = sum(self._cpu(store, stage) for stage in stages)
        self._read = Measured(self.wall(), nanoseconds / 1e9, len(jobs))
        return self._read

    def _stages(self, store: JavaObject, job: int) -> list[int]:
        return [int(stage) for stage in self._jvm.texts(store.job(job).stageIds())]

    def _cpu(self, store: JavaObject, stage: int) -> int:
        try:
            return int(store.lastStageAttempt(stage).executorCpuTime())
        except Exception:  # a stage that was skipped was never recorded
            return 0
