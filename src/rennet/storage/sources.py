"""Which version of each source a refresh reads, and how a plan is made to read it.

A refresh sees every source at one version, all of one moment. Versions are found in the Delta log;
a plan's leaf is made to read its pinned version by swapping the file index inside the leaf, so the
leaf keeps its output attributes and no expression above it has to change.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from rennet.errors import Issue, IssueType, SourceError
from rennet.jvm import JavaObject, Jvm
from rennet.storage.known import known_files
from rennet.storage.looks import remembered

DELTA = "org.apache.spark.sql.delta."
READINGS = 20
"""How often `pin` looks before it gives up on sources that never hold still."""

PIECE, LONG = 3_000, 200_000
"""How much text is fetched at once, and from where on 40 ms more do not matter."""

JVM_ERRORS = (Py4JJavaError, PySparkException)
"""What a failing call into Spark raises: PySpark converts some Java exceptions, not all."""


@dataclass(frozen=True)
class SourceVersion:
    """One Delta table at one version. The table id tells a recreated table from the old one."""

    name: str
    path: str
    table_id: str
    version: int

    def to_dict(self) -> dict[str, str | int]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> SourceVersion:
        return cls(stored["name"], stored["path"], stored["table_id"], int(stored["version"]))


# -- finding versions


def delta_log(jvm: Jvm, path: str) -> JavaObject:
    """Delta's own handle of a table; Delta caches it, so asking again is cheap."""
    return jvm.static(f"{DELTA}DeltaLog", "forTable")(jvm.session, path)


def current(jvm: Jvm, log: JavaObject, anew: bool = False) -> JavaObject:
    """The newest snapshot: one listing of the log, and nothing more if there is no new commit.

    In a piece of work, a log that was listed since it began is not listed again, unless that is asked for.
    """
    since = jvm.none if anew or jvm.work is None else jvm.work.since
    return log.update(False, since, jvm.none)


def pin(jvm: Jvm, tables: Sequence[tuple[str, str]], anew: bool = False) -> tuple[SourceVersion, ...]:
    """The current version of each `(name, path)`, all of one moment.

    All are read twice. Versions only grow, so two equal readings mean that every table still had
    its version when the first reading ended: there is a moment at which all were current.
    """
    reading = _read(jvm, tables, anew)
    for _ in range(READINGS):
        again = _read(jvm, tables, anew=True) if len(tables) > 1 else reading
        if again == reading:
            return reading
        reading = again
    names = ", ".join(name for name, _ in tables)
    raise SourceError(
        f"The sources changed during each of {READINGS} attempts to read their versions: {names}.",
        "Refresh again when fewer writers are active.",
    )


def _read(jvm: Jvm, tables: Sequence[tuple[str, str]], anew: bool) -> tuple[SourceVersion, ...]:
    found = []
    for name, path in tables:
        version, table = remembered(jvm, path, _version, anew)
        if version < 0:
            raise SourceError(f"{name} is not a Delta table: there is no log in {path}.")
        found.append(SourceVersion(name, path, table, version))
    return tuple(found)


def _version(jvm: Jvm, path: str, anew: bool) -> tuple[int, str]:
    """The version of a table and its id, which is nothing in particular if there is no table."""
    snapshot = current(jvm, delta_log(jvm, path), anew)
    version = int(snapshot.version())
    return version, str(snapshot.metadata().id()) if version >= 0 else ""


def snapshot(jvm: Jvm, source: SourceVersion) -> JavaObject:
    """Delta's snapshot of the pinned version; runs no Spark job if it is the newest known one."""
    log = delta_log(jvm, source.path)
    held = log.unsafeVolatileSnapshot()
    if held.version() != source.version:
        try:
            held = log.getSnapshotAt(source.version, jvm.none, jvm.none, False)
        except JVM_ERRORS as error:
            raise SourceError(
                f"Version {source.version} of {source.name} is no longer there.",
                "Its log was cleaned up, or the table was replaced.",
            ) from error
    if held.metadata().id() != source.table_id:
        raise SourceError(f"{source.name} was dropped and created again since it was pinned.")
    return held


# -- leaves of a plan


def is_delta(relation: JavaObject) -> bool:
    """Is this plan node a scan of a Delta table (not of its change feed, not a streaming one)?"""
    if relation.getClass().getSimpleName() != "LogicalRelation" or relation.isStreaming():
        return False
    held = relation.relation()
    # Delta's relation is an anonymous subclass, so the class name alone does not tell.
    if "HadoopFsRelation" not in (held.getClass().getSimpleName(), _parent(held)):
        return False
    return bool(held.location().getClass().getSimpleName() == "TahoeLogFileIndex")


def _parent(thing: JavaObject) -> str:
    return str(thing.getClass().getSuperclass().getSimpleName())


def name_and_path(jvm: Jvm, relation: JavaObject) -> tuple[str, str]:
    """What the leaf reads: its catalog name, or `` delta.`path` `` if read by path; and its path."""
    path = relation.relation().location().path().toString()
    table = jvm.value(relation.catalogTable())
    return f"delta.`{path}`" if table is None else table.identifier().unquotedString(), path


