"""The command line itself."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from rennet.cli.main import main, parser
from rennet.errors import Technique
from rennet.version import __version__
from tests.cli.conftest import Shell
from tests.cli.fakes import EQUAL


@pytest.mark.parametrize(
    "line",
    [
        "--warehouse w --json --debug verify v",
        "verify --warehouse w --json --debug v",
        "--json verify v --debug --warehouse w",
    ],
)
def test_global_options_may_stand_anywhere(line: str) -> None:
    options = parser().parse_args(line.split())
    assert (options.warehouse, options.json, options.debug, options.name) == ("w", True, True, "v")


def test_global_options_have_defaults() -> None:
    options = parser().parse_args(["show"])
    assert (options.warehouse, options.json, options.debug) == (None, False, False)


def test_the_warehouse_is_passed_on(shell: Shell) -> None:
    shell.run("verify", "v", "--warehouse", "elsewhere", verify=EQUAL)
    assert shell.warehouse == "elsewhere"


def test_a_technique_is_known_by_name() -> None:
    options = parser().parse_args(["refresh", "v", "--technique", "group_aggregate"])
    assert options.technique is Technique.GROUP_AGGREGATE


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "The following arguments are required: COMMAND."),
        ("fly", "invalid choice: 'fly'"),
        ("refresh", "The following arguments are required: NAME."),
        ("refresh v --technique magic", "'magic' is not one of NO_OP, "),
        ("history v --limit -1", "--limit"),
        ("verify v --samples few", "'few' is not a whole number"),
        ("show --js", "unrecognized arguments: --js"),
        ("sql -f no/such/file.sql", "no/such/file.sql cannot be read: No such file or directory."),
        ("sql SELECT -f script.sql", "Give a statement or a file, not both."),
        ("demo --warehouse w", "The demo makes a warehouse of its own."),
        ("demo --orders 3", "The demo needs at least 10 customers"),
    ],
)
def test_wrong_usage_is_one_line_and_exits_with_2(shell: Shell, line: str, problem: str) -> None:
    ran = shell.run(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: [USAGE] ") and problem.lower() in ran.err.lower()
    assert len(ran.err.splitlines()) == 1


def test_no_statement_at_a_terminal_does_not_wait(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    ran = shell.run("sql")
    assert ran.code == 2 and "There is no statement." in ran.err


def test_only_comments_are_no_statement(shell: Shell) -> None:
    assert shell.run("sql", "-- nothing; /* here; */ ;").code == 2


def test_the_demo_does_not_touch_what_is_there(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    ran = shell.run("demo", "--keep", str(tmp_path))
    assert ran.code == 3 and ran.err.startswith("error: [ALREADY_EXISTS]")


@pytest.mark.parametrize("arguments", [["--version"], ["show", "--version"]])
def test_version(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"rennet {__version__}\n"
