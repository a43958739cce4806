WITH reference AS (
    SELECT DISTINCT explode(array(lpad(CAST(CompanyID AS STRING), 10, '0'), Name)) AS company, CompanyID
    FROM DimCompany
), report AS (
    SELECT
        to_date(substr(line, 1, 8), 'yyyyMMdd') AS day, rtrim(substr(line, 187, 60)) AS company,
        CAST(substr(line, 19, 4) AS INT) AS year, CAST(substr(line, 23, 1) AS INT) AS quarter,
        to_date(substr(line, 24, 8), 'yyyyMMdd') AS starts,
        CAST(trim(substr(line, 40, 17)) AS DECIMAL(15, 2)) AS revenue,
        CAST(trim(substr(line, 57, 17)) AS DECIMAL(15, 2)) AS earnings,
        CAST(trim(substr(line, 74, 12)) AS DECIMAL(10, 2)) AS eps,
        CAST(trim(substr(line, 86, 12)) AS DECIMAL(10, 2)) AS diluted_eps,
        CAST(trim(substr(line, 98, 12)) AS DECIMAL(10, 2)) AS margin,
        CAST(trim(substr(line, 110, 17)) AS DECIMAL(15, 2)) AS inventory,
        CAST(trim(substr(line, 127, 17)) AS DECIMAL(15, 2)) AS assets,
        CAST(trim(substr(line, 144, 17)) AS DECIMAL(15, 2)) AS liabilities,
        CAST(trim(substr(line, 161, 13)) AS BIGINT) AS shares,
        CAST(trim(substr(line, 174, 13)) AS BIGINT) AS diluted_shares
    FROM finwire
    WHERE substr(line, 16, 3) = 'FIN'
)
SELECT
    c.SK_CompanyID, c.CompanyID, year AS FI_YEAR, quarter AS FI_QTR, starts AS FI_QTR_START_DATE,
    revenue AS FI_REVENUE, earnings AS FI_NET_EARN, eps AS FI_BASIC_EPS, diluted_eps AS FI_DILUT_EPS,
    margin AS FI_MARGIN, inventory AS FI_INVENTORY, assets AS FI_ASSETS, liabilities AS FI_LIABILITY,
    shares AS FI_OUT_BASIC, diluted_shares AS FI_OUT_DILUT
FROM report f
JOIN reference r ON f.company = r.company
JOIN DimCompany c ON r.CompanyID = c.CompanyID AND f.day >= c.EffectiveDate AND f.day < c.EndDate
