"""Print the receipt of a basket, with discounts."""

import sys

PRICES = {"apple": 0.45, "bread": 2.80, "cheese": 7.10, "wine": 9.95}
BULK = {"apple": (10, 0.10), "wine": (6, 0.15)}
"""Article -> (from this quantity on, share taken off the price of its line)."""
VOUCHERS = {"WELCOME5": 5.00, "TEAM2": 2.00}


def read_basket(path):
    """The basket as a list of (article, quantity), and the voucher (`voucher CODE` in a line) or None."""
    basket = []
    voucher = None
    with open(path) as file:
        for line in file:
            if line.strip():
                article, quantity = line.split()
                if article == "voucher":
                    voucher = quantity
                else:
                    basket.append((article, int(quantity)))
    return basket, voucher


def line_price(article, quantity):
    """The price of one line, with the discount for its quantity."""
    price = PRICES[article] * quantity
    least, share = BULK.get(article, (None, 0))
    if least is not None and quantity >= least:
        price -= price * share
    return price


def total(basket, voucher):
    """What the whole basket costs, never less than nothing."""
    price = sum(line_price(article, quantity) for article, quantity in basket)
    return max(price - VOUCHERS.get(voucher, 0), 0)


def receipt(basket, voucher):
    """The lines of the receipt."""
    lines = []
    for article, quantity in basket:
        lines.append(f"{article} x{quantity} {line_price(article, quantity):.2f}")
    if voucher in VOUCHERS:
        lines.append(f"voucher {voucher} -{VOUCHERS[voucher]:.2f}")
    lines.append(f"total {total(basket, voucher):.2f}")
    return lines


def main(argv):
    basket, voucher = read_basket(argv[1])
    print("\n".join(receipt(basket, voucher)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
