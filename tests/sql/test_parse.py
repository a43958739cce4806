"""`parse` and `split`: what is read, what is left to Spark, and what is refused with which words."""

from __future__ import annotations

import pytest

from rennet.errors import Policy, RennetError, StatementError
from rennet.sql.parse import parse, split
from rennet.sql.schedule import Cron, Every, OnUpdate
from rennet.sql.statements import (
    AlterAction,
    AlterMaterializedView,
    ColumnSpec,
    CreateMaterializedView,
    DescribeMaterializedView,
    DropMaterializedView,
    DropSchedule,
    ExplainMaterializedView,
    RefreshMaterializedView,
    SetPolicy,
    SetProperties,
    SetSchedule,
    ShowMaterializedViews,
    Statement,
    UnsetProperties,
)

Q = "SELECT 1 AS a"


def created(**fields: object) -> CreateMaterializedView:
    return CreateMaterializedView(**{"name": ("v",), "query": Q, **fields})  # type: ignore[arg-type]


HEADERS: list[tuple[str, dict[str, object]]] = [
    ("", {}),
    ("COMMENT 'a view'", {"comment": "a view"}),
    ('COMMENT "a view"', {"comment": "a view"}),
    ("COMMENT 'it''s'", {"comment": "it's"}),
    (r"COMMENT 'it\'s'", {"comment": "it's"}),
    (r"COMMENT 'a\''''", {"comment": "a''"}),
    ('COMMENT \'say ""x""\'', {"comment": 'say ""x""'}),
    ('COMMENT "say ""x"""', {"comment": 'say "x"'}),
    (r"COMMENT 'a\tb\nc\\d\Z\0\%\_\q'", {"comment": "a\tb\nc\\d\x1a\0\\%\\_q"}),
    (r"COMMENT '\u00E9\101\U0001F9C0 \ud83e\uddc0'", {"comment": "éA🧀 🧀"}),
    (r"COMMENT r'a\nb'", {"comment": r"a\nb"}),
    (r"""COMMENT R"it's" """, {"comment": "it's"}),
    ("COMMENT 'one' ' and ' r'two'", {"comment": "one and two"}),
    ("COMMENT ' AS (SELECT 2) -- ; '", {"comment": " AS (SELECT 2) -- ; "}),
    ("COMMENT /* AS */ 'x' -- AS SELECT 2\n", {"comment": "x"}),
    ("/* a /* nested */ b */ COMMENT 'x'", {"comment": "x"}),
    ("-- goes on \\\n COMMENT 'hidden'\n COMMENT 'x'", {"comment": "x"}),
    ("(a, b)", {"columns": (ColumnSpec("a"), ColumnSpec("b"))}),
    ("(a COMMENT 'x, )', `b c`)", {"columns": (ColumnSpec("a", "x, )"), ColumnSpec("b c"))}),
    ("(comment COMMENT 'x')", {"columns": (ColumnSpec("comment", "x"),)}),
    ("(constraint, b)", {"columns": (ColumnSpec("constraint"), ColumnSpec("b"))}),
    ("(constraint COMMENT 'x')", {"columns": (ColumnSpec("constraint", "x"),)}),
    ("TBLPROPERTIES ('a' = 'b')", {"properties": (("a", "b"),)}),
    ("TBLPROPERTIES ('a.b' 'c', d.e = 'f')", {"properties": (("a.b", "c"), ("d.e", "f"))}),
    (
        "TBLPROPERTIES (a=TRUE, b=1, c = 1.5, d=-2)",
        {"properties": (("a", "true"), ("b", "1"), ("c", "1.5"), ("d", "-2"))},
    ),
    ("TBLPROPERTIES (a = word)", {"properties": (("a", "word"),)}),
    ("PARTITIONED BY (a, `b`)", {"partitioned_by": ("a", "b")}),
    ("CLUSTER BY (a,b)", {"cluster_by": ("a", "b")}),
    ("USING DELTA", {}),
    ("using delta", {}),
    ("REFRESH POLICY AUTO", {"policy": Policy.AUTO}),
    ("REFRESH POLICY INCREMENTAL", {"policy": Policy.INCREMENTAL}),
    ("refresh policy incremental strict", {"policy": Policy.INCREMENTAL_STRICT}),
    ("REFRESH POLICY FULL", {"policy": Policy.FULL}),
    ("SCHEDULE EVERY 1 HOUR", {"schedule": Every(1, "HOURS")}),
    ("SCHEDULE REFRESH EVERY 8 weeks", {"schedule": Every(8, "WEEKS")}),
    ("SCHEDULE CRON '0 0 6 * * ?'", {"schedule": Cron("0 0 6 * * ?")}),
    (
        "SCHEDULE REFRESH CRON '*/5 * * * *' AT TIME ZONE 'Europe/Paris'",
        {"schedule": Cron("*/5 * * * *", "Europe/Paris")},
    ),
    ("TRIGGER ON UPDATE", {"schedule": OnUpdate()}),
    ("TRIGGER ON UPDATE AT MOST EVERY INTERVAL 5 MINUTES", {"schedule": OnUpdate(300)}),
    ("TRIGGER ON UPDATE AT MOST EVERY INTERVAL '2' HOUR", {"schedule": OnUpdate(7200)}),
    ("TRIGGER ON UPDATE AT MOST EVERY INTERVAL 1 HOUR 30 MINUTES", {"schedule": OnUpdate(5400)}),
    (
        "(a) SCHEDULE EVERY 2 DAYS REFRESH POLICY FULL CLUSTER BY (a) COMMENT 'c' "
        "USING DELTA TBLPROPERTIES (k='v')",
        {
            "columns": (ColumnSpec("a"),),
            "schedule": Every(2, "DAYS"),
            "policy": Policy.FULL,
            "cluster_by": ("a",),
            "comment": "c",
            "properties": (("k", "v"),),
        },
    ),
]


