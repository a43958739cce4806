"""Sizes against figures counted on output of the official generator."""

from __future__ import annotations

import pytest

from rennet.bench.tpcdi.settings import Growth, Settings, SettingsError, Sizes, placed_watches

MARKET_DAYS = (87, 92, 91, 91, 92, 92, 90, 91, 6)
"""Days of the historical DailyMarket in each of its quarters, of which the first is the third of 2015."""


def members(growth: Growth, steps: int) -> int:
    """How many are alive after some steps."""
    return growth.initial + steps * (growth.new - growth.deleted)


@pytest.mark.parametrize(("scale", "reports"), [(3, 98_576), (5, 198_061), (10, 457_025)])
def test_every_company_reports_in_every_quarter_after_its_first(scale: int, reports: int) -> None:
    companies = Sizes(scale).companies
    assert companies.rows == 500 * scale
    assert len(companies.every) == 202
    assert sum(members(companies, step) for step in range(202)) == reports


@pytest.mark.parametrize(
    ("scale", "first", "last", "rows"),
    [(3, 1724, 1788, 1_282_768), (5, None, 3380, 2_422_064), (10, 7072, 7360, 5_270_304)],
)
def test_listed_securities(scale: int, first: int | None, last: int, rows: int) -> None:
    securities = Sizes(scale).securities
    assert securities.rows == 800 * scale
    listed = [members(securities, step) - securities.deleted for step in range(192, 201)]
    assert listed[-1] == last
    assert first in (None, listed[0])
    assert sum(days * count for days, count in zip(MARKET_DAYS, listed, strict=True)) == rows


@pytest.mark.parametrize(
    ("scale", "counts"),
    [(3, (4728, 4280, 2568, 1284, 1284, 428)), (10, (15_280, 15_190, 8_680, 4_340, 4_340, 2_170))],
)
def test_actions_of_customers(scale: int, counts: tuple[int, ...]) -> None:
    plan = Sizes(scale).actions
    per_step = (
        plan.add_account,
        plan.update_account,
        plan.close_account,
        plan.update_customer,
        plan.inactivate,
    )
    made = (plan.initial + plan.steps * plan.new, *(plan.steps * each for each in per_step))
    assert made == counts
    assert plan.total == sum(counts)


@pytest.mark.parametrize(
    ("scale", "per_batch", "total"), [(3, 2_098, 900_042), (5, 3_481, 1_500_311), (10, 6_897, 3_000_195)]
)
def test_watches(scale: int, per_batch: int, total: int) -> None:
    sizes = Sizes(scale)
    assert sizes.watches_per_batch == sizes.watches_per_slot == per_batch
    assert sizes.slots * per_batch == total


@pytest.mark.parametrize(("scale", "pairs"), [(3, 720_710), (10, 2_401_709)])
def test_four_of_five_watches_are_placed_and_all_of_the_first(scale: int, pairs: int) -> None:
    sizes = Sizes(scale)
    rows = sizes.watches_per_slot
    assert rows + (sizes.slots - 1) * placed_watches(rows) == pairs


@pytest.mark.parametrize(("scale", "trades"), [(3, 390_978), (5, 650_412), (10, 1_300_824)])
def test_trades(scale: int, trades: int) -> None:
    assert Sizes(scale).trades_per_day * 1827 == trades


@pytest.mark.parametrize(("scale", "prospects"), [(3, 14_982), (5, 24_970), (10, 49_940)])
def test_prospects(scale: int, prospects: int) -> None:
    sizes = Sizes(scale)
    assert sizes.prospects == prospects
    assert (sizes.prospects_replaced, sizes.prospects_changed) == (6 * scale, 8 * scale)


@pytest.mark.parametrize(
    ("scale", "customers", "accounts"), [(3, (11, 3, 1), (21, 6, 3)), (10, (35, 10, 5), (70, 20, 10))]
)
def test_changes_of_customers_in_a_batch(
    scale: int, customers: tuple[int, ...], accounts: tuple[int, ...]
) -> None:
    sizes = Sizes(scale)
    of_customers, of_accounts = sizes.customer_changes, sizes.account_changes
    assert (of_customers.inserted, of_customers.updated, of_customers.closed) == customers
    assert (of_accounts.inserted, of_accounts.updated, of_accounts.closed) == accounts


@pytest.mark.parametrize("scale", [0.05, 0.1, 0.2, 0.5, 1, 1.7, 2.9, 3, 4, 7.3, 30, 100])
def test_every_scale_has_some_of_everything(scale: float) -> None:
    sizes = Sizes(scale)
    for growth, rows in ((sizes.companies, sizes.unit // 2), (sizes.securities, sizes.unit * 4 // 5)):
        assert growth.rows == rows
        assert min(growth.initial, growth.new, growth.changed, growth.deleted, len(growth.every)) >= 1
        assert len(set(growth.every)) == len(growth.every) and max(growth.every) <= 202
    plan = sizes.actions
    assert min(plan.steps, plan.new, plan.inactivate) >= 1
    assert plan.initial >= plan.add_account + plan.update_customer + plan.inactivate
    assert abs(plan.total / (5 * sizes.unit) - 1) < 0.08
    assert sizes.account_changes.inserted >= sizes.customer_changes.inserted >= 1


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"scale": 0.01}, "scale"),
        ({"scale": float("nan")}, "scale"),
        ({"batches": 0}, "batches"),
        ({"seed": -1}, "seed"),
        ({"change_factor": 0}, "change factor"),
        ({"update_share": 1.5}, "update-share"),
        ({"late": -0.1}, "late"),
        ({"out_of_order": 2}, "out-of-order"),
    ],
)
def test_what_cannot_be_generated_is_refused(wrong: dict[str, float], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        Settings(**wrong)  # type: ignore[arg-type]
