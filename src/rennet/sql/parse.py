"""Reads rennet's statements and leaves every other statement to Spark.

Only the header is rennet's: whatever follows AS is Spark SQL and is kept as written. Tokens follow Spark's
lexer, so quotes, escapes and comments mean here what they mean there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import rennet.sql.statements as st
from rennet.errors import Policy, StatementError
from rennet.sql.schedule import SECONDS, Cron, Every, OnUpdate, Schedule, unit
from rennet.sql.statements import Token, Tokens, unquote

T = TypeVar("T")


def parse(text: str) -> st.Statement | None:
    """The statement, or None when it is not one of rennet's; `StatementError` when it is but is malformed."""
    p = Parser(text)
    read = STATEMENTS.get(p.peek().word)
    statement = read(p) if read else None
    if statement is not None:
        p.end()
    return statement


def split(text: str) -> list[str]:
    """The statements of a script, without their semicolons; what is only comments is left out."""
    statements, p = [], Parser(text)
    while p.peek().kind != "end":
        start = p.at
        if not p.ended():
            statements.append(p.rest(start))
        p.symbol(";")
    return statements


class Parser(Tokens):
    """Takes what a header is made of; what is not there becomes an error."""

    def expect(self, phrase: str) -> None:
        for word in phrase.split():
            if not self.accept(word):
                raise self.expected(word)

    def end(self) -> None:
        """`[;]` and nothing more."""
        hint = "Give one statement at a time." if self.symbol(";") else ""
        while self.symbol(";"):
            pass
        if not self.ended():
            raise self.expected("the end of the statement", hint)

    def identifier(self, what: str) -> str:
        token = self.peek()
        if token.word in ("", "AS") and (token.kind != "quoted" or token.text == "``"):
            raise self.expected(what)
        self.take()
        return token.text if token.word else token.text[1:-1].replace("``", "`")

    def name(self, what: str = "a view name") -> st.Name:
        """`part[.part…]`, each perhaps in backticks."""
        parts = [self.identifier(what)]
        while self.symbol("."):
            parts.append(self.identifier("the next part of the name"))
        if self.peek().text.startswith("-"):
            raise self.expected("the end of the name", "A name with a - in it must be in `backticks`.")
        return tuple(parts)

    def string(self, what: str) -> str:
        """`'…' ['…' …]`: adjacent literals are one."""
        if self.peek().kind not in ("string", "raw"):
            raise self.expected(what)
        value = ""
        while self.peek().kind in ("string", "raw"):
            value += unquote(self.take())
        return value

    def duration(self) -> tuple[int, str, Token]:
        """`{n | 'n'} unit`, and where n is."""
        token = self.peek()
        if not re.fullmatch(r"[0-9]+|'[0-9]+'", token.text):
            raise self.expected("a whole number")
        self.take()
        word = self.peek()
        name = self.identifier("a unit of time")
        return int(token.text.strip("'")), self.checked(word, lambda: unit(name)), token

    def listing(self, item: Callable[[], T], what: str, key: Callable[[T], str]) -> tuple[T, ...]:
        """`(item [, item…])`, no two with the same key."""
        if not self.symbol("("):
            raise self.expected(f"( and {what}")
        items: dict[str, T] = {}
        while not items or self.symbol(","):
            token, value = self.peek(), item()
            if key(value) in items:
                raise self.error(f"{key(value)!r} is listed twice.", token)
            items[key(value)] = value
        if not self.symbol(")"):
            raise self.expected(", or )")
        return tuple(items.values())

    def checked(self, token: Token, make: Callable[[], T]) -> T:
        """What `make` makes; if it refuses, the error is placed at the token."""
        try:
            return make()
        except StatementError as refusal:
            raise self.error(refusal.message, token, refusal.hint) from None

    def expected(self, what: str, hint: str = "") -> StatementError:
        token = self.peek()
        if token.kind == "unclosed":
            return self.error(f"the {'comment' if token.text[0] == '/' else 'quote'} is never closed.")
        found = "the end of the statement" if self.ended() else token.text.splitlines()[0][:40]
        return self.error(f"expected {what}, found {found}.", hint=hint)

    def error(self, problem: str, at: Token | None = None, hint: str = "") -> StatementError:
        """An error that shows the line it is about, a caret below the token."""
        token = at or self.peek()
        line, column, excerpt = self.show(token)
        end = "\n" if hint else ""
        return StatementError(f"Line {line}, column {column}: {problem}\n{excerpt}{end}", hint)