def travelled_to(relation: JavaObject) -> int | None:
    """The version a query itself asked for with `VERSION AS OF`; None if it reads the current one."""
    index = relation.relation().location()
    return int(index.version()) if index.isTimeTravelQuery() else None


FEW_FILES = 24
"""Up to so many files it is quicker to open them all than to ask which can be skipped."""


def relation_at(
    jvm: Jvm, relation: JavaObject, source: SourceVersion, used_columns: Collection[str] | None = None
) -> JavaObject:
    """The same leaf, with the same output attributes, reading `source`'s version.

    Columns that did not exist yet at that version read as null. If a column of the leaf (or of
    `used_columns`, when given) had another type or another identity then, that is a `SourceError`.
    """
    held = relation.relation()
    index = held.location()
    at = snapshot(jvm, source)
    fmt = held.fileFormat()
    if at.schema().equals(index.metadata().schema()):
        # Deletion vectors or column mapping may have been switched on in between.
        fmt = index.deltaLog().fileFormat(at.protocol(), at.metadata())
    else:
        then, now = Shape.of(metadata(jvm, at)), Shape.of(metadata(jvm, index))
        problem = schema_issue(then, now, used_columns)
        if problem is not None:
            raise SourceError(f"{source.name} cannot be read at version {source.version}: {problem.message}")
    listed = listed_files(jvm, at) if index.partitionFilters().isEmpty() else None
    if listed is not None and listed.size() <= FEW_FILES:  # of more, Delta runs a job to skip some
        pinned = listed_index(jvm, index.deltaLog(), index.path(), at, listed)
        fmt = listed_format(jvm, fmt, index.path(), at)
    else:
        pinned = _pinned_index(jvm, index, at)
    swapped = held.copy(
        pinned,
        held.partitionSchema(),
        held.dataSchema(),
        held.bucketSpec(),
        fmt,
        held.options(),
        jvm.session,
    )
    return relation.copy(
        swapped, relation.output(), relation.catalogTable(), relation.isStreaming(), relation.stream()
    )


# -- the log


def metadata(jvm: Jvm, described: JavaObject) -> dict[str, Any]:
    """The metadata action of a snapshot or file index: schema, partitioning, properties."""
    found: dict[str, Any] = json.loads(to_json(jvm, described.metadata()))
    return found


def _pinned_index(jvm: Jvm, index: JavaObject, at: JavaObject) -> JavaObject:
    """The files of a version, which Delta looks for when it plans."""
    return jvm.type(f"{DELTA}files.TahoeLogFileIndex")(
        jvm.session,
        index.deltaLog(),
        index.path(),
        at,
        index.catalogTableOpt(),
        index.partitionFilters(),
        True,
    )


def listed_index(
    jvm: Jvm, log: JavaObject, path: JavaObject, at: JavaObject, files: JavaObject
) -> JavaObject:
    """Files that are known: no Spark job is needed to find them."""
    return known_files(jvm).ofTable(jvm.session, files, log, path, at)


def listed_format(jvm: Jvm, fmt: JavaObject, path: JavaObject, at: JavaObject) -> JavaObject:
    """What reads the files of a version that are known.

    If no row is marked as deleted, Delta need not go through the list to see that for itself: it does not
    where it finds the place of deletion vectors set, as it is in a plan that it has prepared.
    """
    noted = checksum(jvm, at)
    marked = None if noted is None else jvm.value(noted.numDeletionVectorsOpt())
    return fmt.copyWithDVInfo(path.toString(), True) if marked == 0 else fmt


def listed_files(jvm: Jvm, snapshot: JavaObject) -> JavaObject | None:
    """All files of a version without a Spark job, if the table is so small that its checksum lists them."""
    noted = checksum(jvm, snapshot)
    return None if noted is None else jvm.value(noted.allFiles())


def size_in_bytes(jvm: Jvm, snapshot: JavaObject) -> int:
    """The size of a table's files; from its checksum, if it has one, because then no job is needed."""
    noted = checksum(jvm, snapshot)
    return int(snapshot.sizeInBytes() if noted is None else noted.tableSizeBytes())


def rows_held(jvm: Jvm, snapshot: JavaObject) -> int | None:
    """How many rows a version has, if that can be told without a job: its files are few, and all counted."""
    listed = listed_files(jvm, snapshot)
    held = -1 if listed is None else int(jvm.compiled("Rows").held(listed))
    return None if held < 0 else held


def checksum(jvm: Jvm, snapshot: JavaObject) -> JavaObject | None:
    """Delta's summary of a version (sizes, counts, domains, a short list of files), if one was written.

    Asking the snapshot itself for any of these reconstructs the table's state: several Spark jobs.
    """
    return jvm.value(snapshot.checksumOpt())


