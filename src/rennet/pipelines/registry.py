"""Takes what Spark's own decorators register, and what rennet's add to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark import pipelines as spark_pipelines
from pyspark.pipelines import output
from pyspark.pipelines.flow import AutoCdcFlow
from pyspark.pipelines.flow import Flow as SparkFlow
from pyspark.pipelines.graph_element_registry import (
    GraphElementRegistry,
    get_active_graph_element_registry,
    graph_element_registration_context,
)
from pyspark.pipelines.source_code_location import SourceCodeLocation

from rennet.errors import PipelineError
from rennet.pipelines.definitions import Dataset, DatasetKind, Expectation, Flow, Location, Project
from rennet.pipelines.sqlfiles import read_sql

EXPECTATIONS = "__rennet_expectations__"
"""The attribute of a query function that holds its expectations."""

KINDS: dict[type[output.Output], DatasetKind] = {
    output.MaterializedView: DatasetKind.MATERIALIZED_VIEW,
    output.StreamingTable: DatasetKind.STREAMING_TABLE,
    output.TemporaryView: DatasetKind.TEMPORARY_VIEW,
    output.Sink: DatasetKind.SINK,
}


class Registry(GraphElementRegistry):
    """Collects a project. Paths are shown relative to its root."""

    def __init__(self, root: Path, database: str | None = None) -> None:
        self.root = root
        self.database = database
        self.project = Project()

    def register_output(self, output: output.Output) -> None:
        given: dict[str, Any] = {
            "properties": dict(getattr(output, "table_properties", {})),
            "partitioned_by": tuple(getattr(output, "partition_cols", None) or ()),
            "cluster_by": tuple(getattr(output, "cluster_by", None) or ()),
            "schema": getattr(output, "schema", None),
            "format": getattr(output, "format", None) or "",
            "options": dict(getattr(output, "options", {})),
        }
        where = self.location(output.source_code_location)
        self.project.datasets.append(
            Dataset(output.name, KINDS[type(output)], where, output.comment or "", **given)
        )

    def register_flow(self, flow: SparkFlow) -> None:
        where = self.location(flow.source_code_location)
        found: tuple[Expectation, ...] = tuple(getattr(flow.func, EXPECTATIONS, ()))
        self.add_flow(
            Flow(flow.name, flow.target, where, flow.func, conf=dict(flow.spark_conf), expectations=found)
        )

    def register_auto_cdc_flow(self, flow: AutoCdcFlow) -> None:
        raise PipelineError(
            "This AUTO CDC flow was defined by Spark's own function, whose columns belong to Spark Connect.",
            "Import pyspark.pipelines in the pipeline's files, not before.",
        )

    def register_sql(self, sql_text: str, file_path: Path) -> None:
        found = read_sql(sql_text, str(file_path), self.database)
        self.project.datasets += found.datasets
        self.project.flows += found.flows

    def add_dataset(self, dataset: Dataset) -> None:
        self.project.datasets.append(dataset)

    def add_flow(self, flow: Flow) -> None:
        self.project.flows.append(flow)

    def location(self, found: SourceCodeLocation) -> Location:
        path = Path(found.filename)
        inside = path.is_relative_to(self.root)
        return Location(str(path.relative_to(self.root) if inside else path), found.line_number)


def active() -> Registry:
    """The registry of the project being read; an error outside of one."""
    found = get_active_graph_element_registry()
    if not isinstance(found, Registry):
        raise PipelineError("This function of rennet.pipelines needs rennet.", "Run it with `rennet run`.")
    return found


@contextmanager
def registering(registry: Registry) -> Iterator[None]:
    """While a project is read: decorators register here, and `pyspark.pipelines` has rennet's AUTO CDC.

    Spark's own needs Spark Connect's client and knows type 1 only.
    """
    from rennet.pipelines import api

    before = spark_pipelines.create_auto_cdc_flow
    spark_pipelines.create_auto_cdc_flow = api.create_auto_cdc_flow
    try:
        with graph_element_registration_context(registry):
            yield
    finally:
        spark_pipelines.create_auto_cdc_flow = before
