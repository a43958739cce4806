-- A row for each account and day with transactions: the sum of all up to that day.
WITH daily AS (
    SELECT ct_ca_id, CAST(ct_dts AS DATE) AS day, sum(ct_amt) AS amount, min(batch) AS batch
    FROM cash_transaction
    GROUP BY ct_ca_id, CAST(ct_dts AS DATE)
), running AS (
    SELECT
        ct_ca_id, day, batch,
        sum(amount) OVER (PARTITION BY ct_ca_id ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cash
    FROM daily
)
SELECT
    a.SK_CustomerID, a.SK_AccountID, year(day) * 10000 + month(day) * 100 + day(day) AS SK_DateID,
    CAST(cash AS DECIMAL(15, 2)) AS Cash, batch AS BatchID
FROM running
JOIN DimAccount a ON ct_ca_id = a.AccountID AND day >= a.EffectiveDate AND day < a.EndDate
