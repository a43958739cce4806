-- A security has a new version also when its company has one. Companies are named by name or by number.
WITH reference AS (
    SELECT DISTINCT explode(array(lpad(CAST(CompanyID AS STRING), 10, '0'), Name)) AS company, CompanyID
    FROM DimCompany
)
SELECT
    concat(s.symbol, date_format(greatest(s.effective_date, c.EffectiveDate), 'yyyyMMdd')) AS SK_SecurityID,
    s.symbol AS Symbol, s.issue AS Issue, st_name AS Status, s.name AS Name, s.exchange AS ExchangeID,
    c.SK_CompanyID, c.CompanyID, s.shares_outstanding AS SharesOutstanding, s.first_trade AS FirstTrade,
    s.first_trade_on_exchange AS FirstTradeOnExchange, s.dividend AS Dividend,
    least(s.end_date, c.EndDate) = DATE '9999-12-31' AS IsCurrent, 1 AS BatchID,
    greatest(s.effective_date, c.EffectiveDate) AS EffectiveDate, least(s.end_date, c.EndDate) AS EndDate
FROM security_version s
JOIN reference r ON s.company = r.company
JOIN DimCompany c ON r.CompanyID = c.CompanyID AND s.effective_date < c.EndDate AND c.EffectiveDate < s.end_date
JOIN status_type ON s.status = st_id
