"""The queries of the pipeline and their order."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
STAGES = (
    "company_version",
    "security_version",
    "customer_version",
    "account_version",
    "trade_state",
    "watch_state",
)
VIEWS = (
    "DimBroker",
    "DimCompany",
    "DimSecurity",
    "Financial",
    "Prospect",
    "DimAccount",
    "FactWatches",
    "FactMarketHistory",
    "DimCustomer",
    "DimTrade",
    "FactCashBalances",
    "FactHoldings",
)
"""Every view comes after those it reads."""

VARIANTS = {
    "paper": ("company_version", "security_version", "customer_version", "account_version"),
    "entities": STAGES,
    "views": (),
}
"""The ways to run it: which stages are tables that the ingestion keeps. The others are put into the views."""


def query(name: str) -> str:
    """The text of a stage or view."""
    folder = "stages" if name in STAGES else "views"
    return (HERE / folder / f"{name}.sql").read_text(encoding="utf-8")