@pytest.mark.parametrize(("header", "fields"), HEADERS, ids=[header for header, _ in HEADERS])
def test_header(header: str, fields: dict[str, object]) -> None:
    assert parse(f"CREATE MATERIALIZED VIEW v {header} AS {Q}") == created(**fields)


READ: list[tuple[str, Statement]] = [
    (f"create or replace materialized view v as {Q}", created(or_replace=True)),
    (f"CREATE MATERIALIZED VIEW IF NOT EXISTS v AS {Q}", created(if_not_exists=True)),
    (f"CREATE MATERIALIZED VIEW cat.Db.v AS {Q}", created(name=("cat", "Db", "v"))),
    (f"CREATE MATERIALIZED VIEW `a.b` . `c``d` AS {Q}", created(name=("a.b", "c`d"))),
    (f"CREATE MATERIALIZED VIEW `as` AS {Q}", created(name=("as",))),
    (f"CREATE MATERIALIZED VIEW 2024_sales AS {Q}", created(name=("2024_sales",))),
    (f"CREATE MATERIALIZED VIEW straße AS {Q}", created(name=("straße",))),
    (f"  -- hi\n/*+ x */ CREATE\tMATERIALIZED\nVIEW v AS\n\n  {Q}  ;; \n", created()),
    ("CREATE MATERIALIZED VIEW v AS(SELECT 1);", created(query="(SELECT 1)")),
    ("CREATE MATERIALIZED VIEW v AS/*+ h */SELECT 1", created(query="/*+ h */SELECT 1")),
    ("CREATE MATERIALIZED VIEW v AS SELECT ';' -- a;\n; -- b", created(query="SELECT ';' -- a;")),
    ("CREATE MATERIALIZED VIEW v AS SELECT 1 -- a;", created(query="SELECT 1 -- a;")),
    (
        "CREATE MATERIALIZED VIEW v AS -- why\n SELECT  x\tAS y FROM t /* ; */",
        created(query="-- why\n SELECT  x\tAS y FROM t /* ; */"),
    ),
    ("CREATE MATERIALIZED VIEW v AS SELECT 'open;", created(query="SELECT 'open;")),
    ("REFRESH MATERIALIZED VIEW v", RefreshMaterializedView(("v",))),
    ("REFRESH MATERIALIZED VIEW a.v FULL;", RefreshMaterializedView(("a", "v"), full=True)),
    ("REFRESH MATERIALIZED VIEW v SYNC FULL", RefreshMaterializedView(("v",), full=True)),
    ("REFRESH MATERIALIZED VIEW full SYNC", RefreshMaterializedView(("full",))),
    ("EXPLAIN MATERIALIZED VIEW a.v", ExplainMaterializedView(("a", "v"))),
    ("explain extended materialized view v", ExplainMaterializedView(("v",), extended=True)),
    (f"EXPLAIN CREATE MATERIALIZED VIEW v AS {Q}", ExplainMaterializedView(create=created())),
    (
        f"EXPLAIN EXTENDED CREATE OR REPLACE MATERIALIZED VIEW v AS {Q};",
        ExplainMaterializedView(create=created(or_replace=True), extended=True),
    ),
    ("DROP MATERIALIZED VIEW v", DropMaterializedView(("v",))),
    ("DROP MATERIALIZED VIEW IF EXISTS a.`b-c`", DropMaterializedView(("a", "b-c"), if_exists=True)),
    ("SHOW MATERIALIZED VIEWS", ShowMaterializedViews()),
    ("SHOW MATERIALIZED VIEWS IN a.b", ShowMaterializedViews(("a", "b"))),
    ("SHOW MATERIALIZED VIEWS FROM a LIKE 'x*|y'", ShowMaterializedViews(("a",), "x*|y")),
    ("SHOW MATERIALIZED VIEWS 'x*'", ShowMaterializedViews(like="x*")),
    ("DESCRIBE MATERIALIZED VIEW v", DescribeMaterializedView(("v",))),
    ("DESC MATERIALIZED VIEW EXTENDED a.v", DescribeMaterializedView(("a", "v"), extended=True)),
    ("DESC MATERIALIZED VIEW extended", DescribeMaterializedView(("extended",))),
    ("DESC MATERIALIZED VIEW extended.v", DescribeMaterializedView(("extended", "v"))),
]

