"""CustomerMgmt.xml, Customer.txt and Account.txt."""

from __future__ import annotations

from datetime import date

import numpy as np

from rennet.bench.tpcdi.generator import people, text
from rennet.bench.tpcdi.generator.customers import (
    ACTIONS,
    ADDACCT,
    CLOSEACCT,
    INACT,
    NEW,
    NEW_WITHOUT_ACCOUNT,
    UPDACCT,
    UPDCUST,
    Customers,
    Happened,
)
from rennet.bench.tpcdi.generator.draws import Ints, Keyed, Mask, below, between, chance, weighted
from rennet.bench.tpcdi.generator.files import Files, Sink
from rennet.bench.tpcdi.generator.market import day_number
from rennet.bench.tpcdi.generator.static import TAX_RATES
from rennet.bench.tpcdi.generator.text import Chars, beside, fixed
from rennet.bench.tpcdi.settings import Settings

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\r\n<TPCDI:Actions xmlns:TPCDI="http://www.tpc.org/tpc-di">\r\n'
FOOT = "</TPCDI:Actions>\r\n"
CHUNK = 4_000
PHONE_PARTS = ("C_CTRY_CODE", "C_AREA_CODE", "C_LOCAL", "C_EXT")
TIERS = ("1", "2", "3", "0", "4", "5", "6", "7", "8", "9")
TIER_SHARES = (0.0999, 0.2997, 0.5994, *[0.001 / 7] * 7)
OLDEST, TOO_OLD = day_number(date(1927, 1, 1)), day_number(date(1890, 1, 1))
YOUNGEST, UNBORN = day_number(date(2000, 1, 1)), day_number(date(2030, 1, 1))


class Values:
    """What actions say, from their keys."""

    def __init__(self, settings: Settings, brokers: Ints) -> None:
        self.of = Keyed(settings.seed, "customer")
        self._brokers = brokers

    def tax_id(self, keys: Ints) -> Chars:
        """A number in three groups."""
        n, dash = len(keys), fixed("-", len(keys))
        parts = (text.padded(below(self.of.bits(f"tax id {w}", keys), 10**w), w) for w in (3, 2, 4))
        first, second, third = parts
        return beside(first, dash, second, dash, third) if n else np.empty((0, 11), np.uint8)

    def gender(self, keys: Ints) -> Chars:
        """M or F in either case, rarely another letter, often nothing."""
        usual = chance(self.of.bits("usual gender", keys), 0.98)
        made = text.chosen(("m", "M", "f", "F"), below(self.of.bits("gender", keys), 4))
        other = text.capitals(self.of.words("other gender", keys, 1), 1, 1)
        return text.only(text.either(made, other, usual), ~chance(self.of.bits("no gender", keys), 0.2))

    def tier(self, keys: Ints, required: Mask) -> Chars:
        """One to three, rarely an invalid one; may be unknown unless required."""
        made = text.chosen(TIERS, weighted(self.of.bits("tier", keys), TIER_SHARES))
        return text.only(made, required | ~chance(self.of.bits("no tier", keys), 0.05))

    def birth(self, keys: Ints) -> Chars:
        """A date of birth; a few are impossible."""
        usual = between(self.of.bits("birth", keys), OLDEST, YOUNGEST)
        odd = self.of.bits("odd birth", keys)
        usual = np.where(chance(odd, 0.0016), UNBORN + usual % 3650, usual)
        return text.days(np.where(chance(odd, 0.0008), TOO_OLD + usual % 3650, usual))

    def phone(self, which: str, keys: Ints) -> list[Chars]:
        """Country, area, local number, extension: any may be absent."""
        made: list[Chars] = []
        for part, digits, absent in (
            ("country", 1, 0.5),
            ("area", 3, 0.2),
            ("local", 7, 0.05),
            ("ext", 5, 0.8),
        ):
            number = text.padded(below(self.of.bits(f"{part} {which}", keys), 10**digits), digits)
            if part == "local":
                number = beside(number[:, :3], fixed("-", len(keys)), number[:, 3:])
            made.append(text.only(number, ~chance(self.of.bits(f"no {part} {which}", keys), absent)))
        return made

    def tax_rate(self, which: str, keys: Ints) -> Chars:
        """The id of a tax rate."""
        return text.chosen(TAX_RATES, below(self.of.bits(f"tax {which}", keys), len(TAX_RATES)))

    def customer(self, field: str, keys: Ints) -> Chars:
        """A field of the address, or an e-mail."""
        if field.startswith("mail"):
            return people.email(self.of, keys, field[-1])
        by_name = {"street": people.street, "flat": people.flat, "postal code": people.postal_code}
        by_name |= {"city": people.city, "state": people.state, "country": people.country}
        return by_name[field](self.of, keys)

    def account(self, field: str, keys: Ints) -> Chars:
        """A field of an account."""
        if field == "broker":
            return text.whole(self._brokers[below(self.of.bits("broker", keys), len(self._brokers))])
        if field == "tax status":
            return text.whole(below(self.of.bits("tax status", keys), 3))
        return text.prose(self.of.words("account name", keys, 40), 10, 40)


