"""What the docstrings of the least-squares family have in common."""

from __future__ import annotations

from inspect import cleandoc
from typing import TypeVar

PARAMETERS = """n_components : int, optional
        Directions to keep; by default all of nonzero eigenvalue.
    penalty : {None, "ridge", "lasso", "elasticnet", "group"}
        On ½‖XW - T‖², with sums over rows: none, ½ alpha ‖W‖², alpha ‖W‖₁ (sparse directions), alpha (l1_ratio ‖W‖₁ +
        ½ (1 - l1_ratio) ‖W‖²), or alpha Σ ‖rows of W‖ (whole inputs drop out).
    alpha : float or "loo"
        Weight of the penalty. By default the ridge of least squared error at rows left out of the regression, one at a
        time and exactly (PRESS), on a grid scaled to X; where X has more than 2,000 rows and columns, at 2,000 rows
        drawn alike. A sparse penalty, which has no such formula, is chosen on five folds. 0 is the plain
        eigenproblem, with a pseudo-inverse where XᵀX is singular.
    l1_ratio : float in (0, 1]
        Share of the 1-norm in "elasticnet".
    ridge : float
        Added to XᵀX relative to its mean diagonal, beside any penalty.
    solver : {"auto", "eigen", "primal", "dual", "block_cg", "lsqr"}
        All give the same directions: "eigen" decomposes X and solves the eigenproblem in its range; "primal" and "dual"
        factor XᵀX or XXᵀ; "block_cg" runs conjugate gradients on all targets at once, in memory O(nnz + (n + d) k);
        "lsqr" is LSQR, a target at a time. "auto" uses the decomposition that chose
        alpha, else factors the smaller matrix where it has at most 8,000 rows.
    kernel : str or callable, optional
        The same model in the feature space of a kernel: "rbf", "inverse_multiquadric", "linear", "poly", "sigmoid",
        "laplacian", "cosine", "chi2", "additive_chi2", "precomputed", or a function of two rows.
    gamma : float, optional
        Of the kernel; by default 1 / (d · variance of the entries of X).
    degree, coef0 : float
        Of the kernel.
    smoothness : float
        Weight of Σ ‖Wᵀ(x_i - x_j)‖² over neighbours, averaged over pairs and times n, when `fit` is given unlabelled
        rows.
    n_neighbors : int
        Of each row in that graph.
    tol : float
        Relative residual of "block_cg" and "lsqr", relative duality gap of the sparse penalties.
    max_iter : int
        Iterations of "block_cg" and "lsqr", sweeps of the sparse penalties."""

ATTRIBUTES = """components_ : (n_components, d) array
        Directions as rows, scaled so that ``Wᵀ(XᵀX + shift·I)W = I`` with X centred and shift the ridge; with a sparse
        penalty the minimisers themselves. Without ``kernel``.
    dual_coef_ : (n_components, n) array
        Coefficients of the training rows `X_fit_`, unlabelled ones included. With ``kernel``.
    offsets_ : (n_components,) array
        What is added to the projection of each component: rows are seen from their mean.
    eigenvalues_ : (n_components,) array
        ``wᵀXᵀSXw / wᵀ(XᵀX + shift·I)w``.
    residuals_ : (n_components,) array
        Of the eigenvalue equation, relative.
    alpha_ : float
        The weight of the penalty, given or chosen.
    mean_ : (d,) array
        Of the training rows. Without ``kernel``.
    gamma_ : float
        Of the kernel. With ``kernel``.
    criterion_ : str
        The quotient that was maximised, "least-squares".
    solver_, n_iter_ : str and int
        What ran, and its iterations.
    converged_ : array of bool
        Whether the regression on each target met ``tol``.
    n_features_in_ : int"""

REFERENCE = """Sun, Ji & Ye (2009), *A least squares formulation for a class of generalized eigenvalue problems in
    machine learning*."""

SHARED = f"""Parameters
    ----------
    {PARAMETERS}

    Attributes
    ----------
    {ATTRIBUTES}"""

FRAGMENTS = {"PARAMETERS": PARAMETERS, "ATTRIBUTES": ATTRIBUTES, "SHARED": SHARED, "REFERENCE": REFERENCE}

Documented = TypeVar("Documented", bound=type)


def documented(cls: Documented) -> Documented:
    """Fill the family's parameters, attributes and reference into a class's docstring."""
    cls.__doc__ = filled(cls.__doc__ or "", FRAGMENTS)
    return cls


def filled(text: str, fragments: dict[str, str]) -> str:
    """A text with the fragments in the place of their names in braces, none of them indented.

    From Python 3.13 on the compiler takes the indentation of a docstring off, and fragments have to fit in.
    """
    text = cleandoc(text)
    for name, fragment in fragments.items():
        text = text.replace("{" + name + "}", cleandoc(fragment))
    return text
