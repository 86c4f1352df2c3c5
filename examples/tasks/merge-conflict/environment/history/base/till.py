"""Print the receipt of a basket."""

import sys

PRICES = {"apple": 0.45, "bread": 2.80, "cheese": 7.10, "wine": 9.95}


def read_basket(path):
    """The basket as a list of (article, quantity)."""
    basket = []
    with open(path) as file:
        for line in file:
            if line.strip():
                article, quantity = line.split()
                basket.append((article, int(quantity)))
    return basket


def total(basket):
    """What the whole basket costs."""
    return sum(PRICES[article] * quantity for article, quantity in basket)


def receipt(basket):
    """The lines of the receipt."""
    lines = []
    for article, quantity in basket:
        lines.append(f"{article} x{quantity} {PRICES[article] * quantity:.2f}")
    lines.append(f"total {total(basket):.2f}")
    return lines


def main(argv):
    basket = read_basket(argv[1])
    print("\n".join(receipt(basket)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
