"""Where a refresh runs: a session of its own, with settings fitted to the work.

The session is a clone, so whatever is set here is never seen by the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rennet.jvm import Jvm

SMALL_WORK = 64 << 20
"""Below this many bytes in all sources, Spark's planning costs more than any plan."""

TINY_WORK = 1 << 18
"""Below this many, one task does it all sooner than several, compiling costs more than it saves, and looking
up which values a change can meet costs more than the files that could be skipped."""

WORTH_KEY_RANGES = 256 << 20
"""From this many bytes on it pays to look up between which keys those of a change lie, in a job more."""

WORTH_A_CORE = 2 << 20
"""A core more for so many bytes of the sources, where all of them are gone through."""

LITTLE = 16 << 20
"""So many bytes sent from task to task, by one operator, call for no plan that adapts to them."""

ALWAYS = {
    # Views are defined with whatever names their columns have.
    "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled": "true",
    # A change that is kept has as many parts as its size asks for, not as many as a shuffle has at most: each
    # part is a task, and a file that is written.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    # Where this is on, Spark makes a session of its own to plan each relation that is kept, with this off.
    "spark.sql.sources.bucketing.autoBucketedScan.enabled": "false",
    # Of rows that are fetched all are wanted: Spark would run one task, and then a job for the others.
    "spark.sql.limit.initialNumPartitions": "1000",
}
FOR_SMALL_WORK = {
    # Every stage of an adaptive query is a job of its own; there is nothing to adapt to here.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # Spark writes out every plan it runs, for a page nobody looks at.
    "spark.sql.debug.maxToStringFields": "1",
}

FOR_TINY_WORK = {
    # Compiling a stage takes as long as running it for thousands of rows.
    "spark.sql.codegen.wholeStage": "false",
    # So does compiling what makes the rows of one operator, of which a plan has dozens.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Nothing is compiled, so that this text of the plan, which no one looks at either, is a line.
    "spark.sql.ui.explainMode": "codegen",
    # All rows are in one task then; sending some of them to it would be a job of its own.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}

EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
WRONG_RULE = "org.apache.spark.sql.catalyst.optimizer.PushProjectionThroughLimitAndOffset"
"""It moves a subquery in SELECT below the LIMIT of its FROM. There it becomes a join, and a sort below a join
is dropped: any rows at all are taken instead of the first ones."""


@contextmanager
def workspace(jvm: Jvm) -> Iterator[Jvm]:
    """A clone of the session for one piece of work, which begins now unless it began before."""
    clone = (jvm if jvm.work else jvm.begin()).clone()
    excluded = clone.spark.conf.get(EXCLUDED_RULES, "")
    clone.spark.conf.set(EXCLUDED_RULES, f"{excluded},{WRONG_RULE}" if excluded else WRONG_RULE)
    for name, value in ALWAYS.items():
        clone.spark.conf.set(name, value)
    with clone.active():
        yield clone


@contextmanager
def lightly(jvm: Jvm, moved_bytes: float) -> Iterator[None]:
    """Settings for a plan that sends so many bytes from task to task, until its end.

    If that is little, there is nothing to adapt to, however large the sources are: every stage of an adaptive
    query is planned anew, and is a job of its own.
    """
    if moved_bytes > LITTLE or jvm.spark.conf.get("spark.sql.adaptive.enabled") != "true":
        yield
        return
    cores = jvm.spark.sparkContext.defaultParallelism
    parts = min(cores, 1 + int(moved_bytes) // WORTH_A_CORE)
    fitting = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": str(parts)}
    before = {name: str(jvm.spark.conf.get(name)) for name in fitting}
    for name, value in fitting.items():
        jvm.spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            jvm.spark.conf.set(name, value)


def fit(jvm: Jvm, source_bytes: int, heavy: bool = False) -> None:
    """Settings for work over sources of this size; `heavy` work goes through much of them."""
    fitting = dict(FOR_SMALL_WORK) if source_bytes < SMALL_WORK else {}
    if source_bytes < TINY_WORK:
        fitting |= FOR_TINY_WORK
    elif heavy and fitting:
        # What changed is little and is written as one file; everything is enough for all cores.
        cores = jvm.spark.sparkContext.defaultParallelism
        fitting["spark.sql.shuffle.partitions"] = str(min(cores, 1 + source_bytes // WORTH_A_CORE))
    for name, value in fitting.items():
        jvm.spark.conf.set(name, value)
