"""The command `rennet`: reads the command line, starts Spark, runs a command, explains what went wrong."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from rennet.api import Engine
from rennet.cli import bench, commands, demo, fuzz, pipelines, preparing
from rennet.cli.commands import FAILED, INTERRUPTED, OK, UNEXPECTED, USAGE, Command, Context, UsageError
from rennet.cli.output import Output, one_line
from rennet.cli.progress import Activity
from rennet.demo import Sizes
from rennet.errors import RennetError, Technique
from rennet.session import close, session
from rennet.storage.tables import first_line
from rennet.version import __version__

EPILOG = (
    "Exit codes: 0 done, 1 a view differs from its query, 2 wrong usage, 3 an error that rennet or Spark "
    "explains, 4 an unexpected error. Tables and views live in ./rennet-warehouse, in the folder that "
    "RENNET_WAREHOUSE names, or in --warehouse."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; gives the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    out = Output("--json" in given)
    try:
        options = parser().parse_args(given)
        with _tidy_when_terminated():
            code = _run(options, out)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (Exception, KeyboardInterrupt) as error:
        return _fail(error, out, "--debug" in given)
    return code


def _run(options: argparse.Namespace, out: Output) -> int:
    activity = Activity()
    if options.command == "demo":
        return demo.run(options, out, activity, opened)
    if options.command == "bench":
        return bench.run(options, out, activity, opened)
    if options.command == "fuzz":
        return fuzz.run(options, out, activity)
    if options.command == "prepare":
        return preparing.run(options, out, activity)
    if options.command == "init":
        return pipelines.init(options, out)
    if options.command == "sql":
        options.statements = commands.statements(options)
    with opened(options.warehouse, activity) as engine:
        return RUN[options.command](Context(engine, options, out, activity))


@contextmanager
def _tidy_when_terminated() -> Iterator[None]:
    """Let a request to terminate end a command as Ctrl-C does, so that nothing is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def opened(warehouse: str | None, activity: Activity) -> Iterator[Engine]:
    """An engine on a Spark of its own, which is gone afterwards."""
    with activity.doing("starting Spark"):
        spark = session(warehouse)
        engine = Engine(spark)
    try:
        yield engine
    except Py4JJavaError as error:  # its text is in the JVM, which is about to end
        raise RuntimeError(f"{first_line(error)}\n{error}") from None
    finally:
        with activity.doing("stopping Spark"):
            close(spark)


# -- what went wrong


def _fail(error: BaseException, out: Output, debug: bool) -> int:
    exit_code, code, message, hint = described(error)
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    out.document({"error": {"code": code, "message": message, "hint": hint}})
    print(one_line((f"error: [{code}] {message}", hint)), file=sys.stderr)
    return exit_code


def described(error: BaseException) -> tuple[int, str, str, str]:
    """An error as exit code, stable code, message and hint."""
    if isinstance(error, UsageError):
        return USAGE, error.code, error.message, error.hint
    if isinstance(error, RennetError):
        return FAILED, error.code, _first(error.message), error.hint
    if isinstance(error, PySparkException):
        code = error.getCondition() or type(error).__name__
        return FAILED, code, _first(str(error)).removeprefix(f"[{code}]").strip(), ""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "INTERRUPTED", "Interrupted.", ""
    message = f"{type(error).__name__}: {_first(str(error))}"
    return UNEXPECTED, "UNEXPECTED", message, "Run it again with --debug to see where."


def _first(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0] if lines else ""


# -- the command line


