"""Set operations, inline tables, CTEs, ordering, sampling, hints, pipes, views and functions."""

from __future__ import annotations

SETS: dict[str, str] = {
    "distinct": "SELECT DISTINCT region, vip FROM customers",
    "distinct_star_with_nested": "SELECT DISTINCT id, kind, actor, tags, readings, matrix, raw FROM events",
    "distinct_of_aggregate": "SELECT DISTINCT count(*) AS n FROM orders GROUP BY customer_id",
    "distinct_all_keyword": "SELECT ALL region FROM customers",
    "union_all": "SELECT id, name FROM customers UNION ALL SELECT id, name FROM suppliers",
    "union_all_same_table": """
        SELECT name FROM customers UNION ALL SELECT name FROM customers UNION ALL SELECT city
        FROM customers""",
    "union_distinct": "SELECT city FROM customers UNION SELECT country FROM suppliers",
    "union_type_widening": """
        SELECT id, price AS p FROM products UNION ALL SELECT id, total FROM orders UNION ALL
        SELECT NULL, 1.5D""",
    "union_nested_types": """
        SELECT size AS s, tags AS t FROM products UNION ALL
        SELECT named_struct('width', 1S, 'height', 2L), array('x')""",
    "union_of_aggregates": """
        SELECT status, count(*) AS n FROM orders GROUP BY status UNION ALL SELECT 'total', count(*)
        FROM orders""",
    "union_then_aggregate": """
        SELECT who, sum(n) AS n FROM (SELECT customer_id AS who, 1 AS n FROM orders UNION ALL
        SELECT id, 10 FROM customers) GROUP BY who""",
    "intersect": "SELECT id FROM customers INTERSECT SELECT customer_id FROM orders",
    "intersect_all": "SELECT src, dst FROM edges INTERSECT ALL (SELECT src, dst FROM edges WHERE weight < 3)",
    "except_distinct": "SELECT id FROM customers EXCEPT SELECT customer_id FROM orders",
    "except_all": "SELECT src FROM edges EXCEPT ALL SELECT dst FROM edges",
    "minus": "SELECT region FROM customers MINUS SELECT 'EU'",
    "set_operations_nested": """
        (SELECT id FROM customers UNION SELECT id FROM suppliers) INTERSECT (SELECT id FROM employees
        EXCEPT SELECT 3)""",
    "set_operation_null_rows": """
        SELECT city, region FROM customers WHERE region IS NULL INTERSECT SELECT NULL, NULL""",
    "values_inline": "SELECT * FROM VALUES (1, 'a'), (2, NULL), (2, NULL) AS t(n, s)",
    "values_statement": "VALUES (1, 1.5, 'x', array(1)), (2, 2.5, NULL, array())",
    "values_with_expressions": """
        SELECT col1 * 2 AS n FROM VALUES (1 + 1), (length('abc')), (CAST('7' AS INT))""",
    "values_joined": """
        SELECT c.name, r.full FROM customers c
        JOIN (VALUES ('EU', 'Europe'), ('US', 'States')) r(code, full) ON r.code = c.region""",
    # CTEs
    "cte_single": "WITH big AS (SELECT * FROM orders WHERE total > 50) SELECT id, customer_id FROM big",
    "cte_referenced_twice": """
        WITH t AS (SELECT customer_id, sum(total) AS s FROM orders GROUP BY customer_id)
        SELECT a.customer_id, b.customer_id AS richer FROM t a JOIN t b ON b.s > a.s""",
    "cte_chain": """
        WITH a AS (SELECT id, region FROM customers), b AS (SELECT region, count(*) AS n FROM a
        GROUP BY region),
        c (r, m) AS (SELECT region, n + 1 FROM b) SELECT a.id, c.m FROM a JOIN c ON c.r = a.region""",
    "cte_nested": """
        WITH outer_one AS (WITH inner_one AS (SELECT id FROM suppliers) SELECT id * 10 AS id FROM inner_one)
        SELECT * FROM outer_one WHERE id > 10""",
    "cte_shadowing_a_table": """
        WITH suppliers AS (SELECT id + 100 AS id FROM suppliers) SELECT * FROM suppliers""",
    "cte_in_subquery": """
        SELECT id FROM customers WHERE id IN (WITH t AS (SELECT customer_id AS c FROM orders
        WHERE total > 80) SELECT c FROM t)""",
    "cte_used_in_subquery": """
        WITH m AS (SELECT max(total) AS top FROM orders)
        SELECT id FROM orders WHERE total > (SELECT top FROM m) / 4 AND EXISTS (SELECT 1 FROM m)""",
    "cte_never_used": "WITH unused AS (SELECT 1 / 0 AS boom) SELECT id FROM suppliers",
    "cte_union_of_itself": "WITH t AS (SELECT id FROM suppliers) SELECT id FROM t UNION ALL SELECT id FROM t",
    "recursive_counter": """
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 6)
        SELECT n, n * n AS sq FROM r""",
    "recursive_hierarchy": """
        WITH RECURSIVE chain AS (
          SELECT id, name, 0 AS depth, name AS path FROM employees WHERE manager_id IS NULL
          UNION ALL
          SELECT e.id, e.name, c.depth + 1, concat(c.path, '/', e.name) FROM employees e JOIN chain c
          ON e.manager_id = c.id)
        SELECT * FROM chain""",
    "recursive_paths_aggregated": """
        WITH RECURSIVE reach(start, node, cost, hops) AS (
          SELECT src, dst, weight, 1 FROM edges WHERE src = 'a'
          UNION ALL
          SELECT r.start, e.dst, r.cost + e.weight, r.hops + 1 FROM reach r JOIN edges e
          ON e.src = r.node WHERE r.hops < 5)
        SELECT start, node, min(cost) AS cheapest, count(*) AS paths FROM reach GROUP BY start, node""",
    "recursive_max_level": """
        WITH RECURSIVE r(n) MAX RECURSION LEVEL 20 AS (VALUES (1) UNION ALL SELECT n * 2 FROM r
        WHERE n < 500) SELECT sum(n) AS s FROM r""",
}

