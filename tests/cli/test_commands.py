"""What each command asks of the engine, prints, and exits with."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import Row

from rennet.errors import StatementError, Technique, ViewNotFoundError
from rennet.execute.verify import VerifyResult
from tests.cli.conftest import Shell
from tests.cli.fakes import EQUAL, EXPLAINED, PAST, REFRESHED, FakeEngine, FakeFrame

DIFFERENT = VerifyResult(
    "default.v", False, 1, 2, ({"region": None, "n": Decimal("1.50")},), ({"region": "x", "n": 2},)
)
VIEWS = "schema:string,name:string,policy:string,schedule:string,technique:string,refreshed_at:string"


def test_refresh_says_what_was_done(shell: Shell) -> None:
    ran = shell.run("refresh", "v", refresh=REFRESHED)
    assert ran.code == 0 and ran.err == ""
    assert ran.out.splitlines() == [
        "default.v: GROUP_AGGREGATE",
        "  because  every aggregate can be updated from the changed rows alone",
        "  rows     -1,234 +5",
        "  sources  orders version 3 → 4, customers version 1",
        "  time     1.23 s, 0.50 s of CPU, 5 Spark jobs",
        "  version  7",
    ]


def test_refresh_passes_its_options_on(shell: Shell) -> None:
    engine = FakeEngine(refresh=REFRESHED)
    shell.on(engine, "refresh", "s.v", "--full")
    shell.on(engine, "refresh", "v", "--technique", "row_based")
    assert engine.asked == [("refresh", "s.v", True, None), ("refresh", "v", False, Technique.ROW_BASED)]


def test_refresh_as_json(shell: Shell) -> None:
    document = shell.run("refresh", "v", "--json", refresh=REFRESHED).document
    assert document["technique"] == "GROUP_AGGREGATE"
    assert document["sources"][0] == {"name": "orders", "from": 3, "to": 4}
    assert document["version"] == 7


def test_explain(shell: Shell) -> None:
    ran = shell.run("explain", "SELECT 1 AS a", explain=EXPLAINED)
    assert ran.code == 0
    assert "  because because of [brackets]" in ran.out
    assert shell.run("--json", "explain", "v", explain=EXPLAINED).document["fingerprint"] == "1:abc"


def test_history(shell: Shell) -> None:
    ran = shell.run("history", "v", "--limit", "1", history=FakeFrame("", PAST, PAST))
    heading, _, row = (line.split() for line in ran.out.splitlines())
    assert heading == ["refreshed", "at", "technique", "rows", "time", "CPU", "expected", "version", "reason"]
    assert row[:4] == ["2025-11-15", "10:00:00", "NO_OP", "-0"]
    document = shell.run("history", "v", "--json", history=FakeFrame("", PAST)).document
    assert document["view"] == "v"
    assert document["refreshes"][0]["sources"] == [{"name": "orders", "version": 4}]
    assert document["refreshes"][0]["wall_seconds"] is None


def test_history_of_all_views(shell: Shell) -> None:
    engine = FakeEngine(history=FakeFrame("", Row(view="default.v", **PAST.asDict())))
    ran = shell.on(engine, "history")
    heading, _, row = (line.split() for line in ran.out.splitlines())
    assert engine.asked == [("history", None)]
    assert (heading[0], row[0]) == ("view", "default.v")


def test_a_view_that_was_never_refreshed_has_an_empty_history(shell: Shell) -> None:
    ran = shell.run("history", "v", history=FakeFrame(""))
    assert (ran.code, ran.out.strip()) == (0, "No refresh is on record.")


def test_verify_that_agrees(shell: Shell) -> None:
    engine = FakeEngine(verify=EQUAL)
    ran = shell.on(engine, "verify", "v", "--samples", "3")
    assert ran.code == 0
    assert ran.out == "default.v: equal to its query at the versions it was made from\n"
    assert engine.asked == [("verify", "v", 3)]


def test_verify_that_differs_exits_with_1(shell: Shell) -> None:
    ran = shell.run("verify", "v", verify=DIFFERENT)
    assert ran.code == 1
    lines = [line.split() for line in ran.out.splitlines()]
    assert ran.out.startswith("default.v: 1 rows missing, 2 rows too many\n")
    assert ["NULL", "1.50"] in lines and ["x", "2"] in lines
    ran = shell.run("verify", "v", "--json", verify=DIFFERENT)
    assert ran.code == 1
    assert ran.document["missing_rows"] == [{"region": None, "n": "1.50"}]


def test_show(shell: Shell) -> None:
    row = ("default", "v", "AUTO", "", "NO_OP", "2025")
    ran = shell.run("show", sql=FakeFrame(VIEWS, row))
    assert ran.out.splitlines()[0].split() == [column.split(":")[0] for column in VIEWS.split(",")]
    assert shell.run("show", "--json", sql=FakeFrame(VIEWS, row)).document["views"][0]["name"] == "v"
    assert shell.run("show", sql=FakeFrame(VIEWS)).out == "There are no materialized views here.\n"


# -- sql


def test_sql_runs_each_statement(shell: Shell) -> None:
    frames = {"SELECT ';' AS a": FakeFrame("a:string", (";",)), "DROP TABLE t": FakeFrame("")}
    engine = FakeEngine(sql=frames.__getitem__)
    ran = shell.on(engine, "sql", "SELECT ';' AS a; DROP TABLE t;")
    assert ran.out.split() == ["a", "─", ";", "OK"]
    assert engine.asked == [("sql", "SELECT ';' AS a"), ("sql", "DROP TABLE t")]


def test_sql_as_json_keeps_columns_of_the_same_name(shell: Shell) -> None:
    frame = FakeFrame("a:int,a:decimal(3,1)".replace(",1", ";1"), (1, Decimal("2.5")))
    document = shell.run("sql", "--json", "SELECT 1 AS a, 2.5 AS a", sql=frame).document
    (result,) = document["results"]
    assert [column["name"] for column in result["columns"]] == ["a", "a"]
    assert result["rows"] == [[1, "2.5"]] and result["truncated"] is False


def test_sql_shows_no_more_than_the_limit(shell: Shell) -> None:
    frame = FakeFrame("a:int", (1,), (2,), (3,))
    ran = shell.run("sql", "SELECT a FROM t", "--limit", "2", sql=frame)
    assert ran.out.splitlines()[-1] == "… and more: the first 2 rows are shown"
    assert shell.run("sql", "SELECT a FROM t", "--limit", "0", sql=frame).out.split()[-1] == "3"
    document = shell.run("sql", "SELECT 1", "--limit", "2", "--json", sql=frame).document
    assert document["results"][0]["truncated"] is True


@pytest.mark.parametrize("arguments", [("sql",), ("sql", "-"), ("sql", "-f", "-")])
def test_sql_from_standard_input(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 1;\n-- the end"))
    engine = FakeEngine(sql=FakeFrame("a:int", (1,)))
    assert shell.on(engine, *arguments).code == 0
    assert engine.asked == [("sql", "SELECT 1")]


def test_sql_from_a_file(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("SELECT 1; SELECT 2", encoding="utf-8")
    engine = FakeEngine(sql=FakeFrame("a:int", (1,)))
    assert shell.on(engine, "sql", "-f", str(script)).code == 0
    assert [text for _, text in engine.asked] == ["SELECT 1", "SELECT 2"]


def test_sql_that_fails_keeps_what_was_printed_before(shell: Shell) -> None:
    def answer(text: str) -> FakeFrame:
        if text == "BAD":
            raise StatementError("Line 1, column 1: expected SELECT.\n  1 | BAD\n    | ^^^", "Write SELECT.")
        return FakeFrame("a:int", (42,))

    ran = shell.run("sql", "SELECT 42; BAD; SELECT 43", sql=answer)
    assert ran.code == 3
    assert ran.out.split() == ["a", "──", "42"]
    assert ran.err == "error: [PARSE_ERROR] Line 1, column 1: expected SELECT.  Write SELECT.\n"


# -- errors


def test_an_error_is_one_line(shell: Shell) -> None:
    missing = ViewNotFoundError("default.v does not exist.", "SHOW MATERIALIZED VIEWS lists those there are.")
    ran = shell.run("refresh", "v", refresh=missing)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "error: [MATERIALIZED_VIEW_NOT_FOUND] default.v does not exist.  "
        "SHOW MATERIALIZED VIEWS lists those there are.\n"
    )


def test_an_error_as_json_is_on_both_streams(shell: Shell) -> None:
    ran = shell.run("verify", "v", "--json", verify=ViewNotFoundError("v does not exist."))
    assert ran.document == {
        "error": {"code": "MATERIALIZED_VIEW_NOT_FOUND", "message": "v does not exist.", "hint": ""}
    }
    assert ran.err.startswith("error: [MATERIALIZED_VIEW_NOT_FOUND]")


def test_an_unexpected_error_exits_with_4(shell: Shell) -> None:
    ran = shell.run("refresh", "v", refresh=ZeroDivisionError("by\nzero"))
    assert ran.code == 4
    assert ran.err == ("error: [UNEXPECTED] ZeroDivisionError: by  Run it again with --debug to see where.\n")


def test_debug_shows_the_traceback(shell: Shell) -> None:
    ran = shell.run("refresh", "v", "--debug", refresh=ZeroDivisionError("by zero"))
    assert ran.code == 4
    assert ran.err.startswith("Traceback (most recent call last):")


def test_an_interrupt_is_not_a_crash(shell: Shell) -> None:
    ran = shell.run("refresh", "v", refresh=KeyboardInterrupt())
    assert (ran.code, ran.err) == (130, "error: [INTERRUPTED] Interrupted.\n")


def test_a_request_to_terminate_is_an_interrupt(shell: Shell) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def terminated(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    ran = shell.run("refresh", "v", refresh=terminated)
    assert (ran.code, ran.err) == (130, "error: [INTERRUPTED] Interrupted.\n")
    assert signal.getsignal(signal.SIGTERM) is before
