"""Errors of a JVM that is gone by the time they are shown."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError

from rennet.cli import main as cli
from rennet.cli.progress import Activity


class OfTheJvmError(Py4JJavaError):
    """An error whose text the JVM is asked for whenever it is shown."""

    def __init__(self) -> None:
        self.java_exception = self
        self.ended = False

    def __str__(self) -> str:
        if self.ended:
            raise ConnectionRefusedError
        return "An error occurred.\njava.io.IOException: no space left"

    def getMessage(self) -> str:  # noqa: N802
        return "no space left"

    def getCause(self) -> None:  # noqa: N802
        return None


def test_what_the_jvm_said_is_told_after_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    error = OfTheJvmError()
    monkeypatch.setattr(cli, "session", lambda _: None)
    monkeypatch.setattr(cli, "Engine", lambda _: None)
    monkeypatch.setattr(cli, "close", lambda _: setattr(error, "ended", True))
    with pytest.raises(RuntimeError) as caught, cli.opened(None, Activity()):
        raise error
    assert error.ended
    assert cli.described(caught.value)[2] == "RuntimeError: no space left"
