"""Rows of a plan that Spark computes outside of a DataFrame's action: fetched to the driver as Spark has them
inside, no value being converted on the way, or kept in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rennet.jvm import JavaObject, Jvm

EXECUTION = "spark.sql.execution.id"
DESCRIPTION = "spark.job.description"
EVENTS = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
COLLECTIONS = "scala.collection.immutable."


def first_rows(jvm: Jvm, plan: JavaObject, most: int, watched: bool) -> JavaObject:
    """The first rows of a physical plan; what its operators take is put on record if it is `watched`."""
    if not watched:
        return plan.executeTake(most)
    with _on_record(jvm, plan):
        return plan.executeTake(most)


def filled(jvm: Jvm, kept: JavaObject) -> JavaObject:
    """A relation that is kept in memory, when all of its rows are there: Spark knows its size then."""
    builder = kept.cacheBuilder()
    with _on_record(jvm, builder.cachedPlan()):
        builder.cachedColumnBuffers().count()
    return kept


@contextmanager
def _on_record(jvm: Jvm, plan: JavaObject) -> Iterator[None]:
    """Tell Spark's status store of a plan, as Spark itself does of those that it runs for a DataFrame."""
    context = jvm.session.sparkContext()
    post = context.listenerBus().post
    before = context.getLocalProperty(EXECUTION)
    number = jvm.singleton("org.apache.spark.sql.execution.SQLExecution").nextExecutionId()
    post(_started(jvm, plan, number, context.getLocalProperty(DESCRIPTION) or ""))
    context.setLocalProperty(EXECUTION, str(number))
    try:
        yield
    finally:
        context.setLocalProperty(EXECUTION, before)
        post(jvm.type(f"{EVENTS}End")(number, _now(), jvm.none, jvm.none))


def _started(jvm: Jvm, plan: JavaObject, number: int, description: str) -> JavaObject:
    operators = jvm.singleton("org.apache.spark.sql.execution.SparkPlanInfo").fromSparkPlan(plan)
    settings = jvm.kept("no settings", jvm.singleton(f"{COLLECTIONS}Map").empty)
    tags = jvm.kept("no tags", jvm.singleton(f"{COLLECTIONS}Set").empty)
    start = jvm.type(f"{EVENTS}Start")
    return start(
        number, jvm.none, description, "", "", operators, _now(), settings, tags, jvm.none, jvm.none
    )  # fmt: skip


def _now() -> int:
    """In milliseconds, as events have it."""
    return int(time.time() * 1000)
