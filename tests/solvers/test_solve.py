"""Every solver against ``scipy.linalg.eigh``, by eigenvalues and principal angles, and the laws of a quotient."""

from __future__ import annotations

import gc
import warnings
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh, subspace_angles

from eigenfeat.moments import GramCache
from eigenfeat.moments.forms import DenseForm, FactoredForm, RowTerm, SymmetricForm, identity_like
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers import Request, choose, krylov, solve


def moment(d: int, seed: int, rows: int | None = None, decay: float = 1.0) -> np.ndarray:
    """A second moment with a spectrum that falls off by ``decay``."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows or 3 * d, d)) * np.geomspace(1, decay, d)
    X = X @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    return X.T @ X / len(X)


def dense_pair(d: int = 60, ridge: float | np.ndarray = 0.1, decay: float = 0.05) -> Quotient:
    return Quotient(DenseForm(moment(d, 0, decay=decay)), DenseForm(moment(d, 1), ridge), label="dense")


def factored_pair(d: int = 150, ridge: float | np.ndarray = 0.3, sparse: bool = False) -> Quotient:
    X = np.random.default_rng(2).standard_normal((50, d))
    if sparse:
        from scipy.sparse import csr_matrix

        X = csr_matrix(np.where(np.abs(X) > 1.2, X, 0.0))
    cache = GramCache(X)
    signal = FactoredForm(cache, (RowTerm(np.arange(20), scale=np.full(20, 20**-0.5)),))
    noise_term = RowTerm(np.arange(20, 50), scale=np.linspace(0.1, 0.3, 30), centred=True)
    return Quotient(signal, FactoredForm(cache, (noise_term,), ridge), label="factored")


def low_rank_pair(noise: SymmetricForm) -> Quotient:
    H = np.random.default_rng(3).standard_normal((noise.shape[0], 6))
    return Quotient(DenseForm(H @ H.T), noise, signal_factor=H, label="low rank")


DECAYS = (0.03, 1e-6, 0.003, 1e-4, 0.01)

PROBLEMS = {
    "dense": lambda: dense_pair(),
    "dense diagonal ridge": lambda: dense_pair(ridge=np.linspace(0.05, 0.3, 60)),
    "larger": lambda: dense_pair(300, decay=0.005),
    "factored": lambda: factored_pair(),
    "sparse": lambda: factored_pair(sparse=True),
    "factored diagonal ridge": lambda: factored_pair(ridge=np.linspace(0.2, 0.5, 150)),
    "identity noise": lambda: Quotient(factored_pair().signal, identity_like(factored_pair().signal)),
    "low rank": lambda: low_rank_pair(DenseForm(moment(60, 1), 0.1)),
    "low rank over rows": lambda: low_rank_pair(factored_pair().noise),
}
ABLE = [
    *[("dense", p, which) for p in PROBLEMS for which in ("largest", "smallest")],
    *[(s, p, "largest") for s in ("krylov", "randomized") for p in PROBLEMS],
    *[("dual", p, "largest") for p in ("factored", "sparse", "factored diagonal ridge")],
    *[("low_rank", p, "largest") for p in ("low rank", "low rank over rows")],
    *[("auto", p, "largest") for p in PROBLEMS],
]


@pytest.mark.parametrize(("solver", "problem", "which"), ABLE)
def test_agrees_with_lapack(solver, problem, which):
    quotient = PROBLEMS[problem]()
    S, N = quotient.signal.toarray(), quotient.noise.toarray()
    found = solve([quotient], 4, solver=solver, which=which, tol=1e-6)[0]
    values, vectors = eigh(S, N)
    order = slice(None, None, -1) if which == "largest" else slice(None)
    values, vectors = values[order], vectors[:, order]
    scale = np.abs(eigh(S, N, eigvals_only=True)).max()
    np.testing.assert_allclose(found.values, values[:4], rtol=1e-9, atol=1e-12 * scale)
    V = found.toarray()
    np.testing.assert_allclose(V.T @ N @ V, np.eye(4), atol=1e-8)
    # Directions of a repeated eigenvalue are free within its space, which may go on beyond the fourth.
    tied = (np.arange(len(values)) < 4) | (np.abs(values - values[3]) <= 1e-9 * scale)
    assert subspace_angles(V, vectors[:, tied]).max() < 2e-5
    assert found.converged
    assert found.residuals.max() < 1e-6
    assert found.noise_rank == quotient.n_features
    residual = np.linalg.norm(S @ V - N @ V * found.values, axis=0)
    assert residual.max() <= 1e-6 * (np.linalg.norm(S @ V, axis=0) + scale * np.linalg.norm(N @ V, axis=0)).max()


@given(seed=st.integers(0, 2**16), d=st.integers(2, 12), solver=st.sampled_from(["dense", "randomized"]))
@settings(max_examples=20, deadline=None)
def test_swapping_signal_and_noise_inverts_eigenvalues(seed, d, solver):
    A, B = DenseForm(moment(d, seed)), DenseForm(moment(d, seed + 1))
    forward = solve([Quotient(A, B)], d, solver=solver)[0].values
    backward = solve([Quotient(B, A)], d, solver=solver)[0].values
    np.testing.assert_allclose(forward, 1 / backward[::-1], rtol=1e-7)


def well_conditioned(d: int, rng: np.random.Generator) -> np.ndarray:
    """An invertible matrix of condition number at most 6."""
    left, right = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2))
    return (left * rng.uniform(0.5, 3, size=d)) @ right


@given(seed=st.integers(0, 2**16), d=st.integers(2, 10))
@settings(max_examples=20, deadline=None)
def test_embeddings_do_not_depend_on_the_basis_without_ridge(seed, d):
    """Proposition 1 of GEM: x → Tx leaves vᵀx unchanged, signs included, for the references move along."""
    rng = np.random.default_rng(seed)
    A, T = well_conditioned(d, rng), well_conditioned(d, rng)
    values = np.cumprod(rng.uniform(1.1, 1.5, size=d))[::-1]  # neighbours at least a tenth apart
    S, N = (A * values) @ A.T, A @ A.T
    X, R = rng.standard_normal((5, d)), rng.standard_normal((2, d))
    pairs = [
        Quotient(DenseForm(S), DenseForm(N), references=R),
        Quotient(DenseForm(T @ S @ T.T), DenseForm(T @ N @ T.T), references=R @ T.T),
    ]
    plain, mapped = solve(pairs)
    np.testing.assert_allclose(plain.values, values, rtol=1e-9)
    # T acts on columns: a row x becomes Tx, a direction T⁻ᵀv.
    embedded = X @ plain.toarray()
    np.testing.assert_allclose((X @ T.T) @ mapped.toarray(), embedded, rtol=1e-6, atol=1e-7 * np.abs(embedded).max())


def test_result_does_not_depend_on_n_jobs():
    noises = [DenseForm(moment(300, s), 0.2) for s in range(4)]
    quotients = [Quotient(DenseForm(moment(300, 10 + i, decay=0.05)), N) for N in noises for i in range(2)]
    for solver in ("krylov", "dense"):
        alone, together = (solve(quotients, 5, solver=solver, n_jobs=n) for n in (1, 3))
        for a, b in zip(alone, together):
            assert np.array_equal(a.toarray(), b.toarray())
            assert np.array_equal(a.values, b.values)


def test_a_problem_is_solved_alike_alone_and_in_company():
    noise = DenseForm(moment(40, 0), 0.2)
    quotients = [Quotient(DenseForm(moment(40, 1 + i, rows=15)), noise, references=np.ones((1, 40))) for i in range(3)]
    together = solve(quotients * 5, 6)
    for quotient, found in zip(quotients, together):
        alone = solve([quotient], 6)[0]
        np.testing.assert_allclose(found.values, alone.values, rtol=1e-9)
        np.testing.assert_allclose(found.toarray(), alone.toarray(), atol=1e-7)


@pytest.mark.parametrize(
    ("solver", "d", "decay"),
    [("krylov", 300, 0.005), ("krylov", 400, 0.05), ("krylov", 600, 0.5), ("randomized", 300, 0.005)],
)
def test_the_default_tolerance_leaves_a_hundred_millionth_of_an_eigenvalue(solver, d, decay):
    """Eigenvalues err by the square of the residual over the gap."""
    quotient = dense_pair(d, decay=decay)
    found = solve([quotient], 10, solver=solver)[0]
    exact = eigh(quotient.signal.toarray(), quotient.noise.toarray(), eigvals_only=True)[::-1][:10]
    np.testing.assert_allclose(found.values, exact, rtol=1e-8)


def test_signals_side_by_side_are_refined_as_they_are_alone():
    """The noise's products are formed for all signals at once; each must get its own."""
    noise = DenseForm(moment(300, 1), 0.1)
    quotients = [Quotient(DenseForm(moment(300, seed, decay=0.01)), noise) for seed in (2, 3, 4)]
    for quotient, found in zip(quotients, solve(quotients, 5, solver="krylov", tol=1e-6)):
        exact = eigh(quotient.signal.toarray(), noise.toarray())[1][:, ::-1][:, :5]
        assert subspace_angles(exact, found.toarray()).max() < 1e-5


