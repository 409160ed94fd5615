"""Records and positions of every game: they are read as they were written, and faults are named in one line."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from artus_env import Game
from artus_env.engine.contract import registry as games_by_name
from artus_env.engine.contract.registry import find_game
from artus_env.engine.play.records import RecordError
from artus_env.testing.variants import positions, random_game, variants_of
from every_game import GAMES, games, variants
from foreign import TEXTS, VALUES, is_short_line, places, refusal, replaced

GOLDENS = Path(__file__).parent / "goldens"
OTHER_GOLDENS = ("artus",)
"""Games with golden files of their own, in their own folders."""
GOLDEN_LINES = [
    pytest.param(path.stem, line, id=f"{path.stem}-{number}")
    for path in sorted(GOLDENS.glob("*.jsonl"))
    for number, line in enumerate(path.read_text().splitlines())
]


def finished_game(variant, seed=1):
    (*_, game) = random_game(variant, seed)
    return game


@games
def test_a_record_replays_with_a_definition_that_is_not_installed(game, monkeypatch):
    """A game's package may not be installed yet while somebody writes it. A record of another game is refused."""
    (variant, *_) = variants_of(game)
    definition, line, other = (
        variant.definition,
        finished_game(variant).record(),
        "hoard" if game != "hoard" else "magpies",
    )
    with pytest.raises(RecordError, match=f"game is '{game}', but this is '{other}'"):
        Game.replay(line, game=other)
    with pytest.raises(ValueError, match="there is no game 'nothing'"):
        Game.replay(line, game="nothing")
    replayed = Game.replay(line)
    monkeypatch.setattr(games_by_name, "entry_points", lambda group: ())
    games_by_name._load.cache_clear()
    with pytest.raises(RecordError, match=f"there is no game '{game}'"):
        Game.replay(line)
    assert Game.replay(line, game=definition) == replayed
    monkeypatch.undo()
    games_by_name._load.cache_clear()


@games
def test_a_game_names_itself(game):
    (variant, *_) = variants_of(game)
    assert repr(variant.new_game(1)).startswith(f"Game(game='{game}', rules='{variant.rules}', num_players=2, player ")


@games
def test_a_copy_of_a_batch_goes_on_alike(game):
    batch = variants_of(game)[0].new_batch(3)
    batch.step(batch.sample())
    batch_copy = pickle.loads(pickle.dumps(batch))
    for either_batch in (batch, batch_copy):
        either_batch.step(either_batch.sample())
    assert batch_copy.states.tobytes() == batch.states.tobytes()


# --- golden games: recorded once, they must replay to the same end for ever -----------------------------------------


def test_every_game_has_golden_records():
    """Every game of this package; other installed games may have golden records of their own elsewhere."""
    ours = {game for game in GAMES if find_game(game).verbs[0].__name__.startswith("artus_env.games.")}
    assert {path.stem for path in GOLDENS.glob("*.jsonl")} | set(OTHER_GOLDENS) >= ours | {"magpies"}


@pytest.mark.parametrize(("name", "line"), GOLDEN_LINES)
def test_golden_games_replay(name, line):
    """They replay to the same position, and the seed still deals the same game."""
    golden = json.loads(line)
    record = json.dumps(golden["record"], separators=(",", ":"))
    game = Game.replay(record)
    assert game.over
    assert game.definition.name == name
    assert game.to_dict() == golden["end"]
    assert game.record() == record
    assert Game(game.rules, game.num_players, game.seed, game=name) == game.first()


# --- perft: numbers of legal sequences of moves ----------------------------------------------------------------------

PERFT = {
    # variant, seed of the deal: sequences of 1, 2, 3, ... moves, every hidden choice counted
    ("magpies", "standard", 2, 1): [3, 9, 27, 81, 243, 729, 2187, 6561, 19683, 59049, 149931],
    ("magpies", "standard", 3, 1): [3, 9, 27, 81, 243, 729, 2187, 6561],
    ("royal", "standard", 2, 1): [8, 10, 70, 221, 1326],
    ("royal", "standard", 3, 1): [8, 11, 51, 355],
    ("royal", "standard", 6, 1): [8, 64, 136, 624],
    ("artus", "beginner", 2, 1): [24, 552, 12144],
    ("artus", "advanced", 3, 1): [24, 552, 12144],
    ("quest", "standard", 2, 1): [11, 112, 1040, 8824],  # choosing; its own tests have a second reading
    ("quest", "standard", 4, 1): [11, 115, 1140, 10680],
}


@pytest.mark.parametrize(("start", "counts"), PERFT.items(), ids=lambda value: "-".join(map(str, value)))
def test_perft(start, counts):
    name, rules, num_players, seed = start
    variant = next(v for v in variants_of(name) if (v.rules, v.num_players) == (rules, num_players))
    states = variant.new_game(seed).states
    for count in counts:
        batch = variant.new_batch(len(states))
        batch.states[:] = states
        batch.refresh()
        rows, actions = np.nonzero(batch.mask)
        assert len(rows) == count
        after = variant.new_batch(len(rows))
        after.states[:] = states[rows]
        after.refresh()
        after.step(actions)
        states = after.states


# --- faults ----------------------------------------------------------------------------------------------------------


def read_position(variant):
    return variant.read


def two_positions(variant):
    """A position in the middle and the last one."""
    return positions(variant)[2].to_dict(), positions(variant)[-1].to_dict()


@variants
def test_a_value_of_another_type_is_refused_in_a_short_line(variant):
    """In every place of a position. If the changed position is accepted, it stays the same when read and written."""
    for position in two_positions(variant):
        paths = list(places(position))
        for path in paths[:: 1 + len(paths) // 40]:
            for value in VALUES[:: 1 + len(VALUES) // 12]:
                changed = replaced(position, path, value)
                message = refusal(ValueError, read_position(variant), changed)
                if message is None:
                    assert read_position(variant)(changed).to_dict() == {**changed, "game": position.get("game")} or (
                        "game" not in position and read_position(variant)(changed).to_dict() == changed
                    )
                else:
                    assert is_short_line(message), message


@pytest.mark.parametrize("game", GAMES)
def test_whatever_stands_in_a_record_is_a_fault_that_is_named_in_a_short_line(game):
    line = finished_game(variants_of(game)[-1]).record()
    record = json.loads(line)
    paths = [[key] for key in record] + list(places(record))[:: 1 + len(list(places(record))) // 30]
    for path in paths:
        for text in TEXTS[::3]:
            changed = json.dumps(replaced(record, path, "HERE")).replace('"HERE"', text)
            message = refusal(RecordError, Game.replay, changed)
            assert message is None or is_short_line(message, most=2000), changed
    assert refusal(RecordError, Game.replay, line[: len(line) // 2])
