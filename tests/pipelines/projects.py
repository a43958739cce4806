"""Projects that tests write: files in a folder, in a schema named after the test."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

from rennet.pipelines.project import Pipeline

SPEC = """
name: {name}
storage: storage
database: {name}
configuration:
  spark.sql.ansi.enabled: "true"
{settings}libraries:
  - glob:
      include: transformations/**
"""
Make = Callable[..., Path]


def write(root: Path, name: str, settings: dict[str, str], **files: str) -> Path:
    """A project of that name; `views_sql` is the file views.sql. Gives its specification."""
    folder = root / "transformations"
    folder.mkdir(exist_ok=True)
    lines = "".join(f'  {key}: "{value}"\n' for key, value in settings.items())
    (root / "spark-pipeline.yml").write_text(SPEC.format(name=name, settings=lines))
    for file, text in files.items():
        stem, _, ending = file.rpartition("_")
        (folder / f"{stem}.{ending}").write_text(textwrap.dedent(text))
    return root / "spark-pipeline.yml"


def drop(folder: Path, name: str, *lines: str) -> None:
    """A file that arrives in landing/."""
    (folder / "landing").mkdir(exist_ok=True)
    (folder / "landing" / name).write_text("\n".join(lines))


def rows(pipeline: Pipeline, name: str) -> list[tuple[object, ...]]:
    """The rows of a dataset, in some fixed order."""
    return sorted(map(tuple, pipeline.jvm.spark.table(f"{pipeline.database}.{name}").collect()), key=repr)
