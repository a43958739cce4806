"""The whole run: cases until there are enough or time is up, failures made small and written down."""

from __future__ import annotations

import math
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from queue import Empty
from typing import Any

from rennet.api import Engine
from rennet.errors import SessionError
from rennet.session import close, session
from rennet.testing.fuzz.cases import Batch, batches, coverage
from rennet.testing.fuzz.check import AUTO, Checker
from rennet.testing.fuzz.coverage import Pair
from rennet.testing.fuzz.outcome import Failure, Tally
from rennet.testing.fuzz.scenario import file_name, scenario
from rennet.testing.fuzz.settings import COMPILER, COMPILERS, SETTINGS
from rennet.testing.fuzz.shrink import Judge, Shrinker

ENDINGS = 4
"""Of so many batches, one goes on until nothing is left."""
LONG = 300
"""With more queries than this in one process, code that is compiled well pays."""
MOST_SHRUNK = 5
"""Failures beyond this many are written as they are."""


@dataclass(frozen=True)
class Options:
    """What to run."""

    seed: int
    cases: int
    """Queries per seed."""
    minutes: float | None = None
    case: int | None = None
    """Only this one."""
    every: bool = False
    """Every technique for every case, not a random one each time."""
    folder: Path | None = None
    """Where failures are written."""
    shrink_seconds: float = 120.0
    """Time to make one failure small; nothing leaves it as it is."""
    threads: int = 3
    """So many views are refreshed at once by each process."""
    seeds: int = 1
    """So many seeds in a row."""
    processes: int = 1
    """So many share the work, each with a Spark of its own."""


@dataclass
class Report:
    """What came of it."""

    seeds: range
    possible: set[Pair]
    """Operators that can stand directly above others."""
    tally: Tally = field(default_factory=Tally)
    failures: list[Failure] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    seconds: float = 0.0

    def lines(self) -> list[str]:
        found = [f"FAILED {failure}" for failure in self.failures]
        written = [f"  written to {path}" for path in self.files]
        covered = len(self.possible) - len(self.missing)
        pairs = f"{covered} of {len(self.possible)} operator pairs ({covered / len(self.possible):.1%})"
        seeds = f"seed {self.seeds[0]}" + (f" to {self.seeds[-1]}" if len(self.seeds) > 1 else "")
        outcome = f"{seeds}: {len(self.failures)} failures in {self.seconds:.0f} s"
        return [*found, *written, pairs, *self.tally.lines(), outcome]

    @property
    def missing(self) -> list[Pair]:
        """Pairs that no query had which Spark could run."""
        return sorted(self.possible - self.tally.pairs.keys())

    def add(self, other: Report) -> None:
        """Count what another process found too."""
        self.tally.add(other.tally)
        self.failures += other.failures
        self.files += other.files

    def to_dict(self) -> dict[str, Any]:
        return {
            "seeds": list(self.seeds),
            "seconds": self.seconds,
            "possible_pairs": len(self.possible),
            "missing_pairs": [" over ".join(pair) for pair in self.missing],
            "failures": [str(failure) for failure in self.failures],
            "files": [str(path) for path in self.files],
            **self.tally.to_dict(),
        }


def seed_of_today() -> int:
    """The date as a number: another seed every day, the same all day."""
    return int(datetime.now(UTC).strftime("%Y%m%d"))


Say = Callable[[str], None]
"""Is told what is going on."""


def run(options: Options, say: Say = lambda _: None) -> Report:
    """Run cases and report."""
    started = time.monotonic()
    if options.processes > 1:
        report = _run_in_processes(options, say)
    else:
        with small_session(options) as engine:
            report = run_batches(engine, options, say, count())
    report.seconds = time.monotonic() - started
    return report


def run_batches(engine: Engine, options: Options, say: Say, numbers: Iterator[int]) -> Report:
    """Run the batches with these numbers, which rise."""
    report = _empty(options)
    end = math.inf if options.minutes is None else time.monotonic() + options.minutes * 60
    checker = Checker(engine, options.every, threads=options.threads, end=end)
    wanted = next(numbers)
    for number, batch in enumerate(chain.from_iterable(_chosen(options, seed) for seed in report.seeds)):
        if number < wanted:
            continue
        say(f"seed {batch.seed}, cases {batch.cases[0].number} to {batch.cases[-1].number}")
        for failure in checker.run(batch, report.tally, endings=number % ENDINGS == 0):
            say(f"FAILED {failure}")
            report.failures.append(failure)
            left = min(options.shrink_seconds, end - time.monotonic())
            _record(engine, options, report, batch, failure, left)
        if time.monotonic() > end:
            break
        wanted = next(numbers)
    return report


def _empty(options: Options) -> Report:
    return Report(range(options.seed, options.seed + options.seeds), coverage().possible)


