"""`from rennet import pipelines as dp` has all that Spark's own module has."""

from __future__ import annotations

import inspect

import pytest
from pyspark import pipelines as theirs

from rennet import pipelines as ours

NAMES = sorted(theirs.__all__)


def test_there_is_something_to_compare() -> None:
    assert {"materialized_view", "table", "temporary_view", "append_flow", "create_sink"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there_with_every_parameter(name: str) -> None:
    wanted = inspect.signature(getattr(theirs, name)).parameters
    found = inspect.signature(getattr(ours, name)).parameters
    assert set(wanted) <= set(found)
