"""What a run found, in a file that is complete after every single measurement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rennet.errors import AlreadyExistsError, RennetError

FORMAT = 1
LISTS = ("ingests", "refreshes", "forced", "overwrites", "references", "checks")
"""What a record lists: batches ingested; refreshes of whole pipelines, AUTO and FULL; refreshes with
a technique forced; the same queries by Spark without rennet; DuckDB's computations; checks."""

Entry = dict[str, Any]


class RecordError(RennetError):
    """A file that is no record, or one of another run."""

    code = "NOT_A_RECORD"


class Record:
    """The document of one run."""

    def __init__(self, document: dict[str, Any], path: Path | None = None) -> None:
        self.document = document
        self.path = path

    @staticmethod
    def new(about: Entry, path: Path | None) -> Record:
        """An empty record, written with its first entry. A file that is there is never overwritten."""
        if path is not None and path.exists():
            raise AlreadyExistsError(
                f"{path} is there already.", "Go on with it by --resume, or name another."
            )
        return Record({"benchmark": "tpcdi", "format": FORMAT, **about, **{each: [] for each in LISTS}}, path)

    @staticmethod
    def resumed(about: Entry, path: Path) -> Record:
        """The record in a file, if it is one of such a run; a new one if there is no file."""
        if not path.exists():
            return Record.new(about, path)
        found = read(path)
        for name in ("settings", "variant"):
            if found.document[name] != about[name]:
                was, now = found.document[name], about[name]
                raise RecordError(
                    f"{path} is of another run: its {name} is {was}, not {now}.", "Name another."
                )
        return found

    def add(self, kind: str, **entry: Any) -> Entry:
        """Note something, and write the file."""
        self.document.setdefault(kind, []).append(entry)
        self.save()
        return entry

    def find(self, kind: str, **wanted: Any) -> list[Entry]:
        """The entries with these values."""
        return [
            each for each in self.document.get(kind, ()) if all(each.get(n) == v for n, v in wanted.items())
        ]

    def save(self) -> None:
        """Replace the file at once, so that a run that is killed leaves a whole one."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f"{self.path.name}.part")
        draft.write_text(json.dumps(self.document, indent=1) + "\n", encoding="utf-8")
        draft.replace(self.path)


def read(path: Path) -> Record:
    """The record in a file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise RecordError(f"{path} is not JSON: {error}.") from error
    if not isinstance(document, dict) or document.get("benchmark") != "tpcdi":
        raise RecordError(f"{path} was not written by rennet bench tpcdi run.")
    if document.get("format") != FORMAT:
        raise RecordError(f"{path} has format {document.get('format')}, not {FORMAT}.")
    return Record(document, path)
