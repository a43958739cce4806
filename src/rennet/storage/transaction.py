"""One Delta commit for one refresh: rows deleted, rows added and provenance become visible together.

Delta's own commands commit by themselves and cannot carry provenance, so the pieces they are made of
are used here: rows are deleted by deletion vectors, rows are written by the transaction, and
provenance is `DomainMetadata`, which every snapshot of the table holds. Two refreshes of one view
write the same domain, and Delta lets only the first of two such commits in.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from rennet.errors import ConcurrentRefreshError, PlanError, RennetError, SessionError
from rennet.jvm import JavaObject, Jvm
from rennet.storage.files import records
from rennet.storage.names import quote
from rennet.storage.partitioned import complaint_of, guarded
from rennet.storage.skipping import Spans, narrowed, searched
from rennet.storage.sources import (
    DELTA,
    JVM_ERRORS,
    checksum,
    commit_files,
    current,
    delta_log,
    last_marked,
    listed_files,
    listed_index,
    metadata,
    parse_actions,
    read_commit,
    size_in_bytes,
    to_json,
)
from rennet.storage.vectors import RowsOfFiles, Touched, collected, touched_by_few

FILE = "__mv_file"
ROW = "__mv_row"
CHANGE = "_change_type"
FEED = "delta.enableChangeDataFeed"
PROPERTIES = {
    "delta.enableDeletionVectors": "true",
    "delta.feature.domainMetadata": "supported",
}
"""What a table must have for its rows to be replaced, and provenance kept, in one commit."""

SPARK, DELTA_LAKE = "4.2.", "4.4."
CONFLICTS = (
    "ConcurrentAppendException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentDeleteReadException",
    "ConcurrentTransactionException",
    "ConcurrentWriteException",
    "MetadataChangedException",
    "ProtocolChangedException",
)


@dataclass(frozen=True)
class Written:
    """What an append wrote, and how many rows went for it where all of them had to."""

    rows: int
    bytes: int
    files: int
    replaced: int = 0


class Transaction:
    """A Delta transaction on one table: read its state, stage changes, commit them once.

    Nothing is visible before `commit`, and nothing at all if it is not called. The transaction is
    never made Delta's "active" one of the thread: reads go to its snapshot explicitly and are
    declared, so that a commit made meanwhile by someone else makes this one fail.
    """

    def __init__(self, jvm: Jvm, path: str) -> None:
        self._jvm = jvm
        self._log = delta_log(jvm, path)
        # The conflict check starts from this snapshot, so it must be the newest.
        self._txn = self._log.startTransaction(jvm.none, jvm.some(current(jvm, self._log)))
        self._snapshot = self._txn.snapshot()
        self._staged: list[JavaObject] = []
        self._found: JavaObject | None = None
        self._deleted = False
        self._done = False
        self.searched = 0
        """The rows of all files that lost some: so many are gone through to learn which from the files."""
        if self._snapshot.version() < 0:
            raise RennetError(f"There is no Delta table at {path}.")

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done = True
        self._staged.clear()

    # -- reading

    @property
    def read_version(self) -> int:
        """The version everything this transaction does is based on."""
        return int(self._snapshot.version())

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return size_in_bytes(self._jvm, self._snapshot)

    def domains(self) -> dict[str, str]:
        """The provenance of the version read."""
        return domains_of(self._jvm, self._snapshot)

    def applied(self, app: str) -> int:
        """The last version an application marked its commits with, -1 if there is none."""
        return int(self._txn.txnVersion(app))

    def marked(self, app: str) -> int:
        """The same, but without declaring it as read: others may mark commits meanwhile. Runs no job."""
        return last_marked(self._jvm, self._snapshot, app)

    def target(self, within: Spans | None = None) -> DataFrame:
        """The table at `read_version`, each row with its `__mv_file` and `__mv_row`.

        Of files that cannot hold a row whose values are all `within` these spans, none is read. The rows of
        the others are not compared with them: no column is read for it.
        """
        self._txn.readWholeTable()
        jvm, at = self._jvm, self._snapshot
        listed = listed_files(jvm, at)
        if listed is not None:
            frame = self._reading(narrowed(jvm, at, listed, within or {}))
        else:
            frame = self._frame(self._log.createRelation(jvm.seq([]), jvm.some(at), jvm.none, True))
            if within:
                frame = self._reading(searched(jvm, at, frame, within))
        return frame.selectExpr("*", f"_metadata.file_path AS {FILE}", f"_metadata.row_index AS {ROW}")

    def _reading(self, files: JavaObject) -> DataFrame:
        """The rows of these files. No job is needed to find them, and Delta skips none by its statistics."""
        index = listed_index(self._jvm, self._log, self._log.dataPath(), self._snapshot, files)
        return self._frame(
            self._log.buildHadoopFsRelationWithFileIndex(self._snapshot, index, self._jvm.none, True)
        )

    def _frame(self, relation: JavaObject) -> DataFrame:
        leaf = self._jvm.singleton("org.apache.spark.sql.execution.datasources.LogicalRelation")
        return self._jvm.dataframe(leaf.apply(relation, False))

    # -- staging

    def delete(self, positions: DataFrame, exactly: int | None = None, few: bool = False) -> int:
        """Delete the rows at these `(__mv_file, __mv_row)`; gives how many there were.

        Positions come from `target()` of this transaction. A row named twice is deleted once; a file
        left without rows is removed. If there must be `exactly` so many and are not, none is deleted. To be
        called once otherwise: two deletions in one file would not add up. Where they are
        likely to be `few`, Delta's own job is spared if they are.
        """
        rows = collected(self._jvm, positions) if few else None
        touched = None if rows is None else self._touched_by_few(rows)
        return self._delete_from(self._touched(positions) if touched is None else touched, exactly)

    def delete_few(self, rows: RowsOfFiles) -> int | None:
        """The same for rows that are known already; None if Delta's own job is needed."""
        touched = self._touched_by_few(rows)
        return None if touched is None else self._delete_from(touched)

    def _delete_from(self, touched: Touched, exactly: int | None = None) -> int:
        self._delete_once()
        lost = sum(_lost(entry) for entry in touched)
        if exactly not in (None, lost):
            self._deleted = False
            return lost
        if not touched:
            return 0
        self.searched = sum(records(entry["fileLogEntry"].get("stats")) or 0 for entry in touched)
        renewed = [_renewed(entry) for entry in touched]
        if None in renewed:
            self._stage_with_statistics()
        else:
            now = int(time.time() * 1000)
            self._stage("RemoveFile", [_removal(entry["fileLogEntry"], now) for entry in touched])
            self._stage("AddFile", [entry for entry in renewed if entry])
        return lost

    def _touched_by_few(self, rows: RowsOfFiles) -> Touched | None:
        """The files that lose rows, found without Delta's job; None if it is needed after all."""
        files = json.loads(to_json(self._jvm, self._files()))
        touched = touched_by_few(self._jvm, self._log, files, rows)
        return None if touched is None or any(_renewed(entry) is None for entry in touched) else touched

    def _touched(self, positions: DataFrame) -> Touched:
        """The files that lose rows, with the new deletion vector of each: the one Spark job of a delete."""
        jvm = self._jvm
        generator = jvm.singleton(f"{DELTA}commands.DeletionVectorBitmapGenerator")
        helper = jvm.singleton(f"{DELTA}commands.DMLWithDeletionVectorsHelper")
        files = self._files()
        vectors = generator.buildRowIndexSetsForFilesMatchingCondition(
            jvm.session,
            self._txn,
            self._has_vectors(),
            positions._jdf,
            files,
            jvm.singleton("org.apache.spark.sql.catalyst.expressions.Literal").TrueLiteral(),
            jvm.kept(FILE, lambda: jvm.some(F.col(FILE)._jc)),
            jvm.kept(ROW, lambda: jvm.some(F.col(ROW)._jc)),
        )
        by_name = helper.generateCandidateFileMap(self._log.dataPath(), files)
        self._found = helper.findFilesWithMatchingRows(self._txn, by_name, vectors)
        found: Touched = json.loads(to_json(jvm, self._found))
        return found

    def _stage_with_statistics(self) -> None:
        """Delta's own way, two Spark jobs more: for files whose statistics are missing or unusual."""
        helper = self._jvm.singleton(f"{DELTA}commands.DMLWithDeletionVectorsHelper")
        done = helper.processUnmodifiedData(self._jvm.session, self._found, self._snapshot, 32)
        self._staged += self._jvm.items(done._1())

    @property
    def has_feed(self) -> bool:
        """Does the table keep a change feed?"""
        return bool(metadata(self._jvm, self._snapshot).get("configuration", {}).get(FEED) == "true")

    def append(self, rows: DataFrame, gone: DataFrame | None = None) -> Written:
        """Write rows: the table's columns by name, with its types; NOT NULL and CHECK are enforced.

        With `gone`, all the rows that this transaction deletes, it writes change files too, and who reads
        the change feed need not look for those rows in the files that lost them.
        """
        self._open()
        fitted = self._fitted(rows)
        if gone is not None:
            fitted = _with_feed(fitted, self._fitted(gone))
        try:
            actions = self._txn.writeFiles(fitted._jdf)
        except JVM_ERRORS as error:
            complaint = complaint_of(error)
            if complaint is None:
                raise
            raise complaint from error
        self._staged += self._jvm.items(actions)
        adds = [add for add in json.loads(to_json(self._jvm, actions)) if "modificationTime" in add]
        counts = [json.loads(add["stats"]).get("numRecords", 0) for add in adds if "stats" in add]
        return Written(sum(counts), sum(add["size"] for add in adds), len(adds))

    def delete_partitions(self, column: str, values: Collection[str | None]) -> int:
        """Delete the rows of the partitions of these values, as the log writes them; gives how many."""
        self._delete_once()
        wanted = StructType.fromJson(json.loads(metadata(self._jvm, self._snapshot)["schemaString"]))
        key = wanted[column].metadata.get("delta.columnMapping.physicalName", column)
        found = [
            f for f in json.loads(to_json(self._jvm, self._files())) if f["partitionValues"][key] in values
        ]
        now = int(time.time() * 1000)
        self._stage("RemoveFile", [_removal(entry, now) for entry in found])
        return sum(_live_rows(entry) for entry in found)

    def overwrite(self, rows: DataFrame) -> Written:
        """Replace all rows of the table."""
        self._delete_once()
        found = json.loads(to_json(self._jvm, self._files()))
        now = int(time.time() * 1000)
        self._stage("RemoveFile", [_removal(entry, now) for entry in found])
        return replace(self.append(rows), replaced=sum(_live_rows(entry) for entry in found))

    def commit(
        self, domains: Mapping[str, str], operation: str = "MV REFRESH", app: tuple[str, int] | None = None
    ) -> int:
        """Make everything staged visible, with `domains` as provenance, as one version; gives its number.

        `app` is an idempotence mark (application id and its own version). If someone else changed
        what this transaction read, or wrote one of the same domains, nothing is written and the
        error is `ConcurrentRefreshError`.
        """
        self._open()
        self._done = True
        actions = self._jvm.type(f"{DELTA}actions.DomainMetadata")
        staged = self._staged + [actions(name, text, False) for name, text in domains.items()]
        if app is not None:
            moment = self._jvm.some(int(time.time() * 1000))
            staged.append(self._jvm.type(f"{DELTA}actions.SetTransaction")(*app, moment))
        named = self._jvm.type(f"{DELTA}DeltaOperations$TestOperation")(operation, self._jvm.none)
        try:
            return int(self._txn.commit(self._jvm.seq(staged), named))
        except JVM_ERRORS as error:
            _explain(error)

    # -- inside

    def _open(self) -> None:
        if self._done:
            raise PlanError("the transaction is over")

    def _delete_once(self) -> None:
        self._open()
        if self._deleted:
            raise PlanError("a transaction deletes once: unite the positions first")
        self._deleted = True
        self._txn.readWholeTable()

    def _stage(self, kind: str, found: Sequence[Mapping[str, Any]]) -> None:
        parsed = parse_actions(self._jvm, kind, found)
        self._staged += [parsed.get(i) for i in range(parsed.size())]

    def _files(self) -> JavaObject:
        """All files of the version read, with their statistics."""
        listed = listed_files(self._jvm, self._snapshot)
        return (
            listed if listed is not None else self._jvm.scala_seq(self._snapshot.allFiles().collectAsList())
        )

    def _has_vectors(self) -> bool:
        """Might a file have a deletion vector already?"""
        noted = checksum(self._jvm, self._snapshot)
        count = None if noted is None else self._jvm.value(noted.numDeletionVectorsOpt())
        return count is None or count > 0

    def _fitted(self, rows: DataFrame) -> DataFrame:
        """The rows with the table's columns in their order, or a `PlanError` if they do not fit."""
        described = metadata(self._jvm, self._snapshot)
        wanted = StructType.fromJson(json.loads(described["schemaString"]))
        given = {column.name.lower(): column.dataType for column in rows.schema}
        missing = [column.name for column in wanted if column.name.lower() not in given]
        unknown = given.keys() - {column.name.lower() for column in wanted}
        wrong = [
            f"{column.name} is {given[column.name.lower()].simpleString()}"
            for column in wanted
            if column.name not in missing
            and given[column.name.lower()].simpleString() != column.dataType.simpleString()
        ]
        if missing or unknown or wrong:
            raise PlanError(f"the rows do not fit the table: {missing=}, unknown={sorted(unknown)}, {wrong=}")
        if [column.name for column in wanted] != rows.columns:
            rows = rows.select(*(F.col(quote(column.name)).alias(column.name) for column in wanted))
        return guarded(rows, described["partitionColumns"])