def last_marked(jvm: Jvm, snapshot: JavaObject, app: str) -> int:
    """The last number an application marked its commits with, -1 if there is none; without a job if noted."""
    noted = checksum(jvm, snapshot)
    known = None if noted is None else jvm.value(noted.setTransactions())
    marks = jvm.iterate(snapshot.setTransactions() if known is None else known)
    return max((int(mark.version()) for mark in marks if mark.appId() == app), default=-1)


def commit_files(jvm: Jvm, log: JavaObject, first: int, last: int) -> Iterator[tuple[int, JavaObject]]:
    """Version and file of the commits from `first` to `last` that are still in the log, in order."""
    files = log.getChangeLogFiles(first, last, jvm.none, False)
    while files.hasNext():
        pair = files.next()
        yield pair._1(), pair._2()


def read_commit(jvm: Jvm, log: JavaObject, file: JavaObject, conf: JavaObject) -> Iterator[dict[str, Any]]:
    """The actions of one commit, as the log's own JSON: few round trips, however many they are."""
    lines = log.store().read(file, conf)
    text = fetched(lines.addString(jvm.type("scala.collection.mutable.StringBuilder")(), "\n"))
    return (json.loads(line) for line in text.split("\n") if line)


def to_json(jvm: Jvm, thing: JavaObject) -> str:
    """Delta's own JSON of an action, or of a Scala sequence of them."""
    writer = jvm.type("java.io.StringWriter")()
    _mapper(jvm).writeValue(writer, thing)
    return fetched(writer.getBuffer())


def _mapper(jvm: Jvm) -> JavaObject:
    return jvm.kept("mapper", lambda: jvm.singleton(f"{DELTA}util.JsonUtils").mapper())


def fetched(text: JavaObject) -> str:
    """A Java string buffer as text, in pieces.

    Py4J's JVM side writes a long answer in pieces of 8 KiB to a socket that waits, before it sends the
    last one, until the first is acknowledged: 40 ms later. Short answers take a fraction of one.
    """
    length = text.length()
    if length > LONG:
        return str(text.toString())
    return "".join(text.substring(at, min(at + PIECE, length)) for at in range(0, length, PIECE))


def parse_actions(jvm: Jvm, kind: str, found: Sequence[Mapping[str, Any]]) -> JavaObject:
    """A Java list of Delta's actions from their JSON: one round trip however many they are."""

    def list_of_kind() -> JavaObject:
        item = jvm.loaded(f"{DELTA}actions.{kind}")
        return _mapper(jvm).getTypeFactory().constructCollectionType(jvm.loaded("java.util.ArrayList"), item)

    return _mapper(jvm).readValue(json.dumps(found), jvm.kept(("list of", kind), list_of_kind))


def scala_map(jvm: Jvm, found: Mapping[str, JavaObject]) -> JavaObject:
    """An immutable Scala map."""
    made = jvm.type("java.util.HashMap")()
    for key, value in found.items():
        made.put(key, value)
    return jvm.static("org.apache.spark.api.python.PythonUtils", "toScalaMap")(made)


# -- schemas


@dataclass(frozen=True)
class Shape:
    """What must stay the same for files written under one schema to be read under another."""

    columns: dict[str, str]
    """Lower-case name to a rendering of type and physical identity, free of comments."""
    partitioned_by: tuple[str, ...]

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Shape:
        """Of a metadata action, as the log holds it."""
        fields = json.loads(metadata["schemaString"])["fields"]
        return cls(
            {field["name"].lower(): json.dumps(_identity(field)) for field in fields},
            tuple(name.lower() for name in metadata["partitionColumns"]),
        )


def _identity(field: Mapping[str, Any]) -> list[Any]:
    notes = field.get("metadata", {})
    physical = notes.get("delta.columnMapping.physicalName", field["name"])
    return [physical, _type_identity(field["type"]), notes.get("__COLLATIONS")]


def _type_identity(kind: Any) -> Any:
    if not isinstance(kind, dict):
        return kind
    if kind["type"] == "struct":
        return ["struct", *([field["name"], _identity(field)] for field in kind["fields"])]
    parts = ("elementType", "keyType", "valueType")
    return [kind["type"], *(_type_identity(kind[part]) for part in parts if part in kind)]


def schema_issue(then: Shape, now: Shape, used_columns: Collection[str] | None = None) -> Issue | None:
    """Why files written under `then` cannot be read as `now`; added and unused columns are fine."""
    if then.partitioned_by != now.partitioned_by:
        before, after = (", ".join(shape.partitioned_by) or "nothing" for shape in (then, now))
        return Issue(
            IssueType.PARTITION_SCHEMA_CHANGED, f"it was partitioned by {before} and now is by {after}"
        )
    used = now.columns if used_columns is None else [name.lower() for name in used_columns]
    for name in used:
        if name not in now.columns:
            return Issue(IssueType.DATA_SCHEMA_CHANGED, f"column {name} is gone")
        if name in then.columns and then.columns[name] != now.columns[name]:
            return Issue(IssueType.DATA_SCHEMA_CHANGED, f"column {name} is not what it was")
    return None
