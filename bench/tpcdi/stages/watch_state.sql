-- When each customer began to watch a security, and when it stopped.
SELECT
    w_c_id AS customer_id,
    w_s_symb AS symbol,
    min(CASE WHEN w_action = 'ACTV' THEN CAST(w_dts AS DATE) END) AS placed,
    max(CASE WHEN w_action = 'CNCL' THEN CAST(w_dts AS DATE) END) AS removed,
    min(batch) AS batch
FROM watch_history
GROUP BY w_c_id, w_s_symb
