"""A software service: accounts, users, subscriptions, invoices, usage events, experiments, tickets."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

from tests.analytics.tables import Dice, Row, Table

FIRST, LAST = date(2024, 1, 1), date(2024, 4, 30)
ACCOUNTS, USERS = 12, 30
KINDS = ("visit", "visit", "visit", "signup", "trial", "upgrade", "export", "invite", "error")
PAGES = ("/home", "/pricing", "/docs", "/app", "/app/report", None)

PLANS: list[Row] = [
    ("free", Decimal(0), 3), ("team", Decimal("49.00"), 10), ("business", Decimal("199.50"), 50),
    ("legacy", None, None),
]  # fmt: skip
FEATURES: list[Row] = [
    ("visit", "web"), ("signup", "growth"), ("trial", "growth"), ("upgrade", "growth"), ("export", "product"),
    ("invite", "product"), ("dashboard", "product"),
]  # fmt: skip


def _accounts(dice: Dice) -> list[Row]:
    rows: list[Row] = []
    for n in range(1, ACCOUNTS + 1):
        created = dice.day(date(2023, 10, 1), date(2024, 3, 15))
        left = dice.maybe(created + timedelta(days=dice.randint(30, 150)), 0.7)
        country = dice.maybe(dice.choice(["DE", "FR", "US", "BR"]))
        rows.append((n, f"Account {n}", dice.choice(["free", "team", "business"]), country, created, left))
    return rows


def _users(dice: Dice) -> list[Row]:
    roles = ["admin", "member", "member", "guest", None]
    return [
        (
            n,
            dice.maybe(dice.skewed(ACCOUNTS), 0.05),
            dice.maybe(f"user{n % 27}@mail.{dice.choice(['com', 'org'])}"),
            dice.choice(roles),
            dice.moment(date(2023, 11, 1), date(2024, 3, 31)),
        )
        for n in range(1, USERS + 1)
    ]


def _subscriptions(dice: Dice, accounts: list[Row]) -> list[Row]:
    """One to three spells per account; the last may be open."""
    rows: list[Row] = []
    price = {"free": Decimal(0), "team": Decimal("49.00"), "business": Decimal("199.50")}
    for account in accounts:
        start = account[4]
        for spell in range(dice.randint(1, 3)):
            plan = dice.choice(list(price))
            end = start + timedelta(days=dice.randint(20, 70))
            seats = dice.randint(1, 12)
            rows.append(
                (
                    len(rows) + 1,
                    account[0],
                    plan,
                    start,
                    dice.maybe(end, 0.3 * spell),
                    seats,
                    price[plan] * seats,
                )
            )
            start = end + timedelta(days=dice.choice([0, 0, 0, 12]))
    return rows


def _invoices(dice: Dice, accounts: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for n in range(1, 41):
        account = dice.choice(accounts)
        issued = dice.day(FIRST, LAST)
        paid = dice.maybe(issued + timedelta(days=dice.randint(1, 60)), 0.3)
        rows.append(
            (n, account[0], issued, issued + timedelta(days=30), paid, dice.maybe(dice.money(20, 900), 0.05))
        )
    return [*rows, rows[5]]


def _events(dice: Dice) -> list[Row]:
    """Bursts of a user's events, minutes apart, with a few sent twice."""
    rows: list[Row] = []
    while len(rows) < 170:
        user = dice.maybe(dice.skewed(USERS), 0.03)
        at = dice.moment(FIRST, LAST)
        for _ in range(dice.randint(1, 5)):
            tags = dice.maybe(dice.sample(["beta", "mobile", "eu", "slow"], dice.randint(0, 2)))
            body = f'{{"ms": {dice.randint(5, 900)}, "browser": "{dice.choice(["ff", "cr", "sf"])}"}}'
            rows.append(
                (len(rows) + 1, user, at, dice.choice(KINDS), dice.choice(PAGES), tags, dice.maybe(body))
            )
            at += timedelta(minutes=dice.choice([1, 5, 12, 29, 31, 45]))
    return [*rows, rows[7], rows[30], rows[31]]


def _assignments(dice: Dice) -> list[Row]:
    return [
        (
            user,
            dice.choice(["checkout", "banner"]),
            dice.choice(["control", "treatment"]),
            dice.moment(FIRST, date(2024, 2, 28)),
        )
        for user in range(1, USERS, 1)
        if user % 4 != 0
    ]


def _tickets(dice: Dice) -> list[Row]:
    rows: list[Row] = []
    for n in range(1, 31):
        opened: datetime = dice.moment(FIRST, LAST)
        closed = dice.maybe(opened + timedelta(hours=dice.randint(1, 200)), 0.25)
        priority = dice.choice(["low", "normal", "high", None])
        rows.append(
            (
                n,
                dice.skewed(ACCOUNTS),
                dice.maybe(dice.skewed(USERS)),
                opened,
                closed,
                priority,
                dice.maybe(dice.randint(1, 5), 0.3),
            )
        )
    return rows


def _usage(dice: Dice) -> list[Row]:
    """Metered use per account and day, with days missing."""
    return [
        (account, FIRST + timedelta(days=day), dice.maybe(dice.randint(0, 300), 0.05))
        for account in range(1, 6)
        for day in sorted(dice.sample(range(60), 18))
    ]


def tables() -> dict[str, Table]:
    """All tables by name."""
    dice = Dice(7)
    accounts = _accounts(dice)
    money = "DECIMAL(10,2)"
    return {
        "plans": Table(f"plan STRING, monthly_price {money}, seats INT", PLANS),
        "features": Table("kind STRING, area STRING", FEATURES),
        "accounts": Table(
            "account_id INT, account STRING, plan STRING, country STRING, created_on DATE, churned_on DATE",
            accounts,
        ),
        "users": Table(
            "user_id INT, account_id INT, email STRING, role STRING, created_at TIMESTAMP", _users(dice)
        ),
        "subscriptions": Table(
            f"""subscription_id INT, account_id INT, plan STRING, started_on DATE, ended_on DATE, seats INT,
               mrr {money}""",
            _subscriptions(dice, accounts),
        ),
        "invoices": Table(
            f"invoice_id INT, account_id INT, issued_on DATE, due_on DATE, paid_on DATE, amount {money}",
            _invoices(dice, accounts),
        ),
        "events": Table(
            """event_id INT, user_id INT, happened_at TIMESTAMP, kind STRING, page STRING, tags ARRAY<STRING>,
               body STRING""",
            _events(dice),
        ),
        "assignments": Table(
            "user_id INT, experiment STRING, variant STRING, assigned_at TIMESTAMP", _assignments(dice)
        ),
        "tickets": Table(
            """ticket_id INT, account_id INT, user_id INT, opened_at TIMESTAMP, closed_at TIMESTAMP,
               priority STRING, score INT""",
            _tickets(dice),
        ),
        "usage": Table("account_id INT, day DATE, units INT", _usage(dice)),
    }
