"""A shop with stores, customers who move, prices with a history, orders, returns and stock."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from tests.analytics.tables import Dice, Row, Table

FIRST, LAST = date(2023, 1, 1), date(2024, 6, 30)
FOREVER = date(9999, 12, 31)
CUSTOMERS, PRODUCTS, STORES, ORDERS = 24, 16, 6, 90

REGIONS: list[Row] = [
    (1, "North", "SE"), (2, "South", "IT"), (3, "East", "PL"), (4, "West", "FR"), (5, "Overseas", None),
]  # fmt: skip
CATEGORIES: list[Row] = [
    (1, "All", None), (2, "Food", 1), (3, "Home", 1), (4, "Cheese", 2), (5, "Fruit", 2), (6, "Kitchen", 3),
    (7, "Garden", 3), (8, "Seeds", 7),
]  # fmt: skip
SUPPLIERS: list[Row] = [
    (1, "Alp Dairy", "CH"), (2, "Orchard & Co", "PL"), (3, "Forge", "SE"), (4, "Sprout", "FR"),
    (5, "Idle", None),
]  # fmt: skip
PROMOTIONS: list[Row] = [
    (1, "Spring", date(2023, 3, 1), date(2023, 4, 15), 10),
    (2, "Summer", date(2023, 6, 15), date(2023, 8, 31), 15),
    (3, "Harvest", date(2023, 9, 1), date(2023, 10, 31), 5),
    (4, "Spring", date(2024, 3, 1), date(2024, 4, 15), 12),
    (5, "Never", date(2024, 5, 1), None, None),
]
STATUSES = ("shipped", "shipped", "shipped", "delivered", "delivered", "open", "cancelled", None)


def _stores(dice: Dice) -> list[Row]:
    closed = {5: date(2024, 2, 29)}
    return [
        (n, f"Store {n}", dice.maybe(dice.randint(1, 5)), dice.day(date(2020, 1, 1), FIRST), closed.get(n))
        for n in range(1, STORES + 1)
    ]


def _customers(dice: Dice) -> list[Row]:
    rows: list[Row] = []
    for n in range(1, CUSTOMERS + 1):
        email = dice.maybe(f"c{n % 20}@{'Example' if n % 7 == 0 else 'example'}.com")
        segment = dice.maybe(dice.choice(["consumer", "business", "vip"]))
        city = dice.maybe(dice.choice(["Lund", "Bari", "Lodz", "Lyon"]))
        region = dice.maybe(dice.randint(1, 5))
        rows.append((n, f"Customer {n % 22}", email, city, region, segment, dice.day(FIRST, LAST)))
    return rows


def _products(dice: Dice) -> list[Row]:
    return [
        (
            n,
            f"Product {n}",
            dice.maybe(dice.randint(4, 8)),
            dice.maybe(dice.randint(1, 4)),
            price,
            price * 6 / 10,
        )
        for n in range(1, PRODUCTS + 1)
        for price in [dice.money(1, 60)]
    ]


def _prices(dice: Dice, products: list[Row]) -> list[Row]:
    """Up to three prices per product, one after the other without a gap; some products have none."""
    rows: list[Row] = []
    for product in products[:-2]:
        start, price = FIRST, Decimal(product[4])
        for _ in range(dice.randint(0, 2)):
            end = start + timedelta(days=dice.randint(60, 200))
            rows.append((product[0], price, start, end))
            start, price = end, price + dice.money(0, 5)
        rows.append((product[0], price, start, FOREVER))
    return rows


def _history(dice: Dice, customers: list[Row]) -> list[Row]:
    """Where customers lived and what they were, valid_to exclusive and NULL for the present."""
    rows: list[Row] = []
    for customer in customers:
        start = FIRST
        if dice.random() < 0.5:
            moved = dice.day(date(2023, 4, 1), date(2024, 3, 31))
            rows.append((customer[0], "consumer", dice.choice(["Lund", "Bari"]), start, moved))
            start = moved
        rows.append((customer[0], customer[5], customer[3], start, None))
    return rows


def _orders(dice: Dice) -> list[Row]:
    return [
        (
            1000 + n,
            dice.maybe(dice.skewed(CUSTOMERS + 2), 0.05),
            dice.maybe(dice.randint(1, STORES)),
            dice.moment(FIRST, LAST),
            dice.choice(STATUSES),
            dice.maybe(dice.randint(1, 4), 0.7),
        )
        for n in range(ORDERS)
    ]


def _items(dice: Dice, orders: list[Row], products: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for order in orders:
        for line in range(1, dice.randint(1, 4)):
            product = dice.skewed(PRODUCTS + 1)
            price = products[product - 1][4] if product <= PRODUCTS else dice.money(1, 9)
            discount = dice.maybe(Decimal(dice.choice([0, 0, 5, 10])) / 100)
            rows.append((order[0], line, product, dice.randint(1, 5), price, discount))
    return [*rows, rows[3], rows[10]]


def _returns(dice: Dice, items: list[Row]) -> list[Row]:
    taken = dice.sample(items, 14)
    reasons = ["broken", "late", "wrong", None]
    return [
        (n, item[0], item[1], 1, dice.choice(reasons), dice.day(date(2023, 6, 1), LAST))
        for n, item in enumerate(taken, 1)
    ]


def _stock(dice: Dice) -> list[Row]:
    kinds = ["in", "in", "out", "out", "count"]
    return [
        (
            n,
            dice.skewed(PRODUCTS),
            dice.randint(1, STORES),
            dice.day(FIRST, LAST),
            dice.choice(kinds),
            dice.randint(1, 40),
        )
        for n in range(1, 71)
    ]


def _targets(dice: Dice) -> list[Row]:
    months = [date(2023 + m // 12, m % 12 + 1, 1) for m in range(18)]
    return [(store, month, dice.money(50, 400)) for store in range(1, STORES) for month in months[store::2]]


def tables() -> dict[str, Table]:
    """All tables by name."""
    dice = Dice(4)
    customers, products, orders = _customers(dice), _products(dice), _orders(dice)
    items = _items(dice, orders, products)
    money = "DECIMAL(10,2)"
    return {
        "regions": Table("region_id INT, region STRING, country STRING", REGIONS),
        "stores": Table("store_id INT, store STRING, region_id INT, opened DATE, closed DATE", _stores(dice)),
        "customers": Table(
            """customer_id INT, name STRING, email STRING, city STRING, region_id INT, segment STRING,
               joined DATE""",
            customers,
        ),
        "customer_history": Table(
            "customer_id INT, segment STRING, city STRING, valid_from DATE, valid_to DATE",
            _history(dice, customers),
        ),
        "categories": Table("category_id INT, category STRING, parent_id INT", CATEGORIES),
        "suppliers": Table("supplier_id INT, supplier STRING, country STRING", SUPPLIERS),
        "products": Table(
            f"""product_id INT, product STRING, category_id INT, supplier_id INT, list_price {money},
               cost {money}""",
            products,
        ),
        "prices": Table(
            f"product_id INT, price {money}, valid_from DATE, valid_to DATE", _prices(dice, products)
        ),
        "promotions": Table(
            "promotion_id INT, promotion STRING, starts DATE, ends DATE, percent INT", PROMOTIONS
        ),
        "orders": Table(
            """order_id INT, customer_id INT, store_id INT, ordered_at TIMESTAMP, status STRING,
               promotion_id INT""",
            orders,
        ),
        "order_items": Table(
            f"""order_id INT, line INT, product_id INT, quantity INT, unit_price {money},
               discount DECIMAL(4,2)""",
            items,
        ),
        "returns": Table(
            "return_id INT, order_id INT, line INT, quantity INT, reason STRING, returned_on DATE",
            _returns(dice, items),
        ),
        "stock_moves": Table(
            "move_id INT, product_id INT, store_id INT, moved_on DATE, kind STRING, quantity INT",
            _stock(dice),
        ),
        "targets": Table(f"store_id INT, month DATE, target {money}", _targets(dice)),
    }
