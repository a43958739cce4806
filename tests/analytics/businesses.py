"""The three businesses: their tables, the queries on them by name, and what happens to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rennet.sql.parse import split
from tests.analytics import banking, retail, saas
from tests.analytics.tables import Table

HERE = Path(__file__).parent
NAMED = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
CHANGES = "changes.sql"


@dataclass(frozen=True)
class Business:
    """A folder of questions and the tables they are asked of."""

    name: str
    tables: Callable[[], dict[str, Table]]

    @property
    def themes(self) -> dict[str, dict[str, str]]:
        """The queries of each file, by name."""
        files = sorted(path for path in (HERE / self.name).glob("*.sql") if path.name != CHANGES)
        return {path.stem: {name: text.removesuffix(";") for name, text in blocks(path)} for path in files}

    @property
    def queries(self) -> dict[str, str]:
        """Every query by its name, which is unique within a business."""
        found = [pair for theme in self.themes.values() for pair in theme.items()]
        assert len(dict(found)) == len(found), f"two queries of {self.name} have the same name"
        return dict(found)

    @property
    def changes(self) -> dict[str, list[str]]:
        """The statements of each step, in order."""
        return {name: split(text) for name, text in blocks(HERE / self.name / CHANGES)}


def blocks(path: Path) -> list[tuple[str, str]]:
    """A file's parts, each begun by a line `-- name: …`."""
    _, *parts = NAMED.split(path.read_text())
    return list(zip(parts[::2], (text.strip() for text in parts[1::2]), strict=True))


BUSINESSES = {
    business.name: business
    for business in (
        Business("retail", retail.tables),
        Business("saas", saas.tables),
        Business("banking", banking.tables),
    )
}
