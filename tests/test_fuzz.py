"""The fuzzers, briefly: `make fuzz` tries a hundred thousand inputs."""

import pytest

from fuzz.run import again, fuzz
from fuzz.targets import TARGETS

INPUTS = 3_000
"""Number of inputs for all targets together."""


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_refused_or_sound(name):
    inputs = max(60, round(INPUTS * TARGETS[name].fraction))
    taken, broken = fuzz(name, 1, range(inputs))
    assert not broken, "\n\n".join(broken[:3])
    assert 0 < taken < inputs  # damage is seen, and not everything is refused


def test_a_broken_promise_is_reported_with_the_command_that_shows_it_again(monkeypatch):
    from contextlib import contextmanager

    from fuzz import targets

    @contextmanager
    def believing(folder):
        def attempt(rng):
            if rng.random() < 0.5:
                raise KeyError("taken at its word")
            return True

        yield attempt

    monkeypatch.setitem(targets.TARGETS, "believer", targets.Target(believing, 0.1))
    taken, broken = fuzz("believer", 7, range(20))
    assert 0 < taken == 20 - len(broken) < 20
    first = next(number for number in range(20) if again("believer", 7, number) in broken[0])
    assert "taken at its word" in broken[0]
    assert fuzz("believer", 7, range(first, first + 1)) == (0, broken[:1])
