"""What a project defines, as data: datasets, the flows into them, and where each was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pyspark.sql.types import StructType

from rennet.errors import Policy
from rennet.pipelines.cdc.options import CdcOptions
from rennet.sql.schedule import Schedule

Query = str | Callable[[], Any]
"""SQL text, or a function without arguments that returns a DataFrame."""


class DatasetKind(StrEnum):
    """What a dataset is, in words for messages."""

    MATERIALIZED_VIEW = "materialized view"
    STREAMING_TABLE = "streaming table"
    TEMPORARY_VIEW = "temporary view"
    VIEW = "view"
    SINK = "sink"


class Action(StrEnum):
    """What happens when a row does not meet an expectation."""

    WARN = "WARN"
    DROP = "DROP"
    FAIL = "FAIL"


@dataclass(frozen=True)
class Location:
    """A line of a file of the project."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Expectation:
    """A condition that every row should meet."""

    name: str
    condition: str
    action: Action = Action.WARN


@dataclass(frozen=True)
class Dataset:
    """Something that has a name and rows."""

    name: str
    kind: DatasetKind
    location: Location
    comment: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    partitioned_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    schema: StructType | str | None = None
    """Columns with types, where the user gave them."""
    columns: tuple[tuple[str, str], ...] = ()
    """New names of a view's columns, and their comments."""
    format: str = ""
    """Of a sink."""
    options: Mapping[str, str] = field(default_factory=dict)
    policy: Policy = Policy.AUTO
    schedule: Schedule | None = None
    expectations: tuple[Expectation, ...] = ()


@dataclass(frozen=True)
class SnapshotSource:
    """Where the snapshots of a table come from: a dataset, or a function of the last version seen."""

    source: str | Callable[[Any], Any]


@dataclass(frozen=True)
class Flow:
    """How rows get into a dataset."""

    name: str
    target: str
    location: Location
    query: Query | None = None
    """For flows that append or define; AUTO CDC has a source instead."""
    source: str = ""
    cdc: CdcOptions | None = None
    snapshots: SnapshotSource | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    once: bool = False
    database: str | None = None
    """The schema that unqualified names mean, if the file said USE."""
    expectations: tuple[Expectation, ...] = ()


@dataclass
class Project:
    """Everything a project defines, in the order in which it was read."""

    datasets: list[Dataset] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
