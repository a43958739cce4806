"""Tables of the benchmark computed from the raw files by DuckDB: the judge of what an engine made of them.

Nothing here shares code with the pipeline that is judged. The rules are in the SQL files beside this one:
`raw.sql` reads files, `dimensions.sql` makes versions of entities, `facts.sql` the tables themselves.

Surrogate keys are worked out of what they stand for, so that any engine can make the same: the day from which
a version holds, followed by the number of the entity; for securities, the symbol followed by that day.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, iterparse

import duckdb

TABLES = (
    "DimCompany",
    "DimSecurity",
    "DimBroker",
    "DimCustomerVersion",
    "DimAccount",
    "DimTrade",
    "FactHoldings",
    "FactCashBalances",
    "FactWatches",
    "FactMarketHistory",
    "Prospect",
)
"""What can be asked for. DimCustomerVersion is DimCustomer without tax rates and demographics."""
PLAIN = "auto_detect = false, header = false, quote = '', escape = '', new_line = '\\r\\n'"
CUSTOMER = ("C_ID", "C_TAX_ID", "C_GNDR", "C_TIER", "C_DOB")
ELEMENTS = (
    *("C_L_NAME", "C_F_NAME", "C_M_NAME", "C_ADLINE1", "C_ADLINE2", "C_ZIPCODE", "C_CITY"),
    *("C_STATE_PROV", "C_CTRY", "C_PRIM_EMAIL", "C_ALT_EMAIL", "C_LCL_TX_ID", "C_NAT_TX_ID"),
)
ACCOUNT = ("CA_ID", "CA_TAX_ST")
COLUMNS = ("ActionType", "ActionTS", *CUSTOMER, *ELEMENTS, *ACCOUNT, "CA_B_ID", "CA_NAME")


class Reference:
    """The tables after some batches of one generated folder."""

    def __init__(self, folder: Path, batches: int) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        self.seconds: dict[str, float] = {}
        """How long each part took: reading the files, the dimensions, the facts."""
        started = time.perf_counter()
        self._load_actions(folder / "Batch1" / "CustomerMgmt.xml")
        with tempfile.NamedTemporaryFile(prefix="Batch0") as nothing:
            for name in ("raw", "dimensions", "facts"):
                text = (files(__package__) / f"{name}.sql").read_text(encoding="utf-8")
                self._connection.execute(_filled(text, folder, batches, nothing.name))
                self.seconds[name] = time.perf_counter() - started
                started = time.perf_counter()

    def __enter__(self) -> Reference:
        """Usable in a `with` statement."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database."""
        self._connection.close()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The result of any query on the tables."""
        return self._connection.execute(query).fetchall()

    def value(self, query: str) -> Any:
        """The result of a query that has one value."""
        ((found,),) = self.rows(query)
        return found

    def export(self, table: str, path: Path) -> None:
        """Write a table as Parquet."""
        if table not in TABLES:
            raise ValueError(f"{table} is not one of {', '.join(TABLES)}")
        self._connection.execute(f"COPY (SELECT * FROM {table}) TO '{_escaped(str(path))}' (FORMAT parquet)")

    def _load_actions(self, path: Path) -> None:
        """CustomerMgmt.xml as a table: what is missing is NULL, what is empty is an empty string."""
        columns = ", ".join(f"{name}: 'VARCHAR'" for name in ("Position", *COLUMNS))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as lines:
            for number, action in enumerate(actions(path)):
                lines.write(json.dumps({"Position": str(number), **action}) + "\n")
            lines.flush()
            self._connection.execute(
                f"CREATE TABLE action AS SELECT * FROM read_json('{lines.name}', columns = {{{columns}}})"
            )


def _filled(text: str, folder: Path, batches: int, nothing: str) -> str:
    """SQL with the names of files put in; `nothing` is an empty file, in place of no file at all."""

    def later(name: re.Match[str]) -> str:
        paths = [str(folder / f"Batch{batch}" / name[1]) for batch in range(2, batches + 1)]
        return "[" + ", ".join(f"'{_escaped(path)}'" for path in paths or [nothing]) + "]"

    text = re.sub(r"\$later\(([\w.]+)\)", later, text)
    text = text.replace("$plain", PLAIN)
    return text.replace("$folder", _escaped(str(folder))).replace("$batches", str(batches))


def _escaped(text: str) -> str:
    """Text as it may stand between quotes."""
    return text.replace("'", "''")


def actions(path: Path) -> Iterator[dict[str, str]]:
    """The actions of CustomerMgmt.xml as flat records, without the phones."""
    for _, element in iterparse(path):
        if element.tag.endswith("}Action"):
            yield _flat(element)
            element.clear()


def _flat(action: Element) -> dict[str, str]:
    found = dict(action.attrib)
    for part in action.iter():
        if part.tag in ("Customer", "Account"):
            found |= part.attrib
        elif part.tag in COLUMNS:
            found[part.tag] = part.text or ""
    return found
