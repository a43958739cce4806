"""Random source tables: types, rows with NULLs, duplicates and skew, and Delta's settings."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from rennet.testing.fuzz import values
from rennet.testing.fuzz.tree import Column

Row = tuple[str, ...]
"""SQL literals, one per column."""


@dataclass(frozen=True)
class Table:
    """A Delta table to be. The first column is `id`, nearly unique; the second, `k`, has few values."""

    name: str
    columns: tuple[Column, ...]
    types: tuple[str, ...]
    rows: tuple[Row, ...]
    partitioned: bool = False
    vectors: bool = True
    feed: bool = False

    @property
    def setup(self) -> list[str]:
        """The statements that make it."""
        listed = ", ".join(f"{c.name} {t}" for c, t in zip(self.columns, self.types, strict=True))
        by = " PARTITIONED BY (k)" if self.partitioned else ""
        properties = (
            f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(self.vectors).lower()}', "
            f"'delta.enableChangeDataFeed' = '{str(self.feed).lower()}', 'delta.checkpointInterval' = '100')"
        )
        made = [f"CREATE TABLE {self.name} ({listed}) USING delta{by} {properties}"]
        return made + ([insert(self.name, self.rows)] if self.rows else [])


@dataclass(frozen=True)
class CatalogView:
    """A plain view on a table."""

    name: str
    table: Table
    condition: str

    @property
    def query(self) -> str:
        return f"SELECT * FROM {self.table.name} WHERE {self.condition}"

    @property
    def setup(self) -> list[str]:
        """The statement that makes it."""
        return [f"CREATE VIEW {self.name} AS {self.query}"]


def insert(table: str, rows: tuple[Row, ...]) -> str:
    """INSERT … VALUES, a row per line."""
    listed = ",\n  ".join(f"({', '.join(row)})" for row in rows)
    return f"INSERT INTO {table} VALUES\n  {listed}"


def random_table(rng: Random, name: str) -> Table:
    """Three to six columns, five to thirty rows; now and then none."""
    kinds = [values.INT, rng.choice((values.INT, values.INT, values.STRING))]
    kinds += [rng.choice(values.SCALARS) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.35:
        kinds.append(rng.choice(values.NESTED))
    names = ["id", "k", *(f"v{n}" for n in range(len(kinds) - 2))]
    columns = tuple(Column(name, kind) for name, kind in zip(names, kinds, strict=True))
    types = ("BIGINT", *(rng.choice(values.TYPES[kind]) for kind in kinds[1:]))
    count = 0 if rng.random() < 0.05 else rng.randint(5, 24)
    made = Table(
        name,
        columns,
        types,
        (),
        partitioned=rng.random() < 0.15,
        vectors=rng.random() < 0.7,
        feed=rng.random() < 0.3,
    )
    rows: list[Row] = []
    for number in range(1, count + 1):
        rows.append(rng.choice(rows) if rows and rng.random() < 0.12 else random_row(rng, made, number))
    return Table(name, columns, types, tuple(rows), made.partitioned, made.vectors, made.feed)


def random_row(rng: Random, table: Table, number: int) -> Row:
    """A row whose id is the number."""
    rest = (values.nullable(rng, column.kind) for column in table.columns[1:])
    return (str(number) if rng.random() < 0.97 else "NULL", *rest)


def random_view(rng: Random, name: str, table: Table) -> CatalogView:
    """A view with a simple condition."""
    return CatalogView(name, table, rng.choice(("id % 3 <> 0", "k IS NOT NULL", "id > 4 OR k IS NULL")))
