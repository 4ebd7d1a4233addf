"""A table as people have them, and what it says underneath: for tests of the command and of the encoder."""

import csv

import numpy as np


def messy_rows(n: int = 400, seed: int = 0) -> tuple[list[str], list[list[str]], np.ndarray]:
    """Header, cells and labels: thousands separators, per cent, dates, truth words, gaps, an id, a constant, quotes."""
    rng = np.random.default_rng(seed)
    income, share, age = rng.lognormal(10, 0.6, n), rng.uniform(0, 100, n), rng.integers(18, 90, n)
    day = rng.integers(0, 900, n)
    member, city = rng.random(n) < 0.4, rng.choice(["Rome", "Paris, France", "Oslo", "Bern"], n, p=[0.4, 0.3, 0.2, 0.1])
    signal = np.log(income) - 10 + 0.03 * (share - 50) + 1.2 * member + 0.8 * (city == "Oslo") + 0.002 * (day - 450)
    label = np.where(signal + 0.5 * rng.standard_normal(n) > 0.4, "buys", "leaves")
    dates = np.datetime64("2021-01-01") + day
    header = ["customer_id", "income", "share", "age", "joined", "member", "city", "currency", "age again", "outcome"]
    rows = []
    for i in range(n):
        gap = rng.random() < 0.08
        rows.append(
            [
                f"C{100000 + i}",
                "" if gap else f"{income[i]:,.2f}",
                f"{share[i]:.1f} %",
                "n/a" if rng.random() < 0.05 else str(age[i]),
                str(dates[i]),
                "yes" if member[i] else "no",
                str(city[i]),
                "EUR",
                "",
                str(label[i]),
            ]
        )
        rows[-1][8] = rows[-1][3]
    return header, rows, label


def write_messy(path, n: int = 400, seed: int = 0, delimiter: str = ";") -> np.ndarray:
    """The table as a text file; its labels."""
    header, rows, label = messy_rows(n, seed)
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerows([header, *rows])
    return label
