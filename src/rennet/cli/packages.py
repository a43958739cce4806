"""Packages that only some commands need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rennet.errors import RennetError

PACKAGES = {"numpy": "bench", "duckdb": "bench", "matplotlib": "bench", "grpc": "compare"}
"""Packages, and the extra of rennet that brings each."""


class MissingPackageError(RennetError):
    """A package that only benchmarks need is not installed."""

    code = "PACKAGE_NOT_INSTALLED"


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """A package that cannot be imported inside is an error that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = PACKAGES.get(str(error.name).partition(".")[0])
        if extra is None:
            raise
        install = f"Install it with: pip install 'rennet[{extra}]'"
        raise MissingPackageError(f"{what} needs {error.name}, which is not here.", install) from error
