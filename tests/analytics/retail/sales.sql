-- Revenue by everything: wide joins, shares, comparisons with the past, targets.

-- name: revenue_by_region_category_month
SELECT r.region, k.category, date_trunc('month', o.ordered_at) AS month,
       SUM(i.quantity * i.unit_price * (1 - COALESCE(i.discount, 0))) AS revenue,
       SUM(i.quantity) AS units, COUNT(DISTINCT o.order_id) AS orders
FROM orders o
JOIN order_items i ON i.order_id = o.order_id
JOIN products p ON p.product_id = i.product_id
JOIN categories k ON k.category_id = p.category_id
JOIN stores s ON s.store_id = o.store_id
JOIN regions r ON r.region_id = s.region_id
WHERE o.status IN ('shipped', 'delivered')
GROUP BY r.region, k.category, date_trunc('month', o.ordered_at);

-- name: everything_about_a_line
SELECT o.order_id, i.line, c.name, c.segment, cr.region AS customer_region, s.store, sr.region AS store_region,
       p.product, k.category, u.supplier, m.promotion, i.quantity * i.unit_price AS amount
FROM order_items i
JOIN orders o ON o.order_id = i.order_id
LEFT JOIN customers c ON c.customer_id = o.customer_id
LEFT JOIN regions cr ON cr.region_id = c.region_id
LEFT JOIN stores s ON s.store_id = o.store_id
LEFT JOIN regions sr ON sr.region_id = s.region_id
LEFT JOIN products p ON p.product_id = i.product_id
LEFT JOIN categories k ON k.category_id = p.category_id
LEFT JOIN suppliers u ON u.supplier_id = p.supplier_id
LEFT JOIN promotions m ON m.promotion_id = o.promotion_id;

-- name: year_over_year
WITH monthly AS (
  SELECT year(o.ordered_at) AS y, month(o.ordered_at) AS m, SUM(i.quantity * i.unit_price) AS revenue
  FROM orders o JOIN order_items i USING (order_id)
  WHERE o.status <> 'cancelled'
  GROUP BY year(o.ordered_at), month(o.ordered_at)
)
SELECT cur.y, cur.m, cur.revenue, prev.revenue AS year_before,
       ROUND(100 * (cur.revenue - prev.revenue) / NULLIF(prev.revenue, 0), 1) AS growth_percent
FROM monthly cur LEFT JOIN monthly prev ON prev.y = cur.y - 1 AND prev.m = cur.m;

-- name: year_over_year_by_lag
SELECT store_id, y, revenue, LAG(revenue) OVER (PARTITION BY store_id ORDER BY y) AS year_before,
       revenue - LAG(revenue, 1, 0) OVER (PARTITION BY store_id ORDER BY y) AS more
FROM (
  SELECT o.store_id, year(o.ordered_at) AS y, SUM(i.quantity * i.unit_price) AS revenue
  FROM orders o JOIN order_items i ON i.order_id = o.order_id
  GROUP BY o.store_id, year(o.ordered_at)
);

-- name: month_to_date
SELECT store_id, day, revenue,
       SUM(revenue) OVER (PARTITION BY store_id, date_trunc('month', day) ORDER BY day) AS month_to_date
FROM (
  SELECT o.store_id, CAST(o.ordered_at AS DATE) AS day, SUM(i.quantity * i.unit_price) AS revenue
  FROM orders o JOIN order_items i ON i.order_id = o.order_id
  GROUP BY o.store_id, CAST(o.ordered_at AS DATE)
);

-- name: running_total_of_the_shop
SELECT day, revenue, SUM(revenue) OVER (ORDER BY day ROWS UNBOUNDED PRECEDING) AS so_far
FROM (
  SELECT CAST(o.ordered_at AS DATE) AS day, SUM(i.quantity * i.unit_price) AS revenue
  FROM orders o JOIN order_items i ON i.order_id = o.order_id
  GROUP BY 1
);

