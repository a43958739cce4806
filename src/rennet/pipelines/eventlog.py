"""The event log of a pipeline: a Delta table in its storage, one commit per update."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame

from rennet.errors import PipelineError, PlanError
from rennet.jvm import Jvm
from rennet.storage.sources import current, delta_log, last_marked
from rennet.storage.tables import first_line
from rennet.storage.transaction import Transaction

SCHEMA = (
    "id string, sequence bigint, "
    "origin struct<pipeline_name: string, update_id: string, dataset_name: string, flow_name: string>, "
    "timestamp timestamp, message string, level string, maturity_level string, "
    "error struct<fatal: boolean, exceptions: array<struct<class_name: string, message: string>>>, "
    "details string, event_type string, update_number bigint"
)
"""The columns of Databricks' event log, and the number of the update."""
APP = "rennet.updates"
SPACE = 1_000_000
"""Events are numbered in order; no update has so many."""


@dataclass(frozen=True)
class Event:
    """One thing that happened; details are JSON."""

    event_type: str
    message: str
    dataset: str = ""
    flow: str = ""
    level: str = "INFO"
    details: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class EventLog:
    """The log of one pipeline, in a folder."""

    jvm: Jvm
    pipeline: str
    path: str

    def exists(self) -> bool:
        tables = self.jvm.type("io.delta.tables.DeltaTable")
        return bool(tables.isDeltaTable(self.jvm.session, self.path))

    def last_update(self) -> int:
        """The number of the last update on record, 0 if there is none."""
        if not self.exists():
            return 0
        return max(0, last_marked(self.jvm, current(self.jvm, delta_log(self.jvm, self.path)), APP))

    def updated_at(self) -> datetime | None:
        """When the last update ended, from the log of the table alone; None if there was none."""
        if not self.exists():
            return None
        moment = current(self.jvm, delta_log(self.jvm, self.path)).timestamp()
        return datetime.fromtimestamp(moment / 1000, UTC)

    def record(self, update: int, events: list[Event]) -> None:
        """Write the events of an update, once."""
        number = update * SPACE
        rows = [
            (
                uuid4().hex, number + i, (self.pipeline, str(update), e.dataset or None, e.flow or None),
                e.timestamp, e.message, e.level, "STABLE", _error(e), json.dumps(e.details, default=str),
                e.event_type, update,
            )
            for i, e in enumerate(events)
        ]  # fmt: skip
        frame = self.jvm.spark.createDataFrame(rows, SCHEMA).coalesce(1)
        if not self.exists() or not self._appended(frame, update):
            once = {"txnAppId": APP, "txnVersion": str(update), "mergeSchema": "true"}
            frame.write.format("delta").mode("append").options(**once).save(self.path)

    def _appended(self, frame: DataFrame, update: int) -> bool:
        """Whether that was all: a log with other columns has to be widened first.

        Spark's writer would reconstruct the state of the table to learn which update was the last.
        """
        with Transaction(self.jvm, self.path) as transaction:
            if transaction.marked(APP) >= update:
                return True
            try:
                transaction.append(frame)
            except PlanError:
                return False
            transaction.commit({}, "UPDATE", (APP, update))
        return True

    def frame(self) -> DataFrame:
        """All events on record."""
        return self.jvm.spark.read.format("delta").load(self.path)

    def versions(self, update: int) -> dict[str, Any]:
        """What every dataset was after an update."""
        found = []
        if self.exists():
            done = f"event_type = 'update_progress' AND update_number = {int(update)}"
            found = self.frame().where(done).select("details").collect()
        if not found:
            raise PipelineError(f"There is no update {update} of {self.pipeline} on record.")
        versions: dict[str, Any] = json.loads(found[0]["details"])["versions"]
        return versions


def _error(event: Event) -> tuple[bool, list[tuple[str, str]]] | None:
    """What went wrong, and what that came from."""
    chain, error = [], event.error
    while error is not None:
        chain.append((type(error).__name__, first_line(error)))
        error = error.__cause__ if isinstance(error.__cause__, Exception) else None
    return (event.level == "ERROR", chain) if chain else None