# -- clauses


def _comment(p: Parser) -> str:
    """`COMMENT '…'`"""
    return p.string("a string")


def _property_key(p: Parser) -> str:
    """`'k' | k[.k…]`; here a literal that follows is the value"""
    literal = p.peek().kind in ("string", "raw")
    return unquote(p.take()) if literal else ".".join(p.name("a property key"))


def _property(p: Parser) -> tuple[str, str]:
    """`key [=] {'v' | 1.5 | TRUE | word}`"""
    key = _property_key(p)
    p.symbol("=")
    token = p.peek()
    if token.kind not in ("number", "word"):
        return key, p.string("a value")
    p.take()
    return key, token.text.lower() if token.word in ("TRUE", "FALSE") else token.text


def _properties(p: Parser) -> st.Properties:
    """`TBLPROPERTIES (key [=] value, …)`"""
    return p.listing(lambda: _property(p), "a property", lambda pair: pair[0])


def _column(p: Parser) -> st.ColumnSpec:
    """`name [COMMENT '…']`"""
    if p.sees("CONSTRAINT") and p.peek(1).kind in ("word", "quoted") and p.peek(1).word != "COMMENT":
        raise p.error("constraints and expectations are not supported.")
    name = p.identifier("a column name")
    if p.peek().word not in ("", "COMMENT"):
        raise p.expected("COMMENT, a comma or )", "The query gives the types: list names and comments only.")
    return st.ColumnSpec(name, _comment(p) if p.accept("COMMENT") else None)


def _columns(p: Parser) -> tuple[str, ...]:
    """`PARTITIONED BY (c, …)`, `CLUSTER BY (c, …)`"""
    if p.peek().word in ("AUTO", "NONE"):
        raise p.error(f"{p.peek().word} is not supported here.", hint="Name the columns: (a, b).")
    return p.listing(lambda: p.identifier("a column name"), "column names", str.lower)


def _using(p: Parser) -> None:
    """`USING DELTA`"""
    if not p.accept("DELTA"):
        raise p.expected("DELTA", "Materialized views are stored as Delta tables.")


def _policy(p: Parser) -> Policy:
    """`REFRESH POLICY {AUTO | INCREMENTAL [STRICT] | FULL}`"""
    for policy in sorted(Policy, key=len, reverse=True):
        if p.accept(policy):
            return policy
    raise p.expected("AUTO, INCREMENTAL, INCREMENTAL STRICT or FULL")


def _schedule(p: Parser) -> Schedule:
    """`SCHEDULE [REFRESH] {EVERY n unit | CRON '…' [AT TIME ZONE '…']}`"""
    p.accept("REFRESH")
    if p.accept("EVERY"):
        n, name, number = p.duration()
        return p.checked(number, lambda: Every(n, name))
    if not p.accept("CRON"):
        raise p.expected("EVERY or CRON")
    token, expression = p.peek(), p.string("a cron expression in quotes")
    cron = p.checked(token, lambda: Cron(expression))
    if not p.accept("AT"):
        return cron
    p.expect("TIME ZONE")
    token, zone = p.peek(), p.string("a time zone in quotes")
    return p.checked(token, lambda: Cron(expression, zone))


def _trigger(p: Parser) -> Schedule:
    """`TRIGGER ON UPDATE [AT MOST EVERY INTERVAL {n | 'n'} unit …]`"""
    p.expect("ON UPDATE")
    if not p.accept("AT"):
        return OnUpdate()
    p.expect("MOST EVERY INTERVAL")
    n, name, number = p.duration()
    seconds = n * SECONDS[name]
    while p.peek().kind in ("number", "string"):
        n, name, _ = p.duration()
        seconds += n * SECONDS[name]
    return p.checked(number, lambda: OnUpdate(seconds))


