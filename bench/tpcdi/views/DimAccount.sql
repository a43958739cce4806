-- An account has a new version also when its customer has one, and is inactive when the customer is.
SELECT
    CAST(concat(date_format(greatest(a.effective_date, c.effective_date), 'yyyyMMdd'), a.account_id) AS BIGINT)
        AS SK_AccountID,
    a.account_id AS AccountID, b.SK_BrokerID,
    CAST(concat(date_format(c.effective_date, 'yyyyMMdd'), c.customer_id) AS BIGINT) AS SK_CustomerID,
    CASE WHEN c.status = 'INAC' THEN 'Inactive' ELSE st_name END AS Status,
    a.name AS AccountDesc, a.tax_status AS TaxStatus,
    least(a.end_date, c.end_date) = DATE '9999-12-31' AS IsCurrent,
    CASE WHEN a.effective_date >= c.effective_date THEN a.batch ELSE c.batch END AS BatchID,
    greatest(a.effective_date, c.effective_date) AS EffectiveDate, least(a.end_date, c.end_date) AS EndDate
FROM account_version a
JOIN customer_version c
    ON a.customer_id = c.customer_id AND a.effective_date < c.end_date AND c.effective_date < a.end_date
JOIN DimBroker b ON a.broker_id = b.BrokerID
JOIN status_type ON a.status = st_id
