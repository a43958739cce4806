"""Copy on write: files that lose rows are removed, and the rows of theirs that stay are written again.

What Delta's MERGE does on a table without deletion vectors, in pieces that fit into a transaction: MERGE
itself commits alone, so that provenance could not become visible together with its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rennet.errors import PlanError
from rennet.jvm import JavaObject, Jvm
from rennet.storage.names import quote, quote_string
from rennet.storage.sources import DELTA
from rennet.storage.vectors import FILE, ROW, RowsOfFiles, absolute, collected

CHANGE = "_change_type"
GOES = "__mv_goes"
SMALL = 8 << 20
"""Up to so many bytes are one task's work, and one file."""


@dataclass(frozen=True)
class Rewriting:
    """Rows of files that a transaction has removed, and so has to write again."""

    rows: DataFrame
    """Each says whether it goes. Those that do need not be among them if the table has no change feed."""
    staying: int | None
    """How many stay; None if the log does not say."""
    together: bool = False
    """Is one file enough for them and all that comes?"""

    def with_feed(self, columns: Sequence[str], come: DataFrame | None) -> DataFrame:
        """What stays and what comes, and all changes for the feed: what has a `_change_type` goes there.

        A feed of a commit has all of its changes or none: else files that were written again would count as
        gone and come, with all of their rows.
        """
        goes = F.when(F.col(GOES), "delete").alias(CHANGE)
        held = self.rows.select(*map(quote, columns), goes)
        return self._united(None if come is None else noted(come), held)

    def without_feed(self, columns: Sequence[str], come: DataFrame | None) -> DataFrame:
        return self._united(come, self._left().select(*map(quote, columns)))

    def _united(self, come: DataFrame | None, held: DataFrame) -> DataFrame:
        rows = held if come is None else come.unionAll(held)
        return rows.coalesce(1) if self.together else rows

    def stay(self) -> int:
        return self._left().count() if self.staying is None else self.staying

    def _left(self) -> DataFrame:
        return self.rows.where(~F.col(GOES))


@dataclass(frozen=True)
class Places:
    """The rows that go: how many of which file, and how to tell them from the others of the file."""

    counts: Mapping[str, int]
    rows: RowsOfFiles | None = None
    positions: DataFrame | None = None
    """Where they are not known in the driver: each place once, kept in memory."""

    def flagged(self, stored: DataFrame) -> DataFrame:
        """The rows of the files, each with the answer to whether it goes."""
        if self.positions is None:
            return stored.withColumn(GOES, F.expr(_among(self.rows or {})))
        found = self.positions.selectExpr(FILE, ROW, f"true AS {GOES}")
        return stored.join(found, [FILE, ROW], "left").withColumn(GOES, F.coalesce(GOES, F.lit(False)))


def _among(rows: RowsOfFiles) -> str:
    tests = (
        f"{FILE} = {quote_string(file)} AND {ROW} IN ({', '.join(map(str, numbers))})"
        for file, numbers in rows.items()
    )
    return " OR ".join(f"({test})" for test in tests) or "false"


def places(jvm: Jvm, positions: DataFrame, few: bool) -> Places:
    """Where the rows that go are, `few` or kept in memory: they are counted now and looked for when files
    are written again."""
    rows = collected(jvm, positions) if few else None
    if rows is not None:
        return places_of(rows)
    once = positions.distinct().persist()
    return Places({row[0]: row[1] for row in once.groupBy(FILE).count().collect()}, positions=once)


def places_of(rows: RowsOfFiles) -> Places:
    once = {file: sorted(set(numbers)) for file, numbers in rows.items()}
    return Places({file: len(numbers) for file, numbers in once.items()}, rows=once)


def files_at(
    log: JavaObject, files: Sequence[Mapping[str, Any]], counts: Mapping[str, int]
) -> list[Mapping[str, Any]]:
    """The table's files of these paths, as Spark names them."""
    root = log.dataPath().toUri().toString()
    found = [file for file in files if absolute(root, file["path"]) in counts]
    if len(found) != len(counts):
        raise PlanError("rows are to be deleted from files that the table does not have")
    return found


def noted(rows: DataFrame) -> DataFrame:
    """The rows that come, each once to be stored and once for the feed.

    Not united with themselves: a value that is computed when a row comes must be computed once.
    """
    return rows.withColumn(CHANGE, F.explode(F.array(F.lit(None).cast("string"), F.lit("insert"))))


def with_feed(come: DataFrame, gone: DataFrame) -> DataFrame:
    """The rows that come, then all changes: Delta writes what has a `_change_type` to files of their own."""
    changes = come.selectExpr("*", f"'insert' AS {CHANGE}").unionAll(
        gone.selectExpr("*", f"'delete' AS {CHANGE}")
    )
    return come.selectExpr("*", f"CAST(NULL AS STRING) AS {CHANGE}").unionAll(changes.coalesce(1))


def counting_rows(jvm: Jvm, relation: JavaObject) -> JavaObject:
    """The relation, able to tell the number of a row in its file.

    Of tables that cannot have deletion vectors Delta does not let that be asked, though Parquet's reader
    tells it of any file. So it is shown a protocol that could have them; files and schema stay the table's.
    """
    fmt = relation.fileFormat()
    feature = jvm.singleton(f"{DELTA}DeletionVectorsTableFeature")
    if fmt.protocol().isFeatureSupported(feature):
        return relation
    able = jvm.singleton(f"{DELTA}actions.Protocol").forTableFeature(feature)
    made = jvm.type(f"{DELTA}DeltaParquetFileFormat")(
        able.merge(jvm.seq([fmt.protocol()])), fmt.metadata(), False, False, True, jvm.none, False
    )
    return relation.copy(
        relation.location(),
        relation.partitionSchema(),
        relation.dataSchema(),
        relation.bucketSpec(),
        made,
        relation.options(),
        relation.sparkSession(),
    )
