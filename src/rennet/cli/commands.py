"""One function per subcommand: it asks the engine, prints, and gives the exit code."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rennet.api import Engine, as_dict
from rennet.cli.output import Grid, Output, seconds, signed
from rennet.cli.progress import Activity
from rennet.errors import RennetError
from rennet.execute.record import RefreshResult
from rennet.execute.verify import VerifyResult
from rennet.sql.parse import split

OK, DIFFERENT, USAGE, FAILED, UNEXPECTED, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes."""


class UsageError(RennetError):
    """The command line itself is wrong."""

    code = "USAGE"


@dataclass(frozen=True)
class Context:
    """What every command works with."""

    engine: Engine
    options: Namespace
    out: Output
    activity: Activity


Command = Callable[[Context], int]


# -- sql


def statements(options: Namespace) -> list[str]:
    """The statements to run: the argument, the file or the standard input, split at semicolons."""
    if options.statement is not None and options.file is not None:
        raise UsageError("Give a statement or a file, not both.", "See rennet sql --help.")
    if options.statement not in (None, "-"):
        text = options.statement
    elif options.file not in (None, "-"):
        text = _read(options.file)
    elif sys.stdin.isatty():
        raise UsageError("There is no statement.", 'Write rennet sql "SELECT …", or give a file with -f.')
    else:
        text = sys.stdin.read()
    found = split(text)
    if not found:
        raise UsageError("There is no statement: the text is empty.", "See rennet sql --help.")
    return found


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"{name} cannot be read: {why}.") from error


def sql(context: Context) -> int:
    """Run statements one after the other, printing each result as it comes."""
    results: list[dict[str, Any]] = []
    for statement in context.options.statements:
        with context.activity.doing(f"running {_shortened(statement)}"):
            grid = Grid.of(context.engine.sql(statement), context.options.limit)
        results.append({"statement": statement, **grid.to_dict()})
        if grid.columns and (grid.rows or grid.columns != ("result",)):
            context.out.grid(grid)
        else:
            context.out.line("OK", "dim")
    context.out.document({"results": results})
    return OK


def _shortened(statement: str, width: int = 40) -> str:
    text = " ".join(statement.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"


# -- views


def refresh(context: Context) -> int:
    """Bring a view up to date and say what was done."""
    options = context.options
    with context.activity.doing(f"refreshing {options.name}"):
        result = context.engine.refresh(options.name, full=options.full, technique=options.technique)
    context.out.document(as_dict(result))
    context.out.line(f"{result.view}: {result.technique}", "bold")
    context.out.facts(_refresh_facts(result))
    return OK


def _refresh_facts(result: RefreshResult) -> list[tuple[str, str]]:
    moved = (f"{s['name']} {_versions(s['from'], s['to'])}" for s in result.sources)
    jobs = f"{result.jobs} Spark job{'' if result.jobs == 1 else 's'}"
    return [
        ("because", result.reason),
        ("rows", signed(result.rows_deleted, result.rows_inserted)),
        ("sources", ", ".join(moved)),
        ("time", f"{seconds(result.wall_seconds)}, {seconds(result.cpu_seconds)} of CPU, {jobs}"),
        ("version", "" if result.version is None else str(result.version)),
        ("written by", result.written_by),
    ]


def _versions(before: int | None, now: int) -> str:
    return f"version {now}" if before in (None, now) else f"version {before} → {now}"


def explain(context: Context) -> int:
    """Say what the next refresh of a view would do, or what is possible for a query."""
    with context.activity.doing("reading the query"):
        found = context.engine.explain(context.options.subject)
    context.out.document(found.to_dict())
    for line in str(found).splitlines():
        context.out.line(line)
    return OK


def history(context: Context) -> int:
    """List the refreshes of a view, or of all, the newest first."""
    options = context.options
    with context.activity.doing(f"reading the history of {options.name or 'all views'}"):
        rows = [
            row.asDict(recursive=True) for row in context.engine.history(options.name).take(options.limit)
        ]
    context.out.document({"view": options.name, "refreshes": rows})
    if rows:
        context.out.grid(Grid.from_dicts(_refreshed(row) for row in rows))
    else:
        context.out.line("No refresh is on record.")
    return OK


def _refreshed(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **({"view": row["view"]} if "view" in row else {}),
        "refreshed at": str(row["refreshed_at"])[:19].replace("T", " "),
        "technique": row["technique"],
        "rows": signed(row["rows_deleted"], row["rows_inserted"]),
        "time": seconds(row["wall_seconds"]),
        "CPU": seconds(row["cpu_seconds"]),
        "expected": seconds(row["estimated_cpu_seconds"]),
        "version": "" if row["version"] is None else str(row["version"]),
        "reason": row["reason"],
    }


def verify(context: Context) -> int:
    """Compare a view with its query; the exit code says whether they agree."""
    options = context.options
    with context.activity.doing(f"verifying {options.name}"):
        result = context.engine.verify(options.name, samples=options.samples)
    context.out.document(as_dict(result))
    if result.equal:
        context.out.line(f"{result.view}: equal to its query at the versions it was made from", "green")
        return OK
    _show_difference(context.out, result)
    return DIFFERENT


def _show_difference(out: Output, result: VerifyResult) -> None:
    out.line(f"{result.view}: {result.missing:,} rows missing, {result.extra:,} rows too many", "bold red")
    for title, rows in (("Missing", result.missing_rows), ("Too many", result.extra_rows)):
        if rows:
            out.line(f"\n{title}, for example:")
            out.grid(Grid.from_dicts(rows))


def calibrate(context: Context) -> int:
    """Measure the rates the cost model starts from, and keep them in the warehouse."""
    rows = []
    with context.activity.doing("measuring"):
        for kind, seconds_ in context.engine.calibrate(context.options.rows).items():
            rows.append({"kind": str(kind), "nanoseconds": round(seconds_ * 1e9, 2)})
    context.out.document({"rates": rows})
    context.out.grid(Grid.from_dicts(rows))
    return OK


def show(context: Context) -> int:
    """List the materialized views."""
    with context.activity.doing("reading the catalog"):
        grid = Grid.of(context.engine.sql("SHOW MATERIALIZED VIEWS"))
    rows = [dict(zip(grid.columns, row, strict=True)) for row in grid.rows]
    context.out.document({"views": rows})
    if rows:
        context.out.grid(grid)
    else:
        context.out.line("There are no materialized views here.")
    return OK
