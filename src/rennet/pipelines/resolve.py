"""Turns definitions into a graph: every query is analyzed, and what it reads is found in its plan.

Nothing is computed. What a query reads but does not exist yet gets a stand-in with the right columns for as
long as the analysis lasts; views that exist with other columns are shadowed by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from rennet.errors import InvalidNameError, PipelineError, RennetError
from rennet.execute.planning import check_is_query, current_database
from rennet.jvm import Jvm
from rennet.pipelines.cdc.apply import shape_of
from rennet.pipelines.cdc.snapshots import columns_of
from rennet.pipelines.definitions import DatasetKind, Flow, Project
from rennet.pipelines.graph import InvalidGraphError, Node, Problem, assemble, full_name, order
from rennet.pipelines.plans import reading
from rennet.pipelines.standins import StandIns
from rennet.storage.names import ViewName, quote, split_name
from rennet.storage.tables import first_line

MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "DELTA_TABLE_NOT_FOUND")


@dataclass(frozen=True)
class Graph:
    """A pipeline that can be run."""

    nodes: dict[str, Node]
    inputs: dict[str, tuple[str, ...]]
    """What each node reads of the others."""
    schemas: dict[str, StructType]
    database: str
    sources: dict[str, dict[str, str]] = field(default_factory=dict)
    """The Delta tables outside of the pipeline that each node reads: their names, by path."""

    def ordered(self) -> list[Node]:
        """Every node after all that it reads."""
        return [self.nodes[key] for key in order(self.inputs)]

    def below(self, key: str) -> list[Node]:
        """Everything that reads the node, directly or through others."""
        found = {key}
        for node in self.ordered():
            if found & set(self.inputs[node.key]):
                found.add(node.key)
        return [self.nodes[each] for each in found - {key}]


class NotResolved(Exception):  # noqa: N818 - not an error, but the end of one branch of the walk
    """A dataset that this one reads has a problem of its own."""


def resolve(jvm: Jvm, project: Project, database: str) -> Graph:
    """The graph of a project, or all that is wrong with it."""
    nodes, problems = assemble(project, database)
    with StandIns(jvm) as stand_ins:
        walk = Walk(jvm, nodes, database, stand_ins)
        while walk.round():
            pass
    if problems or walk.problems:
        raise InvalidGraphError({str(each): each for each in problems + walk.problems}.values())
    inputs = {key: tuple(walk.inputs[key]) for key in nodes}
    return Graph(nodes, inputs, walk.schemas, database, walk.sources)


class Walk:
    """Visits datasets depth first, each after what it reads."""

    def __init__(self, jvm: Jvm, nodes: dict[str, Node], database: str, stand_ins: StandIns) -> None:
        self.jvm, self.nodes, self.database, self.stand_ins = jvm, nodes, database, stand_ins
        self.problems: list[Problem] = []
        self.inputs: dict[str, dict[str, None]] = {}
        self.sources: dict[str, dict[str, str]] = {}
        self.schemas: dict[str, StructType] = {}
        self.frames: dict[str, DataFrame] = {}
        self.path: list[str] = []

    def round(self) -> bool:
        """Visit what is not well defined yet; whether another round may find more.

        A query may fail on the present columns of a dataset that has others in store: once that is visited,
        it does not.
        """
        before = len(self.schemas)
        self.problems = []
        self.inputs = {key: found for key, found in self.inputs.items() if key in self.schemas}
        for key in self.nodes:
            self.visit(key)
        return before < len(self.schemas) < len(self.nodes)

    def visit(self, key: str) -> bool:
        """Whether the dataset is well defined; problems are noted once."""
        if key in self.path:
            self._cycle(self.path[self.path.index(key) :])
            return False
        if key in self.inputs:
            return key in self.schemas
        self.path.append(key)
        node, schemas = self.nodes[key], []
        self.inputs[key] = {}
        for flow in node.flows:
            try:
                schemas.append(self._flow(node, flow))
            except NotResolved:
                pass
            except (RennetError, PySparkException) as error:
                code = error.code if isinstance(error, RennetError) else error.getCondition() or "ERROR"
                said = error.message if isinstance(error, RennetError) else first_line(error)
                self.problems.append(Problem(flow.location, code, said.removeprefix(f"[{code}] ")))
            except Exception as error:  # whatever a user's function raises
                what = f"{flow.name} failed: {type(error).__name__}: {error}"
                self.problems.append(Problem(flow.location, "FUNCTION_FAILED", what))
        self.path.pop()
        if len(schemas) < len(node.flows) or not node.flows:
            return False
        self.schemas[key] = merged(schemas)
        self.stand_ins.provide(node, self.schemas[key], self.frames.get(key))
        return True

    def _cycle(self, keys: list[str]) -> None:
        where = self.nodes[keys[0]].dataset.location
        known = {frozenset(each.message.split()) for each in self.problems if each.code == "CYCLE"}
        message = " reads ".join([*reversed(keys), keys[-1]])
        if frozenset(message.split()) not in known:
            self.problems.append(Problem(where, "CYCLE", message))

    def _flow(self, node: Node, flow: Flow) -> StructType:
        """The columns a flow brings, once all that it reads is known."""
        if flow.snapshots is not None and not isinstance(flow.snapshots.source, str):
            return columns_of(self.jvm, ViewName(*node.key.split(".")), flow)
        frame = self.frames[node.key] = self._analyzed(node, flow)
        self._check_kind(node, flow, frame)
        if flow.cdc is None:
            return frame.schema
        if flow.snapshots is not None:
            return columns_of(self.jvm, ViewName(*node.key.split(".")), flow, frame.schema)
        return StructType(list(shape_of(self.jvm, frame.schema, flow.cdc).visible))

    def _analyzed(self, node: Node, flow: Flow) -> DataFrame:
        """Analyze, visit what is missing or not visited yet, and analyze again."""
        while True:
            try:
                frame = evaluate(self.jvm, flow, self.database)
            except AnalysisException as error:
                self._visit_missing(node, flow, error)
                continue
            found = reading(self.jvm, frame, {key: key for key in self.nodes} | self.stand_ins.shadows)
            read = found.datasets
            self.inputs[node.key].update(read)
            self.sources.setdefault(node.key, {}).update(found.tables)
            new = [key for key in read if key in self.path or key not in self.inputs]
            visited = [self.visit(key) for key in new]
            if any(key in self.inputs and key not in self.schemas for key in read):
                raise NotResolved
            if not visited:
                return frame

    def _visit_missing(self, node: Node, flow: Flow, error: AnalysisException) -> None:
        """Visit the dataset an analysis did not find; if it is not that, the error stands."""
        name = (error.getMessageParameters() or {}).get("relationName") or ""
        key = self._known(name, flow) if error.getCondition() in MISSING else None
        if key is None:
            raise _clearer(error)
        if key in self.inputs and key in self.schemas:
            raise error
        self.inputs[node.key][key] = None
        if not self.visit(key):
            raise NotResolved

    def _known(self, name: str, flow: Flow) -> str | None:
        """The dataset that a query means by a name."""
        parts = split_name(name) if name else ()
        if len(parts) == 1 and parts[0].lower() in self.nodes:
            return parts[0].lower()
        try:
            key = full_name(name, flow.database or self.database)
        except InvalidNameError:
            return None
        return key if key in self.nodes else None

    def _check_kind(self, node: Node, flow: Flow, frame: DataFrame) -> None:
        """Views are defined by batch queries, streaming tables fed by streams."""
        streams = frame.isStreaming
        if node.kind in (DatasetKind.MATERIALIZED_VIEW, DatasetKind.VIEW) and streams:
            raise PipelineError(f"{flow.name} reads a stream; a {node.kind} is defined by a batch query.")
        batch_wanted = flow.once or flow.snapshots is not None
        appended = node.kind in (DatasetKind.STREAMING_TABLE, DatasetKind.SINK)
        if appended and not streams and not batch_wanted:
            raise PipelineError(
                f"{flow.name} is a batch query, and {node.dataset.name} is a {node.kind}: read a stream."
            )
        if appended and streams and batch_wanted:
            raise PipelineError(f"{flow.name} reads a stream, but is to run once: read a table.")


def _clearer(error: AnalysisException) -> Exception:
    """A streaming read of a view, in plain words; any other error as it is."""
    text = (error.getMessage() or "").lower()
    if "view" in text and "stream" in text:
        return PipelineError(f"A view cannot be read as a stream: {first_line(error)}")
    return error


# -- queries


def evaluate(jvm: Jvm, flow: Flow, database: str) -> DataFrame:
    """The DataFrame of a flow's query, analyzed and not run."""
    with current_database(jvm.spark, flow.database or database), configured(jvm, flow):
        if flow.cdc is not None:
            source = flow.snapshots.source if flow.snapshots else flow.source
            assert isinstance(source, str)
            return source_frame(jvm, source, streaming=flow.snapshots is None)
        assert flow.query is not None
        if isinstance(flow.query, str):
            return parsed(jvm, flow.query)
        made = flow.query()
        if not isinstance(made, DataFrame):
            raise PipelineError(f"{flow.name} returned {type(made).__name__}, not a DataFrame.")
        return made


