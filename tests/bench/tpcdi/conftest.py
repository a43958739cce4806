"""A small generated folder, and the tables DuckDB makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rennet.bench.tpcdi.generator import Generated, generate
from rennet.bench.tpcdi.reference import Reference
from rennet.bench.tpcdi.settings import Settings


@dataclass(frozen=True)
class Folder:
    """A generated data set."""

    path: Path
    settings: Settings
    generated: Generated

    def rows(self, batch: int, name: str) -> list[list[str]]:
        """The rows of a file, split into columns."""
        separator = "," if name.endswith(".csv") else "|"
        return [line.split(separator) for line in self.lines(batch, name)]

    def lines(self, batch: int, name: str) -> list[str]:
        """The lines of a file, without their ends."""
        text = (self.path / f"Batch{batch}" / name).read_bytes().decode("ascii")
        *lines, rest = text.split("\r\n")
        assert rest == ""
        return lines

    def names(self, batch: int) -> list[str]:
        """The files of a batch, those for audits left out."""
        found = (path.name for path in (self.path / f"Batch{batch}").iterdir())
        return sorted(name for name in found if not name.endswith("_audit.csv"))


def made(path: Path, settings: Settings) -> Folder:
    """Generate into a folder."""
    return Folder(path, settings, generate(settings, path))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A fifth of a scale unit, four batches."""
    return made(tmp_path_factory.mktemp("small"), Settings(scale=0.2, batches=4, seed=11))


@pytest.fixture(scope="session")
def long(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Many batches, so that what is random in each evens out."""
    return made(tmp_path_factory.mktemp("long"), Settings(scale=1, batches=25, seed=5))


@pytest.fixture(scope="session")
def tables(small: Folder) -> Iterator[list[Reference]]:
    """The tables after each batch of `small`."""
    made = [Reference(small.path, batch) for batch in range(1, small.settings.batches + 1)]
    yield made
    for each in made:
        each.__exit__()


@pytest.fixture(scope="session")
def final(tables: list[Reference]) -> Reference:
    """The tables after the last batch."""
    return tables[-1]
