"""The tables of a pipeline as they were, together, after one of its updates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from rennet.api import Engine
from rennet.errors import PipelineError
from rennet.execute.leaves import pinned_leaf
from rennet.jvm import Jvm
from rennet.pipelines.eventlog import EventLog
from rennet.pipelines.graph import full_name
from rennet.pipelines.registered import only
from rennet.pipelines.spec import load_spec
from rennet.plan.pinning import Pinning
from rennet.storage.names import quote
from rennet.storage.sources import SourceVersion


@dataclass(frozen=True)
class AsOf:
    """All stored datasets of a pipeline as of one update."""

    jvm: Jvm
    database: str
    update: int
    versions: dict[str, Any]

    def table(self, name: str) -> DataFrame:
        """A dataset as it was then; the rows must not have been vacuumed since."""
        key = full_name(name, self.database)
        if key not in self.versions:
            known = ", ".join(sorted(self.versions)) or "nothing"
            raise PipelineError(f"{name} was not stored at update {self.update}.", f"Stored was {known}.")
        at = SourceVersion.from_dict(self.versions[key])
        schema, table = key.split(".")
        plan = self.jvm.analyzed(self.jvm.spark.table(f"{quote(schema)}.{quote(table)}"))
        try:
            pinned = Pinning(self.jvm, pinned_leaf(self.jvm, {at.path: at}), datetime.now(UTC)).plan(plan)
        except KeyError:
            raise PipelineError(
                f"{name} was replaced since update {self.update}.",
                "Rows from before it was computed anew under another definition are gone.",
            ) from None
        return self.jvm.dataframe(pinned)


def at_update(engine: Engine, number: int, pipeline: str | None) -> AsOf:
    """The tables of a pipeline of the catalog, which need not be named if there is no other."""
    found = only(engine.spark, pipeline)
    spec = load_spec(Path(found.spec))
    jvm = Jvm.of(engine.spark)
    log = EventLog(jvm, spec.name, str(spec.storage_path() / "events"))
    return AsOf(jvm, found.database, number, log.versions(number))
