"""``eigenfeat demo``: what the other commands do, on digits that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from eigenfeat.cli.arguments import free_place
from eigenfeat.cli.data import Reading
from eigenfeat.cli.fitting import Order, run_fit
from eigenfeat.cli.talk import Talk
from eigenfeat.rows import write_table

MADE = ("digits.csv", "held_out.csv", "model.skops", "report.html")


def run_demo(output: Path, force: bool, talk: Talk) -> None:
    """Write the digits as two tables, fit on one, evaluate on the other."""
    output.mkdir(parents=True, exist_ok=True)
    for name in MADE:
        free_place(output / name, force)
    train, test, model, page = (output / name for name in MADE)
    digits = load_digits()
    X, X_test, y, y_test = train_test_split(digits.data, digits.target, random_state=0, stratify=digits.target)
    for path, rows, labels in ((train, X, y), (test, X_test, y_test)):
        write_table(path, dict(zip(digits.feature_names, rows.T)) | {"label": labels})
    talk.say(
        f"Handwritten digits, {X.shape[1]} pixels, 10 classes: {len(X):,} rows to fit on, {len(X_test):,} held out."
    )
    command = f"eigenfeat fit {train} --label label --method gem --holdout {test} -o {model} --report {page}"
    order = Order(
        *(
            str(train),
            Reading(("label",)),
            "gem",
            {},  # the command above does the same
            str(test),
            "classification",
            None,
            0,
            model,
            page,
            command,
        )
    )
    run_fit(order, talk)
    talk.say(
        f"\nNext: [bold]eigenfeat predict {model} {test} -o predictions.csv[/]\n"
        "      [bold]eigenfeat fit your_data.csv --label your_column --report report.html[/]"
    )
