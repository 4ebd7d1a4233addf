"""Column generation against the full linear program (linear sparse kernel Fisher discriminants, thesis 3.55).

    python benchmarks/speed/kfd_columns.py [--quick] [--sampled]

USPS, odd against even digits, an RBF kernel and a penalty that leave more than 95 % of the coefficients at zero
(--alpha, --width), loss "absolute", penalty "sparse". Both run on HiGHS to the same optimum; times are of the
processor, one thread, and include all kernel work. "formed" is the share of K's columns formed and kept: all of them,
each priced in every round, where K fits (--sampled has the form for larger K). "K priced" is how many times the entries
of K were computed, and forgotten, in search of violated columns. The full program is left out where the previous size
lets expect more than the limit. The last line is the ratio of times at the largest size both solved.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_usps
from eigenfeat.kernel import Absolute, column_generation, lp
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.stages.kernels import Kernel, KernelRows


class CountingRows(KernelRows):
    """Counts the kernel columns formed and the kernel entries computed besides, to look for violated columns."""

    n_formed = 0
    n_priced = 0

    def columns(self, centers: np.ndarray) -> np.ndarray:
        self.n_formed += len(centers)
        return super().columns(centers)

    def block(self, rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
        self.n_priced += len(rows) * len(centers)
        return super().block(rows, centers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="300 and 600 rows only")
    parser.add_argument("--limit", type=float, default=200.0, help="seconds the full program may be expected to take")
    parser.add_argument("--sampled", action="store_true", help="as where K does not fit: price samples of the columns")
    parser.add_argument("--alpha", type=float, default=8.0)
    parser.add_argument("--width", type=float, default=0.6, help="c of the thesis, as a multiple of 256")
    options = parser.parse_args()
    if options.sampled:
        column_generation.MAX_KEPT_ROWS = 0
    data = load_usps()
    X, y = data["X_train"].astype(np.float64), np.where(data["y_train"] % 2, 1.0, -1.0)
    sizes = (300, 600) if options.quick else (500, 1000, 2000, 4000, len(y))
    print("  rows    full LP    columns  rounds   formed  K priced   zeros  difference")
    full_time, ratio = 0.0, float("nan")
    before = 0
    for n in sizes:
        kernel = CountingRows(Kernel("rbf", 1 / (options.width * 256)), X[:n])
        problem = KernelProblem(kernel, y[:n, None], np.ones(n), options.alpha, Absolute(), "sparse")
        start = process_time()
        generated = column_generation.solve(problem)
        seconds = process_time() - start
        formed, priced = kernel.n_formed / n, kernel.n_priced / n**2
        expected = full_time * (n / before) ** 3 if before else 0.0
        difference, full = "not compared", "left out"
        if expected <= options.limit:
            start = process_time()
            complete = lp.solve(problem)
            full_time, before = process_time() - start, n
            ratio = full_time / seconds
            full = f"{full_time:.2f} s"
            difference = f"{abs(generated.objective[0] / complete.objective[0] - 1):.1e}"
        print(
            f"{n:6d} {full:>10} {seconds:>8.2f} s {generated.n_iter:7d} {formed:8.1%} {priced:8.1f}x "
            f"{(generated.coefficients == 0).mean():7.1%}  {difference}",
            flush=True,
        )
    print(f"full linear program / column generation at {before} rows: {ratio:.1f}x")


if __name__ == "__main__":
    main()
