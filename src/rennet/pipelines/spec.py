"""`spark-pipeline.yml`: where a project's files are and where its tables go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rennet.errors import PipelineError, StatementError
from rennet.sql.parse import read_schedule
from rennet.sql.schedule import Schedule

NAMES = ("spark-pipeline.yaml", "spark-pipeline.yml")
FIELDS = ("name", "storage", "catalog", "database", "schema", "configuration", "libraries")

SCHEDULE = "rennet.schedule"
"""The setting that holds a pipeline's schedule, in the words of SQL."""


@dataclass(frozen=True)
class Spec:
    """One project's specification, checked."""

    name: str
    root: Path
    storage: str
    catalog: str | None
    database: str | None
    configuration: Mapping[str, str]
    libraries: tuple[str, ...]
    """Paths of files, or of folders with all that is below them (`dir/**`)."""
    path: Path = Path("spark-pipeline.yml")
    """The file it was read from."""

    def files(self) -> list[Path]:
        """The project's source files, in the order of their names."""
        found: dict[Path, None] = {}
        for pattern in self.libraries:
            deep = f"{pattern}/*" if pattern.endswith("/**") else pattern
            matching = sorted(path for path in self.root.glob(deep) if path.is_file())
            found.update(dict.fromkeys(p for p in matching if "__pycache__" not in p.parts))
        for path in found:
            if path.suffix not in (".py", ".sql"):
                raise PipelineError(f"{path.relative_to(self.root)} is neither a .py nor a .sql file.")
        return list(found)

    def schedule(self) -> Schedule | None:
        """When `rennet watch` is to update it: a setting, so that Spark's own tool takes the file too."""
        text = self.configuration.get(SCHEDULE)
        try:
            return read_schedule(text) if text is not None else None
        except StatementError as error:
            raise PipelineError(f"{self.path.name}: {SCHEDULE}: {error.message}", error.hint) from error

    def storage_path(self) -> Path:
        """Where checkpoints and the event log are, as a folder of this machine."""
        if "://" in self.storage and not self.storage.startswith("file://"):
            raise PipelineError(f"The storage {self.storage} is not a folder of this machine.")
        return self.root / self.storage.removeprefix("file://")


def find_spec(folder: Path) -> Path:
    """The specification in a folder or the nearest folder above it."""
    for place in (folder, *folder.parents):
        found = [place / name for name in NAMES if (place / name).is_file()]
        if len(found) > 1:
            raise PipelineError(f"There are two specifications in {place}.", "Keep one of them.")
        if found:
            return found[0]
    raise PipelineError(f"There is no {NAMES[1]} in {folder} or above it.", "`rennet init` makes one.")


def load_spec(path: Path) -> Spec:
    """Read and check a specification."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PipelineError(f"{path} cannot be read: {error.strerror}.") from error
    except yaml.YAMLError as error:
        raise PipelineError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    problem = _problem(found)
    if problem:
        raise PipelineError(f"{path}: {problem}.")
    libraries = tuple(entry["glob"]["include"] for entry in found.get("libraries") or [])
    return Spec(
        found["name"],
        path.parent.resolve(),
        found["storage"],
        found.get("catalog"),
        found.get("database", found.get("schema")),
        dict(found.get("configuration") or {}),
        libraries,
        path.resolve(),
    )


def _problem(found: Any) -> str:
    """What is wrong with a specification, or nothing."""
    if not isinstance(found, dict):
        return "there is nothing in it"
    for key in found:
        if key not in FIELDS:
            return f"{key} is not one of {', '.join(FIELDS)}"
    for key in ("name", "storage"):
        if not isinstance(found.get(key), str):
            return f"{key} is missing"
    configuration = found.get("configuration") or {}
    if not isinstance(configuration, dict):
        return "configuration is not a mapping"
    for key, value in configuration.items():
        if not isinstance(key, str) or not isinstance(value, str):
            return f"configuration: {key} and its value must be strings"
    if found.get("catalog") not in (None, "spark_catalog"):
        return "the catalog must be spark_catalog"
    return next(filter(None, map(_library_problem, found.get("libraries") or [])), "")


def _library_problem(entry: Any) -> str:
    try:
        pattern = entry["glob"]["include"]
    except (KeyError, TypeError):
        return "every entry of libraries must be a glob with an include"
    if any(magic in pattern.removesuffix("/**") for magic in "*?["):
        return f"{pattern} is neither a file nor a folder followed by /**"
    return ""
