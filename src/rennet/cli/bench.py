"""`rennet bench …`: benchmarks, and the data of one."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rennet.bench.tpcdi.settings import Settings, SettingsError
from rennet.cli import bench_tpcdi, measuring
from rennet.cli.commands import DIFFERENT, OK, UsageError
from rennet.cli.output import Grid, Output, seconds
from rennet.cli.packages import needed_by
from rennet.cli.progress import Activity
from rennet.errors import AlreadyExistsError

if TYPE_CHECKING:
    from rennet.bench.tpcdi.generator import Generated

MEGABYTE = 1_000_000


def add(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add `bench` to the command line."""
    bench = commands.add_parser(
        "bench", help="measure refreshes, make the data of benchmarks", description="Benchmarks."
    )
    benchmarks = bench.add_subparsers(metavar="BENCHMARK", dest="benchmark", required=True)
    measuring.add(benchmarks)
    _add_window(benchmarks, shared)
    tpcdi = benchmarks.add_parser(
        "tpcdi", help="a workload derived from TPC-DI", description="TPC-DI-derived."
    )
    steps = tpcdi.add_subparsers(metavar="STEP", dest="step", required=True)
    summary = "write the source files of all batches; needs the extra rennet[bench]"
    generate = steps.add_parser("generate", help=summary, description=f"{summary}.", parents=[shared])
    default = Settings()
    generate.add_argument("--out", metavar="DIR", required=True, help="a new or empty folder for the files")
    for name, kind, letter, text in (
        ("scale", float, "SF", "the scale factor; TPC-DI's own start at 3, smaller ones are for tests"),
        ("batches", int, "N", "the historical batch and the incremental ones, a day each"),
        ("seed", int, "S", "the same settings and seed give the same files"),
        ("change-factor", float, "X", "how many times TPC-DI's own changes each incremental batch brings"),
        ("update-share", float, "P", "the part of the rows of Customer and Account that are updates"),
        ("late", float, "P", "the part of an incremental batch's events that arrives with the next batch"),
        ("out-of-order", float, "P", "the part of the rows of incremental files out of their order"),
    ):
        usual = getattr(default, name.replace("-", "_"))
        described = f"{text} (default {usual:g})"
        generate.add_argument(f"--{name}", type=kind, metavar=letter, default=usual, help=described)
    bench_tpcdi.add(steps)


def _add_window(benchmarks: Any, shared: argparse.ArgumentParser) -> None:
    summary = "rows read when a day is appended to two years of them"
    window = benchmarks.add_parser("window", help=summary, description=f"{summary}.", parents=[shared])
    window.add_argument("--keys", type=int, default=1000, metavar="N", help="rows a day (default 1000)")


def run(options: argparse.Namespace, out: Output, activity: Activity, opened: measuring.Opened) -> int:
    """Run a benchmark, or make the data of one."""
    if options.benchmark in measuring.BENCHES:
        return measuring.run(options, out, activity, opened)
    if options.benchmark == "window":
        return _window(options, out, activity)
    if options.step == "run":
        return bench_tpcdi.run(options, activity)
    if options.step == "report":
        return bench_tpcdi.report(options, out)
    return _generate(options, out, activity)


def _window(options: argparse.Namespace, out: Output, activity: Activity) -> int:
    """Measure, and show a row for each view."""
    from rennet.bench.windows import run as measure
    from rennet.session import session

    with activity.doing("measuring"):
        rows = list(measure(session(options.warehouse or "rennet-warehouse"), options.keys))
    out.document({"views": rows})
    out.grid(Grid.from_dicts(rows))
    return OK if all(row["verified"] for row in rows) else DIFFERENT


def _generate(options: argparse.Namespace, out: Output, activity: Activity) -> int:
    """Generate, and say what was written."""
    if options.warehouse is not None:
        raise UsageError("A benchmark's files are not in a warehouse.", "Use --out DIR to say where.")
    settings = _settings(options)
    with needed_by("The generator"):
        from rennet.bench.tpcdi.generator import generate
    with _folder(Path(options.out)) as folder, activity.doing("generating"):
        generated = generate(settings, folder, activity.now)
    _show(out, generated, options.out)
    return OK


def _settings(options: argparse.Namespace) -> Settings:
    try:
        return Settings(
            scale=options.scale,
            batches=options.batches,
            seed=options.seed,
            change_factor=options.change_factor,
            update_share=options.update_share,
            late=options.late,
            out_of_order=options.out_of_order,
        )
    except SettingsError as error:
        raise UsageError(str(error), "See rennet bench tpcdi generate --help.") from error


@contextmanager
def _folder(folder: Path) -> Iterator[Path]:
    """A folder with nothing in it, where nothing is left if generating fails."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AlreadyExistsError(f"{folder} is there already and not empty.", "Name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _show(out: Output, generated: Generated, folder: str) -> None:
    files = [asdict(file) for file in generated.files]
    rate = generated.bytes / MEGABYTE / generated.cpu_seconds
    times = {"seconds": generated.seconds, "cpu_seconds": generated.cpu_seconds, "mb_per_cpu_second": rate}
    out.document({"folder": folder, "settings": asdict(generated.settings), "files": files, **times})
    out.grid(Grid.from_dicts(_rows(generated)))
    size, took = f"{generated.bytes / MEGABYTE:,.1f} MB", seconds(generated.seconds)
    out.line(f"\n{folder}: {size} in {took}, {rate:.0f} MB for each second of CPU")


def _rows(generated: Generated) -> Iterator[dict[str, Any]]:
    """A row for each file; the many of FINWIRE are one."""
    for batch in range(1, generated.settings.batches + 1):
        wires = [file for file in generated.files if file.batch == batch and file.name.startswith("FINWIRE")]
        others = [file for file in generated.files if file.batch == batch and file not in wires]
        for file in others:
            yield {"batch": batch, "file": file.name, "rows": file.rows, "bytes": file.bytes}
        if wires:
            rows, size = sum(file.rows for file in wires), sum(file.bytes for file in wires)
            yield {"batch": batch, "file": f"FINWIRE ({len(wires)} files)", "rows": rows, "bytes": size}
