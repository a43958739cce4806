"""Shapes with more than one table."""

from __future__ import annotations

from rennet.bench.micro.shape import Change, Hand, Shape
from rennet.bench.micro.shapes.tables import (
    CUSTOMERS,
    DAYS,
    DEARER,
    LAST,
    MIXED,
    ORDERS,
    PAYMENTS,
    PRODUCTS,
    RETURNS,
    SHOPS,
    SIGNED,
    UPSERT,
)

JOINED = "o.id, o.customer, o.day, o.amount, c.name, c.segment"
WITH_CUSTOMER = f"SELECT {JOINED} FROM {{orders}} o JOIN {{customers}} c ON o.customer = c.id"

JOIN_FACT_CHANGES = Shape(
    "join_fact_changes",
    "every order with its customer; orders change",
    (ORDERS, CUSTOMERS),
    WITH_CUSTOMER,
    (MIXED,),
    Hand(
        (
            f"""MERGE INTO {{target}} t
                USING (SELECT /*+ BROADCAST(o) */ {JOINED}, o._change_type = 'delete' AS gone
                       FROM (SELECT * FROM {{changes_of_orders}} WHERE {LAST}) o
                       JOIN {{customers}} c ON o.customer = c.id) s
                ON t.id = s.id {UPSERT}""",
        )
    ),
)

JOIN_DIMENSION_CHANGES = Shape(
    "join_dimension_changes",
    "every order with its customer; customers, of about 20 orders each, are updated",
    (ORDERS, CUSTOMERS),
    WITH_CUSTOMER,
    (Change("customers", "segment = (segment + 1) % 5", updates=1.0),),
    Hand(
        (
            """MERGE INTO {target} t
               USING (SELECT id, name, segment FROM {changes_of_customers}
                      WHERE _change_type = 'update_postimage') s
               ON t.customer = s.id
               WHEN MATCHED THEN UPDATE SET name = s.name, segment = s.segment""",
        )
    ),
)

OUTER_JOIN = Shape(
    "outer_join",
    "every order with its payment, if it has one; both change",
    (ORDERS, PAYMENTS),
    "SELECT o.id, o.customer, o.amount, p.paid FROM {orders} o LEFT JOIN {payments} p ON o.id = p.id",
    (
        Change("orders", DEARER, updates=0.3, deletes=0.1, inserts=0.1),
        Change("payments", "paid = paid + 1", updates=0.2, deletes=0.2, inserts=0.1),
    ),
    Hand(
        (f"MERGE INTO {{target}} t USING fresh s ON t.id = s.id {UPSERT}",),
        fresh="""WITH touched AS (SELECT id FROM {changes_of_orders}
                                UNION SELECT id FROM {changes_of_payments}),
                    now AS (SELECT /*+ BROADCAST(k) */ o.id, o.customer, o.amount
                            FROM {orders} o JOIN touched k ON o.id = k.id),
                    paid AS (SELECT /*+ BROADCAST(k) */ p.id, p.paid
                             FROM {payments} p JOIN touched k ON p.id = k.id)
               SELECT k.id, n.customer, n.amount, p.paid, n.id IS NULL AS gone
               FROM touched k LEFT JOIN now n ON k.id = n.id LEFT JOIN paid p ON k.id = p.id""",
    ),
)

DIMENSIONS = """JOIN {customers} c ON o.customer = c.id
                JOIN {products} p ON o.product = p.id
                JOIN {shops} s ON o.shop = s.id
                JOIN {days} d ON o.day = d.day"""
GROUPS = "c.segment, p.category, s.state, d.month"

FIVE_WAY_JOIN_AGGREGATE = Shape(
    "five_way_join_aggregate",
    "SUM and COUNT of orders by columns of four dimensions; orders change",
    (ORDERS, CUSTOMERS, PRODUCTS, SHOPS, DAYS),
    f"""SELECT {GROUPS}, SUM(o.amount) AS total, COUNT(*) AS orders
        FROM {{orders}} o {DIMENSIONS} GROUP BY {GROUPS}""",
    (MIXED,),
    Hand(
        (
            f"""MERGE INTO {{target}} t
                USING (SELECT /*+ BROADCAST(o) */ {GROUPS},
                              SUM({SIGNED} * o.amount) AS total, SUM({SIGNED}) AS orders
                       FROM {{changes_of_orders}} o {DIMENSIONS} GROUP BY {GROUPS}) s
                ON t.segment = s.segment AND t.category = s.category
                   AND t.state = s.state AND t.month = s.month
                WHEN MATCHED AND t.orders + s.orders = 0 THEN DELETE
                WHEN MATCHED THEN UPDATE SET total = t.total + s.total, orders = t.orders + s.orders
                WHEN NOT MATCHED THEN INSERT *""",
        )
    ),
)

EXISTS = Shape(
    "exists",
    "orders of which something was returned; orders and returns change",
    (ORDERS, RETURNS),
    """SELECT o.id, o.day, o.amount FROM {orders} o
       WHERE EXISTS (SELECT 1 FROM {returns} r WHERE r.order_id = o.id AND r.accepted)""",
    (
        Change("orders", DEARER, updates=0.3, deletes=0.1, inserts=0.1),
        Change("returns", "accepted = NOT accepted", updates=0.1, deletes=0.2, inserts=0.2),
    ),
    Hand(
        (f"MERGE INTO {{target}} t USING fresh s ON t.id = s.id {UPSERT}",),
        fresh="""WITH touched AS (SELECT id FROM {changes_of_orders}
                                UNION SELECT order_id FROM {changes_of_returns}),
                    returned AS (SELECT /*+ BROADCAST(k) */ DISTINCT k.id
                                 FROM {returns} r JOIN touched k ON r.order_id = k.id WHERE r.accepted),
                    now AS (SELECT /*+ BROADCAST(r) */ o.id, o.day, o.amount
                            FROM {orders} o JOIN returned r ON o.id = r.id)
               SELECT k.id, n.day, n.amount, n.id IS NULL AS gone
               FROM touched k LEFT JOIN now n ON k.id = n.id""",
    ),
)
