"""The plans in docs/operators are those rennet makes: each example is explained, and compared with the page.

An example is a block of SQL, or of Python with one function; the next block of text is what EXPLAIN says of
it. With RENNET_WRITE_DOCS=1 the pages are written instead of compared.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rennet import Engine
from rennet.delta.rules import RULES
from rennet.delta.temporal import TEMPORAL_RULES
from rennet.sql.parse import split

HERE = Path(__file__).parents[2] / "docs" / "operators"
PAGES = sorted(path for path in HERE.glob("*.md") if path.name != "README.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"#\d+L?")
"""Spark numbers columns, differently in every run."""
SCHEMA = "docs_operators"


@pytest.fixture(scope="module")
def engine(spark: SparkSession) -> Any:
    """The tables of the examples, in a schema of their own."""
    before = spark.catalog.currentDatabase()
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    spark.catalog.setCurrentDatabase(SCHEMA)
    (_, text), *_ = BLOCK.findall((HERE / "README.md").read_text())
    for statement in split(text):
        spark.sql(statement)
    yield Engine(spark)
    spark.catalog.setCurrentDatabase(before)
    spark.sql(f"DROP SCHEMA {SCHEMA} CASCADE")


def explained(engine: Engine, language: str, example: str) -> str:
    """What rennet says of an example."""
    if language == "sql":
        return str(engine.explain(example.strip()))
    names: dict[str, Any] = {}
    exec(example, names)
    (function,) = (value for name, value in names.items() if callable(value) and not name.startswith("__"))
    return str(engine.explain(function))


def with_plans(engine: Engine, page: str) -> str:
    """The page with every plan as it is now."""
    example: tuple[str, str] | None = None

    def written(block: re.Match[str]) -> str:
        nonlocal example
        language, text = block.groups()
        if language != "text":
            example = (language, text)
            return block.group()
        assert example is not None, "a plan without an example"
        plan = explained(engine, *example).replace(f"spark_catalog.{SCHEMA}.", "")
        return f"```text\n{NUMBER.sub('', plan)}\n```"

    return BLOCK.sub(written, page)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_plans_of_the_page(engine: Engine, path: Path) -> None:
    page = path.read_text()
    now = with_plans(engine, page)
    if os.environ.get("RENNET_WRITE_DOCS"):
        path.write_text(now)
    else:
        assert page == now


def test_the_index_names_every_page() -> None:
    index = (HERE / "README.md").read_text()
    assert [path.name for path in PAGES if f"({path.name})" not in index] == []


def test_every_law_is_on_a_page() -> None:
    pages = re.sub(r"\s+", "", "".join(path.read_text() for path in PAGES))
    rules = (*RULES.values(), *TEMPORAL_RULES.values())
    laws = {rule.__name__: (rule.__doc__ or "").splitlines()[0] for rule in rules}
    missing = [name for name, law in laws.items() if re.sub(r"\s+", "", law.split(",")[0]) not in pages]
    assert missing == []
