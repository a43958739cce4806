-- The state of each trade: when it was created and closed, and what is known of it now. A row of the trade itself
-- comes after the row of its history that has the same time.
SELECT
    id AS trade_id,
    min(moment) AS created,
    max(CASE WHEN status IN ('CMPT', 'CNCL') THEN moment END) AS closed,
    min(batch) AS batch,
    max(struct(moment, number, status, t_tt_id, t_is_cash, t_s_symb, t_qty, t_bid_price, t_ca_id, t_exec_name,
        t_trade_price, t_chrg, t_comm, t_tax)) AS latest
FROM (
    SELECT
        t_id AS id, t_dts AS moment, coalesce(cdc_dsn, 0) AS number, t_st_id AS status, batch,
        t_tt_id, t_is_cash, t_s_symb, t_qty, t_bid_price, t_ca_id, t_exec_name, t_trade_price, t_chrg, t_comm, t_tax
    FROM trade
    UNION ALL
    SELECT
        th_t_id, th_dts, -1, th_st_id, 1,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM trade_history
)
GROUP BY id
