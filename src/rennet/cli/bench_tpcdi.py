"""`rennet bench tpcdi run` and `report`: measure the TPC-DI-derived pipeline, and write it down."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rennet.bench.tpcdi.settings import Settings, SettingsError
from rennet.cli.commands import DIFFERENT, OK, UsageError
from rennet.cli.output import Grid, Output
from rennet.cli.packages import needed_by
from rennet.cli.progress import Activity
from rennet.version import __version__

COUNTED = {"spark.hadoop.parquet.hadoop.vectored.io.enabled": "false"}
"""Bytes that Parquet reads several ranges at a time are in none of Spark's counters."""


def add(steps: Any) -> None:
    """Add `run` and `report` to the steps of the benchmark."""
    _add_run(steps)
    _add_report(steps)


def _add_run(steps: Any) -> None:
    summary = "refresh the pipeline batch by batch, and measure and check every refresh"
    run = steps.add_parser("run", help=summary, description=f"{summary}.")
    run.add_argument("--scale", type=float, metavar="SF", default=3.0, help="the scale factor (default 3)")
    run.add_argument("--batches", type=int, metavar="N", default=3, help="how many batches (default 3)")
    run.add_argument("--seed", type=int, metavar="S", default=1, help="the seed of the data (default 1)")
    run.add_argument("--data", metavar="DIR", help="the files; generated here if there are none")
    run.add_argument("--warehouse", metavar="DIR", help="the tables (default: tpcdi-SF-VARIANT)")
    run.add_argument("--json", metavar="FILE", dest="file", help="write every measurement to this file")
    run.add_argument("--resume", action="store_true", help="go on with what --json FILE does not have yet")
    run.add_argument(
        "--variant", metavar="V", default="paper", help="paper (default), entities or views: see bench/tpcdi"
    )
    run.add_argument("--views", metavar="A,B", help="force techniques on these views only; none for no view")
    run.add_argument("--repeat", type=int, metavar="R", default=1, help="force each so often (default 1)")
    run.add_argument(
        "--checks",
        choices=("all", "few"),
        default="all",
        help="all: every view by every judge after every batch (default); few: what changed, by one",
    )
    run.add_argument("--memory", metavar="SIZE", default="4g", help="of Spark (default 4g)")
    run.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="print tracebacks")


def _add_report(steps: Any) -> None:
    summary = "write a page with plots from the files of one or several runs"
    report = steps.add_parser("report", help=summary, description=f"{summary}.")
    report.add_argument("files", nargs="+", metavar="JSON", help="what `rennet bench tpcdi run --json` wrote")
    report.add_argument("--out", metavar="DIR", default="docs/benchmarks", help="(default docs/benchmarks)")
    report.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="print tracebacks")


def report(options: argparse.Namespace, out: Output) -> int:
    """Write the page and its plots."""
    from rennet.bench.tpcdi.run.record import read

    with needed_by("The report"):
        from rennet.bench.tpcdi.run.report import write
    for path in write([read(Path(file)) for file in options.files], Path(options.out)):
        out.line(str(path))
    return OK


def run(options: argparse.Namespace, activity: Activity) -> int:
    """Measure; progress goes to the standard error, a summary to the standard output."""
    with needed_by("The benchmark"):
        from rennet.bench.tpcdi.run.decide import decisions
        from rennet.bench.tpcdi.run.runner import Plan, Runner
        from rennet.bench.tpcdi.run.workload import EVALUATED, workload
    from rennet.session import close, session

    settings = _settings(options)
    pipeline = workload()
    plan = Plan(
        _one_of("variant", options.variant, tuple(pipeline.variants)),
        settings.batches,
        _views(options.views, EVALUATED),
        repeat=_positive("repeat", options.repeat),
        every_judge=options.checks == "all",
    )
    record = _record(options, settings, plan.variant)
    place = Path(options.warehouse or f"tpcdi-{settings.scale:g}-{plan.variant}")
    data = _data(Path(options.data or f"tpcdi-{settings.scale:g}-data"), settings, activity)
    with activity.doing("starting Spark"):
        spark = session(place, memory=options.memory, config=COUNTED)
    try:
        Runner(spark, pipeline, data, record, plan, _say).run()
    except Exception as error:
        if _interrupted(error):
            raise KeyboardInterrupt from error
        raise
    finally:
        with suppress(Exception):
            close(spark)
    out = Output(False)
    out.grid(Grid.from_dicts([each.row() for each in decisions(record)]))
    wrong = [each for each in record.document["checks"] if not each["ok"]]
    out.line(f"\n{len(record.document['checks'])} checks, {len(wrong)} failed")
    return DIFFERENT if wrong else OK


