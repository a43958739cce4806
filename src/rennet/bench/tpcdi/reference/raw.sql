-- The files as they are, of the batches up to $batches. Each has the number of its batch.
-- $plain: what all files have in common. $later(name): the files of that name in the batches after the first.

CREATE MACRO batch_of(file) AS CAST(regexp_extract(file, 'Batch(\d+)/[^/]+$', 1) AS INTEGER);

CREATE TABLE batch_date AS
SELECT batch_of(filename) AS batch, day
FROM read_csv('$folder/Batch*/BatchDate.txt', $plain, delim = '|', filename = true, columns = {'day': 'DATE'})
WHERE batch_of(filename) <= $batches;

CREATE TABLE status_type AS
FROM read_csv('$folder/Batch1/StatusType.txt', $plain, delim = '|',
    columns = {'st_id': 'VARCHAR', 'st_name': 'VARCHAR'});

CREATE TABLE trade_type AS
FROM read_csv('$folder/Batch1/TradeType.txt', $plain, delim = '|',
    columns = {'tt_id': 'VARCHAR', 'tt_name': 'VARCHAR', 'tt_is_sell': 'INTEGER', 'tt_is_mrkt': 'INTEGER'});

CREATE TABLE industry AS
FROM read_csv('$folder/Batch1/Industry.txt', $plain, delim = '|',
    columns = {'in_id': 'VARCHAR', 'in_name': 'VARCHAR', 'in_sc_id': 'VARCHAR'});

CREATE TABLE hr AS
FROM read_csv('$folder/Batch1/HR.csv', $plain, delim = ',', columns = {
    'employee': 'BIGINT', 'manager': 'BIGINT', 'first_name': 'VARCHAR', 'last_name': 'VARCHAR', 'initial': 'VARCHAR',
    'job': 'INTEGER', 'branch': 'VARCHAR', 'office': 'VARCHAR', 'phone': 'VARCHAR'});

-- '\x01' occurs in no line: a line is one column.
CREATE TABLE finwire AS
SELECT
    strptime(line[1:15], '%Y%m%d-%H%M%S') AS pts,
    line[16:18] AS kind,
    line
FROM read_csv('$folder/Batch1/FINWIRE????Q?', $plain, delim = '\x01',
    columns = {'line': 'VARCHAR'});

CREATE TABLE trade AS
SELECT *, 1 AS batch, NULL AS cdc_flag, CAST(NULL AS BIGINT) AS cdc_dsn
FROM read_csv('$folder/Batch1/Trade.txt', $plain, delim = '|', columns = {
    't_id': 'BIGINT', 't_dts': 'TIMESTAMP', 't_st_id': 'VARCHAR', 't_tt_id': 'VARCHAR', 't_is_cash': 'INTEGER',
    't_s_symb': 'VARCHAR', 't_qty': 'BIGINT', 't_bid_price': 'DECIMAL(8,2)', 't_ca_id': 'BIGINT',
    't_exec_name': 'VARCHAR', 't_trade_price': 'DECIMAL(8,2)', 't_chrg': 'DECIMAL(10,2)', 't_comm': 'DECIMAL(10,2)',
    't_tax': 'DECIMAL(10,2)'})
UNION ALL BY NAME
SELECT * EXCLUDE (filename), batch_of(filename) AS batch
FROM read_csv($later(Trade.txt), $plain, delim = '|', filename = true, columns = {
    'cdc_flag': 'VARCHAR', 'cdc_dsn': 'BIGINT',
    't_id': 'BIGINT', 't_dts': 'TIMESTAMP', 't_st_id': 'VARCHAR', 't_tt_id': 'VARCHAR', 't_is_cash': 'INTEGER',
    't_s_symb': 'VARCHAR', 't_qty': 'BIGINT', 't_bid_price': 'DECIMAL(8,2)', 't_ca_id': 'BIGINT',
    't_exec_name': 'VARCHAR', 't_trade_price': 'DECIMAL(8,2)', 't_chrg': 'DECIMAL(10,2)', 't_comm': 'DECIMAL(10,2)',
    't_tax': 'DECIMAL(10,2)'});

CREATE TABLE trade_history AS
FROM read_csv('$folder/Batch1/TradeHistory.txt', $plain, delim = '|',
    columns = {'th_t_id': 'BIGINT', 'th_dts': 'TIMESTAMP', 'th_st_id': 'VARCHAR'});

CREATE TABLE cash_transaction AS
SELECT *, 1 AS batch
FROM read_csv('$folder/Batch1/CashTransaction.txt', $plain, delim = '|', columns = {
    'ct_ca_id': 'BIGINT', 'ct_dts': 'TIMESTAMP', 'ct_amt': 'DECIMAL(10,2)', 'ct_name': 'VARCHAR'})
UNION ALL BY NAME
SELECT * EXCLUDE (filename, cdc_flag, cdc_dsn), batch_of(filename) AS batch
FROM read_csv($later(CashTransaction.txt), $plain, delim = '|', filename = true, columns = {
    'cdc_flag': 'VARCHAR', 'cdc_dsn': 'BIGINT',
    'ct_ca_id': 'BIGINT', 'ct_dts': 'TIMESTAMP', 'ct_amt': 'DECIMAL(10,2)', 'ct_name': 'VARCHAR'});

CREATE TABLE holding_history AS
SELECT *, 1 AS batch
FROM read_csv('$folder/Batch1/HoldingHistory.txt', $plain, delim = '|', columns = {
    'hh_h_t_id': 'BIGINT', 'hh_t_id': 'BIGINT', 'hh_before_qty': 'BIGINT', 'hh_after_qty': 'BIGINT'})
