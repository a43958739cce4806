"""Writes the page of measurements: every figure in it, and every sentence with one, is from the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rennet.bench.tpcdi.run import plots
from rennet.bench.tpcdi.run.check import DUCKDB, INVARIANT, QUERY
from rennet.bench.tpcdi.run.decide import Decision
from rennet.bench.tpcdi.run.record import Record
from rennet.bench.tpcdi.run.summary import PAPER, Summary, limits

INTRODUCTION = """# Derived from TPC-DI: incremental against full

<!-- Written by `rennet bench tpcdi report`. Run it again instead of changing this file. -->

The pipeline of [bench/tpcdi](../../bench/tpcdi/README.md) on data of [our own generator](tpcdi-generator.md),
after every incremental batch: each view refreshed in full and by every technique that was possible, and what
rennet chose. *Derived from* TPC-DI: these are not TPC-DI results. [How it is measured](tpcdi-run.md) says
what each figure means.
"""
YES = {True: "yes", False: "**no**", None: "–"}


def write(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write the page and its plots; gives what was written."""
    runs = sorted((Summary(record) for record in records), key=lambda run: (run.scale, run.name))
    page, drawn = folder / "tpcdi.md", folder / "tpcdi"
    figure = drawn / "speedup.svg"
    plots.speedups(runs, figure)
    written = [page, figure]
    loads: dict[str, Path] = {}
    for run in runs:
        both = [batch for batch in run.batches if run.whole("AUTO", batch) and run.whole("FULL", batch)]
        if both:
            loads[run.name] = drawn / f"load-{run.name.replace(' ', '-').replace(',', '')}.svg".lower()
            plots.task_load(run, both[-1], loads[run.name])
    written += loads.values()
    shown = {name: path.relative_to(folder).as_posix() for name, path in loads.items()}
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(_page(runs, figure.relative_to(folder).as_posix(), shown)), encoding="utf-8")
    return written


def _page(runs: Sequence[Summary], speedup: str, loads: dict[str, str]) -> Iterator[str]:
    yield INTRODUCTION
    yield from _machines(runs)
    yield from ("## Beside the paper", "")
    yield from _beside(runs)
    yield from ("## Speedup per view", "", f"![Speedup per view]({speedup})", "")
    yield "Full ÷ incremental, by the best technique, median over batches: wall time, CPU time in brackets."
    yield "Views on which no technique was forced are compared as they were in the two pipelines."
    yield ""
    yield from _speedups(runs)
    yield from ("## Decisions", "")
    yield "A choice is right if no technique takes less CPU time by more than a tenth; *over the graph*, what"
    yield "an incremental refresh saves the views that read it counts too."
    yield ""
    for run in runs:
        yield from _decisions(run)
    yield from ("## The whole pipeline", "")
    yield "All views one after the other. DuckDB reads the raw files and computes everything in memory."
    yield ""
    yield from _pipelines(runs)
    yield from ("## Task load", "")
    for name, path in loads.items():
        yield from (f"![Running tasks over time, {name}]({path})", "")
    yield from ("## What limits each view", "")
    for run in runs:
        yield from (f"{run.name}, the last batch:", "")
        yield from (f"- **{view}**: {limits(run, view)}." for view in run.views)
        yield ""
    yield from ("## Checks", "")
    yield from _checks(runs)
    yield ""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table in Markdown, and an empty line."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---' for _ in columns)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _machines(runs: Sequence[Summary]) -> Iterator[str]:
    columns = ("run", "cores", "Spark's memory", "Spark, Delta", "begun", "forced so often")
    yield from table(columns, (_machine(run) for run in runs))


def _machine(run: Summary) -> Sequence[str]:
    machine = run.record.document["machine"]
    repeated = 1 + max((each["run"] for each in run.record.document["forced"]), default=-1)
    versions = f"{machine['spark']}, {machine['delta']}"
    return (
        run.name,
        str(machine["cores"]),
        machine["memory"],
        versions,
        machine["began"][:10],
        str(repeated or "–"),
    )


def _beside(runs: Sequence[Summary]) -> Iterator[str]:
    published = len(PAPER)
    faster, right = (sum(getattr(each, name) for each in PAPER.values()) for name in ("faster", "right"))
    claims: list[tuple[str, str, Callable[[Summary], str]]] = [
        (
            "views that can be incremental",
            f"{published} of {published}",
            lambda run: f"{len(run.maintainable())} of {len(run.views)}",
        ),
        (
            "views faster incrementally",
            f"{faster} of {published}",
            lambda run: f"{len(run.faster())} of {len(run.compared())}",
        ),
        ("… by CPU time", "–", lambda run: f"{len(run.faster('cpu'))} of {len(run.compared())}"),
        ("… than by INSERT OVERWRITE", "–", _faster_than_overwrite),
        ("right decisions", f"{right} of {published}", _right),
        ("whole pipeline, AUTO ÷ full, wall time", "–", lambda run: _ratios(run, "wall")),
        ("… CPU time", "–", lambda run: _ratios(run, "cpu")),
        ("… wall time, of these views alone", "–", lambda run: _ratios(run, "wall", True)),
        ("… CPU time, of these views alone", "–", lambda run: _ratios(run, "cpu", True)),
    ]
    rows = [(claim, paper, *(here(run) for run in runs)) for claim, paper, here in claims]
    yield from table(("", "the paper", *(run.name for run in runs)), rows)


