"""What all moments share: mixtures, pools, counts, and labels as codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenfeat.moments import DenseMoments, DualMoments
from eigenfeat.moments.base import class_codes


@pytest.fixture(params=[DenseMoments, DualMoments], ids=lambda cls: cls.__name__)
def moments(request):
    rng = np.random.default_rng(0)
    return request.param().update(rng.normal(size=(10, 3)), np.repeat([0, 1, 2], [5, 3, 2]))


def test_a_mixture_is_a_class_proportions_or_all_rows(moments):
    np.testing.assert_allclose(moments.proportions(None), [0.5, 0.3, 0.2])
    np.testing.assert_array_equal(moments.proportions(1), [0, 1, 0])
    np.testing.assert_array_equal(moments.proportions([0.2, 0.8, 0.0]), [0.2, 0.8, 0.0])
    np.testing.assert_allclose(moments.pool(np.array([1, 2])), [0, 0.6, 0.4])
    np.testing.assert_allclose(moments.mean(moments.pool([0, 1])), (5 * moments.means[0] + 3 * moments.means[1]) / 8)


def test_the_total_is_within_and_between(moments):
    for mixture in (None, np.array([0.5, 0.5, 0.0]), 2):
        total = moments.within(mixture).toarray() + moments.between(mixture).toarray()
        np.testing.assert_allclose(moments.covariance(mixture).toarray(), total, atol=1e-12)
        H = moments.between_factor(mixture)
        np.testing.assert_allclose(moments.between(mixture).toarray(), H @ H.T, atol=1e-12)


def test_rows_of_equal_weight_count_as_many_as_they_are(moments):
    assert moments.effective_count() == pytest.approx(10)
    assert moments.effective_count(2) == pytest.approx(2)
    # Kish: (Σw)² / Σw²
    weighted = type(moments)().update(np.eye(3), None, np.array([1.0, 1.0, 2.0]))
    assert weighted.effective_count() == pytest.approx(16 / 6)


def test_an_empty_copy_has_seen_nothing_and_takes_the_same_rows(moments):
    empty = moments.empty_copy()
    assert type(empty) is type(moments) and len(empty.classes) == 0
    empty.merge(moments)
    np.testing.assert_allclose(empty.covariance().toarray(), moments.covariance().toarray(), atol=1e-12)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.lists(st.integers(-5, 5), max_size=5), st.booleans())
def test_codes_point_at_the_sorted_union(labels, known, as_text):
    labels, known = np.array(labels), np.unique(np.array(known, dtype=int))
    if as_text:
        labels, known = labels.astype(str), np.unique(known.astype(str))
    classes, codes = class_codes(labels, known)
    np.testing.assert_array_equal(classes, np.union1d(known, labels) if len(known) else np.unique(labels))
    np.testing.assert_array_equal(classes[codes], labels)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2**63, 2**63 + 2, 2**63 + 1, 2**63], dtype=np.uint64),
        np.array([2**53, 2**53 + 1, 2**53 + 2]),
        np.array([-(2**63), -(2**63) + 1]),
        np.array([-128, 127, 0, -128], dtype=np.int8),
        np.array([255, 0, 254], dtype=np.uint8),
    ],
    ids=lambda labels: f"{labels.dtype} from {labels.min()}",
)
def test_labels_of_every_integer_type_stay_apart(labels):
    for known in (np.empty(0), labels[:1]):
        classes, codes = class_codes(labels, known)
        assert classes.dtype == labels.dtype
        np.testing.assert_array_equal(classes[codes], labels)
        assert len(classes) == len(set(labels.tolist()))


def test_labels_of_several_integer_types_stay_apart():
    classes, codes = class_codes(np.array([2**63 + 1, 2**63], dtype=np.uint64), np.array([1, 2]))
    assert classes.tolist() == [1, 2, 2**63, 2**63 + 1] and codes.tolist() == [3, 2]
    classes, _ = class_codes(np.array([7], dtype=np.uint64), np.array([-1, 2]))
    assert classes.tolist() == [-1, 2, 7]
    with pytest.raises(ValueError, match="no type of integers holds both"):
        class_codes(np.array([2**63], dtype=np.uint64), np.array([-1]))


def test_text_and_numbers_do_not_mix():
    with pytest.raises(ValueError, match="as '1', and int64 in others, as 1: give all labels as text"):
        class_codes(np.array(["1"]), np.array([1]))
