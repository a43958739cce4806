"""The window benchmark, small: it must run, agree, and read less than the query does."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from rennet.bench.windows import run


@pytest.mark.slow
def test_a_day_more(spark: SparkSession) -> None:
    moving, by_number, running = run(spark, keys=300)
    assert running["verified"]
    for each in (moving, by_number):
        assert each["verified"]
        assert (each["inserted"], each["deleted"]) == (300, 0)
        assert each["share"] < 0.55
    assert running["refresh reads"] == 300