def _faster_than_overwrite(run: Summary) -> str:
    found = [ratio for view in run.views if (ratio := run.against_overwrite(view)) is not None]
    return f"{sum(ratio > 1.0 for ratio in found)} of {len(found)}" if found else "–"


def _right(run: Summary) -> str:
    judged = run.judged()
    return f"{sum(bool(each.right) for each in judged)} of {len(judged)} (view and batch)" if judged else "–"


def _ratios(run: Summary, by: str, evaluated: bool = False) -> str:
    found = []
    for batch in run.batches:
        auto, full = run.whole("AUTO", batch, evaluated), run.whole("FULL", batch, evaluated)
        if auto is not None and full is not None:
            found.append(f"{getattr(auto, by) / getattr(full, by):.2f}")
    return ", ".join(found) or "–"


def _speedups(runs: Sequence[Summary]) -> Iterator[str]:
    def cell(run: Summary, view: str) -> str:
        wall, cpu = run.speedup(view, "wall"), run.speedup(view, "cpu")
        return "–" if wall is None or cpu is None else f"{wall:.2f} ({cpu:.2f})"

    def against(run: Summary, view: str) -> str:
        wall, cpu = run.against_overwrite(view, "wall"), run.against_overwrite(view, "cpu")
        return "–" if wall is None or cpu is None else f"{wall:.2f} ({cpu:.2f})"

    yield from _by_view(runs, cell)
    yield "INSERT OVERWRITE ÷ incremental: Spark runs the query and overwrites a table, without rennet, which"
    yield "fits settings, files and plans to a full recompute as it does to any other refresh."
    yield ""
    yield from _by_view(runs, against)


def _by_view(runs: Sequence[Summary], cell: Callable[[Summary, str], str]) -> Iterator[str]:
    rows = ((view, *(cell(run, view) for run in runs)) for view in PAPER)
    yield from table(("view", *(run.name for run in runs)), rows)


def _decisions(run: Summary) -> Iterator[str]:
    columns = (
        *("view", "batch", "the paper: chosen, right", "chosen", "CPU s of each technique", "estimates"),
        *("right for itself", "right over the graph"),
    )
    yield from (f"### {run.name}", "")
    yield from table(columns, (_decided(each) for view in run.views for each in run.of(view)))
    lost = [view for view in run.views if (run.speedup(view) or 1.0) < 1.0]
    if lost:
        yield f"Slower incrementally than in full, by wall time: {', '.join(lost)}."
        yield ""


def _decided(decision: Decision) -> Sequence[str]:
    paper = PAPER[decision.view]
    costs = sorted(decision.costs.items(), key=lambda each: each[1].cpu)
    return (
        decision.view,
        str(decision.batch),
        f"{paper.chosen}, {YES[paper.right]}",
        decision.chosen,
        ", ".join(f"{technique} {cost.cpu:.2f}" for technique, cost in costs) or "–",
        ", ".join(f"{technique} {_estimate(value)}" for technique, value in decision.estimates.items())
        or "–",
        YES[decision.right_alone],
        YES[decision.right],
    )


def _estimate(value: Any) -> str:
    """An estimate as the cost model gave it: a number, or its parts."""
    if isinstance(value, dict):
        value = value.get("cpu_seconds", value)
    return f"{value:.2f}" if isinstance(value, int | float) else str(value).replace("|", "/")


def _pipelines(runs: Sequence[Summary]) -> Iterator[str]:
    columns = ("run", "batch", "full s", "full CPU s", "AUTO s", "AUTO CPU s", "wall ratio", "CPU ratio",
               "DuckDB s", "DuckDB CPU s")  # fmt: skip
    yield from table(columns, (_pipeline(run, batch) for run in runs for batch in run.batches))


def _pipeline(run: Summary, batch: int) -> Sequence[str]:
    auto, full = run.whole("AUTO", batch), run.whole("FULL", batch)
    cells = [f"{each:.1f}" if each is not None else "–" for each in (
        *((full.wall, full.cpu) if full else (None, None)), *((auto.wall, auto.cpu) if auto else (None, None))
    )]  # fmt: skip
    ratios = ["–", "–"]
    if auto is not None and full is not None:
        ratios = [f"{auto.wall / full.wall:.2f}", f"{auto.cpu / full.cpu:.2f}" if full.cpu else "–"]
    duckdb = ["–", "–"]
    for each in run.record.find("references", batch=batch):
        duckdb = [f"{each['wall_seconds']:.1f}", f"{each['cpu_seconds']:.1f}"]
    return (run.name, str(batch), *cells, *ratios, *duckdb)


def _checks(runs: Sequence[Summary]) -> Iterator[str]:
    columns = ("run", "views against their queries", "views against DuckDB", "invariants")
    yield from table(columns, ((run.name, *_passed(run)) for run in runs))
    for run in runs:
        for each in run.failed():
            where = f"{run.name}, batch {each['batch']}"
            yield f"- **failed** ({where}, by {each['by']}): {each['subject']}: {each['note']}"


def _passed(run: Summary) -> list[str]:
    found = []
    for by in (QUERY, DUCKDB, INVARIANT):
        done = run.record.find("checks", by=by)
        found.append(f"{sum(each['ok'] for each in done)} of {len(done)}")
    return found
