"""The golden file: the name of each query of the corpus and its fingerprint."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from rennet.enable.order import with_ties_broken, without_order
from rennet.enable.picks import with_picks_decided
from rennet.execute.functions import code_of
from rennet.fingerprint.canonical import canonical, fingerprint
from rennet.jvm import Jvm
from rennet.normalize.rules import normalize
from rennet.normalize.subqueries import subqueries_to_joins
from rennet.plan.catalyst import read
from rennet.plan.ir import Constant, Node, Scan
from tests.corpus.sql import SQL

GOLDEN = Path(__file__).with_name("golden_v2.txt")
SCHEMA = "golden"
ZONE = "UTC"


def recorded() -> dict[str, str]:
    """The lines of the file; those that begin with # are remarks."""
    lines = GOLDEN.read_text().splitlines() if GOLDEN.exists() else []
    return dict(line.split() for line in lines if line and not line.startswith("#"))  # type: ignore[misc]


def current(jvm: Jvm, names: Iterable[str]) -> dict[str, str]:
    return {name: fingerprint(meaning(jvm, SQL[name])) for name in names}


def meaning(jvm: Jvm, text: str) -> str:
    """As `plan_query` makes it, of tables without the folder they lie in."""
    frame = jvm.spark.sql(text)
    plan = subqueries_to_joins(read(jvm, normalize(jvm, jvm.analyzed(frame)), code_of))
    answer = with_picks_decided(with_ties_broken(without_order(plan.transform_up(_placeless))))
    return canonical(answer, tuple(frame.columns))


def _placeless(node: Node) -> Node:
    if isinstance(node, Scan):
        return replace(node, source=node.source.rpartition("/")[2])
    if isinstance(node, Constant) and "/" in node.kind:
        return replace(node, kind=node.kind.rpartition("/")[2])
    return node


def append(spark: SparkSession) -> int:
    """Add what is not there yet, unless it depends on where files lie; the number of new lines."""
    jvm, known, made = Jvm.of(spark), recorded(), []
    for name in SQL:
        if name in known:
            continue
        text = meaning(jvm, SQL[name])
        if "file:" not in text:
            made.append(f"{name} {fingerprint(text)}")
    with GOLDEN.open("a") as file:
        file.writelines(f"{line}\n" for line in made)
    return len(made)


def main(warehouse: str) -> None:
    from rennet.session import session
    from tests.conftest import SETTINGS
    from tests.corpus.data import create

    spark = session(warehouse=warehouse, cores=2, memory="2g", config=SETTINGS)
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    create(spark, SCHEMA)
    print(append(spark), "lines added")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
