"""Parts of an update that need no Spark."""

from __future__ import annotations

import pytest

from rennet.errors import ConcurrentRefreshError
from rennet.pipelines import update
from rennet.pipelines.builders import Built


def test_another_writer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(update.time, "sleep", waits.append)
    failures = [ConcurrentRefreshError("first"), ConcurrentRefreshError("second")]

    def build() -> Built:
        if failures:
            raise failures.pop()
        return Built("done")

    assert update._patiently(build).summary == "done"
    assert waits == [0.5, 1.0]


def test_another_writer_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(update.time, "sleep", waits.append)

    def build() -> Built:
        raise ConcurrentRefreshError("again")

    with pytest.raises(ConcurrentRefreshError):
        update._patiently(build)
    assert len(waits) == update.ATTEMPTS - 1
