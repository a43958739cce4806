from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from rennet.cli import main as cli
from tests.cli.fakes import FakeEngine


@dataclass(frozen=True)
class Ran:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        (line,) = self.out.splitlines()
        return json.loads(line)


@dataclass
class Shell:
    """Runs command lines in this process, on a fake engine."""

    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def run(self, *arguments: str, **answers: Any) -> Ran:
        return self.on(FakeEngine(**answers), *arguments)

    def on(self, engine: Any, *arguments: str) -> Ran:
        @contextmanager
        def opened(warehouse: str | None, activity: Any) -> Iterator[Any]:
            self.warehouse = warehouse
            yield engine

        self.monkeypatch.setattr(cli, "opened", opened)
        code = cli.main(arguments)
        captured = self.capsys.readouterr()
        return Ran(code, captured.out, captured.err)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)
