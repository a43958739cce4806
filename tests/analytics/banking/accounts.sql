-- Balances, statements, exposure of clients, currencies with rates of the month.

-- name: current_balances
SELECT a.account_id, a.currency, COALESCE(SUM(t.amount), 0) AS balance, COUNT(t.tx_id) AS bookings, MAX(t.booked_at) AS last_booking
FROM accounts a LEFT JOIN transactions t ON t.account_id = a.account_id
GROUP BY a.account_id, a.currency;

-- name: running_balances
SELECT account_id, tx_id, booked_at, amount,
       SUM(amount) OVER (PARTITION BY account_id ORDER BY booked_at, tx_id ROWS UNBOUNDED PRECEDING) AS balance
FROM transactions;

-- name: month_end_balances
SELECT account_id, month, net, SUM(net) OVER (PARTITION BY account_id ORDER BY month) AS balance
FROM (
  SELECT account_id, date_trunc('month', booked_at) AS month, SUM(amount) AS net
  FROM transactions GROUP BY account_id, date_trunc('month', booked_at)
);

-- name: lowest_balance_ever
SELECT account_id, MIN(balance) AS lowest FROM (
  SELECT account_id, SUM(amount) OVER (PARTITION BY account_id ORDER BY booked_at, tx_id ROWS UNBOUNDED PRECEDING) AS balance
  FROM transactions
) GROUP BY account_id;

-- name: overdrawn_accounts
SELECT a.account_id, a.product, b.balance, a.overdraft
FROM accounts a JOIN (SELECT account_id, SUM(amount) AS balance FROM transactions GROUP BY account_id) b
  ON b.account_id = a.account_id
WHERE a.closed IS NULL AND b.balance < -COALESCE(a.overdraft, 0);

-- name: balances_with_transfers
WITH moves AS (
  SELECT account_id, amount, booked_at AS at FROM transactions
  UNION ALL
  SELECT from_account, -amount, sent_at FROM transfers
  UNION ALL
  SELECT to_account, amount, sent_at FROM transfers WHERE to_account IS NOT NULL
)
SELECT a.account_id, SUM(m.amount) AS balance, COUNT(*) AS moves, MIN(m.at) AS first_move
FROM accounts a JOIN moves m ON m.account_id = a.account_id
GROUP BY a.account_id;

-- name: turnover_in_francs
SELECT a.account_id, date_trunc('month', t.booked_at) AS month, SUM(t.amount * CASE WHEN a.currency = 'CHF' THEN 1 ELSE r.rate END) AS francs,
       COUNT_IF(a.currency <> 'CHF' AND r.rate IS NULL) AS without_rate
FROM transactions t
JOIN accounts a ON a.account_id = t.account_id
LEFT JOIN rates r ON r.currency = a.currency AND r.valid_from = CAST(date_trunc('month', t.booked_at) AS DATE)
GROUP BY a.account_id, date_trunc('month', t.booked_at);

-- name: rate_as_of_booking
SELECT t.tx_id, a.currency, t.amount, r.valid_from, r.rate
FROM transactions t
JOIN accounts a ON a.account_id = t.account_id AND a.currency <> 'CHF'
LEFT JOIN rates r ON r.currency = a.currency AND r.valid_from <= CAST(t.booked_at AS DATE)
QUALIFY RANK() OVER (PARTITION BY t.tx_id ORDER BY r.valid_from DESC NULLS LAST) = 1;

-- name: rates_with_validity
SELECT currency, valid_from, COALESCE(LEAD(valid_from) OVER (PARTITION BY currency ORDER BY valid_from), DATE'9999-12-31') AS valid_to, rate
FROM rates;

-- name: francs_by_validity_join
WITH spans AS (
  SELECT currency, rate, valid_from, LEAD(valid_from, 1, DATE'9999-12-31') OVER (PARTITION BY currency ORDER BY valid_from) AS valid_to
  FROM rates
)
SELECT c.country, a.currency, SUM(t.amount * s.rate) AS francs
FROM transactions t
JOIN accounts a ON a.account_id = t.account_id
JOIN spans s ON s.currency = a.currency AND CAST(t.booked_at AS DATE) >= s.valid_from AND CAST(t.booked_at AS DATE) < s.valid_to
JOIN holders h ON h.account_id = a.account_id AND h.role = 'owner'
JOIN clients c ON c.client_id = h.client_id
GROUP BY c.country, a.currency;

