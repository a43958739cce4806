"""The pipeline's queries, run by Spark, give what DuckDB makes of the raw files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from bench.tpcdi.ingest import ingest
from bench.tpcdi.pipeline import STAGES, VIEWS, query
from rennet.bench.tpcdi.reference import Reference
from rennet.bench.tpcdi.settings import Settings
from tests.bench.tpcdi.conftest import Folder, made

COMPARED = {
    "DimBroker": "SK_BrokerID, BrokerID, ManagerID, EffectiveDate, EndDate",
    "DimCompany": "SK_CompanyID, CompanyID, Status, Name, Industry, EffectiveDate, EndDate",
    "DimSecurity": "SK_SecurityID, Symbol, Status, Dividend, SK_CompanyID, EffectiveDate, EndDate",
    "DimAccount": "*",
    "DimTrade": "*",
    "FactHoldings": "*",
    "FactCashBalances": "*",
    "FactWatches": "*",
    "FactMarketHistory": "*",
    "Prospect": "*",
}
CUSTOMER = (
    "SK_CustomerID, CustomerID, Status, LastName, FirstName, AddressLine1, AddressLine2, PostalCode, "
    "BatchID, EffectiveDate, EndDate"
)


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values that are equal in both engines if they mean the same."""
    return tuple(round(float(value), 2) if isinstance(value, Decimal | float) else value for value in row)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    settings = Settings(scale=0.1, batches=3, seed=21, change_factor=5, late=0.2, out_of_order=0.3)
    return made(tmp_path_factory.mktemp("pipeline"), settings)


@pytest.fixture(scope="module")
def pipeline(spark: SparkSession, folder: Folder) -> Iterator[SparkSession]:
    """All batches ingested, the stages and views over them."""
    spark.sql("CREATE SCHEMA tpcdi")
    spark.sql("USE tpcdi")
    for batch in (1, 2, 3):
        ingest(spark, folder.path, batch)
    for name in (*STAGES, *VIEWS):
        spark.sql(f"CREATE VIEW {name} AS {query(name)}")
    yield spark
    spark.sql("USE default")
    spark.sql("DROP SCHEMA tpcdi CASCADE")


@pytest.fixture(scope="module")
def reference(folder: Folder) -> Iterator[Reference]:
    with Reference(folder.path, 3) as made:
        yield made


@pytest.mark.slow
def test_views_agree_with_the_reference(pipeline: SparkSession, reference: Reference) -> None:
    differing = {}
    for name, columns in COMPARED.items():
        expected = Counter(plain(row) for row in reference.rows(f"SELECT {columns} FROM {name}"))
        found = Counter(plain(tuple(row)) for row in pipeline.sql(f"SELECT {columns} FROM {name}").collect())
        assert found.total() > 0
        if found != expected:
            missing, extra = expected - found, found - expected
            differing[name] = (missing.total(), extra.total(), list(missing)[:2], list(extra)[:2])
    assert differing == {}


@pytest.mark.slow
def test_customers_agree_with_the_reference(pipeline: SparkSession, reference: Reference) -> None:
    expected = Counter(reference.rows(f"SELECT {CUSTOMER} FROM DimCustomerVersion"))
    rows = pipeline.table("DimCustomer").collect()
    found = pipeline.sql(f"SELECT {CUSTOMER} FROM DimCustomer").collect()
    assert Counter(tuple(row) for row in found) == expected
    assert {row.Gender for row in rows} == {"M", "F", "U"}
    assert all(row.NationalTaxRate is not None and row.LocalTaxRateDesc for row in rows)
    assert any(row.AgencyID for row in rows)
    assert all(row.IsCurrent for row in rows if row.AgencyID)
    shapes = {None if row.Phone1 is None else row.Phone1[:1] for row in rows}
    assert shapes >= {None, "+", "("}


@pytest.mark.slow
def test_every_report_of_a_company_is_kept(pipeline: SparkSession, reference: Reference) -> None:
    reports = reference.value("SELECT count(*) FROM finwire WHERE kind = 'FIN'")
    assert pipeline.table("Financial").count() == reports > 0