ORDERING: dict[str, str] = {
    "order_by_total": "SELECT id, total FROM orders ORDER BY total DESC NULLS LAST, id",
    "order_by_unselected_column": "SELECT name FROM employees ORDER BY hired NULLS FIRST, id DESC",
    "order_by_ordinal_and_alias": "SELECT region AS r, id FROM customers ORDER BY 1 DESC NULLS FIRST, id",
    "order_by_all": "SELECT region, city, id FROM customers ORDER BY ALL DESC",
    "order_by_aggregate": "SELECT status FROM orders GROUP BY status ORDER BY count(*) DESC, status",
    "order_by_limit": "SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 5",
    "order_by_limit_offset": "SELECT id, total FROM orders ORDER BY total, id LIMIT 4 OFFSET 3",
    "order_by_offset": "SELECT id FROM orders ORDER BY id OFFSET 12",
    "order_by_limit_expression": "SELECT id FROM orders ORDER BY id LIMIT 2 + 1",
    "order_by_limit_in_subquery": """
        SELECT c.name FROM customers c JOIN (SELECT customer_id FROM orders
        ORDER BY total DESC NULLS LAST LIMIT 3) t
        ON t.customer_id = c.id""",
    "order_by_limit_in_union": """
        (SELECT id FROM orders ORDER BY id LIMIT 2) UNION ALL (SELECT id FROM orders
        ORDER BY id DESC LIMIT 2)""",
    "order_by_in_subquery_is_lost": "SELECT count(*) AS n FROM (SELECT id FROM orders ORDER BY total)",
    "limit_all": "SELECT id FROM orders LIMIT ALL",
    "limit_zero": "SELECT id, name FROM customers LIMIT 0",
    "limit_beyond_size": "SELECT id FROM suppliers LIMIT 100",
    "limit_one_of_global_aggregate": "SELECT sum(total) AS s FROM orders LIMIT 1",
    "sort_by": "SELECT id, region FROM customers SORT BY region, id",
    "distribute_by_sort_by": "SELECT id, region FROM customers DISTRIBUTE BY region SORT BY id DESC",
    "cluster_by": "SELECT id, region FROM customers CLUSTER BY region",
    "hint_repartition": "SELECT /*+ REPARTITION(3, region) */ id, region FROM customers",
    "hint_coalesce": "SELECT /*+ COALESCE(1) */ id FROM customers",
    "hint_rebalance": "SELECT /*+ REBALANCE(region) */ region, count(*) AS n FROM customers GROUP BY region",
    "hint_repartition_by_range": "SELECT /*+ REPARTITION_BY_RANGE(2, id) */ id FROM customers",
    "sample_everything": "SELECT id FROM orders TABLESAMPLE (100 PERCENT) REPEATABLE (7)",
    "sample_percent_repeatable": """
        SELECT id, name FROM (SELECT /*+ COALESCE(1) */ *
        FROM suppliers) TABLESAMPLE (50 PERCENT) REPEATABLE (3)""",
    "watermark_of_a_table": "SELECT id, placed FROM orders WATERMARK placed DELAY OF INTERVAL 1 DAY",
    "sample_more_rows_than_there_are": "SELECT id FROM suppliers TABLESAMPLE (100 ROWS)",
    "script_transform": "SELECT TRANSFORM (id, name) USING 'cat' AS (id INT, name STRING) FROM suppliers",
}

