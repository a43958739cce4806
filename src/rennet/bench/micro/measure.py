"""What a piece of work took: wall time, executor CPU time, and the rows and bytes of Spark's stages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

from rennet.jvm import JavaObject, Jvm

Said = Callable[[str], None]
"""Is told what a benchmark is doing."""


@dataclass(frozen=True)
class Sample:
    """One measurement; None where nobody can tell."""

    wall_seconds: float
    cpu_seconds: float
    jobs: int | None = None
    rows_read: int | None = None
    bytes_read: int | None = None
    rows_written: int | None = None
    bytes_written: int | None = None


FIGURES = tuple(field.name for field in fields(Sample))


class Probe:
    """Measures work on a session that nobody else is using."""

    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self._context = jvm.session.sparkContext()
        # Bytes that Parquet reads several ranges at a time are in none of Spark's counters.
        jvm.spark.conf.set("parquet.hadoop.vectored.io.enabled", "false")

    def measured(self, work: Callable[[], object]) -> Sample:
        """Do the work; all Spark jobs that start meanwhile count as its own."""
        self._settle()
        first = self._jobs_so_far()
        started = time.perf_counter()
        work()
        wall = time.perf_counter() - started
        self._settle()
        stages = list(self._stages(first, self._jobs_so_far()))
        return Sample(
            wall,
            sum(stage.executorCpuTime() for stage in stages) / 1e9,
            self._jobs_so_far() - first,
            sum(stage.inputRecords() for stage in stages),
            sum(stage.inputBytes() for stage in stages),
            sum(stage.outputRecords() for stage in stages),
            sum(stage.outputBytes() for stage in stages),
        )

    def heap_megabytes(self) -> float:
        """What the driver holds on to: used heap after a collection."""
        self._jvm.type("java.lang.System").gc()
        beans = self._jvm.type("java.lang.management.ManagementFactory")
        return float(beans.getMemoryMXBean().getHeapMemoryUsage().getUsed()) / 1e6

    def _settle(self) -> None:
        self._context.listenerBus().waitUntilEmpty()

    def _jobs_so_far(self) -> int:
        return int(self._context.dagScheduler().numTotalJobs())

    def _stages(self, first: int, end: int) -> Iterator[JavaObject]:
        """The stages that ran, each once: a stage that a later job finds done is skipped there."""
        store = self._context.statusStore()
        numbers = {
            int(stage) for job in range(first, end) for stage in self._jvm.iterate(store.job(job).stageIds())
        }
        for number in sorted(numbers):
            stage = self._stage(store, number)
            if stage is not None:
                yield stage

    def _stage(self, store: JavaObject, number: int) -> JavaObject | None:
        try:
            return store.lastStageAttempt(number)
        except Exception:  # a stage that was skipped was never recorded
            return None
