"""One Delta commit for one refresh: rows deleted, rows added and provenance become visible together.

Delta's own commands commit by themselves and cannot carry provenance, so the pieces they are made of
are used here: rows are deleted by deletion vectors or by writing their files again, rows are written by
the transaction, and provenance is `DomainMetadata`, which every snapshot of the table holds. Two
refreshes of one view write the same domain, and Delta lets only the first of two such commits in.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, NoReturn

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from rennet.errors import ConcurrentRefreshError, PlanError, RennetError
from rennet.jvm import JavaObject, Jvm
from rennet.storage.changes import scan_files
from rennet.storage.commits import domains_of
from rennet.storage.files import FileDiff, FileState, records
from rennet.storage.names import quote
from rennet.storage.partitioned import complaint_of, guarded
from rennet.storage.rewriting import (
    GOES,
    SMALL,
    Places,
    Rewriting,
    counting_rows,
    files_at,
    places,
    places_of,
    with_feed,
)
from rennet.storage.skipping import Spans, narrowed, searched
from rennet.storage.sources import (
    DELTA,
    JVM_ERRORS,
    checksum,
    current,
    delta_log,
    last_marked,
    listed_files,
    listed_index,
    metadata,
    parse_actions,
    size_in_bytes,
    to_json,
)
from rennet.storage.vectors import (
    FILE,
    ROW,
    RowsOfFiles,
    Touched,
    collected,
    live_rows,
    lost_rows,
    removal,
    renewed,
    touched_by_few,
    touched_by_job,
    with_vector,
)
from rennet.ways import Loss, Way, Weighing, marking

FEED = "delta.enableChangeDataFeed"
VECTORS = "delta.enableDeletionVectors"
PROPERTIES = {
    VECTORS: "true",
    "delta.feature.domainMetadata": "supported",
}
"""What a table is to have for its rows to be replaced, and provenance kept, in one commit. Where the first is
turned off, files are written again instead."""

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

    def __init__(self, jvm: Jvm, path: str, rewriting: Weighing = marking) -> None:
        self._jvm = jvm
        self._worth_rewriting = rewriting
        self._log = delta_log(jvm, path)
        # The conflict check starts from this snapshot, so it must be the newest.
        self._txn = self._log.startTransaction(jvm.none, jvm.some(current(jvm, self._log)))
        self._snapshot = self._txn.snapshot()
        self._staged: list[JavaObject] = []
        self._found: JavaObject | None = None
        self._rewriting: Rewriting | None = None
        self._held: list[DataFrame] = []
        self._ways: set[Way] = set()
        self._deleted = False
        self._done = False
        self._beside: Future[JavaObject] | None = None
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
        if self._beside is not None:
            self._beside.exception()  # its files are those of a transaction that failed, if it did
        self._staged.clear()
        for frame in self._held:
            frame.unpersist()

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
        return _placed(frame)

    def _reading(self, files: JavaObject) -> DataFrame:
        """The rows of these files. No job is needed to find them, and Delta skips none by its statistics."""
        index = listed_index(self._jvm, self._log, self._log.dataPath(), self._snapshot, files)
        return self._frame(
            self._log.buildHadoopFsRelationWithFileIndex(self._snapshot, index, self._jvm.none, True)
        )

    def _frame(self, relation: JavaObject) -> DataFrame:
        leaf = self._jvm.singleton("org.apache.spark.sql.execution.datasources.LogicalRelation")
        counting = relation if self.marks else counting_rows(self._jvm, relation)
        return self._jvm.dataframe(leaf.apply(counting, False))

    # -- staging

    def delete(self, positions: DataFrame, exactly: int | None = None, few: bool = False) -> int:
        """Delete the rows at these `(__mv_file, __mv_row)`; gives how many there were.

        Positions come from `target()` of this transaction. A row named twice is deleted once; a file
        left without rows is removed. If there must be `exactly` so many and are not, none is deleted. To be
        called once otherwise: two deletions in one file would not add up. Where they are
        likely to be `few`, Delta's own job is spared if they are.
        """
        if not self.marks:
            return self._delete_from_files(places(self._jvm, positions, few), exactly)
        rows = collected(self._jvm, positions) if few else None
        touched = None if rows is None else self._touched_by_few(rows)
        return self._delete_from(self._touched(positions) if touched is None else touched, exactly)

    def delete_few(self, rows: RowsOfFiles) -> int | None:
        """The same for rows that are known already; None if Delta's own job is needed."""
        if not self.marks:
            return self._delete_from_files(places_of(rows))
        touched = self._touched_by_few(rows)
        return None if touched is None else self._delete_from(touched)

    def _delete_from(self, touched: Touched, exactly: int | None = None) -> int:
        self._delete_once()
        lost = sum(lost_rows(entry) for entry in touched)
        if exactly not in (None, lost):
            self._deleted = False
            return lost
        if not touched:
            return 0
        self.searched = sum(records(entry["fileLogEntry"].get("stats")) or 0 for entry in touched)
        parts: dict[bool, Touched] = {True: [], False: []}
        for entry in touched:
            parts[self._worth_writing_again(entry)].append(entry)
        rewriting = self._written_again(parts[True], touched) if parts[True] else None
        marked = touched if rewriting is None else parts[False]
        adds = [renewed(entry) for entry in marked]
        if None in adds:
            self._ways.add(Way.DELETION_VECTORS)
            self._stage_with_statistics()
            return lost
        self._remove([entry["fileLogEntry"] for entry in touched])
        self._stage("AddFile", [entry for entry in adds if entry])
        self._rewriting = rewriting
        self._ways |= {
            way for way, used in ((Way.DELETION_VECTORS, marked), (Way.REWRITE, rewriting)) if used
        }
        return lost

    def _worth_writing_again(self, entry: Mapping[str, Any]) -> bool:
        """Does the file keep rows, but so few that it is better written again, with those that come?"""
        if self._beside is not None:  # they are written already
            return False
        file, lost = entry["fileLogEntry"], lost_rows(entry)
        rows = live_rows(file)
        return lost < rows and self._worth_rewriting(Loss(file["size"], rows, lost))

    def _written_again(self, again: Touched, touched: Touched) -> Rewriting | None:
        """The rows that stay in these files, and for the feed those that go from any, by their new vectors.

        None if a file lost rows before, and the difference is too long for Delta to read by.
        """
        staying = sum(live_rows(entry["fileLogEntry"]) - lost_rows(entry) for entry in again)
        left = self._reading(self._adds([with_vector(entry) for entry in again]))
        rows = left.withColumn(GOES, F.lit(False))
        if not self.has_feed:
            return Rewriting(rows, staying)
        before = tuple(FileState.of(entry["fileLogEntry"]) for entry in touched)
        after = tuple(FileState.of(with_vector(entry)) for entry in touched)
        gone, _, twice = scan_files(self._jvm, self._log, self._snapshot, FileDiff(after, before))
        names = [quote(name) for name in self._schema().names]
        every = rows.select(*names, GOES).unionAll(gone.select(*names, F.lit(True)))
        return None if twice else Rewriting(every, staying)

    def _delete_from_files(self, gone: Places, exactly: int | None = None) -> int:
        """The same where no row may be marked: the files go, and are written again without those rows."""
        self._delete_once()
        self._held += [] if gone.positions is None else [gone.positions]
        lost = sum(gone.counts.values())
        if exactly not in (None, lost):
            self._deleted = False
            return lost
        if not lost:
            return 0
        found = files_at(self._log, json.loads(to_json(self._jvm, self._files())), gone.counts)
        self._remove(found)
        self._ways.add(Way.REWRITE)
        counted = all(records(file.get("stats")) is not None for file in found)
        staying = sum(map(live_rows, found)) - lost if counted else None
        if staying != 0:
            together = gone.positions is None and sum(file["size"] for file in found) <= SMALL
            stored = _placed(self._reading(self._adds(found)))
            self._rewriting = Rewriting(gone.flagged(stored), staying, together)
        return lost

    def _touched_by_few(self, rows: RowsOfFiles) -> Touched | None:
        """The files that lose rows, found without Delta's job; None if it is needed after all."""
        files = json.loads(to_json(self._jvm, self._files()))
        touched = touched_by_few(self._jvm, self._log, files, rows)
        return None if touched is None or any(renewed(entry) is None for entry in touched) else touched

    def _touched(self, positions: DataFrame) -> Touched:
        """The files that lose rows, with the new deletion vector of each: the one Spark job of a delete."""
        self._found = touched_by_job(
            self._jvm, self._txn, self._log, self._files(), positions, self._has_vectors()
        )
        found: Touched = json.loads(to_json(self._jvm, self._found))
        return found

    def _stage_with_statistics(self) -> None:
        """Delta's own way, two Spark jobs more: for files whose statistics are missing or unusual."""
        helper = self._jvm.singleton(f"{DELTA}commands.DMLWithDeletionVectorsHelper")
        done = helper.processUnmodifiedData(self._jvm.session, self._found, self._snapshot, 32)
        self._staged += self._jvm.items(done._1())

    @property
    def has_feed(self) -> bool:
        """Does the table keep a change feed?"""
        return self._has(FEED)

    @property
    def marks(self) -> bool:
        """May rows be marked as deleted? If not, files that lose rows are written again."""
        return self._has(VECTORS)

    @property
    def written_by(self) -> str:
        """The ways in which what is staged gets into the table; appending counts only if it is all."""
        ways = self._ways - {Way.APPEND} or self._ways
        return " + ".join(way for way in Way if way in ways)

    def _has(self, option: str) -> bool:
        return bool(metadata(self._jvm, self._snapshot).get("configuration", {}).get(option) == "true")

    def append(self, rows: DataFrame, gone: DataFrame | None = None) -> Written:
        """Write rows: the table's columns by name, with its types; NOT NULL and CHECK are enforced.

        With `gone`, all the rows that this transaction deletes, it writes change files too, and who reads
        the change feed need not look for those rows in the files that lost them.
        """
        self._open()
        self._ways.add(Way.APPEND)
        come = self._fitted(rows)
        if gone is not None and self._rewriting is None:
            come = with_feed(come, self._fitted(gone))
        return self._write(come)

    def append_beside(self, rows: DataFrame, gone: DataFrame | None = None) -> Callable[[], Written]:
        """The same in a thread of its own, while rows are deleted; gives what waits until it is done.

        Only where rows are marked as deleted: if files were written again, that would be the same write.
        """
        self._open()
        if not self.marks:
            raise PlanError("files that lose rows are written again together with the rows that come")
        self._ways.add(Way.APPEND)
        fitted = self._fitted(rows)
        come = fitted if gone is None else with_feed(fitted, self._fitted(gone))
        writing = self._beside = self._jvm.beside(lambda: self._written_files(come))
        return lambda: self._stage_written(writing.result())

    def flush(self) -> None:
        """Write what stays of removed files, if no rows came with which that was done."""
        if self._rewriting is not None:
            self._write(None)

    def _write(self, come: DataFrame | None) -> Written:
        """One write job for the rows that come and those of removed files that stay."""
        again, self._rewriting = self._rewriting, None
        if again is not None:
            made = again.with_feed if self.has_feed else again.without_feed
            come = made(self._schema().names, come)
        assert come is not None
        return self._stage_written(self._written_files(come), again)

    def _written_files(self, rows: DataFrame) -> JavaObject:
        try:
            return self._txn.writeFiles(rows._jdf)
        except JVM_ERRORS as error:
            complaint = complaint_of(error)
            if complaint is None:
                raise
            raise complaint from error

    def _stage_written(self, actions: JavaObject, again: Rewriting | None = None) -> Written:
        self._staged += self._jvm.items(actions)
        adds = [add for add in json.loads(to_json(self._jvm, actions)) if "modificationTime" in add]
        counts = [json.loads(add["stats"]).get("numRecords", 0) for add in adds if "stats" in add]
        new = sum(counts) - (0 if again is None else again.stay())
        return Written(max(0, new), sum(add["size"] for add in adds), len(adds))

    def delete_partitions(self, column: str, values: Collection[str | None]) -> int:
        """Delete the rows of the partitions of these values, as the log writes them; gives how many."""
        self._delete_once()
        self._ways.add(Way.PARTITIONS)
        key = self._schema()[column].metadata.get("delta.columnMapping.physicalName", column)
        found = [
            f for f in json.loads(to_json(self._jvm, self._files())) if f["partitionValues"][key] in values
        ]
        self._remove(found)
        return sum(live_rows(entry) for entry in found)

    def overwrite(self, rows: DataFrame) -> Written:
        """Replace all rows of the table."""
        self._delete_once()
        self._ways.add(Way.OVERWRITE)
        found = json.loads(to_json(self._jvm, self._files()))
        self._remove(found)
        return replace(self.append(rows), replaced=sum(live_rows(entry) for entry in found))

    def commit(
        self, domains: Mapping[str, str], operation: str = "MV REFRESH", app: tuple[str, int] | None = None
    ) -> int:
        """Make everything staged visible, with `domains` as provenance, as one version; gives its number.

        `app` is an idempotence mark (application id and its own version). If someone else changed
        what this transaction read, or wrote one of the same domains, nothing is written and the
        error is `ConcurrentRefreshError`.
        """
        self._open()
        self.flush()
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

    def _schema(self) -> StructType:
        return StructType.fromJson(json.loads(metadata(self._jvm, self._snapshot)["schemaString"]))

    def _adds(self, files: Sequence[Mapping[str, Any]]) -> JavaObject:
        return self._jvm.scala_seq(parse_actions(self._jvm, "AddFile", files))

    def _remove(self, files: Sequence[Mapping[str, Any]]) -> None:
        now = int(time.time() * 1000)
        self._stage("RemoveFile", [removal(file, now) for file in files])

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
        wanted = self._schema()
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
        return guarded(rows, metadata(self._jvm, self._snapshot)["partitionColumns"])


def _placed(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("*", f"_metadata.file_path AS {FILE}", f"_metadata.row_index AS {ROW}")


def _explain(error: Exception) -> NoReturn:
    if any(name in str(error) for name in CONFLICTS) or "DELTA_CONCURRENT" in str(error):
        raise ConcurrentRefreshError(
            "The table was changed while this refresh was running; nothing was written.",
            "Refresh again.",
        ) from error
    raise error