ALTERED: list[tuple[str, AlterAction]] = [
    ("ADD SCHEDULE EVERY 1 DAY", SetSchedule(Every(1, "DAYS"))),
    ("ADD TRIGGER ON UPDATE", SetSchedule(OnUpdate())),
    ("ALTER SCHEDULE REFRESH CRON '0 6 * * 1'", SetSchedule(Cron("0 6 * * 1"), replace=True)),
    (
        "ALTER TRIGGER ON UPDATE AT MOST EVERY INTERVAL 90 SECONDS",
        SetSchedule(OnUpdate(90), replace=True),
    ),
    ("DROP SCHEDULE", DropSchedule()),
    ("DROP TRIGGER", DropSchedule()),
    ("SET TBLPROPERTIES ('a'='b', c 1)", SetProperties((("a", "b"), ("c", "1")))),
    ("UNSET TBLPROPERTIES ('a', b.c)", UnsetProperties(("a", "b.c"))),
    ("UNSET TBLPROPERTIES IF EXISTS (a)", UnsetProperties(("a",), if_exists=True)),
    ("SET REFRESH POLICY INCREMENTAL STRICT", SetPolicy(Policy.INCREMENTAL_STRICT)),
]
READ += [
    (f"ALTER MATERIALIZED VIEW a.v {text}", AlterMaterializedView(("a", "v"), do)) for text, do in ALTERED
]


@pytest.mark.parametrize(("text", "statement"), READ, ids=[text for text, _ in READ])
def test_statement(text: str, statement: Statement) -> None:
    assert parse(text) == statement


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ;",
        "-- CREATE MATERIALIZED VIEW v AS SELECT 1",
        "/* CREATE MATERIALIZED VIEW v",
        "SELECT 'CREATE MATERIALIZED VIEW v'",
        "`CREATE` MATERIALIZED VIEW v",
        "'CREATE' MATERIALIZED VIEW v",
        "CREATE",
        "CREATE VIEW v AS SELECT 1",
        "CREATE OR REPLACE VIEW materialized AS SELECT 1",
        "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1",
        "CREATE TABLE materialized (view INT)",
        "CREATE OR REFRESH STREAMING TABLE t AS SELECT 1",
        "CREATE VIEW v COMMENT 'unclosed",
        "REFRESH TABLE t",
        "REFRESH materialized",
        "REFRESH 'unclosed",
        "EXPLAIN SELECT 1",
        "EXPLAIN EXTENDED SELECT 1",
        "EXPLAIN FORMATTED CREATE VIEW v AS SELECT 1",
        "EXPLAIN",
        "DROP VIEW v",
        "DROP TABLE IF EXISTS materialized",
        "SHOW VIEWS",
        "SHOW TABLES IN materialized",
        "DESCRIBE t",
        "DESCRIBE materialized",
        "DESC EXTENDED t",
        "ALTER VIEW v AS SELECT 1",
        "ALTER TABLE t SET TBLPROPERTIES ('a'='b')",
    ],
)
def test_left_to_spark(text: str) -> None:
    assert parse(text) is None


