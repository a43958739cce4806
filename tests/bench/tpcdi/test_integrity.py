"""What refers to something refers to what was there at the time."""

from __future__ import annotations

import pytest

from rennet.bench.tpcdi.reference import Reference

BROKEN = {
    "a trade without its account at the time": """
        SELECT 1 FROM trade_event e JOIN trade t ON e.id = t.t_id WHERE NOT EXISTS (
            SELECT 1 FROM DimAccount a WHERE a.AccountID = t.t_ca_id
            AND a.EffectiveDate <= CAST(e.moment AS DATE))""",
    "a trade of a security not yet known": """
        SELECT 1 FROM trade_event e JOIN trade t ON e.id = t.t_id WHERE NOT EXISTS (
            SELECT 1 FROM DimSecurity s WHERE s.Symbol = t.t_s_symb
            AND s.EffectiveDate <= CAST(e.moment AS DATE))""",
    "a trade executed by no broker": """
        SELECT 1 FROM trade WHERE CAST(t_exec_name AS BIGINT) NOT IN (SELECT BrokerID FROM DimBroker)""",
    "a sale of what nobody bought": """
        SELECT 1 FROM holding_history WHERE hh_before_qty > 0
        AND hh_h_t_id NOT IN (SELECT hh_t_id FROM holding_history WHERE hh_before_qty = 0)""",
    "a sale of another account, security or quantity than the purchase": """
        SELECT 1 FROM holding_history h JOIN trade s ON h.hh_t_id = s.t_id
        JOIN trade b ON h.hh_h_t_id = b.t_id
        WHERE (s.t_ca_id, s.t_s_symb, s.t_qty) IS DISTINCT FROM (b.t_ca_id, b.t_s_symb, b.t_qty)""",
    "a sale placed before the purchase was completed": """
        SELECT 1 FROM holding_history h
        JOIN (SELECT id, min(moment) AS placed FROM trade_event GROUP BY id) s ON s.id = h.hh_t_id
        JOIN trade_event b ON b.id = h.hh_h_t_id AND b.status = 'CMPT'
        WHERE h.hh_before_qty > 0 AND s.placed <= b.moment""",
    "something sold twice": """
        SELECT hh_h_t_id FROM holding_history WHERE hh_before_qty > 0 GROUP BY ALL HAVING count(*) > 1""",
    "a holding that is not of a completed trade": """
        SELECT 1 FROM holding_history WHERE hh_t_id NOT IN (SELECT id FROM trade_event
        WHERE status = 'CMPT')""",
    "a completed trade without a holding": """
        SELECT id FROM trade_event WHERE status = 'CMPT' AND id NOT IN (SELECT hh_t_id
        FROM holding_history)""",
    "a holding that is neither bought nor sold": """
        SELECT 1 FROM holding_history h JOIN trade t ON h.hh_t_id = t.t_id WHERE t.t_st_id = 'CMPT' AND
        (hh_before_qty, hh_after_qty) IS DISTINCT FROM
        (CASE WHEN t_tt_id IN ('TLS', 'TMS') THEN (t_qty, 0) ELSE (0, t_qty) END)""",
    "a cash transaction of an account not yet known": """
        SELECT 1 FROM cash_transaction c WHERE NOT EXISTS (SELECT 1 FROM DimAccount a
            WHERE a.AccountID = c.ct_ca_id AND a.EffectiveDate <= CAST(c.ct_dts AS DATE))""",
    "a watch of a customer not yet known": """
        SELECT 1 FROM watch_history w WHERE NOT EXISTS (SELECT 1 FROM DimCustomerVersion c
            WHERE c.CustomerID = w.w_c_id AND c.EffectiveDate <= CAST(w.w_dts AS DATE))""",
    "a watch of a security not yet known": """
        SELECT 1 FROM watch_history w WHERE NOT EXISTS (SELECT 1 FROM DimSecurity s
            WHERE s.Symbol = w.w_s_symb AND s.EffectiveDate <= CAST(w.w_dts AS DATE))""",
    "a pair watched twice, or left twice": """
        SELECT 1 FROM watch_history GROUP BY w_c_id, w_s_symb, w_action HAVING count(*) > 1""",
    "a watch left before it was placed": """
        SELECT 1 FROM watch_history r WHERE w_action = 'CNCL' AND NOT EXISTS (SELECT 1 FROM watch_history p
            WHERE p.w_action = 'ACTV' AND (p.w_c_id, p.w_s_symb) = (r.w_c_id, r.w_s_symb)
            AND p.w_dts < r.w_dts)""",
    "two prices of a security on a day": """
        SELECT 1 FROM daily_market GROUP BY dm_s_symb, dm_date HAVING count(*) > 1""",
    "a security without a price on some day since its first": """
        SELECT dm_s_symb FROM daily_market GROUP BY ALL
        HAVING count(*) <> date_diff('day', min(dm_date), max(dm_date)) + 1""",
    "a security of no company": """
        SELECT symbol FROM security_record EXCEPT SELECT Symbol FROM DimSecurity""",
    "a report of no company": """
        SELECT 1 FROM (SELECT count(*) AS n FROM finwire WHERE kind = 'FIN') JOIN
        (SELECT count(*) AS m FROM earnings) ON n <> m""",
    "two reports of a company in a quarter": """
        SELECT 1 FROM earnings GROUP BY CompanyID, quarter HAVING count(*) > 1""",
    "two companies of a name": "SELECT 1 FROM DimCompany GROUP BY Name HAVING count(DISTINCT CompanyID) > 1",
    "two actions on a customer in a day": """
        SELECT 1 FROM customer_event GROUP BY id, CAST(moment AS DATE) HAVING count(*) > 1""",
    "two rows of an account in a batch": """
        SELECT 1 FROM account GROUP BY ca_id, batch HAVING count(*) > 1""",
    "a new customer that is not new": """
        SELECT c_id FROM customer WHERE cdc_flag = 'I' INTERSECT
        SELECT id FROM customer_event GROUP BY id HAVING count(*) > count(DISTINCT batch)""",
    "something said of a customer after it has gone": """
        SELECT 1 FROM customer_event a JOIN customer_event b ON a.id = b.id AND a.moment < b.moment
        WHERE a.status = 'INAC'""",
    "something said of an account after it was closed": """
        SELECT 1 FROM account_event a JOIN account_event b ON a.id = b.id AND a.moment < b.moment
        WHERE a.status = 'INAC'""",
    "an account that passes to another customer": """
        SELECT id FROM account_event GROUP BY id HAVING count(DISTINCT customer) > 1""",
    "a broker that is not one": """
        SELECT broker FROM account_version WHERE CAST(broker AS BIGINT) NOT IN (SELECT BrokerID
        FROM DimBroker)""",
    "an event outside its batch's day": """
        SELECT 1 FROM trade JOIN batch_date USING (batch) WHERE batch > 1 AND CAST(t_dts AS DATE) <> day
        UNION ALL
        SELECT 1 FROM cash_transaction JOIN batch_date USING (batch) WHERE batch > 1
        AND CAST(ct_dts AS DATE) <> day
        UNION ALL
        SELECT 1 FROM watch_history JOIN batch_date USING (batch) WHERE batch > 1
        AND CAST(w_dts AS DATE) <> day
        UNION ALL
        SELECT 1 FROM daily_market JOIN batch_date USING (batch) WHERE batch > 1 AND dm_date <> day - 1""",
    "an event outside the years of its file": """
        SELECT 1 FROM trade_history WHERE th_dts < '2012-07-07' OR th_dts >= '2017-07-08'
        UNION ALL SELECT 1 FROM cash_transaction WHERE batch = 1 AND ct_dts >= '2017-07-08'
        UNION ALL SELECT 1 FROM watch_history WHERE batch = 1 AND (w_dts < '2012-07-07'
        OR w_dts >= '2017-07-08')
        UNION ALL SELECT 1 FROM daily_market
            WHERE batch = 1 AND (dm_date < '2015-07-06' OR dm_date > '2017-07-06')
        UNION ALL SELECT 1 FROM action WHERE ActionTS < '2007-07-07' OR ActionTS >= '2017-07-08'
        UNION ALL SELECT 1 FROM finwire WHERE pts >= '2017-07-08'""",
    "a trade whose row is not its last event": """
        SELECT 1 FROM trade t JOIN (SELECT th_t_id, max(th_dts) AS last FROM trade_history GROUP BY ALL)
        ON t_id = th_t_id WHERE batch = 1 AND t_dts <> last""",
    "a customer of a missing tax rate or a half-filled name": """
        SELECT 1 FROM customer WHERE c_l_name IS NULL OR c_f_name IS NULL OR c_lcl_tx_id IS NULL""",
    "two prospects of a number": """
        SELECT 1 FROM prospect_file GROUP BY agency_id, batch HAVING count(*) > 1""",
    "two prospects of an identity": """
        SELECT 1 FROM prospect_file GROUP BY batch, upper(last_name), upper(first_name), upper(address_line1),
            upper(coalesce(address_line2, '')), postal_code HAVING count(*) > 1""",
}


