"""Values, tables and the spinner."""

from __future__ import annotations

import math
import os
import pty
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Row

from rennet.cli.output import Grid, Output, cell, one_line, plain, seconds
from rennet.cli.progress import Activity


@pytest.mark.parametrize(
    ("value", "in_json", "in_a_table"),
    [
        (None, None, "NULL"),
        (True, True, "true"),
        (7, 7, "7"),
        (0.5, 0.5, "0.5"),
        (math.nan, "nan", "nan"),
        (Decimal("1.50"), "1.50", "1.50"),
        (date(2025, 1, 2), "2025-01-02", "2025-01-02"),
        (datetime(2025, 1, 2, 3, 4, tzinfo=UTC), "2025-01-02T03:04:00+00:00", "2025-01-02 03:04:00+00:00"),
        (bytearray(b"\x01\xff"), "01ff", "01ff"),
        ([1, None], [1, None], "[1, null]"),
        (Row(a=1, b=Decimal(2)), {"a": 1, "b": "2"}, '{"a": 1, "b": "2"}'),
        ({1: date(2025, 1, 2)}, {"1": "2025-01-02"}, '{"1": "2025-01-02"}'),
    ],
)
def test_values(value: Any, in_json: Any, in_a_table: str) -> None:
    assert plain(value) == in_json
    assert cell(value) == in_a_table


def test_tables_are_aligned_and_not_cut_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 300
    Output().grid(Grid(("name", "n"), ("string", "int"), ((long, 5), ("[red]y[/red]", 12345))))
    heading, rule, first, second = capsys.readouterr().out.splitlines()
    assert first == f"{long}       5" and second.startswith("[red]y[/red] ")
    assert heading.startswith("name") and heading.endswith("    n") and set(rule) == {"─"}
    assert len(first) == len(second) == len(rule)
    assert second.endswith("12345")


def test_durations() -> None:
    assert [seconds(value) for value in (None, 0.123, 9.994, 12.34)] == ["", "0.12 s", "9.99 s", "12.3 s"]


def test_one_line_of_many() -> None:
    assert one_line(("error: a\n b", "", "c")) == "error: a b  c"


def test_the_spinner_leaves_a_pipe_alone(capfd: pytest.CaptureFixture[str]) -> None:
    with Activity().doing("working"):
        pass
    assert capfd.readouterr() == ("", "")


def test_the_spinner_spins_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setattr(os, "dup", lambda _: theirs)
    with Activity(shown=True).doing("working hard"):
        pass
    assert b"working hard" in os.read(ours, 10_000)
    os.close(ours)
