"""Writes a log as shops export them: 150 stores, four promotions, and every usual mess.

    python examples/messy_log.py stores.csv            # the sample log of the package
    python examples/messy_log.py other.csv --seed 7    # another one

A row is an order.  The shop chose one of four promotions at random, by known probabilities, and
wrote down what the customer spent.  Stores share what promotions bring, and differ.  The mess:
names in many scripts, spaces around names, one name in two spellings, cells that are empty or say
NA, American dates, and orders that were exported twice.
"""

import argparse
import csv
import unicodedata
from datetime import date, timedelta
from pathlib import Path

import numpy as np

CITIES = ["Zürich", "København", "São Paulo", "Łódź", "Αθήνα", "東京", "Kraków", "Málaga"]
PROMOS = ["none", "10% off", "free shipping", "two for one"]
SHARES = [0.4, 0.2, 0.2, 0.2]  # how often the shop chose each promotion
HEADER = ["order", "store", "promo", "revenue", "day", "p", "age", "basket"]
NUM_STORES, NUM_ROWS = 150, 3000


def clean_rows(rng: np.random.Generator) -> list[list[str]]:
    """Orders in the order of their days, as they should have been exported."""
    stores = [f"{CITIES[i % len(CITIES)]} {i // len(CITIES) + 1}" for i in range(NUM_STORES)]
    shared = np.array([20.0, 21.0, 23.0, 22.0])  # what the promotions bring on average
    own = rng.normal(0.0, 2.0, (NUM_STORES, 1)) + rng.normal(0.0, 1.5, (NUM_STORES, len(PROMOS)))
    days = np.sort(rng.integers(0, 365, NUM_ROWS))
    rows = []
    for number, day in enumerate(days.tolist()):
        store = int(rng.integers(NUM_STORES))
        promo = int(rng.choice(len(PROMOS), p=SHARES))
        age, basket = int(rng.integers(18, 90)), int(rng.integers(1, 12))
        spent = shared[promo] + own[store, promo] + 0.4 * (basket - 6) + rng.normal(0.0, 4.0)
        rows.append(
            [
                f"o{number:05d}",
                stores[store],
                PROMOS[promo],
                f"{max(spent, 0.0):.2f}",
                f"{date(2025, 1, 1) + timedelta(day):%m/%d/%Y}",
                str(SHARES[promo]),
                str(age),
                str(basket),
            ]
        )
    return rows


def spoilt(rows: list[list[str]], rng: np.random.Generator) -> list[list[str]]:
    """The same orders, as the export left them."""
    place = {name: number for number, name in enumerate(HEADER)}

    def some(count: int) -> list[list[str]]:
        return [rows[i] for i in rng.choice(len(rows), count, replace=False).tolist()]

    for row in some(60):
        row[place["store"]] = f" {row[place['store']]} "
    for row in some(20):
        row[place["store"]] = unicodedata.normalize("NFD", row[place["store"]])
    for row in some(10):
        row[place["promo"]] = row[place["promo"]].upper()
    for row in some(40):
        row[place["revenue"]] = ""
    for row in some(15):
        row[place["revenue"]] = "NA"
    for row in some(5):
        row[place["promo"]] = ""
    for row in some(30):
        row[place["age"]] = ""
    for row in some(25):
        rows.append(list(row))  # exported twice
    return rows


def write(path: Path, seed: int = 0) -> Path:
    """Write the log of a seed."""
    rng = np.random.default_rng(seed)
    rows = spoilt(clean_rows(rng), rng)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(write(options.path, options.seed))
