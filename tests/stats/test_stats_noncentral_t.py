"""The noncentral t distribution, against adaptive quadrature and, where it has a value, scipy's ``nctdtr``."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from scipy.special import nctdtr, ndtr

from evaltui.stats.noncentral_t import exceeds

T = [-30.0, -2.0, -0.3, 0.0, 1e-6, 1.0, 3.0, 12.0, 500.0]
DELTA = [-20.0, -1.0, 0.0, 0.5, 5.0, 9.5, 90.0]


def integrated(t, df, delta):
    chi, root = scipy.stats.chi(df), np.sqrt(df)
    furthest = 1 + 14 / np.sqrt(2 * df)
    marks = [(delta + z) / t for z in (-9, 0, 9)] if t else []
    edges = sorted({0.0, 0.1, 1.0, furthest, *(mark for mark in marks if 0 < mark < furthest)})

    def integrand(s):
        return ndtr(delta - t * s) * chi.pdf(s * root) * root

    pieces = (
        scipy.integrate.quad(integrand, *pair, epsabs=0, epsrel=1e-13, limit=400) for pair in itertools.pairwise(edges)
    )
    return sum(piece[0] for piece in pieces)


@pytest.mark.parametrize("df", [1, 2, 3, 4.5, 10, 57])
def test_it_is_the_mean_of_the_normal_tail_over_the_sd_that_is_found(df):
    for t, delta in itertools.product(T, DELTA):
        assert float(exceeds(t, df, delta)) == pytest.approx(integrated(t, df, delta), abs=1e-12)


@pytest.mark.parametrize("df", [1, 2, 18, 300, 5000, 10**6])
def test_it_is_that_of_scipy_where_scipy_has_a_value(df):
    # Next to 0 it errs by 1e-11 itself: with df = 1 the exact value is 1/2 - atan(t) / pi.
    for t, delta in itertools.product((t for t in T if t != 1e-6), (-1.0, 0.0, 0.5, 3.0)):
        theirs = 1 - nctdtr(df, delta, t)
        if np.isfinite(theirs):
            assert float(exceeds(t, df, delta)) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("df", [1, 2, 1e6, 1e15, 1e29, 1e60])
def test_it_is_a_probability_for_any_finite_numbers(df):
    extremes = [0.0, 5e-324, 1e-300, 1e-9, 9.0, 1e8, 1e200, 1.7e308]
    for delta in (*extremes, *(-x for x in extremes)):
        found = exceeds([*extremes, *(-x for x in extremes)], df, delta)
        assert ((found >= 0) & (found <= 1)).all()


def test_without_a_shift_it_is_t():
    t = np.array([[-3.0, 0.0], [0.5, 40.0]])
    assert exceeds(t, 4, 0).shape == (2, 2)
    assert exceeds(t, 4, 0) == pytest.approx(scipy.stats.t.sf(t, 4), abs=1e-13)
    assert float(exceeds(1e-6, 1, 0)) == pytest.approx(0.5 - np.arctan(1e-6) / np.pi, abs=1e-15)


@pytest.mark.parametrize(
    ("t", "df", "delta", "name"),
    [(np.nan, 3, 0, "t"), (np.inf, 3, 0, "t"), (1, 0.5, 0, "df"), (1, np.nan, 0, "df"), (1, 3, np.nan, "delta")],
)
def test_what_is_not_a_number_is_refused(t, df, delta, name):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        exceeds(t, df, delta)
