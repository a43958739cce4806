-- Money of the service: recurring revenue, churn, invoices, plans.

-- name: recurring_revenue_by_month
WITH months AS (SELECT explode(sequence(DATE'2023-10-01', DATE'2024-06-01', INTERVAL 1 MONTH)) AS month)
SELECT m.month, COUNT(DISTINCT s.account_id) AS accounts, COALESCE(SUM(s.mrr), 0) AS mrr
FROM months m
LEFT JOIN subscriptions s ON s.started_on <= m.month AND (s.ended_on IS NULL OR s.ended_on > m.month)
GROUP BY m.month;

-- name: revenue_movements
WITH months AS (SELECT explode(sequence(DATE'2023-10-01', DATE'2024-06-01', INTERVAL 1 MONTH)) AS month),
mrr AS (
  SELECT a.account_id, m.month, COALESCE(SUM(s.mrr), 0) AS mrr
  FROM accounts a CROSS JOIN months m
  LEFT JOIN subscriptions s ON s.account_id = a.account_id AND s.started_on <= m.month
    AND (s.ended_on IS NULL OR s.ended_on > m.month)
  GROUP BY a.account_id, m.month
),
moves AS (
  SELECT *, LAG(mrr, 1, 0) OVER (PARTITION BY account_id ORDER BY month) AS before FROM mrr
)
SELECT month,
       SUM(CASE WHEN before = 0 AND mrr > 0 THEN mrr ELSE 0 END) AS new_mrr,
       SUM(CASE WHEN before > 0 AND mrr > before THEN mrr - before ELSE 0 END) AS expansion,
       SUM(CASE WHEN mrr > 0 AND mrr < before THEN before - mrr ELSE 0 END) AS contraction,
       SUM(CASE WHEN before > 0 AND mrr = 0 THEN before ELSE 0 END) AS churned
FROM moves GROUP BY month;

-- name: upgrades_and_downgrades
SELECT account_id, plan, next_plan, CASE WHEN next_mrr > mrr THEN 'up' WHEN next_mrr < mrr THEN 'down' ELSE 'same' END AS direction
FROM (
  SELECT account_id, plan, mrr, LEAD(plan) OVER w AS next_plan, LEAD(mrr) OVER w AS next_mrr FROM subscriptions
  WINDOW w AS (PARTITION BY account_id ORDER BY started_on, subscription_id)
) WHERE next_plan IS NOT NULL;

