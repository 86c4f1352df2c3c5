#!/bin/bash
set -euo pipefail

cat > /app/migrate <<'PROGRAM'
#!/usr/bin/env python3
"""Migrate a shop database from version 1 to version 2, all or nothing."""

import datetime
import re
import sqlite3
import sys

ITEM = re.compile(r"\s*(?P<sku>[^*@;]*[^*@;\s])\s*(?:\*\s*(?P<quantity>[0-9]+)\s*)?@\s*(?P<price>[0-9]+(?:\.[0-9]{1,2})?)\s*")
SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers(id),
    placed_on TEXT NOT NULL,
    note TEXT
);
CREATE TABLE order_lines (
    order_id INTEGER NOT NULL REFERENCES orders(id),
    position INTEGER NOT NULL,
    sku TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    unit_cents INTEGER NOT NULL,
    PRIMARY KEY (order_id, position)
);
CREATE INDEX orders_by_customer ON orders(customer_id);
"""


def items_of(text):
    for position, item in enumerate((i for i in (text or "").split(";") if i.strip()), start=1):
        match = ITEM.fullmatch(item)
        if match is None:
            raise ValueError(f"item {item!r}")
        quantity = int(match["quantity"] or 1)
        if quantity < 1:
            raise ValueError(f"quantity of {item!r}")
        euros, _, cents = match["price"].partition(".")
        yield position, match["sku"], quantity, int(euros) * 100 + int(cents.ljust(2, "0"))


def date_of(text):
    if re.fullmatch(r"\d{2}\.\d{2}\.\d{4}", text):
        day, month, year = text.split(".")
        text = f"{year}-{month}-{day}"
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError(f"date {text!r}")
    return datetime.date.fromisoformat(text).isoformat()


def customers(db):
    """The customers that stay, and old id -> id that stays."""
    kept, by_email, successor = [], {}, {}
    for number, name, email in db.execute("SELECT id, name, email FROM customers ORDER BY id").fetchall():
        email = email.strip(" ").lower()
        if email not in by_email:
            by_email[email] = number
            kept.append((number, name.strip(" "), email))
        successor[number] = by_email[email]
    return kept, successor


def migrate(db):
    kept, successor = customers(db)
    orders, lines = [], []
    query = "SELECT id, customer_id, placed_on, items, note FROM orders ORDER BY id"
    for number, customer, placed_on, items, note in db.execute(query).fetchall():
        try:
            if customer not in successor:
                raise ValueError(f"customer {customer}")
            orders.append((number, successor[customer], date_of(placed_on), note))
            lines += [(number, *item) for item in items_of(items)]
        except ValueError as error:
            raise ValueError(f"order {number}: {error}") from error
    for (name, kind) in db.execute("SELECT name, type FROM sqlite_master WHERE type IN ('view', 'table')").fetchall():
        db.execute(f'DROP {kind} "{name}"')
    for statement in SCHEMA.split(";"):
        db.execute(statement)
    db.executemany("INSERT INTO customers VALUES (?, ?, ?)", kept)
    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders)
    db.executemany("INSERT INTO order_lines VALUES (?, ?, ?, ?, ?)", lines)
    db.execute("PRAGMA user_version = 2")


db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
try:
    if db.execute("PRAGMA user_version").fetchone()[0] == 1:
        migrate(db)
    db.execute("COMMIT")
except ValueError as error:
    db.execute("ROLLBACK")
    sys.exit(str(error))
PROGRAM
chmod 755 /app/migrate
/app/migrate /app/shop.db
