"""Values that Delta cannot keep in a partition column: refused before they become NULL.

A partition value is kept as the name of a folder and read back from it. An empty name and Hive's name for
NULL both come back as NULL, and bytes that are not text do not come back at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructType

from rennet.errors import InvalidQueryError, ValueNotStorableError
from rennet.storage.names import quote

LOST = ("", "__HIVE_DEFAULT_PARTITION__")
MARK = "rennet: not storable as a partition: "


def check_partitions(schema: StructType, partitioned_by: Sequence[str]) -> None:
    """A column of bytes cannot be a partition column."""
    wanted = {name.lower() for name in partitioned_by}
    for column in schema.fields:
        if column.name.lower() in wanted and column.dataType.typeName() == "binary":
            raise InvalidQueryError(
                f"Column {column.name} is BINARY, which Delta cannot keep as a partition column.",
                f"Use CLUSTER BY, or PARTITIONED BY hex({column.name}).",
            )


def guarded(rows: DataFrame, partitioned_by: Sequence[str]) -> DataFrame:
    """The rows, which fail when they are written if a partition value would be stored as another."""
    wanted = set(partitioned_by)
    texts = [c.name for c in rows.schema if c.name in wanted and isinstance(c.dataType, StringType)]
    if not texts:
        return rows
    return rows.withColumns({name: _checked(name) for name in texts})


def _checked(name: str) -> Column:
    column = F.col(quote(name))
    complaint = F.concat(F.lit(f"{MARK}{name} is '"), column, F.lit("'"))
    return F.when(~column.isin(*LOST) | column.isNull(), column).otherwise(F.raise_error(complaint))


def complaint_of(error: Exception) -> ValueNotStorableError | None:
    """The clear error, if that is why a write failed."""
    _, found, rest = str(error).partition(MARK)
    if not found:
        return None
    said = rest.partition("\n")[0].partition(" SQLSTATE")[0].rstrip(". ")
    return ValueNotStorableError(
        f"The partition column {said}, which Delta would store as NULL; nothing was written.",
        "Use CLUSTER BY instead of PARTITIONED BY, or replace the value in the query.",
    )