def _with_feed(come: DataFrame, gone: DataFrame) -> DataFrame:
    """The rows that come, then all changes: Delta writes what has a `_change_type` to files of their own."""
    noted = come.selectExpr("*", f"'insert' AS {CHANGE}").unionAll(
        gone.selectExpr("*", f"'delete' AS {CHANGE}")
    )
    return come.selectExpr("*", f"CAST(NULL AS STRING) AS {CHANGE}").unionAll(noted.coalesce(1))


# -- deletion vectors and statistics


def _lost(entry: Mapping[str, Any]) -> int:
    before = entry["fileLogEntry"].get("deletionVector") or {"cardinality": 0}
    return int(entry["newDeletionVector"]["cardinality"] - before["cardinality"])


def _live_rows(add: Mapping[str, Any]) -> int:
    """The rows of a file that are not marked as deleted, by its statistics."""
    return (records(add.get("stats")) or 0) - int((add.get("deletionVector") or {}).get("cardinality", 0))


def _removal(add: Mapping[str, Any], moment: int) -> dict[str, Any]:
    """The action that removes a file, with all that a reader of the change feed needs to know of it."""
    kept = (
        "path",
        "partitionValues",
        "size",
        "tags",
        "deletionVector",
        "baseRowId",
        "defaultRowCommitVersion",
        "stats",
    )
    known = {key: add[key] for key in kept if add.get(key) is not None}
    return {**known, "deletionTimestamp": moment, "dataChange": True, "extendedFileMetadata": True}


