"""The files: written as they are made, counted as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import BinaryIO

import numpy as np

from rennet.bench.tpcdi.generator.draws import Ints, Mask, Stream
from rennet.bench.tpcdi.generator.text import Chars, below_each_other, fixed, packed
from rennet.bench.tpcdi.settings import Settings

AUDIT_HEADER = "DataSet, BatchID ,Date , Attribute , Value, DValue\r\n"


@dataclass(frozen=True)
class Written:
    """One file that is there."""

    batch: int
    name: str
    rows: int
    bytes: int


class Sink:
    """An open file; what is written is counted."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self.rows = 0
        self.bytes = 0

    def write(self, lines: Chars) -> None:
        """Whole lines, one per row."""
        self.rows += len(lines)
        self.text(packed(lines))

    def text(self, content: bytes) -> None:
        """Anything else; not counted as rows."""
        self.bytes += len(content)
        self._handle.write(content)


@dataclass
class Files:
    """The folder of one generated data set."""

    root: Path
    written: list[Written] = field(default_factory=list)
    _audits: dict[tuple[int, str], list[str]] = field(default_factory=dict)

    @contextmanager
    def open(self, batch: int, name: str) -> Iterator[Sink]:
        """A new file of a batch."""
        path = self.root / f"Batch{batch}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as handle:
            sink = Sink(handle)
            yield sink
        self.written.append(Written(batch, name, sink.rows, sink.bytes))

    def audit(
        self, batch: int, data_set: str, attribute: str, value: int | str, day: date | None = None
    ) -> None:
        """Note a figure that a check of the loaded data may compare with."""
        when = "" if day is None else day.isoformat()
        line = f"{data_set},{batch or ''},{when},{attribute},{value},\r\n"
        self._audits.setdefault((batch, data_set), []).append(line)

    def write_audits(self) -> None:
        """Write the noted figures: beside the data of a batch, or at the top for batches as such."""
        for (batch, data_set), noted in self._audits.items():
            at_top = data_set in ("Batch", "Generator")
            folder = self.root if at_top else self.root / f"Batch{batch}"
            name = f"Batch{batch}" if data_set == "Batch" else data_set
            content = AUDIT_HEADER + "".join(noted)
            (folder / f"{name}_audit.csv").write_bytes(content.encode("ascii"))


class Feed:
    """A file of an incremental batch with CDC columns, in the order of CDC_DSN, disturbed if so wished."""

    def __init__(self, files: Files, settings: Settings, name: str) -> None:
        self._files = files
        self._settings = settings
        self._name = name
        self._stream = Stream(settings.seed, f"delivery of {name}")
        self._waiting: tuple[Ints, Chars] | None = None

    def held_back(self, rows: int) -> Mask:
        """A random choice of rows that come late."""
        return self._stream.chance(self._settings.late, rows)

    def deliver(self, batch: int, numbers: Ints, lines: Chars, late: Mask) -> int:
        """Write a batch: its own rows except late ones, and those held back before. Gives their number."""
        if batch == self._settings.batches:
            late = np.zeros(len(numbers), np.bool_)
        coming = (numbers[~late], lines[~late])
        if self._waiting is not None:
            numbers_now = np.concatenate([self._waiting[0], coming[0]])
            coming = (numbers_now, below_each_other([self._waiting[1], coming[1]]))
        self._waiting = (numbers[late], lines[late])
        order = np.argsort(coming[0], kind="stable")
        moved = np.flatnonzero(self._stream.chance(self._settings.out_of_order, len(order)))
        order[moved] = order[moved[self._stream.order(len(moved))]]
        with self._files.open(batch, self._name) as sink:
            sink.write(coming[1][order])
        return len(order)


def flags(rows: int, flag: str = "I") -> Chars:
    """CDC_FLAG for rows that are all of one kind."""
    return fixed(flag, rows)
