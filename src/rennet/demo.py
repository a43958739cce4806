"""The demonstration: one view, seven things that happen to it, and what each refresh cost.

Every refresh is timed beside a full recompute of the same data, and checked against the view's own query.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from rennet.api import Engine
from rennet.execute.explain import Explanation
from rennet.execute.record import RefreshResult

T = TypeVar("T")

VIEW = "region_avg_sales"
THROWAWAY = "region_avg_sales_in_full"
QUERY = """\
SELECT c.region, AVG(o.amount) AS avg_order_amount
FROM customers c JOIN orders o ON c.customer_id = o.customer_id
GROUP BY c.region
HAVING c.region IN ('us-east', 'us-west', 'asia')"""

REGIONS = ("us-east", "us-west", "europe", "asia", "africa")
PROPERTIES = "USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
TABLES = (
    f"CREATE TABLE customers (customer_id BIGINT, name STRING, region STRING) {PROPERTIES}",
    "CREATE TABLE orders (order_id BIGINT, customer_id BIGINT, amount DECIMAL(10,2), placed DATE) "
    f"{PROPERTIES}",
)


@dataclass(frozen=True)
class Sizes:
    """How large the demonstration is."""

    customers: int = 50_000
    orders: int = 5_000_000

    @property
    def changed(self) -> int:
        """Orders that arrive, are changed and are deleted."""
        return max(1, min(1_000, self.orders // 100))


@dataclass(frozen=True)
class Step:
    """One thing that happened, and what the refresh after it did."""

    title: str
    statement: str
    technique: str
    reason: str
    rows_deleted: int
    rows_inserted: int
    refresh_seconds: float
    full_seconds: float
    agrees: bool
    explanation: Explanation | None = None
    """What `explain` said just before, where it was asked."""

    @property
    def ratio(self) -> float:
        """How many times longer a full recompute took."""
        return self.full_seconds / self.refresh_seconds

    @property
    def compared(self) -> bool:
        """Whether the ratio says something: the first refresh is itself a full one, and warms Spark up."""
        return "CREATE" not in self.statement

    def to_dict(self) -> dict[str, Any]:
        """This step as plain data, for JSON."""
        made = {key: value for key, value in vars(self).items() if key != "explanation"}
        return {**made, "ratio": self.ratio if self.compared else None}


@dataclass(frozen=True)
class Event:
    """A change to make: its title and statement."""

    title: str
    statement: str
    explain: bool = False


def prepare(engine: Engine, sizes: Sizes) -> None:
    """Create the two source tables and fill them, the same way every time."""
    for statement in TABLES:
        engine.sql(statement)
    names = ", ".join(f"'{region}'" for region in REGIONS)
    engine.sql(
        f"INSERT INTO customers SELECT id, concat('customer ', id), "
        f"element_at(array({names}), cast(1 + id % {len(REGIONS)} AS INT)) FROM range({sizes.customers})"
    )
    engine.sql(f"INSERT INTO orders {_orders(0, sizes.orders, sizes.customers, 1)}")


def _orders(first: int, count: int, customers: int, seed: int) -> str:
    return (
        f"SELECT id, cast(rand({seed}) * {customers} AS BIGINT), "
        f"cast(5 + 995 * rand({seed + 1}) AS DECIMAL(10,2)), "
        f"date_add(DATE'2025-01-01', cast(id % 365 AS INT)) FROM range({first}, {first + count}, 1, 8)"
    )


def events(sizes: Sizes) -> tuple[Event, ...]:
    """What happens after the view was created, in order."""
    last, few = sizes.orders, sizes.changed
    more = _orders(last, few, sizes.customers, 3)
    return (
        Event(f"{few:,} orders arrive", f"INSERT INTO orders {more}"),
        Event(
            f"{few:,} orders get another amount",
            f"UPDATE orders SET amount = amount + 1 WHERE order_id >= {last - few} AND order_id < {last}",
        ),
        Event(f"{few:,} orders are deleted", f"DELETE FROM orders WHERE order_id < {few}"),
        Event(
            "a customer moves to another region",
            "UPDATE customers SET region = 'asia' WHERE customer_id = 7",
            explain=True,
        ),
        Event("orders is compacted", "OPTIMIZE orders"),
        Event("nothing happens", ""),
    )


def steps(engine: Engine, sizes: Sizes, doing: Callable[[str], None] = lambda _: None) -> Iterator[Step]:
    """Create the view, then let each event happen and refresh; `doing` is told what is being done."""
    doing("creating the view")
    create = f"CREATE MATERIALIZED VIEW {VIEW} AS\n{QUERY}"
    yield _step(engine, Event("the view is created", create), doing, lambda: _created(engine))
    for event in events(sizes):
        if event.statement:
            doing(event.title)
            engine.sql(event.statement)
        yield _step(engine, event, doing, lambda: engine.refresh(VIEW))


def _created(engine: Engine) -> RefreshResult:
    result = engine.create_materialized_view(VIEW, QUERY)
    assert result is not None
    return result


def _step(
    engine: Engine, event: Event, doing: Callable[[str], None], act: Callable[[], RefreshResult]
) -> Step:
    explanation = engine.explain(VIEW) if event.explain else None
    doing(f"{event.title}: refreshing")
    seconds, result = _timed(act)
    doing(f"{event.title}: recomputing in full, to compare")
    full_seconds, _ = _timed(lambda: _recompute(engine))
    doing(f"{event.title}: verifying")
    return Step(
        event.title,
        event.statement,
        str(result.technique),
        result.reason,
        result.rows_deleted,
        result.rows_inserted,
        seconds,
        full_seconds,
        engine.verify(VIEW).equal,
        explanation,
    )


def _recompute(engine: Engine) -> None:
    """The work of a full refresh: run the query, replace a Delta table by its result."""
    engine.spark.sql(QUERY).write.format("delta").mode("overwrite").saveAsTable(THROWAWAY)


def _timed(act: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    made = act()
    return time.perf_counter() - started, made
