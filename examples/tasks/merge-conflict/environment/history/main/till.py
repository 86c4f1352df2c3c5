"""Print the receipt of a basket. All money is kept as whole cents."""

import sys

PRICES = {"apple": 45, "bread": 280, "cheese": 710, "wine": 995}


class UnknownArticle(Exception):
    """An article that has no price."""


def read_basket(path):
    """The basket as a list of (article, quantity); an article may come in several lines."""
    basket = []
    with open(path) as file:
        for line in file:
            line = line.partition("#")[0]
            if line.strip():
                article, quantity = line.split()
                if article not in PRICES:
                    raise UnknownArticle(article)
                basket.append((article, int(quantity)))
    return basket


def euros(cents):
    """Cents as a decimal number of euros."""
    return f"{cents // 100}.{cents % 100:02d}"


def total(basket):
    """What the whole basket costs, in cents."""
    return sum(PRICES[article] * quantity for article, quantity in basket)


def receipt(basket):
    """The lines of the receipt."""
    lines = []
    for article, quantity in basket:
        lines.append(f"{article} x{quantity} {euros(PRICES[article] * quantity)}")
    lines.append(f"total {euros(total(basket))}")
    return lines


def main(argv):
    try:
        basket = read_basket(argv[1])
    except UnknownArticle as unknown:
        print(f"unknown article: {unknown}", file=sys.stderr)
        return 3
    print("\n".join(receipt(basket)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
