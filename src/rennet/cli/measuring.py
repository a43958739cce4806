"""`rennet bench micro | growth | fixed | reading | decisions | pipelines`: refreshes measured, and shown."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

from rennet.api import Engine
from rennet.bench.micro import cells, decisions, fixed, growth, reading
from rennet.bench.micro import summary as medians
from rennet.bench.micro.contenders import OTHERS
from rennet.bench.micro.shape import CHANGES, SMALLEST, Shape
from rennet.bench.micro.shapes import CLUSTERED, SHAPES, named
from rennet.bench.micro.versions import resources, versions
from rennet.bench.pipelines import run as pipelines
from rennet.cli.commands import DIFFERENT, OK, UsageError
from rennet.cli.folders import own_warehouse
from rennet.cli.output import Grid, Output, plain
from rennet.cli.packages import needed_by
from rennet.cli.progress import Activity

Opened = Callable[[str | None, Activity], AbstractContextManager[Engine]]
Said = Callable[[str], None]

NEW, LASTING = "new", "lasting"
"""Whether processes are."""


class Result(Protocol):
    """One part of what a benchmark found."""

    @property
    def equal(self) -> bool:
        """Whether all that should be the same is."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""


@dataclass(frozen=True)
class Running:
    """What a benchmark runs with."""

    spark: SparkSession
    options: argparse.Namespace
    folder: Path
    say: Said


# -- the command line