class Parser(argparse.ArgumentParser):
    """Argparse, but wrong usage is an error like any other."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings.setdefault("allow_abbrev", False)
        super().__init__(*arguments, **settings)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}.", f"See {self.prog} --help.")


def parser() -> argparse.ArgumentParser:
    """The whole command line; global options may stand before or after the subcommand."""
    made = Parser("rennet", description="Incremental materialized views for Spark and Delta.", epilog=EPILOG)
    made.add_argument("--version", action="version", version=f"rennet {__version__}")
    _global_options(made, None, False)
    shared = Parser(add_help=False)
    _global_options(shared, argparse.SUPPRESS, argparse.SUPPRESS)
    shared.add_argument(
        "--version", action="version", version=f"rennet {__version__}", help=argparse.SUPPRESS
    )
    group = made.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, (summary, *arguments) in COMMANDS.items():
        command = group.add_parser(name, help=summary, description=f"{summary}.", parents=[shared])
        for names, settings in arguments:
            command.add_argument(*names, **settings)
    bench.add(group, shared)
    return made


def _global_options(to: argparse.ArgumentParser, nothing: Any, off: Any) -> None:
    to.add_argument("--warehouse", metavar="DIR", default=nothing, help="where tables and views live")
    to.add_argument("--json", action="store_true", default=off, help="print one JSON document, nothing else")
    to.add_argument("--debug", action="store_true", default=off, help="print tracebacks")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _technique(text: str) -> Technique:
    try:
        return Technique(text.upper())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(Technique)}") from None


Argument = tuple[tuple[str, ...], dict[str, Any]]
NAME: Argument = (("name",), {"metavar": "NAME", "help": "the view, perhaps with its schema"})


def _number(flag: str, default: int, text: str) -> Argument:
    settings = {"metavar": "N", "type": _count, "default": default, "help": f"{text} (default {default:,})"}
    return ((flag,), settings)


def _datasets(flag: str, text: str) -> Argument:
    settings = {"metavar": "A,B", "type": pipelines.names, "action": "extend", "default": [], "help": text}
    return ((flag,), settings)


SPEC: Argument = (("--spec",), {"metavar": "FILE", "help": "the pipeline's spark-pipeline.yml"})

COMMANDS: dict[str, tuple[str, *tuple[Argument, ...]]] = {
    "demo": (
        "see incremental refreshes beside full ones, in a warehouse of its own",
        _number("--customers", Sizes.customers, "how many customers"),
        _number("--orders", Sizes.orders, "how many orders"),
        (("--keep",), {"metavar": "DIR", "help": "make the warehouse here and keep it"}),
    ),
    "sql": (
        "run SQL statements: rennet's own and Spark's",
        (("statement",), {"metavar": "STATEMENT", "nargs": "?", "help": "statements, - for standard input"}),
        (("-f", "--file"), {"metavar": "FILE", "help": "read the statements from a file"}),
        _number("--limit", 100, "show at most so many rows of each result, 0 for all"),
    ),
    "refresh": (
        "bring a view up to date",
        NAME,
        (("--full",), {"action": "store_true", "help": "recompute it whatever changed"}),
        (("--technique",), {"metavar": "T", "type": _technique, "help": f"one of {', '.join(Technique)}"}),
    ),
    "explain": (
        "say what the next refresh would do and why, or what is possible for a query",
        (("subject",), {"metavar": "NAME_OR_QUERY", "help": "a view, or a SELECT"}),
    ),
    "history": (
        "list the refreshes of a view, or of all views, the newest first",
        (("name",), {"metavar": "NAME", "nargs": "?", "help": "the view; all if there is none"}),
        _number("--limit", 20, "list at most so many"),
    ),
    "verify": (
        "compare a view with its own query",
        NAME,
        _number("--samples", 10, "show at most so many differing rows of each kind"),
    ),
    "show": ("list the materialized views",),
    "calibrate": (
        "measure what each kind of work costs on this machine, for the cost model",
        _number("--rows", 4_000_000, "rows to measure with"),
    ),
    "prepare": ("make later starts of Spark on this machine quicker",),
    "fuzz": (
        "check rennet itself on random queries, data and changes, in a warehouse of its own",
        _number("--cases", 200, "how many queries per seed"),
        _number("--seeds", 1, "how many seeds in a row"),
        _number("--processes", 1, "share them out to so many processes, each with a Spark of its own"),
        (
            ("--seed",),
            {"metavar": "S", "type": _count, "help": "what everything follows from (default: the date)"},
        ),
        (("--case",), {"metavar": "K", "type": _count, "help": "only this one"}),
        (("--minutes",), {"metavar": "M", "type": float, "help": "stop after about so long"}),
        (
            ("--techniques",),
            {
                "choices": ("some", "all"),
                "default": "some",
                "help": "a random technique at each refresh (default), or a view per technique",
            },
        ),
        (
            ("--out",),
            {"metavar": "DIR", "default": "fuzz-failures", "help": "where failures are written as scenarios"},
        ),
        _number("--shrink", 120, "seconds to make one failure small, 0 to leave it as it is"),
    ),
    "run": (
        "update a pipeline",
        SPEC,
        _datasets("--refresh", "bring only these datasets up to date, separated by commas"),
        _datasets("--full-refresh", "compute these datasets anew"),
        (("--full-refresh-all",), {"action": "store_true", "help": "compute every dataset anew"}),
        (("--continuous",), {"action": "store_true", "help": "update again and again until interrupted"}),
        _number("--interval", 5, "with --continuous, the least seconds between two updates"),
    ),
    "dry-run": ("check a pipeline and show its graph, without computing anything", SPEC),
    "watch": ("run the schedules and triggers of the catalog's views and pipelines until interrupted",),
    "init": (
        "write a small pipeline project",
        (("--name",), {"metavar": "NAME", "required": True, "help": "the project, and its new folder"}),
    ),
}
"""Summary and arguments of each subcommand."""

RUN: dict[str, Command] = {
    "sql": commands.sql,
    "refresh": commands.refresh,
    "explain": commands.explain,
    "history": commands.history,
    "verify": commands.verify,
    "show": commands.show,
    "calibrate": commands.calibrate,
    "run": pipelines.run,
    "dry-run": pipelines.dry_run,
    "watch": pipelines.watch,
}

if __name__ == "__main__":
    sys.exit(main())
