-- Usage events: sessions, duplicates, funnels, gaps and islands, activity.

-- name: events_without_duplicates
SELECT event_id, user_id, happened_at, kind, page FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY event_id ORDER BY happened_at, kind) AS n FROM events
) WHERE n = 1;

-- name: sessions_of_thirty_minutes
WITH marked AS (
  SELECT user_id, event_id, happened_at,
         CASE WHEN happened_at - LAG(happened_at) OVER (PARTITION BY user_id ORDER BY happened_at, event_id) <= INTERVAL 30 MINUTES
              THEN 0 ELSE 1 END AS starts
  FROM events WHERE user_id IS NOT NULL
),
numbered AS (
  SELECT *, SUM(starts) OVER (PARTITION BY user_id ORDER BY happened_at, event_id ROWS UNBOUNDED PRECEDING) AS session
  FROM marked
)
SELECT user_id, session, MIN(happened_at) AS began, MAX(happened_at) AS ended, COUNT(*) AS events,
       timestampdiff(MINUTE, MIN(happened_at), MAX(happened_at)) AS minutes
FROM numbered GROUP BY user_id, session;

-- name: session_statistics_by_account
WITH marked AS (
  SELECT e.user_id, u.account_id, e.happened_at, e.event_id,
         IF(e.happened_at - LAG(e.happened_at) OVER (PARTITION BY e.user_id ORDER BY e.happened_at, e.event_id)
            <= INTERVAL 30 MINUTES, 0, 1) AS starts
  FROM (SELECT DISTINCT event_id, user_id, happened_at FROM events) e JOIN users u ON u.user_id = e.user_id
),
numbered AS (
  SELECT *, SUM(starts) OVER (PARTITION BY user_id ORDER BY happened_at, event_id) AS session FROM marked
),
sessions AS (
  SELECT account_id, user_id, session, COUNT(*) AS events FROM numbered GROUP BY account_id, user_id, session
)
SELECT a.account, COUNT(*) AS sessions, SUM(s.events) AS events, AVG(s.events) AS mean_length, MAX(s.events) AS longest
FROM sessions s JOIN accounts a ON a.account_id = s.account_id
GROUP BY a.account;

-- name: entry_and_exit_pages
SELECT user_id, day, entry, exit FROM (
  SELECT user_id, CAST(happened_at AS DATE) AS day, happened_at, event_id,
         FIRST_VALUE(page) OVER w AS entry, LAST_VALUE(page) OVER w AS exit,
         ROW_NUMBER() OVER (PARTITION BY user_id, CAST(happened_at AS DATE) ORDER BY happened_at, event_id) AS n
  FROM events
  WINDOW w AS (PARTITION BY user_id, CAST(happened_at AS DATE) ORDER BY happened_at, event_id
               ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
) WHERE n = 1;

-- name: page_transitions
SELECT page, next_page, COUNT(*) AS times FROM (
  SELECT page, LEAD(page) OVER (PARTITION BY user_id ORDER BY happened_at, event_id) AS next_page
  FROM events WHERE kind = 'visit' AND page IS NOT NULL
) WHERE next_page IS NOT NULL GROUP BY page, next_page;

-- name: funnel_of_three_steps
WITH visits AS (SELECT user_id, MIN(happened_at) AS at FROM events WHERE kind = 'visit' GROUP BY user_id),
trials AS (
  SELECT e.user_id, MIN(e.happened_at) AS at FROM events e JOIN visits v ON v.user_id = e.user_id AND e.happened_at > v.at
  WHERE e.kind = 'trial' GROUP BY e.user_id
),
upgrades AS (
  SELECT e.user_id, MIN(e.happened_at) AS at FROM events e JOIN trials t ON t.user_id = e.user_id AND e.happened_at > t.at
  WHERE e.kind = 'upgrade' GROUP BY e.user_id
)
SELECT COUNT(v.user_id) AS visited, COUNT(t.user_id) AS tried, COUNT(u.user_id) AS upgraded
FROM visits v LEFT JOIN trials t ON t.user_id = v.user_id LEFT JOIN upgrades u ON u.user_id = v.user_id;

-- name: funnel_by_country
SELECT a.country, COUNT(DISTINCT f.user_id) AS users,
       COUNT(DISTINCT IF(f.signed_up, f.user_id, NULL)) AS signed_up,
       COUNT(DISTINCT IF(f.signed_up AND f.upgraded, f.user_id, NULL)) AS upgraded
FROM (
  SELECT user_id, MAX(kind = 'signup') AS signed_up, MAX(kind = 'upgrade') AS upgraded FROM events GROUP BY user_id
) f
JOIN users u ON u.user_id = f.user_id
LEFT JOIN accounts a ON a.account_id = u.account_id
GROUP BY a.country;

-- name: time_from_signup_to_upgrade
SELECT s.user_id, s.signed_up, u.upgraded, timestampdiff(HOUR, s.signed_up, u.upgraded) AS hours
FROM (SELECT user_id, MIN(happened_at) AS signed_up FROM events WHERE kind = 'signup' GROUP BY user_id) s
LEFT JOIN LATERAL (
  SELECT MIN(e.happened_at) AS upgraded FROM events e
  WHERE e.user_id = s.user_id AND e.kind = 'upgrade' AND e.happened_at >= s.signed_up
) u;

-- name: streaks_of_active_days
WITH days AS (SELECT DISTINCT user_id, CAST(happened_at AS DATE) AS day FROM events WHERE user_id IS NOT NULL),
islands AS (
  SELECT user_id, day, date_sub(day, CAST(ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY day) AS INT)) AS island FROM days
)
SELECT user_id, MIN(day) AS first_day, MAX(day) AS last_day, COUNT(*) AS days
FROM islands GROUP BY user_id, island;