@pytest.mark.parametrize("problem", BROKEN)
def test_there_is_not(final: Reference, problem: str) -> None:
    assert final.value(f"SELECT count(*) FROM ({BROKEN[problem]})") == 0


def test_what_is_checked_is_there(final: Reference) -> None:
    """The queries above find nothing also in empty tables."""
    for name in (
        *("trade", "trade_history", "cash_transaction", "holding_history", "watch_history", "daily_market"),
        *("action", "customer", "account", "finwire", "prospect_file", "DimSecurity", "DimAccount"),
    ):
        assert final.value(f"SELECT count(*) FROM {name}") > 0
    assert final.value("SELECT count(*) FROM holding_history WHERE hh_before_qty > 0") > 1000
    assert final.value("SELECT count(*) FROM trade WHERE batch > 1 AND cdc_flag = 'U'") > 10
    assert final.value("SELECT count(*) FROM customer WHERE c_st_id = 'INAC'") > 0


def test_files_are_in_the_order_of_time(final: Reference) -> None:
    assert (
        final.value(
            "SELECT count(*) FROM (SELECT ActionTS < lag(ActionTS) OVER (ORDER BY CAST(Position AS INT))"
            " AS back FROM action) WHERE back"
        )
        == 0
    )


def test_updates_keep_what_they_do_not_say(final: Reference) -> None:
    """A row about someone known differs from what was known in few fields, never in the name."""
    before_and_after = final.rows(
        "SELECT a.LastName = b.LastName AND a.FirstName = b.FirstName, a.AddressLine1 = b.AddressLine1 "
        "FROM DimCustomerVersion a JOIN DimCustomerVersion b "
        "ON a.CustomerID = b.CustomerID AND a.EndDate = b.EffectiveDate WHERE b.BatchID > 1"
    )
    assert before_and_after
    assert all(same for same, _ in before_and_after)
    assert sum(same for _, same in before_and_after) >= len(before_and_after) / 2
