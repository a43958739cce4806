-- Who buys: recency and value, cohorts, churn, duplicates, first and last orders.

-- name: recency_frequency_value
WITH base AS (
  SELECT o.customer_id, MAX(CAST(o.ordered_at AS DATE)) AS last_day, COUNT(DISTINCT o.order_id) AS frequency,
         SUM(i.quantity * i.unit_price) AS value
  FROM orders o JOIN order_items i ON i.order_id = o.order_id
  WHERE o.customer_id IS NOT NULL
  GROUP BY o.customer_id
)
SELECT customer_id, datediff(DATE'2024-07-31', last_day) AS recency, frequency, value,
       NTILE(4) OVER (ORDER BY last_day DESC, customer_id) AS r,
       NTILE(4) OVER (ORDER BY frequency DESC, customer_id) AS f,
       NTILE(4) OVER (ORDER BY value DESC, customer_id) AS m
FROM base;

-- name: retention_cohorts
WITH firsts AS (
  SELECT customer_id, date_trunc('quarter', MIN(ordered_at)) AS cohort FROM orders
  WHERE customer_id IS NOT NULL GROUP BY customer_id
),
activity AS (
  SELECT DISTINCT customer_id, date_trunc('quarter', ordered_at) AS active FROM orders WHERE customer_id IS NOT NULL
)
SELECT f.cohort, CAST(months_between(a.active, f.cohort) / 3 AS INT) AS quarters_later,
       COUNT(DISTINCT a.customer_id) AS customers
FROM firsts f JOIN activity a ON a.customer_id = f.customer_id
GROUP BY f.cohort, CAST(months_between(a.active, f.cohort) / 3 AS INT);

-- name: retention_rate
WITH firsts AS (
  SELECT customer_id, date_trunc('quarter', MIN(ordered_at)) AS cohort FROM orders
  WHERE customer_id IS NOT NULL GROUP BY customer_id
),
sizes AS (SELECT cohort, COUNT(*) AS customers FROM firsts GROUP BY cohort),
returned AS (
  SELECT f.cohort, COUNT(DISTINCT f.customer_id) AS customers
  FROM firsts f JOIN orders o ON o.customer_id = f.customer_id AND date_trunc('quarter', o.ordered_at) > f.cohort
  GROUP BY f.cohort
)
SELECT s.cohort, s.customers, COALESCE(r.customers, 0) AS came_back,
       ROUND(COALESCE(r.customers, 0) / s.customers, 3) AS rate
FROM sizes s LEFT JOIN returned r ON r.cohort = s.cohort;

-- name: first_order_of_each_customer
SELECT customer_id, order_id, ordered_at, store_id FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY ordered_at, order_id) AS n FROM orders
) WHERE n = 1 AND customer_id IS NOT NULL;

-- name: last_three_orders_of_each_customer
SELECT c.customer_id, c.name, o.order_id, o.ordered_at
FROM customers c
JOIN orders o ON o.customer_id = c.customer_id
QUALIFY ROW_NUMBER() OVER (PARTITION BY c.customer_id ORDER BY o.ordered_at DESC, o.order_id DESC) <= 3;

-- name: last_status_of_each_customer
SELECT customer_id, max_by(status, struct(ordered_at, order_id)) AS last_status, MAX(ordered_at) AS last_order
FROM orders WHERE customer_id IS NOT NULL GROUP BY customer_id;

-- name: days_between_orders
SELECT customer_id, order_id, datediff(ordered_at, LAG(ordered_at) OVER w) AS days_since,
       datediff(LEAD(ordered_at) OVER w, ordered_at) AS days_until
FROM orders
WINDOW w AS (PARTITION BY customer_id ORDER BY ordered_at, order_id);

-- name: mean_time_between_orders
SELECT c.segment, AVG(gap) AS mean_gap, MAX(gap) AS longest_gap, COUNT(gap) AS gaps
FROM (
  SELECT customer_id, datediff(ordered_at, LAG(ordered_at) OVER (PARTITION BY customer_id ORDER BY ordered_at, order_id)) AS gap
  FROM orders
) g JOIN customers c ON c.customer_id = g.customer_id
GROUP BY c.segment;

-- name: churned_customers
SELECT c.customer_id, c.name, last.last_order
FROM customers c
LEFT JOIN (SELECT customer_id, MAX(ordered_at) AS last_order FROM orders GROUP BY customer_id) last
  ON last.customer_id = c.customer_id
WHERE last.last_order IS NULL OR last.last_order < TIMESTAMP'2024-01-01 00:00:00';

-- name: customers_who_never_ordered
SELECT c.customer_id, c.name FROM customers c
WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id);

-- name: customers_not_in_orders
SELECT customer_id, name FROM customers
WHERE customer_id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL AND status = 'delivered');

-- name: not_in_with_nulls
SELECT customer_id, name FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders);

-- name: customers_who_bought_cheese_but_no_fruit
SELECT c.customer_id, c.name FROM customers c
WHERE EXISTS (
    SELECT 1 FROM orders o JOIN order_items i ON i.order_id = o.order_id JOIN products p ON p.product_id = i.product_id
    JOIN categories k ON k.category_id = p.category_id
    WHERE o.customer_id = c.customer_id AND k.category = 'Cheese')
  AND NOT EXISTS (
    SELECT 1 FROM orders o JOIN order_items i ON i.order_id = o.order_id JOIN products p ON p.product_id = i.product_id
    JOIN categories k ON k.category_id = p.category_id
    WHERE o.customer_id = c.customer_id AND k.category = 'Fruit');

