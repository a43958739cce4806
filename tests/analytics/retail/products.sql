-- What sells: ABC classes, baskets, rankings, dead stock, margins, categories in categories.

-- name: abc_classification
WITH revenue AS (
  SELECT p.product_id, p.product, COALESCE(SUM(i.quantity * i.unit_price), 0) AS revenue
  FROM products p LEFT JOIN order_items i ON i.product_id = p.product_id
  GROUP BY p.product_id, p.product
),
cumulated AS (
  SELECT *, SUM(revenue) OVER (ORDER BY revenue DESC, product_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS up_to,
         SUM(revenue) OVER () AS total
  FROM revenue
)
SELECT product_id, product, revenue,
       CASE WHEN up_to <= 0.8 * total THEN 'A' WHEN up_to <= 0.95 * total THEN 'B' ELSE 'C' END AS class
FROM cumulated;

-- name: abc_within_category
SELECT category_id, product_id, revenue,
       CASE WHEN cume < 0.7 THEN 'A' WHEN cume < 0.9 THEN 'B' ELSE 'C' END AS class
FROM (
  SELECT p.category_id, p.product_id, t.revenue,
         SUM(t.revenue) OVER (PARTITION BY p.category_id ORDER BY t.revenue DESC, p.product_id ROWS UNBOUNDED PRECEDING)
           / SUM(t.revenue) OVER (PARTITION BY p.category_id) AS cume
  FROM products p
  JOIN (SELECT product_id, SUM(quantity * unit_price) AS revenue FROM order_items GROUP BY product_id) t
    ON t.product_id = p.product_id
);

-- name: bought_together
SELECT a.product_id AS one, b.product_id AS other, COUNT(DISTINCT a.order_id) AS baskets
FROM order_items a JOIN order_items b ON a.order_id = b.order_id AND a.product_id < b.product_id
GROUP BY a.product_id, b.product_id
HAVING COUNT(DISTINCT a.order_id) >= 2;

-- name: basket_lift
WITH lines AS (SELECT DISTINCT order_id, product_id FROM order_items),
singles AS (SELECT product_id, COUNT(*) AS n FROM lines GROUP BY product_id),
pairs AS (
  SELECT a.product_id AS one, b.product_id AS other, COUNT(*) AS n
  FROM lines a JOIN lines b ON a.order_id = b.order_id AND a.product_id < b.product_id
  GROUP BY a.product_id, b.product_id
),
baskets AS (SELECT COUNT(DISTINCT order_id) AS n FROM lines)
SELECT p.one, p.other, p.n AS together, p.n / t.n AS support, p.n / x.n AS confidence, p.n * t.n / (x.n * y.n) AS lift
FROM pairs p
JOIN singles x ON x.product_id = p.one
JOIN singles y ON y.product_id = p.other
CROSS JOIN baskets t;

-- name: basket_contents
SELECT o.order_id, array_sort(collect_set(p.product)) AS products, COUNT(*) AS lines
FROM orders o JOIN order_items i ON i.order_id = o.order_id JOIN products p ON p.product_id = i.product_id
GROUP BY o.order_id;

-- name: bestsellers_by_category
SELECT category, product, units FROM (
  SELECT k.category, p.product, SUM(i.quantity) AS units,
         ROW_NUMBER() OVER (PARTITION BY k.category ORDER BY SUM(i.quantity) DESC, p.product) AS n
  FROM order_items i JOIN products p ON p.product_id = i.product_id JOIN categories k ON k.category_id = p.category_id
  GROUP BY k.category, p.product
) WHERE n <= 2;

-- name: products_never_sold_in_a_store
SELECT p.product_id, s.store_id FROM products p CROSS JOIN stores s
WHERE s.closed IS NULL
  AND NOT EXISTS (
    SELECT 1 FROM orders o JOIN order_items i ON i.order_id = o.order_id
    WHERE o.store_id = s.store_id AND i.product_id = p.product_id);

-- name: margin_by_supplier
SELECT u.supplier, COUNT(DISTINCT p.product_id) AS products, SUM(i.quantity * (i.unit_price - p.cost)) AS margin,
       ROUND(SUM(i.quantity * (i.unit_price - p.cost)) / NULLIF(SUM(i.quantity * i.unit_price), 0), 4) AS margin_rate
FROM suppliers u
LEFT JOIN products p ON p.supplier_id = u.supplier_id
LEFT JOIN order_items i ON i.product_id = p.product_id
GROUP BY u.supplier;

-- name: return_rate_by_reason
SELECT p.category_id, COALESCE(t.reason, 'unknown') AS reason, COUNT(*) AS returned,
       COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY p.category_id) AS share
