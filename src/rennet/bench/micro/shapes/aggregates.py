"""Shapes that group the rows of one table."""

from __future__ import annotations

from rennet.bench.micro.shape import Change, Hand, Shape
from rennet.bench.micro.shapes.tables import DEARER, MIXED, ORDERS, SIGNED


def _totals(key: str) -> str:
    return f"SELECT {key}, SUM(amount) AS total, COUNT(*) AS orders FROM {{orders}} GROUP BY {key}"


def _adjusted(key: str) -> Hand:
    """Sums and counts go up and down by what the changed rows add."""
    return Hand(
        (
            f"""MERGE INTO {{target}} t
                USING (SELECT {key}, SUM({SIGNED} * amount) AS total, SUM({SIGNED}) AS orders
                       FROM {{changes_of_orders}} GROUP BY {key}) s
                ON t.{key} = s.{key}
                WHEN MATCHED AND t.orders + s.orders = 0 THEN DELETE
                WHEN MATCHED THEN UPDATE SET total = t.total + s.total, orders = t.orders + s.orders
                WHEN NOT MATCHED THEN INSERT *""",
        )
    )


def _recomputed(aggregates: str, names: str) -> Hand:
    """The shops with changed rows are computed again."""
    return Hand(
        (
            """MERGE INTO {target} t USING fresh s ON t.shop = s.shop
               WHEN MATCHED AND s.gone THEN DELETE
               WHEN MATCHED THEN UPDATE SET *
               WHEN NOT MATCHED AND NOT s.gone THEN INSERT *""",
        ),
        fresh=f"""WITH touched AS (SELECT DISTINCT shop FROM {{changes_of_orders}}),
                     again AS (SELECT /*+ BROADCAST(k) */ o.shop, {aggregates}
                               FROM {{orders}} o JOIN touched k ON o.shop = k.shop GROUP BY o.shop)
                SELECT k.shop, {names}, a.shop IS NULL AS gone
                FROM touched k LEFT JOIN again a ON k.shop = a.shop""",
    )


AGGREGATE_FEW_GROUPS = Shape(
    "aggregate_few_groups",
    "SUM and COUNT by 20 groups",
    (ORDERS,),
    _totals("region"),
    (MIXED,),
    _adjusted("region"),
)

AGGREGATE_MANY_GROUPS = Shape(
    "aggregate_many_groups",
    "SUM and COUNT by groups of about 20 rows",
    (ORDERS,),
    _totals("customer"),
    (MIXED,),
    _adjusted("customer"),
)

COUNT_DISTINCT = Shape(
    "count_distinct",
    "COUNT(DISTINCT) by groups of about 100 rows",
    (ORDERS,),
    "SELECT shop, COUNT(DISTINCT product) AS products FROM {orders} GROUP BY shop",
    (MIXED,),
    _recomputed("COUNT(DISTINCT o.product) AS products", "a.products"),
)

MIN_MAX_DELETES = Shape(
    "min_max_deletes",
    "MIN and MAX by groups of about 100 rows, where eight of ten changes are deletes",
    (ORDERS,),
    "SELECT shop, MIN(amount) AS least, MAX(amount) AS most FROM {orders} GROUP BY shop",
    (Change("orders", DEARER, updates=0.1, deletes=0.8, inserts=0.1),),
    _recomputed("MIN(o.amount) AS least, MAX(o.amount) AS most", "a.least, a.most"),
)