UNION ALL BY NAME
SELECT * EXCLUDE (filename, cdc_flag, cdc_dsn), batch_of(filename) AS batch
FROM read_csv($later(HoldingHistory.txt), $plain, delim = '|', filename = true, columns = {
    'cdc_flag': 'VARCHAR', 'cdc_dsn': 'BIGINT',
    'hh_h_t_id': 'BIGINT', 'hh_t_id': 'BIGINT', 'hh_before_qty': 'BIGINT', 'hh_after_qty': 'BIGINT'});

CREATE TABLE watch_history AS
SELECT *, 1 AS batch
FROM read_csv('$folder/Batch1/WatchHistory.txt', $plain, delim = '|', columns = {
    'w_c_id': 'BIGINT', 'w_s_symb': 'VARCHAR', 'w_dts': 'TIMESTAMP', 'w_action': 'VARCHAR'})
UNION ALL BY NAME
SELECT * EXCLUDE (filename, cdc_flag, cdc_dsn), batch_of(filename) AS batch
FROM read_csv($later(WatchHistory.txt), $plain, delim = '|', filename = true, columns = {
    'cdc_flag': 'VARCHAR', 'cdc_dsn': 'BIGINT',
    'w_c_id': 'BIGINT', 'w_s_symb': 'VARCHAR', 'w_dts': 'TIMESTAMP', 'w_action': 'VARCHAR'});

CREATE TABLE daily_market AS
SELECT *, 1 AS batch
FROM read_csv('$folder/Batch1/DailyMarket.txt', $plain, delim = '|', columns = {
    'dm_date': 'DATE', 'dm_s_symb': 'VARCHAR', 'dm_close': 'DECIMAL(8,2)', 'dm_high': 'DECIMAL(8,2)',
    'dm_low': 'DECIMAL(8,2)', 'dm_vol': 'BIGINT'})
UNION ALL BY NAME
SELECT * EXCLUDE (filename, cdc_flag, cdc_dsn), batch_of(filename) AS batch
FROM read_csv($later(DailyMarket.txt), $plain, delim = '|', filename = true, columns = {
    'cdc_flag': 'VARCHAR', 'cdc_dsn': 'BIGINT',
    'dm_date': 'DATE', 'dm_s_symb': 'VARCHAR', 'dm_close': 'DECIMAL(8,2)', 'dm_high': 'DECIMAL(8,2)',
    'dm_low': 'DECIMAL(8,2)', 'dm_vol': 'BIGINT'});

CREATE TABLE customer AS
SELECT * EXCLUDE (filename), batch_of(filename) AS batch
FROM read_csv($later(Customer.txt), $plain, delim = '|', filename = true, columns = {
    'cdc_flag': 'VARCHAR', 'cdc_dsn': 'BIGINT', 'c_id': 'BIGINT', 'c_tax_id': 'VARCHAR', 'c_st_id': 'VARCHAR',
    'c_l_name': 'VARCHAR', 'c_f_name': 'VARCHAR', 'c_m_name': 'VARCHAR', 'c_gndr': 'VARCHAR', 'c_tier': 'VARCHAR',
    'c_dob': 'VARCHAR', 'c_adline1': 'VARCHAR', 'c_adline2': 'VARCHAR', 'c_zipcode': 'VARCHAR', 'c_city': 'VARCHAR',
    'c_state_prov': 'VARCHAR', 'c_ctry': 'VARCHAR',
    'c_ctry_1': 'VARCHAR', 'c_area_1': 'VARCHAR', 'c_local_1': 'VARCHAR', 'c_ext_1': 'VARCHAR',
    'c_ctry_2': 'VARCHAR', 'c_area_2': 'VARCHAR', 'c_local_2': 'VARCHAR', 'c_ext_2': 'VARCHAR',
    'c_ctry_3': 'VARCHAR', 'c_area_3': 'VARCHAR', 'c_local_3': 'VARCHAR', 'c_ext_3': 'VARCHAR',
    'c_email_1': 'VARCHAR', 'c_email_2': 'VARCHAR', 'c_lcl_tx_id': 'VARCHAR', 'c_nat_tx_id': 'VARCHAR'});

CREATE TABLE account AS
SELECT * EXCLUDE (filename), batch_of(filename) AS batch
FROM read_csv($later(Account.txt), $plain, delim = '|', filename = true, columns = {
    'cdc_flag': 'VARCHAR', 'cdc_dsn': 'BIGINT', 'ca_id': 'BIGINT', 'ca_b_id': 'BIGINT', 'ca_c_id': 'BIGINT',
    'ca_name': 'VARCHAR', 'ca_tax_st': 'VARCHAR', 'ca_st_id': 'VARCHAR'});

CREATE TABLE prospect_file AS
SELECT * EXCLUDE (filename), batch_of(filename) AS batch
FROM read_csv('$folder/Batch*/Prospect.csv', $plain, delim = ',', filename = true, columns = {
    'agency_id': 'VARCHAR', 'last_name': 'VARCHAR', 'first_name': 'VARCHAR', 'middle_initial': 'VARCHAR',
    'gender': 'VARCHAR', 'address_line1': 'VARCHAR', 'address_line2': 'VARCHAR', 'postal_code': 'VARCHAR',
    'city': 'VARCHAR', 'state': 'VARCHAR', 'country': 'VARCHAR', 'phone': 'VARCHAR', 'income': 'BIGINT',
    'number_cars': 'BIGINT', 'number_children': 'BIGINT', 'marital_status': 'VARCHAR', 'age': 'BIGINT',
    'credit_rating': 'BIGINT', 'own_or_rent_flag': 'VARCHAR', 'employer': 'VARCHAR', 'number_credit_cards': 'BIGINT',
    'net_worth': 'BIGINT'})
WHERE batch_of(filename) <= $batches;