FROM returns t
JOIN order_items i ON i.order_id = t.order_id AND i.line = t.line
JOIN products p ON p.product_id = i.product_id
GROUP BY p.category_id, COALESCE(t.reason, 'unknown');

-- name: products_returned_more_than_average
WITH returned AS (
  SELECT i.product_id, SUM(r.quantity) AS units
  FROM returns r JOIN order_items i ON i.order_id = r.order_id AND i.line = r.line
  GROUP BY i.product_id
)
SELECT p.product_id, p.product, t.units FROM products p JOIN returned t ON t.product_id = p.product_id
WHERE t.units > (SELECT AVG(units) FROM returned);

-- name: price_bands
SELECT CASE WHEN list_price < 10 THEN '0-10' WHEN list_price < 30 THEN '10-30' ELSE '30+' END AS band,
       COUNT(*) AS products, MIN(list_price) AS cheapest, MAX(list_price) AS dearest,
       PERCENTILE(list_price, 0.5) AS middle, STDDEV_POP(list_price) AS spread
FROM products GROUP BY 1;

-- name: dearest_product_of_its_category
SELECT p.product_id, p.product, p.category_id, p.list_price FROM products p
WHERE p.list_price = (SELECT MAX(q.list_price) FROM products q WHERE q.category_id = p.category_id);

-- name: cheaper_alternatives
SELECT p.product_id, q.product_id AS alternative, p.list_price - q.list_price AS saved
FROM products p JOIN products q ON q.category_id = p.category_id AND q.list_price < p.list_price;

-- name: category_paths
SELECT k.category_id, concat_ws(' / ', g.category, f.category, k.category) AS path, COUNT(p.product_id) AS products
FROM categories k
LEFT JOIN categories f ON f.category_id = k.parent_id
LEFT JOIN categories g ON g.category_id = f.parent_id
LEFT JOIN products p ON p.category_id = k.category_id
GROUP BY k.category_id, concat_ws(' / ', g.category, f.category, k.category);

-- name: products_below_a_category
WITH RECURSIVE below AS (
  SELECT category_id, category_id AS top FROM categories
  UNION ALL
  SELECT k.category_id, b.top FROM below b JOIN categories k ON k.parent_id = b.category_id
)
SELECT b.top, COUNT(p.product_id) AS products FROM below b LEFT JOIN products p ON p.category_id = b.category_id
GROUP BY b.top;

-- name: figures_unpivoted
SELECT product_id, figure, value FROM products
UNPIVOT (value FOR figure IN (list_price, cost));

-- name: sales_rank_change
WITH units AS (
  SELECT i.product_id, year(o.ordered_at) AS y, SUM(i.quantity) AS n
  FROM orders o JOIN order_items i ON i.order_id = o.order_id GROUP BY i.product_id, year(o.ordered_at)
),
ranked AS (SELECT *, RANK() OVER (PARTITION BY y ORDER BY n DESC) AS place FROM units)
SELECT a.product_id, a.place AS place_2023, b.place AS place_2024, a.place - b.place AS climbed
FROM ranked a FULL JOIN ranked b ON a.product_id = b.product_id AND b.y = 2024
WHERE a.y = 2023;

-- name: discount_and_volume
SELECT product_id, CORR(quantity, discount) AS correlation, REGR_SLOPE(quantity, discount) AS slope,
       COVAR_SAMP(quantity, discount) AS covariance, COUNT(discount) AS pairs
FROM order_items GROUP BY product_id;
