"""`rennet run`, `dry-run`, `init` and `watch`: pipelines and schedules on the command line."""

from __future__ import annotations

import threading
from argparse import Namespace
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rennet.cli.commands import FAILED, OK, Context, UsageError
from rennet.cli.output import Output, seconds, signed
from rennet.errors import AlreadyExistsError
from rennet.pipelines.continuous import Continuous
from rennet.pipelines.graph import InvalidGraphError
from rennet.pipelines.project import Pipeline
from rennet.pipelines.resolve import Graph
from rennet.pipelines.spec import find_spec
from rennet.pipelines.update import DatasetResult, Selection, Status, UpdateResult
from rennet.pipelines.watch import SystemClock, Watch
from rennet.pipelines.watched import Catalog

STYLES = {Status.FAILED: "bold red", Status.SKIPPED: "yellow", Status.EXCLUDED: "dim"}


def names(text: str) -> list[str]:
    """A list of datasets, as `spark-pipelines` takes it."""
    return [part.strip() for part in text.split(",") if part.strip()]


def run(context: Context) -> int:
    """Update a pipeline once, or again and again."""
    options = context.options
    selection = _selection(options)
    pipeline = _opened(context)
    graph = _graph(context, pipeline)
    if graph is None:
        return FAILED
    context.out.line(f"{pipeline.spec.name}: {len(graph.nodes)} datasets", "bold")
    if options.continuous:
        return _continuously(context, pipeline, selection)
    result = _update(context, pipeline, selection)
    context.out.document(_document(result))
    return OK if result.succeeded else FAILED


def _selection(options: Namespace) -> Selection:
    if options.full_refresh_all and (options.full_refresh or options.refresh):
        raise UsageError("--full-refresh-all goes alone.", "Leave out --refresh and --full-refresh.")
    return Selection(tuple(options.refresh), tuple(options.full_refresh), options.full_refresh_all)


def _opened(context: Context) -> Pipeline:
    given = context.options.spec
    if given is not None and not Path(given).is_file():
        raise UsageError(f"There is no {given}.", "--spec names the file spark-pipeline.yml.")
    return Pipeline.open(context.engine, Path(given) if given else find_spec(Path.cwd()))


def _graph(context: Context, pipeline: Pipeline) -> Graph | None:
    """The pipeline's graph; None after all its problems were printed."""
    try:
        with context.activity.doing("reading the pipeline"):
            return pipeline.graph
    except InvalidGraphError as error:
        found = [
            {"file": p.location.file, "line": p.location.line, "code": p.code, "message": p.message}
            for p in error.problems
        ]
        context.out.document({"problems": found})
        for line in error.message.splitlines():
            context.out.line(line, "" if line.startswith(" ") else "bold red")
        return None


def _update(context: Context, pipeline: Pipeline, selection: Selection) -> UpdateResult:
    with context.activity.doing("updating"):
        result = pipeline.update(selection, lambda done: _line(context.out, done))
    _sum(context.out, result)
    return result


def _sum(out: Output, result: UpdateResult) -> None:
    """The last line of an update."""
    counts = {status: sum(d.status is status for d in result.datasets) for status in Status}
    said = ", ".join(f"{count} {str(status).lower()}" for status, count in counts.items() if count)
    out.line(f"update {result.number}: {said} in {seconds(result.seconds)}", "bold")


def _line(out: Output, done: DatasetResult) -> None:
    rows = signed(done.built.deleted, done.built.inserted) if done.built else ""
    text = f"  {done.name:<32} {done.status:<10} {seconds(done.seconds):>8}  {rows:>12}  {done.message}"
    out.line(text.rstrip(), STYLES.get(done.status, ""))


def _continuously(context: Context, pipeline: Pipeline, selection: Selection) -> int:
    """Keep the pipeline up to date until interrupted; views not more often than every so many seconds."""
    out = context.out
    running = Continuous(
        pipeline, selection, context.options.interval,
        lambda done: _line(out, done), lambda result: _sum(out, result),
    )  # fmt: skip
    try:
        with context.activity.doing("running"):
            running.run(threading.Event())
    except KeyboardInterrupt:
        out.line("stopped")
    return OK


def _document(result: UpdateResult) -> dict[str, Any]:
    return {
        "update": result.number,
        "succeeded": result.succeeded,
        "seconds": result.seconds,
        "datasets": [asdict(replace(each, error=None)) for each in result.datasets],
    }


def dry_run(context: Context) -> int:
    """Check a pipeline and show its graph; nothing is computed."""
    pipeline = _opened(context)
    graph = _graph(context, pipeline)
    if graph is None:
        return FAILED
    for node in graph.ordered():
        reads = ", ".join(graph.inputs[node.key])
        context.out.line(f"  {node.key:<32} {node.kind:<18} {f'reads {reads}' if reads else ''}".rstrip())
    context.out.document(
        {
            "datasets": [
                {"name": node.key, "kind": str(node.kind), "reads": list(graph.inputs[node.key])}
                for node in graph.ordered()
            ]
        }
    )
    return OK


def watch(context: Context) -> int:
    """Run the schedules and triggers of the catalog's views and pipelines until interrupted."""
    catalog = Catalog(context.engine, context.out.line)
    found = catalog.watched()
    context.out.line(f"watching {len(found)} schedule{'' if len(found) == 1 else 's'}", "bold")
    for each in found:
        context.out.line(f"  {each.name:<32} {each.schedule.describe()}")
    watching = Watch(catalog.watched, SystemClock(), context.out.line)
    try:
        watching.run()
    except KeyboardInterrupt:
        context.out.line("stopped")
    return OK


# -- init

SPEC = """name: {name}
storage: {storage}
libraries:
  - glob:
      include: transformations/**
"""

PYTHON = '''"""A view defined by a function; `spark` is there."""

from pyspark import pipelines as dp


@dp.materialized_view
def numbers():
    return spark.range(100)
'''

SQL = """CREATE MATERIALIZED VIEW remainders AS
SELECT id % 7 AS remainder, COUNT(*) AS numbers FROM numbers GROUP BY id % 7;
"""


def write_project(folder: Path) -> Path:
    """A small project that runs: its specification, named like its folder."""
    (folder / "transformations").mkdir(parents=True)
    (folder / "storage").mkdir()
    spec = folder / "spark-pipeline.yml"
    spec.write_text(SPEC.format(name=folder.name, storage=f"file://{(folder / 'storage').resolve()}"))
    (folder / "transformations" / "numbers.py").write_text(PYTHON)
    (folder / "transformations" / "remainders.sql").write_text(SQL)
    return spec


def init(options: Namespace, out: Output) -> int:
    """Write a small project that runs."""
    folder = Path.cwd() / options.name
    if folder.exists():
        raise AlreadyExistsError(f"{folder} is there already.", "Choose another name.")
    write_project(folder)
    out.document({"project": str(folder)})
    out.line(f"The project {options.name} is there. To run it: cd {options.name} && rennet run")
    return OK
