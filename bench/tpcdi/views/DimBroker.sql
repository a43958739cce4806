SELECT
    employee AS SK_BrokerID, employee AS BrokerID, manager AS ManagerID, first_name AS FirstName,
    last_name AS LastName, initial AS MiddleInitial, branch AS Branch, office AS Office, phone AS Phone,
    true AS IsCurrent, 1 AS BatchID, DATE '1950-01-01' AS EffectiveDate, DATE '9999-12-31' AS EndDate
FROM hr
WHERE job = 314
