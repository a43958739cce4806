"""Folding commits, without Spark."""

from __future__ import annotations

from typing import Any

from rennet.storage.files import FileCommit, by_feed, by_files, rewritten


def add(path: str, rows: int = 10, data: bool = True, **more: Any) -> dict[str, Any]:
    stats = f'{{"numRecords":{rows}}}'
    return {
        "add": {"path": path, "partitionValues": {}, "size": rows, "dataChange": data, "stats": stats, **more}
    }


def remove(path: str, rows: int = 10, data: bool = True, **more: Any) -> dict[str, Any]:
    return {"remove": add(path, rows, data, **more)["add"]}


def vector(name: str, rows: int) -> dict[str, Any]:
    return {"storageType": "u", "pathOrInlineDv": name, "offset": 1, "sizeInBytes": 40, "cardinality": rows}


def paths(*commits: list[dict[str, Any]]) -> list[tuple[list[str], list[str]]]:
    ways = by_files([FileCommit.of(actions) for actions in commits])
    return [(sorted(s.path for s in way.added), sorted(s.path for s in way.removed)) for way in ways]


def test_an_insert_behind_a_compaction_reads_the_insert_only() -> None:
    compaction = [remove("old", 90, False), remove("new", 10, False), add("all", 100, False)]
    assert paths([add("new")], compaction)[0] == (["new"], [])


def test_a_restore_undoes_a_compaction() -> None:
    compaction = [remove("a", 10, False), remove("b", 10, False), add("c", 20, False)]
    restore = [remove("c", 20), add("a"), add("b")]
    assert paths(compaction, restore)[0] == ([], [])


def test_a_file_added_again_without_a_change_counts_for_nothing() -> None:
    assert paths([add("a", data=False, baseRowId=0)]) == [([], [])]


def test_new_deletion_vectors_telescope() -> None:
    first = [add("a", deletionVector=vector("x", 1)), remove("a")]
    second = [remove("a", deletionVector=vector("x", 1)), add("a", deletionVector=vector("y", 3))]
    diff = by_files([FileCommit.of(first), FileCommit.of(second)])[0]
    assert [state.deleted for state in (*diff.added, *diff.removed)] == [3, 0]
    assert (diff.rows, diff.bytes, diff.carries_over) == (3, 10, False)


def test_what_no_sum_of_states_can_say_is_left_out() -> None:
    compaction = [remove("a", 10, False), add("b", 11, False)]
    assert paths([add("a")], compaction, [remove("b", 11), add("a")]) == []


def test_change_files_stand_for_their_commit() -> None:
    commits = [
        FileCommit.of([add("a")]),
        FileCommit.of([remove("b"), add("c"), {"cdc": {"path": "_change_data/x", "size": 2}}]),
    ]
    diff = by_feed(commits)
    assert diff is not None
    assert ([s.path for s in diff.added], diff.removed, diff.bytes, diff.rows) == (["a"], (), 12, 12)


def test_change_files_have_as_many_rows_as_files_gained_and_lost() -> None:
    """Their size says little: what was and what is of one row is written once, as far as it is the same."""
    feed = {"cdc": {"path": "_change_data/x", "size": 2}}
    marked = [remove("b", 90), add("b", 90, deletionVector=vector("x", 7)), add("c", 7), feed]
    deleted = [remove("b", 20), feed]
    again = [remove("b", 90), add("c", 90), feed]
    found = [by_feed([FileCommit.of(actions)]) for actions in (marked, deleted, again)]
    assert [diff.rows for diff in found if diff is not None] == [14, 20, 2]


def test_rewritten() -> None:
    commits = [FileCommit.of([remove("a"), remove("b"), add("c")])]
    assert rewritten(commits, 1)
    assert not rewritten(commits, 2)
    assert not rewritten(commits, None)
