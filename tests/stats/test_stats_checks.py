"""What a formula may be given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaltui.stats import checks

NEVER = [math.nan, math.inf, -math.inf, 1e61, 10**400]


@pytest.mark.parametrize("check", [checks.finite, checks.at_least_zero, checks.positive, checks.share])
@pytest.mark.parametrize("value", NEVER, ids=lambda value: f"{value:.3}" if isinstance(value, float) else "10^400")
def test_nobody_takes_what_cannot_be_computed_with(check, value):
    with pytest.raises(ValueError, match=r"^x must "):
        check("x", value)


@pytest.mark.parametrize(
    ("check", "taken", "refused"),
    [
        (checks.finite, [-1e60, 0, 1e-300, 1e60], []),
        (checks.at_least_zero, [0, 5e-324, 1e60], [-5e-324]),
        (checks.positive, [1e-60, 1e60], [0, 1e-61, -1]),
        (checks.share, [0, 0.5, 1], [-5e-324, math.nextafter(1, 2)]),
        (checks.count, [1, np.int64(7), 2**53], [0, -1, 2**53 + 1, 2.5, 1.0, math.nan, math.inf, True, np.True_, "3"]),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_each_has_its_own_limits(check, taken, refused):
    for value in taken:
        assert check("x", value) == value
    for value in refused:
        with pytest.raises(ValueError, match=rf"^x must .*{value}"):
            check("x", value)


def test_a_count_has_the_limits_that_are_asked_for():
    assert checks.count("x", 0, 0) == 0
    for value in (1, 5):
        with pytest.raises(ValueError, match=f"x must be at .* not {value}"):
            checks.count("x", value, 2, 4)


def test_advice_is_given_with_the_refusal():
    with pytest.raises(ValueError, match="not 0; pass None"):
        checks.positive("x", 0, "pass None")
