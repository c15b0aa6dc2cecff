"""Messy log files: real CSV text with the faults that exports have."""

import gzip

import numpy as np

ROLES = {
    "task": "store",
    "arm": "promo",
    "reward": "revenue",
    "propensity": "p",
    "time": "day",
    "decision": "id",
}
HEADER = ["id", "store", "promo", "revenue", "day", "p", "country"]


def rows_of(rng, size=300):
    """Clean rows: ids, 20 stores, three promotions, revenues, days, propensities, a country."""
    return [
        [
            f"d{i}",
            f"store {rng.integers(20)}",
            ["none", "bogo", "10% off"][rng.integers(3)],
            f"{rng.normal(20, 5):.2f}",
            f"{2024 + rng.integers(2)}-{rng.integers(1, 13):02d}-{rng.integers(13, 29):02d}",
            "0.3333",
            "EU",
        ]
        for i in range(size)
    ]


def some(rng, rows, count):
    """Different rows, drawn at random, in order."""
    return sorted(rng.choice(len(rows), count, replace=False).tolist())


class Mess:
    """Ways to spoil rows; each returns the numbers of the rows that it spoilt, and its fault."""

    @staticmethod
    def empty_reward(rng, rows):
        chosen = some(rng, rows, 7)
        for row in chosen:
            rows[row][3] = ""
        return chosen, "revenue", "cells are missing"

    @staticmethod
    def quoted_empty_arm(rng, rows):
        chosen = some(rng, rows, 4)
        for row in chosen:
            rows[row][2] = '""'
        return chosen, "promo", "cells are missing"

    @staticmethod
    def missing_word(rng, rows):
        chosen = some(rng, rows, 6)
        for row in chosen:
            rows[row][3] = "n/a"
        return chosen, "revenue", "cells are no numbers"

    @staticmethod
    def spaces_around_numbers(rng, rows):
        chosen = some(rng, rows, 5)
        for row in chosen:
            rows[row][3] += " "
        return chosen, "revenue", "cells are no numbers"

    @staticmethod
    def copies(rng, rows):
        chosen = some(rng, rows, 8)
        first = len(rows)
        rows += [list(rows[row]) for row in chosen]
        return list(range(first, len(rows))), "id", "repeat an earlier row and its id"

    @staticmethod
    def american_days(rng, rows):
        for row in rows:
            year, month, day = row[4].split("-")
            row[4] = f"{month}/{day}/{year}"
        return list(range(len(rows))), "day", "no times that can be compared"


MESSES = [name for name in vars(Mess) if not name.startswith("_")]


def as_text(rows, separator=",", header=HEADER):
    """The rows as a CSV file's text."""
    return "".join(separator.join(row) + "\n" for row in [header, *rows])


def write(path, text):
    """Write a text file, packed if its name says so."""
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def messy_file(seed, names, path, separator=","):
    """A file that was spoilt in these ways; returns what was done to it."""
    rng = np.random.default_rng(seed)
    rows = rows_of(rng)
    done = {name: getattr(Mess, name)(rng, rows) for name in names}
    write(path, as_text(rows, separator))
    return rows, done
