#!/bin/bash
set -euo pipefail
cd /app/till

cat > till.py <<'PROGRAM'
"""Print the receipt of a basket, with discounts. All money is kept as whole cents."""

import sys

PRICES = {"apple": 45, "bread": 280, "cheese": 710, "wine": 995}
BULK = {"apple": (10, 10), "wine": (6, 15)}
"""Article -> (from this quantity on, per cent taken off the price of its line)."""
VOUCHERS = {"WELCOME5": 500, "TEAM2": 200}


class UnknownArticle(Exception):
    """An article that has no price."""


def read_basket(path):
    """The basket as a list of (article, quantity), and the voucher (`voucher CODE` in a line) or None."""
    basket = []
    voucher = None
    with open(path) as file:
        for line in file:
            line = line.partition("#")[0]
            if line.strip():
                article, quantity = line.split()
                if article == "voucher":
                    voucher = quantity
                elif article not in PRICES:
                    raise UnknownArticle(article)
                else:
                    basket.append((article, int(quantity)))
    return basket, voucher


def euros(cents):
    """Cents as a decimal number of euros."""
    return f"{cents // 100}.{cents % 100:02d}"


def line_price(article, quantity):
    """The price of one line in cents, with the discount for its quantity."""
    price = PRICES[article] * quantity
    least, percent = BULK.get(article, (None, 0))
    if least is not None and quantity >= least:
        price -= price * percent // 100
    return price


def total(basket, voucher):
    """What the whole basket costs in cents, never less than nothing."""
    price = sum(line_price(article, quantity) for article, quantity in basket)
    return max(price - VOUCHERS.get(voucher, 0), 0)


def receipt(basket, voucher):
    """The lines of the receipt."""
    lines = []
    for article, quantity in basket:
        lines.append(f"{article} x{quantity} {euros(line_price(article, quantity))}")
    if voucher in VOUCHERS:
        lines.append(f"voucher {voucher} -{euros(VOUCHERS[voucher])}")
    lines.append(f"total {euros(total(basket, voucher))}")
    return lines


def main(argv):
    try:
        basket, voucher = read_basket(argv[1])
    except UnknownArticle as unknown:
        print(f"unknown article: {unknown}", file=sys.stderr)
        return 3
    print("\n".join(receipt(basket, voucher)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
PROGRAM
git add till.py
git commit -q --no-edit
