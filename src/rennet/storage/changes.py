"""What happened to a source between two versions: found in the log alone, read only when needed.

Of the representations of a range of commits (`rennet.storage.files`) the one with the fewest bytes to
read is taken. It is read as one ordinary file scan, or two where the table's own change files are
cheaper: columns are pruned, filters pushed down, and Spark knows the true size of a change.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from typing import Any, Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType, VariantType

from rennet.errors import Issue, IssueType, SourceError
from rennet.jvm import JavaObject, Jvm
from rennet.storage.files import (
    EMPTY,
    Action,
    FileCommit,
    FileDiff,
    FileState,
    alive,
    by_feed,
    by_files,
    rewritten,
)
from rennet.storage.known import known_files
from rennet.storage.names import quote
from rennet.storage.sources import (
    DELTA,
    Shape,
    SourceVersion,
    checksum,
    commit_files,
    delta_log,
    metadata,
    parse_actions,
    read_commit,
    scala_map,
    schema_issue,
    size_in_bytes,
    snapshot,
)

WEIGHT = "__mv_weight"
SOURCE_ROW = "__mv_source_row"
RESERVED = ("_change_type", "_commit_version", "_commit_timestamp")
"""Columns Delta adds to a scan of changed files; a table that has one of its own cannot be read so."""

FEW = 32
"""Up to so many files are looked for one after the other: a thread costs more than a look."""
LONGEST_VECTOR = 60_000
"""Characters of a deletion vector that tasks get in place of a file's name; Delta has room for 65,535."""


class ChangeKind(StrEnum):
    """What a range of commits did to a table's rows, as far as the log tells."""

    NONE = "NONE"
    APPEND = "APPEND"
    GENERAL = "GENERAL"


@dataclass(frozen=True)
class SourceChange:
    """What happened to a source in `(since, source.version]`; with an `issue` it cannot be read."""

    source: SourceVersion
    since: int
    kind: ChangeKind
    issue: Issue | None = None
    reader: Literal["files", "change_feed"] = "files"
    rewritten: bool = False
    """Was every file of the old version removed: overwritten, truncated, or all of it touched?"""
    changed_bytes: int = 0
    """Those of the changed rows; to find them, more may have to be read."""
    changed_rows: int | None = 0
    """Estimated from file statistics, carried-over rows included; None if there are none."""
    full_bytes: int = 0
    has_row_ids: bool = False
    cdf_enabled: bool = False
    dv_enabled: bool = False
    partitioned_by: tuple[str, ...] = ()
    """Nothing of a table with column mapping: its log has other names for its columns."""
    files: FileDiff = field(default=EMPTY, compare=False, repr=False)
    feed: FileDiff | None = field(default=None, compare=False, repr=False)

    @property
    def bytes_to_read(self) -> int:
        return (self.feed or self.files).bytes

    @property
    def partitions(self) -> dict[str, frozenset[str | None]]:
        """Per partition column, the values under which rows changed, as the log writes them."""
        told = (self.feed or self.files).partition_values
        return {column: frozenset(each.get(column) for each in told) for column in self.partitioned_by}

    @property
    def carries_over(self) -> bool:
        """Does the default reader have to cancel unchanged rows, with a shuffle?"""
        return (self.feed or self.files).carries_over

    @property
    def nets(self) -> bool:
        """Is it likely to cancel rows, for that reason or because vectors of deleted rows are long?"""
        return self.carries_over or (self.feed or self.files).longest_vector > LONGEST_VECTOR * 3 // 4


# -- reading the log


def changes_since(
    jvm: Jvm, old: SourceVersion, now: SourceVersion, used_columns: Collection[str]
) -> SourceChange:
    """What happened to the table after `old`, up to `now`; reads the log, no data, runs no Spark job.

    Differences that make an incremental read impossible are the `issue` of the result, never an error.
    """
    blank = SourceChange(now, old.version, ChangeKind.GENERAL)
    if old.table_id != now.table_id:
        return _refused(blank, IssueType.SOURCE_RECREATED, "it was dropped and created again")
    if now.version < old.version:
        back = f"its version went back from {old.version} to {now.version}"
        return _refused(blank, IssueType.DATA_HAS_CHANGED, back)
    log, at = delta_log(jvm, now.path), snapshot(jvm, now)
    meta, noted = metadata(jvm, at), checksum(jvm, at)
    properties = meta.get("configuration", {})
    blank = replace(
        blank,
        full_bytes=size_in_bytes(jvm, at),
        cdf_enabled=properties.get("delta.enableChangeDataFeed") == "true",
        dv_enabled=properties.get("delta.enableDeletionVectors") == "true",
        partitioned_by=tuple(meta.get("partitionColumns", ()))
        if properties.get("delta.columnMapping.mode", "none") == "none"
        else (),
    )
    commits, missing = _commits(jvm, log, old.version + 1, now.version)
    if missing is not None:
        return _refused(blank, IssueType.CHANGE_SET_MISSING, f"commit {missing} is no longer in its log")
    problem = _schema_problem(jvm, old, meta, commits, used_columns)
    if problem is not None:
        return _refused(blank, problem.type, problem.message)
    blank = replace(blank, rewritten=rewritten(commits, None if noted is None else noted.numFiles()))
    return _chosen(jvm, log, blank, commits, properties.get("delta.enableRowTracking") == "true")


