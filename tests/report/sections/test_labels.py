"""Labels one by one, and which go together, on the page."""

from sklearn.datasets import make_multilabel_classification

from eigenfeat import LeastSquaresCCA
from eigenfeat.report import render


def page(n_classes=5):
    X, Y = make_multilabel_classification(300, n_classes=n_classes, random_state=0)
    model = LeastSquaresCCA().fit(X[:150], Y[:150])
    names = ["sea & <sand>", *(f"topic {j}" for j in range(1, n_classes))]
    return render(model, X[150:], Y[150:], train=(X[:150], Y[:150]), target_names=names, time_budget=2.0)


def test_a_page_of_many_labels_tells_each():
    html = page()
    for words in ("Label by label", "Which labels go together", "Wrong labels", "Rows all right", "without a model"):
        assert words in html
    assert "sea &amp; &lt;sand&gt;" in html and "<sand>" not in html
    assert "topic 4" in html and "target 1" not in html
    assert "Predicted against observed" not in html
