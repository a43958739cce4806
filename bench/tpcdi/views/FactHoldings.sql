SELECT
    h.hh_h_t_id AS TradeID, h.hh_t_id AS CurrentTradeID, t.SK_CustomerID, t.SK_AccountID, t.SK_SecurityID,
    t.SK_CompanyID, t.SK_CloseDateID AS SK_DateID, t.SK_CloseTimeID AS SK_TimeID, t.TradePrice AS CurrentPrice,
    h.hh_after_qty AS CurrentHolding, h.batch AS BatchID
FROM holding_history h
JOIN DimTrade t ON h.hh_t_id = t.TradeID
