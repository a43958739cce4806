-- What happens to the bank, in three steps.

-- name: a_day_of_bookings
INSERT INTO transactions VALUES
  (900, 101, 501, 1, TIMESTAMP'2024-07-01 09:00:00', -40.00, 'purchase'),
  (901, 101, 501, 2, TIMESTAMP'2024-07-01 09:01:00', -41.00, 'purchase'),
  (902, 102, NULL, NULL, TIMESTAMP'2024-07-01 10:00:00', 2500.00, 'deposit'),
  (903, 101, 501, 1, TIMESTAMP'2024-02-01 12:00:00', -12.50, 'purchase'),
  (904, 121, 502, 3, TIMESTAMP'2024-07-01 23:30:00', NULL, 'purchase');
INSERT INTO transfers VALUES
  (46, 101, 102, TIMESTAMP'2024-07-01 12:00:00', 9500.00), (47, 102, 101, TIMESTAMP'2024-07-01 12:05:00', 9400.00),
  (48, 101, 104, TIMESTAMP'2024-07-01 13:00:00', 50.00), (49, 104, 105, TIMESTAMP'2024-07-01 13:01:00', 50.00),
  (50, 105, 101, TIMESTAMP'2024-07-01 13:02:00', 50.00);
INSERT INTO rates VALUES ('EUR', DATE'2024-07-01', 0.9700), ('USD', DATE'2024-03-01', 0.8800);
UPDATE payments SET paid_on = DATE'2024-07-01' WHERE paid_on IS NULL AND number < 3;

-- name: corrections
DELETE FROM transactions WHERE tx_id IN (10, 41, 60);
UPDATE transactions SET amount = -amount WHERE kind = 'refund' AND tx_id % 2 = 0;
UPDATE transactions SET merchant_id = 4 WHERE merchant_id = 2 AND tx_id < 100;
UPDATE rates SET rate = rate + 0.01 WHERE currency = 'EUR' AND valid_from >= DATE'2024-05-01';
UPDATE cards SET status = 'blocked' WHERE card_id IN (501, 503);
UPDATE transfers SET to_account = 103 WHERE to_account IS NULL AND transfer_id % 2 = 0;
UPDATE payments SET paid_on = due_on WHERE loan_id = 3;
DELETE FROM payments WHERE loan_id = 8 AND number > 4;

-- name: clients_move
UPDATE clients SET branch_id = 2, risk = 'high' WHERE client_id IN (1, 2);
DELETE FROM clients WHERE client_id = 16;
INSERT INTO clients VALUES (17, 'Client 3', DATE'1999-09-09', NULL, 4, 'BE');
INSERT INTO accounts VALUES (121, 'current', 'USD', DATE'2024-07-01', NULL, 0);
UPDATE accounts SET closed = DATE'2024-07-01' WHERE account_id = 103;
INSERT INTO holders VALUES (121, 17, 'owner'), (120, 1, 'owner');
DELETE FROM holders WHERE role = 'joint' AND account_id > 112;
UPDATE merchants SET category = 'travel' WHERE category IS NULL;
UPDATE loans SET percent = 3.5 WHERE percent IS NULL;
DELETE FROM branches WHERE branch_id = 3;
DELETE FROM transactions WHERE account_id = 102 AND kind = 'fee'
