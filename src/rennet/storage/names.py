"""Names of views and of what stores them, always quoted, never interpolated raw."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import SparkSession

from rennet.errors import InvalidNameError

PREFIX = "__mv_"
_PART = re.compile(r"[A-Za-z0-9_]+")
_PARTS = re.compile(r"`((?:[^`]|``)+)`|([^.`\s]+)")


def quote(part: str) -> str:
    """An identifier in backticks."""
    return "`" + part.replace("`", "``") + "`"


def quote_string(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True)
class ViewName:
    """A view's schema and name."""

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def sql(self) -> str:
        return f"{quote(self.schema)}.{quote(self.name)}"

    def backing(self, generation: int) -> ViewName:
        """The table that stores it; each incompatible definition gets the next generation."""
        return ViewName(self.schema, f"{PREFIX}{self.name}__{generation}")


def split_name(text: str) -> tuple[str, ...]:
    """`a.b` or backticked parts as parts; what is neither is an error."""
    parts, position = [], 0
    stripped = text.strip()
    while position < len(stripped):
        found = _PARTS.match(stripped, position)
        if found is None:
            raise _malformed(text)
        parts.append((found[1] or found[2]).replace("``", "`"))
        position = found.end()
        if position < len(stripped):
            if stripped[position] != "." or position + 1 == len(stripped):
                raise _malformed(text)
            position += 1
    if not parts:
        raise _malformed(text)
    return tuple(parts)


def view_name(spark: SparkSession, name: str | tuple[str, ...]) -> ViewName:
    """The full name of a view; the schema is the session's current one unless given."""
    parts = split_name(name) if isinstance(name, str) else name
    if len(parts) == 3 and parts[0] == "spark_catalog":
        parts = parts[1:]
    if len(parts) > 2:
        raise InvalidNameError(
            f"{'.'.join(parts)} names a catalog other than spark_catalog.", "Use schema.name or name."
        )
    for part in parts:
        if not _PART.fullmatch(part):
            raise _malformed(".".join(parts))
    if parts[-1].startswith(PREFIX):
        raise InvalidNameError(f"Names that begin with {PREFIX} are reserved.", "Choose another name.")
    schema = parts[0] if len(parts) == 2 else spark.catalog.currentDatabase()
    return ViewName(schema.lower(), parts[-1].lower())


def _malformed(text: str) -> InvalidNameError:
    return InvalidNameError(
        f"{text!r} is not a name for a materialized view.",
        "Use letters, digits and underscores, with a schema in front if need be: schema.name.",
    )
