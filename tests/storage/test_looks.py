"""What the folder of a local log tells of a table, and that nothing is missed by going by it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rennet.jvm import Jvm
from rennet.storage.looks import look, remembered
from rennet.storage.sources import pin


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    spark.range(3).write.format("delta").save(str(tmp_path / "t"))
    yield f"file:{tmp_path}/t"


def append(spark: SparkSession, path: str) -> None:
    spark.range(1).write.format("delta").mode("append").save(path)


def test_a_commit_is_seen(spark: SparkSession, path: str) -> None:
    before = look(path)
    assert before is not None and before.version == 0
    assert look(path) == before
    append(spark, path)
    after = look(path)
    assert after is not None and after.version == 1


def test_what_was_found_is_remembered_until_the_log_changes(spark: SparkSession, jvm: Jvm, path: str) -> None:
    asked: list[str] = []

    def read(jvm: Jvm, path: str, anew: bool) -> tuple[int, str]:
        asked.append(path)
        (found,) = pin(jvm, [("t", path)], anew=True)
        return found.version, found.table_id

    first = remembered(jvm, path, read)
    assert remembered(jvm, path, read) == first and len(asked) == 1
    append(spark, path)
    assert remembered(jvm, path, read) == (1, first[1]) and len(asked) == 2


def test_a_table_made_anew_in_its_place_is_another_one(spark: SparkSession, jvm: Jvm, path: str) -> None:
    (before,) = pin(jvm, [("t", path)], anew=True)
    shutil.rmtree(path.removeprefix("file:"))
    spark.range(3).write.format("delta").save(path)
    (after,) = pin(jvm.begin(), [("t", path)], anew=True)
    assert after.version == before.version and after.table_id != before.table_id


@pytest.mark.parametrize("elsewhere", ["s3a://bucket/t", "file:/no/such/table", "file:/a%20b", "/plain"])
def test_only_local_folders_tell(elsewhere: str) -> None:
    assert look(elsewhere) is None


def test_logs_whose_commits_a_catalog_decides_on_do_not_tell(path: str) -> None:
    staged = Path(path.removeprefix("file:"), "_delta_log", "_staged_commits")
    staged.mkdir(exist_ok=True)
    assert look(path) is not None
    (staged / "00000000000000000001.0a1b.json").touch()
    assert look(path) is None


def test_a_version_whose_commit_is_gone_does_not_tell(path: str) -> None:
    log = Path(path.removeprefix("file:"), "_delta_log")
    (log / f"{1:020d}.checkpoint.parquet").touch()
    assert look(path) is None
    (log / f"{1:020d}.checkpoint.parquet").unlink()
    assert look(path) is not None
    (log / f"{0:020d}.json").unlink()
    assert look(path) is None


def test_what_may_be_out_of_date_is_not_remembered(jvm: Jvm, path: str) -> None:
    """Neither a version that is not the one in the folder, nor what is known from earlier in a refresh."""
    given = iter([(-1, "behind"), (0, "not anew"), (0, "anew"), (0, "never asked for")])

    def read(jvm: Jvm, path: str, anew: bool) -> tuple[int, str]:
        return next(given)

    assert remembered(jvm, path, read) == (-1, "behind")
    assert remembered(jvm, path, read, anew=False) == (0, "not anew")
    assert remembered(jvm, path, read) == (0, "anew")
    assert remembered(jvm, path, read, anew=False) == (0, "anew")


def test_a_commit_between_look_and_reading(spark: SparkSession, jvm: Jvm, path: str) -> None:
    def read(jvm: Jvm, path: str, anew: bool) -> tuple[int, str]:
        append(spark, path)
        (found,) = pin(jvm, [("t", path)], anew=True)
        return found.version, f"version {found.version}"

    assert remembered(jvm, path, read) == (1, "version 1")
    assert remembered(jvm, path, read) == (2, "version 2")
