"""Which pipelines a catalog has: each is noted among the properties of the schema it writes to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from rennet.errors import PipelineError
from rennet.jvm import Jvm
from rennet.storage.names import quote, quote_string

PREFIX = "rennet.pipeline."


@dataclass(frozen=True, order=True)
class Registered:
    """A pipeline that has been run in this catalog."""

    name: str
    database: str
    spec: str
    """The path of its specification."""


def pipelines(spark: SparkSession) -> list[Registered]:
    """All pipelines of the catalog, by name."""
    jvm = Jvm.of(spark)
    databases = jvm.items(jvm.session.sessionState().catalog().listDatabases())
    found = [(str(each), _properties(jvm, str(each))) for each in databases]
    return sorted(
        Registered(key.removeprefix(PREFIX), database, path)
        for database, properties in found
        for key, path in properties.items()
        if key.startswith(PREFIX)
    )


def register(spark: SparkSession, name: str, database: str, spec: Path) -> None:
    """Note where a pipeline is, unless it is noted already."""
    key, path = PREFIX + name, str(spec)
    if _properties(Jvm.of(spark), database).get(key) == path:
        return
    pair = f"{quote_string(key)} = {quote_string(path)}"
    spark.sql(f"ALTER SCHEMA {quote(database)} SET DBPROPERTIES ({pair})")


def only(spark: SparkSession, name: str | None) -> Registered:
    """The pipeline of that name, perhaps with its schema, or the only one there is."""
    every = pipelines(spark)
    found = [each for each in every if name in (None, each.name, f"{each.database}.{each.name}")]
    if len(found) == 1:
        return found[0]
    known = ", ".join(f"{each.database}.{each.name}" for each in every) or "none"
    if not found:
        what = "no pipeline" if name is None else f"no pipeline {name}"
        raise PipelineError(
            f"This catalog has {what}.", f"There is {known}; `rennet run` adds one by running it."
        )
    raise PipelineError(f"{len(found)} pipelines could be meant.", f"Name one: there are {known}.")


def _properties(jvm: Jvm, database: str) -> dict[str, str]:
    found = jvm.session.sessionState().catalog().getDatabaseMetadata(database).properties()
    return {str(pair._1()): str(pair._2()) for pair in jvm.iterate(found)}