ADDRESS = {
    "street": "C_ADLINE1",
    "flat": "C_ADLINE2",
    "postal code": "C_ZIPCODE",
    "city": "C_CITY",
    "state": "C_STATE_PROV",
    "country": "C_CTRY",
}


class Xml:
    """Actions as elements. Every element of every kind of action has a place; absent ones leave no trace."""

    def __init__(self, customers: Customers, values: Values) -> None:
        self._customers = customers
        self._values = values

    def actions(self, happened: Happened) -> Chars:
        """One row of text for each action."""
        n, keys = len(happened.keys), happened.keys
        new = happened.kinds == NEW
        changing = new | (happened.kinds == UPDCUST)
        account = ~np.isin(happened.kinds, (UPDCUST, INACT))
        return beside(
            fixed('<TPCDI:Action ActionType="', n),
            text.chosen(ACTIONS, happened.kinds),
            fixed('" ActionTS="', n),
            text.moments(happened.moments, "T"),
            fixed('">\r\n <Customer', n),
            self._attribute("C_ID", text.whole(happened.customers), np.ones(n, np.bool_)),
            self._attribute("C_TAX_ID", self._values.tax_id(keys), new),
            self._attribute("C_GNDR", self._values.gender(keys), new),
            self._attribute("C_TIER", self._values.tier(keys, ~new), new | self._says(happened, "tier")),
            self._attribute("C_DOB", self._values.birth(keys), new),
            fixed(">\r\n", n),
            text.only(self._name(keys), new),
            text.only(self._address(happened, new), changing),
            text.only(self._contact(happened, new), changing),
            text.only(self._tax(keys), new),
            text.only(self._account(happened), account),
            fixed(" </Customer>\r\n</TPCDI:Action>\r\n", n),
        )

    def _says(self, happened: Happened, field: str) -> Mask:
        return self._customers.says(happened, field)

    def _attribute(self, name: str, value: Chars, present: Mask) -> Chars:
        n = len(value)
        return text.only(beside(fixed(f' {name}="', n), value, fixed('"', n)), present)

    def _element(self, name: str, value: Chars, present: Mask | None = None, depth: int = 3) -> Chars:
        n = len(value)
        made = beside(fixed(f"{' ' * depth}<{name}>", n), value, fixed(f"</{name}>\r\n", n))
        return made if present is None else text.only(made, present)

    def _group(self, name: str, inside: Chars, depth: int = 2) -> Chars:
        n, indent = len(inside), " " * depth
        return beside(fixed(f"{indent}<{name}>\r\n", n), inside, fixed(f"{indent}</{name}>\r\n", n))

    def _name(self, keys: Ints) -> Chars:
        of = self._values.of
        parts = (
            self._element("C_L_NAME", people.last_name(of, keys)),
            self._element("C_F_NAME", people.first_name(of, keys)),
            self._element("C_M_NAME", people.middle_initial(of, keys)),
        )
        return self._group("Name", beside(*parts))

    def _address(self, happened: Happened, new: Mask) -> Chars:
        parts = (
            self._element(
                name, self._values.customer(field, happened.keys), new | self._says(happened, field)
            )
            for field, name in ADDRESS.items()
        )
        return self._group("Address", beside(*parts))

    def _contact(self, happened: Happened, new: Mask) -> Chars:
        keys, parts = happened.keys, []
        for number, name in (("1", "C_PRIM_EMAIL"), ("2", "C_ALT_EMAIL")):
            field = f"mail {number}"
            parts.append(
                self._element(name, self._values.customer(field, keys), new | self._says(happened, field))
            )
        for number in "123":
            values = zip(PHONE_PARTS, self._values.phone(number, keys), strict=True)
            inside = beside(*(self._element(name, value, depth=4) for name, value in values))
            present = new | self._says(happened, f"phone {number}")
            parts.append(text.only(self._group(f"C_PHONE_{number}", inside, depth=3), present))
        return self._group("ContactInfo", beside(*parts))

    def _tax(self, keys: Ints) -> Chars:
        local = self._element("C_LCL_TX_ID", self._values.tax_rate("local", keys))
        national = self._element("C_NAT_TX_ID", self._values.tax_rate("national", keys))
        return self._group("TaxInfo", beside(local, national))

    def _account(self, happened: Happened) -> Chars:
        n, keys, full = len(happened.keys), happened.keys, np.isin(happened.kinds, (NEW, ADDACCT))
        number = text.whole(np.maximum(happened.accounts, 0))
        everywhere = np.ones(n, np.bool_)

        def said(field: str) -> tuple[Chars, Mask]:
            return self._values.account(field, keys), full | self._says(happened, field)

        attributes = beside(
            self._attribute("CA_ID", number, everywhere), self._attribute("CA_TAX_ST", *said("tax status"))
        )
        inside = beside(self._element("CA_B_ID", *said("broker")), self._element("CA_NAME", *said("name")))
        return beside(
            fixed("  <Account", n), attributes, fixed(">\r\n", n), inside, fixed("  </Account>\r\n", n)
        )


