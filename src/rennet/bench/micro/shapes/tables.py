"""The tables the shapes share, and pieces of SQL an expert would use again and again."""

from __future__ import annotations

from rennet.bench.micro.shape import Change, Source

ORDERS = Source(
    "orders",
    """id,
       CAST(pmod(xxhash64(id), {rows} div 20) AS INT) AS customer,
       CAST(pmod(xxhash64(id, 1), 1000) AS INT) AS product,
       CAST(pmod(xxhash64(id, 2), {rows} div 100) AS INT) AS shop,
       CAST(pmod(xxhash64(id, 3), 20) AS INT) AS region,
       DATE_ADD(DATE'2024-01-01', CAST(pmod(xxhash64(id, 4), 730) AS INT)) AS day,
       CAST(pmod(xxhash64(id, 5), 100000) * 0.01 AS DECIMAL(12,2)) AS amount,
       hex(xxhash64(id, 6)) AS note""",
)
CUSTOMERS = Source(
    "customers",
    """id,
       CONCAT('customer ', hex(xxhash64(id, 11))) AS name,
       CAST(pmod(xxhash64(id, 12), 5) AS INT) AS segment""",
    per=20,
)
PRODUCTS = Source("products", "id, CAST(pmod(xxhash64(id, 21), 20) AS INT) AS category", fixed=1000)
SHOPS = Source("shops", "id, CAST(pmod(xxhash64(id, 31), 10) AS INT) AS state", per=100)
DAYS = Source(
    "days",
    """id,
       DATE_ADD(DATE'2024-01-01', CAST(id AS INT)) AS day,
       CAST(id div 30 AS INT) AS month""",
    fixed=730,
)
PAYMENTS = Source(
    "payments",
    "id, CAST(pmod(xxhash64(id, 41), 100000) * 0.01 AS DECIMAL(12,2)) AS paid",
    where="pmod(id, 5) <> 0",
)
RETURNS = Source(
    "returns",
    """id,
       pmod(xxhash64(id, 51), {rows}) AS order_id,
       pmod(xxhash64(id, 52), 4) <> 0 AS accepted""",
    per=5,
)
EVENTS = Source(
    "events",
    """id,
       CAST(pmod(xxhash64(id, 61), {rows} div 4) AS INT) AS account,
       id - CASE WHEN id % 10 = 0 THEN {rows} div 2 ELSE 0 END AS updated_at,
       CAST(pmod(xxhash64(id, 62), 100000) * 0.01 AS DECIMAL(12,2)) AS amount,
       hex(xxhash64(id, 63)) AS note""",
)
"""New versions of accounts' rows; every tenth comes late."""
READINGS = Source(
    "readings",
    """id,
       CAST(id % ({rows} div 500) AS INT) AS sensor,
       DATE_ADD(DATE'2023-01-01', CAST(id div ({rows} div 500) AS INT)) AS day,
       CAST(pmod(xxhash64(id, 71), 100000) * 0.01 AS DECIMAL(12,2)) AS amount""",
)
"""500 days of sensors, one day after the other; whatever is added goes on with the next day."""

DEARER = "amount = amount + 1"
MIXED = Change("orders", DEARER, updates=0.6, deletes=0.2, inserts=0.2)

SIGNED = "CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"
"""A row of a change data feed counted: it came, or it went."""
LAST = "_change_type <> 'update_preimage'"
"""What became of a row, when each was changed once."""
UPSERT = """
    WHEN MATCHED AND s.gone THEN DELETE
    WHEN MATCHED THEN UPDATE SET *
    WHEN NOT MATCHED AND NOT s.gone THEN INSERT *"""
