-- Versions of securities, as their SEC records say; `company` is a name, or ten digits.
WITH record AS (
    SELECT
        rtrim(substr(line, 19, 15)) AS symbol,
        to_date(substr(line, 1, 8), 'yyyyMMdd') AS day,
        max(line) AS line
    FROM finwire
    WHERE substr(line, 16, 3) = 'SEC'
    GROUP BY 1, 2
)
SELECT
    symbol,
    rtrim(substr(line, 34, 6)) AS issue,
    substr(line, 40, 4) AS status,
    rtrim(substr(line, 44, 70)) AS name,
    rtrim(substr(line, 114, 6)) AS exchange,
    CAST(trim(substr(line, 120, 13)) AS BIGINT) AS shares_outstanding,
    to_date(substr(line, 133, 8), 'yyyyMMdd') AS first_trade,
    to_date(substr(line, 141, 8), 'yyyyMMdd') AS first_trade_on_exchange,
    CAST(trim(substr(line, 149, 12)) AS DECIMAL(10, 2)) AS dividend,
    rtrim(substr(line, 161, 60)) AS company,
    day AS effective_date,
    lead(day, 1, DATE '9999-12-31') OVER (PARTITION BY symbol ORDER BY day) AS end_date
FROM record
