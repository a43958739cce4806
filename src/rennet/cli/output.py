"""What commands print: aligned tables and plain lines for people, one JSON document for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, Row
from rich import box
from rich.console import Console, OverflowMethod
from rich.table import Table
from rich.text import Text

UNBOUNDED = 100_000
"""The width of a line when nobody's terminal limits it."""
NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True)
class Grid:
    """Rows under named columns, some of them numbers."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False
    """There are rows beyond these."""

    @staticmethod
    def of(frame: DataFrame, limit: int = 0) -> Grid:
        """Up to `limit` rows of a DataFrame, all of them if it is 0."""
        found = frame.take(limit + 1) if limit else frame.collect()
        names, types = zip(*frame.dtypes, strict=True) if frame.dtypes else ((), ())
        kept = found[:limit] if limit else found
        return Grid(names, types, tuple(tuple(row) for row in kept), len(kept) < len(found))

    @staticmethod
    def from_dicts(rows: Iterable[Mapping[str, Any]]) -> Grid:
        """Rows that name their own columns."""
        found = list(rows)
        names = tuple(found[0]) if found else ()
        types = tuple(_type(found[0][name]) for name in names)
        return Grid(names, types, tuple(tuple(row[name] for name in names) for row in found))

    def to_dict(self) -> dict[str, Any]:
        """For JSON: rows are arrays, because two columns may have one name."""
        columns = [{"name": n, "type": t} for n, t in zip(self.columns, self.types, strict=True)]
        return {"columns": columns, "rows": [list(row) for row in self.rows], "truncated": self.more}


def _type(value: Any) -> str:
    return "double" if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else "string"


class Output:
    """Standard output. In JSON mode a command's document is printed once, and text is left out."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        terminal = sys.stdout.isatty()
        self._console = Console(
            file=sys.stdout,
            width=None if terminal else UNBOUNDED,
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=not terminal,
        )

    def document(self, content: Any) -> None:
        """The machine-readable result, printed only when it was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(plain(content), ensure_ascii=False) + "\n")
            sys.stdout.flush()

    def line(self, text: str = "", style: str = "", cut: bool = False) -> None:
        """One line for people; on a terminal one that is too long is wrapped, or cut."""
        if not self.as_json:
            overflow: OverflowMethod | None = "ellipsis" if cut else None
            self._console.print(Text(text, style=style), no_wrap=cut or None, overflow=overflow)
            sys.stdout.flush()

    def facts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """A name and a value per line; values that are empty are left out."""
        shown = [(name, value) for name, value in pairs if value]
        width = max((len(name) for name, _ in shown), default=0)
        for name, value in shown:
            self.line(f"  {name:<{width}}  {value}")

    def grid(self, grid: Grid) -> None:
        """A table for people."""
        if self.as_json:
            return
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for name, kind in zip(grid.columns, grid.types, strict=True):
            numeric = kind.split("(")[0] in NUMERIC
            table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=numeric)
        for row in grid.rows:
            table.add_row(*(Text(cell(value)) for value in row))
        self._console.print(table)
        if grid.more:
            self.line(f"… and more: the first {len(grid.rows)} rows are shown", "dim")


def cell(value: Any) -> str:
    """A value as a table shows it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, Row | dict | list | tuple | set):
        return json.dumps(plain(value), ensure_ascii=False)
    return str(plain(value))


def plain(value: Any) -> Any:
    """A value as JSON can hold it: exact numbers, times and bytes become text."""
    if isinstance(value, Row):
        return plain(value.asDict())
    if isinstance(value, Mapping):
        return {_key(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(each) for each in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _key(value: Any) -> str:
    return value if isinstance(value, str) else cell(value)


def seconds(value: float | None) -> str:
    """A duration with as many digits as are worth reading."""
    if value is None:
        return ""
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def signed(deleted: int, inserted: int) -> str:
    """Rows that left and rows that came."""
    return f"-{deleted:,} +{inserted:,}"


def one_line(parts: Sequence[str]) -> str:
    """The parts that say something, two spaces between, on one line."""
    return "  ".join(" ".join(part.split()) for part in parts if part.strip())
