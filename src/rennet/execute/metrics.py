"""Wall and executor CPU time of what one refresh ran, and of its operators."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from rennet.cost.operators import Kind
from rennet.cost.rates import Rates
from rennet.cost.spent import Execution, Spent, Stage, divided, execution
from rennet.jvm import JavaObject, Jvm
from rennet.storage.sources import to_json

WORTH_DIVIDING = 0.25
"""CPU seconds of a refresh below which it is not asked what its operators took: all of it is fixed cost."""
WORTH_READING = 0.05
"""The same for one plan that it ran; Spark's own about Delta's logs count as jobs, however long they took."""
OF_DELTA = "Delta: "
"""How Delta describes plans over its log."""


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
        self._seconds: dict[int, float] = {}
        """CPU time of every stage, once it was read."""
        self._first_execution = self._next_execution()

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
        self._seconds = {stage: self._cpu(store, stage) / 1e9 for stage in stages}
        self._read = Measured(self.wall(), sum(self._seconds.values()), len(jobs))
        return self._read

    def operators(self, columns: int, rates: Rates) -> list[Spent]:
        """What the operators took of the CPU time read last; `columns` is how many a written row has.

        Nothing if that was little, or if Spark does not tell: it is asked only to learn for the next time.
        """
        if sum(self._seconds.values()) < WORTH_DIVIDING:
            return []
        try:
            large, fixed = self._executions()
            return [*divided(large, columns, rates), Spent("Jobs", Kind.COMMIT, 0.0, 0.0, fixed)]
        except Exception:
            return []

    def _executions(self) -> tuple[list[Execution], float]:
        """The plans that ran for long enough, with their metrics and stages, and what all others took.

        A job that belongs to no plan is in neither: what it took may have been anything.
        """
        store = self._jvm.session.sharedState().statusStore()
        large, fixed = [], 0.0
        for number in range(self._first_execution, self._next_execution()):
            found = self._jvm.value(store.execution(number))
            if found is None:
                continue
            stages = {int(s) for s in self._jvm.texts(found.stages()) if self._seconds.get(int(s), 0.0) > 0}
            seconds = sum(self._seconds[s] for s in stages)
            if seconds < WORTH_READING or str(found.description()).startswith(OF_DELTA):
                fixed += seconds
                continue
            graph, metrics = self._json(store.planGraph(number)), store.executionMetrics(number)
            large.append(execution(graph, self._json(metrics), {s: self._stage(s) for s in stages}))
        return large, fixed

    def _stage(self, number: int) -> Stage:
        told = self._json(self._jvm.session.sparkContext().statusStore().lastStageAttempt(number))
        counted = ("inputBytes", "outputRecords", "outputBytes", "shuffleWriteRecords")
        return Stage(self._seconds[number], *(float(told[name]) for name in counted))

    def _json(self, told: JavaObject) -> Any:
        """An object of the JVM with all it holds."""
        return json.loads(to_json(self._jvm, told))

    def _next_execution(self) -> int:
        """A number above those of all plans that ran so far."""
        return int(self._jvm.singleton("org.apache.spark.sql.execution.SQLExecution").nextExecutionId())

    def _stages(self, store: JavaObject, job: int) -> list[int]:
        return [int(stage) for stage in self._jvm.texts(store.job(job).stageIds())]

    def _cpu(self, store: JavaObject, stage: int) -> int:
        try:
            return int(store.lastStageAttempt(stage).executorCpuTime())
        except Exception:  # a stage that was skipped was never recorded
            return 0