CREATE = "CREATE MATERIALIZED VIEW "
REFUSED = [
    ("CREATE MATERIALIZED", "Line 1, column 20: expected VIEW, found the end of the statement."),
    ("CREATE MATERIALIZED TABLE t", "column 21: expected VIEW, found TABLE."),
    (CREATE, "expected a view name, found the end of the statement."),
    (CREATE + "AS SELECT 1", "column 26: expected a view name, found AS."),
    (CREATE + "'v' AS SELECT 1", "expected a view name, found 'v'."),
    (CREATE + "`` AS SELECT 1", "expected a view name, found ``."),
    (CREATE + "a. AS SELECT 1", "expected the next part of the name, found AS."),
    (CREATE + "my-view AS SELECT 1", "must be in `backticks`"),
    (CREATE + "v SELECT 1", "expected AS and the query, or one of COMMENT, TBLPROPERTIES, PARTITIONED BY"),
    (CREATE + "v", "expected AS and the query"),
    (CREATE + "v AS", "expected a query after AS, found the end of the statement."),
    (CREATE + "v AS ; -- x", "expected a query after AS"),
    (CREATE + "v AS /* only this */", "expected a query after AS"),
    (CREATE + "v AS SELECT 1; SELECT 2", "found SELECT.*one statement at a time"),
    ("CREATE OR REPLACE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT 1", "exclude each other"),
    ("CREATE OR REFRESH MATERIALIZED VIEW v AS SELECT 1", "Write CREATE OR REPLACE."),
    ("CREATE PRIVATE MATERIALIZED VIEW v AS SELECT 1", "PRIVATE materialized views are not supported."),
    ("CREATE TEMPORARY MATERIALIZED VIEW v AS SELECT 1", "TEMPORARY materialized views are not supported."),
    (CREATE + "v () AS SELECT 1", r"expected a column name, found \)\."),
    (CREATE + "v (a, a) AS SELECT 1", "'a' is listed twice"),
    (CREATE + "v (a, A COMMENT 'x') AS SELECT 1", "'a' is listed twice"),
    (
        CREATE + "v (a INT) AS SELECT 1",
        r"expected COMMENT, a comma or \), found INT.*The query gives the types",
    ),
    (CREATE + "v (a", r"expected , or \), found the end of the statement"),
    (CREATE + "v (a,) AS SELECT 1", r"expected a column name, found \)"),
    (
        CREATE + "v (CONSTRAINT c EXPECT (a > 0)) AS SELECT 1",
        "constraints and expectations are not supported",
    ),
    (CREATE + "v COMMENT AS SELECT 1", "expected a string, found AS"),
    (CREATE + "v COMMENT 'never closed AS SELECT 1", "column 36: the quote is never closed"),
    (CREATE + "v COMMENT \"it's AS SELECT 1", "the quote is never closed"),
    (CREATE + "`v AS SELECT 1", "the quote is never closed"),
    (CREATE + "v /* /* */ AS SELECT 1", "the comment is never closed"),
    (CREATE + "v COMMENT 'a' COMMENT 'b' AS SELECT 1", "column 40: a second COMMENT is not allowed"),
    (CREATE + "v USING DELTA USING DELTA AS SELECT 1", "a second USING is not allowed"),
    (CREATE + "v USING ICEBERG AS SELECT 1", "expected DELTA, found ICEBERG.*stored as Delta"),
    (CREATE + "v TBLPROPERTIES 'a'='b' AS SELECT 1", r"expected \( and a property, found 'a'"),
    (CREATE + "v TBLPROPERTIES ('a') AS SELECT 1", r"expected a value, found \)"),
    (CREATE + "v TBLPROPERTIES (=1) AS SELECT 1", "expected a property key, found ="),
    (CREATE + "v TBLPROPERTIES (a=1, 'a'=2) AS SELECT 1", "'a' is listed twice"),
    (CREATE + "v TBLPROPERTIES (a=1) TBLPROPERTIES (b=1) AS SELECT 1", "a second TBLPROPERTIES"),
    (CREATE + "v PARTITIONED BY a AS SELECT 1", r"expected \( and column names, found a"),
    (CREATE + "v PARTITIONED BY (a INT) AS SELECT 1", r"expected , or \), found INT"),
    (CREATE + "v PARTITIONED BY (a) CLUSTER BY (b) AS SELECT 1", "exclude each other"),
    (CREATE + "v CLUSTER BY AUTO AS SELECT 1", r"AUTO is not supported here.*\(a, b\)"),
    (CREATE + "v WITH ROW FILTER f ON (a) AS SELECT 1", "WITH ROW FILTER is not supported"),
    (CREATE + "v LOCATION '/x' AS SELECT 1", "LOCATION is not supported"),
    (
        CREATE + "v REFRESH POLICY SOMETIMES AS SELECT 1",
        "expected AUTO, INCREMENTAL, .* or FULL, found SOMETIMES",
    ),
    (CREATE + "v REFRESH POLICY FULL STRICT AS SELECT 1", "expected AS and the query.* found STRICT"),
    (CREATE + "v SCHEDULE HOURLY AS SELECT 1", "expected EVERY or CRON, found HOURLY"),
    (CREATE + "v SCHEDULE EVERY HOUR AS SELECT 1", "expected a whole number, found HOUR"),
    (CREATE + "v SCHEDULE EVERY 1.5 HOURS AS SELECT 1", "expected a whole number, found 1.5"),
    (
        CREATE + "v SCHEDULE EVERY 1 FORTNIGHT AS SELECT 1",
        "column 45: 'FORTNIGHT' is not a unit of time.*MINUTES",
    ),
    (
        CREATE + "v SCHEDULE EVERY 73 HOURS AS SELECT 1",
        "column 43: EVERY 73 HOURS is out of range.*MINUTES 1-59, HOURS 1-72, DAYS 1-31, WEEKS 1-8",
    ),
    (CREATE + "v SCHEDULE EVERY 10 SECONDS AS SELECT 1", "EVERY 10 SECONDS is out of range"),
    (CREATE + "v SCHEDULE CRON 5 AS SELECT 1", "expected a cron expression in quotes, found 5"),
    (
        CREATE + "v SCHEDULE CRON '0 0 25 * * ?' AS SELECT 1",
        "column 42: In the hours field .* 25 is out of range",
    ),
    (CREATE + "v SCHEDULE CRON '0 0 * * *' AT ZONE 'UTC' AS SELECT 1", "expected TIME, found ZONE"),
    (
        CREATE + "v SCHEDULE CRON '0 0 * * *' AT TIME ZONE 'Europe/Pariss' AS SELECT 1",
        "'Europe/Pariss' is not a time zone.*Did you mean 'Europe/Paris'",
    ),
    (CREATE + "v SCHEDULE EVERY 1 DAY TRIGGER ON UPDATE AS SELECT 1", "a second SCHEDULE or TRIGGER"),
    (CREATE + "v TRIGGER UPDATE AS SELECT 1", "expected ON, found UPDATE"),
    (CREATE + "v TRIGGER ON UPDATE AT MOST EVERY 5 MINUTES AS SELECT 1", "expected INTERVAL, found 5"),
    (
        CREATE + "v TRIGGER ON UPDATE AT MOST EVERY INTERVAL 5 AS SELECT 1",
        "expected a unit of time, found AS",
    ),
    (
        CREATE + "v TRIGGER ON UPDATE AT MOST EVERY INTERVAL 59 SECONDS AS SELECT 1",
        "shorter than a minute",
    ),
    ("REFRESH MATERIALIZED VIEW", "expected a view name"),
    ("REFRESH MATERIALIZED VIEW v ASYNC", "ASYNC is not supported"),
    ("REFRESH MATERIALIZED VIEW v FULL FULL", "FULL is given twice"),
    ("REFRESH MATERIALIZED VIEW v, w", "expected the end of the statement, found ,"),
    ("REFRESH MATERIALIZED VIEW v; REFRESH MATERIALIZED VIEW w", "one statement at a time"),
    ("REFRESH MATERIALIZED VIEW v 'x", "the quote is never closed"),
    ("EXPLAIN MATERIALIZED v", "expected VIEW, found v"),
    ("EXPLAIN FORMATTED MATERIALIZED VIEW v", "column 9: EXPLAIN FORMATTED is not supported here"),
    ("EXPLAIN CREATE MATERIALIZED VIEW v", "expected AS and the query"),
    ("DROP MATERIALIZED VIEWS v", "expected VIEW, found VIEWS"),
    ("DROP MATERIALIZED VIEW IF EXISTS", "expected a view name"),
    ("DROP MATERIALIZED VIEW v CASCADE", "expected the end of the statement, found CASCADE"),
    ("SHOW MATERIALIZED VIEW", "expected VIEWS, found VIEW"),
    ("SHOW MATERIALIZED VIEWS IN", "expected a schema name"),
    ("SHOW MATERIALIZED VIEWS LIKE x", "expected a pattern in quotes, found x"),
    ("DESCRIBE MATERIALIZED VIEW", "expected a view name"),
    ("DESCRIBE MATERIALIZED VIEW v AS JSON", "expected the end of the statement, found AS"),
    ("ALTER MATERIALIZED VIEW v", "expected one of ADD SCHEDULE, .*, SET REFRESH POLICY"),
    ("ALTER MATERIALIZED VIEW v RENAME TO w", "expected one of .* found RENAME"),
    ("ALTER MATERIALIZED VIEW v ADD SCHEDULE EVERY 0 DAYS", "EVERY 0 DAYS is out of range"),
    ("ALTER MATERIALIZED VIEW v UNSET TBLPROPERTIES ('a'='b')", r"expected , or \), found ="),
    ("ALTER MATERIALIZED VIEW v DROP SCHEDULE EVERY 1 DAY", "expected the end of the statement, found EVERY"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text for text, _ in REFUSED])
