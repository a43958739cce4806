-- One row for every prospect ever seen: its last values, when they were first sent, and when last.
WITH sent AS (
    SELECT
        agency_id, last_name, first_name, middle_initial, gender, address_line1, address_line2, postal_code, city,
        state, country, phone, income, number_cars, number_children, marital_status, age, credit_rating,
        own_or_rent_flag, employer, number_credit_cards, net_worth,
        min(batch) AS first_batch, max(batch) AS last_batch
    FROM prospect_file
    GROUP BY
        agency_id, last_name, first_name, middle_initial, gender, address_line1, address_line2, postal_code, city,
        state, country, phone, income, number_cars, number_children, marital_status, age, credit_rating,
        own_or_rent_flag, employer, number_credit_cards, net_worth
), latest AS (
    SELECT *, row_number() OVER (PARTITION BY agency_id ORDER BY last_batch DESC) AS from_last
    FROM sent
), buyer AS (
    SELECT
        customer_id, upper(last_name) AS last_name, upper(first_name) AS first_name,
        upper(address_line1) AS address_line1, upper(coalesce(address_line2, '')) AS address_line2,
        upper(postal_code) AS postal_code
    FROM customer_version
    WHERE end_date = DATE '9999-12-31' AND status = 'ACTV'
)
SELECT
    p.agency_id AS AgencyID,
    year(r.day) * 10000 + month(r.day) * 100 + day(r.day) AS SK_RecordDateID,
    year(u.day) * 10000 + month(u.day) * 100 + day(u.day) AS SK_UpdateDateID,
    p.first_batch AS BatchID, b.customer_id IS NOT NULL AS IsCustomer,
    p.last_name AS LastName, p.first_name AS FirstName, p.middle_initial AS MiddleInitial, p.gender AS Gender,
    p.address_line1 AS AddressLine1, p.address_line2 AS AddressLine2, p.postal_code AS PostalCode, p.city AS City,
    p.state AS State, p.country AS Country, p.phone AS Phone, p.income AS Income, p.number_cars AS NumberCars,
    p.number_children AS NumberChildren, p.marital_status AS MaritalStatus, p.age AS Age,
    p.credit_rating AS CreditRating, p.own_or_rent_flag AS OwnOrRentFlag, p.employer AS Employer,
    p.number_credit_cards AS NumberCreditCards, p.net_worth AS NetWorth,
    nullif(concat_ws('+',
        CASE WHEN p.net_worth > 1000000 OR p.income > 200000 THEN 'HighValue' END,
        CASE WHEN p.number_children > 3 OR p.number_credit_cards > 5 THEN 'Expenses' END,
        CASE WHEN p.age > 45 THEN 'Boomer' END,
        CASE WHEN p.income < 50000 OR p.credit_rating < 600 OR p.net_worth < 100000 THEN 'MoneyAlert' END,
        CASE WHEN p.number_cars > 3 OR p.number_credit_cards > 7 THEN 'Spender' END,
        CASE WHEN p.age < 25 AND p.net_worth > 1000000 THEN 'Inherited' END), '') AS MarketingNameplate
FROM latest p
JOIN batch_date r ON p.last_batch = r.batch
JOIN batch_date u ON p.first_batch = u.batch
LEFT JOIN buyer b
    ON upper(p.last_name) = b.last_name AND upper(p.first_name) = b.first_name
    AND upper(p.address_line1) = b.address_line1 AND upper(coalesce(p.address_line2, '')) = b.address_line2
    AND upper(p.postal_code) = b.postal_code
WHERE p.from_last = 1
