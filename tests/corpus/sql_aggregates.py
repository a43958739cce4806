"""Grouping in every form, every family of aggregates, and windows."""

from __future__ import annotations

AGGREGATES: dict[str, str] = {
    "aggregate_global": "SELECT count(*), sum(total), min(total), max(total), avg(total) FROM orders",
    "aggregate_global_of_empty": """
        SELECT count(*) AS n, sum(amount) AS s, max(label) AS m, collect_list(id) AS l FROM nothing""",
    "aggregate_grouped_of_empty": "SELECT label, count(*) AS n FROM nothing GROUP BY label",
    "aggregate_group_by_column": """
        SELECT customer_id, count(*) AS n, sum(total) AS s FROM orders GROUP BY customer_id""",
    "aggregate_group_by_expression": """
        SELECT date_trunc('month', placed) AS month, count(*) AS n FROM orders
        GROUP BY date_trunc('month', placed)""",
    "aggregate_group_by_alias": "SELECT upper(region) AS r, count(*) AS n FROM customers GROUP BY r",
    "aggregate_group_by_ordinal": "SELECT region, vip, count(*) FROM customers GROUP BY 1, 2",
    "aggregate_group_by_all": """
        SELECT region, vip, count(*) + 1 AS n, sum(credit) AS c FROM customers GROUP BY ALL""",
    "aggregate_group_key_not_selected": "SELECT count(*) AS n FROM orders GROUP BY status",
    "aggregate_group_by_without_aggregates": "SELECT region FROM customers GROUP BY region",
    "aggregate_group_by_complex_keys": """
        SELECT actor.address AS a, tags, count(*) AS n FROM events GROUP BY actor.address, tags""",
    "aggregate_group_by_map_value": """
        SELECT props['page'] AS page, count(*) AS n FROM events GROUP BY props['page']""",
    "aggregate_group_by_float_special": "SELECT d, count(*) AS n FROM numbers GROUP BY d",
    "aggregate_group_by_constant": "SELECT 'all' AS what, count(*) AS n FROM orders GROUP BY 'all'",
    "aggregate_expression_over_aggregates": """
        SELECT status, sum(total) / count(*) AS mean, max(total) - min(total) AS spread, count(*) * 2 AS twice
        FROM orders GROUP BY status""",
    "aggregate_having": """
        SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id HAVING count(*) > 1
        AND sum(total) > 70""",
    "aggregate_having_alias": """
        SELECT customer_id, sum(total) AS s FROM orders GROUP BY customer_id HAVING s > 100""",
    "aggregate_having_without_group": "SELECT max(total) AS m FROM orders HAVING count(*) > 3",
    "aggregate_lateral_alias": """
        SELECT status, sum(total) AS s, s * 2 AS twice, s + twice AS thrice FROM orders GROUP BY status""",
    "aggregate_of_aggregate": """
        SELECT n, count(*) AS customers FROM (SELECT customer_id, count(*) AS n FROM orders
        GROUP BY customer_id) GROUP BY n""",
    "aggregate_filter_clause": """
        SELECT region, count(*) FILTER (WHERE vip) AS vips, sum(credit) FILTER (WHERE credit > 0
        AND credit < 10000) AS c,
               count(DISTINCT city) FILTER (WHERE id > 3) AS cities FROM customers GROUP BY region""",
    "aggregate_distinct": """
        SELECT count(DISTINCT region) AS r, count(DISTINCT region, vip) AS rv,
               sum(DISTINCT total) AS s FROM customers c
        LEFT JOIN orders o ON o.customer_id = c.id""",
    "aggregate_distinct_and_plain": """
        SELECT status, count(note) AS n, count(DISTINCT note) AS d, avg(DISTINCT total) AS a, min(placed) AS m
        FROM orders GROUP BY status""",
    "aggregate_count_variants": """
        SELECT count(*) AS a, count(1) AS b, count(vip) AS c, count_if(vip) AS d,
               count(vip, email) AS e FROM customers""",
    "aggregate_min_max_types": """
        SELECT min(d) AS d, max(at) AS t, min(wall) AS w, max(text) AS s, min(months) AS m FROM moments""",
    "aggregate_min_max_struct": """
        SELECT customer_id, max(struct(total, id)) AS top FROM orders GROUP BY customer_id""",
    "aggregate_decimal_sums": """
        SELECT sum(amount) AS a, avg(cents) AS c, sum(huge % 100) AS h, avg(amount % 1) AS m
        FROM numbers""",
    "aggregate_interval_sums": """
        SELECT CAST(sum(CAST(months AS INTERVAL MONTH)) AS STRING) AS m,
               avg(make_dt_interval(0, 0, 0, seconds)) AS s FROM moments""",
    "aggregate_try_sum": "SELECT flag, try_sum(big) AS s, try_avg(whole) AS a FROM numbers GROUP BY flag",
    "aggregate_statistics": """
        SELECT region, round(stddev(units), 6) AS sd, round(stddev_pop(units), 6) AS sp,
               round(variance(units), 6) AS v,
               round(var_pop(amount), 6) AS vp, round(skewness(units), 6) AS sk,
               round(kurtosis(units), 6) AS k
        FROM sales GROUP BY region""",
    "aggregate_correlation": """
        SELECT round(corr(units, amount), 6) AS c, round(covar_pop(units, amount), 6) AS p,
               round(covar_samp(units, amount), 6) AS s FROM sales""",
    "aggregate_regression": """
        SELECT regr_count(amount, units) AS n, round(regr_slope(amount, units), 6) AS s,
               round(regr_intercept(amount, units), 4) AS i, round(regr_r2(amount, units), 6) AS r,
               round(regr_avgx(amount, units), 6) AS ax, round(regr_sxy(amount, units), 4) AS sxy
        FROM sales""",
    "aggregate_percentiles": """
        SELECT region, percentile(units, 0.5) AS p, percentile(units, array(0.25, 0.75)) AS ps,
               median(units) AS m,
               percentile_approx(units, 0.5) AS pa, approx_percentile(amount, array(0.0, 1.0), 100) AS aps
        FROM sales GROUP BY region""",
    "aggregate_ordered_set": """
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY units DESC) AS pc,
               percentile_disc(0.25) WITHIN GROUP (ORDER BY amount) AS pd,
               mode() WITHIN GROUP (ORDER BY product) AS m FROM sales""",
    "aggregate_mode": """
        SELECT mode(product, true) AS m, mode(year) AS y FROM sales WHERE year = 2023 OR id < 10""",
    "aggregate_min_by_max_by": """
        SELECT customer_id, max_by(id, struct(total, id)) AS top, min_by(note, id) AS first
        FROM orders GROUP BY customer_id""",
    "aggregate_booleans": """
        SELECT region, bool_and(vip) AS a, every(vip) AS e, bool_or(vip) AS o, some(vip) AS s, any(vip) AS y
        FROM customers GROUP BY region""",
    "aggregate_bits": """
        SELECT flag, bit_and(whole) AS a, bit_or(tiny) AS o, bit_xor(small) AS x FROM numbers
        GROUP BY flag""",
    "aggregate_approx_count_distinct": """
        SELECT status, approx_count_distinct(customer_id) AS n, approx_count_distinct(customer_id, 0.01) AS m
        FROM orders GROUP BY status""",
    "aggregate_sketches": """
        SELECT hll_sketch_estimate(hll_sketch_agg(customer_id)) AS h,
               theta_sketch_estimate(theta_sketch_agg(customer_id)) AS t,
               kll_sketch_get_n_bigint(kll_sketch_agg_bigint(id)) AS k,
               bitmap_count(bitmap_construct_agg(id)) AS b FROM orders""",
    "aggregate_histogram": """
        SELECT histogram_numeric(units, 20) AS h FROM (SELECT DISTINCT units FROM sales
        WHERE units < 20)""",
    "aggregate_count_min_sketch": "SELECT hex(count_min_sketch(id, 0.5D, 0.5D, 1)) AS s FROM orders",
    "aggregate_approx_top_k": """
        SELECT array_sort(approx_top_k(status, 10)) AS k FROM orders WHERE status IS NOT NULL""",
    "aggregate_sorted_collections": """
        SELECT status, sort_array(collect_list(id)) AS l, sort_array(collect_set(note)) AS s,
               array_sort(array_agg(total)) AS a
        FROM orders GROUP BY status""",
    "aggregate_collect_distinct": "SELECT array_sort(collect_list(DISTINCT status)) AS s FROM orders",
    "aggregate_listagg": """
        SELECT status, listagg(CAST(id AS STRING), ',') WITHIN GROUP (ORDER BY id DESC) AS ids
        FROM orders GROUP BY status""",
    "aggregate_listagg_distinct": """
        SELECT string_agg(DISTINCT region, '|') WITHIN GROUP (ORDER BY region) AS r FROM customers""",
    "aggregate_first_last_of_constant": """
        SELECT region, first(r) AS f, last(r) AS l, any_value(r) AS a, first_value(r, true) AS fi
        FROM (SELECT region, concat(region, '!') AS r FROM customers) GROUP BY region""",
    "aggregate_map_from_entries": """
        SELECT map_from_entries(array_sort(collect_list(struct(id, name)))) AS m FROM suppliers""",
    "aggregate_vector": "SELECT vector_sum(array(CAST(id AS FLOAT), 1.0F)) AS s FROM suppliers",
    "aggregate_tumbling_window": """
        SELECT window.start, window.end, count(*) AS n FROM orders GROUP BY window(placed, '7 days')""",
    "aggregate_sliding_window": """
        SELECT w.start, s FROM (SELECT window(placed, '10 days', '5 days', '1 day') AS w, sum(total) AS s
          FROM orders GROUP BY 1)""",
    "aggregate_session_window": """
        SELECT session_window.start, session_window.end, count(*) AS n FROM orders
        GROUP BY session_window(placed, '2 days')""",
    "aggregate_window_time": """
        SELECT window_time(w) AS t, n FROM (SELECT window(placed, '30 days') AS w, count(*) AS n
        FROM orders GROUP BY 1)""",
    "grouping_sets": """
        SELECT region, product, sum(amount) AS s, grouping(region) AS gr, grouping(product) AS gp,
               grouping_id() AS g
        FROM sales GROUP BY GROUPING SETS ((region, product), (region), ())""",
    "grouping_sets_duplicated": """
        SELECT year, count(*) AS n FROM sales GROUP BY GROUPING SETS ((year), (year), ())""",
    "grouping_sets_mixed": """
        SELECT year, region, product, sum(units) AS u FROM sales
        GROUP BY year, GROUPING SETS ((region), (product))""",
    "rollup": """
        SELECT year, region, count(*) AS n, sum(amount) AS s FROM sales GROUP BY ROLLUP (year, region)""",
    "rollup_legacy_with": """
        SELECT year, quarter, sum(units) AS u FROM sales GROUP BY year, quarter WITH ROLLUP""",
    "rollup_composite": """
        SELECT year, region, quarter, count(*) AS n FROM sales
        GROUP BY ROLLUP ((year, region), quarter)""",
    "cube": """
        SELECT region, year, grouping_id(region, year) AS g, sum(units) AS u FROM sales
        GROUP BY CUBE (region, year)""",
    "cube_having_grouping": """
        SELECT region, product, sum(amount) AS s FROM sales GROUP BY CUBE (region, product)
        HAVING grouping(region) = 1 OR grouping_id(region, product) = 0""",
    "cube_distinct_aggregate": "SELECT year, count(DISTINCT product) AS p FROM sales GROUP BY CUBE (year)",
    "metric_view_measure": """
        SELECT region, measure(revenue) AS r, measure(units_sold) AS u FROM sales_metrics
        GROUP BY region""",
    "pivot": """
        SELECT * FROM (SELECT product, year, amount FROM sales)
        PIVOT (sum(amount) FOR year IN (2023, 2024))""",
    "pivot_several_aggregates": """
        SELECT * FROM (SELECT product, quarter, amount, units FROM sales)
        PIVOT (sum(amount) AS a, max(units) AS u FOR quarter IN (1 AS q1, 2 AS q2))""",
    "pivot_two_columns": """
        SELECT * FROM (SELECT product, year, region, units FROM sales)
        PIVOT (sum(units) FOR (year, region) IN ((2023, 'EU') AS eu23, (2024, 'US') AS us24))""",
    "pivot_without_groups": """
        SELECT * FROM (SELECT year FROM sales) PIVOT (count(*) FOR year IN (2023, 2024, 2025))""",
    "unpivot": """
        SELECT * FROM (SELECT id, amount, CAST(units AS DECIMAL(18,2)) AS units FROM sales)
        UNPIVOT (value FOR measure IN (amount, units))""",
    "unpivot_include_nulls": """
        SELECT * FROM suppliers UNPIVOT INCLUDE NULLS (text FOR field IN (name AS `the name`, country))""",
    "unpivot_multi_column": """
        SELECT * FROM (SELECT id, width AS w, height AS h, width * 2 AS w2, height * 2 AS h2 FROM (
          SELECT id, size.* FROM products))
        UNPIVOT ((wide, high) FOR scale IN ((w, h) AS single, (w2, h2) AS `double`))""",
}

