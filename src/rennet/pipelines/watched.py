"""What `rennet watch` watches: a catalog's materialized views, and its pipelines and their datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rennet.api import Engine
from rennet.errors import PipelineError, RennetError
from rennet.jvm import Jvm
from rennet.pipelines.builders import Builders
from rennet.pipelines.definitions import DatasetKind
from rennet.pipelines.project import Pipeline
from rennet.pipelines.registered import Registered, pipelines
from rennet.pipelines.spec import load_spec
from rennet.pipelines.update import Selection, Status, UpdateResult
from rennet.pipelines.watch import Watched
from rennet.sql.schedule import OnUpdate, Schedule, from_dict
from rennet.storage.sources import SourceVersion, current, delta_log, pin
from rennet.storage.tables import MaterializedView

EPOCH = datetime.fromtimestamp(0, UTC)
Tables = list[tuple[str, str]]
"""Names and paths."""


@dataclass(frozen=True)
class StoredView:
    """A materialized view of the catalog that no pipeline keeps."""

    engine: Engine
    view: MaterializedView

    @property
    def name(self) -> str:
        return str(self.view.name)

    @property
    def schedule(self) -> Schedule:
        assert self.view.definition.schedule is not None
        return from_dict(self.view.definition.schedule)

    @property
    def refreshed_at(self) -> datetime:
        known = self.view.provenance
        return datetime.fromisoformat(known.refreshed_at if known else self.view.definition.created_at)

    def moved(self) -> bool:
        known = self.view.provenance
        if known is None:
            return True
        sources = [(source.name, source.path) for source in known.sources]
        return bool(sources) and pin(Jvm.of(self.engine.spark), sources) != known.sources

    def refresh(self) -> str:
        result = self.engine.refresh(self.name)
        return f"{result.technique}: {result.reason}"


@dataclass(frozen=True)
class Run:
    """A pipeline, or one dataset of it, that is updated by a schedule of its own."""

    name: str
    schedule: Schedule
    pipeline: Pipeline
    selection: Selection
    tables: Callable[[], Tables]
    """The tables whose change is a reason to update."""
    last: Callable[[], datetime]
    seen: dict[str, tuple[SourceVersion, ...]] = field(default_factory=dict)
    """The versions of those tables at the last update, by name; the first look is a change."""

    @property
    def refreshed_at(self) -> datetime:
        return self.last()

    def moved(self) -> bool:
        return self._versions() != self.seen.get(self.name)

    def refresh(self) -> str:
        before = self._versions()
        result = self.pipeline.update(self.selection)
        self.seen[self.name] = before
        return _summary(result)

    def _versions(self) -> tuple[SourceVersion, ...]:
        tables = self.tables()
        return pin(self.pipeline.jvm, tables) if tables else ()


def _summary(result: UpdateResult) -> str:
    failed = [each for each in result.datasets if each.status is Status.FAILED]
    if failed:
        said = "; ".join(f"{each.name}: {each.message}" for each in failed)
        raise PipelineError(f"update {result.number}: {said}")
    done = [each for each in result.datasets if each.status is Status.COMPLETED]
    return f"update {result.number}: {len(done)} completed"


class Catalog:
    """Everything in a catalog that has a schedule, looked up anew whenever it is asked for."""

    def __init__(self, engine: Engine, told: Callable[[str], None] = lambda _: None) -> None:
        self.engine, self.told = engine, told
        self._opened: dict[Registered, tuple[object, Pipeline | None]] = {}
        self._seen: dict[str, tuple[SourceVersion, ...]] = {}

    def watched(self) -> list[Watched]:
        """Pipelines and their datasets, then the views that belong to none."""
        opened = [found for each in pipelines(self.engine.spark) if (found := self._open(each)) is not None]
        owned = {key for pipeline in opened for key in pipeline.graph.nodes}
        runs: list[Watched] = [run for pipeline in opened for run in self._runs(pipeline)]
        views = [view for view in self.engine.views() if view.definition.schedule]
        return [*runs, *(StoredView(self.engine, v) for v in views if str(v.name).lower() not in owned)]

    def _open(self, registered: Registered) -> Pipeline | None:
        """The pipeline, read again when its files have changed; None, and a word on it, if it cannot be."""
        stamp = _stamp(registered)
        known = self._opened.get(registered)
        if known is not None and known[0] == stamp:
            return known[1]
        pipeline = None
        try:
            pipeline = Pipeline.open(self.engine, registered.spec)
            self._check(pipeline)
        except RennetError as error:
            pipeline = None
            self.told(f"pipeline {registered.name} is not watched: {error}")
        self._opened[registered] = (stamp, pipeline)
        return pipeline

    def _check(self, pipeline: Pipeline) -> None:
        """A trigger needs a table whose log says that something changed."""
        if isinstance(pipeline.spec.schedule(), OnUpdate) and not _outside(pipeline):
            raise PipelineError(
                "TRIGGER ON UPDATE needs a Delta table, and the pipeline reads none but its own.",
                "Files are not looked at: give it SCHEDULE EVERY …, or use `rennet run --continuous`.",
            )

    def _runs(self, pipeline: Pipeline) -> Iterator[Run]:
        whole = pipeline.spec.schedule()
        if whole is not None:
            yield Run(
                f"pipeline {pipeline.spec.name}", whole, pipeline, Selection(),
                lambda: _outside(pipeline), lambda: pipeline.log.updated_at() or EPOCH, self._seen,
            )  # fmt: skip
        for key, node in pipeline.graph.nodes.items():
            if node.dataset.schedule is not None:
                yield self._dataset(pipeline, key, node.dataset.schedule)

    def _dataset(self, pipeline: Pipeline, key: str, schedule: Schedule) -> Run:
        return Run(
            key, schedule, pipeline, Selection(refresh=(key,)),
            lambda: _read_by(pipeline, key), lambda: _written_at(pipeline, key), self._seen,
        )  # fmt: skip


def _stamp(registered: Registered) -> object:
    """What differs when a project's files do."""
    try:
        spec = load_spec(Path(registered.spec))
        files = [spec.path, *spec.files()]
        return tuple((str(file), file.stat().st_mtime_ns) for file in files)
    except (RennetError, OSError) as error:
        return str(error)


def _outside(pipeline: Pipeline) -> Tables:
    """The Delta tables that a pipeline reads and does not keep."""
    found = {path: name for tables in pipeline.graph.sources.values() for path, name in tables.items()}
    return [(name, path) for path, name in found.items()]


def _read_by(pipeline: Pipeline, key: str) -> Tables:
    """The Delta tables that a dataset reads, through temporary views too."""
    graph = pipeline.graph
    found = dict(graph.sources.get(key, {}))
    for upstream in graph.inputs[key]:
        if graph.nodes[upstream].kind in (DatasetKind.TEMPORARY_VIEW, DatasetKind.VIEW):
            found |= {path: name for name, path in _read_by(pipeline, upstream)}
        elif (place := _builders(pipeline).place(graph.nodes[upstream])) is not None:
            found[place] = upstream
    return [(name, path) for path, name in found.items()]


def _written_at(pipeline: Pipeline, key: str) -> datetime:
    """When a dataset's rows last changed, from its log."""
    place = _builders(pipeline).place(pipeline.graph.nodes[key])
    if place is None:
        return EPOCH
    moment = current(pipeline.jvm, delta_log(pipeline.jvm, place)).timestamp()
    return datetime.fromtimestamp(moment / 1000, UTC)


def _builders(pipeline: Pipeline) -> Builders:
    return Builders(pipeline.engine, pipeline.jvm, pipeline.graph, pipeline.spec.storage_path(), {})
