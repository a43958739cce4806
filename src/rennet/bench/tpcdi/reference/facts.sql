-- The tables that are compared.

CREATE MACRO time_key(moment) AS CAST(strftime(moment, '%H%M%S') AS BIGINT);
-- n / d to two decimals, half up, of whole numbers that are not negative; the result counts hundredths.
CREATE MACRO hundredths(n, d) AS (200 * CAST(n AS HUGEINT) + d) // (2 * CAST(d AS HUGEINT));

CREATE TABLE trade_event AS
SELECT th_t_id AS id, th_dts AS moment, th_st_id AS status, 1 AS batch FROM trade_history
UNION ALL
SELECT t_id, t_dts, t_st_id, batch FROM trade WHERE batch > 1;

CREATE TABLE DimTrade AS
WITH life AS (
    SELECT id, min(moment) AS created, max(moment) FILTER (status IN ('CMPT', 'CNCL')) AS closed,
        arg_max(status, moment) AS status, min(batch) AS batch
    FROM trade_event
    GROUP BY id
), latest AS (
    SELECT * FROM trade QUALIFY row_number() OVER (PARTITION BY t_id ORDER BY t_dts DESC, cdc_dsn DESC) = 1
)
SELECT t.t_id AS TradeID, a.SK_BrokerID, day_key(l.created) AS SK_CreateDateID, time_key(l.created) AS SK_CreateTimeID,
    day_key(l.closed) AS SK_CloseDateID, time_key(l.closed) AS SK_CloseTimeID, st_name AS Status, tt_name AS Type,
    t.t_is_cash = 1 AS CashFlag, s.SK_SecurityID, s.SK_CompanyID, t.t_qty AS Quantity, t.t_bid_price AS BidPrice,
    a.SK_CustomerID, a.SK_AccountID, t.t_exec_name AS ExecutedBy, t.t_trade_price AS TradePrice, t.t_chrg AS Fee,
    t.t_comm AS Commission, t.t_tax AS Tax, l.batch AS BatchID
FROM latest t
JOIN life l ON t.t_id = l.id
JOIN status_type ON l.status = st_id
JOIN trade_type ON t.t_tt_id = tt_id
JOIN DimSecurity s ON t.t_s_symb = s.Symbol
    AND CAST(l.created AS DATE) >= s.EffectiveDate AND CAST(l.created AS DATE) < s.EndDate
JOIN DimAccount a ON t.t_ca_id = a.AccountID
    AND CAST(l.created AS DATE) >= a.EffectiveDate AND CAST(l.created AS DATE) < a.EndDate;

CREATE TABLE FactHoldings AS
SELECT h.hh_h_t_id AS TradeID, h.hh_t_id AS CurrentTradeID, t.SK_CustomerID, t.SK_AccountID, t.SK_SecurityID,
    t.SK_CompanyID, t.SK_CloseDateID AS SK_DateID, t.SK_CloseTimeID AS SK_TimeID, t.TradePrice AS CurrentPrice,
    h.hh_after_qty AS CurrentHolding, h.batch AS BatchID
FROM holding_history h JOIN DimTrade t ON h.hh_t_id = t.TradeID;

CREATE TABLE FactCashBalances AS
WITH daily AS (
    SELECT ct_ca_id AS account, CAST(ct_dts AS DATE) AS day, sum(ct_amt) AS amount, min(batch) AS batch
    FROM cash_transaction
    GROUP BY ALL
)
SELECT a.SK_CustomerID, a.SK_AccountID, day_key(d.day) AS SK_DateID,
    CAST(sum(d.amount) OVER (PARTITION BY d.account ORDER BY d.day ROWS UNBOUNDED PRECEDING) AS DECIMAL(15,2)) AS Cash,
    d.batch AS BatchID
FROM daily d
JOIN DimAccount a ON d.account = a.AccountID AND d.day >= a.EffectiveDate AND d.day < a.EndDate;

CREATE TABLE FactWatches AS
WITH watch AS (
    SELECT w_c_id AS customer, w_s_symb AS symbol, min(CAST(w_dts AS DATE)) FILTER (w_action = 'ACTV') AS placed,
        max(CAST(w_dts AS DATE)) FILTER (w_action = 'CNCL') AS removed, min(batch) AS batch
    FROM watch_history
    GROUP BY ALL
)
SELECT c.SK_CustomerID, s.SK_SecurityID, day_key(w.placed) AS SK_DateID_DatePlaced,
    day_key(w.removed) AS SK_DateID_DateRemoved, w.batch AS BatchID
FROM watch w
JOIN DimSecurity s ON w.symbol = s.Symbol AND w.placed >= s.EffectiveDate AND w.placed < s.EndDate
JOIN DimCustomerVersion c ON w.customer = c.CustomerID AND w.placed >= c.EffectiveDate AND w.placed < c.EndDate;

-- Earnings per share of a company in each quarter, in cents; quarters are counted.
CREATE TABLE earnings AS
WITH report AS (
    SELECT CAST(line[19:22] AS INTEGER) * 4 + CAST(line[23:23] AS INTEGER) AS quarter,
        CAST(CAST(trim(line[74:85]) AS DECIMAL(12,2)) * 100 AS BIGINT) AS eps, rtrim(line[187:246]) AS company
    FROM finwire
    WHERE kind = 'FIN'
), named AS (SELECT DISTINCT CompanyID, Name FROM DimCompany)
SELECT n.CompanyID, quarter, eps
FROM report r
JOIN named n ON CASE WHEN regexp_full_match(r.company, '\d{10}') THEN CAST(r.company AS BIGINT) = n.CompanyID
    ELSE r.company = n.Name END;