CLAUSES: dict[str, tuple[str, Callable[[Parser], object]]] = {
    "COMMENT": ("comment", _comment),
    "TBLPROPERTIES": ("properties", _properties),
    "PARTITIONED BY": ("partitioned_by", _columns),
    "CLUSTER BY": ("cluster_by", _columns),
    "USING": ("using", _using),
    "REFRESH POLICY": ("policy", _policy),
    "SCHEDULE": ("schedule", _schedule),
    "TRIGGER": ("schedule", _trigger),
}
"""What may stand before AS, in any order: the field it fills, at most once, and its reader."""


def read_schedule(text: str) -> Schedule:
    """`SCHEDULE …` or `TRIGGER …`, alone."""
    p = Parser(text)
    phrase = next((phrase for phrase in ("SCHEDULE", "TRIGGER") if p.accept(phrase)), None)
    if phrase is None:
        raise p.expected("SCHEDULE or TRIGGER")
    found = _schedule(p) if phrase == "SCHEDULE" else _trigger(p)
    if not p.ended():
        raise p.expected("the end of the schedule")
    return found


UNSUPPORTED = ("WITH ROW FILTER", "ROW FILTER", "DEFAULT COLLATION", "LOCATION", "OPTIONS")


def _clauses(p: Parser) -> dict[str, Any]:
    """`[clause …] AS`"""
    fields: dict[str, Any] = {}
    while not p.accept("AS"):
        token = p.peek()
        if refused := next((phrase for phrase in UNSUPPORTED if p.sees(phrase)), None):
            raise p.error(f"{refused} is not supported.")
        phrase = next((phrase for phrase in CLAUSES if p.accept(phrase)), None)
        if phrase is None:
            raise p.expected(f"AS and the query, or one of {', '.join(CLAUSES)}")
        field, read = CLAUSES[phrase]
        if field in fields:
            twice = "a second SCHEDULE or TRIGGER" if field == "schedule" else f"a second {phrase}"
            raise p.error(f"{twice} is not allowed.", token)
        fields[field] = read(p)
        if {"partitioned_by", "cluster_by"} <= fields.keys():
            raise p.error("PARTITIONED BY and CLUSTER BY exclude each other.", token)
    fields.pop("using", None)
    return fields


# -- statements


def _create(p: Parser) -> st.CreateMaterializedView | None:
    """`CREATE [OR REPLACE] MATERIALIZED VIEW [IF NOT EXISTS] name [(column, …)] [clause …] AS query`"""
    p.expect("CREATE")
    if p.sees("OR REFRESH MATERIALIZED"):
        raise p.error("CREATE OR REFRESH is not supported.", hint="Write CREATE OR REPLACE.")
    or_replace = p.accept("OR REPLACE")
    if p.peek().word in ("PRIVATE", "TEMP", "TEMPORARY") and p.peek(1).word == "MATERIALIZED":
        raise p.error(f"{p.peek().word} materialized views are not supported.")
    if not p.accept("MATERIALIZED"):
        return None
    p.expect("VIEW")
    if or_replace and p.sees("IF NOT EXISTS"):
        raise p.error("OR REPLACE and IF NOT EXISTS exclude each other.")
    if_not_exists, name = p.accept("IF NOT EXISTS"), p.name()
    columns: tuple[st.ColumnSpec, ...] = ()
    if p.peek().text == "(":
        columns = p.listing(lambda: _column(p), "column names", lambda column: column.name.lower())
    fields = _clauses(p)
    if p.ended():
        raise p.expected("a query after AS")
    return st.CreateMaterializedView(name, p.rest(p.at), or_replace, if_not_exists, columns, **fields)


def _explain(p: Parser) -> st.ExplainMaterializedView | None:
    """`EXPLAIN [EXTENDED] {MATERIALIZED VIEW name | CREATE … MATERIALIZED VIEW …}`"""
    p.expect("EXPLAIN")
    mode = p.take() if p.peek().word in ("EXTENDED", "FORMATTED", "COST", "CODEGEN", "LOGICAL") else None
    name, create = None, None
    if p.accept("MATERIALIZED"):
        p.expect("VIEW")
        name = p.name()
    elif p.sees("CREATE"):
        create = _create(p)
    if name is None and create is None:
        return None
    if mode and mode.word != "EXTENDED":
        raise p.error(f"EXPLAIN {mode.word} is not supported here.", mode, "Use EXTENDED.")
    return st.ExplainMaterializedView(name, create, extended=mode is not None)


