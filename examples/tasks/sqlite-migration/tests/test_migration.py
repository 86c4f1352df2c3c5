"""The migrated database of the shop, and the program on databases that it has not seen."""

import sqlite3
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
VERSION_1 = (HERE / "version1.sql").read_text()
COLUMNS = {
    "customers": ["id", "name", "email"],
    "orders": ["id", "customer_id", "placed_on", "note"],
    "order_lines": ["order_id", "position", "sku", "quantity", "unit_cents"],
}
ONE = [(1, "A", "a@x.org")]


def database(path, customers, orders):
    """Make a database of version 1; orders are (id, customer, date, items, note)."""
    db = sqlite3.connect(path)
    db.executescript(VERSION_1)
    db.executemany("INSERT INTO customers VALUES (?, ?, ?)", customers)
    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, 1.0, ?)", orders)
    db.commit()
    db.close()
    return path


def migrate(path):
    return subprocess.run(["/app/migrate", str(path)], capture_output=True, text=True, timeout=60, cwd="/")


def rows(path, query):
    db = sqlite3.connect(path)
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


def content(path):
    return "\n".join(sqlite3.connect(path).iterdump()) + str(rows(path, "PRAGMA user_version"))


def check_schema(path):
    assert rows(path, "PRAGMA user_version") == [(2,)]
    assert rows(path, "PRAGMA foreign_key_check") == []
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    names = rows(path, "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    assert names == [("table", "customers"), ("table", "order_lines"), ("table", "orders"), ("index", "orders_by_customer")]
    for table, columns in COLUMNS.items():
        assert [row[1] for row in rows(path, f"PRAGMA table_info({table})")] == columns
    assert {row[2:5] for row in rows(path, "PRAGMA foreign_key_list(orders)")} == {("customers", "customer_id", "id")}
    assert {row[2:5] for row in rows(path, "PRAGMA foreign_key_list(order_lines)")} == {("orders", "order_id", "id")}
    assert [row[2] for row in rows(path, "PRAGMA index_info(orders_by_customer)")] == ["customer_id"]


def test_the_shop():
    path = Path("/app/shop.db")
    check_schema(path)
    assert rows(path, "SELECT count(*), sum(id) FROM customers") == [(12, 343)]
    assert rows(path, "SELECT count(*), sum(id), sum(customer_id), min(placed_on), max(placed_on) FROM orders") == [(60, 10796, 1708, '2022-01-20', '2024-12-19')]
    sums = "SELECT count(*), sum(position), sum(quantity), sum(unit_cents), sum(quantity * unit_cents) FROM order_lines"
    assert rows(path, sums) == [(134, 282, 900, 72554, 398362)]
    wrong = """
        SELECT o.id FROM orders o LEFT JOIN order_lines l ON l.order_id = o.id LEFT JOIN old.orders p ON p.id = o.id
        GROUP BY o.id HAVING coalesce(sum(l.quantity * l.unit_cents), 0) != CAST(round(p.total * 100) AS INTEGER)
        OR o.note IS NOT p.note
    """
    db = sqlite3.connect(path)
    db.execute("ATTACH ':memory:' AS old")
    db.execute("CREATE TABLE old.orders (id, customer_id, placed_on, items, total, note)")
    statements = (HERE / "data.sql").read_text().replace("INSERT INTO orders", "INSERT INTO old.orders")
    _, _, rest = statements.partition("INSERT INTO old.orders")
    db.executescript("BEGIN;\nINSERT INTO old.orders" + rest)
    assert db.execute(wrong).fetchall() == []
    db.close()


def test_lines(tmp_path):
    items = " A-100 * 2 @ 3.50 ;B-7@12;;C 3*10@0.1; D/x@19.99;E*1@0.29;"
    path = database(tmp_path / "x.db", ONE, [(7, 1, "2024-02-29", items, None), (3, 1, "2024-01-01", "A-1@0", "n")])
    done = migrate(path)
    assert done.returncode == 0, done.stderr
    check_schema(path)
    assert rows(path, "SELECT * FROM order_lines ORDER BY order_id, position") == [
        (3, 1, "A-1", 1, 0),
        (7, 1, "A-100", 2, 350),
        (7, 2, "B-7", 1, 1200),
        (7, 3, "C 3", 10, 10),
        (7, 4, "D/x", 1, 1999),
        (7, 5, "E", 1, 29),
    ]


def test_every_price_is_exact(tmp_path):
    items = ";".join(f"S{cents}@{cents // 100}.{cents % 100:02d}" for cents in range(0, 2500))
    path = database(tmp_path / "x.db", ONE, [(1, 1, "2024-01-01", items, None)])
    assert migrate(path).returncode == 0
    assert rows(path, "SELECT unit_cents FROM order_lines ORDER BY position") == [(cents,) for cents in range(2500)]


def test_customers_and_orders(tmp_path):
    customers = [
        (9, " Second ", "ANN@x.org"),
        (4, "First  ", " ann@X.org "),
        (5, "Bo  B", "bo@x.org"),
        (12, "Third", "Ann@x.org"),
    ]
    orders = [
        (1, 9, "2024-01-05", None, None),
        (2, 12, "31.12.2023", "", ""),
        (30, 4, "01.02.2024", " ; ", "two\nlines"),
        (4, 5, "2024-03-01", "A@1", "o'clock"),
    ]
    path = database(tmp_path / "x.db", customers, orders)
    assert migrate(path).returncode == 0
    assert rows(path, "SELECT * FROM customers ORDER BY id") == [(4, "First", "ann@x.org"), (5, "Bo  B", "bo@x.org")]
    assert rows(path, "SELECT * FROM orders ORDER BY id") == [
        (1, 4, "2024-01-05", None),
        (2, 4, "2023-12-31", ""),
        (4, 5, "2024-03-01", "o'clock"),
        (30, 4, "2024-02-01", "two\nlines"),
    ]
    assert rows(path, "SELECT order_id FROM order_lines") == [(4,)]


@pytest.mark.parametrize(
    "order",
    [
        (4711, 1, "2024-01-01", "A-1", None),
        (4711, 1, "2024-01-01", "A*0@1", None),
        (4711, 1, "2024-01-01", "A*1.5@1", None),
        (4711, 1, "2024-01-01", "A*-2@1", None),
        (4711, 1, "2024-01-01", "@1", None),
        (4711, 1, "2024-01-01", "A@free", None),
        (4711, 1, "2024-01-01", "A@1.005", None),
        (4711, 1, "yesterday", "A@1", None),
        (4711, 1, "2024/01/01", "A@1", None),
        (4711, 2, "2024-01-01", "A@1", None),
    ],
)
def test_all_or_nothing(tmp_path, order):
    good = (1, 1, "2024-01-01", "A@1", None)
    path = database(tmp_path / "x.db", ONE, [good, order, (9000, 1, "2024-01-01", "B@2", None)])
    before = content(path)
    done = migrate(path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "4711" in done.stderr
    assert content(path) == before


def test_version_2_is_left_alone(tmp_path):
    path = database(tmp_path / "x.db", ONE, [(1, 1, "2024-01-01", "A@1", None)])
    assert migrate(path).returncode == 0
    before = content(path)
    assert migrate(path).returncode == 0
    assert content(path) == before