-- What a company earned in the four quarters before each quarter in which anything is traded.
CREATE TABLE yearly_earnings AS
SELECT e.CompanyID, q.quarter, sum(e.eps) AS eps
FROM (SELECT DISTINCT year(dm_date) * 4 + quarter(dm_date) AS quarter FROM daily_market) q
JOIN earnings e ON e.quarter BETWEEN q.quarter - 4 AND q.quarter - 1
GROUP BY ALL;

-- Price and day in one number, so that the highest price of the earliest day is a maximum.
CREATE TABLE FactMarketHistory AS
WITH cents AS (
    SELECT *, date_diff('day', DATE '1900-01-01', dm_date) AS day,
        date_diff('day', dm_date - INTERVAL 1 YEAR, dm_date) AS year_days,
        CAST(dm_high * 100 AS BIGINT) AS high, CAST(dm_low * 100 AS BIGINT) AS low
    FROM daily_market
), framed AS (
    SELECT *, max(high * 100000 + 99999 - day) OVER year_before AS highest,
        min(low * 100000 + day) OVER year_before AS lowest
    FROM cents
    WINDOW year_before AS (PARTITION BY dm_s_symb ORDER BY day RANGE BETWEEN year_days - 1 PRECEDING AND CURRENT ROW)
)
SELECT s.SK_SecurityID, s.SK_CompanyID, day_key(f.dm_date) AS SK_DateID,
    CAST(CASE WHEN e.eps > 0 THEN hundredths(CAST(f.dm_close * 100 AS BIGINT), e.eps) END AS DECIMAL(20,0)) / 100 AS PERatio,
    CAST(hundredths(CAST(s.Dividend * 100 AS BIGINT) * 100, CAST(f.dm_close * 100 AS BIGINT)) AS DECIMAL(20,0)) / 100 AS Yield,
    CAST(highest // 100000 AS DECIMAL(10,0)) / 100 AS FiftyTwoWeekHigh,
    day_key(DATE '1900-01-01' + CAST(99999 - highest % 100000 AS INTEGER)) AS SK_FiftyTwoWeekHighDate,
    CAST(lowest // 100000 AS DECIMAL(10,0)) / 100 AS FiftyTwoWeekLow,
    day_key(DATE '1900-01-01' + CAST(lowest % 100000 AS INTEGER)) AS SK_FiftyTwoWeekLowDate,
    f.dm_close AS ClosePrice, f.dm_high AS DayHigh, f.dm_low AS DayLow, f.dm_vol AS Volume, f.batch AS BatchID
FROM framed f
JOIN DimSecurity s ON f.dm_s_symb = s.Symbol AND f.dm_date >= s.EffectiveDate AND f.dm_date < s.EndDate
LEFT JOIN yearly_earnings e ON s.CompanyID = e.CompanyID AND e.quarter = year(f.dm_date) * 4 + quarter(f.dm_date);

CREATE TABLE Prospect AS
WITH seen AS (
    SELECT p.*, to_json(struct_pack(last_name, first_name, middle_initial, gender, address_line1, address_line2,
        postal_code, city, state, country, phone, income, number_cars, number_children, marital_status, age,
        credit_rating, own_or_rent_flag, employer, number_credit_cards, net_worth)) AS content
    FROM prospect_file p
), compared AS (
    SELECT *, content IS DISTINCT FROM lag(content) OVER (PARTITION BY agency_id ORDER BY batch) AS changed FROM seen
), latest AS (
    SELECT *, max(batch) FILTER (changed) OVER (PARTITION BY agency_id) AS changed_in
    FROM compared
    QUALIFY row_number() OVER (PARTITION BY agency_id ORDER BY batch DESC) = 1
), buyer AS (
    SELECT DISTINCT upper(LastName) AS l, upper(FirstName) AS f, upper(AddressLine1) AS a1,
        upper(coalesce(AddressLine2, '')) AS a2, upper(PostalCode) AS z
    FROM DimCustomerVersion
    WHERE EndDate = forever() AND Status = 'Active'
)
SELECT agency_id AS AgencyID, day_key(r.day) AS SK_RecordDateID, day_key(u.day) AS SK_UpdateDateID,
    changed_in AS BatchID, b.l IS NOT NULL AS IsCustomer,
    last_name AS LastName, first_name AS FirstName, middle_initial AS MiddleInitial, gender AS Gender,
    address_line1 AS AddressLine1, address_line2 AS AddressLine2, postal_code AS PostalCode, city AS City,
    state AS State, country AS Country, phone AS Phone, income AS Income, number_cars AS NumberCars,
    number_children AS NumberChildren, marital_status AS MaritalStatus, age AS Age, credit_rating AS CreditRating,
    own_or_rent_flag AS OwnOrRentFlag, employer AS Employer, number_credit_cards AS NumberCreditCards,
    net_worth AS NetWorth,
    nullif(concat_ws('+',
        CASE WHEN net_worth > 1000000 OR income > 200000 THEN 'HighValue' END,
        CASE WHEN number_children > 3 OR number_credit_cards > 5 THEN 'Expenses' END,
        CASE WHEN age > 45 THEN 'Boomer' END,
        CASE WHEN income < 50000 OR credit_rating < 600 OR net_worth < 100000 THEN 'MoneyAlert' END,
        CASE WHEN number_cars > 3 OR number_credit_cards > 7 THEN 'Spender' END,
        CASE WHEN age < 25 AND net_worth > 1000000 THEN 'Inherited' END), '') AS MarketingNameplate
FROM latest p
JOIN batch_date r ON p.batch = r.batch
JOIN batch_date u ON p.changed_in = u.batch
LEFT JOIN buyer b ON upper(last_name) = b.l AND upper(first_name) = b.f AND upper(address_line1) = b.a1
    AND upper(coalesce(address_line2, '')) = b.a2 AND upper(postal_code) = b.z;
