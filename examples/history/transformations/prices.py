"""A price list a day, each whole, in snapshots/; what every product has cost, and what is wrong with it."""

from pathlib import Path

from rennet import pipelines as dp


def next_list(last):
    """The first list after the last one that was taken, and its day; None if there is no other yet."""
    days = sorted(path.stem for path in Path("snapshots").glob("*.csv"))
    new = [day for day in days if last is None or day > last]
    if not new:
        return None
    schema = "product STRING, price DECIMAL(10, 2)"
    return spark.read.schema(schema).option("header", True).csv(f"snapshots/{new[0]}.csv"), new[0]  # noqa: F821


dp.create_streaming_table("prices", comment="every price of every product, and when it was valid")
dp.create_auto_cdc_from_snapshot_flow("prices", next_list, keys=["product"], stored_as_scd_type=2)


@dp.materialized_view(comment="prices of today")
@dp.expect("cheap", "price < 100")
@dp.expect_or_drop("positive", "price > 0")
def current_prices():
    return spark.table("prices").where("__END_AT IS NULL").select("product", "price")  # noqa: F821


@dp.materialized_view(refresh_policy="INCREMENTAL", comment="how often each price has changed")
def price_changes():
    return spark.table("prices").groupBy("product").count()  # noqa: F821
