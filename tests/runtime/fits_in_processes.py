"""Fits in pools of processes print the runtime they are under: test_context.py runs this as a script."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone

from eigenfeat._runtime.config import RuntimeMixin, current, runtime, runtime_of_fit


class Probe(RuntimeMixin, BaseEstimator):
    def fit(self):
        with runtime_of_fit(self):
            run = current()
            return run.memory, run.n_threads, run.checkpoint, run.listeners


def fit(estimator):
    return estimator.fit()


def fit_clone(estimator):
    return clone(estimator).fit()


def fit_in_another_process(estimator):
    with runtime_of_fit(estimator), ProcessPoolExecutor(1) as pool:
        return pool.submit(fit, Probe()).result()


def main():
    probes = [Probe(), Probe()]
    with runtime("9MB", progress=print):
        older = multiprocessing.get_context("fork").Pool(1)
    with runtime("1MB", n_threads=1, progress=print):
        for backend in ("loky", "multiprocessing"):
            print(f"{backend}: {Parallel(2, backend=backend)(delayed(fit)(probe) for probe in probes)[0]}")
        for method in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(method).Pool(1) as pool:
                print(f"{method}: {pool.map(fit, probes)[0]}")
        with ProcessPoolExecutor(1) as pool:
            print(f"executor: {pool.submit(fit, probes[0]).result()}")
            print(f"clone: {pool.submit(fit_clone, probes[0]).result()}")
            print(f"nested: {pool.submit(fit_in_another_process, probes[0]).result()}")
        print(f"older: {older.map(fit, probes)[0]}")
    print(f"later: {older.map(fit, probes)[0]}")
    older.terminate()


if __name__ == "__main__":
    main()
