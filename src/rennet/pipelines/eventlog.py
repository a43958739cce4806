"""The event log of a pipeline: a Delta table in its storage, one commit per update."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame

from rennet.errors import PipelineError
from rennet.jvm import Jvm
from rennet.storage.transaction import Transaction

SCHEMA = (
    "id string, timestamp timestamp, event_type string, level string, update_number bigint, "
    "pipeline_name string, dataset_name string, flow_name string, message string, details string"
)
APP = "rennet.updates"


@dataclass(frozen=True)
class Event:
    """One thing that happened; details are JSON."""

    event_type: str
    message: str
    dataset: str = ""
    flow: str = ""
    level: str = "INFO"
    details: dict[str, Any] = field(default_factory=dict)
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
        with Transaction(self.jvm, self.path) as transaction:
            return max(0, transaction.applied(APP))

    def record(self, update: int, events: list[Event]) -> None:
        """Write the events of an update, once."""
        rows = [
            (
                uuid4().hex, e.timestamp, e.event_type, e.level, update, self.pipeline,
                e.dataset or None, e.flow or None, e.message, json.dumps(e.details, default=str),
            )
            for e in events
        ]  # fmt: skip
        frame = self.jvm.spark.createDataFrame(rows, SCHEMA).coalesce(1)
        once = {"txnAppId": APP, "txnVersion": str(update)}
        frame.write.format("delta").mode("append").options(**once).save(self.path)

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
