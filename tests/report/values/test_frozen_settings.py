"""A copy is fitted without searching again."""

from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenfeat import GEMClassifier
from eigenfeat.report.values.frozen_settings import with_settings_found


def test_what_was_auto_is_given_and_the_rest_stays():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), GEMClassifier(2, ridge=0.5)).fit(X, y)
    copy = with_settings_found(model)
    gem, found = copy[-1], model[-1].choices_
    assert not hasattr(gem, "classes_")
    assert (gem.n_components, gem.ridge) == (2, 0.5)
    assert (gem.alpha, gem.base_map, gem.label_smoothing) == tuple(
        found[name] for name in ("alpha", "base_map", "label_smoothing")
    )
    assert "alpha" not in {name for name, value in gem.get_params().items() if value == "auto"}
    assert model[-1].alpha == "auto"
