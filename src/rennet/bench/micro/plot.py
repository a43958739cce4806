"""Bar charts of what was measured; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from rennet.bench.micro.summary import Measured

matplotlib.use("Agg")  # files only: no window, no display
COLOURS = {"full": "#9aa5b1", "hand": "#d9822b", "duckdb": "#c9b458", "rennet": "#2b7a78"}
LABELS = {
    "full": "Spark, full recompute",
    "hand": "hand-written SQL",
    "duckdb": "DuckDB, full recompute",
    "rennet": "rennet",
}


def bars(measured: Sequence[Measured], path: Path) -> None:
    """Median seconds of each contender at each shape, on a logarithmic axis, as a PNG."""
    names = list(measured[0].samples)
    height = 0.8 / len(names)
    figure = Figure(figsize=(10, 1.5 + 0.6 * len(measured)), layout="constrained")
    axes = figure.add_subplot()
    for place, name in enumerate(names):
        where = [row + (place - (len(names) - 1) / 2) * height for row in range(len(measured))]
        seconds = [each.median(name) or 0.0 for each in measured]
        drawn = axes.barh(where, seconds, height, label=LABELS[name], color=COLOURS[name])
        axes.bar_label(drawn, fmt="%.2f", padding=2, fontsize=7)
    axes.set_yticks(range(len(measured)), [f"{each.shape}\n{each.rows:,} rows" for each in measured])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"seconds (median) after {measured[0].changes:,} changed rows")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(names), frameon=False)
    axes.margins(x=0.1)
    figure.savefig(path, dpi=120)