def test_refused(text: str, message: str) -> None:
    with pytest.raises(StatementError, match=f"(?s){message}") as raised:
        parse(text)
    assert isinstance(raised.value, RennetError)
    assert "^" in raised.value.message


def test_the_error_shows_the_line() -> None:
    with pytest.raises(StatementError) as raised:
        parse("CREATE MATERIALIZED VIEW v\n\tSCHEDULE EVERY 100 HOURS\nAS SELECT 1")
    assert str(raised.value) == (
        "[PARSE_ERROR] Line 2, column 17: EVERY 100 HOURS is out of range.\n"
        "  2 |  SCHEDULE EVERY 100 HOURS\n"
        "    |                 ^^^\n"
        " Allowed are MINUTES 1-59, HOURS 1-72, DAYS 1-31, WEEKS 1-8."
    )


def test_the_error_shows_part_of_a_long_line() -> None:
    with pytest.raises(StatementError) as raised:
        parse(CREATE + "v COMMENT '" + "x" * 500 + "' OOPS AS SELECT " + "y" * 500)
    _, line, caret = raised.value.message.splitlines()
    assert len(line) < 120
    assert line[caret.index("^") : caret.rindex("^") + 1] == "OOPS"


def test_the_end_of_the_statement_is_where_its_text_ends() -> None:
    with pytest.raises(StatementError, match="Line 2, column 3: expected a query after AS"):
        parse(CREATE + "v\nAS\n\n\n")


