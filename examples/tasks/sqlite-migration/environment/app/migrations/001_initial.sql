PRAGMA user_version = 1;
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL,
    placed_on TEXT NOT NULL,
    items TEXT,
    total REAL,
    note TEXT
);
CREATE VIEW big_orders AS SELECT id, total FROM orders WHERE total > 100;
