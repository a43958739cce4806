SELECT
    CAST(concat(date_format(c.effective_date, 'yyyyMMdd'), c.customer_id) AS BIGINT) AS SK_CustomerID,
    s.SK_SecurityID,
    year(placed) * 10000 + month(placed) * 100 + day(placed) AS SK_DateID_DatePlaced,
    year(removed) * 10000 + month(removed) * 100 + day(removed) AS SK_DateID_DateRemoved,
    w.batch AS BatchID
FROM watch_state w
JOIN DimSecurity s ON w.symbol = s.Symbol AND placed >= s.EffectiveDate AND placed < s.EndDate
JOIN customer_version c ON w.customer_id = c.customer_id AND placed >= c.effective_date AND placed < c.end_date