PIPES: dict[str, str] = {
    "pipe_where_select": "FROM orders |> WHERE total > 50 |> SELECT id, customer_id",
    "pipe_extend_set_drop": """
        FROM items |> EXTEND quantity * price AS gross |> SET price = price * 2 |> DROP discount, line""",
    "pipe_aggregate": """
        FROM orders |> AGGREGATE count(*) AS n, sum(total) AS s GROUP BY status |> WHERE n > 1""",
    "pipe_aggregate_global": "FROM orders |> AGGREGATE max(total) AS m",
    "pipe_join": "FROM customers |> AS c |> JOIN orders o ON o.customer_id = c.id |> SELECT c.name, o.total",
    "pipe_order_limit": "FROM orders |> ORDER BY total DESC, id |> LIMIT 3 |> SELECT id",
    "pipe_set_operation": """
        FROM suppliers |> SELECT id |> UNION ALL (SELECT id FROM customers) |> EXCEPT SELECT 3""",
    "pipe_pivot_unpivot": """
        FROM sales |> SELECT product, year, units |> PIVOT (sum(units) FOR year IN (2023 AS y23, 2024 AS y24))
        |> UNPIVOT (units FOR year IN (y23, y24))""",
    "pipe_window_extend": """
        TABLE orders |> EXTEND row_number() OVER (PARTITION BY status ORDER BY id) AS rn |>
        WHERE rn = 1 |> SELECT id""",
    "pipe_join_lateral": "FROM events |> JOIN LATERAL explode(tags) AS t |> SELECT id, t.col",
    "pipe_sample": "FROM orders |> TABLESAMPLE (100 PERCENT) REPEATABLE (1) |> SELECT id",
}

OBJECTS: dict[str, str] = {
    "view_over_join": "SELECT * FROM order_lines WHERE gross > 40",
    "view_over_view": "SELECT customer, spent, lines FROM customer_spend",
    "view_joined_with_itself": """
        SELECT a.customer, b.customer AS other FROM customer_spend a JOIN customer_spend b
        ON a.lines = b.lines""",
    "view_and_its_base": """
        SELECT v.customer, c.region FROM customer_spend v JOIN customers c ON c.name = v.customer""",
    "temp_view": "SELECT * FROM vip_customers",
    "temp_view_with_cte": "SELECT name, sum(total) AS s FROM vip_orders GROUP BY name",
    "function_scalar": "SELECT order_id, line, net(price, discount) AS n FROM items",
    "function_default_argument": "SELECT id, net(price) AS n FROM products",
    "function_named_arguments": "SELECT order_id, net(discount => 0.5D, price => price) AS n FROM items",
    "function_with_subquery": "SELECT id, spent_by(id) AS s FROM customers",
    "function_in_where_and_group": """
        SELECT initials(name) AS i, count(*) AS n FROM customers WHERE initials(name) <> 'H'
        GROUP BY initials(name)""",
    "function_nested_calls": "SELECT order_id, net(net(price, discount), 0.5D) AS n FROM items",
    "function_over_aggregate": """
        SELECT order_id, net(sum(price), max(discount)) AS n FROM items GROUP BY order_id""",
    "function_table_valued": "SELECT * FROM orders_of(1)",
    "function_table_valued_lateral": """
        SELECT c.name, t.order_id, t.total FROM customers c, LATERAL orders_of(c.id) t""",
    "function_table_valued_left_lateral": """
        SELECT c.id, t.total FROM customers c LEFT JOIN LATERAL orders_of(c.id) t ON t.total > 20""",
    "execute_immediate": "EXECUTE IMMEDIATE 'SELECT id, name FROM suppliers WHERE id > 2'",
}
