"""Stages of trials: bands, unit power, power behind filters."""

import numpy as np
import pytest

from eigenfeat.solvers import DenseVectors
from eigenfeat.stages import BandPass, Chain, FilterBank, SignalPower, UnitPower

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 4, 200)) + 5
V = rng.normal(size=(4, 3))


def wave(frequency, time=1000, sampling_rate=100.0):
    return np.sin(2 * np.pi * frequency * np.arange(time) / sampling_rate)[None, None]


def test_power_is_the_variance_of_the_filtered_trial():
    expected = np.var(np.einsum("cr,nct->nrt", V, X), axis=-1)
    np.testing.assert_allclose(SignalPower(DenseVectors(V), log=False).apply(X), expected)
    np.testing.assert_allclose(SignalPower(DenseVectors(V)).apply(X), np.log(expected))
    assert np.isfinite(SignalPower(DenseVectors(V)).apply(np.ones((1, 4, 9)))).all()


def test_a_band_passes_what_is_in_it_without_delay():
    stage = BandPass.of(8, 12, 100.0)
    inside = stage.apply(wave(10))
    np.testing.assert_allclose(inside[..., 200:-200], wave(10)[..., 200:-200], atol=0.02)
    for outside in (3, 25):
        assert np.abs(stage.apply(wave(outside))[..., 200:-200]).max() < 0.01
    assert np.abs(stage.apply(np.full((1, 1, 400), 7.0))).max() < 1e-6
    assert stage.apply(X[:, :, :5]).shape == (70, 4, 5)


def test_unit_power():
    scaled = UnitPower().apply(X)
    np.testing.assert_allclose(np.var(scaled, axis=-1).sum(axis=1), 1)
    np.testing.assert_allclose(UnitPower().apply(7 * X - 3), scaled)
    np.testing.assert_array_equal(UnitPower().apply(np.ones((1, 4, 9))), 0)


CHAINS = {
    "power": Chain((SignalPower(DenseVectors(V)),)),
    "band": Chain((BandPass.of(8, 12, 100.0), SignalPower(DenseVectors(V)))),
    "unit power in bands": Chain(
        (
            FilterBank(
                tuple(
                    Chain((BandPass.of(low, low + 4, 100.0), UnitPower(), SignalPower(DenseVectors(V))))
                    for low in (8, 12)
                )
            ),
        )
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_results_do_not_depend_on_blocks_and_keep_their_type(name):
    chain = CHAINS[name]
    assert chain.at(X).shape == (70, chain.n_columns(4))
    np.testing.assert_array_equal(chain.projecting.at(X), chain.at(X))  # a component each
    np.testing.assert_allclose(chain.at(X), np.vstack([chain.apply(X[i : i + 1]) for i in range(70)]), rtol=1e-12)
    single = chain.at(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, chain.at(X), atol=1e-3)