def _refused(change: SourceChange, kind: IssueType, why: str) -> SourceChange:
    return replace(change, issue=Issue(kind, f"{change.source.name}: {why}"))


def _commits(jvm: Jvm, log: JavaObject, first: int, last: int) -> tuple[list[FileCommit], int | None]:
    """The commits, and the first version that is missing, if any is."""
    commits: list[FileCommit] = []
    if first > last:
        return commits, None
    conf = log.newDeltaHadoopConf()
    for version, file in commit_files(jvm, log, first, last):
        if version != first + len(commits):
            break
        commits.append(FileCommit.of(read_commit(jvm, log, file, conf)))
    reached = first + len(commits)
    return commits, reached if reached <= last else None


def _schema_problem(
    jvm: Jvm, old: SourceVersion, now: Action, commits: Sequence[FileCommit], used: Collection[str]
) -> Issue | None:
    """Compares every schema of the range with the last: all its files are read under that one."""
    last = Shape.of(now)
    if last.columns.keys() & set(RESERVED):
        return Issue(IssueType.CDF_UNAVAILABLE, f"it has a column named as one of {', '.join(RESERVED)}")
    shapes = [Shape.of(commit.metadata) for commit in commits if commit.metadata]
    if shapes:
        try:
            shapes.insert(0, Shape.of(metadata(jvm, snapshot(jvm, old))))
        except SourceError as error:
            return Issue(IssueType.CHANGE_SET_MISSING, error.message)
    found = (schema_issue(shape, last, used) for shape in shapes)
    return next((problem for problem in found if problem is not None), None)


def _chosen(
    jvm: Jvm, log: JavaObject, blank: SourceChange, commits: Sequence[FileCommit], tracked: bool
) -> SourceChange:
    """The cheapest representation of the range whose files are all still there."""
    ways, feed = by_files(commits), by_feed(commits)
    if ways and ways[0].empty:
        return replace(blank, kind=ChangeKind.NONE, rewritten=False)
    if not ways and feed is None:
        return _refused(blank, IssueType.CHANGE_SET_MISSING, "its log lacks what an incremental read needs")
    live = alive(commits)
    files = next((way for way in ways if _present(jvm, log, way, live)), None)
    if feed is not None:
        cheaper = files is None or (bool(files.removed) and feed.bytes < files.bytes)
        feed = feed if cheaper and _present(jvm, log, feed, live) else None
    used = feed or files
    if used is None:
        return _refused(blank, IssueType.DATA_FILE_MISSING, "files of the old version were vacuumed")
    return replace(
        blank,
        kind=ChangeKind.GENERAL if used.removed or used.feed else ChangeKind.APPEND,
        reader="files" if feed is None else "change_feed",
        changed_bytes=used.changed_bytes,
        changed_rows=used.rows,
        has_row_ids=tracked and files is not None and files.has_row_ids,
        files=files or EMPTY,
        feed=feed,
    )


def _present(jvm: Jvm, log: JavaObject, diff: FileDiff, live: Collection[tuple[str, str]]) -> bool:
    """Is every file there that reading the difference needs? Only files out of use can be missing."""
    paths = {path for path, _ in live}
    gone = [state for state in diff.states if state.key not in live]
    wanted = {state.path for state in gone if state.path not in paths}
    wanted |= {action["path"] for action in diff.feed}
    root = log.dataPath()
    absolute = jvm.singleton(f"{DELTA}util.DeltaFileOperations").absolutePath
    found = [absolute(root.toString(), path) for path in wanted]
    stored = [state.as_add() for state in gone if state.vector and state.vector["storageType"] != "i"]
    vectors = parse_actions(jvm, "AddFile", stored)
    found += [vectors.get(i).deletionVector().absolutePath(root) for i in range(len(stored))]
    exists = root.getFileSystem(log.newDeltaHadoopConf()).exists
    if len(found) <= FEW:
        return all(map(exists, found))
    with ThreadPoolExecutor(max_workers=8) as pool:
        return all(pool.map(exists, found))


