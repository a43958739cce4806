-- What happens to the service, in three steps.

-- name: late_events
INSERT INTO events VALUES
  (900, 1, TIMESTAMP'2024-02-10 10:00:00', 'visit', '/home', array('eu'), '{"ms": 12, "browser": "ff"}'),
  (901, 1, TIMESTAMP'2024-02-10 10:20:00', 'signup', '/pricing', NULL, NULL),
  (902, 2, TIMESTAMP'2024-05-01 08:00:00', 'trial', '/app', array(), '{"ms": 700}'),
  (903, 31, TIMESTAMP'2024-05-01 08:01:00', 'visit', NULL, array('beta', 'slow'), '{"ms": 5, "browser": "cr"}'),
  (904, 31, TIMESTAMP'2024-05-01 08:40:00', 'upgrade', '/app', NULL, NULL);
INSERT INTO users VALUES (31, 2, 'user31@mail.com', 'member', TIMESTAMP'2024-05-01 07:59:00');
INSERT INTO invoices VALUES (41, 3, DATE'2024-05-01', DATE'2024-05-31', NULL, 588.00);
UPDATE invoices SET paid_on = DATE'2024-05-02' WHERE paid_on IS NULL AND invoice_id % 3 = 0;
INSERT INTO usage VALUES (1, DATE'2024-03-05', 120), (2, DATE'2024-03-05', NULL), (7, DATE'2024-03-05', 10);
INSERT INTO tickets VALUES (31, 2, 31, TIMESTAMP'2024-05-01 09:00:00', NULL, 'high', NULL);

-- name: corrections
DELETE FROM events WHERE kind = 'error' AND event_id % 2 = 0;
UPDATE events SET user_id = 3 WHERE user_id = 5;
UPDATE events SET happened_at = happened_at + INTERVAL 10 MINUTES WHERE event_id BETWEEN 20 AND 25;
MERGE INTO users u USING (SELECT * FROM VALUES (4, 'admin'), (9, NULL), (77, 'guest') AS v(user_id, role)) s
  ON u.user_id = s.user_id
  WHEN MATCHED THEN UPDATE SET role = s.role
  WHEN NOT MATCHED THEN INSERT (user_id, account_id, email, role, created_at)
    VALUES (s.user_id, 1, NULL, s.role, TIMESTAMP'2024-05-02 00:00:00');
UPDATE tickets SET closed_at = TIMESTAMP'2024-05-03 12:00:00', score = 4 WHERE closed_at IS NULL AND ticket_id < 20;
UPDATE assignments SET variant = 'treatment' WHERE user_id IN (3, 6);
DELETE FROM invoices WHERE invoice_id = 6;

-- name: upgrades_and_churn
UPDATE accounts SET churned_on = DATE'2024-05-05' WHERE account_id IN (3, 8);
UPDATE accounts SET plan = 'business', country = 'US' WHERE account_id = 2;
UPDATE subscriptions SET ended_on = DATE'2024-05-05' WHERE ended_on IS NULL AND account_id % 2 = 1;
INSERT INTO subscriptions VALUES (90, 2, 'business', DATE'2024-05-05', NULL, 5, 997.50), (91, 77, 'team', DATE'2024-05-05', NULL, 1, 49.00);
UPDATE plans SET monthly_price = 59.00 WHERE plan = 'team';
DELETE FROM plans WHERE plan = 'legacy';
UPDATE features SET area = 'product' WHERE kind = 'trial';
DELETE FROM users WHERE user_id = 7;
DELETE FROM usage WHERE account_id = 4 AND day > DATE'2024-02-01';
UPDATE usage SET units = units * 2 WHERE account_id = 1
