"""The demonstration on the screen."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from rennet.api import Engine
from rennet.cli.commands import DIFFERENT, OK, UsageError
from rennet.cli.folders import own_warehouse
from rennet.cli.output import Output, seconds, signed
from rennet.cli.progress import Activity
from rennet.demo import QUERY, VIEW, Sizes, Step, prepare, steps

Opened = Callable[[str | None, Activity], AbstractContextManager[Engine]]
HEADER = ("What happened", "Technique", "Rows", "Refresh", "Full", "Ratio", "Verified")
LINE = "{:<36}  {:<18}  {:>7}  {:>8}  {:>8}  {:>6}  {}"


def run(options: Namespace, out: Output, activity: Activity, opened: Opened) -> int:
    """Run the demonstration; the exit code is 1 if any view was not what its query says."""
    sizes = Sizes(options.customers, options.orders)
    _check(options, sizes)
    started = time.perf_counter()
    with own_warehouse(options.keep, "rennet-demo-") as place, opened(str(place), activity) as engine:
        done = list(_shown(engine, sizes, out, activity))
    elapsed = time.perf_counter() - started
    agreed = all(step.agrees for step in done)
    out.document({"steps": [step.to_dict() for step in done], "seconds": elapsed, "agrees": agreed})
    _close(out, done, elapsed, options.keep)
    return OK if agreed else DIFFERENT


def _check(options: Namespace, sizes: Sizes) -> None:
    if options.warehouse is not None:
        raise UsageError("The demo makes a warehouse of its own.", "Use --keep DIR to say where.")
    if sizes.customers < 10 or sizes.orders < sizes.customers:
        raise UsageError("The demo needs at least 10 customers, and as many orders.", "Use larger numbers.")


def _shown(engine: Engine, sizes: Sizes, out: Output, activity: Activity) -> Iterator[Step]:
    """The steps, each printed as soon as it is done."""
    out.line(f"One view on {sizes.customers:,} customers and {sizes.orders:,} orders:\n", "bold")
    for line in (f"CREATE MATERIALIZED VIEW {VIEW} AS", *QUERY.splitlines()):
        out.line(f"    {line}", "cyan")
    with activity.doing("making customers and orders"):
        prepare(engine, sizes)
    out.line()
    out.line(LINE.format(*HEADER), "bold")
    running = steps(engine, sizes, activity.now)
    while True:
        with activity.doing("creating the view"):
            step = next(running, None)
        if step is None:
            return
        _show(out, step)
        yield step


def _show(out: Output, step: Step) -> None:
    verified = "yes" if step.agrees else "NO: the view differs from its query"
    figures = (signed(step.rows_deleted, step.rows_inserted), seconds(step.refresh_seconds))
    ratio = f"{step.ratio:.1f}x" if step.compared else ""
    line = LINE.format(step.title, step.technique, *figures, seconds(step.full_seconds), ratio, verified)
    out.line(line, "" if step.agrees else "bold red")
    out.line(f"    {step.reason}", "dim")


def _close(out: Output, done: list[Step], elapsed: float, keep: str | None) -> None:
    out.line(
        "\nRefresh: the time rennet took. Full: the time to run the query again and replace a Delta table\n"
        "by its result, right afterwards. Rows: deleted from and inserted into the view's table, which also\n"
        "keeps the groups that HAVING hides. Verified: the view equals its query, row by row.",
        "dim",
    )
    explanation = next((step.explanation for step in reversed(done) if step.explanation), None)
    if explanation is not None:
        out.line("\nEXPLAIN, asked just before the last of the incremental refreshes:\n", "bold")
        for line in str(explanation).splitlines():
            out.line(f"    {line}".rstrip(), cut=True)
    place = f" --warehouse {keep}" if keep else ""
    out.line(f"\nDone in {elapsed:.0f} s. What next:", "bold")
    out.line(f'  rennet sql{place} "CREATE MATERIALIZED VIEW … AS SELECT …"    make a view of your own')
    out.line(f'  rennet explain{place} "SELECT …"    see whether a query can be refreshed incrementally')
    out.line("  docs/sql.md    all statements; README.md    the Python API, and what is incremental today")
