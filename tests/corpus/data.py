"""The corpus's tables, views and functions: small, with NULLs, duplicates and awkward types."""

from __future__ import annotations

from pyspark.sql import SparkSession

TABLES: dict[str, tuple[str, str]] = {
    "customers": (
        """id INT, name STRING, email STRING, city STRING, region STRING,
           credit DECIMAL(38,4), vip BOOLEAN, joined DATE""",
        """VALUES
        (1, 'Ada Lovelace', 'ada@example.com', 'London', 'EU', 1200.5000, true, DATE'2023-01-15'),
        (2, 'Blaise Pascal', 'blaise@example.org', 'Paris', 'EU', 0.0000, false, DATE'2023-03-01'),
        (3, 'Claude Shannon', NULL, 'Ann Arbor', 'US', 987654321098765432109876.1234, true, DATE'2023-03-01'),
        (4, 'Dorothy Vaughan', 'dot@example.com', 'Hampton', 'US', 55.2500, NULL, DATE'2023-07-04'),
        (5, 'Emmy Noether', 'emmy@example.de', 'Göttingen', 'EU', NULL, true, DATE'2023-11-30'),
        (6, 'Fibonacci', 'leo@example.it', 'Pisa', 'EU', -13.2100, false, NULL),
        (7, 'grace hopper', 'GRACE@EXAMPLE.COM', 'New York', 'US', 1000.0000, true, DATE'2024-01-01'),
        (8, 'Hypatia', NULL, NULL, NULL, 77.7700, NULL, DATE'2024-01-20'),
        (9, 'Isaac Newton', 'isaac@example.com', 'London', 'EU', 1200.5000, false, DATE'2024-02-02'),
        (10, 'José Ñandú', 'jose@example.cl', 'Santiago', 'SA', 10.1000, false, DATE'2024-02-02'),
        (11, 'José Ñandú', 'jose@example.cl', 'Santiago', 'SA', 10.1000, false, DATE'2024-02-02'),
        (NULL, 'Nobody', NULL, NULL, NULL, NULL, NULL, NULL)""",
    ),
    "orders": (
        "id BIGINT, customer_id INT, status STRING, placed TIMESTAMP, total DECIMAL(12,2), note STRING",
        """VALUES
        (100, 1, 'shipped', TIMESTAMP'2024-01-02 09:15:00', 120.50, 'gift'),
        (101, 1, 'shipped', TIMESTAMP'2024-01-05 18:00:00', 80.00, NULL),
        (102, 1, 'open', TIMESTAMP'2024-02-01 00:00:00', 15.25, 'rush'),
        (103, 2, 'shipped', TIMESTAMP'2024-01-02 09:15:00', 300.00, NULL),
        (104, 2, 'cancelled', TIMESTAMP'2024-01-03 23:59:59.999999', 45.10, 'changed mind'),
        (105, 3, 'shipped', TIMESTAMP'2024-01-10 12:00:00', 999.99, '100% sure'),
        (106, 3, 'open', TIMESTAMP'2024-02-05 08:30:00', 20.00, 'under_score'),
        (107, 4, 'shipped', TIMESTAMP'2024-01-15 15:45:30', 64.00, NULL),
        (108, 4, 'shipped', TIMESTAMP'2024-01-15 15:45:30', 64.00, NULL),
        (109, 5, 'returned', TIMESTAMP'2024-01-20 10:00:00', 12.34, 'broken'),
        (110, 6, 'open', NULL, 0.00, NULL),
        (111, 7, 'shipped', TIMESTAMP'2024-01-31 23:30:00', 710.10, 'gift'),
        (112, 7, 'shipped', TIMESTAMP'2024-02-09 07:07:07', 33.33, 'gift'),
        (113, 9, 'open', TIMESTAMP'2024-02-08 16:20:00', NULL, NULL),
        (114, 42, 'shipped', TIMESTAMP'2024-01-25 11:11:11', 50.00, 'orphan'),
        (115, NULL, NULL, TIMESTAMP'2024-01-26 11:11:11', 5.00, ''),
        (116, 10, 'shipped', TIMESTAMP'2024-02-03 13:00:00', 88.80, NULL),
        (117, 11, 'shipped', TIMESTAMP'2024-02-03 13:00:00', 88.80, NULL)""",
    ),
    "items": (
        "order_id BIGINT, line INT, product_id INT, quantity INT, price DECIMAL(10,2), discount DOUBLE",
        """VALUES
        (100, 1, 1, 2, 10.25, 0.0), (100, 2, 2, 1, 100.00, 0.25), (101, 1, 3, 4, 20.00, 0.5),
        (102, 1, 1, 1, 10.25, NULL), (102, 2, 4, 1, 5.00, 0.0), (103, 1, 5, 3, 100.00, 0.125),
        (104, 1, 1, 4, 10.25, 0.0), (104, 2, NULL, 1, 4.10, 0.0), (105, 1, 6, 1, 999.99, 0.25),
        (106, 1, 3, 1, 20.00, 0.0), (107, 1, 2, 1, 64.00, 0.5), (108, 1, 2, 1, 64.00, 0.5),
        (109, 1, 4, 2, 6.17, NULL), (111, 1, 6, 1, 700.00, 0.0), (111, 2, 1, 1, 10.10, 0.0),
        (112, 1, 7, 3, 11.11, 0.0625), (114, 1, 5, 1, 50.00, 0.0), (115, 1, 99, 1, 5.00, 0.0),
        (116, 1, 2, 2, 44.40, 0.25), (117, 1, 2, 2, 44.40, 0.25), (999, 1, 1, 1, 1.00, 0.0)""",
    ),
    "products": (
        """id INT, name STRING, category STRING, supplier_id INT, price DECIMAL(10,2), weight FLOAT,
           tags ARRAY<STRING>, attributes MAP<STRING, STRING>, size STRUCT<width: INT, height: INT>""",
        """VALUES
        (1, 'Anvil', 'tools', 1, 10.25, 12.5F, array('heavy', 'iron'), map('color', 'black', 'origin', 'DE'),
         named_struct('width', 10, 'height', 5)),
        (2, 'Bolt', 'tools', 1, 100.00, 0.25F, array('iron', NULL, 'small'), map('color', 'grey'),
         named_struct('width', 1, 'height', 1)),
        (3, 'Cheese', 'food', 2, 20.00, 1.5F, array('fresh', 'yellow', 'fresh'), map('color', 'yellow'),
         named_struct('width', 3, 'height', CAST(NULL AS INT))),
        (4, 'Dice', 'toys', 2, 5.00, 0.125F, CAST(array() AS ARRAY<STRING>),
         CAST(map() AS MAP<STRING, STRING>), named_struct('width', 1, 'height', 1)),
        (5, 'Engine', 'tools', 3, 100.00, 250.0F, NULL, NULL, NULL),
        (6, 'Fiddle', 'music', NULL, 999.99, 2.0F, array('wood', 'string'),
         map('color', 'brown', 'strings', '4'), named_struct('width', 20, 'height', 60)),
        (7, 'Glue', NULL, 3, 11.11, 0.5F, array('sticky'), map('color', NULL),
         named_struct('width', 2, 'height', 8)),
        (8, 'Harp', 'music', 4, 1500.00, NULL, array('wood', 'string', 'heavy'), map('strings', '47'),
         named_struct('width', 80, 'height', 180))""",
    ),
    "suppliers": (
        "id INT, name STRING, country STRING, rating DOUBLE",
        """VALUES (1, 'Acme', 'DE', 4.5), (2, 'Bazaar', 'FR', 3.25), (3, 'Cyclops', 'GR', NULL),
        (4, 'Delos', 'GR', 5.0), (5, 'Echo', NULL, 1.0)""",
    ),
    "events": (
        """id BIGINT, kind STRING,
           actor STRUCT<id: INT, name: STRING, address: STRUCT<city: STRING, zip: STRING>>,
           tags ARRAY<STRING>, readings ARRAY<STRUCT<at: TIMESTAMP, value: DOUBLE>>,
           props MAP<STRING, STRING>, matrix ARRAY<ARRAY<INT>>, scores MAP<STRING, ARRAY<INT>>,
           payload VARIANT, raw BINARY, body STRING""",
        """SELECT id, kind,
          named_struct('id', aid, 'name', aname, 'address', named_struct('city', city, 'zip', zip)),
          tags, transform(readings, r -> named_struct('at', TIMESTAMP'2024-01-01 00:00:00'
            + make_dt_interval(0, 0, CAST(r AS INT)), 'value', r)),
          props, matrix, scores, parse_json(payload), raw, payload
        FROM VALUES
        (1, 'click', 1, 'Ada', 'London', 'N1', array('a', 'b'), array(1.5D, 2.5D, 4.0D),
         map('page', 'home', 'ab', 'x'), array(array(1, 2), array(3)), map('m', array(1, 2)),
         '{"n": 1, "who": {"name": "ada", "langs": ["en", "fr"]}, "ok": true}', X'CAFE'),
        (2, 'click', 2, 'Blaise', NULL, NULL, array('b'), array(0.5D), map('page', 'cart'),
         array(array(4, 5, 6)), map('m', array(3), 'n', array(4, 5)),
         '{"n": 2.50, "who": {"name": "blaise"}, "list": [{"k": 1}, {"k": 2}]}', X'00FF'),
        (3, 'view', 1, 'Ada', 'London', 'N1', CAST(array() AS ARRAY<STRING>), NULL,
         CAST(map() AS MAP<STRING, STRING>), array(CAST(array() AS ARRAY<INT>), NULL), NULL,
         '{"n": null, "list": []}', X''),
        (4, 'view', NULL, NULL, NULL, NULL, NULL, array(7.25D, NULL), NULL, NULL, NULL, NULL, NULL),
        (5, 'buy', 3, 'Claude', 'Ann Arbor', '48103', array('b', 'c', 'b', NULL), array(8.0D, 8.0D),
         map('page', 'pay', 'amount', '12.5'), array(array(7), array(8, NULL)), map('z', array(9)),
         '[1, "two", {"three": 3}]', X'DEADBEEF'),
        (6, 'buy', 3, 'Claude', 'Ann Arbor', '48103', array('c'), array(16.0D), map('page', 'pay'),
         array(array(0)), map('m', array(0)), '"text"', CAST('bytes' AS BINARY)),
        (6, 'buy', 3, 'Claude', 'Ann Arbor', '48103', array('c'), array(16.0D), map('page', 'pay'),
         array(array(0)), map('m', array(0)), '"text"', CAST('bytes' AS BINARY))
        AS t(id, kind, aid, aname, city, zip, tags, readings, props, matrix, scores, payload, raw)""",
    ),
    "moments": (
        """id INT, d DATE, at TIMESTAMP, wall TIMESTAMP_NTZ, zone STRING, months INT, seconds INT,
           text STRING""",
        """VALUES
        (1, DATE'2024-02-29', TIMESTAMP'2024-02-29 12:34:56.789',
         TIMESTAMP_NTZ'2024-02-29 12:34:56.789', 'UTC', 1, 90, '2024-02-29'),
        (2, DATE'2023-12-31', TIMESTAMP'2023-12-31 23:59:59.999999',
         TIMESTAMP_NTZ'2024-01-01 00:59:59.999999', 'Europe/Paris', 13, 86400, '2023-12-31 23:59:59'),
        (3, DATE'1969-12-31', TIMESTAMP'1969-12-31 23:00:00',
         TIMESTAMP_NTZ'1969-12-31 23:00:00', 'America/New_York', -1, -3600, 'not a date'),
        (4, DATE'2024-03-31', TIMESTAMP'2024-03-31 01:30:00',
         TIMESTAMP_NTZ'2024-03-31 02:30:00', 'Europe/Paris', 0, 0, '31/03/2024'),
        (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (6, DATE'0001-01-01', TIMESTAMP'1000-01-01 00:00:00',
         TIMESTAMP_NTZ'0001-01-01 00:00:00', 'Asia/Tokyo', 1200, 1, '0001-01-01'),
        (7, DATE'2024-02-29', TIMESTAMP'2024-02-29 12:34:56.789',
         TIMESTAMP_NTZ'2024-02-29 12:34:56.789', 'UTC', 1, 90, '2024-02-29')""",
    ),
    "numbers": (
        """id INT, tiny TINYINT, small SMALLINT, whole INT, big BIGINT, f FLOAT, d DOUBLE,
           amount DECIMAL(38,18), huge DECIMAL(38,0), cents DECIMAL(5,2), flag BOOLEAN""",
        """VALUES
        (1, 1Y, 1S, 1, 1L, 1.5F, 1.5D, 1.000000000000000001,
         12345678901234567890123456789012345678, 1.01, true),
        (2, -128Y, -32768S, -2147483648, -9223372036854775808L, -0.5F, -0.5D, -2.5, -1, -999.99, false),
        (3, 127Y, 32767S, 2147483647, 9223372036854775807L, 0.0F, 0.0D, 0, 0, 999.99, NULL),
        (4, 0Y, 0S, 0, 0L, -0.0F, -0.0D, 99999999999999999999.999999999999999999, 42, 0.00, true),
        (5, 7Y, 7S, 7, 7L, float('NaN'), double('NaN'), 0.1, 7, 0.50, false),
        (6, 8Y, 8S, 8, 8L, float('Infinity'), double('-Infinity'), 0.2, 8, 0.25, true),
        (7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (8, 7Y, 7S, 7, 7L, 2.25F, 1024.0D, 0.1, 7, 0.50, false)""",
    ),
    "calendar": (
        "day DATE, week INT, holiday STRING",
        """SELECT day, weekofyear(day),
          CASE day WHEN DATE'2024-01-01' THEN 'New Year' WHEN DATE'2024-01-06' THEN 'Epiphany' END
        FROM (SELECT explode(sequence(DATE'2024-01-01', DATE'2024-02-09')) AS day)""",
    ),
    "edges": (
        "src STRING, dst STRING, weight INT",
        """VALUES ('a', 'b', 1), ('a', 'c', 4), ('b', 'c', 2), ('b', 'd', 5), ('c', 'd', 1), ('d', 'e', 3),
        ('a', 'b', 1), ('x', 'y', NULL), ('y', 'x', 1), ('z', 'z', 0), (NULL, 'a', 7)""",
    ),
    "employees": (
        "id INT, name STRING, manager_id INT, department STRING, salary DECIMAL(10,2), hired DATE",
        """VALUES (1, 'Root', NULL, 'board', 900.00, DATE'2010-01-01'),
        (2, 'Ann', 1, 'dev', 500.00, DATE'2015-05-05'), (3, 'Bob', 1, 'ops', 450.00, DATE'2016-06-06'),
        (4, 'Cid', 2, 'dev', 300.00, DATE'2020-02-02'), (5, 'Dee', 2, 'dev', 300.00, DATE'2019-09-09'),
        (6, 'Eve', 3, 'ops', 250.00, NULL), (7, 'Fay', 4, 'dev', NULL, DATE'2022-12-12'),
        (8, 'Gus', 4, NULL, 100.00, DATE'2023-01-01'), (9, 'Hal', 99, 'ops', 275.50, DATE'2021-03-03')""",
    ),
    "sales": (
        "id INT, product STRING, quarter INT, amount DECIMAL(18,2), units INT, year INT, region STRING",
        """VALUES (1, 'Anvil', 1, 100.00, 10, 2023, 'EU'), (2, 'Anvil', 2, 150.00, 15, 2023, 'EU'),
        (3, 'Bolt', 1, 20.50, 200, 2023, 'EU'), (4, 'Bolt', 3, 30.75, 300, 2023, 'US'),
        (5, 'Anvil', 1, 90.00, 9, 2023, 'US'), (6, 'Cheese', 4, 64.00, 8, 2023, NULL),
        (7, 'Anvil', 1, 110.00, 10, 2024, 'EU'), (8, 'Bolt', 2, 25.25, 250, 2024, 'EU'),
        (9, 'Cheese', 2, 72.00, 9, 2024, 'US'), (10, 'Cheese', 2, 72.00, 9, 2024, 'US'),
        (11, 'Anvil', 4, NULL, NULL, 2024, 'US'), (12, NULL, 3, 5.00, 1, 2024, 'SA'),
        (13, 'Bolt', NULL, 1.00, 1, 2024, NULL)""",
    ),
    "words": (
        "id INT, word STRING, code CHAR(4), label VARCHAR(10)",
        """VALUES (1, 'Apple', 'ab', 'red'), (2, 'apple', 'AB', 'RED'), (3, 'APPLE', 'abcd', 'Green'),
        (4, 'Éclair', 'x', ''), (5, 'eclair', NULL, ' pad '), (6, 'éclair', '', NULL), (7, NULL, 'zz', 'zz'),
        (8, 'straße', 'de', 'ß'), (9, '  trim me ', ' ', '日本語')""",
    ),
    "odd_names": (
        """`first name` STRING, `a.b` INT, `größe` DOUBLE, `MixedCase` INT, `select` STRING, `back``tick` INT,
           `日本` STRING, `semi;comma,` INT, `inner.struct` STRUCT<`x y`: INT, `z.w`: STRING>""",
        """VALUES ('Ada', 1, 1.5D, 10, 'from', 5, '東京', 1, named_struct('x y', 1, 'z.w', 'p')),
        ('Bob', 2, NULL, 20, 'where', 6, '大阪', 2, named_struct('x y', 2, 'z.w', NULL)),
        ('Ada', 3, 2.5D, 10, NULL, NULL, NULL, NULL, NULL),
        (NULL, NULL, 0.5D, NULL, 'group', 7, '京都', 2, named_struct('x y', NULL, 'z.w', 'q'))""",
    ),
    "nothing": ("id INT, label STRING, amount DECIMAL(10,2)", ""),
}
"""Each table's columns, and the query that fills it."""

