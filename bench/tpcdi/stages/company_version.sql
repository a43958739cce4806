-- Versions of companies, from the day of a CMP record up to, not including, the day of the next one.
WITH record AS (
    SELECT
        CAST(substr(line, 79, 10) AS BIGINT) AS company_id,
        to_date(substr(line, 1, 8), 'yyyyMMdd') AS day,
        max(line) AS line -- the last of a day: a line begins with its time
    FROM finwire
    WHERE substr(line, 16, 3) = 'CMP'
    GROUP BY 1, 2
)
SELECT
    company_id,
    rtrim(substr(line, 19, 60)) AS name,
    substr(line, 89, 4) AS status,
    substr(line, 93, 2) AS industry,
    nullif(trim(substr(line, 95, 4)), '') AS rating,
    to_date(nullif(trim(substr(line, 99, 8)), ''), 'yyyyMMdd') AS founded,
    nullif(rtrim(substr(line, 107, 80)), '') AS address_line1,
    nullif(rtrim(substr(line, 187, 80)), '') AS address_line2,
    nullif(rtrim(substr(line, 267, 12)), '') AS postal_code,
    nullif(rtrim(substr(line, 279, 25)), '') AS city,
    nullif(rtrim(substr(line, 304, 20)), '') AS state,
    nullif(rtrim(substr(line, 324, 24)), '') AS country,
    nullif(rtrim(substr(line, 348, 46)), '') AS ceo,
    nullif(rtrim(substr(line, 394, 150)), '') AS description,
    day AS effective_date,
    lead(day, 1, DATE '9999-12-31') OVER (PARTITION BY company_id ORDER BY day) AS end_date
FROM record
