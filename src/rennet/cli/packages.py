"""Packages that only some commands need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rennet.errors import RennetError

PACKAGES = ("numpy", "duckdb", "matplotlib")
"""What `rennet[bench]` brings."""


class MissingPackageError(RennetError):
    """A package that only benchmarks need is not installed."""

    code = "PACKAGE_NOT_INSTALLED"


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """A package that cannot be imported inside is an error that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in PACKAGES:
            raise
        install = "Install it with: pip install 'rennet[bench]'"
        raise MissingPackageError(f"{what} needs {error.name}, which is not here.", install) from error
