"""Ranges of commits as signed bags of files. Only the log's JSON is looked at: no Spark, no JVM.

Every commit changes the table by the files it added and removed with `dataChange` set, or, when it
wrote change files, by exactly those. Summing that over a range, each file state counting +1 or -1,
cancels whatever was undone; what is left is the difference of the two versions as a signed bag. A
compaction has no `dataChange` and so adds nothing to the sum. All commits' files together, compaction
or not, give the same bag in another way: cheaper, for instance, when a RESTORE undid a compaction.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Action = Mapping[str, Any]
_RECORDS = re.compile(r'\{"numRecords":(\d+)[,}]')


@dataclass(frozen=True)
class FileState:
    """A data file together with its deletion vector: what a version of a table is made of."""

    path: str
    size: int | None
    partition: dict[str, str | None]
    vector: dict[str, Any] | None
    base_row_id: int | None
    row_version: int | None
    records: int | None

    @classmethod
    def of(cls, action: Action) -> FileState:
        """From an add or remove action; old writers left size and partition out of removes."""
        whole = "size" in action and action.get("partitionValues") is not None
        return cls(
            action["path"],
            action["size"] if whole else None,
            dict(action.get("partitionValues") or {}),
            action.get("deletionVector"),
            action.get("baseRowId"),
            action.get("defaultRowCommitVersion"),
            records(action.get("stats")),
        )

    @property
    def key(self) -> tuple[str, str]:
        """Equal for equal rows: the file and the identity of its deletion vector."""
        if self.vector is None:
            return self.path, ""
        kind, place = self.vector["storageType"], self.vector["pathOrInlineDv"]
        return self.path, f"{kind}{place}@{self.vector.get('offset')}"

    @property
    def deleted(self) -> int:
        return int(self.vector["cardinality"]) if self.vector else 0

    @property
    def rows(self) -> int | None:
        return None if self.records is None else self.records - self.deleted

    def as_add(self) -> dict[str, Any]:
        """As an `AddFile`, whatever it was: Delta scans only those."""
        return {
            "path": self.path,
            "partitionValues": self.partition,
            "size": self.size,
            "modificationTime": 0,
            "dataChange": True,
            "deletionVector": self.vector,
            "baseRowId": self.base_row_id,
            "defaultRowCommitVersion": self.row_version,
        }


def records(stats: str | None) -> int | None:
    """How many rows a file has, by its statistics, deleted ones among them."""
    if not stats:
        return None
    first = _RECORDS.match(stats)  # Delta writes it first; parsing all statistics takes much longer.
    found = first.group(1) if first else json.loads(stats).get("numRecords")
    return None if found is None else int(found)


@dataclass(frozen=True)
class FileDiff:
    """A signed bag of file states, and change files that hold rows with their signs."""

    added: tuple[FileState, ...]
    removed: tuple[FileState, ...]
    feed: tuple[Action, ...] = ()
    feed_rows: int | None = 0

    @property
    def states(self) -> tuple[FileState, ...]:
        return (*self.added, *self.removed)

    @property
    def bytes(self) -> int:
        """What has to be read; a file that only lost or regained rows is read once."""
        sizes = {state.path: state.size or 0 for state in self.states}
        return sum(sizes.values()) + sum(int(file["size"]) for file in self.feed)

    @property
    def rows(self) -> int | None:
        """How many rows the difference has, both signs counted; None if statistics are missing."""
        removed = {state.path: state for state in self.removed}
        counts: list[int | None] = [self.feed_rows]
        for state in self.added:
            before = removed.pop(state.path, None)
            counts.append(state.rows if before is None else abs(state.deleted - before.deleted))
        counts += [state.rows for state in removed.values()]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def changed_bytes(self) -> int:
        """Those of the changed rows: of a file that only lost a few rows, the share of the few."""
        removed = {state.path: state for state in self.removed}
        total = float(sum(int(file["size"]) for file in self.feed))
        for state in self.added:
            before = removed.pop(state.path, None)
            share = 1.0
            if before is not None and state.records:
                share = abs(state.deleted - before.deleted) / state.records
            total += share * (state.size or 0)
        return round(total + sum(state.size or 0 for state in removed.values()))

    @property
    def partition_values(self) -> list[Mapping[str, str | None]]:
        """Those of every file; removed ones leave out what is NULL."""
        return [
            *(s.partition for s in self.states),
            *(file.get("partitionValues") or {} for file in self.feed),
        ]

    @property
    def empty(self) -> bool:
        return not (self.states or self.feed)

    @property
    def carries_over(self) -> bool:
        """Could whole files have been rewritten, so that unchanged rows appear with both signs?"""
        added = {state.path for state in self.added}
        removed = {state.path for state in self.removed}
        return bool(added - removed) and bool(removed - added)

    @property
    def longest_vector(self) -> int:
        """Bytes of the longest deletion vector of a file that has one before and after."""
        before = {state.path for state in self.removed if state.vector}
        vectors = [s.vector for s in self.added if s.vector and s.path in before]
        return max((int(vector.get("sizeInBytes", 0)) for vector in vectors), default=0)

    @property
    def readable(self) -> bool:
        return all(state.size is not None for state in self.states)

    @property
    def has_row_ids(self) -> bool:
        return all(state.base_row_id is not None for state in self.states)


EMPTY = FileDiff((), ())


@dataclass
class FileCommit:
    """What one commit says about files and schema."""

    files: list[tuple[int, bool, FileState]] = field(default_factory=list)
    """Sign, `dataChange`, file; a file that gets a new deletion vector is removed and added."""
    feed: list[Action] = field(default_factory=list)
    metadata: Action | None = None

    @classmethod
    def of(cls, actions: Iterable[Action]) -> FileCommit:
        commit = cls()
        for action in actions:
            if "add" in action or "remove" in action:
                file = action.get("add") or action["remove"]
                sign = 1 if "add" in action else -1
                commit.files.append((sign, file["dataChange"], FileState.of(file)))
            elif "cdc" in action:
                commit.feed.append(action["cdc"])
            elif "metaData" in action:
                commit.metadata = action["metaData"]
        # The two halves of a new deletion vector come in any order, but always mean this one.
        commit.files.sort(key=lambda entry: entry[0])
        return commit

    def changed(self) -> Iterable[tuple[int, FileState]]:
        return ((sign, state) for sign, data, state in self.files if data)

    def touched(self) -> Iterable[tuple[int, FileState]]:
        return ((sign, state) for sign, _, state in self.files)

    def balanced(self) -> bool:
        """Do files rearranged hold as many rows as before? Not if one is only added once more."""
        counts = [(sign, state.rows) for sign, data, state in self.files if not data]
        if any(rows is None for _, rows in counts):
            return False
        return sum(sign * (rows or 0) for sign, rows in counts) == 0


def net(signed: Iterable[tuple[int, FileState]]) -> FileDiff | None:
    """The sum of signed file states; None if it is not one state before and one after per file."""
    weights: Counter[tuple[str, str]] = Counter()
    states: dict[tuple[str, str], FileState] = {}
    for sign, state in signed:
        weights[state.key] += sign
        known = states.get(state.key)
        if known is None or known.base_row_id is None:
            states[state.key] = state
    sides: dict[int, dict[str, FileState]] = {1: {}, -1: {}}
    for key, weight in weights.items():
        if not weight:
            continue
        if abs(weight) > 1 or key[0] in sides[weight]:
            return None
        sides[weight][key[0]] = states[key]
    return FileDiff(tuple(sides[1].values()), tuple(sides[-1].values()))


def by_files(commits: Sequence[FileCommit]) -> list[FileDiff]:
    """The file differences that can stand for the range, cheapest first."""
    ways = [net(pair for commit in commits for pair in commit.changed())]
    if all(commit.balanced() for commit in commits):
        ways.append(net(pair for commit in commits for pair in commit.touched()))
    return sorted((way for way in ways if way is not None and way.readable), key=lambda way: way.bytes)


def by_feed(commits: Sequence[FileCommit]) -> FileDiff | None:
    """The difference with change files in place of what they describe; None if there are none."""
    feed = [action for commit in commits for action in commit.feed]
    rest = net(pair for commit in commits if not commit.feed for pair in commit.changed())
    if not feed or rest is None or not rest.readable:
        return None
    return replace(rest, feed=tuple(feed), feed_rows=_feed_rows(commits))


def _feed_rows(commits: Iterable[FileCommit]) -> int | None:
    """Change files have no statistics: guess from the size of a row in the commit's data files.

    They hold no more rows than those files lost and gained; just as many, if no file was written again.
    """
    total = 0
    for commit in commits:
        if not commit.feed:
            continue
        sized = [(s.size, s.records) for _, _, s in commit.files if s.size and s.records]
        if not sized:
            return None
        width = sum(size for size, _ in sized) / sum(records for _, records in sized)
        guess = round(sum(action["size"] for action in commit.feed) / max(width, 1.0)) or 1
        whole = net(commit.changed())
        if whole is None or whole.rows is None:
            total += guess
        else:
            total += min(guess, whole.rows) if whole.carries_over else whole.rows
    return total


def alive(commits: Iterable[FileCommit]) -> set[tuple[str, str]]:
    """The keys of file states that the range added and did not remove again."""
    found: set[tuple[str, str]] = set()
    for commit in commits:
        for sign, state in commit.touched():
            if sign > 0:
                found.add(state.key)
            else:
                found.discard(state.key)
    return found


def rewritten(commits: Iterable[FileCommit], files_now: int | None) -> bool:
    """Is no file of the old version left? Told by the number of files now and what came and went."""
    before: set[str] = set()
    after: set[str] = set()
    touched: set[str] = set()
    for commit in commits:
        removed = {state.path for sign, state in commit.touched() if sign < 0}
        added = {state.path for sign, state in commit.touched() if sign > 0}
        before |= removed - touched
        touched |= removed | added
        after = (after - removed) | added
    if files_now is None or not before or before & after:
        return False
    return files_now == len(after)
