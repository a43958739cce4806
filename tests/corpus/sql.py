"""Every SQL query of the corpus, by name."""

from __future__ import annotations

from .sql_aggregates import AGGREGATES, WINDOWS
from .sql_analytics import ANALYTICS
from .sql_expressions import EXPRESSIONS
from .sql_functions import FUNCTIONS
from .sql_joins import JOINS, SUBQUERIES
from .sql_nested import NESTED
from .sql_relations import OBJECTS, ORDERING, PIPES, SETS

FAMILIES: tuple[dict[str, str], ...] = (
    EXPRESSIONS,
    FUNCTIONS,
    NESTED,
    JOINS,
    SUBQUERIES,
    AGGREGATES,
    WINDOWS,
    SETS,
    ORDERING,
    PIPES,
    OBJECTS,
    ANALYTICS,
)

SQL: dict[str, str] = {name: text for family in FAMILIES for name, text in family.items()}
"""Each query's text, for the schema that `data.create` made current."""
