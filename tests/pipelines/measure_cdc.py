"""AUTO CDC beside a bare MERGE of the same batches: `python -m tests.pipelines.measure_cdc`.

A million keys, then batches of 50,000 changes, one in twenty a delete. The MERGE keeps no deleted keys, so it
cannot place late events; it is here for its time only.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rennet.jvm import Jvm
from rennet.pipelines.cdc.apply import apply, create_target
from rennet.pipelines.cdc.options import CdcOptions
from rennet.session import close, session
from rennet.storage.names import ViewName

KEYS, CHANGES, BATCHES = 1_000_000, 50_000, 4
MERGE = """
MERGE INTO merged t
USING (SELECT id, max_by(struct(n, a, b, op), n) AS new FROM batch GROUP BY id) s ON t.id = s.id
WHEN MATCHED AND s.new.n > t.n AND s.new.op = 'D' THEN DELETE
WHEN MATCHED AND s.new.n > t.n THEN UPDATE SET n = s.new.n, a = s.new.a, b = s.new.b
WHEN NOT MATCHED AND s.new.op <> 'D' THEN INSERT (id, n, a, b) VALUES (s.id, s.new.n, s.new.a, s.new.b)
"""


def events(spark: SparkSession, number: int) -> DataFrame:
    """The first batch has every key, each later one some of them."""
    rows = spark.range(KEYS if number == 0 else CHANGES)
    return rows.select(
        F.expr(f"(id * 19 + {number * 7}) % {KEYS}").alias("id") if number else F.col("id"),
        F.lit(number).cast("bigint").alias("n"),
        F.expr(f"id % 5 + {number}").alias("a"),
        F.expr("concat('name', id)").alias("b"),
        F.expr(f"if(id % 20 = 0 AND {number} > 0, 'D', 'U')").alias("op"),
    )


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    spark = session(tempfile.mkdtemp(), cores=2)
    jvm = Jvm.of(spark)
    first = events(spark, 0)
    targets = {}
    for scd_type in (1, 2):
        # A type 2 table has the sequence in __START_AT.
        left_out = ("op",) if scd_type == 1 else ("op", "n")
        options = CdcOptions(("id",), ("n",), scd_type, "op = 'D'", except_column_list=left_out)
        table = create_target(jvm, ViewName("default", f"type_{scd_type}"), first.schema, options)
        targets[scd_type] = (table, options)
        apply(jvm, table, first, options)
    vectors = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    spark.sql(f"CREATE TABLE merged (id BIGINT, n BIGINT, a BIGINT, b STRING) USING delta {vectors}")
    first.drop("op").write.mode("append").saveAsTable("merged")
    for number in range(1, BATCHES + 1):
        batch = events(spark, number)
        batch.createOrReplaceTempView("batch")
        work = {f"type {t}": partial(apply, jvm, table, batch, o) for t, (table, o) in targets.items()}
        work["MERGE"] = partial(spark.sql, MERGE)
        seconds = {what: timed(work[what]) for what in ("type 1", "MERGE", "type 2")}
        print(", ".join(f"{what} {taken:.1f} s" for what, taken in seconds.items()), flush=True)
    close(spark)


if __name__ == "__main__":
    main()
