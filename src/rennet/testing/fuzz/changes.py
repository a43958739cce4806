"""Random changes of source tables, as SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random

from rennet.testing.fuzz import values
from rennet.testing.fuzz.tables import Row, Table, insert, random_row

TABLE = re.compile(
    r"(?:INSERT INTO|INSERT OVERWRITE|DELETE FROM|UPDATE|MERGE INTO|OPTIMIZE|TRUNCATE TABLE) (\w+)"
)
"""How every statement here begins, and the table it changes."""


@dataclass(frozen=True)
class Change:
    """What happens between two refreshes."""

    title: str
    statements: tuple[str, ...]

    def changes(self, tables: Collection[str]) -> bool:
        """May a row of one of these tables change? Compaction changes none."""
        return any(changed(s) in tables for s in self.statements if not s.startswith("OPTIMIZE"))


def changed(statement: str) -> str:
    """The table that a statement changes."""
    found = TABLE.match(statement)
    assert found is not None, statement
    return found[1]


class Changer:
    """Makes up changes of a set of tables; new rows get new ids."""

    def __init__(self, rng: Random, tables: Sequence[Table]) -> None:
        self.rng = rng
        self.tables = tables
        self.next = 100

    def change(self) -> Change:
        """One kind of change, or several at once on any of the tables."""
        names = list(KINDS)
        weights = [KINDS[name][1] for name in names]
        count = self.rng.choice((1, 1, 2, 2, 3))
        chosen = self.rng.choices(names, weights, k=count)
        if chosen[0] == "nothing":
            chosen = chosen[:1]
        statements: list[str] = []
        for name in chosen:
            statements += KINDS[name][0](self, self.rng.choice(self.tables))
        return Change(", ".join(chosen), tuple(statements))

    # -- rows and conditions -------------------------------------------------------------------------

    def rows(self, table: Table, count: int) -> tuple[Row, ...]:
        """New rows; some twice."""
        made: list[Row] = []
        for _ in range(count):
            self.next += 1
            twice = made and self.rng.random() < 0.15
            made.append(made[-1] if twice else random_row(self.rng, table, self.next))
        return tuple(made)

    def some(self, table: Table) -> str:
        """A condition that some rows meet."""
        rng = self.rng
        number = rng.randint(1, max(1, len(table.rows)))
        choices = [f"id = {number}", f"id % 4 = {rng.randrange(4)}", f"id IN ({number}, {number + 3}, 101)"]
        choices += [f"id > {number} AND id < {number + 6}", "k IS NULL", "id >= 100"]
        choices.append(f"k = {values.value(rng, table.columns[1].kind)}")
        return rng.choice(choices)


def _insert(changer: Changer, table: Table) -> list[str]:
    return [insert(table.name, changer.rows(table, changer.rng.randint(1, 4)))]


def _insert_again(changer: Changer, table: Table) -> list[str]:
    """Copies of rows that were there at first."""
    if not table.rows:
        return _insert(changer, table)
    return [insert(table.name, tuple(changer.rng.choices(table.rows, k=2)))]


def _delete(changer: Changer, table: Table) -> list[str]:
    return [f"DELETE FROM {table.name} WHERE {changer.some(table)}"]


def _update_key(changer: Changer, table: Table) -> list[str]:
    value = values.nullable(changer.rng, table.columns[1].kind, 0.25)
    return [f"UPDATE {table.name} SET k = {value} WHERE {changer.some(table)}"]


def _update_value(changer: Changer, table: Table) -> list[str]:
    column = changer.rng.choice(table.columns[2:])
    value = values.nullable(changer.rng, column.kind, 0.25)
    return [f"UPDATE {table.name} SET {column.name} = {value} WHERE {changer.some(table)}"]


def _update_nothing(changer: Changer, table: Table) -> list[str]:
    return [f"UPDATE {table.name} SET k = k WHERE {changer.some(table)}"]


def _delete_reinsert(changer: Changer, table: Table) -> list[str]:
    """Take a row away and put it back."""
    if not table.rows:
        return _insert(changer, table)
    row = changer.rng.choice(table.rows)
    where = "id IS NULL" if row[0] == "NULL" else f"id = {row[0]}"
    return [f"DELETE FROM {table.name} WHERE {where}", insert(table.name, (row,))]


def _both_sides(changer: Changer, table: Table) -> list[str]:
    """The same key goes and comes on every table at once."""
    made = []
    for each in changer.tables:
        made.append(f"DELETE FROM {each.name} WHERE id % 3 = {changer.rng.randrange(3)}")
        made += _insert(changer, each)
    return made


def _merge(changer: Changer, table: Table) -> list[str]:
    rows = changer.rows(table, 2)
    known = changer.rng.sample(table.rows, min(2, len(table.rows)))
    ids = list(dict.fromkeys(row[0] for row in (*known, *rows) if row[0] != "NULL"))
    if not ids:
        return _insert(changer, table)
    columns = [c.name for c in table.columns]
    by_id = {row[0]: row for row in reversed(rows)}
    listed = ", ".join(f"({', '.join((id, *by_id.get(id, rows[0])[1:]))})" for id in ids)
    typed = ", ".join(
        f"CAST(col{n + 1} AS {t}) AS {c}" for n, (c, t) in enumerate(zip(columns, table.types, strict=True))
    )
    return [
        f"MERGE INTO {table.name} t USING (SELECT {typed} FROM VALUES {listed}) s ON t.id = s.id "
        "WHEN MATCHED AND s.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    ]


def _overwrite(changer: Changer, table: Table) -> list[str]:
    kept = tuple(row for row in table.rows if changer.rng.random() < 0.5)
    rows = kept + changer.rows(table, 2)
    return [insert(table.name, rows).replace("INSERT INTO", "INSERT OVERWRITE", 1)]


def _truncate(changer: Changer, table: Table) -> list[str]:
    return [changer.rng.choice((f"TRUNCATE TABLE {table.name}", f"DELETE FROM {table.name}"))]


def _refill(changer: Changer, table: Table) -> list[str]:
    """Everything goes, something comes."""
    return [f"DELETE FROM {table.name}", *_insert(changer, table)]


def _compact(changer: Changer, table: Table) -> list[str]:
    return [f"OPTIMIZE {table.name}"]


def _nothing(changer: Changer, table: Table) -> list[str]:
    return []


Make = Callable[[Changer, Table], list[str]]
KINDS: dict[str, tuple[Make, int]] = {
    "insert": (_insert, 8),
    "insert again": (_insert_again, 3),
    "delete": (_delete, 7),
    "update of key": (_update_key, 6),
    "update of value": (_update_value, 6),
    "update of nothing": (_update_nothing, 1),
    "delete and reinsert": (_delete_reinsert, 3),
    "both sides": (_both_sides, 4),
    "merge": (_merge, 2),
    "overwrite": (_overwrite, 1),
    "truncate": (_truncate, 1),
    "refill": (_refill, 1),
    "compact": (_compact, 1),
    "nothing": (_nothing, 1),
}
"""Each kind of change, and how often it is taken."""
