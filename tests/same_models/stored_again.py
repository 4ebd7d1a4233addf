"""Cases whose outputs are not those of commit fa39703, because a change of them was meant: by reason."""

DRAWN = """Rows are drawn, split and left out by their keys, and k-means starts from rows in the order of these, where
positions decided before: other rows are drawn now, the same ones whatever the order they come in
(tests/laws/test_row_order.py)."""

SEARCHES = (
    "HypergraphFeaturesCV",
    "LeastSquaresCCACV",
    "LeastSquaresFeaturesCV",
    "LeastSquaresLDACV",
    "LeastSquaresOPLSCV",
)

STORED_AGAIN = {
    DRAWN: (
        # Sub-classes and folds.
        *("GEMClassifier-subclasses", "GEMFeatures-subclasses"),
        *("GEMClassifierCV-defaults", "GEMClassifierCV-layers", "GEMClassifierCV-part"),
        *(f"{name}-{folds}" for name in SEARCHES for folds in ("folds", "lasso", "sparse folds")),
        # Rows left out for a temperature.
        *("MultinomialLogit-smoothed", "MultinomialLogit-smoothed batches", "MultinomialLogit-smoothed groups"),
        *(f"ScoreTensorClassifier-{name}" for name in ("alpha", "defaults", "new batches", "plain", "unlabelled")),
        "ScoreTensorClassifier-weights",
        # Centres and candidates of kernels.
        *("KernelFisherClassifier-centres", "KernelFisherClassifier-centres kmeans"),
        *(f"KernelFisherClassifier-squared coefficients {solver}" for solver in ("greedy", "nystrom", "subset")),
        *(f"KernelFisherClassifier-squared function {s}" for s in ("greedy", "greedy_smo", "nystrom", "subset")),
        *("KernelFisherClassifierCV-centres", "KernelFisherClassifierCV-folds"),
        *("KernelFisherFeatures-centres", "KernelFisherFeatures-invariances", "OrientedKernelPCA-kmeans"),
        *("KernelFisherRegressor-kmeans", "KernelFisherRegressor-squared function greedy_smo"),
        # Starts of mixtures.
        *(f"GaussianMixtureScore-{name}" for name in ("few steps", "mixture full", "mixture tied")),
        *(f"ScoreTensorFeatures-order {order} mixture" for order in (1, 2, 3)),
    ),
}