-- name: merged_spells
WITH marked AS (
  SELECT *, CASE WHEN started_on <= MAX(COALESCE(ended_on, DATE'9999-12-31')) OVER (
              PARTITION BY account_id ORDER BY started_on, subscription_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            THEN 0 ELSE 1 END AS begins
  FROM subscriptions
),
numbered AS (
  SELECT *, SUM(begins) OVER (PARTITION BY account_id ORDER BY started_on, subscription_id) AS spell FROM marked
)
SELECT account_id, spell, MIN(started_on) AS began, NULLIF(MAX(COALESCE(ended_on, DATE'9999-12-31')), DATE'9999-12-31') AS ended
FROM numbered GROUP BY account_id, spell;

-- name: plan_at_each_event
SELECT e.event_id, e.kind, u.account_id, s.plan
FROM events e
JOIN users u ON u.user_id = e.user_id
LEFT JOIN subscriptions s ON s.account_id = u.account_id
  AND CAST(e.happened_at AS DATE) BETWEEN s.started_on AND COALESCE(s.ended_on, DATE'9999-12-31');

-- name: subscription_as_of_ticket
SELECT t.ticket_id, t.priority, s.plan, s.mrr
FROM tickets t LEFT JOIN subscriptions s ON s.account_id = t.account_id AND s.started_on <= CAST(t.opened_at AS DATE)
QUALIFY ROW_NUMBER() OVER (PARTITION BY t.ticket_id ORDER BY s.started_on DESC NULLS LAST, s.subscription_id DESC) = 1;

-- name: churn_rate_by_cohort
SELECT date_trunc('quarter', created_on) AS cohort, COUNT(*) AS accounts, COUNT(churned_on) AS churned,
       ROUND(COUNT(churned_on) / COUNT(*), 3) AS rate,
       AVG(datediff(churned_on, created_on)) AS mean_days
FROM accounts GROUP BY date_trunc('quarter', created_on);

-- name: accounts_at_risk
SELECT a.account_id, a.account,
       (SELECT MAX(e.happened_at) FROM events e JOIN users u ON u.user_id = e.user_id WHERE u.account_id = a.account_id) AS last_seen,
       (SELECT COUNT(*) FROM tickets t WHERE t.account_id = a.account_id AND t.closed_at IS NULL) AS open_tickets
FROM accounts a
WHERE a.churned_on IS NULL
  AND (SELECT COUNT(*) FROM invoices i WHERE i.account_id = a.account_id AND i.paid_on IS NULL) > 0;

-- name: aged_receivables
SELECT a.account,
       SUM(CASE WHEN datediff(DATE'2024-06-30', i.due_on) <= 0 THEN i.amount END) AS not_due,
       SUM(CASE WHEN datediff(DATE'2024-06-30', i.due_on) BETWEEN 1 AND 30 THEN i.amount END) AS to_30,
       SUM(CASE WHEN datediff(DATE'2024-06-30', i.due_on) > 30 THEN i.amount END) AS over_30,
       COUNT(*) AS unpaid
FROM invoices i JOIN accounts a ON a.account_id = i.account_id
WHERE i.paid_on IS NULL GROUP BY a.account;

-- name: overdue_today
SELECT i.invoice_id, a.account, i.due_on, i.amount
FROM invoices i LEFT JOIN accounts a ON a.account_id = i.account_id
WHERE i.paid_on IS NULL AND i.due_on < current_date();

-- name: days_to_pay
SELECT account_id, COUNT(*) AS invoices, AVG(datediff(paid_on, issued_on)) AS mean_days, MAX(datediff(paid_on, issued_on)) AS slowest,
       SUM(amount) FILTER (WHERE paid_on > due_on) AS paid_late
FROM invoices GROUP BY account_id;

-- name: invoice_rank_and_share
SELECT invoice_id, account_id, amount, RANK() OVER (PARTITION BY account_id ORDER BY amount DESC) AS place,
       PERCENT_RANK() OVER (PARTITION BY account_id ORDER BY amount DESC) AS percent_rank,
       CUME_DIST() OVER (PARTITION BY account_id ORDER BY amount DESC) AS cume,
       amount / SUM(amount) OVER (PARTITION BY account_id) AS share
FROM invoices;

-- name: seats_used
SELECT a.account_id, p.plan, p.seats, COUNT(DISTINCT u.user_id) AS users,
       COUNT(DISTINCT u.user_id) > p.seats AS over_limit
FROM accounts a JOIN plans p ON p.plan = a.plan LEFT JOIN users u ON u.account_id = a.account_id
GROUP BY a.account_id, p.plan, p.seats;

-- name: plans_nobody_has
SELECT plan FROM plans EXCEPT (SELECT plan FROM accounts UNION SELECT plan FROM subscriptions);

-- name: list_price_and_paid
SELECT s.subscription_id, s.plan, s.mrr, s.seats * p.monthly_price AS list, s.mrr < s.seats * p.monthly_price AS discounted
FROM subscriptions s LEFT JOIN plans p ON p.plan = s.plan;

-- name: expected_and_invoiced
SELECT COALESCE(s.account_id, i.account_id) AS account_id, s.expected, i.invoiced, COALESCE(i.invoiced, 0) - COALESCE(s.expected, 0) AS difference
FROM (SELECT account_id, SUM(mrr) AS expected FROM subscriptions GROUP BY account_id) s
FULL OUTER JOIN (SELECT account_id, SUM(amount) AS invoiced FROM invoices GROUP BY account_id) i ON i.account_id = s.account_id;
