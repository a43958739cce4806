-- Versions of entities: from the day they begin up to, not including, the day the next one begins.

CREATE MACRO day_key(day) AS CAST(strftime(day, '%Y%m%d') AS BIGINT);
CREATE MACRO version_key(day, number) AS CAST(strftime(day, '%Y%m%d') || CAST(number AS VARCHAR) AS BIGINT);
CREATE MACRO forever() AS DATE '9999-12-31';

CREATE TABLE DimBroker AS
SELECT employee AS SK_BrokerID, employee AS BrokerID, manager AS ManagerID, DATE '1950-01-01' AS EffectiveDate,
    forever() AS EndDate
FROM hr
WHERE job = 314;

CREATE TABLE company_record AS
SELECT CAST(line[79:88] AS BIGINT) AS cik, rtrim(line[19:78]) AS name, line[89:92] AS status, line[93:94] AS industry,
    nullif(trim(line[95:98]), '') AS rating, pts, CAST(pts AS DATE) AS day
FROM finwire
WHERE kind = 'CMP'
QUALIFY row_number() OVER (PARTITION BY cik, CAST(pts AS DATE) ORDER BY pts DESC) = 1;

CREATE TABLE DimCompany AS
SELECT version_key(day, cik) AS SK_CompanyID, cik AS CompanyID, st_name AS Status, name AS Name, in_name AS Industry,
    rating AS RatingAsSent, day AS EffectiveDate,
    coalesce(lead(day) OVER (PARTITION BY cik ORDER BY day), forever()) AS EndDate
FROM company_record JOIN status_type ON status = st_id JOIN industry ON industry = in_id;

CREATE TABLE security_record AS
SELECT rtrim(line[19:33]) AS symbol, rtrim(line[34:39]) AS issue, line[40:43] AS status,
    CAST(trim(line[149:160]) AS DECIMAL(12,2)) AS dividend, rtrim(line[161:220]) AS company,
    CAST(pts AS DATE) AS day
FROM finwire
WHERE kind = 'SEC'
QUALIFY row_number() OVER (PARTITION BY line[19:33], CAST(pts AS DATE) ORDER BY pts DESC) = 1;

CREATE TABLE security_version AS
SELECT *, coalesce(lead(day) OVER (PARTITION BY symbol ORDER BY day), forever()) AS until
FROM security_record;

-- A security has a new version also when its company has one.
CREATE TABLE DimSecurity AS
SELECT s.symbol || strftime(greatest(s.day, c.EffectiveDate), '%Y%m%d') AS SK_SecurityID, s.symbol AS Symbol,
    st_name AS Status, s.dividend AS Dividend, c.SK_CompanyID, c.CompanyID,
    greatest(s.day, c.EffectiveDate) AS EffectiveDate, least(s.until, c.EndDate) AS EndDate
FROM security_version s
JOIN DimCompany c
    ON (CASE WHEN regexp_full_match(s.company, '\d{10}') THEN CAST(s.company AS BIGINT) = c.CompanyID
        ELSE s.company = c.Name END)
    AND s.day < c.EndDate AND c.EffectiveDate < s.until
JOIN status_type ON s.status = st_id;

-- Missing in an action: as before. Empty: unknown from now on. Rows of Customer.txt are complete.
CREATE TABLE customer_event AS
SELECT CAST(C_ID AS BIGINT) AS id, CAST(ActionTS AS TIMESTAMP) AS moment, CAST(Position AS BIGINT) AS place, 1 AS batch,
    CASE ActionType WHEN 'INACT' THEN 'INAC' ELSE 'ACTV' END AS status,
    C_L_NAME AS last_name, C_F_NAME AS first_name, C_ADLINE1 AS line1, C_ADLINE2 AS line2, C_ZIPCODE AS zip,
    C_TIER AS tier
FROM action
WHERE ActionType IN ('NEW', 'UPDCUST', 'INACT')
UNION ALL
SELECT c_id, CAST(day AS TIMESTAMP), cdc_dsn, batch, c_st_id, coalesce(c_l_name, ''), coalesce(c_f_name, ''),
    coalesce(c_adline1, ''), coalesce(c_adline2, ''), coalesce(c_zipcode, ''), coalesce(c_tier, '')
FROM customer JOIN batch_date USING (batch);

