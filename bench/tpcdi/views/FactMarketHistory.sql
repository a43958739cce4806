-- A year before a day is ten thousand before its number, and that day itself does not belong to it any more.
-- Of equal prices the earliest counts. Earnings are those of the four quarters before the one of the day.
WITH numbered AS (
    SELECT *, year(dm_date) * 10000 + month(dm_date) * 100 + day(dm_date) AS number
    FROM daily_market
), framed AS (
    SELECT
        *,
        max(named_struct('price', dm_high, 'day', -number)) OVER past_year AS highest,
        min(named_struct('price', dm_low, 'day', number)) OVER past_year AS lowest
    FROM numbered
    WINDOW past_year AS (PARTITION BY dm_s_symb ORDER BY number RANGE BETWEEN 9999 PRECEDING AND CURRENT ROW)
), earnings AS (
    SELECT CompanyID, quarter, sum(FI_BASIC_EPS) AS eps
    FROM (
        SELECT CompanyID, FI_BASIC_EPS, FI_YEAR * 4 + FI_QTR + ahead AS quarter
        FROM Financial LATERAL VIEW explode(array(1, 2, 3, 4)) later AS ahead
    )
    GROUP BY CompanyID, quarter
)
SELECT
    s.SK_SecurityID, s.SK_CompanyID, number AS SK_DateID,
    CAST(CASE WHEN eps > 0 THEN dm_close / eps END AS DECIMAL(10, 2)) AS PERatio,
    CAST(s.Dividend * 100 / dm_close AS DECIMAL(5, 2)) AS Yield,
    highest.price AS FiftyTwoWeekHigh, -highest.day AS SK_FiftyTwoWeekHighDate,
    lowest.price AS FiftyTwoWeekLow, lowest.day AS SK_FiftyTwoWeekLowDate,
    dm_close AS ClosePrice, dm_high AS DayHigh, dm_low AS DayLow, dm_vol AS Volume, batch AS BatchID
FROM framed
JOIN DimSecurity s ON dm_s_symb = s.Symbol AND dm_date >= s.EffectiveDate AND dm_date < s.EndDate
LEFT JOIN earnings e ON s.CompanyID = e.CompanyID AND year(dm_date) * 4 + quarter(dm_date) = e.quarter
