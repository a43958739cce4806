"""spark-pipeline.yml: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rennet.errors import PipelineError
from rennet.pipelines.spec import find_spec, load_spec
from rennet.sql.schedule import Every

GOOD = """
name: shop
storage: file:///tmp/storage
catalog: spark_catalog
schema: sales
configuration:
  spark.sql.ansi.enabled: "false"
libraries:
  - glob: {include: transformations/**}
  - glob: {include: one.sql}
"""


def write(folder: Path, text: str, name: str = "spark-pipeline.yml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_specification_is_read(tmp_path: Path) -> None:
    spec = load_spec(write(tmp_path, GOOD))
    assert (spec.name, spec.database, spec.storage_path()) == ("shop", "sales", Path("/tmp/storage"))
    assert spec.configuration == {"spark.sql.ansi.enabled": "false"}


def test_a_schedule_is_a_setting(tmp_path: Path) -> None:
    settings = 'configuration:\n  rennet.schedule: "{}"\n'
    text = "name: x\nstorage: y\n" + settings.format("SCHEDULE EVERY 2 HOURS")
    assert load_spec(write(tmp_path, text)).schedule() == Every(2, "HOURS")
    assert load_spec(write(tmp_path, GOOD)).schedule() is None
    spec = load_spec(write(tmp_path, "name: x\nstorage: y\n" + settings.format("NOW AND THEN")))
    with pytest.raises(PipelineError, match=r"rennet\.schedule: .*SCHEDULE or TRIGGER"):
        spec.schedule()


def test_files_are_found_below_folders(tmp_path: Path) -> None:
    deep = tmp_path / "transformations" / "deep"
    (deep / "__pycache__").mkdir(parents=True)
    for file in (deep / "b.py", deep.parent / "a.sql", tmp_path / "one.sql", tmp_path / "other.sql"):
        file.touch()
    (deep / "__pycache__" / "b.pyc").touch()
    spec = load_spec(write(tmp_path, GOOD))
    assert [path.name for path in spec.files()] == ["a.sql", "b.py", "one.sql"]
    (deep / "notes.txt").touch()
    with pytest.raises(PipelineError, match="neither"):
        spec.files()


def test_the_nearest_specification_is_found(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    path = write(tmp_path, GOOD)
    assert find_spec(below) == path
    write(tmp_path, GOOD, "spark-pipeline.yaml")
    with pytest.raises(PipelineError, match="two"):
        find_spec(below)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing in it"),
        ("name: x", "storage is missing"),
        ("name: x\nstorage: y\nother: z", "other is not one of"),
        ("name: x\nstorage: y\nconfiguration: {a: 1}", "must be strings"),
        ("name: x\nstorage: y\ncatalog: unity", "spark_catalog"),
        ("name: x\nstorage: y\nlibraries: [a]", "glob"),
        ("name: x\nstorage: y\nlibraries: [{glob: {include: 'a/*.py'}}]", "neither"),
        ("name: [", "not YAML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(PipelineError, match=said):
        load_spec(write(tmp_path, text))
