-- Security, account, customer and broker are those of the day on which the trade was created.
WITH trade_of AS (
    SELECT trade_id, created, closed, batch, CAST(created AS DATE) AS created_on, latest.*
    FROM trade_state
)
SELECT
    t.trade_id AS TradeID, a.SK_BrokerID,
    year(created) * 10000 + month(created) * 100 + day(created) AS SK_CreateDateID,
    hour(created) * 10000 + minute(created) * 100 + second(created) AS SK_CreateTimeID,
    year(closed) * 10000 + month(closed) * 100 + day(closed) AS SK_CloseDateID,
    hour(closed) * 10000 + minute(closed) * 100 + second(closed) AS SK_CloseTimeID,
    st_name AS Status, tt_name AS Type, t_is_cash = 1 AS CashFlag, s.SK_SecurityID, s.SK_CompanyID,
    t_qty AS Quantity, t_bid_price AS BidPrice, a.SK_CustomerID, a.SK_AccountID, t_exec_name AS ExecutedBy,
    t_trade_price AS TradePrice, t_chrg AS Fee, t_comm AS Commission, t_tax AS Tax, t.batch AS BatchID
FROM trade_of t
JOIN status_type ON t.status = st_id
JOIN trade_type ON t_tt_id = tt_id
JOIN DimSecurity s ON t_s_symb = s.Symbol AND created_on >= s.EffectiveDate AND created_on < s.EndDate
JOIN DimAccount a ON t_ca_id = a.AccountID AND created_on >= a.EffectiveDate AND created_on < a.EndDate
