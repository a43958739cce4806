"""Warehouses that a command makes for itself."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rennet.errors import AlreadyExistsError


@contextmanager
def own_warehouse(keep: str | None, prefix: str) -> Iterator[Path]:
    """A folder that is gone afterwards, or one to keep that was not there before."""
    if keep is None:
        place = Path(tempfile.mkdtemp(prefix=prefix))
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return
    place = Path(keep)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise AlreadyExistsError(f"{keep} is there already and not empty.", "Name a new folder.")
    yield place