@pytest.mark.parametrize(
    ("script", "statements"),
    [
        ("", []),
        (" ;; -- nothing\n; /* ; */", []),
        ("a", ["a"]),
        ("a;", ["a"]),
        ("a;b ; c", ["a", "b", "c"]),
        ("a /* ; /* ; */ ; */ ; b", ["a /* ; /* ; */ ; */", "b"]),
        ("-- first; \na;\n-- last;\nb -- x", ["-- first; \na", "-- last;\nb -- x"]),
        ("a ';' \";\" `;` r'\\'; b", ["a ';' \";\" `;` r'\\'", "b"]),
        (r"a 'it\'s;'; b 'it''s;'", [r"a 'it\'s;'", "b 'it''s;'"]),
        ("a $$ ; $$; b $x$ ; $$ ; $x$", ["a $$ ; $$", "b $x$ ; $$ ; $x$"]),
        ("a; b 'open; c", ["a", "b 'open; c"]),
        ("a; b /* open; c", ["a", "b /* open; c"]),
        ("SELECT 5--1;\n; SELECT 4-1", ["SELECT 5--1;", "SELECT 4-1"]),
    ],
)
def test_split(script: str, statements: list[str]) -> None:
    assert split(script) == statements


def test_every_statement_of_a_script_can_be_read() -> None:
    script = ";\n".join(text for text, _ in READ if ";" not in text and "open" not in text)
    assert None not in [parse(text) for text in split(script)]


def test_long_literals_end() -> None:
    """With a pattern that backtracks, these would take hours."""
    split("SELECT '" + "''" * 200_000)
    split("/*" * 100_000)
    with pytest.raises(StatementError, match="never closed"):
        parse(CREATE + "v COMMENT '" + "\\'" * 200_000)
