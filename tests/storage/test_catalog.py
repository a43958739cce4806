"""What the catalog says of names: asked once, and again when anything in it changed, whoever changed it."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rennet.jvm import Jvm
from rennet.storage import catalog
from rennet.storage.catalog import ANSWERS, catalog_table
from rennet.storage.names import ViewName
from rennet.storage.tables import location_of
from tests.storage.conftest import Tables


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ViewName]:
    """The names that the metastore was asked for."""
    names: list[ViewName] = []
    question = catalog._asked

    def noted(jvm: Jvm, name: ViewName) -> object:
        names.append(name)
        return question(jvm, name)

    monkeypatch.setattr(catalog, "_asked", noted)
    return names


def place(jvm: Jvm, name: ViewName) -> str | None:
    found = location_of(jvm, name)
    return None if found is None else found.removeprefix("file:")


def test_an_embedded_catalog_is_asked_once(jvm: Jvm, tables: Tables, asked: list[ViewName]) -> None:
    table, path = tables.make("k INT")
    name = ViewName("default", table)
    for bridge in (jvm, jvm.begin(), jvm.clone()):
        assert place(bridge, name) == path
    assert catalog_table(jvm, ViewName("default", "never_made")) is None
    assert catalog_table(jvm, ViewName("never_made", "at_all")) is None
    assert len(asked) == 3
    assert catalog_table(jvm, ViewName("default", "never_made")) is None
    assert len(asked) == 3


@pytest.mark.parametrize("elsewhere", [False, True])
def test_every_change_is_seen(jvm: Jvm, tables: Tables, elsewhere: bool) -> None:
    """Also those of other sessions, and of what Delta does by itself."""
    spark = tables.spark.newSession() if elsewhere else tables.spark
    (first, path), (second, other) = tables.make("k INT"), tables.make("k INT")
    name, wanted = ViewName("default", first), ViewName("default", second)
    assert (place(jvm, name), place(jvm, wanted)) == (path, other)
    spark.sql(f"ALTER TABLE default.{first} RENAME TO default.{first}_before")
    assert place(jvm, name) is None
    spark.sql(f"ALTER TABLE default.{second} RENAME TO default.{first}")
    assert (place(jvm, name), place(jvm, wanted)) == (other, None)
    spark.sql(f"DROP TABLE default.{first}")
    assert place(jvm, name) is None
    spark.sql(f"CREATE VIEW default.{first} TBLPROPERTIES ('who' = 'a') AS SELECT 1 AS one")
    described = catalog_table(jvm, name)
    assert described is not None and jvm.entry(described.properties(), "who") == "a"
    spark.sql(f"ALTER VIEW default.{first} SET TBLPROPERTIES ('who' = 'b')")
    described = catalog_table(jvm, name)
    assert described is not None and jvm.entry(described.properties(), "who") == "b"
    spark.sql(f"DROP VIEW default.{first}")
    assert catalog_table(jvm, name) is None


def test_a_schema_that_goes_takes_its_tables_along(jvm: Jvm, spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA soon_gone")
    spark.sql("CREATE TABLE soon_gone.t (k INT) USING delta")
    assert catalog_table(jvm, ViewName("soon_gone", "t")) is not None
    spark.sql("DROP SCHEMA soon_gone CASCADE")
    assert catalog_table(jvm, ViewName("soon_gone", "t")) is None


def test_one_that_others_use_is_asked_in_every_piece_of_work(
    jvm: Jvm, tables: Tables, asked: list[ViewName], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, path = tables.make("k INT")
    monkeypatch.setitem(jvm.spark.sparkContext.__dict__, ANSWERS, None)
    work = jvm.begin()
    for bridge in (work, work, jvm.begin()):
        assert place(bridge, ViewName("default", table)) == path
    assert len(asked) == 2


@dataclass
class Hive:
    """Its settings, as its client tells them."""

    settings: dict[str, str]

    def client(self) -> Hive:
        return self

    def getConf(self, name: str, otherwise: str) -> str:  # noqa: N802
        return self.settings.get(name, otherwise)


@pytest.mark.parametrize(
    ("kind", "address", "uris", "embedded"),
    [
        ("HiveExternalCatalog", "jdbc:derby:;databaseName=/w/metastore;create=true", "", True),
        ("HiveExternalCatalog", "jdbc:derby:memory:m;create=true", " ", True),
        ("HiveExternalCatalog", "jdbc:derby://host:1527/m", "", False),
        ("HiveExternalCatalog", "jdbc:postgresql://host/m", "", False),
        ("HiveExternalCatalog", "jdbc:derby:;databaseName=m", "thrift://host:9083", False),
        ("HiveExternalCatalog", "", "", False),
        ("InMemoryCatalog", "", "", True),
        ("SomeoneElsesCatalog", "jdbc:derby:m", "", False),
    ],
)
def test_which_have_room_for_one_process(kind: str, address: str, uris: str, embedded: bool) -> None:
    settings = {"javax.jdo.option.ConnectionURL": address, "hive.metastore.uris": uris}

    class Unwrapped(Hive):
        def getClass(self) -> Any:  # noqa: N802
            return SimpleNamespace(getSimpleName=lambda: kind)

    state = SimpleNamespace(externalCatalog=lambda: SimpleNamespace(unwrapped=lambda: Unwrapped(settings)))
    told: Any = SimpleNamespace(session=SimpleNamespace(sharedState=lambda: state))
    assert catalog._embedded(told) is embedded
