"""Refreshes that left no commit: those that found nothing to do, and those that failed.

One small JSON file each, beside the backing table's data in a folder Delta ignores. Nothing depends on
them but `history`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse
from uuid import uuid4

from rennet.jvm import JavaObject, Jvm

FOLDER = "_rennet"


def record(jvm: Jvm, path: str, event: dict[str, Any]) -> None:
    """Write one event; no Spark job is run."""
    name = f"{event['refreshed_at'].replace(':', '')}-{uuid4().hex[:8]}.json"
    if path.startswith("file:"):  # Hadoop starts a process to set a local file's permissions
        local = Path(unquote(urlparse(path).path)) / FOLDER
        local.mkdir(exist_ok=True)
        (local / name).write_text(json.dumps(event))
        return
    folder = _path(jvm, f"{path}/{FOLDER}")
    files = _file_system(jvm, folder)
    stream = files.create(_path(jvm, f"{path}/{FOLDER}/{name}"))
    try:
        stream.write(json.dumps(event).encode())
    finally:
        stream.close()


def events(jvm: Jvm, path: str) -> list[dict[str, Any]]:
    """All recorded events, oldest first."""
    folder = _path(jvm, f"{path}/{FOLDER}")
    files = _file_system(jvm, folder)
    if not files.exists(folder):
        return []
    found = sorted(str(status.getPath().toString()) for status in files.listStatus(folder))
    return [json.loads(_text(jvm, files, each)) for each in found if each.endswith(".json")]


def _path(jvm: Jvm, path: str) -> JavaObject:
    return jvm.type("org.apache.hadoop.fs.Path")(path)


def _file_system(jvm: Jvm, path: JavaObject) -> JavaObject:
    return path.getFileSystem(jvm.session.sessionState().newHadoopConf())


def _text(jvm: Jvm, files: JavaObject, path: str) -> str:
    stream = files.open(_path(jvm, path))
    try:
        return bytes(stream.readAllBytes()).decode()
    finally:
        stream.close()
