-- Data quality: orphans, duplicates, missing values, contradictions, and reports that unite them.

-- name: orphans_report
SELECT 'order without customer' AS problem, CAST(o.order_id AS STRING) AS key FROM orders o
LEFT ANTI JOIN customers c ON c.customer_id = o.customer_id
UNION ALL
SELECT 'line without order', concat(i.order_id, '/', i.line) FROM order_items i
LEFT ANTI JOIN orders o ON o.order_id = i.order_id
UNION ALL
SELECT 'line without product', concat(i.order_id, '/', i.line) FROM order_items i
WHERE i.product_id NOT IN (SELECT product_id FROM products)
UNION ALL
SELECT 'return without line', CAST(t.return_id AS STRING) FROM returns t
WHERE NOT EXISTS (SELECT 1 FROM order_items i WHERE i.order_id = t.order_id AND i.line = t.line);

-- name: duplicate_lines
SELECT order_id, line, COUNT(*) AS copies FROM order_items GROUP BY order_id, line HAVING COUNT(*) > 1;

-- name: lines_without_duplicates
SELECT DISTINCT order_id, line, product_id, quantity, unit_price, discount FROM order_items;

-- name: missing_values_by_column
SELECT COUNT(*) AS customers, COUNT(*) - COUNT(email) AS no_email, COUNT(*) - COUNT(city) AS no_city,
       COUNT(*) - COUNT(region_id) AS no_region, COUNT(*) - COUNT(segment) AS no_segment,
       ROUND(100 * COUNT(email) / NULLIF(COUNT(*), 0), 1) AS email_percent
FROM customers;

-- name: completeness_by_region
SELECT r.region, COUNT(c.customer_id) AS customers, COUNT(c.email) AS emails, COUNT_IF(c.segment IS NULL) AS unsegmented,
       BOOL_AND(c.email IS NOT NULL) AS all_reachable, EVERY(c.city IS NOT NULL) AS all_placed
FROM regions r LEFT JOIN customers c ON c.region_id = r.region_id
GROUP BY r.region;

-- name: totals_reconciled
SELECT COALESCE(a.product_id, b.product_id) AS product_id, a.sold, b.issued
FROM (SELECT product_id, SUM(quantity) AS sold FROM order_items GROUP BY product_id) a
FULL OUTER JOIN (SELECT product_id, SUM(quantity) AS issued FROM stock_moves WHERE kind = 'out' GROUP BY product_id) b
  ON a.product_id = b.product_id
WHERE NOT (a.sold <=> b.issued);

-- name: orders_in_closed_stores
SELECT o.order_id, s.store, s.closed FROM orders o JOIN stores s ON s.store_id = o.store_id
WHERE CAST(o.ordered_at AS DATE) > s.closed OR CAST(o.ordered_at AS DATE) < s.opened;

-- name: sellers_and_buyers_set
SELECT product_id FROM products
EXCEPT
SELECT product_id FROM order_items
UNION
(SELECT product_id FROM stock_moves INTERSECT SELECT product_id FROM prices);

-- name: lines_not_returned
SELECT order_id, line FROM order_items
EXCEPT ALL
SELECT order_id, line FROM returns;

-- name: cities_in_both
SELECT city FROM customers WHERE city IS NOT NULL
INTERSECT
SELECT city FROM customer_history WHERE valid_to IS NULL;

-- name: outliers_by_standard_deviation
SELECT i.order_id, i.line, i.product_id, i.quantity FROM order_items i
JOIN (SELECT product_id, AVG(quantity) AS mean, STDDEV(quantity) AS dev FROM order_items GROUP BY product_id) s
  ON s.product_id = i.product_id
WHERE s.dev > 0 AND ABS(i.quantity - s.mean) > 1.5 * s.dev;

-- name: quality_scorecard
SELECT check_name, SUM(bad) AS bad, COUNT(*) AS checked FROM (
  SELECT 'email' AS check_name, CASE WHEN email RLIKE '^[^@]+@[^@]+$' THEN 0 ELSE 1 END AS bad FROM customers
  UNION ALL
  SELECT 'price', CASE WHEN list_price > cost THEN 0 ELSE 1 END FROM products
  UNION ALL
  SELECT 'discount', CASE WHEN discount BETWEEN 0 AND 0.5 THEN 0 ELSE 1 END FROM order_items
  UNION ALL
  SELECT 'status', CASE WHEN status IS NULL THEN 1 ELSE 0 END FROM orders
) GROUP BY check_name;