-- name: exposure_of_each_client
SELECT c.client_id, c.client, b.branch, c.risk,
       COALESCE(d.balance, 0) AS balance, COALESCE(l.principal, 0) AS lent, COALESCE(p.paid, 0) AS repaid,
       COALESCE(l.principal, 0) - COALESCE(p.paid, 0) AS exposure
FROM clients c
LEFT JOIN branches b ON b.branch_id = c.branch_id
LEFT JOIN (
  SELECT h.client_id, SUM(t.amount) AS balance
  FROM holders h JOIN transactions t ON t.account_id = h.account_id WHERE h.role = 'owner' GROUP BY h.client_id
) d ON d.client_id = c.client_id
LEFT JOIN (SELECT client_id, SUM(principal) AS principal FROM loans GROUP BY client_id) l ON l.client_id = c.client_id
LEFT JOIN (
  SELECT n.client_id, SUM(y.amount) AS paid FROM loans n JOIN payments y ON y.loan_id = n.loan_id
  WHERE y.paid_on IS NOT NULL GROUP BY n.client_id
) p ON p.client_id = c.client_id;

-- name: deposits_by_branch_and_product
SELECT b.branch, a.product, COUNT(DISTINCT c.client_id) AS clients, COUNT(DISTINCT a.account_id) AS accounts,
       SUM(t.amount) FILTER (WHERE t.amount > 0) AS paid_in, SUM(t.amount) FILTER (WHERE t.amount < 0) AS paid_out
FROM branches b
JOIN clients c ON c.branch_id = b.branch_id
JOIN holders h ON h.client_id = c.client_id
JOIN accounts a ON a.account_id = h.account_id
LEFT JOIN transactions t ON t.account_id = a.account_id
GROUP BY b.branch, a.product;

-- name: joint_accounts
SELECT h.account_id, concat_ws(' & ', array_sort(collect_set(c.client))) AS holders, COUNT(DISTINCT h.client_id) AS persons
FROM holders h JOIN clients c ON c.client_id = h.client_id
GROUP BY h.account_id HAVING COUNT(DISTINCT h.client_id) > 1;

-- name: accounts_without_an_owner
SELECT a.account_id, a.product FROM accounts a
WHERE a.account_id NOT IN (SELECT account_id FROM holders WHERE role = 'owner');

-- name: dormant_accounts
SELECT a.account_id, a.opened FROM accounts a
WHERE a.closed IS NULL
  AND NOT EXISTS (SELECT 1 FROM transactions t WHERE t.account_id = a.account_id AND t.booked_at >= TIMESTAMP'2024-04-01 00:00:00')
  AND NOT EXISTS (SELECT 1 FROM transfers x WHERE a.account_id IN (x.from_account, x.to_account)
                    AND x.sent_at >= TIMESTAMP'2024-04-01 00:00:00');

-- name: bookings_after_closing
SELECT a.account_id, a.closed, t.tx_id, t.booked_at FROM accounts a JOIN transactions t ON t.account_id = a.account_id
WHERE CAST(t.booked_at AS DATE) > a.closed;

-- name: kinds_by_month_pivoted
SELECT * FROM (SELECT month(booked_at) AS m, kind, amount FROM transactions)
PIVOT (SUM(amount) FOR kind IN ('purchase' AS purchases, 'deposit' AS deposits, 'fee' AS fees, 'refund' AS refunds));

-- name: balances_cubed
SELECT a.product, a.currency, c.country, SUM(t.amount) AS amount, GROUPING_ID(a.product, a.currency, c.country) AS level
FROM transactions t
JOIN accounts a ON a.account_id = t.account_id
JOIN holders h ON h.account_id = a.account_id AND h.role = 'owner'
JOIN clients c ON c.client_id = h.client_id
GROUP BY CUBE (a.product, a.currency, c.country);

-- name: concentration_of_deposits
SELECT client_id, balance, balance / total AS share, SUM(balance) OVER (ORDER BY balance DESC, client_id) / total AS up_to
FROM (
  SELECT h.client_id, SUM(t.amount) AS balance, SUM(SUM(t.amount)) OVER () AS total
  FROM holders h JOIN transactions t ON t.account_id = h.account_id
  WHERE t.kind = 'deposit' GROUP BY h.client_id
);
