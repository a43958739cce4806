"""Which Spark and which Delta are accepted."""

from __future__ import annotations

import pytest

from rennet.api import Engine
from rennet.errors import SessionError
from rennet.jvm import Jvm
from rennet.storage import versions


@pytest.mark.parametrize("what", ["SPARK", "DELTA_LAKE"])
def test_others_are_refused_before_anything_is_done(
    jvm: Jvm, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    versions.check_versions(jvm)
    monkeypatch.setattr(versions, what, "9.")
    with pytest.raises(SessionError, match=r"needs Spark .* 9\.|needs Spark 9\."):
        Engine(jvm.spark)