WINDOWS: dict[str, str] = {
    "window_ranking": """
        SELECT id, row_number() OVER w AS rn, rank() OVER (PARTITION BY customer_id ORDER BY total) AS r,
               dense_rank() OVER (PARTITION BY customer_id ORDER BY total) AS dr, percent_rank() OVER w AS pr,
               cume_dist() OVER w AS cd, ntile(2) OVER w AS nt
        FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY total DESC, id)""",
    "window_lag_lead": """
        SELECT id, lag(total) OVER w AS l, lead(total, 2, 0.0) OVER w AS ld,
               lag(note, 1) IGNORE NULLS OVER w AS ln,
               total - lag(total, 1, total) OVER w AS change
        FROM orders WINDOW w AS (PARTITION BY status ORDER BY id)""",
    "window_first_last_nth": """
        SELECT id, first_value(total) OVER w AS f, last_value(total) OVER w AS l,
               nth_value(total, 2) OVER w AS n,
               last_value(note) IGNORE NULLS OVER w AS ln, first(note, true) OVER w AS fn
        FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY id)""",
    "window_running_sum": """
        SELECT id, sum(total) OVER (PARTITION BY customer_id ORDER BY placed, id) AS running
        FROM orders""",
    "window_rows_frame": """
        SELECT id, sum(total) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS s,
               count(*) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS n,
               max(total) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS m
        FROM orders""",
    "window_range_numeric": """
        SELECT id, units, sum(units) OVER (PARTITION BY year ORDER BY units RANGE BETWEEN 5 PRECEDING
        AND 5 FOLLOWING) AS near
        FROM sales""",
    "window_range_interval": """
        SELECT id, count(*) OVER (ORDER BY placed RANGE BETWEEN INTERVAL 3 DAYS PRECEDING
        AND CURRENT ROW) AS recent,
               sum(total) OVER (ORDER BY CAST(placed AS DATE) RANGE BETWEEN INTERVAL '7' DAY PRECEDING
                                AND INTERVAL '1' DAY FOLLOWING) AS week FROM orders""",
    "window_range_unbounded_descending": """
        SELECT id, min(total) OVER (PARTITION BY status ORDER BY customer_id DESC NULLS LAST
          RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS m FROM orders""",
    "window_whole_partition": """
        SELECT id, total, total / sum(total) OVER (PARTITION BY status) AS share,
               count(*) OVER () AS n FROM orders""",
    "window_several_specifications": """
        SELECT id, rank() OVER (ORDER BY total) AS r, sum(total) OVER (PARTITION BY status) AS s,
               max(id) OVER (PARTITION BY customer_id) AS m FROM orders""",
    "window_over_aggregate": """
        SELECT status, sum(total) AS s, rank() OVER (ORDER BY sum(total) DESC) AS r,
               sum(sum(total)) OVER () AS all_of_it
        FROM orders GROUP BY status""",
    "window_named_inherited": """
        SELECT id, avg(total) OVER (w) AS a, count(*) OVER p AS n FROM orders
        WINDOW p AS (PARTITION BY status), w AS (PARTITION BY status ORDER BY id ROWS 1 PRECEDING)""",
    "window_aggregate_filter": """
        SELECT id, count(*) FILTER (WHERE total > 50) OVER (PARTITION BY status) AS big FROM orders""",
    "window_top_n_per_group": """
        SELECT customer_id, id FROM (SELECT *, row_number() OVER (PARTITION BY customer_id
        ORDER BY total DESC, id) AS rn
          FROM orders) WHERE rn <= 2""",
    "window_deduplicate_latest": """
        SELECT * EXCEPT (rn) FROM (SELECT *, row_number() OVER (PARTITION BY name
        ORDER BY joined DESC, id) AS rn
          FROM customers) WHERE rn = 1""",
    "window_qualify": """
        SELECT customer_id, id, total FROM orders QUALIFY row_number() OVER (PARTITION BY customer_id
        ORDER BY total DESC, id) = 1""",
    "window_qualify_alias_and_where": """
        SELECT id, rank() OVER (ORDER BY total DESC) AS r FROM orders WHERE status = 'shipped'
        QUALIFY r BETWEEN 2 AND 4""",
    "window_qualify_over_aggregate": """
        SELECT status, sum(total) AS s FROM orders GROUP BY status
        QUALIFY rank() OVER (ORDER BY s DESC) <= 2""",
    "window_gaps_and_islands": """
        SELECT min(day) AS since, max(day) AS until, count(*) AS days FROM (
          SELECT day, date_sub(day, CAST(row_number() OVER (ORDER BY day) AS INT)) AS island FROM calendar
          WHERE dayofweek(day) NOT IN (1, 7)) GROUP BY island""",
    "window_in_expression": """
        SELECT id, CASE WHEN total > avg(total) OVER (PARTITION BY status) THEN 'above' ELSE 'below'
        END AS side FROM orders""",
    "window_collect_sorted": """
        SELECT id, sort_array(collect_list(id) OVER (PARTITION BY status)) AS peers,
               collect_list(id) OVER (PARTITION BY status ORDER BY id) AS so_far FROM orders""",
}
