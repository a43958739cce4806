"""Shapes that keep rows as they are, some of them, or one of each kind."""

from __future__ import annotations

from rennet.bench.micro.shape import Change, Hand, Shape
from rennet.bench.micro.shapes.tables import DEARER, EVENTS, LAST, MIXED, ORDERS, SIGNED, UPSERT

APPEND_ONLY_FILTER = Shape(
    "append_only_filter",
    "a third of the rows of a table that only grows",
    (ORDERS,),
    "SELECT id, customer, day, amount, note FROM {orders} WHERE product < 333",
    (Change("orders", inserts=1.0),),
    Hand(
        (
            """INSERT INTO {target}
               SELECT id, customer, day, amount, note FROM {changes_of_orders}
               WHERE _change_type = 'insert' AND product < 333""",
        )
    ),
    together=True,
)

PROJECTED = "id, customer, day, amount * 1.19 AS gross, CONCAT(note, '-', CAST(product AS STRING)) AS label"

UPDATE_PROJECTION = Shape(
    "update_projection",
    "computed columns of every row of a large table, where nine of ten changes are updates",
    (ORDERS,),
    f"SELECT {PROJECTED} FROM {{orders}}",
    (Change("orders", DEARER, updates=0.9, deletes=0.05, inserts=0.05),),
    Hand(
        (
            f"""MERGE INTO {{target}} t
                USING (SELECT {PROJECTED}, _change_type = 'delete' AS gone
                       FROM {{changes_of_orders}} WHERE {LAST}) s
                ON t.id = s.id {UPSERT}""",
        )
    ),
    rows=10_000_000,
)

LATEST = "account, id, updated_at, amount, note"

DEDUP_ROW_NUMBER = Shape(
    "dedup_row_number",
    "the latest of all versions of a row; new versions arrive, some of them late",
    (EVENTS,),
    f"""SELECT {LATEST}
        FROM (SELECT *, row_number() OVER (PARTITION BY account ORDER BY updated_at DESC, id DESC) AS place
              FROM {{events}}) AS numbered
        WHERE place = 1""",
    (Change("events", inserts=1.0),),
    Hand(
        (
            f"""MERGE INTO {{target}} t
                USING (SELECT {LATEST}
                       FROM (SELECT *, row_number() OVER
                                 (PARTITION BY account ORDER BY updated_at DESC, id DESC) AS place
                             FROM {{changes_of_events}})
                       WHERE place = 1) s
                ON t.account = s.account
                WHEN MATCHED AND (s.updated_at > t.updated_at OR s.updated_at = t.updated_at AND s.id > t.id)
                    THEN UPDATE SET *
                WHEN NOT MATCHED THEN INSERT *""",
        )
    ),
)

DISTINCT = Shape(
    "distinct",
    "the different pairs of two columns, each of which has a few rows",
    (ORDERS,),
    "SELECT DISTINCT shop, product % 25 AS shelf FROM {orders}",
    (MIXED,),
    Hand(
        (
            f"""MERGE INTO {{target}} t
                USING (SELECT shop, product % 25 AS shelf, SUM({SIGNED}) AS copies
                       FROM {{changes_of_orders}} GROUP BY ALL HAVING copies <> 0) s
                ON t.shop = s.shop AND t.shelf = s.shelf
                WHEN MATCHED AND t.copies + s.copies = 0 THEN DELETE
                WHEN MATCHED THEN UPDATE SET copies = t.copies + s.copies
                WHEN NOT MATCHED THEN INSERT *""",
        ),
        "SELECT shop, product % 25 AS shelf, COUNT(*) AS copies FROM {orders} GROUP BY ALL",
        shown="shop, shelf",
    ),
)
