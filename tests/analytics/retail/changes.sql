-- What happens to the shop, in three steps.

-- name: a_busy_day
INSERT INTO orders VALUES
  (2000, 3, 1, TIMESTAMP'2024-07-01 10:00:00', 'open', NULL),
  (2001, 25, 2, TIMESTAMP'2024-07-01 10:05:00', 'shipped', 4),
  (2002, 1, NULL, TIMESTAMP'2023-05-05 09:00:00', 'delivered', 1),
  (2003, NULL, 3, TIMESTAMP'2024-07-01 11:00:00', NULL, NULL);
INSERT INTO order_items VALUES
  (2000, 1, 1, 2, 19.99, 0.00), (2000, 2, 5, 1, 7.50, NULL), (2001, 1, 1, 1, 19.99, 0.10),
  (2001, 2, 2, 3, 4.00, 0.00), (2002, 1, 9, 5, 3.25, 0.05), (2003, 1, 99, 1, 1.00, 0.00);
INSERT INTO customers VALUES (25, 'Customer 25', 'c3@example.com', 'Lyon', 4, 'vip', DATE'2024-07-01');
INSERT INTO customer_history VALUES (25, 'vip', 'Lyon', DATE'2024-07-01', NULL);
INSERT INTO stock_moves VALUES (71, 1, 1, DATE'2024-07-01', 'out', 2), (72, 5, 1, DATE'2024-07-01', 'in', 30);
UPDATE orders SET status = 'shipped' WHERE status = 'open' AND order_id < 1050;

-- name: corrections
MERGE INTO order_items i USING (SELECT order_id FROM orders WHERE status = 'cancelled' AND order_id % 2 = 0) o
  ON i.order_id = o.order_id WHEN MATCHED THEN DELETE;
DELETE FROM orders WHERE status = 'cancelled' AND order_id % 2 = 0;
UPDATE order_items SET quantity = quantity + 1 WHERE order_id % 10 = 3;
UPDATE order_items SET discount = NULL WHERE product_id = 2;
UPDATE products SET category_id = 7, list_price = list_price + 1 WHERE product_id IN (1, 4);
UPDATE prices SET valid_to = DATE'2024-06-01' WHERE product_id = 1 AND valid_to = DATE'9999-12-31';
INSERT INTO prices VALUES (1, 21.50, DATE'2024-06-01', DATE'9999-12-31');
UPDATE customers SET city = 'Lund', region_id = 1 WHERE customer_id IN (2, 5);
UPDATE customer_history SET valid_to = DATE'2024-06-15' WHERE customer_id IN (2, 5) AND valid_to IS NULL;
INSERT INTO customer_history VALUES (2, 'business', 'Lund', DATE'2024-06-15', NULL), (5, NULL, 'Lund', DATE'2024-06-15', NULL);
INSERT INTO returns VALUES (15, 2001, 2, 1, 'late', DATE'2024-07-02');
DELETE FROM returns WHERE return_id = 2;

-- name: reorganization
UPDATE stores SET region_id = 3, closed = NULL WHERE store_id IN (2, 5);
INSERT INTO stores VALUES (7, 'Store 7', 1, DATE'2024-07-01', NULL);
UPDATE categories SET parent_id = 3 WHERE category_id = 5;
DELETE FROM customers WHERE customer_id = 4;
DELETE FROM suppliers WHERE supplier_id = 5;
UPDATE promotions SET starts = DATE'2024-04-01', ends = DATE'2024-09-01', percent = 20 WHERE promotion_id = 5;
UPDATE prices SET valid_to = DATE'2023-03-01' WHERE product_id = 2 AND valid_from = DATE'2023-01-01';
UPDATE targets SET target = target + 100 WHERE store_id = 1;
DELETE FROM stock_moves WHERE kind = 'count' AND move_id % 2 = 0;
UPDATE orders SET customer_id = 6, ordered_at = ordered_at + INTERVAL 1 DAY WHERE customer_id = 1 AND order_id % 3 = 0;
DELETE FROM orders WHERE customer_id IS NULL;
INSERT INTO order_items SELECT * FROM order_items WHERE order_id = 2000