-- name: moving_average_of_seven_orders
SELECT store_id, order_id, amount,
       AVG(amount) OVER (PARTITION BY store_id ORDER BY ordered_at, order_id ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS avg7
FROM (
  SELECT o.store_id, o.order_id, o.ordered_at, SUM(i.quantity * i.unit_price) AS amount
  FROM orders o JOIN order_items i ON i.order_id = o.order_id
  GROUP BY o.store_id, o.order_id, o.ordered_at
);

-- name: moving_sum_of_thirty_days
SELECT region, day, revenue,
       SUM(revenue) OVER (PARTITION BY region ORDER BY day RANGE BETWEEN INTERVAL 29 DAYS PRECEDING AND CURRENT ROW) AS last30
FROM (
  SELECT r.region, CAST(o.ordered_at AS DATE) AS day, SUM(i.quantity * i.unit_price) AS revenue
  FROM orders o
  JOIN order_items i ON i.order_id = o.order_id
  JOIN stores s ON s.store_id = o.store_id
  JOIN regions r ON r.region_id = s.region_id
  GROUP BY r.region, CAST(o.ordered_at AS DATE)
);

-- name: percent_of_total_by_store
SELECT s.store, SUM(i.quantity * i.unit_price) AS revenue,
       ROUND(100 * SUM(i.quantity * i.unit_price) / SUM(SUM(i.quantity * i.unit_price)) OVER (), 2) AS percent
FROM orders o
JOIN order_items i ON i.order_id = o.order_id
JOIN stores s ON s.store_id = o.store_id
GROUP BY s.store;

-- name: share_of_category_in_parent
SELECT parent.category AS parent, k.category, SUM(i.quantity * i.unit_price) AS revenue,
       SUM(i.quantity * i.unit_price) / SUM(SUM(i.quantity * i.unit_price)) OVER (PARTITION BY parent.category) AS share
FROM order_items i
JOIN products p ON p.product_id = i.product_id
JOIN categories k ON k.category_id = p.category_id
LEFT JOIN categories parent ON parent.category_id = k.parent_id
GROUP BY parent.category, k.category;

-- name: target_attainment
SELECT t.store_id, t.month, t.target, COALESCE(a.revenue, 0) AS revenue,
       CASE WHEN COALESCE(a.revenue, 0) >= t.target THEN 'met' WHEN a.revenue IS NULL THEN 'no sales' ELSE 'missed' END AS verdict
FROM targets t
LEFT JOIN (
  SELECT o.store_id, CAST(date_trunc('month', o.ordered_at) AS DATE) AS month, SUM(i.quantity * i.unit_price) AS revenue
  FROM orders o JOIN order_items i ON i.order_id = o.order_id
  WHERE o.status IN ('shipped', 'delivered')
  GROUP BY o.store_id, CAST(date_trunc('month', o.ordered_at) AS DATE)
) a ON a.store_id = t.store_id AND a.month = t.month;

-- name: actual_and_target_of_every_month
SELECT COALESCE(t.store_id, a.store_id) AS store_id, COALESCE(t.month, a.month) AS month, t.target, a.orders
FROM targets t
FULL OUTER JOIN (
  SELECT store_id, CAST(date_trunc('month', ordered_at) AS DATE) AS month, COUNT(*) AS orders
  FROM orders GROUP BY store_id, CAST(date_trunc('month', ordered_at) AS DATE)
) a ON a.store_id = t.store_id AND a.month = t.month;

-- name: revenue_rollup
SELECT r.region, s.store, year(o.ordered_at) AS y, SUM(i.quantity * i.unit_price) AS revenue, GROUPING_ID() AS level
FROM orders o
JOIN order_items i ON i.order_id = o.order_id
JOIN stores s ON s.store_id = o.store_id
LEFT JOIN regions r ON r.region_id = s.region_id
GROUP BY ROLLUP (r.region, s.store, year(o.ordered_at));

-- name: revenue_cube_of_status_and_segment
SELECT o.status, c.segment, COUNT(*) AS orders, GROUPING(o.status) AS all_statuses, GROUPING(c.segment) AS all_segments
FROM orders o LEFT JOIN customers c ON c.customer_id = o.customer_id
GROUP BY CUBE (o.status, c.segment);

-- name: totals_at_three_levels
SELECT s.store, k.category, COUNT(*) AS lines, SUM(i.quantity) AS units
FROM orders o
JOIN order_items i ON i.order_id = o.order_id
JOIN stores s ON s.store_id = o.store_id
JOIN products p ON p.product_id = i.product_id
JOIN categories k ON k.category_id = p.category_id
GROUP BY GROUPING SETS ((s.store, k.category), (s.store), ());

-- name: quarters_side_by_side
SELECT * FROM (
  SELECT o.store_id, quarter(o.ordered_at) AS q, i.quantity * i.unit_price AS amount
  FROM orders o JOIN order_items i ON i.order_id = o.order_id
  WHERE year(o.ordered_at) = 2023
) PIVOT (SUM(amount) AS revenue, COUNT(*) AS lines FOR q IN (1 AS q1, 2 AS q2, 3 AS q3, 4 AS q4));

-- name: weekday_pivot_by_case
SELECT store_id,
       SUM(CASE WHEN dayofweek(ordered_at) IN (1, 7) THEN 1 ELSE 0 END) AS weekend,
       SUM(CASE WHEN dayofweek(ordered_at) NOT IN (1, 7) THEN 1 ELSE 0 END) AS week,
       COUNT_IF(hour(ordered_at) < 12) AS mornings,
       COUNT(*) FILTER (WHERE status = 'cancelled') AS cancelled
FROM orders GROUP BY store_id;

-- name: average_basket_of_orders
SELECT segment, AVG(amount) AS mean_amount, MEDIAN(amount) AS median_amount, MAX(amount) AS largest, AVG(lines) AS mean_lines
FROM (
  SELECT c.segment, o.order_id, SUM(i.quantity * i.unit_price) AS amount, COUNT(*) AS lines
  FROM orders o
  JOIN order_items i ON i.order_id = o.order_id
  JOIN customers c ON c.customer_id = o.customer_id
  GROUP BY c.segment, o.order_id
) GROUP BY segment;

-- name: best_month_of_each_store
SELECT store_id, month, revenue FROM (
  SELECT store_id, month, revenue, RANK() OVER (PARTITION BY store_id ORDER BY revenue DESC, month) AS place
  FROM (
    SELECT o.store_id, date_trunc('month', o.ordered_at) AS month, SUM(i.quantity * i.unit_price) AS revenue
    FROM orders o JOIN order_items i ON i.order_id = o.order_id
    GROUP BY o.store_id, date_trunc('month', o.ordered_at)
  )
) WHERE place = 1;

-- name: promotion_uplift
SELECT m.promotion_id, m.promotion, p.orders, p.revenue AS promoted,
       (SELECT SUM(j.quantity * j.unit_price)
        FROM orders q JOIN order_items j ON j.order_id = q.order_id
        WHERE q.promotion_id IS NULL AND CAST(q.ordered_at AS DATE) BETWEEN m.starts AND m.ends) AS unpromoted
FROM promotions m
LEFT JOIN (
  SELECT o.promotion_id, COUNT(DISTINCT o.order_id) AS orders, SUM(i.quantity * i.unit_price) AS revenue
  FROM orders o JOIN order_items i ON i.order_id = o.order_id GROUP BY o.promotion_id
) p ON p.promotion_id = m.promotion_id;

-- name: orders_outside_their_promotion
SELECT o.order_id, m.promotion, o.ordered_at, m.starts, m.ends
FROM orders o JOIN promotions m ON m.promotion_id = o.promotion_id
WHERE NOT (CAST(o.ordered_at AS DATE) BETWEEN m.starts AND COALESCE(m.ends, DATE'9999-12-31'));

-- name: stores_above_average
SELECT s.store_id, s.store, t.revenue
FROM stores s
JOIN (
  SELECT o.store_id, SUM(i.quantity * i.unit_price) AS revenue
  FROM orders o JOIN order_items i ON i.order_id = o.order_id GROUP BY o.store_id
) t ON t.store_id = s.store_id
WHERE t.revenue > (
  SELECT AVG(revenue) FROM (
    SELECT SUM(i.quantity * i.unit_price) AS revenue
    FROM orders o JOIN order_items i ON i.order_id = o.order_id
    WHERE o.store_id IS NOT NULL GROUP BY o.store_id));

-- name: ten_largest_orders
SELECT o.order_id, o.customer_id, o.status, SUM(i.quantity * i.unit_price) AS amount
FROM orders o JOIN order_items i ON i.order_id = o.order_id
GROUP BY o.order_id, o.customer_id, o.status
ORDER BY amount DESC, o.order_id
LIMIT 10;

-- name: key_figures
SELECT COUNT(DISTINCT o.order_id) AS orders, COUNT(DISTINCT o.customer_id) AS customers,
       SUM(i.quantity * i.unit_price) AS revenue, MIN(o.ordered_at) AS first_order, MAX(o.ordered_at) AS last_order
FROM orders o JOIN order_items i ON i.order_id = o.order_id
WHERE o.status <> 'cancelled';

-- name: net_revenue_after_returns
SELECT p.product_id, p.product, COALESCE(s.gross, 0) AS gross, COALESCE(b.returned, 0) AS returned,
       COALESCE(s.gross, 0) - COALESCE(b.returned, 0) AS net
FROM products p
LEFT JOIN (SELECT product_id, SUM(quantity * unit_price) AS gross FROM order_items GROUP BY product_id) s
  ON s.product_id = p.product_id
LEFT JOIN (
  SELECT i.product_id, SUM(t.quantity * i.unit_price) AS returned
  FROM returns t JOIN (SELECT DISTINCT order_id, line, product_id, unit_price FROM order_items) i
    ON i.order_id = t.order_id AND i.line = t.line
  GROUP BY i.product_id
) b ON b.product_id = p.product_id;
