"""Positions in the engine's default form, for games that define none of their own: fields of any shape."""

import re

import numpy as np
import pytest

from artus_env.engine.contract.positions import Positions
from foreign import VALUES, is_short_line, places, refusal, replaced

SEATS = 4
FIELDS = [("player", np.int8), ("num_players", np.int8), ("rule_set", np.int8), ("scores", np.int32, (SEATS,))]
STATE = np.dtype(
    [
        *FIELDS,
        ("hands", np.int8, (SEATS, 3)),  # cards of each kind
        ("deck", np.int8, (SEATS,)),  # of four kinds: as many as there are seats
        ("trumps", np.uint8, (SEATS, 2)),  # sets
        ("row", np.int16, (2, 3)),
        ("chance", np.uint64),
    ]
)
FEAST = Positions(
    "feast", ("standard",), STATE, sets=("trumps",), hidden=("hands", "deck", "trumps", "chance"),
    counted=("hands", "deck"), common=("deck",),
)  # fmt: skip


def state():
    states = np.zeros(1, STATE)
    states["num_players"], states["player"], states["scores"] = 3, 1, [5, -6, 7, 0]
    states["hands"][0, :3] = [[2, 0, 1], [0, 3, 0], [1, 1, 1]]
    states["deck"], states["row"], states["chance"] = [4, 5, 6, 7], [[1, 2, 3], [-4, 5, 6]], 9
    states["trumps"][0, :3] = [[0b101, 0], [0b10, 0b1], [0, 0]]
    return states


POSITION = {
    "game": "feast",
    "rules": "standard",
    "num_players": 3,
    "player": 1,
    "scores": [5, -6, 7],
    "hands": [[2, 0, 1], [0, 3, 0], [1, 1, 1]],
    "deck": [4, 5, 6, 7],
    "trumps": [[[0, 2], []], [[1], [0]], [[], []]],
    "row": [[1, 2, 3], [-4, 5, 6]],
    "chance": 9,
}


def test_fields_of_any_shape_are_written_and_read():
    assert FEAST.to_dict(state()[0], None) == POSITION
    assert FEAST.from_dict(POSITION, None).tobytes() == state().tobytes()


def test_a_player_gets_their_own_part_and_numbers_or_nulls_for_others():
    known_position = {**POSITION, "hands": [3, [0, 3, 0], 3], "deck": 22, "trumps": [None, [[1], [0]], None]}
    del known_position["chance"]
    assert FEAST.to_dict(state()[0], None, 1) == known_position
    counted_trumps = Positions("feast", ("standard",), STATE, sets=("trumps",), hidden=("trumps",), counted=("trumps",))
    assert counted_trumps.to_dict(state()[0], None, 2)["trumps"] == [2, 2, [[], []]]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("hands",), [[2, 0, 1], [0, 3, 0]], "hands must be a list of 3, got [[2, 0, 1], [0, 3, 0]]"),
        (("hands", 1), [0, 3], "hands[1] must be a list of 3, got [0, 3]"),
        (("hands", 1), 3, "hands[1] must be a list of 3, got 3"),
        (("hands", 2, 0), 128, "hands[2][0] must be in -128..127, got 128"),
        (("hands", 2, 0), True, "hands[2][0] must be a whole number, got True"),
        (("hands", 2, 0), [1], "hands[2][0] must be a whole number, got [1]"),
        (("deck",), [4, 5, 6], "deck must be a list of 4, got [4, 5, 6]"),
        (("row", 0, 2), 1.5, "row[0][2] must be a whole number, got 1.5"),
        (("trumps", 0, 0), [2, 0], "trumps[0][0] must rise, got [2, 0]"),
        (("trumps", 0, 0), 5, "trumps[0][0] must be a list, got 5"),
        (("trumps", 0, 1), [8], "trumps[0][1][0] must be in 0..6, got 8"),
        (("scores",), None, "scores must be a list of 3, got None"),
    ],
)
def test_a_value_that_does_not_fit_is_named(path, value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        FEAST.from_dict(replaced(POSITION, path, value), None)


@pytest.mark.parametrize("path", [*places(POSITION)], ids=str)
def test_any_value_in_any_place_is_read_or_refused_in_one_line(path):
    for value in VALUES:
        message = refusal(ValueError, lambda data: FEAST.from_dict(data, None), replaced(POSITION, path, value))
        assert message is None or is_short_line(message)


@pytest.mark.parametrize(
    ("last_field", "options", "message"),
    [
        (("speed", np.float32), {}, "feast: speed must be whole numbers, not float32"),
        (("on", np.bool_), {}, "feast: on must be whole numbers, not bool"),
        (("deck", np.int8), {"hidden": ["dec"]}, "feast: there is no field dec"),
        (("deck", np.int8), {"counted": ["deck"]}, "feast: deck is counted, but not hidden"),
    ],
)
def test_arguments_that_do_not_fit_the_fields_are_named(last_field, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Positions("feast", ("standard",), np.dtype([*FIELDS, last_field]), **options)