def _refresh(p: Parser) -> st.RefreshMaterializedView | None:
    """`REFRESH MATERIALIZED VIEW name [FULL] [SYNC]`, the options in any order"""
    if not p.accept("REFRESH MATERIALIZED VIEW"):
        return None
    name, given = p.name(), set()
    while (option := p.peek().word) in ("FULL", "SYNC", "ASYNC"):
        if option == "ASYNC":
            raise p.error("ASYNC is not supported.", hint="Without it, REFRESH returns when it is done.")
        if option in given:
            raise p.error(f"{option} is given twice.")
        given.add(p.take().word)
    return st.RefreshMaterializedView(name, full="FULL" in given)


def _drop(p: Parser) -> st.DropMaterializedView | None:
    """`DROP MATERIALIZED VIEW [IF EXISTS] name`"""
    if not p.accept("DROP MATERIALIZED"):
        return None
    p.expect("VIEW")
    if_exists = p.accept("IF EXISTS")
    return st.DropMaterializedView(p.name(), if_exists)


def _show(p: Parser) -> st.ShowMaterializedViews | None:
    """`SHOW MATERIALIZED VIEWS [{IN | FROM} schema] [[LIKE] 'pattern']`"""
    if not p.accept("SHOW MATERIALIZED"):
        return None
    p.expect("VIEWS")
    schema = p.name("a schema name") if p.accept("IN") or p.accept("FROM") else None
    like = p.accept("LIKE") or p.peek().kind == "string"
    return st.ShowMaterializedViews(schema, p.string("a pattern in quotes") if like else None)


def _describe(p: Parser) -> st.DescribeMaterializedView | None:
    """`{DESCRIBE | DESC} MATERIALIZED VIEW [EXTENDED] name`"""
    p.take()
    if not p.accept("MATERIALIZED VIEW"):
        return None
    extended = p.peek(1).kind in ("word", "quoted") and p.accept("EXTENDED")
    return st.DescribeMaterializedView(p.name(), extended)


def _alter(p: Parser) -> st.AlterMaterializedView | None:
    """`ALTER MATERIALIZED VIEW name action`"""
    if not p.accept("ALTER MATERIALIZED"):
        return None
    p.expect("VIEW")
    name = p.name()
    phrase = next((phrase for phrase in ACTIONS if p.accept(phrase)), None)
    if phrase is None:
        raise p.expected(f"one of {', '.join(ACTIONS)}")
    return st.AlterMaterializedView(name, ACTIONS[phrase](p))


def _unset(p: Parser) -> st.UnsetProperties:
    """`UNSET TBLPROPERTIES [IF EXISTS] (key, …)`"""
    if_exists = p.accept("IF EXISTS")
    return st.UnsetProperties(p.listing(lambda: _property_key(p), "property keys", str), if_exists)


ACTIONS: dict[str, Callable[[Parser], st.AlterAction]] = {
    "ADD SCHEDULE": lambda p: st.SetSchedule(_schedule(p)),
    "ADD TRIGGER": lambda p: st.SetSchedule(_trigger(p)),
    "ALTER SCHEDULE": lambda p: st.SetSchedule(_schedule(p), replace=True),
    "ALTER TRIGGER": lambda p: st.SetSchedule(_trigger(p), replace=True),
    "DROP SCHEDULE": lambda _: st.DropSchedule(),
    "DROP TRIGGER": lambda _: st.DropSchedule(),
    "SET TBLPROPERTIES": lambda p: st.SetProperties(_properties(p)),
    "UNSET TBLPROPERTIES": _unset,
    "SET REFRESH POLICY": lambda p: st.SetPolicy(_policy(p)),
}
"""What ALTER can do."""

STATEMENTS: dict[str, Callable[[Parser], st.Statement | None]] = {
    "CREATE": _create,
    "EXPLAIN": _explain,
    "REFRESH": _refresh,
    "DROP": _drop,
    "SHOW": _show,
    "DESCRIBE": _describe,
    "DESC": _describe,
    "ALTER": _alter,
}
"""The first word of every statement that may be rennet's; its reader returns None when it is Spark's."""
