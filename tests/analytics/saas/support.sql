-- Tickets, experiments, account health; many tables at once.

-- name: account_health
SELECT a.account_id, a.account, a.plan, u.users, e.events, e.last_event, t.open_tickets, t.mean_score, i.unpaid, s.mrr, g.units
FROM accounts a
LEFT JOIN (SELECT account_id, COUNT(*) AS users FROM users GROUP BY account_id) u ON u.account_id = a.account_id
LEFT JOIN (
  SELECT us.account_id, COUNT(*) AS events, MAX(ev.happened_at) AS last_event
  FROM events ev JOIN users us ON us.user_id = ev.user_id GROUP BY us.account_id
) e ON e.account_id = a.account_id
LEFT JOIN (
  SELECT account_id, COUNT_IF(closed_at IS NULL) AS open_tickets, AVG(score) AS mean_score FROM tickets GROUP BY account_id
) t ON t.account_id = a.account_id
LEFT JOIN (SELECT account_id, SUM(amount) AS unpaid FROM invoices WHERE paid_on IS NULL GROUP BY account_id) i
  ON i.account_id = a.account_id
LEFT JOIN (SELECT account_id, SUM(mrr) AS mrr FROM subscriptions WHERE ended_on IS NULL GROUP BY account_id) s
  ON s.account_id = a.account_id
LEFT JOIN (SELECT account_id, SUM(units) AS units FROM usage GROUP BY account_id) g ON g.account_id = a.account_id;

-- name: time_to_close
SELECT a.plan, t.priority, COUNT(*) AS tickets, AVG(timestampdiff(HOUR, t.opened_at, t.closed_at)) AS mean_hours,
       PERCENTILE(timestampdiff(HOUR, t.opened_at, t.closed_at), 0.9) AS p90,
       COUNT_IF(t.closed_at IS NULL) AS still_open
FROM tickets t JOIN accounts a ON a.account_id = t.account_id
GROUP BY a.plan, t.priority;

-- name: open_tickets_over_time
SELECT d.day, COUNT(t.ticket_id) AS open
FROM (SELECT explode(sequence(DATE'2024-01-07', DATE'2024-05-05', INTERVAL 7 DAYS)) AS day) d
LEFT JOIN tickets t ON CAST(t.opened_at AS DATE) <= d.day AND (t.closed_at IS NULL OR CAST(t.closed_at AS DATE) > d.day)
GROUP BY d.day;

-- name: concurrent_tickets
SELECT account_id, MAX(open) AS most_at_once FROM (
  SELECT account_id, SUM(step) OVER (PARTITION BY account_id ORDER BY at, step ROWS UNBOUNDED PRECEDING) AS open
  FROM (
    SELECT account_id, opened_at AS at, 1 AS step FROM tickets
    UNION ALL
    SELECT account_id, closed_at, -1 FROM tickets WHERE closed_at IS NOT NULL
  )
) GROUP BY account_id;

-- name: experiment_conversion
SELECT x.experiment, x.variant, COUNT(DISTINCT x.user_id) AS users, COUNT(DISTINCT e.user_id) AS converted,
       COUNT(DISTINCT e.user_id) / COUNT(DISTINCT x.user_id) AS rate
FROM assignments x
LEFT JOIN events e ON e.user_id = x.user_id AND e.kind IN ('trial', 'upgrade') AND e.happened_at >= x.assigned_at
GROUP BY x.experiment, x.variant;

-- name: experiment_uplift
WITH rates AS (
  SELECT x.experiment, x.variant, COUNT(DISTINCT e.user_id) / COUNT(DISTINCT x.user_id) AS rate
  FROM assignments x
  LEFT JOIN events e ON e.user_id = x.user_id AND e.kind = 'upgrade' AND e.happened_at >= x.assigned_at
  GROUP BY x.experiment, x.variant
)
SELECT t.experiment, t.rate AS treated, c.rate AS control, t.rate - c.rate AS uplift
FROM rates t JOIN rates c ON c.experiment = t.experiment AND c.variant = 'control'
WHERE t.variant = 'treatment';

-- name: users_without_events_or_tickets
SELECT user_id, email FROM users u
WHERE user_id NOT IN (SELECT user_id FROM tickets WHERE user_id IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.user_id = u.user_id);

-- name: one_user_per_email
SELECT user_id, email, account_id FROM users
WHERE email IS NOT NULL
QUALIFY ROW_NUMBER() OVER (PARTITION BY LOWER(email) ORDER BY created_at DESC, user_id DESC) = 1;

-- name: busiest_user_of_each_account
SELECT account_id, user_id, events FROM (
  SELECT u.account_id, u.user_id, COUNT(e.event_id) AS events,
         RANK() OVER (PARTITION BY u.account_id ORDER BY COUNT(e.event_id) DESC, u.user_id) AS place
  FROM users u LEFT JOIN events e ON e.user_id = u.user_id
  GROUP BY u.account_id, u.user_id
) WHERE place = 1;

-- name: features_of_each_account
SELECT a.account, sort_array(collect_set(f.area)) AS areas, COUNT(DISTINCT e.kind) AS kinds,
       array_size(collect_set(e.page)) AS pages
FROM accounts a JOIN users u ON u.account_id = a.account_id JOIN events e ON e.user_id = u.user_id
LEFT JOIN features f ON f.kind = e.kind
GROUP BY a.account;

-- name: adoption_matrix
SELECT a.account_id, f.area, EXISTS (
         SELECT 1 FROM events e JOIN users u ON u.user_id = e.user_id JOIN features g ON g.kind = e.kind
         WHERE u.account_id = a.account_id AND g.area = f.area) AS adopted
FROM accounts a CROSS JOIN (SELECT DISTINCT area FROM features) f;

-- name: scores_rolled_up
SELECT a.country, a.plan, AVG(t.score) AS mean_score, COUNT(t.score) AS answers, COUNT(*) AS tickets
FROM tickets t JOIN accounts a ON a.account_id = t.account_id
GROUP BY ROLLUP (a.country, a.plan)
HAVING COUNT(*) > 1;

-- name: unknown_references
SELECT 'user' AS what, user_id AS id, COUNT(*) AS times FROM events
WHERE user_id NOT IN (SELECT user_id FROM users) GROUP BY user_id
UNION ALL
SELECT 'account', s.account_id, COUNT(*) FROM subscriptions s LEFT JOIN accounts a ON a.account_id = s.account_id
WHERE a.account_id IS NULL GROUP BY s.account_id;

-- name: overall_satisfaction
SELECT MIN(score) AS worst, MAX(score) AS best, AVG(score) AS mean, MEDIAN(score) AS middle, COUNT(*) AS tickets FROM tickets;
