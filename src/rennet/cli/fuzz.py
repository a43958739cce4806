"""Random queries on the screen."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from rennet.cli.commands import DIFFERENT, OK, UsageError
from rennet.cli.output import Output
from rennet.cli.progress import Activity
from rennet.testing.fuzz.run import Options, seed_of_today
from rennet.testing.fuzz.run import run as run_cases


def run(options: Namespace, out: Output, activity: Activity) -> int:
    """Run random cases; the exit code is 1 if any of them failed."""
    if options.warehouse is not None:
        raise UsageError("Random cases run in a warehouse of their own.", "Leave --warehouse out.")
    seed = seed_of_today() if options.seed is None else options.seed
    wanted = Options(
        seed,
        options.cases,
        options.minutes,
        options.case,
        options.techniques == "all",
        Path(options.out),
        options.shrink,
        seeds=options.seeds,
        processes=options.processes,
    )
    out.line(f"seed {seed}")

    def say(what: str) -> None:
        activity.now(what)
        if what.startswith("FAILED"):
            out.line(what, "bold red")

    with activity.doing("starting Spark"):
        report = run_cases(wanted, say)
    out.document(report.to_dict())
    for line in report.lines():
        out.line(line, "bold red" if line.startswith("FAILED") else "")
    return DIFFERENT if report.failures else OK
