"""Statements as data, and below that statements as text: the tokens they are read from.

Names are kept as written, one string per part and without quotes: resolving them is the catalog's work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from rennet.errors import Policy
from rennet.sql.schedule import Schedule

Name: TypeAlias = tuple[str, ...]
Properties: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ColumnSpec:
    """One entry of a view's column list: a name and, perhaps, a comment."""

    name: str
    comment: str | None = None


@dataclass(frozen=True)
class CreateMaterializedView:
    """`CREATE [OR REPLACE] MATERIALIZED VIEW [IF NOT EXISTS] …`; `query` is the text after AS, as written."""

    name: Name
    query: str
    or_replace: bool = False
    if_not_exists: bool = False
    columns: tuple[ColumnSpec, ...] = ()
    comment: str | None = None
    properties: Properties = ()
    partitioned_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    policy: Policy = Policy.AUTO
    schedule: Schedule | None = None


@dataclass(frozen=True)
class RefreshMaterializedView:
    """`REFRESH MATERIALIZED VIEW v [FULL]`."""

    name: Name
    full: bool = False


@dataclass(frozen=True)
class ExplainMaterializedView:
    """`EXPLAIN` of a view that exists (`name`) or of one that would be created (`create`): one of the two."""

    name: Name | None = None
    create: CreateMaterializedView | None = None
    extended: bool = False


@dataclass(frozen=True)
class DropMaterializedView:
    """`DROP MATERIALIZED VIEW [IF EXISTS] v`."""

    name: Name
    if_exists: bool = False


@dataclass(frozen=True)
class ShowMaterializedViews:
    """`SHOW MATERIALIZED VIEWS [IN schema] [LIKE 'pattern']`."""

    in_schema: Name | None = None
    like: str | None = None


@dataclass(frozen=True)
class DescribeMaterializedView:
    """`DESCRIBE MATERIALIZED VIEW [EXTENDED] v`."""

    name: Name
    extended: bool = False


@dataclass(frozen=True)
class SetSchedule:
    """`ADD SCHEDULE|TRIGGER …` of a view without one, or (`replace`) `ALTER SCHEDULE|TRIGGER …`."""

    schedule: Schedule
    replace: bool = False


@dataclass(frozen=True)
class DropSchedule:
    """`DROP SCHEDULE` or `DROP TRIGGER`: the view is then refreshed by hand only."""


@dataclass(frozen=True)
class SetProperties:
    """`SET TBLPROPERTIES (…)`."""

    properties: Properties


@dataclass(frozen=True)
class UnsetProperties:
    """`UNSET TBLPROPERTIES [IF EXISTS] (…)`."""

    keys: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True)
class SetPolicy:
    """`SET REFRESH POLICY …`."""

    policy: Policy


AlterAction: TypeAlias = SetSchedule | DropSchedule | SetProperties | UnsetProperties | SetPolicy


@dataclass(frozen=True)
class AlterMaterializedView:
    """`ALTER MATERIALIZED VIEW v <action>`."""

    name: Name
    action: AlterAction


Statement: TypeAlias = (
    CreateMaterializedView
    | RefreshMaterializedView
    | ExplainMaterializedView
    | DropMaterializedView
    | ShowMaterializedViews
    | DescribeMaterializedView
    | AlterMaterializedView
)


# -- tokens


@dataclass(frozen=True)
class Token:
    """A piece of the text; `kind` is a group of `TOKEN`, or `end`."""

    kind: str
    text: str
    start: int

    @property
    def word(self) -> str:
        """The keyword this may be, or nothing."""
        return self.text.upper() if self.kind == "word" else ""


