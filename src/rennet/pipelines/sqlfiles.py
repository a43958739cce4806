"""The statements of a pipeline's .sql files.

As in `rennet.sql.parse`, only headers are read here; queries and conditions are Spark SQL, kept as written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rennet.errors import PipelineError, RennetError, StatementError
from rennet.pipelines.cdc.options import CdcOptions
from rennet.pipelines.definitions import Action, Dataset, DatasetKind, Expectation, Flow, Location, Project
from rennet.sql.parse import CLAUSES, Parser
from rennet.storage.names import quote

AUTO_CDC = ("AUTO CDC", "APPLY CHANGES")


class LocatedError(PipelineError):
    """A statement that cannot be read, and where it begins; what follows it in the file is not looked at."""

    def __init__(self, location: Location, error: RennetError) -> None:
        super().__init__(f"{location}: {error.message}", error.hint)
        self.location, self.said, self.code = location, error.message, error.code


@dataclass
class Context:
    """What earlier statements of a file mean for later ones."""

    file: str
    first_line: int
    database: str | None
    project: Project = field(default_factory=Project)
    conf: dict[str, str] = field(default_factory=dict)

    def at(self, p: Parser) -> Location:
        """Where the statement begins."""
        return Location(self.file, self.first_line + p.show(p.peek())[0] - 1)


def read_sql(text: str, file: str, database: str | None) -> Project:
    """What a file defines."""
    context = Context(file, 1, database)
    p = Parser(text)
    while p.peek().kind != "end":
        if p.symbol(";"):
            continue
        where = context.at(p)
        try:
            _statement(p, context, where)
            if not p.ended():
                raise p.expected("the end of the statement")
        except (StatementError, PipelineError) as error:
            raise LocatedError(where, error) from error
    return context.project


def _statement(p: Parser, context: Context, where: Location) -> None:
    if p.accept("SET"):
        _set(p, context)
    elif p.accept("USE"):
        _use(p, context)
    elif p.accept("CREATE"):
        _create(p, context, where)
    else:
        raise p.expected("CREATE, SET or USE")


def _set(p: Parser, context: Context) -> None:
    """`SET key = value`"""
    key, equals, value = p.rest(p.at).partition("=")
    if not equals:
        raise p.expected("a key, = and a value")
    context.conf[key.strip().strip("`")] = value.strip()


def _use(p: Parser, context: Context) -> None:
    """`USE [SCHEMA | DATABASE] s`, `USE CATALOG spark_catalog`"""
    if p.accept("CATALOG"):
        if p.identifier("a catalog") != "spark_catalog":
            raise PipelineError("The catalog must be spark_catalog.")
        return
    p.accept("SCHEMA") or p.accept("DATABASE") or p.accept("NAMESPACE")
    parts = p.name("a schema")
    if len(parts) > 1 and parts[0] != "spark_catalog":
        raise PipelineError("The catalog must be spark_catalog.")
    context.database = parts[-1]


def _create(p: Parser, context: Context, where: Location) -> None:
    p.accept("OR REFRESH") or p.accept("OR REPLACE")
    temporary = p.accept("TEMPORARY") or p.accept("TEMP")
    p.accept("PRIVATE")
    p.accept("LIVE")
    if p.accept("MATERIALIZED VIEW"):
        _stored(p, context, where, DatasetKind.MATERIALIZED_VIEW)
    elif p.accept("STREAMING TABLE") or p.accept("STREAMING LIVE TABLE"):
        _stored(p, context, where, DatasetKind.STREAMING_TABLE)
    elif p.accept("VIEW"):
        kind = DatasetKind.TEMPORARY_VIEW if temporary else DatasetKind.VIEW
        _stored(p, context, where, kind)
    elif p.accept("FLOW"):
        _flow(p, context, where)
    else:
        raise p.expected("MATERIALIZED VIEW, STREAMING TABLE, TEMPORARY VIEW or FLOW")


# -- datasets


def _stored(p: Parser, context: Context, where: Location, kind: DatasetKind) -> None:
    """`name [(columns and constraints)] [clause …] [AS query]`"""
    p.accept("IF NOT EXISTS")
    name = _name(p)
    fields = _columns(p, kind) if p.peek().text == "(" else {}
    expectations = fields.pop("expectations", ())
    fields.update(_clauses(p))
    comment = fields.pop("comment", "")
    dataset = Dataset(name, kind, where, comment, expectations=expectations, **fields)
    query = None
    if p.accept("AS"):
        if p.sees("AUTO CDC") or p.sees("APPLY CHANGES"):
            raise PipelineError(f"{name}: create the streaming table first, then a flow into it.")
        query = p.rest(p.at)
    if not query and kind is not DatasetKind.STREAMING_TABLE:
        raise p.expected("AS and a query")
    context.project.datasets.append(dataset)
    if query:
        context.project.flows.append(
            Flow(name, name, where, query, conf=dict(context.conf), database=context.database)
        )


def _name(p: Parser, what: str = "a name") -> str:
    """A name, each of its parts quoted where it has to be."""
    return ".".join(part if part.isidentifier() else quote(part) for part in p.name(what))


def _clauses(p: Parser) -> dict[str, Any]:
    """What may stand between the columns and AS."""
    fields: dict[str, Any] = {}
    while phrase := next((phrase for phrase in CLAUSES if p.accept(phrase)), None):
        name, read = CLAUSES[phrase]
        value: Any = read(p)
        if name == "properties":
            value = dict(value)
        if name != "using":
            fields[name] = value
    return fields


def _columns(p: Parser, kind: DatasetKind) -> dict[str, Any]:
    """`(name [type] [COMMENT '…'], …, CONSTRAINT c EXPECT (…) …)`: new names, or columns with types."""
    p.symbol("(")
    expectations: list[Expectation] = []
    names: list[tuple[str, str]] = []
    typed: list[str] = []
    while True:
        if p.accept("CONSTRAINT"):
            expectations.append(_constraint(p))
        else:
            start = p.peek().start
            name = p.identifier("a column name")
            plain = p.peek().word == "COMMENT" or p.peek().text in (",", ")")
            comment = p.string("a comment") if plain and p.accept("COMMENT") else ""
            _skip(p, (",", ")"), brackets="(<")
            (names.append((name, comment)) if plain else typed.append(p.text[start : p.peek().start].strip()))
        if p.symbol(")"):
            break
        if not p.symbol(","):
            raise p.expected(", or )")
    if names and typed:
        raise PipelineError("Give a type to every column or to none.")
    if names and kind is DatasetKind.STREAMING_TABLE:
        raise PipelineError("The columns of a streaming table need types.")
    return {
        "columns": tuple(names),
        "schema": ", ".join(typed) or None,
        "expectations": tuple(expectations),
    }


def _constraint(p: Parser) -> Expectation:
    """`name EXPECT (condition) [ON VIOLATION {DROP ROW | FAIL UPDATE}]`"""
    name = p.identifier("a constraint name")
    p.expect("EXPECT")
    condition = _parenthesized(p)
    action = Action.WARN
    if p.accept("ON VIOLATION"):
        if p.accept("DROP ROW"):
            action = Action.DROP
        elif p.accept("FAIL UPDATE"):
            action = Action.FAIL
        else:
            raise p.expected("DROP ROW or FAIL UPDATE")
    return Expectation(name, condition, action)


def _parenthesized(p: Parser) -> str:
    """`(text)`, as written."""
    if not p.symbol("("):
        raise p.expected("(")
    start = p.peek().start
    _skip(p, (")",))
    text = p.text[start : p.peek().start].strip()
    if not p.symbol(")"):
        raise p.expected(")")
    return text


def _skip(p: Parser, until: tuple[str, ...], words: tuple[str, ...] = (), brackets: str = "([") -> None:
    """Go to the next of these symbols or phrases that is not inside brackets."""
    depth = 0
    closing = brackets.translate(str.maketrans("([<", ")]>"))
    while not p.ended():
        text = p.peek().text
        if depth == 0 and (text in until or any(p.sees(phrase) for phrase in words)):
            return
        depth += text in tuple(brackets)
        depth -= text in tuple(closing)
        p.take()


# -- flows


def _flow(p: Parser, context: Context, where: Location) -> None:
    """`name AS {INSERT INTO [ONCE] t BY NAME query | AUTO CDC [ONCE] INTO t …}`"""
    name = _name(p)
    if p.accept("COMMENT"):
        p.string("a comment")
    p.expect("AS")
    if p.accept("INSERT INTO"):
        once = p.accept("ONCE")
        target = _name(p)
        p.expect("BY NAME")
        flow = Flow(
            name, target, where, p.rest(p.at), conf=dict(context.conf), once=once, database=context.database
        )
    elif any(p.accept(phrase) for phrase in AUTO_CDC):
        p.expect("INTO")
        flow = _auto_cdc(p, name, where, context)
    else:
        raise p.expected("INSERT INTO or AUTO CDC INTO")
    context.project.flows.append(flow)


CDC_CLAUSES: dict[str, str] = {
    "KEYS": "keys",
    "IGNORE NULL UPDATES": "ignore_null_updates",
    "APPLY AS DELETE WHEN": "apply_as_deletes",
    "APPLY AS TRUNCATE WHEN": "apply_as_truncates",
    "SEQUENCE BY": "sequence_by",
    "COLUMNS": "columns",
    "STORED AS SCD TYPE": "scd_type",
    "TRACK HISTORY ON": "tracked",
}


def _auto_cdc(p: Parser, name: str, where: Location, context: Context) -> Flow:
    """`t FROM STREAM(source) KEYS (…) [clause …]`"""
    target = _name(p)
    p.expect("FROM")
    streams = p.accept("STREAM")
    inside = streams and p.symbol("(")
    source = _name(p, "a source")
    if inside and not p.symbol(")"):
        raise p.expected(")")
    given: dict[str, Any] = {}
    while not p.ended():
        phrase = next((phrase for phrase in CDC_CLAUSES if p.accept(phrase)), None)
        if phrase is None:
            raise p.expected(f"one of {', '.join(CDC_CLAUSES)}")
        field_name = CDC_CLAUSES[phrase]
        if field_name in given:
            raise p.error(f"a second {phrase} is not allowed.")
        given[field_name] = READERS[field_name](p)
    options = _options(given)
    return Flow(
        name, target, where, source=source, cdc=options, conf=dict(context.conf), database=context.database
    )


def _options(given: dict[str, Any]) -> CdcOptions:
    column_list, except_column_list = given.pop("columns", (None, None))
    tracked, untracked = given.pop("tracked", (None, None))
    return CdcOptions(
        given.pop("keys", ()),
        given.pop("sequence_by", ()),
        column_list=column_list,
        except_column_list=except_column_list,
        track_history_column_list=tracked,
        track_history_except_column_list=untracked,
        **given,
    )


def _expression(p: Parser) -> str:
    """SQL up to the next clause."""
    start = p.peek().start
    _skip(p, (), tuple(CDC_CLAUSES))
    text = p.text[start : p.peek().start].strip()
    if not text:
        raise p.expected("an expression")
    return text


def _sequence(p: Parser) -> tuple[str, ...]:
    """`expression`, or `STRUCT(expression, …)` for several, which are compared one after the other."""
    return (_expression(p),)


def _scd_type(p: Parser) -> int:
    token = p.take()
    if token.text not in ("1", "2"):
        raise p.error("the SCD type must be 1 or 2.", token)
    return int(token.text)


def _selection(p: Parser) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """`(a, b)`, `a, b` or `* EXCEPT (a, b)`: what is in, or what is out."""
    if p.symbol("*"):
        p.expect("EXCEPT")
        return None, _list(p)
    return _list(p), None


def _list(p: Parser) -> tuple[str, ...]:
    if p.peek().text == "(":
        return p.listing(lambda: p.identifier("a column name"), "column names", str.lower)
    names = [p.identifier("a column name")]
    while p.symbol(","):
        names.append(p.identifier("a column name"))
    return tuple(names)


READERS: dict[str, Callable[[Parser], Any]] = {
    "keys": _list,
    "ignore_null_updates": lambda _: True,
    "apply_as_deletes": _expression,
    "apply_as_truncates": _expression,
    "sequence_by": _sequence,
    "columns": _selection,
    "scd_type": _scd_type,
    "tracked": _selection,
}
