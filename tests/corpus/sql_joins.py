"""Joins of every type, condition and spelling, and subqueries in every place."""

from __future__ import annotations

JOINS: dict[str, str] = {
    "join_inner": "SELECT c.name, o.id, o.total FROM customers c JOIN orders o ON o.customer_id = c.id",
    "join_inner_extra_condition": """
        SELECT c.name, o.id FROM customers c INNER JOIN orders o
        ON o.customer_id = c.id AND o.total > 50 AND c.region = 'EU'""",
    "join_left": """
        SELECT c.id, c.name, o.id AS order_id FROM customers c LEFT JOIN orders o
        ON o.customer_id = c.id""",
    "join_left_condition_on_right": """
        SELECT c.id, o.id AS order_id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id
        AND o.status = 'open'""",
    "join_left_filter_after": """
        SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL""",
    "join_right": "SELECT c.name, o.id FROM customers c RIGHT OUTER JOIN orders o ON o.customer_id = c.id",
    "join_full": """
        SELECT c.id, o.id AS order_id FROM customers c FULL OUTER JOIN orders o ON o.customer_id = c.id""",
    "join_full_extra_condition": """
        SELECT i.order_id, i.line, p.id FROM items i FULL JOIN products p ON i.product_id = p.id
        AND i.price = p.price""",
    "join_left_semi": """
        SELECT * FROM customers c LEFT SEMI JOIN orders o ON o.customer_id = c.id AND o.total > 60""",
    "join_left_anti": "SELECT c.id, c.name FROM customers c LEFT ANTI JOIN orders o ON o.customer_id = c.id",
    "join_cross": "SELECT s.name, e.src FROM suppliers s CROSS JOIN edges e",
    "join_comma": "SELECT s.name, p.name AS product FROM suppliers s, products p WHERE p.supplier_id = s.id",
    "join_comma_three_way": """
        SELECT c.name, p.name AS product FROM customers c, orders o, items i, products p
        WHERE o.customer_id = c.id AND i.order_id = o.id AND p.id = i.product_id""",
    "join_using": """
        SELECT * FROM suppliers JOIN nothing USING (id) UNION ALL SELECT *, 'x', 1.5 FROM suppliers""",
    "join_using_left_star": """
        SELECT * FROM (SELECT id, name FROM customers) a LEFT JOIN (SELECT id, country
        FROM suppliers) b USING (id)""",
    "join_using_full_coalesces_key": """
        SELECT id, a.id AS left_id, b.id AS right_id, country
        FROM (SELECT id, name FROM employees) a FULL JOIN suppliers b USING (id)""",
    "join_using_two_columns": """
        SELECT src, dst, a.weight, b.weight AS doubled FROM edges a
        JOIN (SELECT src, dst, weight * 2 AS weight FROM edges) b USING (src, dst)""",
    "join_natural": """
        SELECT * FROM (SELECT id, name FROM suppliers) NATURAL JOIN (SELECT id, country FROM suppliers)""",
    "join_natural_left": """
        SELECT * FROM (SELECT id, region FROM customers) NATURAL LEFT JOIN (SELECT id, note
        FROM orders)""",
    "join_natural_full": """
        SELECT * FROM (SELECT year, product, units FROM sales WHERE year = 2023) NATURAL FULL JOIN
                      (SELECT year, product, amount FROM sales WHERE units > 9)""",
    "join_non_equi": "SELECT a.id, b.id AS cheaper FROM products a JOIN products b ON b.price < a.price",
    "join_range": """
        SELECT o.id, k.day, k.holiday FROM orders o JOIN calendar k
        ON o.placed >= k.day AND o.placed < k.day + INTERVAL 1 DAY""",
    "join_range_left": """
        SELECT e.name, b.label FROM employees e
        LEFT JOIN VALUES (0, 299, 'low'), (300, 600, 'mid') AS b(lo, hi, label)
        ON e.salary BETWEEN b.lo AND b.hi""",
    "join_or_condition": """
        SELECT a.id, b.id AS other FROM customers a JOIN customers b
        ON (a.email = b.email OR a.city = b.city) AND a.id < b.id""",
    "join_on_expression": """
        SELECT a.id, b.id AS other FROM words a JOIN words b
        ON lower(a.word) = upper(b.word) OR lower(a.word) = lower(b.word)""",
    "join_null_safe_key": """
        SELECT a.id, b.id AS other FROM customers a JOIN customers b ON a.region <=> b.region""",
    "join_self_three_times": """
        SELECT a.src, b.src AS via, c.dst FROM edges a JOIN edges b ON a.dst = b.src JOIN edges c
        ON b.dst = c.src""",
    "join_self_same_columns": "SELECT * FROM suppliers a JOIN suppliers b ON a.id = b.id",
    "join_left_then_inner": """
        SELECT c.name, o.id, i.line FROM customers c LEFT JOIN orders o ON o.customer_id = c.id
        JOIN items i ON i.order_id = o.id""",
    "join_inner_then_left_chain": """
        SELECT o.id, p.name, s.name AS supplier FROM orders o JOIN items i ON i.order_id = o.id
        LEFT JOIN products p ON p.id = i.product_id LEFT JOIN suppliers s ON s.id = p.supplier_id""",
    "join_parenthesized": """
        SELECT c.id, x.line FROM customers c LEFT JOIN (orders o JOIN items x ON x.order_id = o.id)
        ON o.customer_id = c.id""",
    "join_with_empty": "SELECT c.id, n.label FROM customers c LEFT JOIN nothing n ON n.id = c.id",
    "join_constant_condition": """
        SELECT s.id, n.n FROM suppliers s LEFT JOIN (SELECT max(id) AS n FROM orders) n ON true""",
    "join_on_null_condition": """
        SELECT s.id, p.id AS product FROM suppliers s LEFT JOIN products p ON CAST(NULL AS BOOLEAN)""",
    "join_on_struct_field": "SELECT e.id, c.email FROM events e JOIN customers c ON c.id = e.actor.id",
    "join_on_float_and_nan": "SELECT a.id, b.id AS other FROM numbers a JOIN numbers b ON a.d = b.d",
    "join_of_aggregates": """
        SELECT a.customer_id, a.n, b.spent FROM (SELECT customer_id, count(*) AS n FROM orders
        GROUP BY customer_id) a
        FULL JOIN (SELECT customer_id, sum(total) AS spent FROM orders WHERE status = 'shipped'
        GROUP BY customer_id) b
        ON a.customer_id = b.customer_id""",
    "join_hint_broadcast": """
        SELECT /*+ BROADCAST(s) */ p.name, s.name AS supplier FROM products p JOIN suppliers s
        ON s.id = p.supplier_id""",
    "join_hint_several": """
        SELECT /*+ MERGE(o), SHUFFLE_HASH(c) */ c.name, o.id FROM customers c JOIN orders o
        ON o.customer_id = c.id""",
    "join_nearest": """
        SELECT o.id, n.day FROM (SELECT * FROM orders WHERE placed IS NOT NULL) o LEFT JOIN calendar n
        EXACT NEAREST 1 BY DISTANCE abs(datediff(o.placed, n.day))""",
    "join_nearest_two_by_similarity": """
        SELECT p.id, s.id AS supplier FROM products p INNER JOIN suppliers s
        EXACT NEAREST 2 BY SIMILARITY p.id * s.id""",
    "join_lateral_subquery": """
        SELECT c.id, big.id AS order_id FROM customers c,
        LATERAL (SELECT o.id, o.total FROM orders o WHERE o.customer_id = c.id AND o.total > 50) AS big""",
    "join_lateral_top_n": """
        SELECT c.id, t.order_id, t.total FROM customers c JOIN LATERAL (
          SELECT o.id AS order_id, o.total FROM orders o WHERE o.customer_id = c.id
          ORDER BY o.total DESC, o.id LIMIT 1) t""",
    "join_lateral_left_aggregate": """
        SELECT c.id, s.n, s.total FROM customers c LEFT JOIN LATERAL (
          SELECT count(*) AS n, sum(o.total) AS total FROM orders o WHERE o.customer_id = c.id) s
          ON s.n > 1""",
    "join_lateral_expression_only": """
        SELECT id, up, twice FROM suppliers, LATERAL (SELECT upper(name) AS up),
               LATERAL (SELECT up || up AS twice)""",
    "join_lateral_union": """
        SELECT s.id, v.what FROM suppliers s, LATERAL (SELECT s.name AS what UNION ALL SELECT s.country) v""",
}