def add(benchmarks: Any) -> None:
    """Add the measuring benchmarks to `bench`."""
    for name, bench in BENCHES.items():
        made = benchmarks.add_parser(name, help=bench.summary, description=f"{bench.summary}.")
        for flag, kind, letter, default, text in bench.arguments:
            usual = f" (default {_usual(default)})" if default is not None else ""
            made.add_argument(flag, type=kind, metavar=letter, default=default, help=f"{text}{usual}")
        json_text = "write everything into a file; without one, print it and nothing else"
        made.add_argument(
            "--json", nargs="?", const=True, default=argparse.SUPPRESS, metavar="FILE", help=json_text
        )
        made.add_argument("--keep", metavar="DIR", help="make the warehouse here and keep what is left of it")
        made.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="print tracebacks")
        made.add_argument("--warehouse", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _usual(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(_named(each) for each in value)
    return value if isinstance(value, str) else f"{value:,}"


def _named(value: Any) -> str:
    if isinstance(value, Shape):
        return value.name
    return value if isinstance(value, str) else f"{value:g}"


def _number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def _rows(text: str) -> int:
    if _number(text) < SMALLEST:
        raise argparse.ArgumentTypeError(f"{text!r} is less than {SMALLEST:,} rows")
    return int(text)


def _count(text: str) -> int:
    return 0 if text.strip() == "0" else _number(text)


def _processes(text: str) -> str:
    if text not in (NEW, LASTING):
        raise argparse.ArgumentTypeError(f"{text!r} is neither {NEW!r} nor {LASTING!r}")
    return text


def _against(text: str) -> tuple[str, ...]:
    found = tuple(text.split(","))
    if unknown := [name for name in found if name not in OTHERS]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(OTHERS)}")
    return found


def _shapes(text: str) -> tuple[Shape, ...]:
    try:
        return tuple(named(text.split(",")))
    except KeyError as error:
        known = ", ".join(shape.name for shape in (*SHAPES, *CLUSTERED))
        raise argparse.ArgumentTypeError(f"{error.args[0]!r} is not a shape: there are {known}") from None


def _sizes(text: str) -> tuple[float, ...]:
    """Millions of rows."""
    found = _positive(text)
    if min(found) * growth.MILLION < SMALLEST:
        raise argparse.ArgumentTypeError(f"{text!r}: sizes are millions of rows, {SMALLEST:,} rows at least")
    return found


def _fractions(text: str) -> tuple[float, ...]:
    found = _positive(text)
    if max(found) > 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a fraction is at most 1")
    return found


def _positive(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(each) for each in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers, such as 1,3,10") from None
    if not all(0 < each < float("inf") for each in found):
        raise argparse.ArgumentTypeError(f"{text!r}: only numbers above 0 make sense here")
    return found


# -- running


def run(options: argparse.Namespace, out: Output, activity: Activity, opened: Opened) -> int:
    """Measure in a warehouse of its own; a wrong result makes the exit code say so."""
    bench = BENCHES[options.benchmark]
    file = options.json if isinstance(options.json, str) else None
    out.as_json = options.json is True
    _check(options, file)
    with needed_by("This benchmark"):
        for package in (*bench.packages, *(("matplotlib",) if _plotted(options) else ())):
            import_module(package)
    results: list[Any] = []
    with own_warehouse(options.keep, "rennet-bench-") as place, opened(str(place), activity) as engine:
        about = _about(engine.spark, options)
        with activity.doing("measuring"):
            running = Running(engine.spark, options, place / "_bench", activity.now)
            for result in bench.run(running):
                results.append(result)
                _write(file, _document(about, results))  # what was measured outlives what comes after
    document = _document(about, results)
    out.document(document)
    bench.show(out, results)
    if _plotted(options):
        _plot(results, Path(options.plot))
    return OK if document["equal"] else DIFFERENT


def _plotted(options: argparse.Namespace) -> bool:
    return getattr(options, "plot", None) is not None


def _check(options: argparse.Namespace, file: str | None) -> None:
    if options.warehouse is not None:
        raise UsageError("A benchmark makes a warehouse of its own.", "Use --keep DIR to say where.")
    for name in (file, getattr(options, "plot", None)):
        if name is not None and not Path(name).resolve().parent.is_dir():
            raise UsageError(f"There is no folder for {name}.", "Make it first.")
    rows, changes = getattr(options, "rows", None), getattr(options, "changes", None)
    if rows and changes and changes > rows:
        raise UsageError("There are more changes than rows.", "Use fewer --changes or more --rows.")


def _about(spark: SparkSession, options: argparse.Namespace) -> dict[str, Any]:
    """What the numbers depend on, but for the machine."""
    given = {name: _setting(getattr(options, name)) for name in SETTINGS if hasattr(options, name)}
    return {
        "benchmark": options.benchmark,
        "settings": given,
        "versions": versions(spark),
        "resources": resources(spark),
    }


def _setting(value: Any) -> Any:
    if isinstance(value, tuple):
        return [each.name if isinstance(each, Shape) else each for each in value]
    return value


def _document(about: dict[str, Any], results: Sequence[Result]) -> dict[str, Any]:
    found = [result.to_dict() for result in results]
    return {**about, "equal": all(result.equal for result in results), "results": found}


def _write(file: str | None, document: dict[str, Any]) -> None:
    if file is not None:
        text = json.dumps(plain(document), indent=1, ensure_ascii=False)
        Path(file).write_text(f"{text}\n", encoding="utf-8")


def _plot(results: Sequence[Any], path: Path) -> None:
    from rennet.bench.micro.plot import bars

    bars(results, path)


# -- the benchmarks


def _micro(running: Running) -> Iterator[Any]:
    from rennet.bench.micro.micro import Settings
    from rennet.bench.micro.micro import run as measure

    options = running.options
    settings = Settings(options.rows, options.changes, options.repeat, against=options.against)
    return measure(running.spark, options.shapes, settings, running.folder, running.say)


def _show_micro(out: Output, results: Sequence[Any]) -> None:
    out.grid(Grid.from_dicts(medians.times(results)))
    out.line()
    out.grid(Grid.from_dicts(medians.work(results)))
    for result in results:
        for who, what in result.differences.items():
            out.line(f"\n{result.shape}: {who} is wrong: {what}", "bold red")


def _growth(running: Running) -> Iterator[Any]:
    options = running.options
    return growth.run(
        running.spark, options.shapes, options.sizes, running.say, options.changes, options.repeat
    )


def _fixed(running: Running) -> Iterator[Any]:
    return iter(fixed.run(running.spark, running.say, running.options.repeat))


def _reading(running: Running) -> Iterator[Any]:
    options = running.options
    settings = reading.Settings(options.rows, options.refreshes, options.changes, options.repeat)
    return reading.run(running.spark, options.shapes, settings, running.say)


def _decisions(running: Running) -> Iterator[Any]:
    options = running.options
    settings = decisions.Settings(options.rows, options.fractions, options.repeat)
    return decisions.run(running.spark, options.shapes, settings, running.say)


def _show_decisions(out: Output, results: Sequence[Any]) -> None:
    found = [cell for result in results for cell in result.cells]
    out.grid(Grid.from_dicts(cells.table(found)))
    for name, verdict in cells.verdicts(found).items():
        near = verdict["estimates_within_twice"]
        estimated = "no estimates" if near is None else f"estimates within a factor of 2: {near:.0%}"
        out.line(
            f"\n{name}: right or within 15 % in {verdict['right']:.0%} of {verdict['cells']} cells, "
            f"worst regret {verdict['worst_regret']:.0%}, {estimated}"
        )
    for result in results:
        for view in result.differences:
            out.line(f"\n{view} is not what its query says", "bold red")


def _pipelines(running: Running) -> Iterator[Any]:
    options = running.options
    lasting = options.processes == LASTING
    settings = pipelines.Settings(options.rows, options.changes, options.repeat, lasting, options.warm_up)
    return pipelines.run(running.spark, settings, running.folder, running.say)


def _grid_of(
    table: Callable[[Sequence[Any]], list[dict[str, Any]]],
) -> Callable[[Output, Sequence[Any]], None]:
    """Shows results as one table."""
    return lambda out, results: out.grid(Grid.from_dicts(table(results)))


Argument = tuple[str, Callable[[str], Any], str, Any, str]
REPEAT_TEXT = "measurements of each, of which the median counts"


@dataclass(frozen=True)
class Bench:
    """One benchmark on the command line."""

    summary: str
    arguments: tuple[Argument, ...]
    run: Callable[[Running], Iterator[Any]]
    show: Callable[[Output, Sequence[Any]], None]
    packages: tuple[str, ...] = ()
    """What it needs beyond rennet itself."""


def _shape_list(default: tuple[Shape, ...]) -> Argument:
    return ("--shapes", _shapes, "A,B", default, "only these")


def _some(names: Sequence[str]) -> tuple[Shape, ...]:
    return tuple(named(names))


BENCHES = {
    "micro": Bench(
        "rennet beside a full recompute, hand-written SQL and DuckDB, on one change after the other",
        (
            ("--rows", _rows, "N", None, "rows of the main table (default: each shape's own)"),
            ("--changes", _number, "M", CHANGES, "rows changed before each refresh"),
            ("--repeat", _number, "R", 5, REPEAT_TEXT),
            _shape_list(SHAPES),
            ("--against", _against, "A,B", OTHERS, "what to hold rennet against"),
            ("--plot", str, "FILE", None, "draw the medians as bars, into a PNG"),
        ),
        _micro,
        _show_micro,
        ("duckdb",),
    ),
    "growth": Bench(
        "the same change to tables of growing size",
        (
            ("--sizes", _sizes, "A,B", growth.SIZES, "millions of rows"),
            ("--changes", _number, "M", CHANGES, "rows changed before each refresh"),
            ("--repeat", _number, "R", growth.REPEAT, REPEAT_TEXT),
            _shape_list(_some(growth.SHAPES)),
        ),
        _growth,
        _grid_of(growth.table),
    ),
    "fixed": Bench(
        "a small view and a change of one row, beside a plain append of one row",
        (("--repeat", _number, "R", fixed.REPEAT, REPEAT_TEXT),),
        _fixed,
        _grid_of(fixed.table),
    ),
    "reading": Bench(
        "reading a view after many small refreshes, beside a freshly written table",
        (
            ("--refreshes", _number, "N", reading.REFRESHES, "how many refreshes"),
            ("--rows", _rows, "N", reading.ROWS, "rows of the main table"),
            ("--changes", _number, "M", reading.CHANGES, "rows changed before each refresh"),
            ("--repeat", _number, "R", reading.REPEAT, REPEAT_TEXT),
            _shape_list(_some(reading.SHAPES)),
        ),
        _reading,
        _grid_of(reading.table),
    ),
    "decisions": Bench(
        "every technique forced on the same changes, beside what rennet chooses",
        (
            ("--fractions", _fractions, "A,B", decisions.FRACTIONS, "shares of the table that change"),
            ("--rows", _rows, "N", decisions.ROWS, "rows of the main table"),
            ("--repeat", _number, "R", 1, REPEAT_TEXT),
            _shape_list(SHAPES),
        ),
        _decisions,
        _show_decisions,
    ),
    "pipelines": Bench(
        "a project of 12 views on 3 levels under rennet and under Spark's own spark-pipelines",
        (
            ("--rows", _rows, "N", pipelines.ROWS, "rows of the largest source"),
            ("--changes", _number, "M", None, "rows changed before each update (default: one in 1,000)"),
            (
                "--repeat",
                _number,
                "R",
                pipelines.REPEAT,
                "updates after the first; the median counts",
            ),
            ("--processes", _processes, "HOW", NEW, "new ones for every update (new), or lasting ones"),
            ("--warm-up", _count, "W", 0, "updates after the first that do not count"),
        ),
        _pipelines,
        _grid_of(pipelines.table),
        ("grpc",),
    ),
}
SETTINGS = ("rows", "changes", "repeat", "shapes", "against", "sizes", "refreshes", "fractions",
            "processes", "warm_up")  # fmt: skip