# -- reading the rows


def read_changes(
    jvm: Jvm, change: SourceChange, row_ids: bool = False, columns: Sequence[str] | None = None
) -> DataFrame:
    """The changed rows: the table's columns at `change.source`, and `__mv_weight` (+1 or -1, or a sum).

    With `row_ids`, and if the change has them, also `__mv_source_row`, the row's stable id. With
    `columns`, only these of the table's columns are returned (and read). Rows that a rewrite merely
    carried over are cancelled where their columns can be grouped by; a signed bag is right either way.
    """
    if change.issue is not None:
        raise ValueError(f"not incrementally readable: {change.issue}")
    ids = row_ids and change.has_row_ids
    diff = change.feed if change.feed is not None and not ids else change.files
    log, at = delta_log(jvm, change.source.path), snapshot(jvm, change.source)
    if columns is None:
        columns = [column["name"] for column in json.loads(metadata(jvm, at)["schemaString"])["fields"]]
    kept = [quote(name) for name in columns]
    if ids:
        kept.append(f"_metadata.row_id AS {SOURCE_ROW}")
    scans, twice = [], False
    if diff.added or diff.removed or not diff.feed:
        frame, weight, twice = scan_files(jvm, log, at, diff)
        scans.append(frame.selectExpr(*kept, f"CAST({weight} AS BIGINT) AS {WEIGHT}"))
    if diff.feed:
        frame, weight = _scan_feed(jvm, log, at, diff)
        scans.append(frame.selectExpr(*kept, f"CAST({weight} AS BIGINT) AS {WEIGHT}"))
    rows = reduce(DataFrame.unionAll, scans)
    return effective(rows) if diff.carries_over or twice else rows


def effective(rows: DataFrame) -> DataFrame:
    """The same signed bag with every row once and no zero weights, if its columns can be grouped by."""
    schema = rows.schema
    if not all(_groupable(column.dataType) for column in schema):
        return rows
    names = [quote(name) for name in schema.names if name != WEIGHT]
    summed = rows.groupBy(*names).agg(F.sum(WEIGHT).alias(WEIGHT)).where(F.col(WEIGHT) != 0)
    return summed.select(*(quote(name) for name in schema.names))


def _groupable(kind: DataType) -> bool:
    """Does grouping by it tell all its values apart? Collations and maps do not, variants cannot."""
    if isinstance(kind, StructType):
        return all(_groupable(column.dataType) for column in kind)
    if isinstance(kind, ArrayType):
        return _groupable(kind.elementType)
    if isinstance(kind, StringType):
        return kind.collation == "UTF8_BINARY"
    return not isinstance(kind, MapType | VariantType)


def scan_files(jvm: Jvm, log: JavaObject, at: JavaObject, diff: FileDiff) -> tuple[DataFrame, str, bool]:
    """One scan of all file states; the made-up commit version of each file is its sign.

    Also whether rows that did not change may be among those it gives, with both signs.
    """
    entries: dict[int, list[dict[str, Any]]] = {1: [], -1: []}
    marked, twice = set(), False
    after = {state.path: state for state in diff.added}
    before = {state.path: state for state in diff.removed}
    for path in after.keys() | before.keys():
        if path in after and path in before:
            marked.add(path)
            least = _vector_difference(jvm, log, before[path], after[path])
            twice = twice or least is None
            for sign, entry in _both_vectors(before[path], after[path]) if least is None else least:
                entries[sign].append(entry)
        else:
            sign, state = (1, after[path]) if path in after else (-1, before[path])
            entries[sign].append(state.as_add())
    spec = jvm.type(f"{DELTA}commands.cdc.CDCReader$CDCDataSpec")
    specs = [
        spec(sign, None, jvm.scala_seq(parse_actions(jvm, "AddFile", _signed(found, sign))), jvm.none)
        for sign, found in entries.items()
        if found
    ]
    inverted = jvm.type(f"{DELTA}RowIndexFilterType").IF_NOT_CONTAINED
    filters = scala_map(jvm, dict.fromkeys(marked, inverted))
    index = known_files(jvm).ofChange(jvm.session, jvm.seq(specs), log, log.dataPath(), at, jvm.some(filters))
    signs = [sign for sign, found in entries.items() if found]
    weight = str(signs[0]) if len(signs) == 1 else "_commit_version"
    whole = not any(entry.get("deletionVector") for found in entries.values() for entry in found)
    return _scan(jvm, log, at, index, change_feed=False, whole=whole), weight, twice