def _record(
    engine: Engine, options: Options, report: Report, batch: Batch, failure: Failure, seconds: float
) -> None:
    """Make a failure small, unless there are many or time is up, and write it down."""
    if options.folder is None:
        return
    small = replace(batch, cases=(failure.case,))
    if len(report.failures) <= MOST_SHRUNK and seconds > 0:
        small, failure = smallest(engine, batch, failure, seconds)
    report.files.append(_written(options.folder, small, failure))


def _chosen(options: Options, seed: int) -> Iterator[Batch]:
    """The batches of a seed to run, the last cut to the number asked for."""
    for batch in batches(seed, coverage(seed)):
        if options.case is not None:
            found = tuple(case for case in batch.cases if case.number == options.case)
            if found:
                yield replace(batch, cases=found)
                return
            continue
        cases = tuple(case for case in batch.cases if case.number < options.cases)
        if not cases:
            return
        yield replace(batch, cases=cases)


# -- making a failure small ---------------------------------------------------------------------------------


def smallest(engine: Engine, batch: Batch, failure: Failure, seconds: float) -> tuple[Batch, Failure]:
    """The failing case alone, as small as it gets in that time, and how it fails then."""
    ending = failure.step >= len(batch.changes)
    changes = batch.changes if ending else batch.changes[: failure.step + 1]
    alone = replace(batch, changes=changes, cases=(failure.case,))
    for checker in (Checker(engine, fixed=failure.technique or AUTO), Checker(engine, every=True)):
        found: dict[str, Failure] = {}
        judge = _judge(checker, failure, ending, found)
        if judge(alone):
            small = Shrinker(alone, judge, seconds).shrunk()
            return small, found.get(small.cases[0].sql, failure)
    return alone, failure


def _judge(checker: Checker, failure: Failure, ending: bool, found: dict[str, Failure]) -> Judge:
    """Fails in the same way, by the same technique; `found` keeps how, by query."""

    def judge(batch: Batch) -> set[int]:
        failures = [f for f in checker.run(batch, endings=ending) if f.kind is failure.kind]
        found.update({f.case.sql: f for f in failures})
        return {f.case.number for f in failures}

    return judge


def _written(folder: Path, batch: Batch, failure: Failure) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(batch)
    path.write_text(scenario(batch, failure))
    return path


# -- several processes --------------------------------------------------------------------------------------


def _run_in_processes(options: Options, say: Say) -> Report:
    """The batches are handed out one by one: Python runs one thread at a time, so one process leaves cores
    idle while it reads plans."""
    start = multiprocessing.get_context("spawn")
    messages: Any = start.Queue()
    shared = (options, start.Lock(), start.Value("q", 0), messages)
    workers = [start.Process(target=_worker, args=shared) for _ in range(options.processes)]
    for worker in workers:
        worker.start()
    try:
        return _collected(options, say, workers, messages)
    finally:
        for worker in workers:
            worker.terminate()


def _worker(options: Options, starting: Any, taken: Any, messages: Any) -> None:
    """One of them: says what it does, and at last what it found."""

    def numbers() -> Iterator[int]:
        while True:
            with taken.get_lock():
                number = taken.value
                taken.value += 1
            yield number

    with ExitStack() as open_session:
        with starting:  # Spark's resolver cannot download Delta's jars for two at once
            engine = open_session.enter_context(small_session(options))
        report = run_batches(engine, options, messages.put, numbers())
    messages.put(report)


def _collected(options: Options, say: Say, workers: list[Any], messages: Any) -> Report:
    """What they found, all together; one that died is an error, as its cases were not checked."""
    report, missing = _empty(options), len(workers)
    while missing:
        try:
            message = messages.get(timeout=5)
        except Empty:
            if dead := [worker for worker in workers if worker.exitcode]:
                raise SessionError(
                    f"A process that checks random queries ended with exit code {dead[0].exitcode}.",
                    "Its own messages are above. If memory ran out, use fewer --processes.",
                ) from None
            continue
        if isinstance(message, Report):
            report.add(message)
            missing -= 1
        else:
            say(message)
    return report


# -- a session ----------------------------------------------------------------------------------------------


@contextmanager
def small_session(options: Options) -> Iterator[Engine]:
    """An engine for tiny tables, in a warehouse that is gone afterwards."""
    long = options.seeds * options.cases / options.processes > LONG
    os.environ.setdefault("JAVA_TOOL_OPTIONS", COMPILERS if long else COMPILER)
    sys.setswitchinterval(0.0002)  # a thread that waits for the JVM's answer must not wait for others too
    place = tempfile.mkdtemp(prefix="rennet-fuzz-")
    try:
        spark = session(warehouse=place, cores=2, memory="3g", config=SETTINGS)
        try:
            yield Engine(spark)
        finally:
            close(spark)
    finally:
        shutil.rmtree(place, ignore_errors=True)
