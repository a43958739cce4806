"""Reads a project's files: Python is run with `spark` in its globals, SQL is parsed."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from rennet.errors import RennetError
from rennet.pipelines.definitions import Location, Project
from rennet.pipelines.graph import InvalidGraphError, Problem
from rennet.pipelines.registry import Registry, registering
from rennet.pipelines.spec import Spec
from rennet.pipelines.sqlfiles import LocatedError


def load(spec: Spec, spark: SparkSession) -> Project:
    """Everything the project defines, or what is wrong with any of its files; nothing is computed."""
    registry = Registry(spec.root, spec.database)
    problems: list[Problem] = []
    with inside_folder(spec.root), registering(registry):
        for file in spec.files():
            name = file.relative_to(spec.root)
            if file.suffix == ".py":
                problems += _run(file, spec.root, spark)
                continue
            try:
                registry.register_sql(file.read_text(encoding="utf-8"), name)
            except LocatedError as error:
                problems.append(Problem(error.location, error.code, f"{error.said} {error.hint}".strip()))
    if problems:
        raise InvalidGraphError(problems)
    return registry.project


def _run(file: Path, root: Path, spark: SparkSession) -> list[Problem]:
    """Run a Python file; what it raises is a problem of the line it came from."""
    made = importlib.util.spec_from_file_location(file.stem, str(file))
    assert made is not None and made.loader is not None
    module = importlib.util.module_from_spec(made)
    module.__dict__["spark"] = spark
    try:
        made.loader.exec_module(module)
    except Exception as error:
        where = Location(str(file.relative_to(root)), _line(error, file))
        if isinstance(error, RennetError):
            return [Problem(where, error.code, error.message)]
        return [Problem(where, "FILE_FAILED", f"{type(error).__name__}: {error}")]
    return []


def _line(error: Exception, file: Path) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    return frames[-1].lineno if frames else None


@contextmanager
def inside_folder(root: Path) -> Iterator[None]:
    """Relative paths and imports mean the project's folder, as they do for `spark-pipelines`."""
    before = Path.cwd()
    os.chdir(root)
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))
        os.chdir(before)