TOKEN = re.compile(
    r"""(?P<space>    \s+ | --(?:\\\n|[^\r\n])* )
      | (?P<comment>  /\* )
      | (?P<raw>      [rR](?:'[^']*'|"[^"]*") )
      | (?P<string>   '(?:[^'\\]|\\.|'')*+' | "(?:[^"\\]|\\.|"")*+" )
      | (?P<quoted>   `(?:[^`]|``)*+` )
      | (?P<code>     (?P<tag>\$\w*\$).*?(?P=tag) )
      | (?P<number>   -?\d+(?:\.\d+)?\b )
      | (?P<word>     \w+ )
      | (?P<unclosed> ['"`] )
      | (?P<symbol>   . )""",
    re.VERBOSE | re.DOTALL,
)
"""Spark's tokens, as far as they matter to where a statement ends and to what a header says."""

ESCAPE = re.compile(
    r"""\\u([0-9A-Fa-f]{4})
      | \\U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})
      | \\([01][0-7]{2})
      | \\(.)
      | (''|"")""",
    re.VERBOSE | re.DOTALL,
)
ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


def _tokens(text: str) -> Iterator[Token]:
    """The tokens of the text without space and comments, then `end` for ever."""
    at = 0
    while match := TOKEN.match(text, at):
        start, at, kind = at, match.end(), match.lastgroup or ""
        if kind == "comment":
            kind, at = _skip_comment(text, start)
        if kind == "unclosed":
            at = len(text)
        if kind != "space":
            yield Token(kind, text[start:at], start)
    while True:
        yield Token("end", "", len(text.rstrip()))


def _skip_comment(text: str, start: int) -> tuple[str, int]:
    """Where the comment that starts here ends; comments nest."""
    depth = 0
    for edge in re.finditer(r"/\*|\*/", text[start:]):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return "space", start + edge.end()
    return "unclosed", len(text)


def unquote(token: Token) -> str:
    """The value of a string literal, by Spark's escapes."""
    if token.kind == "raw":
        return token.text[2:-1]

    def plain(match: re.Match[str]) -> str:
        utf16, utf32, octal, char, double = match.groups()
        if double:
            return double[:1] if double[0] == token.text[0] else double
        if char:
            return ESCAPED.get(char, char)
        return chr(int(octal, 8) if octal else int(utf16 or utf32, 16))

    value = ESCAPE.sub(plain, token.text[1:-1])
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Tokens:
    """The tokens of a text, one after the other. A phrase is keywords with a space between."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self._source = _tokens(text)
        self._ahead: list[Token] = []

    def peek(self, ahead: int = 0) -> Token:
        while len(self._ahead) <= ahead:
            self._ahead.append(next(self._source))
        return self._ahead[ahead]

    def take(self) -> Token:
        token = self.peek()
        self.at = token.start + len(token.text)
        return self._ahead.pop(0)

    def sees(self, phrase: str) -> bool:
        return all(self.peek(i).word == word for i, word in enumerate(phrase.split()))

    def accept(self, phrase: str) -> bool:
        seen = self.sees(phrase)
        for _ in phrase.split() if seen else ():
            self.take()
        return seen

    def symbol(self, symbol: str) -> bool:
        return self.peek().text == symbol and bool(self.take())

    def ended(self) -> bool:
        return self.peek().text in ("", ";")

    def rest(self, start: int) -> str:
        """The text from `start` to the end of the statement, as written."""
        while not self.ended():
            self.take()
        return self.text[start : self.peek().start].strip()

    def show(self, token: Token) -> tuple[int, int, str]:
        """The token's line and column, counted from 1, and that line with a caret below the token."""
        line, left = self.text.count("\n", 0, token.start) + 1, self.text.rfind("\n", 0, token.start) + 1
        column = token.start - left
        skip = max(0, column - 60)
        shown = self.text[left:].partition("\n")[0][skip : skip + 100].replace("\t", " ").rstrip()
        width = max(1, min(len(token.text), len(shown) - (column - skip)))
        caret = " " * (column - skip) + "^" * width
        return line, column + 1, f"  {line} | {shown}\n  {' ' * len(str(line))} | {caret}"
