"""The project both contenders run: twelve materialized views on three levels, over three Delta tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

ROWS_PER_FILE = 1_000_000
PROPERTIES = "'delta.enableDeletionVectors' = 'true'"

COLUMNS = {
    "orders": "id, id % {customers} AS customer, id % {products} AS product, "
    "date_add(DATE'2024-01-01', CAST(id % 730 AS INT)) AS day, "
    "CAST(id * 37 % 100000 / 100 AS DECIMAL(12, 2)) AS amount, id % 11 AS status",
    "customers": "id, concat('customer ', id) AS name, concat('region ', id % 25) AS region, "
    "id % 9 <> 0 AS active",
    "products": "id, concat('category ', id % 40) AS category, CAST(id % 500 + 1 AS DECIMAL(12, 2)) AS price",
}

SOURCES = '''"""The tables outside of the pipeline."""

from pyspark import pipelines as dp
from pyspark.sql import SparkSession

spark = SparkSession.active()


@dp.temporary_view
def orders():
    return spark.read.format("delta").load("{folder}/orders")


@dp.temporary_view
def customers():
    return spark.read.format("delta").load("{folder}/customers")


@dp.temporary_view
def products():
    return spark.read.format("delta").load("{folder}/products")
'''

VIEWS = {
    "valid_orders": "SELECT id, customer, product, day, amount FROM orders WHERE status <> 3",
    "active_customers": "SELECT id AS customer, name, region FROM customers WHERE active",
    "priced_products": "SELECT id AS product, category, price * 2 AS list_price FROM products",
    "order_days": "SELECT day, status, COUNT(*) AS orders, SUM(amount) AS total "
    "FROM orders GROUP BY day, status",
    "order_details": "SELECT o.id, o.day, o.amount, c.region, p.category FROM valid_orders o "
    "JOIN active_customers c ON o.customer = c.customer JOIN priced_products p ON o.product = p.product",
    "customer_totals": "SELECT customer, SUM(amount) AS total, COUNT(*) AS orders, MAX(day) AS last_day "
    "FROM valid_orders GROUP BY customer",
    "product_totals": "SELECT product, SUM(amount) AS total, COUNT(*) AS orders "
    "FROM valid_orders GROUP BY product",
    "month_totals": "SELECT trunc(day, 'MM') AS month, SUM(total) AS total, SUM(orders) AS orders "
    "FROM order_days GROUP BY trunc(day, 'MM')",
    "region_months": "SELECT region, trunc(day, 'MM') AS month, SUM(amount) AS total, COUNT(*) AS orders "
    "FROM order_details GROUP BY region, trunc(day, 'MM')",
    "category_sales": "SELECT category, SUM(amount) AS total, COUNT(*) AS orders "
    "FROM order_details GROUP BY category",
    "good_customers": "SELECT c.customer, c.name, c.region, t.total, t.orders "
    "FROM customer_totals t JOIN active_customers c ON t.customer = c.customer WHERE t.total >= 500",
    "category_products": "SELECT p.category, COUNT(*) AS products, SUM(t.total) AS total "
    "FROM product_totals t JOIN priced_products p ON t.product = p.product GROUP BY p.category",
}
"""Four views of the sources, four of those, four of these."""

SPEC = """name: bench
storage: {storage}
database: default
libraries:
  - glob:
      include: transformations/**
"""


@dataclass
class Sources:
    """The three tables, and what happens to them."""

    spark: SparkSession
    folder: Path
    rows: int
    turn: int = 0

    @property
    def sizes(self) -> dict[str, int]:
        return {
            "orders": self.rows,
            "customers": max(50, self.rows // 20),
            "products": max(20, self.rows // 100),
        }

    def create(self) -> None:
        for name, size in self.sizes.items():
            columns = COLUMNS[name].format(**self.sizes)
            files = 1 + size // ROWS_PER_FILE
            self.spark.sql(
                f"CREATE TABLE {self._table(name)} USING delta TBLPROPERTIES ({PROPERTIES}) "
                f"AS SELECT {columns} FROM range(0, {size}, 1, {files})"
            )

    def change(self, changes: int) -> None:
        """Orders that arrive and orders that change, half of each; one customer in fifty of those moves."""
        self.turn += 1
        half, few = max(1, changes // 2), max(1, changes // 50)
        first = self.rows + (self.turn - 1) * half
        columns = COLUMNS["orders"].format(**self.sizes)
        self.spark.sql(
            f"INSERT INTO {self._table('orders')} SELECT {columns} FROM range({first}, {first + half}, 1, 1)"
        )
        step = max(1, self.rows // half)
        self.spark.sql(
            f"UPDATE {self._table('orders')} SET amount = amount + 1 "
            f"WHERE id < {self.rows} AND id % {step} = {self.turn % step}"
        )
        start = self.turn * few % self.sizes["customers"]
        self.spark.sql(
            f"UPDATE {self._table('customers')} SET region = 'region {self.turn % 25}' "
            f"WHERE id >= {start} AND id < {start + few}"
        )

    def _table(self, name: str) -> str:
        return f"delta.`{self.folder / name}`"


def write(folder: Path, sources: Path) -> Path:
    """The project's files; gives its specification."""
    code = folder / "transformations"
    code.mkdir(parents=True)
    (code / "sources.py").write_text(SOURCES.replace("{folder}", str(sources)))
    statements = [f"CREATE MATERIALIZED VIEW {name} AS\n{query};\n" for name, query in VIEWS.items()]
    (code / "views.sql").write_text("\n".join(statements))
    spec = folder / "spark-pipeline.yml"
    spec.write_text(SPEC.format(storage=(folder / "storage").as_uri()))
    return spec