CLAUSES: dict[str, str] = {
    "sales": "PARTITIONED BY (year, region)",
    "odd_names": "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "items": "CLUSTER BY (order_id)",
}

OBJECTS: tuple[str, ...] = (
    """CREATE VIEW order_lines AS
       SELECT o.id AS order_id, o.customer_id, o.status, o.placed, i.line, i.product_id, i.quantity, i.price,
              i.quantity * i.price AS gross
       FROM orders o JOIN items i ON i.order_id = o.id""",
    """CREATE VIEW customer_spend (customer, spent COMMENT 'gross', lines) AS
       SELECT c.name, sum(l.gross) AS total, count(*) AS n
       FROM customers c JOIN order_lines l ON l.customer_id = c.id GROUP BY c.id, c.name""",
    """CREATE VIEW sales_metrics WITH METRICS LANGUAGE YAML AS $$
version: 0.1
source: {schema}.sales
dimensions:
  - name: region
    expr: region
  - name: year
    expr: year
measures:
  - name: revenue
    expr: sum(amount)
  - name: units_sold
    expr: sum(units)
$$""",
    "CREATE OR REPLACE TEMPORARY VIEW vip_customers AS SELECT id, name, region FROM customers WHERE vip",
    """CREATE OR REPLACE TEMPORARY VIEW vip_orders AS
       WITH mine AS (SELECT * FROM vip_customers)
       SELECT m.name, o.id AS order_id, o.total FROM mine m JOIN orders o ON o.customer_id = m.id""",
    """CREATE FUNCTION net(price DECIMAL(10,2), discount DOUBLE DEFAULT 0.0) RETURNS DECIMAL(12,4)
       RETURN CAST(price * (1 - coalesce(discount, 0.0)) AS DECIMAL(12,4))""",
    """CREATE FUNCTION spent_by(who INT) RETURNS DECIMAL(22,2)
       RETURN (SELECT sum(total) FROM orders WHERE customer_id = who)""",
    """CREATE FUNCTION orders_of(who INT) RETURNS TABLE (order_id BIGINT, total DECIMAL(12,2))
       RETURN SELECT id, total FROM orders WHERE customer_id = who""",
    """CREATE OR REPLACE TEMPORARY FUNCTION initials(name STRING) RETURNS STRING
       RETURN array_join(transform(split(name, ' '), part -> upper(left(part, 1))), '')""",
)


def create(spark: SparkSession, schema: str) -> None:
    """Make the corpus's tables, views and functions in a new schema, and make that schema the current one."""
    spark.sql(f"CREATE SCHEMA {schema}")
    spark.sql(f"USE {schema}")
    for name, (columns, rows) in TABLES.items():
        spark.sql(f"CREATE TABLE {name} ({columns}) USING delta {CLAUSES.get(name, '')}")
        if rows:
            spark.sql(f"INSERT INTO {name} {rows}")
    for statement in OBJECTS:
        spark.sql(statement.replace("{schema}", schema))
