-- A rating that is none is unknown; what does not begin with A or BBB is low.
SELECT
    CAST(concat(date_format(effective_date, 'yyyyMMdd'), company_id) AS BIGINT) AS SK_CompanyID,
    company_id AS CompanyID, st_name AS Status, name AS Name, in_name AS Industry,
    CASE WHEN rating RLIKE '^(AAA|AA[+-]?|A[+-]?|BBB[+-]?|BB[+-]?|B[+-]?|CCC[+-]?|CC|C|D)$' THEN rating END AS SPrating,
    CASE WHEN rating RLIKE '^(AAA|AA[+-]?|A[+-]?|BBB[+-]?|BB[+-]?|B[+-]?|CCC[+-]?|CC|C|D)$'
        THEN NOT (startswith(rating, 'A') OR startswith(rating, 'BBB')) END AS isLowGrade,
    ceo AS CEO, address_line1 AS AddressLine1, address_line2 AS AddressLine2, postal_code AS PostalCode, city AS City,
    state AS StateProv, country AS Country, description AS Description, founded AS FoundingDate,
    end_date = DATE '9999-12-31' AS IsCurrent, 1 AS BatchID, effective_date AS EffectiveDate, end_date AS EndDate
FROM company_version
JOIN status_type ON status = st_id
JOIN industry ON industry = in_id