def _interrupted(error: BaseException | None) -> bool:
    """Whether an error is what followed from an interruption: a call into Spark that was cut off."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _say(line: str) -> None:
    print(f"{datetime.now():%H:%M:%S} {line}", file=sys.stderr, flush=True)


def _record(options: argparse.Namespace, settings: Settings, variant: str) -> Any:
    from rennet.bench.tpcdi.run.record import Record

    about = {
        "settings": asdict(settings),
        "variant": variant,
        "machine": {
            "cores": os.cpu_count(),
            "system": platform.system(),
            "architecture": platform.machine(),
            "memory": options.memory,
            "python": platform.python_version(),
            "spark": version("pyspark"),
            "delta": version("delta-spark"),
            "duckdb": version("duckdb"),
            "rennet": __version__,
            "began": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }
    if options.resume:
        if options.file is None:
            raise UsageError("There is nothing to go on with.", "Name the file with --json FILE.")
        return Record.resumed(about, Path(options.file))
    return Record.new(about, None if options.file is None else Path(options.file))


def _settings(options: argparse.Namespace) -> Settings:
    try:
        found = Settings(scale=options.scale, batches=options.batches, seed=options.seed)
    except SettingsError as error:
        raise UsageError(str(error), "See rennet bench tpcdi run --help.") from error
    if found.batches < 2:
        raise UsageError(
            "There must be at least two batches.", "The second is the first that can be incremental."
        )
    return found


def _data(folder: Path, settings: Settings, activity: Activity) -> Path:
    """The folder of the files: generated if it is empty or not there, else looked at for the right scale."""
    from rennet.bench.tpcdi.generator import generate

    if not folder.exists() or not any(folder.iterdir()):
        folder.mkdir(parents=True, exist_ok=True)
        with activity.doing("generating"):
            generate(settings, folder, activity.now)
        return folder
    last = folder / f"Batch{settings.batches}" / "BatchDate.txt"
    if not last.exists():
        raise UsageError(
            f"{folder} has no {settings.batches} batches.", "Name another folder, or an empty one."
        )
    with (folder / "Batch1" / "HR.csv").open("rb") as lines:
        rows = sum(1 for _ in lines)
    if rows != settings.sizes.employees:
        raise UsageError(
            f"{folder} is of scale {rows / 5000:g}, not {settings.scale:g}.", "Name another folder."
        )
    return folder


def _views(text: str | None, known: Sequence[str]) -> tuple[str, ...]:
    """The views of a list, spelt as the benchmark does; all without a list."""
    if text is None:
        return tuple(known)
    if text == "none":
        return ()
    by_name = {name.lower(): name for name in known}
    wanted = [_one_of("view", each.strip().lower(), tuple(by_name)) for each in text.split(",")]
    return tuple(by_name[name] for name in wanted)


def _one_of(what: str, given: str, known: Sequence[str]) -> str:
    if given not in known:
        raise UsageError(f"{given!r} is not a {what} of the benchmark.", f"There are {', '.join(known)}.")
    return given


def _positive(what: str, number: int) -> int:
    if number < 1:
        raise UsageError(f"--{what} must be at least 1.", "See rennet bench tpcdi run --help.")
    return number