@pytest.mark.parametrize(("solver", "problem"), [(s, p) for s, p, w in ABLE if w == "largest" and s != "auto"])
def test_float32_is_kept(solver, problem):
    quotient = PROBLEMS[problem]()
    found = solve([quotient], 4, solver=solver, dtype=np.float32)[0]
    assert found.vectors.dtype == np.float32
    assert found.values.dtype == np.float32
    exact = solve([quotient], 4, tol=1e-8)[0]
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-4)
    # In float32 the iterative solvers stop at a relative residual of 2e-3; LAPACK goes on to rounding.
    largest = 1e-5 if solver in ("dense", "dual", "low_rank") else 5e-3
    assert subspace_angles(exact.toarray(), found.toarray().astype(float)).max() < largest


@pytest.mark.parametrize("ridge", [0.01, 0.5])
def test_rows_in_float32_are_solved_to_their_rounding(ridge):
    """Inner products are float32's, and nothing is lost beyond: small differences of large numbers are float64's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 800)) * np.geomspace(30, 0.3, 800) + 10 * rng.normal(size=800)
    pairs = []
    for dtype in (np.float64, np.float32):
        cache = GramCache(X.astype(dtype))
        forms = [FactoredForm(cache, (RowTerm(np.arange(i, 300, 3), scale=np.full(100, 0.1, dtype)),)) for i in (0, 1)]
        noise = FactoredForm(cache, forms[1].terms, ridge * forms[1].trace() / 800)
        pairs.append(solve([Quotient(forms[0], noise)], 5, solver="dual", dtype=np.dtype(dtype))[0])
    exact, found = pairs
    assert found.values.dtype == np.float32 and found.converged and found.residuals.max() < 1e-6
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-5)
    assert subspace_angles(exact.toarray(), found.toarray().astype(float)).max() < 1e-4


def test_signals_that_converge_at_different_times_are_those_of_lapack(monkeypatch):
    """Of one noise, searched side by side: those that are there leave, the others close up and go on."""
    noise = DenseForm(moment(400, 9), 0.05)
    quotients = [Quotient(DenseForm(moment(400, seed, decay=decay)), noise) for seed, decay in enumerate(DECAYS)]
    blocks, apply = [], krylov._apply
    monkeypatch.setattr(
        krylov, "_apply", lambda signals, *others: (blocks.append(len(signals)), apply(signals, *others))[1]
    )
    for quotient, found in zip(quotients, solve(quotients, 10, solver="krylov", tol=1e-6)):
        d = noise.shape[0]
        values, vectors = eigh(quotient.signal.toarray(), noise.toarray(), subset_by_index=(d - 10, d - 1))
        assert found.converged and found.solver == "krylov"
        np.testing.assert_allclose(found.values, values[::-1], rtol=1e-10)
        assert subspace_angles(found.toarray(), vectors).max() < 1e-5
    assert blocks[0] == len(DECAYS) and len(set(blocks)) >= 3  # they did not all leave at once


def test_any_tolerance_leaves_as_many_directions_as_are_asked_for():
    quotient = dense_pair(300, decay=0.005)
    found = solve([quotient], 5, solver="krylov", tol=1e3)[0]
    exact = eigh(quotient.signal.toarray(), quotient.noise.toarray(), eigvals_only=True)[::-1]
    assert found.n_directions == 5 and (found.values <= exact[:5] * (1 + 1e-9)).all() and found.values[0] > exact[5]


def test_krylov_falls_back_to_lapack_when_it_does_not_converge():
    """A flat spectrum has no leading directions to converge to within the space allowed."""
    S, N = DenseForm(np.diag(1 + 1e-7 * np.arange(400.0))), DenseForm(np.eye(400))
    found = solve([Quotient(S, N)], 3, solver="krylov", tol=1e-12)[0]
    assert found.solver == "dense"
    np.testing.assert_allclose(found.values, 1 + 1e-7 * np.array([399, 398, 397]), rtol=1e-12)


def test_threshold_and_all_directions():
    quotient = dense_pair(200)
    everything = eigh(quotient.signal.toarray(), quotient.noise.toarray(), eigvals_only=True)[::-1]
    np.testing.assert_allclose(solve([quotient])[0].values, everything, rtol=1e-9, atol=1e-12)
    threshold = float(everything[7])
    above = solve([quotient], min_eigenvalue=threshold * (1 - 1e-9))[0]
    assert above.n_directions == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what a threshold drops is asked for
        few = solve([quotient], 12, min_eigenvalue=threshold * (1 - 1e-9))[0]
    assert few.n_directions == 8


@pytest.mark.parametrize("rows", [40, 25])
def test_singular_noise_is_restricted_to_its_range(rows):
    """Dense and dual agree with the problem projected on the range by hand."""
    d = 60
    X = np.random.default_rng(0).standard_normal((rows + 30, d)) * np.geomspace(1, 100, d)
    cache = GramCache(X)
    signal = FactoredForm(cache, (RowTerm(np.arange(30), scale=np.full(30, 30**-0.5)),))
    noise = FactoredForm(cache, (RowTerm(np.arange(30, 30 + rows), scale=np.full(rows, rows**-0.5)),))
    Q = np.linalg.qr(X[30:].T)[0]
    expected = eigh(Q.T @ signal.toarray() @ Q, Q.T @ noise.toarray() @ Q, eigvals_only=True)[::-1]
    for solver in ("dense", "dual", "krylov"):
        with pytest.warns(UserWarning, match=rf"rank {rows} of {d}.*ridge > 0"):
            found = solve([Quotient(signal, noise, label="a over b")], 5, solver=solver)[0]
        np.testing.assert_allclose(found.values, expected[:5], rtol=1e-7)
        assert found.noise_rank == rows
        assert found.converged
        V = found.toarray()
        np.testing.assert_allclose(Q @ (Q.T @ V), V, atol=1e-7 * np.abs(V).max())


def test_rank_of_the_noise_does_not_depend_on_units():
    N = moment(20, 0)
    units = np.geomspace(1e-6, 1e6, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = Quotient(DenseForm(moment(20, 1) * units * units[:, None]), DenseForm(N * units * units[:, None]))
        found, plain = solve([scaled])[0], solve([Quotient(DenseForm(moment(20, 1)), DenseForm(N))])[0]
    np.testing.assert_allclose(found.values, plain.values, rtol=1e-6)


def test_float32_matrices_with_a_small_ridge_are_not_singular():
    """The factor is computed in float64: a ridge of 1e-4 next to an eigenvalue of 100 is no rounding."""
    X = np.random.default_rng(0).standard_normal((30, 200)).astype(np.float32) + np.float32(1)
    S, N = DenseForm(moment(200, 0).astype(np.float32)), DenseForm(X.T @ X / np.float32(30), 1e-2)
    expected = eigh(S.toarray().astype(float), N.toarray().astype(float), eigvals_only=True)[::-1][:4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = solve([Quotient(S, N)], 4, dtype=np.float32)[0]
    assert found.noise_rank == 200
    np.testing.assert_allclose(found.values, expected, rtol=1e-4)


@pytest.mark.parametrize("solver", ["low_rank", "dual", "randomized", "dense"])
def test_a_signal_of_zero_has_no_directions_or_zero_eigenvalues(solver):
    zero = np.zeros((8, 5))
    cache = GramCache(zero.T.copy())
    noise = identity_like(FactoredForm(cache, (RowTerm(np.arange(3), scale=np.ones(3)),)))
    signal = FactoredForm(cache, (RowTerm(np.arange(3), scale=np.ones(3)),))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        found = solve([Quotient(signal, noise, signal_factor=np.zeros((8, 2)))], 2, solver=solver)[0]
    assert np.all(found.values == 0)
    assert found.converged


def test_null_pair_fills_the_random_matrix_edges():
    """Two classes of one centred Gaussian: eigenvalues in [((1-h)/(1-c2))², ((1+h)/(1-c2))²]."""
    d, n1, n2 = 200, 800, 1600
    c1, c2 = d / n1, d / n2
    h = np.sqrt(c1 + c2 - c1 * c2)
    rng = np.random.default_rng(0)
    S, N = ((lambda X: X.T @ X / len(X))(rng.standard_normal((n, d))) for n in (n1, n2))
    pair = Quotient(DenseForm(S), DenseForm(N))
    top = solve([pair], 3, solver="krylov")[0].values[0]
    bottom = solve([pair], 1, which="smallest")[0].values[0]
    slack = 3 * d ** (-2 / 3)
    assert top == pytest.approx(((1 + h) / (1 - c2)) ** 2, rel=slack)
    assert bottom == pytest.approx(((1 - h) / (1 - c2)) ** 2, rel=slack)


def test_dual_and_dense_directions_have_the_same_signs():
    quotient = factored_pair()
    for references in (np.random.default_rng(0).standard_normal((3, 150)), None):
        oriented = Quotient(quotient.signal, quotient.noise, references=references)
        dual, dense = (solve([oriented], 6, solver=s)[0].toarray() for s in ("dual", "dense"))
        np.testing.assert_allclose(dual, dense, atol=1e-10)


def test_stacked_and_single_dual_problems_agree():
    X = np.random.default_rng(0).standard_normal((60, 40))
    cache = GramCache(X)

    def form(start, centred, shift=0.0):
        return FactoredForm(cache, (RowTerm(np.arange(start, start + 10), np.linspace(0.1, 0.5, 10), centred),), shift)

    for centred in (False, True):
        noise = form(0, centred, 0.2)
        quotients = [Quotient(form(s, centred), noise, references=X[s : s + 2]) for s in (10, 20, 30)]
        for quotient, found in zip(quotients, solve(quotients, 5)):
            np.testing.assert_allclose(found.toarray(), solve([quotient], 5)[0].toarray(), atol=1e-10)


@pytest.mark.parametrize(
    ("quotient", "n_components", "solver"),
    [
        (dense_pair(300), 5, "krylov"),
        (dense_pair(300), 100, "dense"),
        (dense_pair(60), 2, "dense"),
        (factored_pair(), 5, "dual"),
        (low_rank_pair(dense_pair().noise), 5, "low_rank"),
        (Quotient(DenseForm(np.eye(6)), DenseForm(np.eye(6))), None, "dense"),
        (Quotient(factored_pair(6000).signal.shifted(0.1), factored_pair(6000).noise), 2, "randomized"),
    ],
)
def test_auto_chooses_by_the_form_of_the_problem(quotient, n_components, solver):
    request = Request(n_components, "largest", None, 1e-6, np.dtype(float), 0)
    assert choose(quotient, request).name == solver


class TestBadInput:
    def test_unknown_solver_names_the_known(self):
        with pytest.raises(
            ValueError, match=r"Unknown solver 'magic'.*auto.*dual.*low_rank.*krylov.*dense.*randomized"
        ):
            solve([dense_pair()], 2, solver="magic")

    @pytest.mark.parametrize(
        ("solver", "kwargs", "message"),
        [
            ("low_rank", {"n_components": 2}, r"'low_rank' cannot run on quotient 'dense': it needs a signal_factor"),
            ("dual", {"n_components": 2}, r"'dual' cannot run.*the same rows.*solvers that can: krylov, dense"),
            ("krylov", {"n_components": 2, "which": "smallest"}, r'needs which="largest".*can: dense'),
            ("randomized", {}, r"needs a given n_components"),
        ],
    )
    def test_a_solver_that_cannot_run_says_why_and_who_can(self, solver, kwargs, message):
        with pytest.raises(ValueError, match=message):
            solve([dense_pair()], solver=solver, **kwargs)

    def test_auto_says_why_no_solver_can_run(self):
        wide = factored_pair(d=6000, ridge=0.3)
        with pytest.raises(ValueError, match=r"No solver can run on .*'factored': .*dense needs matrices that are"):
            solve([wide], 2, which="smallest")

    @pytest.mark.parametrize(
        ("kwargs", "message"),
        [
            ({"which": "middle"}, "largest.*smallest.*'middle'"),
            ({"dtype": np.int32}, "float64 or float32, got int32"),
            ({"n_components": 0}, "at least 1, got 0"),
            ({"n_jobs": 0}, "n_jobs must not be 0"),
        ],
    )
    def test_parameters(self, kwargs, message):
        with pytest.raises(ValueError, match=message):
            solve([dense_pair()], **kwargs)

    def test_zero_noise(self):
        with pytest.raises(ValueError, match=r"noise matrix of 'a' is zero.*add a constant"):
            solve([Quotient(DenseForm(np.eye(3)), DenseForm(np.zeros((3, 3))), label="a")], 1)

    def test_indefinite_noise(self):
        with pytest.raises(ValueError, match=r"indefinite.*positive semi-definite.*ridge"):
            solve([Quotient(DenseForm(np.eye(3)), DenseForm(np.diag([1.0, 1.0, -1.0])))], 1)

    def test_fewer_directions_than_asked_warn_once_for_a_batch(self):
        quotient = low_rank_pair(DenseForm(moment(60, 1), 0.1))
        with pytest.warns(
            UserWarning, match=r"'low rank' \(and 2 others\) has 6 directions.*9 asked.*rank 6"
        ) as caught:
            assert solve([quotient] * 3, 9)[0].n_directions == 6
        assert len(caught) == 1
        with pytest.warns(UserWarning, match="has 5 directions instead of the 9 asked for: there are 5 columns"):
            solve([dense_pair(5)], 9)

    def test_no_quotients(self):
        assert solve([], 3) == []


def test_rounds_are_solved_one_after_the_other_and_warned_of_once():
    """Matrices of a round are released before the next is built, and the result is that of one round."""
    alive: list[weakref.ref] = []

    def rounds():
        for ridge in (0.1, 0.2, 0.3):
            gc.collect()
            assert not any(form() for form in alive)
            quotient = dense_pair(5, ridge)
            alive.append(weakref.ref(quotient.signal))
            yield [quotient, dense_pair(5, 2 * ridge)]
            del quotient

    with pytest.warns(UserWarning, match=r"'dense' \(and 5 others\) has 5 directions instead of the 9") as caught:
        found = solve(rounds(), 9)
    assert len(caught) == 1
    with pytest.warns(UserWarning):
        together = solve([dense_pair(5, ridge) for ridge in (0.1, 0.2, 0.2, 0.4, 0.3, 0.6)], 9)
    for one, other in zip(found, together, strict=True):
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    assert solve([]) == []
