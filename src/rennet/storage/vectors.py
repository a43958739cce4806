"""Deletion vectors of a few rows: made on the driver, and kept in the log itself.

Delta has a Spark job make deletion vectors, and a file hold each. For a handful of rows both take longer than
finding them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from rennet.jvm import SEPARATOR, JavaObject, Jvm
from rennet.storage.sources import DELTA, fetched, parse_actions, to_json

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
    by_path = {_absolute(root, file["path"]): file for file in files}
    if not rows.keys() <= by_path.keys():
        return None
    found: Touched = []
    for path, numbers in rows.items():
        vector = _vector(jvm, log, by_path[path], numbers)
        if vector is None:
            return None
        found.append({"fileLogEntry": dict(by_path[path]), "newDeletionVector": vector})
    return found


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


def few_texts(jvm: Jvm, frame: DataFrame, text: str) -> list[str] | None:
    """A text of every row, all fetched as one; None if they are too many."""
    told = frame.selectExpr(text)._jdf.limit(FEW + 1).collectAsList()
    if told.size() > FEW:
        return None
    joined = jvm.scala_seq(told).addString(jvm.type("scala.collection.mutable.StringBuilder")(), SEPARATOR)
    rows = fetched(joined)
    return [row[1:-1] for row in rows.split(SEPARATOR)] if rows else []  # a row is written in brackets


def _absolute(root: str, path: str) -> str:
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