def _renewed(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """The file with its new deletion vector, `{}` if no row is left, None if Delta has to look at it.

    Bounds of a file with deleted rows are no longer tight. The text of the statistics is edited, not
    written anew: a decimal that passed through a float would be another bound.
    """
    add, vector = entry["fileLogEntry"], entry["newDeletionVector"]
    text = add.get("stats")
    stats = json.loads(text) if text else {}
    if "numRecords" not in stats:
        return None
    if stats["numRecords"] == vector["cardinality"]:
        return {}
    if stats.get("tightBounds", True):
        if add.get("deletionVector"):
            # Null counts of such a file must change their meaning: rare, and Delta knows how.
            return None
        if "tightBounds" in stats:
            text = text.replace('"tightBounds":true', '"tightBounds":false')
        else:
            text = text[:-1] + ',"tightBounds":false}'
        if json.loads(text) != {**stats, "tightBounds": False}:
            return None
    return {**add, "stats": text, "deletionVector": vector, "dataChange": True}


# -- provenance


def domains(jvm: Jvm, path: str) -> dict[str, str]:
    """The provenance of the table's current version; no data is read."""
    return domains_of(jvm, current(jvm, delta_log(jvm, path)))


def domains_of(jvm: Jvm, snapshot: JavaObject) -> dict[str, str]:
    """The same of a version that is known."""
    noted = checksum(jvm, snapshot)
    known = None if noted is None else jvm.value(noted.domainMetadata())
    # Without a checksum, the whole state of the table has to be reconstructed for them.
    found = json.loads(to_json(jvm, snapshot.domainMetadata() if known is None else known))
    return {entry["domain"]: entry["configuration"] for entry in found if not entry.get("removed")}


class Commit(NamedTuple):
    """One version of a table, and the provenance written with it."""

    version: int
    timestamp_ms: int
    domains: dict[str, str]


def history(jvm: Jvm, path: str) -> Iterator[Commit]:
    """The commits still in the log, newest first; each is read when it is asked for."""
    log = delta_log(jvm, path)
    last = int(current(jvm, log).version())
    conf = log.newDeltaHadoopConf()
    for version, file in reversed(list(commit_files(jvm, log, 0, last))):
        moment, found = int(file.getModificationTime()), {}
        for action in read_commit(jvm, log, file, conf):
            if "commitInfo" in action:
                info = action["commitInfo"]
                moment = info.get("inCommitTimestamp") or info.get("timestamp") or moment
            elif "domainMetadata" in action and not action["domainMetadata"].get("removed"):
                found[action["domainMetadata"]["domain"]] = action["domainMetadata"]["configuration"]
        yield Commit(version, moment, found)


# -- errors and versions


def _explain(error: Exception) -> NoReturn:
    if any(name in str(error) for name in CONFLICTS) or "DELTA_CONCURRENT" in str(error):
        raise ConcurrentRefreshError(
            "The table was changed while this refresh was running; nothing was written.",
            "Refresh again.",
        ) from error
    raise error


def self_test(jvm: Jvm) -> None:
    """A clear error if this Spark and this Delta are not the ones whose internals are used here."""
    spark = jvm.spark.version
    try:
        delta = jvm.singleton("io.delta.package").VERSION()
    except JVM_ERRORS:
        delta = "none"
    if not spark.startswith(SPARK) or not delta.startswith(DELTA_LAKE):
        raise SessionError(
            f"rennet needs Spark {SPARK}x and Delta {DELTA_LAKE}x; this is Spark {spark}, Delta {delta}.",
            "Install the versions that rennet's package names.",
        )
