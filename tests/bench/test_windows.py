"""The window benchmark, small: it must run, agree, and read less than the query does."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from rennet.bench.windows import run


@pytest.mark.slow
def test_a_day_more(spark: SparkSession) -> None:
    moving, running = run(spark, keys=300)
    assert moving["verified"] and running["verified"]
    assert (moving["inserted"], moving["deleted"]) == (300, 0)
    assert moving["share"] < 0.55
    assert running["refresh reads"] == 300
