"""Every class has its line, every regression its two figures."""

import re

from eigenfeat.report.sections.result import by_class, predicted_against_observed


def test_precision_and_recall_a_class(measured_wine):
    result = measured_wine.classification
    body = by_class(result).body
    assert body.count("<tr>") == 1 + len(result.classes)
    recall = [f"{100 * value:.1f} %" for value in result.recall]
    assert re.findall(r"(\d+\.\d %)</td></tr>", body) == recall


def test_predicted_against_observed(measured_diabetes):
    body = predicted_against_observed(measured_diabetes.regressions).body
    assert body.count("<figure") == 2 and body.count('role="img"') == 2
    assert "residuals lie between" in body