-- name: gaps_in_usage
SELECT account_id, date_add(day, 1) AS gap_from, date_sub(next_day, 1) AS gap_to, datediff(next_day, day) - 1 AS days
FROM (SELECT account_id, day, LEAD(day) OVER (PARTITION BY account_id ORDER BY day) AS next_day FROM usage)
WHERE datediff(next_day, day) > 1;

-- name: usage_on_every_day
WITH calendar AS (SELECT explode(sequence(DATE'2024-01-01', DATE'2024-02-29')) AS day)
SELECT a.account_id, c.day, COALESCE(SUM(u.units), 0) AS units
FROM (SELECT DISTINCT account_id FROM usage) a
CROSS JOIN calendar c
LEFT JOIN usage u ON u.account_id = a.account_id AND u.day = c.day
GROUP BY a.account_id, c.day;

-- name: usage_moving_average
SELECT account_id, day, units,
       AVG(units) OVER (PARTITION BY account_id ORDER BY day RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW) AS week,
       SUM(units) OVER (PARTITION BY account_id ORDER BY day ROWS UNBOUNDED PRECEDING) AS so_far,
       units - LAG(units) OVER (PARTITION BY account_id ORDER BY day) AS change
FROM usage;

-- name: last_known_value
SELECT account_id, day, units,
       LAST_VALUE(units) IGNORE NULLS OVER (PARTITION BY account_id ORDER BY day ROWS UNBOUNDED PRECEDING) AS filled
FROM usage;

-- name: peak_day_of_each_account
SELECT account_id, max_by(day, struct(units, day)) AS peak_day, MAX(units) AS peak FROM usage
WHERE units IS NOT NULL GROUP BY account_id;

-- name: usage_above_percentile
SELECT u.account_id, u.day, u.units FROM usage u
JOIN (SELECT account_id, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY units) AS p90 FROM usage GROUP BY account_id) t
  ON t.account_id = u.account_id
WHERE u.units >= t.p90;

-- name: active_users_by_month
SELECT date_trunc('month', happened_at) AS month, COUNT(DISTINCT user_id) AS active,
       COUNT(DISTINCT CASE WHEN kind = 'export' THEN user_id END) AS exporting
FROM events GROUP BY date_trunc('month', happened_at);

-- name: stickiness
WITH daily AS (
  SELECT date_trunc('month', happened_at) AS month, CAST(happened_at AS DATE) AS day, COUNT(DISTINCT user_id) AS users
  FROM events GROUP BY 1, 2
),
monthly AS (SELECT date_trunc('month', happened_at) AS month, COUNT(DISTINCT user_id) AS users FROM events GROUP BY 1)
SELECT m.month, m.users AS monthly_users, AVG(d.users) AS mean_daily_users, AVG(d.users) / m.users AS stickiness
FROM monthly m JOIN daily d ON d.month = m.month GROUP BY m.month, m.users;

-- name: returning_after_a_week
SELECT f.day AS first_day, COUNT(*) AS users,
       COUNT_IF(EXISTS (
         SELECT 1 FROM events e WHERE e.user_id = f.user_id
           AND CAST(e.happened_at AS DATE) BETWEEN date_add(f.day, 7) AND date_add(f.day, 13))) AS came_back
FROM (SELECT user_id, MIN(CAST(happened_at AS DATE)) AS day FROM events WHERE user_id IS NOT NULL GROUP BY user_id) f
GROUP BY f.day;

-- name: weekly_retention
SELECT f.cohort, CAST(datediff(a.week, f.cohort) / 7 AS INT) AS weeks_later, COUNT(DISTINCT a.user_id) AS users
FROM (SELECT user_id, date_trunc('week', MIN(happened_at)) AS cohort FROM events GROUP BY user_id) f
JOIN (SELECT DISTINCT user_id, date_trunc('week', happened_at) AS week FROM events) a ON a.user_id = f.user_id
GROUP BY f.cohort, CAST(datediff(a.week, f.cohort) / 7 AS INT);

-- name: tags_in_use
SELECT tag, COUNT(*) AS events, COUNT(DISTINCT e.user_id) AS users, COUNT(DISTINCT u.account_id) AS accounts
FROM events e JOIN users u ON u.user_id = e.user_id LATERAL VIEW explode(e.tags) AS tag
GROUP BY tag;

-- name: slow_browsers
SELECT get_json_object(body, '$.browser') AS browser, COUNT(*) AS events, AVG(CAST(get_json_object(body, '$.ms') AS INT)) AS mean_ms,
       MAX(CAST(get_json_object(body, '$.ms') AS INT)) AS worst
FROM events WHERE body IS NOT NULL GROUP BY get_json_object(body, '$.browser')
HAVING COUNT(*) > 3;

-- name: events_by_area_and_role
SELECT * FROM (
  SELECT f.area, COALESCE(u.role, 'none') AS role, e.event_id
  FROM events e JOIN features f ON f.kind = e.kind JOIN users u ON u.user_id = e.user_id
) PIVOT (COUNT(DISTINCT event_id) FOR role IN ('admin', 'member', 'guest', 'none'));
