-- Stock: balances, counts, shortages, days without movement.

-- name: balance_by_product_and_store
SELECT product_id, store_id,
       SUM(CASE kind WHEN 'in' THEN quantity WHEN 'out' THEN -quantity ELSE 0 END) AS balance,
       MAX(moved_on) AS last_move
FROM stock_moves GROUP BY product_id, store_id;

-- name: running_balance
SELECT product_id, move_id, moved_on,
       SUM(CASE kind WHEN 'in' THEN quantity WHEN 'out' THEN -quantity ELSE 0 END)
         OVER (PARTITION BY product_id ORDER BY moved_on, move_id ROWS UNBOUNDED PRECEDING) AS balance
FROM stock_moves;

-- name: first_day_below_zero
SELECT product_id, MIN(moved_on) AS first_day FROM (
  SELECT product_id, moved_on,
         SUM(IF(kind = 'in', quantity, IF(kind = 'out', -quantity, 0)))
           OVER (PARTITION BY product_id ORDER BY moved_on, move_id ROWS UNBOUNDED PRECEDING) AS balance
  FROM stock_moves
) WHERE balance < 0 GROUP BY product_id;

-- name: balance_since_last_count
SELECT m.product_id, m.store_id, COALESCE(c.quantity, 0)
       + COALESCE(SUM(IF(m.kind = 'in', m.quantity, -m.quantity)) FILTER (WHERE m.kind <> 'count'), 0) AS balance
FROM stock_moves m
LEFT JOIN (
  SELECT product_id, store_id, moved_on, quantity FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY product_id, store_id ORDER BY moved_on DESC, move_id DESC) AS n
    FROM stock_moves WHERE kind = 'count') WHERE n = 1
) c ON c.product_id = m.product_id AND c.store_id = m.store_id
WHERE c.moved_on IS NULL OR m.moved_on > c.moved_on
GROUP BY m.product_id, m.store_id, COALESCE(c.quantity, 0);

-- name: sold_but_not_in_stock
SELECT s.product_id, s.sold, COALESCE(b.balance, 0) AS balance
FROM (SELECT product_id, SUM(quantity) AS sold FROM order_items GROUP BY product_id) s
LEFT JOIN (
  SELECT product_id, SUM(IF(kind = 'in', quantity, -quantity)) AS balance FROM stock_moves WHERE kind <> 'count' GROUP BY product_id
) b ON b.product_id = s.product_id
WHERE s.sold > COALESCE(b.balance, 0);

-- name: longest_quiet_spell
SELECT product_id, MAX(quiet) AS days FROM (
  SELECT product_id, datediff(moved_on, LAG(moved_on) OVER (PARTITION BY product_id ORDER BY moved_on, move_id)) AS quiet
  FROM stock_moves
) GROUP BY product_id HAVING MAX(quiet) > 30;

-- name: monthly_turnover
SELECT p.product, date_trunc('month', m.moved_on) AS month,
       SUM(m.quantity) FILTER (WHERE m.kind = 'in') AS received,
       SUM(m.quantity) FILTER (WHERE m.kind = 'out') AS issued
FROM stock_moves m JOIN products p ON p.product_id = m.product_id
GROUP BY p.product, date_trunc('month', m.moved_on);

-- name: month_ends_filled_forward
WITH months AS (SELECT explode(sequence(DATE'2023-01-31', DATE'2024-06-30', INTERVAL 3 MONTHS)) AS month_end),
pairs AS (SELECT DISTINCT product_id FROM stock_moves)
SELECT p.product_id, last_day(d.month_end) AS month_end,
       COALESCE(SUM(CASE m.kind WHEN 'in' THEN m.quantity WHEN 'out' THEN -m.quantity END), 0) AS balance
FROM pairs p CROSS JOIN months d
LEFT JOIN stock_moves m ON m.product_id = p.product_id AND m.moved_on <= last_day(d.month_end)
GROUP BY p.product_id, last_day(d.month_end);
