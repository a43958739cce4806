-- Versions of accounts, without regard to those of their customers.
WITH event AS (
    SELECT
        ca_id, CAST(action_ts AS TIMESTAMP_NTZ) AS moment, position, 1 AS batch, c_id,
        CASE action_type WHEN 'CLOSEACCT' THEN 'INAC' ELSE 'ACTV' END AS status,
        ca_b_id, ca_name, ca_tax_st
    FROM customer_action
    WHERE action_type IN ('NEW', 'ADDACCT', 'UPDACCT', 'CLOSEACCT')
    UNION ALL
    SELECT
        ca_id, CAST(day AS TIMESTAMP_NTZ), cdc_dsn, a.batch, ca_c_id, ca_st_id,
        coalesce(CAST(ca_b_id AS STRING), ''), coalesce(ca_name, ''), coalesce(ca_tax_st, '')
    FROM account a JOIN batch_date d ON a.batch = d.batch
), carried AS (
    SELECT
        ca_id, c_id, CAST(moment AS DATE) AS day, batch, status,
        row_number() OVER (PARTITION BY ca_id, CAST(moment AS DATE) ORDER BY moment DESC, position DESC) AS from_last,
        nullif(last_value(ca_b_id, true) OVER past, '') AS broker_id,
        nullif(last_value(ca_name, true) OVER past, '') AS name,
        nullif(last_value(ca_tax_st, true) OVER past, '') AS tax_status
    FROM event
    WINDOW past AS (PARTITION BY ca_id ORDER BY moment, position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
SELECT
    ca_id AS account_id, c_id AS customer_id, status, batch,
    CAST(broker_id AS BIGINT) AS broker_id, name, CAST(tax_status AS INT) AS tax_status,
    day AS effective_date,
    lead(day, 1, DATE '9999-12-31') OVER (PARTITION BY ca_id ORDER BY day) AS end_date
FROM carried
WHERE from_last = 1
