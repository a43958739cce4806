-- A table, a view of it, a change, and a refresh that reads no more than the change.
CREATE TABLE orders (order_id INT, region STRING, amount DECIMAL(10, 2)) USING delta;
INSERT INTO orders VALUES (1, 'asia', 10.00), (2, 'europe', 20.00), (3, 'asia', 30.00);

CREATE MATERIALIZED VIEW sales
  COMMENT 'sales by region'
  REFRESH POLICY INCREMENTAL
  TRIGGER ON UPDATE AT MOST EVERY INTERVAL 5 MINUTES
AS SELECT region, SUM(amount) AS total, COUNT(*) AS orders FROM orders GROUP BY region;

INSERT INTO orders VALUES (4, 'africa', 5.00);
DELETE FROM orders WHERE order_id = 1;
EXPLAIN MATERIALIZED VIEW sales;
REFRESH MATERIALIZED VIEW sales;
SELECT * FROM sales ORDER BY region;
