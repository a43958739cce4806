"""The built-in functions that no other family calls."""

from __future__ import annotations

FUNCTIONS: dict[str, str] = {
    "function_trigonometry": """
        SELECT id, round(sin(x), 6) AS s, round(cos(x), 6) AS c, round(tan(x), 6) AS t,
               round(asin(x), 6) AS a,
               round(acos(x), 6) AS ac, round(atan(x), 6) AS at, round(sinh(x), 6) AS sh,
               round(cosh(x), 6) AS ch, round(tanh(x), 6) AS th, round(asinh(x), 6) AS ash,
               round(acosh(1 + x), 6) AS ach, round(atanh(x / 2), 6) AS ath, round(cot(x), 6) AS ct,
               round(sec(x), 6) AS se, round(csc(x), 6) AS cs, round(degrees(x), 6) AS d,
               round(radians(x), 6) AS r
        FROM (SELECT id, 1D / id AS x FROM suppliers)""",
    "function_logarithms": """
        SELECT id, round(ln(id), 6) AS n, round(log10(id), 6) AS t, round(log2(id), 6) AS b,
               round(log1p(id), 6) AS p, round(expm1(id), 6) AS e, round(cbrt(id), 6) AS c, pow(id, 2) AS w,
               mod(id, 2) AS m, sign(id - 3) AS s, negative(id) AS g, positive(id) AS q, ceiling(1.5) AS i
        FROM suppliers""",
    "function_strings_rare": """
        SELECT id, chr(64 + id) AS c, char(65) AS h, ucase(name) || lcase(name) AS u, len(name) AS l,
               space(2) AS s,
               locate('a', name) AS o, substr(name, 2) AS b, bit_length(name) AS bl,
               character_length(name) AS cl,
               sha(name) AS s1, sha1(name) AS s2, sentences('Hi there. Bye.') AS se,
               to_varchar(id, '99') AS v,
               CAST(unbase64(base64(name)) AS STRING) AS ub, regexp(name, '^A') AS r,
               regexp_like(name, 'o$') AS rl,
               is_valid_utf8(name) AS iv, make_valid_utf8(name) AS mv, try_validate_utf8(name) AS tv,
               nullifzero(id - 1) AS nz, format_string('%s', name) AS f FROM suppliers""",
    "function_constructors_by_type": """
        SELECT string(id) AS s, tinyint(id) AS t, smallint(id) AS m, int(rating) AS i,
               bigint(id) AS b, float(id) AS f,
               double(id) AS d, boolean(id - 1) AS o, binary(name) AS n, date('2024-01-01') AS a,
               timestamp('2024-01-01 01:02:03') AS ts, isnull(rating) AS z, isnotnull(rating) AS nz
        FROM suppliers""",
    "function_dates_rare": """
        SELECT id, dayofmonth(d) AS dm, second(at) AS s, datepart('WEEK', d) AS w, unix_millis(at) AS um,
               unix_seconds(at) AS us, timestamp_micros(5) AS tm, timestamp_seconds(5.5) AS ts,
               to_unix_timestamp(at) AS tu, to_timestamp_ntz('2024-01-01 00:00:00') AS tn,
               to_timestamp_ltz('2024-01-01 00:00:00') AS tl, make_timestamp_ltz(2024, 1, 1, 0, 0, 0) AS ml,
               try_make_timestamp_ntz(2024, 2, 30, 0, 0, 0) AS mn, curdate() > DATE'2020-01-01' AS cd,
               localtimestamp() > TIMESTAMP_NTZ'2020-01-01' AS lt FROM moments WHERE id <> 6""",
    "function_try_rare": """
        SELECT id, try_to_number(name, '999') AS n, try_to_binary('zz', 'hex') AS b,
               try_parse_url('::', 'HOST') AS u,
               CAST(try_make_interval(1, id) AS STRING) AS i, try_reflect('java.lang.Math', 'abs', id) AS r,
               try_aes_decrypt(X'00', 'abcdefghijklmnop') AS a FROM suppliers""",
    "function_session_constants": """
        SELECT id, current_catalog() AS c, current_database() IS NOT NULL AS d,
               session_user() IS NOT NULL AS s,
               user() = current_user() AS u, input_file_name() LIKE '%.parquet' AS f,
               input_file_block_start() >= 0 AS b FROM suppliers""",
    "function_xpath_family": """
        SELECT id, xpath_boolean(x, 'a/b') AS b, xpath_double(x, 'a/b') AS d, xpath_float(x, 'a/b') AS f,
               xpath_long(x, 'a/b') AS l, xpath_number(x, 'sum(a/b)') AS n, xpath_short(x, 'a/b') AS s,
               xpath_string(x, 'a/b') AS t FROM (SELECT id, concat('<a><b>', id, '</b></a>') AS x
        FROM suppliers)""",
    "function_schemas_of_text": """
        SELECT id, schema_of_csv('1,a') AS c, schema_of_xml('<p><a>1</a></p>') AS x FROM suppliers""",
    "function_array_min_bit_get": """
        SELECT id, array_min(array(id, 3)) AS m, bit_get(id, 0) AS b FROM suppliers""",
    "function_vectors_rare": """
        SELECT id, vector_norm(v, 2.0F) AS n, vector_normalize(v, 2.0F) AS u,
               vector_cosine_similarity(v, v) AS c
        FROM (SELECT id, array(3.0F, 4.0F) AS v FROM suppliers)""",
    "function_vector_average": "SELECT vector_avg(array(CAST(id AS FLOAT), 1.0F)) AS a FROM suppliers",
    "function_aggregates_rare": """
        SELECT region, round(mean(units), 6) AS m, round(std(units), 6) AS s,
               round(stddev_samp(units), 6) AS sd,
               round(var_samp(units), 6) AS v, round(regr_avgy(amount, units), 6) AS ay,
               round(regr_sxx(amount, units), 4) AS sxx, round(regr_syy(amount, units), 4) AS syy
        FROM sales GROUP BY region""",
    "function_sketches_merged": """
        SELECT hll_sketch_estimate(hll_union_agg(h)) AS h, theta_sketch_estimate(theta_union_agg(t)) AS t,
               theta_sketch_estimate(theta_intersection_agg(t)) AS i, bitmap_count(bitmap_or_agg(b)) AS b,
               kll_sketch_get_quantile_bigint(kll_merge_agg_bigint(k), 0.0D) AS lowest
        FROM (SELECT status, hll_sketch_agg(id) AS h, theta_sketch_agg(id) AS t,
        kll_sketch_agg_bigint(id) AS k,
                     bitmap_construct_agg(bitmap_bit_position(id)) AS b FROM orders GROUP BY status)""",
    "function_sketch_tuples": """
        SELECT tuple_sketch_estimate_double(tuple_sketch_agg_double(id, 1.5D)) AS n,
               tuple_sketch_summary_double(tuple_sketch_agg_double(id, 1.5D)) AS s FROM orders""",
    "function_top_k_combined": """
        SELECT array_sort(approx_top_k_estimate(approx_top_k_combine(k), 20)) AS k
        FROM (SELECT status, approx_top_k_accumulate(customer_id) AS k FROM orders
              WHERE customer_id IS NOT NULL GROUP BY status)""",
    "function_seeded_random": """
        SELECT id, rand(3) < 2 AS r, randn(3) IS NOT NULL AS n, uniform(5, 6, 0) IS NOT NULL AS u,
               length(randstr(4, 1)) AS l FROM range(0, 5, 1, 1)""",
}
