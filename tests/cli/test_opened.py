"""Errors of a JVM that is gone by the time they are shown."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from rennet.cli import main as cli
from rennet.cli.progress import Activity


class Gone:
    """An exception of a JVM that answers until it is closed."""

    def __init__(self) -> None:
        self.closed = False
        self._target_id, self._gateway_client = "o1", self

    def send_command(self, _: str) -> str:
        if self.closed:
            raise ConnectionRefusedError
        return "!ysjava.io.IOException: no space left"

    def getMessage(self) -> str:  # noqa: N802
        return "no space left"

    def getCause(self) -> None:  # noqa: N802
        return None


def test_what_the_jvm_said_is_told_after_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    jvm = Gone()
    monkeypatch.setattr(cli, "session", lambda _: None)
    monkeypatch.setattr(cli, "Engine", lambda _: None)
    monkeypatch.setattr(cli, "close", lambda _: setattr(jvm, "closed", True))
    java: Any = jvm
    with pytest.raises(RuntimeError) as caught, cli.opened(None, Activity()):
        raise Py4JJavaError("An error occurred.", java)
    assert jvm.closed
    assert cli.described(caught.value)[2] == "RuntimeError: no space left"