SUBQUERIES: dict[str, str] = {
    "subquery_in_from": "SELECT t.name FROM (SELECT name, id FROM customers WHERE vip) t WHERE t.id > 1",
    "subquery_scalar": "SELECT id, total, (SELECT max(total) FROM orders) AS top FROM orders",
    "subquery_scalar_in_where": "SELECT id FROM orders WHERE total > (SELECT avg(total) FROM orders)",
    "subquery_scalar_empty_is_null": "SELECT id, (SELECT label FROM nothing) AS l FROM suppliers",
    "subquery_scalar_correlated": """
        SELECT c.id, (SELECT sum(o.total) FROM orders o WHERE o.customer_id = c.id) AS spent
        FROM customers c""",
    "subquery_scalar_correlated_count": """
        SELECT c.id, (SELECT count(*) FROM orders o WHERE o.customer_id = c.id) AS n FROM customers c""",
    "subquery_scalar_correlated_in_where": """
        SELECT o.id FROM orders o WHERE o.total = (SELECT max(x.total) FROM orders x
        WHERE x.customer_id = o.customer_id)""",
    "subquery_scalar_correlated_limit": """
        SELECT c.id, (SELECT o.id FROM orders o WHERE o.customer_id = c.id
        ORDER BY o.placed DESC, o.id LIMIT 1) AS last
        FROM customers c""",
    "subquery_scalar_correlated_non_equality": """
        SELECT o.id, (SELECT count(*) FROM orders x WHERE x.total < o.total) AS below FROM orders o""",
    "subquery_scalar_in_having": """
        SELECT customer_id, sum(total) AS s FROM orders GROUP BY customer_id
        HAVING sum(total) > (SELECT avg(total) FROM orders)""",
    "subquery_scalar_in_case": """
        SELECT id, CASE WHEN total > (SELECT avg(total)
        FROM orders) THEN 'high' ELSE 'low' END AS level FROM orders""",
    "subquery_scalar_in_join_condition": """
        SELECT c.id, o.id AS order_id FROM customers c JOIN orders o
        ON o.customer_id = c.id AND o.total > (SELECT min(total) + 50 FROM orders)""",
    "subquery_scalar_nested": """
        SELECT id FROM products WHERE price > (SELECT avg(price) FROM items
        WHERE quantity < (SELECT max(quantity) FROM items))""",
    "subquery_scalar_struct_value": """
        SELECT id, (SELECT struct(max(id) AS hi, min(id) AS lo) FROM orders).hi AS hi FROM suppliers""",
    "subquery_in_aggregate": """
        SELECT region, sum(amount - (SELECT min(amount) FROM sales)) AS above FROM sales
        GROUP BY region""",
    "subquery_in_group_by": """
        SELECT count(*) AS n, total > (SELECT avg(total) FROM orders) AS high FROM orders GROUP BY 2""",
    "subquery_exists": """
        SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)""",
    "subquery_not_exists": """
        SELECT c.id FROM customers c WHERE NOT EXISTS (SELECT * FROM orders o
        WHERE o.customer_id = c.id AND o.total > 50)""",
    "subquery_exists_uncorrelated": """
        SELECT id FROM suppliers WHERE EXISTS (SELECT * FROM orders WHERE total > 900)""",
    "subquery_exists_non_equality": """
        SELECT a.id FROM products a WHERE EXISTS (SELECT 1 FROM products b WHERE b.price > a.price
        AND b.category <> a.category)""",
    "subquery_exists_or_condition": """
        SELECT c.id FROM customers c WHERE c.vip OR EXISTS (SELECT 1 FROM orders o
        WHERE o.customer_id = c.id AND o.note = 'rush')""",
    "subquery_exists_in_select": """
        SELECT c.id, EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id) AS buyer FROM customers c""",
    "subquery_exists_nested": """
        SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id
        AND EXISTS (
          SELECT 1 FROM items i WHERE i.order_id = o.id AND i.quantity > 2))""",
    "subquery_in": "SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE total > 60)",
    "subquery_not_in": """
        SELECT id FROM customers WHERE id NOT IN (SELECT customer_id FROM orders
        WHERE customer_id IS NOT NULL)""",
    "subquery_not_in_with_nulls": "SELECT id FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
    "subquery_not_in_empty": "SELECT id FROM customers WHERE id NOT IN (SELECT id FROM nothing)",
    "subquery_in_two_columns": """
        SELECT src, dst FROM edges WHERE (src, weight) IN (SELECT src, min(weight) FROM edges
        GROUP BY src)""",
    "subquery_in_correlated": """
        SELECT p.id FROM products p WHERE p.price IN (SELECT i.price FROM items i
        WHERE i.product_id = p.id)""",
    "subquery_in_select": """
        SELECT id, id IN (SELECT customer_id FROM orders WHERE total > 60) AS big FROM customers""",
    "subquery_in_case": """
        SELECT id, CASE WHEN id IN (SELECT supplier_id
        FROM products) THEN 'used' ELSE 'unused' END AS u FROM suppliers""",
    "subquery_in_having_exists": """
        SELECT customer_id FROM orders o GROUP BY customer_id
        HAVING count(*) > 1 AND EXISTS (SELECT 1 FROM customers c WHERE c.id = o.customer_id AND c.vip)""",
    "subquery_in_union_branch": """
        SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders UNION SELECT id
        FROM suppliers)""",
    "subquery_array": """
        SELECT id, array_contains((SELECT collect_set(customer_id) FROM orders), id) AS buyer
        FROM customers""",
}
