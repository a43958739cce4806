"""Realistic questions: many operators in one query."""

from __future__ import annotations

ANALYTICS: dict[str, str] = {
    "pricing_summary": """
        SELECT o.status, sum(i.quantity) AS quantity, sum(i.quantity * i.price) AS gross,
               sum(i.quantity * net(i.price, i.discount)) AS net, avg(i.price) AS mean, count(*) AS lines
        FROM items i JOIN orders o ON o.id = i.order_id WHERE o.placed < DATE'2024-02-01'
        GROUP BY o.status ORDER BY o.status""",
    "cheapest_supplier": """
        SELECT s.name, p.name AS product, p.price FROM products p JOIN suppliers s ON s.id = p.supplier_id
        WHERE p.price = (SELECT min(q.price) FROM products q WHERE q.category = p.category) AND s.rating > 1
        ORDER BY s.name, product""",
    "unshipped_value": """
        SELECT o.id, sum(i.quantity * i.price) AS revenue, o.placed FROM customers c JOIN orders o
        ON o.customer_id = c.id
        JOIN items i ON i.order_id = o.id WHERE c.region = 'EU' AND o.status <> 'cancelled'
        GROUP BY o.id, o.placed ORDER BY revenue DESC, o.id LIMIT 5""",
    "local_supplier_volume": """
        SELECT s.country, k.week, sum(i.quantity * i.price) AS revenue
        FROM suppliers s JOIN products p ON p.supplier_id = s.id JOIN items i ON i.product_id = p.id
        JOIN orders o ON o.id = i.order_id JOIN calendar k ON k.day = CAST(o.placed AS DATE)
        JOIN customers c ON c.id = o.customer_id GROUP BY s.country, k.week HAVING sum(i.quantity) > 1""",
    "market_share": """
        SELECT month(o.placed) AS m,
               sum(CASE WHEN p.category = 'tools' THEN i.quantity * i.price ELSE 0 END) /
               sum(i.quantity * i.price) AS share
        FROM items i JOIN orders o ON o.id = i.order_id LEFT JOIN products p ON p.id = i.product_id
        WHERE o.status = 'shipped' GROUP BY month(o.placed)""",
    "customer_distribution": """
        SELECT n, count(*) AS customers FROM (
          SELECT c.id, count(o.id) AS n FROM customers c LEFT JOIN orders o
          ON o.customer_id = c.id AND o.note NOT LIKE '%gift%' GROUP BY c.id) GROUP BY n
          ORDER BY customers DESC, n""",
    "large_volume_customers": """
        SELECT c.name, o.id, sum(i.quantity) AS q FROM customers c, orders o, items i
        WHERE o.id IN (SELECT order_id FROM items GROUP BY order_id HAVING sum(quantity) > 2)
          AND c.id = o.customer_id AND o.id = i.order_id GROUP BY c.name, o.id""",
    "small_quantity_revenue": """
        SELECT sum(i.price) / 7.0 AS yearly FROM items i JOIN products p ON p.id = i.product_id
        WHERE i.quantity <= (SELECT avg(j.quantity) FROM items j WHERE j.product_id = p.id)""",
    "suppliers_who_kept_orders_waiting": """
        SELECT s.name, count(DISTINCT o.id) AS waiting FROM suppliers s JOIN products p
        ON p.supplier_id = s.id
        JOIN items i ON i.product_id = p.id JOIN orders o ON o.id = i.order_id
        WHERE o.status = 'open' AND NOT EXISTS (SELECT 1 FROM items j WHERE j.order_id = o.id
        AND j.discount > 0)
        GROUP BY s.name""",
    "global_sales_opportunity": """
        SELECT c.region, count(*) AS n, sum(c.credit) AS credit FROM customers c
        WHERE c.credit > (SELECT avg(credit) FROM customers WHERE credit > 0 AND credit < 10000)
          AND NOT EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id AND o.status = 'shipped')
        GROUP BY c.region""",
    "retention_cohorts": """
        WITH firsts AS (SELECT customer_id, min(date_trunc('month', placed)) AS cohort FROM orders
        GROUP BY customer_id),
        activity AS (SELECT DISTINCT customer_id, date_trunc('month', placed) AS month FROM orders
        WHERE placed IS NOT NULL)
        SELECT f.cohort, CAST(months_between(a.month, f.cohort) AS INT) AS age, count(*) AS customers
        FROM firsts f JOIN activity a ON a.customer_id = f.customer_id GROUP BY ALL""",
    "rolling_week_per_region": """
        SELECT day, region, sum(amount) OVER (PARTITION BY region
        ORDER BY day RANGE BETWEEN INTERVAL '6' DAY PRECEDING
          AND CURRENT ROW) AS week FROM (
            SELECT k.day, r.region, coalesce(sum(o.total), 0) AS amount FROM calendar k
            CROSS JOIN (SELECT DISTINCT region FROM customers WHERE region IS NOT NULL) r
            LEFT JOIN (orders o JOIN customers c ON c.id = o.customer_id)
              ON c.region = r.region AND CAST(o.placed AS DATE) = k.day
            GROUP BY k.day, r.region)""",
    "first_and_last_purchase": """
        SELECT c.id, c.name, min(o.placed) AS first, max(o.placed) AS last,
               max_by(o.id, (o.placed, o.id)) AS last_id,
               datediff(max(o.placed), min(o.placed)) AS days, count_if(o.status = 'shipped') AS shipped
        FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name""",
    "basket_pairs": """
        SELECT p.name, q.name AS other, count(DISTINCT a.order_id) AS together FROM items a
        JOIN items b ON a.order_id = b.order_id AND a.product_id < b.product_id
        JOIN products p ON p.id = a.product_id JOIN products q ON q.id = b.product_id
        GROUP BY p.name, q.name""",
    "pareto_of_products": """
        WITH revenue AS (SELECT product_id, sum(quantity * price) AS r FROM items GROUP BY product_id)
        SELECT p.name, r.r, sum(r.r) OVER (ORDER BY r.r DESC, r.product_id) / sum(r.r) OVER () AS share
        FROM revenue r LEFT JOIN products p ON p.id = r.product_id""",
    "year_over_year": """
        SELECT cur.product, cur.amount, prev.amount AS before, cur.amount - prev.amount AS growth
        FROM (SELECT product, sum(amount) AS amount FROM sales WHERE year = 2024 GROUP BY product) cur
        LEFT JOIN (SELECT product, sum(amount) AS amount FROM sales WHERE year = 2023 GROUP BY product) prev
        ON cur.product <=> prev.product""",
    "slowly_changing_dimension": """
        SELECT customer_id, status, placed AS valid_from, lead(placed) OVER (PARTITION BY customer_id
        ORDER BY placed, id)
          AS valid_to FROM (SELECT *, lag(status) OVER (PARTITION BY customer_id
          ORDER BY placed, id) AS before FROM orders)
        WHERE before IS DISTINCT FROM status""",
    "sessionization": """
        SELECT customer_id, session, count(*) AS n, sum(total) AS s FROM (
          SELECT *, sum(new) OVER (PARTITION BY customer_id ORDER BY placed, id) AS session FROM (
            SELECT *, CASE WHEN placed - lag(placed) OVER (PARTITION BY customer_id ORDER BY placed, id)
              <= INTERVAL 4 DAYS THEN 0 ELSE 1 END AS new FROM orders)) GROUP BY customer_id, session""",
    "funnel": """
        SELECT kind, count(DISTINCT actor.id) AS actors, count(*) AS n,
               sort_array(collect_set(props['page'])) AS pages
        FROM events GROUP BY kind HAVING count(*) > 0 ORDER BY n DESC, kind""",
    "reading_statistics": """
        SELECT e.kind, count(r.value) AS n, max(r.value) AS top, sum(r.value) AS s FROM events e
        LATERAL VIEW OUTER inline(e.readings) r AS at, value GROUP BY e.kind""",
    "tag_matrix": """
        SELECT * FROM (SELECT p.category, t.tag FROM products p LATERAL VIEW explode(p.tags) t AS tag)
        PIVOT (count(*) FOR tag IN ('heavy', 'iron', 'wood'))""",
    "quality_checks": """
        SELECT 'orphan orders' AS check, count(*) AS n FROM orders o LEFT ANTI JOIN customers c
        ON c.id = o.customer_id
        UNION ALL SELECT 'orphan items', count(*) FROM items WHERE order_id NOT IN (SELECT id FROM orders)
        UNION ALL SELECT 'totals differ', count(*) FROM (SELECT o.id FROM orders o JOIN items i
        ON i.order_id = o.id
          GROUP BY o.id, o.total HAVING sum(i.quantity * i.price) <> o.total)
        UNION ALL SELECT 'duplicates', count(*) FROM (SELECT name FROM customers GROUP BY name
        HAVING count(*) > 1)""",
    "salary_by_management_chain": """
        WITH RECURSIVE under(boss, id) AS (SELECT id, id FROM employees UNION ALL
          SELECT u.boss, e.id FROM under u JOIN employees e ON e.manager_id = u.id)
        SELECT b.name, count(*) - 1 AS reports, sum(e.salary) AS payroll FROM under u JOIN employees b
        ON b.id = u.boss
        JOIN employees e ON e.id = u.id GROUP BY b.id, b.name""",
    "report_with_subtotals": """
        SELECT coalesce(c.region, CASE grouping(c.region) WHEN 1 THEN 'all' ELSE '?' END) AS region,
               coalesce(p.category, CASE grouping(p.category) WHEN 1 THEN 'all' ELSE '?' END) AS category,
               sum(i.quantity * i.price) AS revenue, count(DISTINCT o.id) AS orders
        FROM customers c JOIN orders o ON o.customer_id = c.id JOIN items i ON i.order_id = o.id
        JOIN products p ON p.id = i.product_id GROUP BY ROLLUP (c.region, p.category)""",
    "wide_denormalized_row": """
        SELECT c.id, c.name, named_struct('n', count(o.id), 'spent', sum(o.total)) AS summary,
               sort_array(collect_list(named_struct('id', o.id, 'total', o.total))) AS orders,
               (SELECT count(*) FROM events e WHERE e.actor.id = c.id) AS events
        FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY 1, 2, 5""",
}