def source_frame(jvm: Jvm, name: str, streaming: bool) -> DataFrame:
    """A dataset by name; a temporary view may be a stream already."""
    parts = split_name(name)
    if streaming and not (len(parts) == 1 and _is_stream(jvm, parts[0])):
        return jvm.spark.readStream.table(".".join(map(quote, parts)))
    return jvm.spark.table(".".join(map(quote, parts)))


def _is_stream(jvm: Jvm, name: str) -> bool:
    found = jvm.session.sessionState().catalog().getTempView(name)
    return bool(found.isDefined() and found.get().isStreaming())


def parsed(jvm: Jvm, text: str) -> DataFrame:
    plan = jvm.session.sessionState().sqlParser().parsePlan(text)
    check_is_query(jvm, plan)
    return jvm.dataframe(plan)


@contextmanager
def configured(jvm: Jvm, flow: Flow) -> Iterator[None]:
    """The settings of one flow, for as long as it is looked at."""
    before = {key: jvm.spark.conf.get(key, None) for key in flow.conf}
    for key, value in flow.conf.items():
        jvm.spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                jvm.spark.conf.unset(key)
            else:
                jvm.spark.conf.set(key, old)


def merged(schemas: list[StructType]) -> StructType:
    """The columns of several flows into one table, in order of appearance."""
    columns: dict[str, StructField] = {}
    for schema in schemas:
        for column in schema.fields:
            columns.setdefault(column.name.lower(), column)
    return StructType(list(columns.values()))
