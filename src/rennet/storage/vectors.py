"""Deletion vectors of a few rows: made on the driver, and kept in the log itself.

Delta has a Spark job make deletion vectors, and a file hold each. For a handful of rows both take longer than
finding them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rennet.jvm import SEPARATOR, JavaObject, Jvm
from rennet.storage.fetching import first_rows
from rennet.storage.files import records
from rennet.storage.sources import DELTA, fetched, parse_actions, to_json

FILE = "__mv_file"
ROW = "__mv_row"
"""Columns that say where a stored row is."""
FEW = 100
"""Each row is a question to the JVM."""
MOST = 1_000
"""So many rows a vector in the log has at most: every commit that marks rows of its file repeats it."""

Touched = list[dict[str, Any]]
"""Files that lose rows (`fileLogEntry`), each with its `newDeletionVector`: what the log says of both."""


RowsOfFiles = dict[str, list[int]]
"""The numbers of rows by the file they are in."""


def touched_by_few(
    jvm: Jvm, log: JavaObject, files: Sequence[Mapping[str, Any]], rows: RowsOfFiles
) -> Touched | None:
    """The files that lose these rows; None if they are too many, or in none of the files."""
    root = log.dataPath().toUri().toString()
    by_path = {absolute(root, file["path"]): file for file in files}
    if not rows.keys() <= by_path.keys():
        return None
    found: Touched = []
    for path, numbers in rows.items():
        vector = _vector(jvm, log, by_path[path], numbers)
        if vector is None:
            return None
        found.append({"fileLogEntry": dict(by_path[path]), "newDeletionVector": vector})
    return found


def touched_by_job(
    jvm: Jvm,
    txn: JavaObject,
    log: JavaObject,
    files: JavaObject,
    positions: DataFrame,
    has_vectors: bool,
) -> JavaObject:
    """The same of any number of rows, by Delta's own Spark job; the vectors become files."""
    generator = jvm.singleton(f"{DELTA}commands.DeletionVectorBitmapGenerator")
    helper = jvm.singleton(f"{DELTA}commands.DMLWithDeletionVectorsHelper")
    vectors = generator.buildRowIndexSetsForFilesMatchingCondition(
        jvm.session,
        txn,
        has_vectors,
        positions._jdf,
        files,
        jvm.singleton("org.apache.spark.sql.catalyst.expressions.Literal").TrueLiteral(),
        jvm.kept(FILE, lambda: jvm.some(F.col(FILE)._jc)),
        jvm.kept(ROW, lambda: jvm.some(F.col(ROW)._jc)),
    )
    by_name = helper.generateCandidateFileMap(log.dataPath(), files)
    return helper.findFilesWithMatchingRows(txn, by_name, vectors)


def collected(jvm: Jvm, positions: DataFrame) -> RowsOfFiles | None:
    """The rows at these `(file, row)`; None if they are too many."""
    file, row = positions.columns
    told = few_texts(jvm, positions, f"concat({row}, ' ', {file})")
    return None if told is None else by_file(text.partition(" ")[::2] for text in told)


def by_file(places: Iterable[tuple[str, str]]) -> RowsOfFiles:
    """Of places `(row, file)`."""
    found: RowsOfFiles = {}
    for number, path in places:
        found.setdefault(path, []).append(int(number))
    return found


def few_texts(jvm: Jvm, frame: DataFrame, text: str, watched: bool = True) -> list[str] | None:
    """A text of every row, all fetched as one; None if they are too many. `watched`: see `first_rows`."""
    plan = frame.selectExpr(text)._jdf.queryExecution().executedPlan()
    rows = first_rows(jvm, plan, FEW + 1, watched)
    if len(rows) > FEW:
        return None
    return fetched(jvm.compiled("Texts").joined(rows, SEPARATOR)).split(SEPARATOR) if len(rows) else []


def absolute(root: str, path: str) -> str:
    """A file's path as Spark names it; both are encoded alike."""
    return path if ":" in path.partition("/")[0] else f"{root}/{path}"


def _vector(
    jvm: Jvm, log: JavaObject, file: Mapping[str, Any], numbers: Sequence[int]
) -> dict[str, Any] | None:
    """What is marked already and these rows too, as the log writes it; None if that is too long."""
    before = (file.get("deletionVector") or {}).get("cardinality", 0)
    if before + len(numbers) > MOST:
        return None
    bitmap = _stored(jvm, log, file) if before else jvm.type(f"{DELTA}deletionvectors.RoaringBitmapArray")()
    for number in numbers:
        bitmap.add(number)
    portable = jvm.singleton(f"{DELTA}deletionvectors.RoaringBitmapArrayFormat").Portable()
    described = jvm.singleton(f"{DELTA}actions.DeletionVectorDescriptor").inlineInLog(
        bitmap.serializeAsByteArray(portable), bitmap.cardinality()
    )
    made: dict[str, Any] = json.loads(to_json(jvm, described))
    return made


def _stored(jvm: Jvm, log: JavaObject, file: Mapping[str, Any]) -> JavaObject:
    """The rows that are marked already."""
    described = parse_actions(jvm, "AddFile", [file]).get(0).deletionVector()
    stored = jvm.singleton(f"{DELTA}deletionvectors.StoredBitmap").create(described, log.dataPath())
    store = jvm.singleton(f"{DELTA}storage.dv.DeletionVectorStore")
    return stored.load(store.createInstance(log.newDeltaHadoopConf()))


# -- what the log says of files that lose rows


def lost_rows(entry: Mapping[str, Any]) -> int:
    before = entry["fileLogEntry"].get("deletionVector") or {"cardinality": 0}
    return int(entry["newDeletionVector"]["cardinality"] - before["cardinality"])


def with_vector(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The file as it is after its loss."""
    return {**entry["fileLogEntry"], "deletionVector": entry["newDeletionVector"]}


def live_rows(add: Mapping[str, Any]) -> int:
    """The rows of a file that are not marked as deleted, by its statistics."""
    return (records(add.get("stats")) or 0) - int((add.get("deletionVector") or {}).get("cardinality", 0))


def removal(add: Mapping[str, Any], moment: int) -> dict[str, Any]:
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


def renewed(entry: Mapping[str, Any]) -> dict[str, Any] | None:
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
