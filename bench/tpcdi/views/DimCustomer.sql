-- Demographics are those of the matching prospect, for the current version of a customer only.
SELECT
    CAST(concat(date_format(c.effective_date, 'yyyyMMdd'), c.customer_id) AS BIGINT) AS SK_CustomerID,
    c.customer_id AS CustomerID, c.tax_id AS TaxID, st_name AS Status, c.last_name AS LastName,
    c.first_name AS FirstName, c.middle_initial AS MiddleInitial,
    CASE WHEN upper(c.gender) IN ('M', 'F') THEN upper(c.gender) ELSE 'U' END AS Gender,
    CAST(c.tier AS INT) AS Tier, CAST(c.dob AS DATE) AS DOB, c.address_line1 AS AddressLine1,
    c.address_line2 AS AddressLine2, c.postal_code AS PostalCode, c.city AS City, c.state AS StateProv,
    c.country AS Country,
    CASE WHEN local_1 IS NOT NULL THEN concat(
        CASE WHEN country_1 IS NOT NULL AND area_1 IS NOT NULL THEN concat('+', country_1, ' ') ELSE '' END,
        CASE WHEN area_1 IS NOT NULL THEN concat('(', area_1, ') ') ELSE '' END,
        local_1, coalesce(ext_1, '')) END AS Phone1,
    CASE WHEN local_2 IS NOT NULL THEN concat(
        CASE WHEN country_2 IS NOT NULL AND area_2 IS NOT NULL THEN concat('+', country_2, ' ') ELSE '' END,
        CASE WHEN area_2 IS NOT NULL THEN concat('(', area_2, ') ') ELSE '' END,
        local_2, coalesce(ext_2, '')) END AS Phone2,
    CASE WHEN local_3 IS NOT NULL THEN concat(
        CASE WHEN country_3 IS NOT NULL AND area_3 IS NOT NULL THEN concat('+', country_3, ' ') ELSE '' END,
        CASE WHEN area_3 IS NOT NULL THEN concat('(', area_3, ') ') ELSE '' END,
        local_3, coalesce(ext_3, '')) END AS Phone3,
    c.email_1 AS Email1, c.email_2 AS Email2,
    n.tx_name AS NationalTaxRateDesc, n.tx_rate AS NationalTaxRate,
    l.tx_name AS LocalTaxRateDesc, l.tx_rate AS LocalTaxRate,
    p.AgencyID, p.CreditRating, p.NetWorth, p.MarketingNameplate,
    c.end_date = DATE '9999-12-31' AS IsCurrent, c.batch AS BatchID,
    c.effective_date AS EffectiveDate, c.end_date AS EndDate
FROM customer_version c
JOIN status_type ON c.status = st_id
JOIN tax_rate l ON c.local_tax_id = l.tx_id
JOIN tax_rate n ON c.national_tax_id = n.tx_id
LEFT JOIN Prospect p
    ON c.end_date = DATE '9999-12-31'
    AND upper(c.last_name) = upper(p.LastName) AND upper(c.first_name) = upper(p.FirstName)
    AND upper(c.address_line1) = upper(p.AddressLine1)
    AND upper(coalesce(c.address_line2, '')) = upper(coalesce(p.AddressLine2, ''))
    AND upper(c.postal_code) = upper(p.PostalCode)