-- name: customers_who_bought_in_every_store_of_a_region
SELECT o.customer_id, s.region_id
FROM orders o JOIN stores s ON s.store_id = o.store_id
GROUP BY o.customer_id, s.region_id
HAVING COUNT(DISTINCT s.store_id) = (SELECT COUNT(*) FROM stores t WHERE t.region_id = s.region_id);

-- name: one_customer_per_email
SELECT customer_id, LOWER(email) AS email, name, joined FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY LOWER(email) ORDER BY joined DESC, customer_id DESC) AS n
  FROM customers WHERE email IS NOT NULL
) WHERE n = 1;

-- name: customers_that_share_an_email
SELECT a.customer_id AS one, b.customer_id AS other, LOWER(a.email) AS email
FROM customers a JOIN customers b ON LOWER(a.email) = LOWER(b.email) AND a.customer_id < b.customer_id;

-- name: lifetime_value
SELECT c.customer_id, c.name, c.segment, COALESCE(SUM(i.quantity * i.unit_price), 0) AS lifetime,
       COUNT(DISTINCT o.order_id) AS orders, COUNT(DISTINCT p.category_id) AS categories,
       SUM(i.quantity * (i.unit_price - p.cost)) AS margin
FROM customers c
LEFT JOIN orders o ON o.customer_id = c.customer_id AND o.status <> 'cancelled'
LEFT JOIN order_items i ON i.order_id = o.order_id
LEFT JOIN products p ON p.product_id = i.product_id
GROUP BY c.customer_id, c.name, c.segment;

-- name: value_deciles
SELECT decile, COUNT(*) AS customers, SUM(value) AS value FROM (
  SELECT customer_id, value, NTILE(10) OVER (ORDER BY value DESC, customer_id) AS decile FROM (
    SELECT o.customer_id, SUM(i.quantity * i.unit_price) AS value
    FROM orders o JOIN order_items i ON i.order_id = o.order_id
    WHERE o.customer_id IS NOT NULL GROUP BY o.customer_id)
) GROUP BY decile;

-- name: top_customers_of_each_region
SELECT region, customer_id, name, spent, place FROM (
  SELECT r.region, c.customer_id, c.name, SUM(i.quantity * i.unit_price) AS spent,
         DENSE_RANK() OVER (PARTITION BY r.region ORDER BY SUM(i.quantity * i.unit_price) DESC) AS place
  FROM customers c
  JOIN regions r ON r.region_id = c.region_id
  JOIN orders o ON o.customer_id = c.customer_id
  JOIN order_items i ON i.order_id = o.order_id
  GROUP BY r.region, c.customer_id, c.name
) WHERE place <= 3;

-- name: top_five_customers
SELECT c.customer_id, c.name, c.city, SUM(i.quantity * i.unit_price) AS spent
FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN order_items i ON i.order_id = o.order_id
GROUP BY c.customer_id, c.name, c.city
ORDER BY spent DESC, c.customer_id LIMIT 5;

-- name: new_and_returning_customers_by_month
SELECT date_trunc('month', o.ordered_at) AS month,
       COUNT(DISTINCT CASE WHEN o.ordered_at = f.first_at THEN o.customer_id END) AS new_customers,
       COUNT(DISTINCT CASE WHEN o.ordered_at > f.first_at THEN o.customer_id END) AS returning_customers
FROM orders o
JOIN (SELECT customer_id, MIN(ordered_at) AS first_at FROM orders GROUP BY customer_id) f ON f.customer_id = o.customer_id
GROUP BY date_trunc('month', o.ordered_at);

-- name: orders_above_the_customers_average
SELECT o.customer_id, o.order_id, t.amount
FROM orders o
JOIN (SELECT order_id, SUM(quantity * unit_price) AS amount FROM order_items GROUP BY order_id) t ON t.order_id = o.order_id
WHERE t.amount > (
  SELECT AVG(u.amount)
  FROM orders q JOIN (SELECT order_id, SUM(quantity * unit_price) AS amount FROM order_items GROUP BY order_id) u
    ON u.order_id = q.order_id
  WHERE q.customer_id = o.customer_id);

-- name: segments_by_spending
SELECT CASE WHEN spent >= 500 THEN 'gold' WHEN spent >= 200 THEN 'silver' WHEN spent > 0 THEN 'bronze' ELSE 'none' END AS tier,
       COUNT(*) AS customers, SUM(spent) AS spent
FROM (
  SELECT c.customer_id, COALESCE(SUM(i.quantity * i.unit_price), 0) AS spent
  FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id LEFT JOIN order_items i ON i.order_id = o.order_id
  GROUP BY c.customer_id
) GROUP BY 1;

-- name: cities_and_their_customers
SELECT city, array_join(sort_array(collect_set(segment)), ', ') AS segments, COUNT(*) AS customers,
       concat_ws('; ', sort_array(collect_list(name))) AS names
FROM customers GROUP BY city;
