-- Loans: arrears, schedules, late payers, vintages.

-- name: arrears
SELECT l.loan_id, c.client, COUNT(*) AS unpaid, SUM(p.amount) AS arrears, MIN(p.due_on) AS since
FROM loans l JOIN payments p ON p.loan_id = l.loan_id LEFT JOIN clients c ON c.client_id = l.client_id
WHERE p.paid_on IS NULL AND p.due_on <= DATE'2024-06-30'
GROUP BY l.loan_id, c.client;

-- name: remaining_schedule
SELECT p.loan_id, p.number, p.due_on, p.amount,
       l.principal - SUM(p.amount) OVER (PARTITION BY p.loan_id ORDER BY p.number) AS remaining
FROM payments p JOIN loans l ON l.loan_id = p.loan_id;

-- name: days_late
SELECT loan_id, number, datediff(paid_on, due_on) AS days,
       CASE WHEN paid_on IS NULL THEN 'unpaid' WHEN paid_on <= due_on THEN 'on time' WHEN datediff(paid_on, due_on) <= 10 THEN 'late' ELSE 'very late' END AS class
FROM payments;

-- name: longest_run_of_late_payments
WITH flagged AS (
  SELECT loan_id, number, COALESCE(paid_on > due_on, TRUE) AS late FROM payments
),
runs AS (
  SELECT loan_id, number, late, number - ROW_NUMBER() OVER (PARTITION BY loan_id, late ORDER BY number) AS run FROM flagged
)
SELECT loan_id, MAX(n) AS longest FROM (
  SELECT loan_id, run, COUNT(*) AS n FROM runs WHERE late GROUP BY loan_id, run
) GROUP BY loan_id;

-- name: vintages
SELECT date_trunc('quarter', l.started) AS vintage, p.number, COUNT(*) AS due, COUNT(p.paid_on) AS paid,
       SUM(p.amount) FILTER (WHERE p.paid_on IS NULL) AS missing
FROM loans l JOIN payments p ON p.loan_id = l.loan_id
GROUP BY date_trunc('quarter', l.started), p.number;

-- name: clients_with_loan_and_savings
SELECT client_id FROM loans
INTERSECT
SELECT h.client_id FROM holders h JOIN accounts a ON a.account_id = h.account_id WHERE a.product = 'savings';

-- name: always_on_time
SELECT l.loan_id, l.client_id FROM loans l
WHERE NOT EXISTS (SELECT 1 FROM payments p WHERE p.loan_id = l.loan_id AND (p.paid_on IS NULL OR p.paid_on > p.due_on));

-- name: rate_above_branch_average
SELECT l.loan_id, c.branch_id, l.percent FROM loans l JOIN clients c ON c.client_id = l.client_id
WHERE l.percent > (SELECT AVG(m.percent) FROM loans m JOIN clients d ON d.client_id = m.client_id WHERE d.branch_id = c.branch_id);

-- name: weighted_rate_by_risk
SELECT c.risk, SUM(l.principal * l.percent) / SUM(CASE WHEN l.percent IS NOT NULL THEN l.principal END) AS mean_percent, COUNT(*) AS loans
FROM loans l LEFT JOIN clients c ON c.client_id = l.client_id
GROUP BY c.risk;

-- name: paid_and_due_by_month
SELECT COALESCE(d.month, p.month) AS month, d.due, p.paid
FROM (SELECT date_trunc('month', due_on) AS month, SUM(amount) AS due FROM payments GROUP BY 1) d
FULL OUTER JOIN (SELECT date_trunc('month', paid_on) AS month, SUM(amount) AS paid FROM payments WHERE paid_on IS NOT NULL GROUP BY 1) p
  ON p.month = d.month;

-- name: latest_payment
SELECT loan_id, MAX(number) FILTER (WHERE paid_on IS NOT NULL) AS last_paid, MAX(paid_on) AS paid_on,
       min_by(amount, number) AS first_amount
FROM payments GROUP BY loan_id;

-- name: age_groups_of_borrowers
SELECT FLOOR(months_between(DATE'2024-07-01', c.born) / 120) * 10 AS age_group, COUNT(DISTINCT c.client_id) AS clients,
       COUNT(l.loan_id) AS loans, AVG(l.principal) AS mean_principal
FROM clients c LEFT JOIN loans l ON l.client_id = c.client_id
GROUP BY FLOOR(months_between(DATE'2024-07-01', c.born) / 120) * 10;