def write_history(files: Files, customers: Customers, values: Values) -> None:
    """CustomerMgmt.xml."""
    xml, waiting, rows = Xml(customers, values), list[Happened](), 0
    counts = np.zeros(len(ACTIONS), np.int64)
    with files.open(1, "CustomerMgmt.xml") as sink:
        sink.text(HEAD.encode())
        for happened in customers.history():
            counts += np.bincount(happened.kinds, minlength=len(ACTIONS))
            waiting.append(happened)
            rows += len(happened.keys)
            if rows >= CHUNK:
                _flush(sink, xml, waiting)
                waiting, rows = [], 0
        _flush(sink, xml, waiting)
        sink.text(FOOT.encode())
    for kind, count in zip(ACTIONS, counts, strict=True):
        files.audit(1, "CustomerMgmt", kind, int(count))


def _flush(sink: Sink, xml: Xml, waiting: list[Happened]) -> None:
    if waiting:
        columns = ("kinds", "moments", "customers", "accounts", "keys")
        sink.write(
            xml.actions(Happened(*(np.concatenate([getattr(part, c) for part in waiting]) for c in columns)))
        )


def write_batch(files: Files, batch: int, day: int, customers: Customers, values: Values) -> None:
    """Customer.txt and Account.txt of an incremental batch: whole rows, as they are afterwards."""
    of_customers = customers.batch_customers(day)
    with files.open(batch, "Customer.txt") as sink:
        sink.write(_customer_lines(of_customers, customers, values))
    of_accounts = customers.batch_accounts(day, of_customers)
    with files.open(batch, "Account.txt") as sink:
        sink.write(_account_lines(of_accounts, customers, values))
    for name, happened in (("Customer", of_customers), ("Account", of_accounts)):
        new = np.isin(happened.kinds, (NEW_WITHOUT_ACCOUNT, ADDACCT))
        ended = np.isin(happened.kinds, (INACT, CLOSEACCT))
        changed = np.isin(happened.kinds, (UPDCUST, UPDACCT))
        for kind, which in (("NEW", new), ("UPD", changed), ("INACT", ended)):
            files.audit(batch, name, kind, int(which.sum()))


def _flags(happened: Happened) -> Chars:
    new = np.isin(happened.kinds, (NEW_WITHOUT_ACCOUNT, ADDACCT))
    return text.chosen(("U", "I"), new.astype(np.int64))


def _status(happened: Happened) -> Chars:
    return text.chosen(("ACTV", "INAC"), np.isin(happened.kinds, (INACT, CLOSEACCT)).astype(np.int64))


def _customer_lines(happened: Happened, customers: Customers, values: Values) -> Chars:
    who, of = happened.customers, values.of
    created = customers.created[who]
    by = {field: keys[who] for field, keys in customers.set_by.items()}
    phones = [part for n in "123" for part in values.phone(n, by[f"phone {n}"])]
    columns = [
        _flags(happened),
        text.whole(happened.keys),
        text.whole(who),
        values.tax_id(created),
        _status(happened),
        people.last_name(of, created),
        people.first_name(of, created),
        people.middle_initial(of, created),
        values.gender(created),
        values.tier(by["tier"], by["tier"] != created),
        values.birth(created),
        *(values.customer(field, by[field]) for field in ADDRESS),
        *phones,
        values.customer("mail 1", by["mail 1"]),
        values.customer("mail 2", by["mail 2"]),
        values.tax_rate("local", created),
        values.tax_rate("national", created),
    ]
    return text.lines(columns, "|")


def _account_lines(happened: Happened, customers: Customers, values: Values) -> Chars:
    by = {field: keys[happened.accounts] for field, keys in customers.account_set_by.items()}
    columns = [
        _flags(happened),
        text.whole(happened.keys),
        text.whole(happened.accounts),
        values.account("broker", by["broker"]),
        text.whole(happened.customers),
        values.account("name", by["name"]),
        values.account("tax status", by["tax status"]),
        _status(happened),
    ]
    return text.lines(columns, "|")
