CREATE MATERIALIZED VIEW region_sales COMMENT 'sales by region of today''s customers' AS
SELECT c.region, SUM(o.amount) AS total, COUNT(*) AS orders
FROM orders o JOIN customers c ON o.customer_id = c.customer_id
GROUP BY c.region;

CREATE MATERIALIZED VIEW large_regions AS
SELECT region, total FROM region_sales WHERE total >= 100;