CREATE TABLE DimCustomerVersion AS
WITH filled AS (
    SELECT id, moment, place, batch, status,
        nullif(last_value(last_name IGNORE NULLS) OVER past, '') AS LastName,
        nullif(last_value(first_name IGNORE NULLS) OVER past, '') AS FirstName,
        nullif(last_value(line1 IGNORE NULLS) OVER past, '') AS AddressLine1,
        nullif(last_value(line2 IGNORE NULLS) OVER past, '') AS AddressLine2,
        nullif(last_value(zip IGNORE NULLS) OVER past, '') AS PostalCode,
        nullif(last_value(tier IGNORE NULLS) OVER past, '') AS Tier
    FROM customer_event
    WINDOW past AS (PARTITION BY id ORDER BY moment, place ROWS UNBOUNDED PRECEDING)
), daily AS (
    SELECT *, CAST(moment AS DATE) AS day FROM filled
    QUALIFY row_number() OVER (PARTITION BY id, CAST(moment AS DATE) ORDER BY moment DESC, place DESC) = 1
)
SELECT version_key(day, id) AS SK_CustomerID, id AS CustomerID, st_name AS Status, LastName, FirstName,
    AddressLine1, AddressLine2, PostalCode, Tier, batch AS BatchID, day AS EffectiveDate,
    coalesce(lead(day) OVER (PARTITION BY id ORDER BY day), forever()) AS EndDate
FROM daily JOIN status_type ON status = st_id;

CREATE TABLE account_event AS
SELECT CAST(CA_ID AS BIGINT) AS id, CAST(ActionTS AS TIMESTAMP) AS moment, CAST(Position AS BIGINT) AS place, 1 AS batch,
    CASE ActionType WHEN 'CLOSEACCT' THEN 'INAC' ELSE 'ACTV' END AS status,
    CAST(C_ID AS BIGINT) AS customer, CA_B_ID AS broker, CA_NAME AS name, CA_TAX_ST AS tax_status
FROM action
WHERE ActionType IN ('NEW', 'ADDACCT', 'UPDACCT', 'CLOSEACCT')
UNION ALL
SELECT ca_id, CAST(day AS TIMESTAMP), cdc_dsn, batch, ca_st_id, ca_c_id, coalesce(CAST(ca_b_id AS VARCHAR), ''),
    coalesce(ca_name, ''), coalesce(ca_tax_st, '')
FROM account JOIN batch_date USING (batch);

CREATE TABLE account_version AS
WITH filled AS (
    SELECT id, moment, place, batch, status, customer,
        nullif(last_value(broker IGNORE NULLS) OVER past, '') AS broker,
        nullif(last_value(name IGNORE NULLS) OVER past, '') AS name,
        nullif(last_value(tax_status IGNORE NULLS) OVER past, '') AS tax_status
    FROM account_event
    WINDOW past AS (PARTITION BY id ORDER BY moment, place ROWS UNBOUNDED PRECEDING)
), daily AS (
    SELECT *, CAST(moment AS DATE) AS day FROM filled
    QUALIFY row_number() OVER (PARTITION BY id, CAST(moment AS DATE) ORDER BY moment DESC, place DESC) = 1
)
SELECT *, coalesce(lead(day) OVER (PARTITION BY id ORDER BY day), forever()) AS until
FROM daily;

-- An account has a new version also when its customer has one, and is inactive when the customer is.
CREATE TABLE DimAccount AS
SELECT version_key(greatest(a.day, c.EffectiveDate), a.id) AS SK_AccountID, a.id AS AccountID,
    b.SK_BrokerID, c.SK_CustomerID, CASE WHEN c.Status = 'Inactive' THEN c.Status ELSE st_name END AS Status,
    a.name AS AccountDesc, CAST(a.tax_status AS INTEGER) AS TaxStatus,
    least(a.until, c.EndDate) = forever() AS IsCurrent,
    CASE WHEN a.day >= c.EffectiveDate THEN a.batch ELSE c.BatchID END AS BatchID,
    greatest(a.day, c.EffectiveDate) AS EffectiveDate, least(a.until, c.EndDate) AS EndDate
FROM account_version a
JOIN DimCustomerVersion c ON a.customer = c.CustomerID AND a.day < c.EndDate AND c.EffectiveDate < a.until
JOIN DimBroker b ON CAST(a.broker AS BIGINT) = b.BrokerID
JOIN status_type ON a.status = st_id;
