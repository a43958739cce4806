"""A bank: clients, joint accounts, cards, transactions, transfers, exchange rates, loans, payments."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from tests.analytics.tables import Dice, Row, Table

FIRST, LAST = date(2024, 1, 1), date(2024, 6, 30)
CLIENTS, ACCOUNTS, CARDS, MERCHANTS = 16, 20, 18, 9
KINDS = ("purchase", "purchase", "purchase", "withdrawal", "deposit", "fee", "refund")

BRANCHES: list[Row] = [
    (1, "Central", "Basel"),
    (2, "Harbour", "Genoa"),
    (3, "Mill", None),
    (4, "Closed", "Ghent"),
]
CATEGORIES = ("grocery", "travel", "fuel", "gaming", None)


def _clients(dice: Dice) -> list[Row]:
    return [
        (
            n,
            f"Client {n % 14}",
            dice.maybe(dice.day(date(1950, 1, 1), date(2005, 12, 31))),
            dice.maybe(dice.choice(["low", "medium", "high"])),
            dice.maybe(dice.randint(1, 3)),
            dice.choice(["CH", "IT", "BE"]),
        )
        for n in range(1, CLIENTS + 1)
    ]


def _accounts(dice: Dice) -> list[Row]:
    products = ["current", "current", "savings", "credit"]
    return [
        (
            100 + n,
            dice.choice(products),
            dice.choice(["CHF", "EUR", "EUR", "USD"]),
            dice.day(date(2019, 1, 1), FIRST),
            dice.maybe(dice.day(date(2024, 4, 1), LAST), 0.85),
            dice.maybe(Decimal(dice.choice([0, 500, 1000])), 0.2),
        )
        for n in range(1, ACCOUNTS + 1)
    ]


def _holders(dice: Dice) -> list[Row]:
    first: list[Row] = [(100 + n, dice.randint(1, CLIENTS), "owner") for n in range(1, ACCOUNTS)]
    joint: list[Row] = [(100 + n, dice.randint(1, CLIENTS), "joint") for n in range(1, ACCOUNTS, 3)]
    return first + joint


def _cards(dice: Dice) -> list[Row]:
    return [
        (
            500 + n,
            100 + dice.skewed(ACCOUNTS),
            dice.choice(["active", "active", "blocked", None]),
            dice.day(FIRST, LAST),
        )
        for n in range(1, CARDS + 1)
    ]


def _merchants(dice: Dice) -> list[Row]:
    return [
        (n, f"Merchant {n}", dice.choice(CATEGORIES), dice.choice(["CH", "IT", "RU", "US"]))
        for n in range(1, MERCHANTS + 1)
    ]


def _transactions(dice: Dice) -> list[Row]:
    """Runs of a card's or an account's bookings, some within minutes, some exact copies."""
    rows: list[Row] = []
    while len(rows) < 180:
        account = 100 + dice.skewed(ACCOUNTS + 1)
        card = dice.maybe(500 + dice.skewed(CARDS), 0.4)
        at = dice.moment(FIRST, LAST)
        for _ in range(dice.randint(1, 4)):
            kind = dice.choice(KINDS)
            sign = 1 if kind in ("deposit", "refund") else -1
            merchant = dice.randint(1, MERCHANTS) if kind in ("purchase", "refund") else None
            amount = dice.maybe(sign * dice.money(1, 900 if kind == "deposit" else 250), 0.03)
            rows.append((len(rows) + 1, account, card, merchant, at, amount, kind))
            at += timedelta(minutes=dice.choice([2, 7, 50, 300, 1500]))
    return [*rows, rows[9], rows[9], rows[40]]


def _transfers(dice: Dice) -> list[Row]:
    return [
        (
            n,
            100 + dice.randint(1, ACCOUNTS),
            dice.maybe(100 + dice.randint(1, ACCOUNTS)),
            dice.moment(FIRST, LAST),
            dice.choice([dice.money(5, 800), Decimal("999.00"), Decimal("9500.00")]),
        )
        for n in range(1, 46)
    ]


def _rates(dice: Dice) -> list[Row]:
    """Monthly rates to CHF; USD of one month is missing, EUR of another is there twice."""
    months = [date(2024, m, 1) for m in range(1, 7)]
    rows: list[Row] = [
        (currency, month, Decimal(dice.randint(8500, 11000)) / 10000)
        for currency in ("EUR", "USD")
        for month in months
        if (currency, month.month) != ("USD", 3)
    ]
    return rows


def _loans(dice: Dice) -> list[Row]:
    return [
        (
            n,
            dice.randint(1, CLIENTS),
            dice.money(1000, 9000),
            dice.maybe(Decimal(dice.randint(10, 90)) / 10),
            dice.day(date(2023, 10, 1), FIRST),
            6,
        )
        for n in range(1, 9)
    ]


def _payments(dice: Dice, loans: list[Row]) -> list[Row]:
    """One instalment a month; some late, some never paid."""
    rows: list[Row] = []
    for loan in loans:
        for number in range(1, 7):
            due = date(2024, number, 5)
            paid = dice.maybe(due + timedelta(days=dice.choice([-2, -1, 0, 0, 3, 20, 45])), 0.2)
            rows.append((loan[0], number, due, paid, (loan[2] / 6).quantize(Decimal("0.01"))))
    return rows


def tables() -> dict[str, Table]:
    """All tables by name."""
    dice = Dice(11)
    loans = _loans(dice)
    money = "DECIMAL(12,2)"
    return {
        "branches": Table("branch_id INT, branch STRING, city STRING", BRANCHES),
        "clients": Table(
            "client_id INT, client STRING, born DATE, risk STRING, branch_id INT, country STRING",
            _clients(dice),
        ),
        "accounts": Table(
            f"account_id INT, product STRING, currency STRING, opened DATE, closed DATE, overdraft {money}",
            _accounts(dice),
        ),
        "holders": Table("account_id INT, client_id INT, role STRING", _holders(dice)),
        "cards": Table("card_id INT, account_id INT, status STRING, issued DATE", _cards(dice)),
        "merchants": Table(
            "merchant_id INT, merchant STRING, category STRING, country STRING", _merchants(dice)
        ),
        "transactions": Table(
            f"""tx_id INT, account_id INT, card_id INT, merchant_id INT, booked_at TIMESTAMP, amount {money},
               kind STRING""",
            _transactions(dice),
        ),
        "transfers": Table(
            f"transfer_id INT, from_account INT, to_account INT, sent_at TIMESTAMP, amount {money}",
            _transfers(dice),
        ),
        "rates": Table("currency STRING, valid_from DATE, rate DECIMAL(10,4)", _rates(dice)),
        "loans": Table(
            f"loan_id INT, client_id INT, principal {money}, percent DECIMAL(4,1), started DATE, months INT",
            loans,
        ),
        "payments": Table(
            f"loan_id INT, number INT, due_on DATE, paid_on DATE, amount {money}", _payments(dice, loans)
        ),
    }
