"""What the commits of a table say besides its rows: the provenance of each refresh."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from rennet.jvm import JavaObject, Jvm
from rennet.storage.sources import checksum, commit_files, current, delta_log, read_commit, to_json


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