def _signed(entries: Sequence[dict[str, Any]], sign: int) -> list[dict[str, Any]]:
    """Files with the values of Delta's change columns, as those of partitions: each file's are constant."""
    columns = dict(zip(RESERVED, ("insert", str(sign), None), strict=True))
    return [{**entry, "partitionValues": {**entry["partitionValues"], **columns}} for entry in entries]


def _vector_difference(
    jvm: Jvm, log: JavaObject, before: FileState, after: FileState
) -> list[tuple[int, dict[str, Any]]] | None:
    """The rows one file lost and regained: entries whose deletion vector marks the rows to *keep*.

    None if a vector of just these would be longer than Delta can hand to a task.
    """
    if before.vector is None or after.vector is None:
        return _both_vectors(before, after)
    stores = jvm.singleton(f"{DELTA}storage.dv.DeletionVectorStore")
    store = stores.createInstance(log.newDeltaHadoopConf())
    pair = parse_actions(jvm, "AddFile", [before.as_add(), after.as_add()])
    old, new = (store.read(pair.get(i).deletionVector(), log.dataPath()) for i in (0, 1))
    found = []
    for sign, state, rows, others in ((-1, before, new, old), (1, after, old, new)):
        marked = rows.copy()
        marked.diff(others)
        if not marked.isEmpty():
            made = _inline(jvm, marked)
            if len(made["pathOrInlineDv"]) > LONGEST_VECTOR:
                return None
            found.append((sign, {**state.as_add(), "deletionVector": made}))
    return found


def _both_vectors(before: FileState, after: FileState) -> list[tuple[int, dict[str, Any]]]:
    """The same as all rows that are marked now, less all that were: −(N − O) + (O − N) = −N + O."""
    marked = ((-1, before, after.vector), (1, after, before.vector))
    return [(sign, {**state.as_add(), "deletionVector": vector}) for sign, state, vector in marked if vector]


def _inline(jvm: Jvm, bitmap: JavaObject) -> dict[str, Any]:
    """A bitmap as a deletion vector that needs no file."""
    portable = jvm.singleton(f"{DELTA}deletionvectors.RoaringBitmapArrayFormat").Portable()
    held = jvm.singleton(f"{DELTA}actions.DeletionVectorDescriptor").inlineInLog(
        bitmap.serializeAsByteArray(portable), bitmap.cardinality()
    )
    return {
        "storageType": held.storageType(),
        "pathOrInlineDv": held.pathOrInlineDv(),
        "sizeInBytes": held.sizeInBytes(),
        "cardinality": held.cardinality(),
    }


def _scan_feed(jvm: Jvm, log: JavaObject, at: JavaObject, diff: FileDiff) -> tuple[DataFrame, str]:
    """The change files: each row says itself whether it came or went."""
    spec = jvm.type(f"{DELTA}commands.cdc.CDCReader$CDCDataSpec")
    files = jvm.scala_seq(parse_actions(jvm, "AddCDCFile", diff.feed))
    index = jvm.type(f"{DELTA}files.TahoeChangeFileIndex")(
        jvm.session, jvm.seq([spec(0, None, files, jvm.none)]), log, log.dataPath(), at
    )
    weight = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"
    return _scan(jvm, log, at, index, change_feed=True, whole=True), weight


def _scan(
    jvm: Jvm, log: JavaObject, at: JavaObject, index: JavaObject, change_feed: bool, whole: bool
) -> DataFrame:
    """An ordinary file scan over an index, with Delta's change columns among the table's.

    Of `whole` files no row is marked as deleted. Delta need not go through the list to see that for itself if
    it finds the place of deletion vectors set, as it is in a plan that it has prepared.
    """
    reader = jvm.singleton(f"{DELTA}commands.cdc.CDCReader")
    place = jvm.some(log.dataPath().toString()) if whole else jvm.none
    # Change files carry no row ids of their own; in other files old commits may lack some.
    fmt = jvm.type(f"{DELTA}DeltaParquetFileFormat")(
        at.protocol(), at.metadata(), not change_feed, not change_feed, True, place, change_feed
    )
    relation = jvm.type("org.apache.spark.sql.execution.datasources.HadoopFsRelation")(
        index,
        index.partitionSchema(),
        reader.cdcReadSchema(at.metadata().schema()),
        jvm.none,
        fmt,
        log.options(),
        jvm.session,
    )
    leaf = jvm.singleton("org.apache.spark.sql.execution.datasources.LogicalRelation")
    return jvm.dataframe(leaf.apply(relation, False))
