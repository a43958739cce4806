"""The plots of the report, as SVG that is the same for the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "rennet"
mpl.rcParams["svg.fonttype"] = "none"

from matplotlib.axes import Axes  # noqa: E402  (after the choice of a backend)
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

from rennet.bench.tpcdi.run.load import Point, joined  # noqa: E402
from rennet.bench.tpcdi.run.summary import PAPER, Summary  # noqa: E402


def speedups(runs: Sequence[Summary], path: Path) -> None:
    """A bar for each view and run: full over incremental, on a log axis; one is a draw."""
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, (by, title) in zip(
        figure.subplots(2, 1, sharex=True), (("wall", "wall time"), ("cpu", "executor CPU time")), strict=True
    ):
        width = 0.8 / len(runs)
        for number, run in enumerate(runs):
            places = [place + (number - (len(runs) - 1) / 2) * width for place in range(len(PAPER))]
            heights = [run.speedup(view, by) or 1.0 for view in PAPER]
            axes.bar(places, [h - 1 for h in heights], width, bottom=1.0, label=run.name)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.axhline(1.0, color="black", linewidth=0.8)
        axes.set_ylabel(f"full ÷ incremental,\n{title}")
        axes.set_xticks(range(len(PAPER)), list(PAPER), rotation=30, ha="right")
    figure.axes[0].legend()
    _save(figure, path)


def task_load(run: Summary, batch: int, path: Path) -> None:
    """How many tasks run while the whole pipeline is refreshed: in full, and as rennet chooses."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, sharey=True)
    for axes, mode in ((upper, "FULL"), (lower, "AUTO")):
        entries = run.record.find("refreshes", batch=batch, mode=mode)
        loads = [(each["wall_seconds"], [(t, n) for t, n in each["load"]]) for each in entries]
        _steps(axes, joined(loads))
        axes.set_ylabel(f"{mode}: tasks")
    lower.set_xlabel(f"seconds since the refresh of batch {batch} began ({run.name})")
    _save(figure, path)


def _steps(axes: Axes, points: Sequence[Point]) -> None:
    axes.fill_between([moment for moment, _ in points], [running for _, running in points], step="post")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
