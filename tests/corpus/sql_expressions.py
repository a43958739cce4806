"""Projections, filters and scalar expressions of every kind."""

from __future__ import annotations

EXPRESSIONS: dict[str, str] = {
    # Projection and filter
    "select_star": "SELECT * FROM customers",
    "select_columns_reordered": "SELECT region, name, id FROM customers",
    "select_same_column_twice": "SELECT id, id, id AS id FROM customers",
    "select_unnamed_expressions": "SELECT id + 1, upper(name), credit * 2, 'x', NULL, 1.5 FROM customers",
    "select_star_except": "SELECT * EXCEPT (email, credit) FROM customers",
    "select_qualified_star_and_extra": "SELECT c.*, length(c.name) AS n FROM customers AS c",
    "select_lateral_column_alias": """
        SELECT quantity * price AS gross, gross * 0.25 AS tax, gross + tax AS due FROM items""",
    "select_table_alias_with_columns": "SELECT t.x, t.y FROM edges AS t(x, y, z) WHERE t.z > 1",
    "select_from_first": "FROM customers SELECT name WHERE vip",
    "select_table_statement": "TABLE suppliers",
    "select_without_from": "SELECT 1 AS one, 'two' AS two, array(3) AS three",
    "select_from_empty_table": "SELECT id, label, amount FROM nothing WHERE id > 0",
    "select_current_schema": "SELECT id, current_schema() IS NOT NULL AS here FROM suppliers",
    "select_time_travel": "SELECT id, name FROM suppliers VERSION AS OF 1",
    "select_file_metadata": "SELECT id, _metadata.file_size > 0 AS stored FROM suppliers",
    "filter_and_or_not": """
        SELECT id FROM customers WHERE (region = 'EU' OR vip) AND NOT (credit < 0) AND id IS NOT NULL""",
    "filter_null_comparisons": """
        SELECT id, vip FROM customers WHERE vip IS NOT TRUE OR email IS NULL
        AND (vip IS UNKNOWN OR vip IS FALSE)""",
    "filter_null_safe_equals": "SELECT id FROM customers WHERE region <=> NULL OR city <=> 'Paris'",
    "filter_is_distinct_from": "SELECT id FROM customers WHERE region IS DISTINCT FROM 'EU'",
    "filter_between": "SELECT id FROM orders WHERE total BETWEEN 20 AND 100 AND id NOT BETWEEN 105 AND 110",
    "filter_in_list": "SELECT id FROM orders WHERE status IN ('open', 'returned', NULL)",
    "filter_not_in_list": "SELECT id FROM orders WHERE status NOT IN ('open', 'returned')",
    "filter_in_long_list": f"SELECT id FROM orders WHERE id IN ({', '.join(str(n) for n in range(90, 106))})",
    "filter_tuple_in_list": "SELECT src, dst FROM edges WHERE (src, dst) IN (('a', 'b'), ('c', 'd'))",
    "filter_like_escape": r"SELECT id FROM orders WHERE note LIKE '%\%%' OR note LIKE '%!_%' ESCAPE '!'",
    "filter_like_any_all": """
        SELECT id FROM words WHERE word LIKE ANY ('A%', '%clair') AND word NOT LIKE ALL ('%x', 'y%')""",
    "filter_ilike_rlike": "SELECT id FROM words WHERE word ILIKE 'app%' OR word RLIKE '^[éÉ]c.*r$'",
    "filter_on_partition_column": "SELECT id, amount FROM sales WHERE year = 2024 AND region IS NOT NULL",
    "filter_current_date_always_true": "SELECT id FROM suppliers WHERE current_date() > DATE'2020-01-01'",
    "filter_current_timestamp_always_true": """
        SELECT count(*) FROM orders WHERE placed < now() AND placed < current_timestamp""",
    "filter_constant_false": "SELECT id, name FROM customers WHERE 1 = 0",
    "filter_decimal_literal": "SELECT id FROM customers WHERE credit > 987654321098765432109876.1BD",
    # Odd names
    "odd_names_all": "SELECT * FROM odd_names",
    "odd_names_quoted": """
        SELECT `first name`, `a.b`, `größe`, `select`, `back``tick`, `日本`, `semi;comma,` FROM odd_names""",
    "odd_names_case_insensitive": """
        SELECT MIXEDCASE, mixedcase AS `Mixed Case`, `A.B` FROM odd_names WHERE mixedCase = 10""",
    "odd_names_nested": "SELECT `inner.struct`.`x y`, `inner.struct`.`z.w` AS `.` FROM odd_names",
    "odd_names_aggregate": """
        SELECT `日本` AS `GROUP BY`, sum(`a.b`) AS `sum(a.b)` FROM odd_names GROUP BY `日本`""",
    "identifier_clause": """
        SELECT IDENTIFIER('na' || 'me') FROM IDENTIFIER('supp' || 'liers') WHERE IDENTIFIER('id') > 1""",
    # Numbers
    "number_arithmetic": """
        SELECT id, whole % 3 AS modulo, pmod(whole, 3) AS pm, whole div 2 AS idiv, -small AS neg,
               +tiny AS pos,
               whole / 2 AS half, abs(cents) AS magnitude FROM numbers WHERE id IN (1, 4, 5, 7, 8)""",
    "number_decimal_precision": """
        SELECT id, amount + cents AS added, amount * cents AS multiplied, amount / 3 AS divided,
               huge % 7 AS rest,
               CAST(amount AS DECIMAL(38,2)) AS narrowed, cents * cents * cents AS cubed
        FROM numbers WHERE id <> 2""",
    "number_special_values": """
        SELECT id, f, d, isnan(d) AS nan, nanvl(d, 0D) AS cleaned, d = 0 AS zero, f > 1e30F AS large
        FROM numbers""",
    "number_bits": """
        SELECT id, whole & 3 AS band, whole | 8 AS bor, whole ^ 5 AS bxor, ~tiny AS bnot, whole << 2 AS shl,
               big >> 1 AS shr, big >>> 1 AS ushr, bit_count(whole) AS ones, getbit(whole, 0) AS odd
        FROM numbers""",
    "number_rounding": """
        SELECT id, round(cents, 1) AS r, bround(cents, 1) AS b, ceil(cents) AS c, floor(cents) AS f,
               ceil(cents, 1) AS c1, floor(amount, -1) AS f1, rint(f) AS ri, round(small, -2) AS rs
        FROM numbers WHERE id NOT IN (2, 3)""",
    "number_math_functions": """
        SELECT id, round(sqrt(small), 6) AS s, round(exp(cents / 100), 6) AS e,
               round(log(2, small + 1), 6) AS l,
               power(2, tiny % 5) AS p, signum(cents) AS sg, hypot(3, 4) AS h, round(atan2(cents, 1), 6) AS a,
               greatest(tiny, small, whole) AS g, least(cents, 0.25) AS ls, factorial(5) AS f,
               width_bucket(cents, 0, 1, 4) AS w, conv(whole, 10, 16) AS hexed, hex(big) AS h2,
               bin(tiny) AS b2
        FROM numbers WHERE small >= 0 AND small < 100""",
    "number_try_functions": """
        SELECT id, try_add(whole, 1) AS a, try_subtract(whole, 1) AS s, try_multiply(big, 2L) AS m,
               try_divide(whole, tiny) AS d, try_mod(whole, tiny) AS r FROM numbers""",
    "number_hashes": """
        SELECT id, hash(id, name) AS h, xxhash64(id, name) AS x, crc32(name) AS c, md5(name) AS m,
               sha2(name, 256) AS s
        FROM customers""",
    # Casts
    "cast_widening_and_narrowing": """
        SELECT CAST(tiny AS BIGINT) AS b, CAST(cents AS INT) AS i, CAST(whole AS STRING) AS s, flag::INT AS f,
               CAST(small AS DECIMAL(38,18)) AS d, CAST(tiny AS BOOLEAN) AS yes,
               CAST(id AS TIMESTAMP) AS t FROM numbers""",
    "cast_try_cast": """
        SELECT id, try_cast(text AS DATE) AS d, try_cast(text AS TIMESTAMP) AS t, try_cast(text AS INT) AS i,
               try_to_timestamp(text, 'dd/MM/yyyy') AS f, try_to_date(text) AS td FROM moments
        WHERE id <> 6""",
    "cast_complex_types": """
        SELECT id, CAST(tags AS STRING) AS text, CAST(size AS STRUCT<w: BIGINT, h: STRING>) AS size,
               CAST(array(id, 2) AS ARRAY<DECIMAL(10,1)>) AS decimals,
               CAST(map(id, id) AS MAP<STRING, DOUBLE>) AS doubles
        FROM products""",
    "cast_binary_and_text": """
        SELECT id, CAST(raw AS STRING) IS NULL AS gone, hex(raw) AS h, base64(raw) AS b, length(raw) AS n,
               unhex('4142') AS u, to_binary('abc', 'utf-8') AS t, encode(kind, 'UTF-16BE') AS e,
               decode(encode(kind, 'UTF-8'), 'UTF-8') AS back, raw || X'01' AS joined FROM events""",
    "cast_to_number_formats": """
        SELECT id, to_char(cents, 'S999D99') AS c, to_number('$1,234.50', '$9,999.99') AS n,
               format_number(cents, 3) AS f, printf('%05d|%s', id, flag) AS p FROM numbers""",
    "cast_intervals": """
        SELECT id, CAST(CAST(months AS INTERVAL MONTH) AS STRING) AS m, CAST(seconds AS INTERVAL SECOND) AS s,
               CAST('1 02:03:04' AS INTERVAL DAY TO SECOND) AS t,
               CAST(INTERVAL '2-3' YEAR TO MONTH * 2 AS STRING) AS y FROM moments""",
    # Conditionals
    "case_searched": """
        SELECT id, CASE WHEN credit > 1000 THEN 'rich' WHEN credit > 0 THEN 'ok' WHEN credit IS NULL THEN NULL
                        ELSE 'poor' END AS class FROM customers""",
    "case_simple_without_else": """
        SELECT id, CASE status WHEN 'open' THEN 1 WHEN 'shipped' THEN 2 END AS code FROM orders""",
    "case_null_functions": """
        SELECT id, coalesce(email, city, '?') AS c, nvl(vip, false) AS n, nvl2(vip, 'set', 'unset') AS n2,
               nullif(region, 'EU') AS nf, ifnull(credit, 0) AS i, if(vip, 1, 0) AS f,
               zeroifnull(credit) AS z,
               equal_null(region, NULL) AS e FROM customers""",
    "case_decode_and_elt": """
        SELECT id, decode(region, 'EU', 'Europe', 'US', 'States', 'else') AS d, elt(2, name, city) AS e
        FROM customers""",
    # Strings
    "string_functions": """
        SELECT id, concat(name, '-', region) AS c, concat_ws('/', name, region, city) AS w,
               substring(name, 2, 3) AS s,
               substring_index(email, '@', 1) AS u, split_part(email, '.', -1) AS tld,
               lpad(city, 6, '*') AS l,
               rpad(city, 3) AS r, reverse(name) AS rev, initcap(name) AS i,
               translate(name, 'aeiou', '12345') AS t,
               instr(name, 'a') AS at, position('o' IN name) AS pos, replace(name, ' ', '') AS rep,
               overlay(name PLACING '##' FROM 2 FOR 1) AS o, repeat('ab', 2) || name AS x, ascii(name) AS a,
               left(name, 2) || right(name, 2) AS ends, soundex(name) AS sx, levenshtein(name, 'Ada') AS lv
        FROM customers""",
    "string_trim_and_pad": """
        SELECT id, trim(word) AS t, ltrim(word) AS l, rtrim(word) AS r, trim(BOTH 'e' FROM word) AS e,
               btrim(label, 'z') AS b, char_length(word) AS n, octet_length(word) AS o, code, label
        FROM words""",
    "string_char_varchar_compare": """
        SELECT id FROM words WHERE code = 'ab' OR label = 'RED' OR code IN ('x', 'zz')""",
    "string_regex": r"""
        SELECT id, regexp_replace(email, '[aeiou]', '') AS v, regexp_extract(email, '(\\w+)@(\\w+)', 2) AS d,
               regexp_extract_all(name, '([A-Z])', 1) AS caps, regexp_count(name, 'a') AS n,
               regexp_instr(name, 'o') AS at, regexp_substr(name, 'o.') AS s,
               split(name, ' ') AS parts FROM customers""",
    "string_predicates": """
        SELECT id, startswith(name, 'A') AS s, endswith(name, 'n') AS e, contains(name, 'a') AS c,
               name < 'D' AS early,
               find_in_set(region, 'US,EU') AS f, luhn_check('4111111111111111') AS l,
               mask(email) AS m FROM customers""",
    "string_escapes_and_raw": r"""
        SELECT 'it''s', 'tab\there', r'raw\n', "double", 'uni\u00e9', 'a' 'b' FROM suppliers""",
    "string_url_and_encoding": """
        SELECT url_encode(name) AS e, url_decode('a%20b') AS d,
               parse_url('http://h.org/p?q=1', 'QUERY', 'q') AS q,
               try_url_decode('%zz') AS t, quote(name) AS qt FROM suppliers""",
    # Collation
    "collate_filter": "SELECT id, word FROM words WHERE word COLLATE UTF8_LCASE = 'APPLE'",
    "collate_unicode_accent_insensitive": """
        SELECT id FROM words WHERE collate(word, 'UNICODE_CI_AI') = 'Eclair'""",
    "collate_group_by": """
        SELECT lower(max(word)) AS word, count(*) AS n FROM words GROUP BY word COLLATE UNICODE_CI""",
    "collate_output_column": """
        SELECT id, word COLLATE UTF8_LCASE AS w, collation(word COLLATE UNICODE) AS c FROM words""",
    "collate_join": """
        SELECT a.id, b.id AS other FROM words a JOIN words b
        ON a.word COLLATE UTF8_LCASE = b.word COLLATE UTF8_LCASE AND a.id < b.id""",
    # Dates, timestamps, intervals
    "date_parts": """
        SELECT id, year(d) AS y, quarter(d) AS q, month(d) AS m, day(d) AS dd, dayofweek(d) AS dw,
               dayofyear(d) AS dy,
               weekofyear(d) AS w, weekday(d) AS wd, extract(YEAROFWEEK
        FROM d) AS iso, date_part('SECOND', at) AS s,
               hour(at) AS h, minute(wall) AS mi, last_day(d) AS ld, next_day(d, 'MON') AS nd,
               dayname(d) AS dn,
               monthname(d) AS mn FROM moments""",
    "date_arithmetic": """
        SELECT id, d + 1 AS p, d - 1 AS mi, date_add(d, months) AS a, datediff(DATE'2024-03-01', d) AS df,
               add_months(d, months) AS am, months_between(at, TIMESTAMP'2024-01-01') AS mb,
               d - DATE'2024-01-01' AS since,
               dateadd(MONTH, 1, d) AS dm, date_diff(HOUR, at, TIMESTAMP'2024-03-01') AS dh,
               timestampadd(MINUTE, 5, wall) AS ta,
               timestampdiff(DAY, wall, TIMESTAMP_NTZ'2024-03-01') AS td FROM moments
        WHERE id <> 6""",
    "date_intervals": """
        SELECT id, d + INTERVAL 1 MONTH AS a, at - INTERVAL '1 02:03:04' DAY TO SECOND AS b,
               wall + INTERVAL 2 HOURS AS c,
               at + make_dt_interval(0, 0, 0, seconds) AS e, d + make_ym_interval(0, months) AS f,
               at - wall AS g,
               at + INTERVAL 1 YEAR 2 MONTHS AS h, INTERVAL '10' DAY / 4 AS i,
               CAST(-INTERVAL '3' MONTH AS STRING) AS j FROM moments
        WHERE id <> 6""",
    "date_truncation": """
        SELECT id, trunc(d, 'MM') AS m, date_trunc('QUARTER', at) AS q, date_trunc('hour', wall) AS h,
               time_bucket(INTERVAL 1 HOUR, at) AS b FROM moments WHERE id <> 6""",
    "date_zones": """
        SELECT id, from_utc_timestamp(at, zone) AS f, to_utc_timestamp(at, 'Asia/Tokyo') AS t,
               convert_timezone('Europe/Paris', 'UTC', wall) AS c, CAST(at AS TIMESTAMP_NTZ) AS n,
               CAST(wall AS TIMESTAMP) AS l FROM moments WHERE id <> 6""",
    "date_formats": """
        SELECT id, date_format(at, 'yyyy/MM/dd HH:mm:ss.SSS') AS f, to_date('05-06-2024', 'dd-MM-yyyy') AS d,
               to_timestamp('2024-01-01 10', 'yyyy-MM-dd HH') AS t, unix_timestamp(at) AS u,
               from_unixtime(0) AS z,
               unix_micros(at) AS mi, timestamp_millis(1500) AS tm, date_from_unix_date(10) AS du,
               unix_date(d) AS ud,
               CAST(at AS STRING) AS s, CAST(at AS BIGINT) AS epoch FROM moments WHERE id <> 6""",
    "date_constructors": """
        SELECT id, make_date(2024, id, 1) AS d, make_timestamp(2024, 1, id, 1, 2, 3.5) AS t,
               make_timestamp_ntz(2024, 1, id, 0, 0, 0) AS n, CAST(make_interval(0, id) AS STRING) AS i,
               try_make_timestamp(2024, 13, 1, 0, 0, 0) AS bad FROM moments""",
    "date_compare_mixed_types": """
        SELECT id FROM moments WHERE d < at AND wall >= TIMESTAMP_NTZ'1969-01-01' OR d = '2024-03-31'""",
    # Miscellaneous
    "misc_typeof_and_constants": """
        SELECT typeof(credit) AS t, typeof(array(1S, 2)) AS a, pi() > 3 AS p, e() < 3 AS ee,
               version() IS NOT NULL AS v,
               current_timezone() AS tz, current_user() IS NOT NULL AS me FROM customers""",
    "misc_assert_true": "SELECT id FROM suppliers WHERE assert_true(id > 0) IS NULL",
    "misc_geometry": """
        SELECT id, st_srid(st_geomfromwkb(X'0101000000000000000000F03F0000000000000040', 4326)) AS srid,
               hex(st_asbinary(st_geogfromwkb(X'0101000000000000000000F03F0000000000000040'))) AS wkb
        FROM suppliers""",
    "misc_vectors": """
        SELECT id, vector_inner_product(v, array(1.0F, 2.0F)) AS ip,
               vector_l2_distance(v, array(0.0F, 4.0F)) AS l2
        FROM (SELECT id, array(CAST(id AS FLOAT), 0.5F) AS v FROM suppliers)""",
    "misc_aes_round_trip": """
        SELECT id, CAST(aes_decrypt(aes_encrypt(name, 'abcdefghijklmnop', 'ECB'), 'abcdefghijklmnop',
               'ECB') AS STRING) AS n
        FROM suppliers""",
    "misc_java_method": "SELECT id, reflect('java.lang.Math', 'abs', id - 3) AS a FROM suppliers",
    "misc_xpath": """
        SELECT id, xpath_int(concat('<a><b>', id, '</b></a>'), 'a/b') AS b,
               xpath('<a><b>x</b><b>y</b></a>', 'a/b/text()') AS l FROM suppliers""",
}
