-- Slowly changing lookups: what was valid when; gaps and overlaps of validity.

-- name: price_at_the_time
SELECT o.order_id, i.line, i.product_id, i.unit_price, h.price AS price_then, i.unit_price - h.price AS deviation
FROM orders o
JOIN order_items i ON i.order_id = o.order_id
LEFT JOIN prices h ON h.product_id = i.product_id
  AND CAST(o.ordered_at AS DATE) >= h.valid_from AND CAST(o.ordered_at AS DATE) < h.valid_to;

-- name: revenue_by_segment_at_the_time
SELECT h.segment, h.city, SUM(i.quantity * i.unit_price) AS revenue, COUNT(DISTINCT o.order_id) AS orders
FROM orders o
JOIN order_items i ON i.order_id = o.order_id
JOIN customer_history h ON h.customer_id = o.customer_id
  AND o.ordered_at >= h.valid_from AND (h.valid_to IS NULL OR o.ordered_at < h.valid_to)
GROUP BY h.segment, h.city;

-- name: latest_price_by_row_number
SELECT o.order_id, i.line, i.product_id, h.price
FROM orders o
JOIN order_items i ON i.order_id = o.order_id
JOIN prices h ON h.product_id = i.product_id AND h.valid_from <= CAST(o.ordered_at AS DATE)
QUALIFY ROW_NUMBER() OVER (PARTITION BY o.order_id, i.line ORDER BY h.valid_from DESC, h.price DESC) = 1;

-- name: price_as_of_by_scalar
SELECT o.order_id, i.line,
       (SELECT MAX(h.valid_from) FROM prices h
        WHERE h.product_id = i.product_id AND h.valid_from <= CAST(o.ordered_at AS DATE)) AS priced_since
FROM orders o JOIN order_items i ON i.order_id = o.order_id;

-- name: price_changes
SELECT product_id, valid_from, price, price - LAG(price) OVER (PARTITION BY product_id ORDER BY valid_from) AS raised,
       LEAD(valid_from) OVER (PARTITION BY product_id ORDER BY valid_from) AS next_change
FROM prices;

-- name: validity_gaps_and_overlaps
SELECT a.product_id, a.valid_to, b.valid_from,
       CASE WHEN b.valid_from > a.valid_to THEN 'gap' ELSE 'overlap' END AS problem
FROM (
  SELECT *, LEAD(valid_from) OVER (PARTITION BY product_id ORDER BY valid_from, valid_to) AS follows FROM prices
) a
JOIN prices b ON b.product_id = a.product_id AND b.valid_from = a.follows
WHERE b.valid_from <> a.valid_to;

-- name: current_rows
SELECT c.customer_id, c.city, h.city AS city_of_history, c.city <=> h.city AS agree
FROM customers c LEFT JOIN customer_history h ON h.customer_id = c.customer_id AND h.valid_to IS NULL;

-- name: customers_who_moved
SELECT customer_id, COUNT(DISTINCT city) AS cities, COUNT(*) - 1 AS changes, MIN(valid_from) AS since
FROM customer_history GROUP BY customer_id HAVING COUNT(*) > 1;

-- name: orders_before_and_after_moving
SELECT h.customer_id, h.city, COUNT(o.order_id) AS orders, MIN(o.ordered_at) AS first_order
FROM customer_history h
LEFT JOIN orders o ON o.customer_id = h.customer_id
  AND o.ordered_at >= h.valid_from AND o.ordered_at < COALESCE(h.valid_to, DATE'9999-12-31')
WHERE h.customer_id IN (SELECT customer_id FROM customer_history WHERE valid_to IS NOT NULL)
GROUP BY h.customer_id, h.city;

-- name: days_at_each_price
SELECT h.product_id, h.price, SUM(datediff(LEAST(h.valid_to, DATE'2024-07-31'), h.valid_from)) AS days
FROM prices h GROUP BY h.product_id, h.price;

-- name: time_weighted_price
SELECT product_id,
       SUM(price * datediff(LEAST(valid_to, DATE'2024-07-31'), valid_from))
         / SUM(datediff(LEAST(valid_to, DATE'2024-07-31'), valid_from)) AS mean_price
FROM prices WHERE valid_from < DATE'2024-07-31' GROUP BY product_id;

-- name: promotions_that_overlap
SELECT a.promotion_id, b.promotion_id AS other, GREATEST(a.starts, b.starts) AS from_day, LEAST(a.ends, b.ends) AS to_day
FROM promotions a JOIN promotions b ON a.promotion_id < b.promotion_id
  AND a.starts <= COALESCE(b.ends, DATE'9999-12-31') AND b.starts <= COALESCE(a.ends, DATE'9999-12-31');
