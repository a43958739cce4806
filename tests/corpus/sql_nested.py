"""Structs, arrays, maps, variants, JSON, lambdas and generators."""

from __future__ import annotations

NESTED: dict[str, str] = {
    "struct_fields": "SELECT id, actor.name, actor.address.city AS city, actor.address FROM events",
    "struct_star_expansion": "SELECT id, actor.*, actor.address.* FROM events",
    "struct_construction": """
        SELECT struct(id, kind) AS s, named_struct('a', id, 'b', actor.name) AS n, (id, kind, 3) AS t,
               struct(e.*) AS all_of_it
        FROM events e""",
    "struct_comparison": """
        SELECT id FROM events WHERE actor.address = named_struct('city', 'London', 'zip', 'N1')""",
    "array_access": """
        SELECT id, tags[0] AS first, element_at(readings, 1).value AS v, try_element_at(tags, 9) AS none,
               get(matrix, 1)[0] AS m, size(tags) AS n, cardinality(matrix) AS c FROM events
        WHERE size(tags) > 0""",
    "array_of_struct_field": """
        SELECT id, readings.value AS values, readings.at[0] AS first_at FROM events
        WHERE size(readings) > 0""",
    "array_functions": """
        SELECT id, array_contains(tags, 'b') AS has, array_distinct(tags) AS d,
               array_position(tags, 'b') AS p,
               array_remove(tags, 'b') AS r, sort_array(tags, false) AS s, array_join(tags, ',', '?') AS j,
               array_union(tags, array('q')) AS u, array_intersect(tags, array('b', 'c')) AS i,
               array_except(tags, array('b')) AS e, arrays_overlap(tags, array('c')) AS o,
               slice(tags, 1, 2) AS sl,
               flatten(matrix) AS f, array_repeat(kind, 2) AS rp, reverse(tags) AS rv, array_max(tags) AS mx,
               array_append(tags, 'z') AS ap, array_prepend(tags, 'y') AS pp, array_compact(tags) AS cp,
               array_insert(tags, 1, 'i') AS ins, concat(tags, array('t')) AS cc,
               array_size(tags) AS sz FROM events""",
    "array_zip_and_sequence": """
        SELECT id, arrays_zip(tags, matrix) AS z, sequence(1, id) AS s,
               sequence(DATE'2024-01-01', DATE'2024-03-01', INTERVAL 1 MONTH) AS m
        FROM events""",
    "lambda_transform_filter": """
        SELECT id, transform(tags, t -> upper(t)) AS t, transform(tags, (t, i) -> concat(t, i)) AS ti,
               filter(tags, t -> t > 'a') AS f, filter(tags, (t, i) -> i > 0) AS fi,
               exists(tags, t -> t = 'c') AS e,
               forall(tags, t -> t >= 'b') AS a FROM events""",
    "lambda_aggregate": """
        SELECT id, aggregate(readings, 0D, (acc, r) -> acc + coalesce(r.value, 0D), acc -> acc * 2) AS total,
               reduce(flatten(matrix), 0, (acc, x) -> acc + x) AS s FROM events""",
    "lambda_nested_and_captured": """
        SELECT id, transform(matrix, row -> transform(row, x -> x + id)) AS m,
               zip_with(tags, array('1', '2'), (a, b) -> concat_ws(':', a, b)) AS z,
               array_sort(tags, (l, r) -> CASE WHEN l > r THEN -1 WHEN l < r THEN 1 ELSE 0 END) AS s
        FROM events WHERE NOT exists(tags, t -> t IS NULL)""",
    "map_access": """
        SELECT id, props['page'] AS page, props.ab AS ab, element_at(scores, 'm')[0] AS m FROM events""",
    "map_functions": """
        SELECT id, array_sort(map_keys(props)) AS k, array_sort(map_values(props)) AS v,
               map_contains_key(props, 'ab') AS h,
               size(props) AS n, array_sort(map_entries(props)) AS e, map_concat(props, map('new', 'x')) AS c,
               map_from_arrays(array('a', 'b'), array(id, 2)) AS fa, map_from_entries(array((1, kind))) AS fe,
               str_to_map('a:1,b:2') AS sm FROM events""",
    "map_lambdas": """
        SELECT id, map_filter(props, (k, v) -> v > 'd') AS f, transform_keys(props, (k, v) -> upper(k)) AS k,
               transform_values(scores, (k, v) -> size(v)) AS v,
               map_zip_with(props, map('page', 1), (k, a, b) -> concat_ws('=', a, b)) AS z FROM events""",
    # Variant and JSON
    "variant_paths": """
        SELECT id, payload:n, payload:who.name::STRING AS name, payload:who.langs[1]::STRING AS second,
               payload:list[0].k::INT AS k, payload:['n']::STRING AS n FROM events""",
    "variant_functions": """
        SELECT id, variant_get(payload, '$.n', 'DECIMAL(10,2)') AS n,
               try_variant_get(payload, '$.who', 'INT') AS t,
               schema_of_variant(payload) AS s, is_variant_null(payload) AS z, to_json(payload) AS j,
               CAST(payload AS STRING) AS text, to_variant_object(named_struct('a', id)) AS o
        FROM events WHERE id <> 3""",
    "variant_parse_and_cast": """
        SELECT id, parse_json(body) AS p, try_parse_json('{bad') AS bad, CAST(id AS VARIANT) AS v,
               CAST(parse_json('[1,2,3]') AS ARRAY<INT>) AS a FROM events""",
    "variant_filter": "SELECT id FROM events WHERE payload:n::DOUBLE >= 1 AND payload:ok IS NOT NULL",
    "variant_explode_lateral": """
        SELECT id, v.pos, v.key, v.value::STRING AS value FROM events, LATERAL variant_explode(payload) AS v
        WHERE schema_of_variant(payload) LIKE 'ARRAY%'""",
    "variant_explode_outer_lateral": """
        SELECT id, v.pos, v.key FROM events, LATERAL variant_explode_outer(payload:list) AS v""",
    "variant_schema_aggregate": "SELECT kind, schema_of_variant_agg(payload) AS s FROM events GROUP BY kind",
    "json_functions": """
        SELECT id, get_json_object(body, '$.who.name') AS n, from_json(body, 'n DOUBLE, ok BOOLEAN') AS j,
               to_json(actor) AS t, json_array_length(body) AS l, json_object_keys(body) AS k,
               schema_of_json('{"a": [1]}') AS s FROM events WHERE id <> 6""",
    "json_tuple_lateral_view": """
        SELECT id, a, b FROM events LATERAL VIEW json_tuple(body, 'n', 'ok') t AS a, b""",
    "csv_and_xml_functions": """
        SELECT id, from_csv(concat(id, ',', name), 'a INT, b STRING') AS c, to_csv(struct(id, name)) AS t,
               from_xml(concat('<p><a>', id, '</a></p>'), 'a INT') AS x, to_xml(struct(id)) AS tx
        FROM suppliers""",
    # Generators
    "generate_explode": "SELECT id, explode(tags) AS tag FROM events",
    "generate_explode_outer": "SELECT id, explode_outer(tags) AS tag FROM events",
    "generate_posexplode": "SELECT id, posexplode(matrix) AS (pos, row) FROM events",
    "generate_explode_map": "SELECT id, explode(props) AS (key, value) FROM events",
    "generate_inline": "SELECT id, inline(readings) FROM events",
    "generate_inline_outer": "SELECT id, inline_outer(readings) FROM events",
    "generate_stack": """
        SELECT id, stack(2, 'name', name, 'country', country) AS (field, value) FROM suppliers""",
    "generate_of_expression": "SELECT id, explode(array(id, id * 2)) AS n, id + 1 AS next FROM suppliers",
    "generate_from_one_row": "SELECT explode(sequence(1, 5)) AS n",
    "table_function_collations": "SELECT name FROM collations() WHERE name = 'UTF8_LCASE'",
    "lateral_view_explode": "SELECT e.id, t.tag FROM events e LATERAL VIEW explode(e.tags) t AS tag",
    "lateral_view_outer_explode": "SELECT id, tag FROM events LATERAL VIEW OUTER explode(tags) t AS tag",
    "lateral_view_posexplode_default_names": "SELECT id, t.* FROM events LATERAL VIEW posexplode(tags) t",
    "lateral_view_chained": """
        SELECT id, row, cell FROM events LATERAL VIEW explode(matrix) m AS row
        LATERAL VIEW OUTER explode(row) c AS cell""",
    "lateral_view_then_aggregate": """
        SELECT tag, count(*) AS n, count(DISTINCT id) AS ids FROM events
        LATERAL VIEW explode(tags) t AS tag GROUP BY tag""",
    "lateral_generator_in_from": "SELECT e.id, t.col FROM events e, LATERAL explode(e.tags) AS t",
    "lateral_generator_left_join": """
        SELECT e.id, t.pos, t.col FROM events e LEFT JOIN LATERAL posexplode(e.tags) AS t ON true""",
    "lateral_generator_inline_aliases": """
        SELECT e.id, r.t, r.v FROM events e, LATERAL inline(e.readings) AS r(t, v) WHERE r.v > 1""",
    "table_function_explode": "SELECT * FROM explode(array(10, 20, 20)) AS t(n)",
    "table_function_range": "SELECT id, id * id AS square FROM range(1, 10, 2)",
    "table_function_stack": "SELECT * FROM stack(2, 1, 'a', 2, 'b') AS t(n, s)",
    "table_function_json_tuple": "SELECT * FROM json_tuple('{\"a\": 1, \"b\": 2}', 'a', 'b')",
    "table_function_sql_keywords": """
        SELECT keyword, reserved FROM sql_keywords() WHERE keyword LIKE 'SELECT%'""",
}
