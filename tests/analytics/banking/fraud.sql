-- Rules against fraud and for oversight: velocity, structuring, round trips, blocked cards.

-- name: card_used_too_often
SELECT card_id, tx_id, booked_at, within_hour FROM (
  SELECT card_id, tx_id, booked_at,
         COUNT(*) OVER (PARTITION BY card_id ORDER BY booked_at RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) AS within_hour
  FROM transactions WHERE card_id IS NOT NULL
) WHERE within_hour >= 3;

-- name: spending_far_above_usual
SELECT tx_id, account_id, amount, mean FROM (
  SELECT tx_id, account_id, amount,
         AVG(amount) OVER (PARTITION BY account_id ORDER BY booked_at, tx_id ROWS BETWEEN 5 PRECEDING AND 1 PRECEDING) AS mean
  FROM transactions WHERE kind = 'purchase'
) WHERE amount < 3 * mean;

-- name: same_card_two_countries
SELECT x.card_id, x.tx_id AS one, y.tx_id AS other, m.country, n.country AS other_country
FROM transactions x
JOIN transactions y ON y.card_id = x.card_id AND y.booked_at > x.booked_at AND y.booked_at <= x.booked_at + INTERVAL 2 HOURS
JOIN merchants m ON m.merchant_id = x.merchant_id
JOIN merchants n ON n.merchant_id = y.merchant_id
WHERE m.country <> n.country;

-- name: exact_repeats
SELECT account_id, merchant_id, booked_at, amount, COUNT(*) AS times, MIN(tx_id) AS first_tx
FROM transactions WHERE kind = 'purchase'
GROUP BY account_id, merchant_id, booked_at, amount HAVING COUNT(*) > 1;

-- name: structuring
SELECT from_account, CAST(sent_at AS DATE) AS day, COUNT(*) AS transfers, SUM(amount) AS total
FROM transfers WHERE amount BETWEEN 9000 AND 9999.99
GROUP BY from_account, CAST(sent_at AS DATE)
HAVING COUNT(*) > 1 OR SUM(amount) > 9400;

-- name: round_trips
SELECT a.transfer_id AS out_id, b.transfer_id AS back_id, a.from_account, a.to_account, a.amount, b.amount AS returned
FROM transfers a JOIN transfers b
  ON a.from_account = b.to_account AND a.to_account = b.from_account AND b.sent_at > a.sent_at
WHERE b.amount BETWEEN a.amount * 0.9 AND a.amount;

-- name: triangles
SELECT a.transfer_id AS first_id, b.transfer_id AS second_id, c.transfer_id AS third_id, a.from_account
FROM transfers a
JOIN transfers b ON b.from_account = a.to_account
JOIN transfers c ON c.from_account = b.to_account AND c.to_account = a.from_account
WHERE a.from_account <> a.to_account AND b.from_account <> b.to_account;

-- name: use_of_blocked_cards
SELECT c.card_id, h.client_id, COUNT(*) AS uses, SUM(-t.amount) AS spent
FROM cards c
JOIN transactions t ON t.card_id = c.card_id
JOIN holders h ON h.account_id = c.account_id AND h.role = 'owner'
WHERE c.status = 'blocked' AND CAST(t.booked_at AS DATE) > c.issued
GROUP BY c.card_id, h.client_id;

-- name: card_of_another_account
SELECT t.tx_id, t.account_id, c.account_id AS account_of_card FROM transactions t JOIN cards c ON c.card_id = t.card_id
WHERE t.account_id <> c.account_id;

-- name: first_purchase_at_a_merchant
SELECT tx_id, account_id, merchant_id, booked_at, amount FROM transactions t
WHERE kind = 'purchase' AND NOT EXISTS (
  SELECT 1 FROM transactions e
  WHERE e.account_id = t.account_id AND e.merchant_id = t.merchant_id AND e.kind = 'purchase' AND e.booked_at < t.booked_at);

-- name: night_share_by_merchant
SELECT m.merchant, COUNT(*) AS purchases, AVG(CASE WHEN hour(t.booked_at) >= 20 THEN 1.0 ELSE 0.0 END) AS late_share,
       MAX(-t.amount) AS largest
FROM merchants m LEFT JOIN transactions t ON t.merchant_id = m.merchant_id AND t.kind = 'purchase'
GROUP BY m.merchant;

-- name: risk_points
SELECT c.client_id, c.client,
       CASE c.risk WHEN 'high' THEN 3 WHEN 'medium' THEN 2 WHEN 'low' THEN 1 ELSE 2 END
       + CASE WHEN EXISTS (SELECT 1 FROM holders h JOIN transfers x ON x.from_account = h.account_id
                           WHERE h.client_id = c.client_id AND x.amount >= 9000) THEN 5 ELSE 0 END
       + COALESCE((SELECT COUNT(*) FROM holders h JOIN cards k ON k.account_id = h.account_id
                   WHERE h.client_id = c.client_id AND k.status = 'blocked'), 0) AS points
FROM clients c;

-- name: alerts
SELECT 'large transfer' AS rule, from_account AS account_id, transfer_id AS id FROM transfers WHERE amount >= 9000
UNION ALL
SELECT 'missing counterparty', from_account, transfer_id FROM transfers WHERE to_account IS NULL
UNION ALL
SELECT 'night purchase', account_id, tx_id FROM transactions WHERE kind = 'purchase' AND hour(booked_at) >= 23
UNION
SELECT 'unknown account', account_id, tx_id FROM transactions t LEFT ANTI JOIN accounts a ON a.account_id = t.account_id;

-- name: refunds_without_purchase
SELECT r.tx_id, r.account_id, r.merchant_id, r.amount FROM transactions r
LEFT JOIN transactions p ON p.account_id = r.account_id AND p.merchant_id = r.merchant_id AND p.kind = 'purchase'
  AND p.booked_at <= r.booked_at
WHERE r.kind = 'refund' AND p.tx_id IS NULL;

-- name: top_merchants_of_each_category
SELECT category, merchant, spent FROM (
  SELECT m.category, m.merchant, SUM(-t.amount) AS spent,
         ROW_NUMBER() OVER (PARTITION BY m.category ORDER BY SUM(-t.amount) DESC, m.merchant) AS n
  FROM transactions t JOIN merchants m ON m.merchant_id = t.merchant_id WHERE t.kind = 'purchase'
  GROUP BY m.category, m.merchant
) WHERE n <= 2;

-- name: busiest_hours
SELECT hour(booked_at) AS h, COUNT(*) AS bookings, SUM(ABS(amount)) AS volume FROM transactions
GROUP BY hour(booked_at) ORDER BY bookings DESC, h LIMIT 5;
