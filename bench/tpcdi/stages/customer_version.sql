-- Versions of customers. In an action, what is missing stays and what is empty becomes unknown; rows of
-- Customer.txt are complete. All changes of a day make one version.
WITH event AS (
    SELECT
        c_id, CAST(action_ts AS TIMESTAMP_NTZ) AS moment, position, 1 AS batch,
        CASE action_type WHEN 'INACT' THEN 'INAC' ELSE 'ACTV' END AS status,
        c_tax_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_adline1, c_adline2, c_zipcode, c_city,
        c_state_prov, c_ctry, c_ctry_1, c_area_1, c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2,
        c_ctry_3, c_area_3, c_local_3, c_ext_3, c_email_1, c_email_2, c_lcl_tx_id, c_nat_tx_id
    FROM customer_action
    WHERE action_type IN ('NEW', 'UPDCUST', 'INACT')
    UNION ALL
    SELECT
        c_id, CAST(day AS TIMESTAMP_NTZ), cdc_dsn, c.batch, c_st_id,
        coalesce(c_tax_id, ''), coalesce(c_l_name, ''), coalesce(c_f_name, ''), coalesce(c_m_name, ''),
        coalesce(c_gndr, ''), coalesce(c_tier, ''), coalesce(c_dob, ''), coalesce(c_adline1, ''),
        coalesce(c_adline2, ''), coalesce(c_zipcode, ''), coalesce(c_city, ''), coalesce(c_state_prov, ''),
        coalesce(c_ctry, ''), coalesce(c_ctry_1, ''), coalesce(c_area_1, ''), coalesce(c_local_1, ''),
        coalesce(c_ext_1, ''), coalesce(c_ctry_2, ''), coalesce(c_area_2, ''), coalesce(c_local_2, ''),
        coalesce(c_ext_2, ''), coalesce(c_ctry_3, ''), coalesce(c_area_3, ''), coalesce(c_local_3, ''),
        coalesce(c_ext_3, ''), coalesce(c_email_1, ''), coalesce(c_email_2, ''), coalesce(c_lcl_tx_id, ''),
        coalesce(c_nat_tx_id, '')
    FROM customer c JOIN batch_date d ON c.batch = d.batch
), carried AS (
    SELECT
        c_id, CAST(moment AS DATE) AS day, batch, status,
        row_number() OVER (PARTITION BY c_id, CAST(moment AS DATE) ORDER BY moment DESC, position DESC) AS from_last,
        nullif(last_value(c_tax_id, true) OVER past, '') AS tax_id,
        nullif(last_value(c_l_name, true) OVER past, '') AS last_name,
        nullif(last_value(c_f_name, true) OVER past, '') AS first_name,
        nullif(last_value(c_m_name, true) OVER past, '') AS middle_initial,
        nullif(last_value(c_gndr, true) OVER past, '') AS gender,
        nullif(last_value(c_tier, true) OVER past, '') AS tier,
        nullif(last_value(c_dob, true) OVER past, '') AS dob,
        nullif(last_value(c_adline1, true) OVER past, '') AS address_line1,
        nullif(last_value(c_adline2, true) OVER past, '') AS address_line2,
        nullif(last_value(c_zipcode, true) OVER past, '') AS postal_code,
        nullif(last_value(c_city, true) OVER past, '') AS city,
        nullif(last_value(c_state_prov, true) OVER past, '') AS state,
        nullif(last_value(c_ctry, true) OVER past, '') AS country,
        nullif(last_value(c_ctry_1, true) OVER past, '') AS country_1,
        nullif(last_value(c_area_1, true) OVER past, '') AS area_1,
        nullif(last_value(c_local_1, true) OVER past, '') AS local_1,
        nullif(last_value(c_ext_1, true) OVER past, '') AS ext_1,
        nullif(last_value(c_ctry_2, true) OVER past, '') AS country_2,
        nullif(last_value(c_area_2, true) OVER past, '') AS area_2,
        nullif(last_value(c_local_2, true) OVER past, '') AS local_2,
        nullif(last_value(c_ext_2, true) OVER past, '') AS ext_2,
        nullif(last_value(c_ctry_3, true) OVER past, '') AS country_3,
        nullif(last_value(c_area_3, true) OVER past, '') AS area_3,
        nullif(last_value(c_local_3, true) OVER past, '') AS local_3,
        nullif(last_value(c_ext_3, true) OVER past, '') AS ext_3,
        nullif(last_value(c_email_1, true) OVER past, '') AS email_1,
        nullif(last_value(c_email_2, true) OVER past, '') AS email_2,
        nullif(last_value(c_lcl_tx_id, true) OVER past, '') AS local_tax_id,
        nullif(last_value(c_nat_tx_id, true) OVER past, '') AS national_tax_id
    FROM event
    WINDOW past AS (PARTITION BY c_id ORDER BY moment, position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
SELECT
    c_id AS customer_id, status, batch,
    tax_id, last_name, first_name, middle_initial, gender, tier, dob, address_line1, address_line2, postal_code,
    city, state, country, country_1, area_1, local_1, ext_1, country_2, area_2, local_2, ext_2, country_3, area_3,
    local_3, ext_3, email_1, email_2, local_tax_id, national_tax_id,
    day AS effective_date,
    lead(day, 1, DATE '9999-12-31') OVER (PARTITION BY c_id ORDER BY day) AS end_date
FROM carried
WHERE from_last = 1
