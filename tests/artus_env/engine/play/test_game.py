"""One game: moves and their texts, errors that change nothing, copies, records."""

import copy
import json
import pickle
import re

import numpy as np
import pytest

from artus_env import NUM_ACTIONS, Components, Game, IllegalMoveError
from artus_env.engine.basics.reading import shown
from artus_env.games.artus.actions import action_table
from engine_play import VARIANTS, decisions, random_game, random_moves

variants = pytest.mark.parametrize(("rules", "num_players"), VARIANTS)
in_every_phase = pytest.mark.parametrize("moves", [0, 27, 25], ids=["place", "play", "draw"])


def mid_game(moves=27):
    """An advanced game of three players after some moves: 15 placings, then two cards and two draws for each turn."""
    return random_game("advanced", 3, seed=1, moves=moves)


@in_every_phase
def test_the_games_here_are_in_every_phase(moves, request):
    assert mid_game(moves).to_dict()["phase"] == request.node.callspec.id


def full_state(game):
    return game.state.tobytes(), game.actions_played, game.to_dict(), game.first().to_dict()


def illegal_action(game):
    """An action id that isn't legal now."""
    legal = set(game.legal_actions())
    return next(action for action in range(NUM_ACTIONS) if action not in legal)


# --- moves and their texts ---------------------------------------------------------------------------------------


@variants
def test_play_and_look_are_one_call(rules, num_players):
    game = Game(rules=rules, num_players=num_players, seed=4)
    mask, observation = np.full_like(game.mask(), 9), np.full_like(game.observation(), 99)
    for _ in random_moves(game, 4):
        action = game.legal_actions()[-1]
        expected = game.clone()
        points = expected.play(action)
        game_copy = game.clone()
        assert game_copy.play_and_look(action, mask, observation) == (points, expected.player, expected.over)
        assert (mask == expected.mask()).all()
        assert (observation == expected.observation()).all()
        assert game_copy == expected
        assert game_copy.actions_played == expected.actions_played
    with pytest.raises(IllegalMoveError, match="the game is over"):
        expected.play_and_look(0, mask, observation)


@in_every_phase
def test_playing_and_looking_illegally_changes_nothing(moves):
    game = mid_game(moves)
    before = full_state(game)
    for action in (illegal_action(game), -1, NUM_ACTIONS, 1 << 70):
        with pytest.raises(IllegalMoveError, match=f"action {action} "):
            game.play_and_look(action, game.mask(), game.observation())
    assert full_state(game) == before


@pytest.mark.parametrize("action", [True, np.bool_(True), 3.0, None, "@3"], ids=repr)
def test_play_and_look_takes_whole_numbers_alone(action):
    game = Game(seed=1)
    before = full_state(game)
    with pytest.raises(TypeError, match="an action is a whole number, got "):
        game.play_and_look(action, game.mask(), game.observation())
    assert full_state(game) == before
    mask, observation = game.mask(), game.observation()
    assert game.clone().play_and_look(np.int32(3), mask, observation) == game.clone().play_and_look(
        3, mask, observation
    )


UNFIT_BUFFERS = {
    "too small": lambda array: array[:-1],
    "empty": lambda array: array[:0],
    "too large": lambda array: np.zeros(len(array) + 1, np.int8),
    "of two dimensions": lambda array: array[None],
    "of another type": lambda array: array.astype(np.int16),
    "of booleans": lambda array: array.astype(np.bool_),
    "with gaps": lambda array: np.zeros(2 * len(array), np.int8)[::2],
    "backwards": lambda array: array[::-1],
    "read-only": lambda array: np.broadcast_to(array, array.shape),
    "a list": lambda array: array.tolist(),
    "nothing": lambda array: None,
}


@pytest.mark.parametrize("make_unfit", UNFIT_BUFFERS.values(), ids=UNFIT_BUFFERS)
@pytest.mark.parametrize("name", ["mask", "observation"])
def test_play_and_look_writes_only_to_arrays_that_fit(name, make_unfit):
    """`play_and_look` once wrote beyond the end of arrays that were too small."""
    game = Game("advanced", 3, seed=1)
    before = full_state(game)
    arrays = {"mask": game.mask(), "observation": game.observation()}
    action, size = game.legal_actions()[0], len(arrays[name])
    twin = game.clone()
    twin.play_and_look(action, **arrays)  # arrays that fitted once aren't checked again, but other arrays are
    twin.play_and_look(twin.legal_actions()[0], **arrays)
    for player in (game, twin):
        with pytest.raises(
            ValueError, match=rf"{name} must be a writable and contiguous array of shape \({size},\), int8"
        ):
            player.play_and_look(action, **arrays | {name: make_unfit(arrays[name])})
    assert full_state(game) == before
    rows = {key: np.zeros((3, len(array)), np.int8) for key, array in arrays.items()}
    game.play_and_look(action, rows["mask"][1], rows["observation"][1])
    assert (rows["mask"][1] == game.mask()).all()
    assert not rows["mask"][[0, 2]].any()
    assert not rows["observation"][[0, 2]].any()


NON_MOVES = [
    "12",
    "",
    "@28",
    "@x",
    "k9-9:1>2",
    "draw:",
    "draw:pile",
    "all ",
    "k3-6:1>2>3",
]
NON_ACTIONS = [-1, NUM_ACTIONS, 1 << 70, -(1 << 70)]
NON_NUMBERS = [True, False, None, 1.0, [1], (1, 2), {}, np.float64(1), np.bool_(True), np.array([1, 2])]


def test_a_long_value_that_is_no_move_is_shown_short():
    with pytest.raises(TypeError) as error:
        Game(seed=1).play([1] * 100_000)
    assert len(str(error.value)) < 140
    with pytest.raises(IllegalMoveError) as error:
        Game(seed=1).play("@" * 100_000)
    assert len(str(error.value).partition(" is illegal")[0]) < 100


@in_every_phase
@pytest.mark.parametrize(
    ("verb", "move"),
    [
        (verb, move)
        for verbs, each in ((("play", "action"), NON_MOVES), (("play", "move"), NON_ACTIONS))
        for verb in verbs
        for move in each
    ],
    ids=repr,
)
def test_what_is_no_move_is_illegal(verb, move, moves):
    game = mid_game(moves)
    before = full_state(game)
    with pytest.raises(IllegalMoveError, match=f"is illegal for player {game.player}; legal: ") as error:
        getattr(game, verb)(move)
    assert str(error.value).startswith((str(move), shown(move), f"action {move} (there are 0..338)"))
    assert str(error.value).endswith("; legal: " + " ".join(game.moves()))
    assert full_state(game) == before


@in_every_phase
@pytest.mark.parametrize("value", NON_NUMBERS, ids=repr)
@pytest.mark.parametrize("verb", ["play", "move", "action"])
def test_what_is_neither_text_nor_number_is_a_type_error(verb, value, moves):
    game = mid_game(moves)
    before = full_state(game)
    with pytest.raises(TypeError, match=r"a move is a text, got|an action is a whole number, got"):
        getattr(game, verb)(value)
    assert full_state(game) == before


@in_every_phase
def test_every_masked_action_is_illegal(moves):
    game = mid_game(moves)
    before = full_state(game)
    for action in set(range(NUM_ACTIONS)) - set(game.legal_actions()):
        with pytest.raises(IllegalMoveError, match=rf"^action {action} \(.+\) is illegal for player"):
            game.play(action)
        with pytest.raises(IllegalMoveError, match=rf"^action {action} \(.+\) is illegal for player"):
            game.move(np.int16(action))
    assert full_state(game) == before


def test_a_move_from_an_empty_seat_is_illegal():
    game = mid_game()
    move = next(move for move in game.moves() if ">" in move)
    card, seats = move.split(":")
    steps = int(seats.split(">")[1]) - int(seats.split(">")[0])
    empty = game.to_dict()["seats"].index(None)
    with pytest.raises(IllegalMoveError, match=f"^{card}:{empty}>{(empty + steps) % 28} is illegal") as error:
        game.play(f"{card}:{empty}>{(empty + steps) % 28}")
    assert move in str(error.value)


def test_after_the_end_nothing_can_be_played():
    game = random_game("beginner", 2, seed=5)
    before = full_state(game)
    assert game.over
    assert game.player == game.to_dict()["start_player"]
    for verb, move in (("play", "@3"), ("play", 3), ("move", 3), ("action", "@3"), ("play", 1 << 70)):
        with pytest.raises(IllegalMoveError, match="the game is over"):
            getattr(game, verb)(move)
    assert full_state(game) == before
    assert game.winners == [player for player in (0, 1) if game.scores[player] == max(game.scores)]


def test_numpy_integers_are_actions():
    game, other = mid_game(), mid_game()
    action = game.legal_actions()[3]
    assert game.move(np.int64(action)) == other.move(action)
    assert game.play(np.uint8(action) if action < 256 else np.int16(action)) == other.play(action)
    assert game == other
    assert [type(action) for action in game.actions_played] == [int] * 28


# --- looking -----------------------------------------------------------------------------------------------------


@variants
def test_everybody_can_look_at_any_time(rules, num_players):
    game = random_game(rules, num_players, seed=6, moves=decisions(rules, num_players) // 2)
    before = full_state(game)
    observations = [game.observation(player) for player in range(num_players)]
    assert (game.observation() == observations[game.player]).all()
    assert len({observation.tobytes() for observation in observations}) == num_players
    assert game.observation(np.int8(1)).tobytes() == observations[1].tobytes()
    assert full_state(game) == before
    observations[0][:] = 0
    assert game.observation(0).any()  # a fresh array each time
    game.mask()[:] = 0
    assert game.mask().any()


@pytest.mark.parametrize("player", [-1, 3, 1.0, "0", True, np.bool_(False)], ids=repr)
@pytest.mark.parametrize("look", ["observation", "to_dict", "render", "svg", "redeal"])
def test_nobody_else_can_look(look, player):
    game = mid_game()
    arguments = {"seed": 1} if look == "redeal" else {}
    with pytest.raises(ValueError, match=r"player must be (in 0\.\.2|a whole number), got "):
        getattr(game, look)(player, **arguments)


def test_repr_tells_how_it_stands():
    assert (
        repr(Game(seed=1, start_player=0))
        == "Game(game='artus', rules='beginner', num_players=2, player 1 to move, scores=[0, 0])"
    )
    assert re.fullmatch(
        r"Game\(game='artus', rules='beginner', num_players=2, over, scores=\[.+\]\)",
        repr(random_game("beginner", 2, 1)),
    )


# --- copies ------------------------------------------------------------------------------------------------------


COPIES = {
    "clone": Game.clone,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
}


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize("components", [None, Components().replace(carpet=(3, 4, 5))], ids=["standard", "changed box"])
def test_copies_have_the_same_past_and_future_but_go_their_own_way(make_copy, components):
    game = random_game("advanced", 3, seed=7, moves=40, components=components)
    twin = make_copy(game)
    assert twin == game
    assert full_state(twin) == full_state(game)
    assert (twin.seed, twin.components, twin.record()) == (game.seed, game.components, game.record())
    before = full_state(game)
    for _ in random_moves(twin, 8):
        pass
    assert twin.over
    assert full_state(game) == before
    for _ in random_moves(game, 8):
        pass
    assert full_state(game) == full_state(twin)
    assert twin.record() == game.record()


def test_equal_is_same_position_and_same_box():
    game = mid_game()
    assert game == Game.from_dict(game.to_dict())
    assert game != mid_game(26)
    assert game != game.redeal(0, 1)
    box = Components().replace(carpet=(3, 4, 5))
    assert game != Game.from_dict(game.to_dict(), box)
    assert game != "game"
    with pytest.raises(TypeError, match="unhashable"):
        hash(game)


def test_first_is_the_position_it_all_began_with():
    game = mid_game()
    assert game.first() == Game("advanced", 3, seed=1)
    assert game.first().actions_played == ()
    later = Game.from_dict(game.to_dict())
    later.play(later.legal_actions()[0])
    assert later.first() == game


# --- making a game -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "fault"),
    [
        ({"rules": "expert"}, ValueError, "rules must be one of beginner, advanced, got 'expert'"),
        ({"rules": 0}, ValueError, "rules must be one of beginner, advanced, got 0"),
        ({"num_players": 1}, ValueError, "num_players must be 2..4, got 1"),
        ({"num_players": 5}, ValueError, "num_players must be 2..4, got 5"),
        ({"num_players": 2.0}, ValueError, "num_players must be 2..4, got 2.0"),
        ({"num_players": True}, ValueError, "num_players must be 2..4, got True"),
        ({"seed": -1}, ValueError, "seed must be a whole number in 0..2**64-1, got -1"),
        ({"seed": 1 << 64}, ValueError, "seed must be a whole number in 0..2**64-1"),
        ({"seed": 1.5}, TypeError, "seed must be a whole number in 0..2**64-1, got 1.5"),
        ({"seed": "7"}, TypeError, "seed must be a whole number in 0..2**64-1, got '7'"),
        ({"start_player": 2}, ValueError, "start_player must be in 0..1, got 2"),
        ({"start_player": -1}, ValueError, "start_player must be in 0..1, got -1"),
        ({"start_player": 0.5}, ValueError, "start_player must be a whole number, got 0.5"),
        ({"start_player": True}, ValueError, "start_player must be a whole number, got True"),
        ({"start_player": "0"}, ValueError, "start_player must be a whole number, got '0'"),
        ({"components": {"wheel": []}}, TypeError, "components must be Components, got {'wheel': []}"),
    ],
    ids=repr,
)
def test_a_game_that_cannot_be(options, error, fault):
    with pytest.raises(error, match=re.escape(fault)):
        Game(**options)


def test_without_a_seed_every_game_is_another():
    one, other = Game(), Game()
    assert one.seed != other.seed
    assert Game(seed=one.seed) == one


def test_action_ids_mean_what_the_table_says():
    """The steps in the table of actions are those from the origin to the target in the action's text."""
    game = mid_game()
    for action in game.legal_actions():
        table_entry = action_table()[action]
        text = game.move(action)
        if ">" in text:
            origin, target = (int(seat) for seat in text.split(":")[1].split(">"))
            assert (target - origin - table_entry.steps) % 28 == 0


def test_a_record_replays_to_the_same_game():
    game = mid_game(70)
    replayed = Game.replay(game.record(players=["a", "b", "c"]))
    assert replayed == game
    assert replayed.actions_played == game.actions_played
    assert replayed.seed == game.seed == 1
    assert json.loads(game.record(["a", "b", "c"]))["players"] == ["a", "b", "c"]
    from_the_middle = Game.from_dict(game.to_dict())
    from_the_middle.play(from_the_middle.legal_actions()[0])
    assert Game.replay(from_the_middle.record()) == from_the_middle


@pytest.mark.parametrize("record", ["", "{", "[]", "null", None, 3], ids=repr)
def test_what_is_no_record_is_refused(record):
    with pytest.raises(ValueError, match="a record"):
        Game.replay(record)


def test_a_record_names_every_player():
    with pytest.raises(ValueError, match="players must name 3 players"):
        mid_game().record(["a"])


# --- the position as text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [None, ["Ann", "a name that is much too long", "ismcts:200", "Bob\x1b[2J\n"]])
@variants
def test_the_table_as_text_keeps_its_shape(rules, num_players, names):
    """80 columns, and the seats at the right stand below each other, whatever the players are called."""
    for moves in (0, 20, 50, None):
        game = random_game(rules, num_players, seed=4, moves=moves)
        text = game.render(names=names and names[:num_players])
        assert all(line.isprintable() for line in text.splitlines())
        table = text.splitlines()[:14]
        assert max(map(len, table)) <= 80
        for row, line in enumerate(table[2:-2]):
            cell = line[64:]  # seat and value, below it the figure
            assert re.fullmatch(r"   \S{1,2}" if row % 2 else r"[ 1]\d[ ~](king|0|[+-]\d+)", cell), line
            assert line[8] == line[63] == " "


def test_the_table_as_text_names_the_players():
    game = mid_game()
    text = game.render(names=["Ann", "Ben", "greedy"])
    assert f"advanced: {['Ann', 'Ben', 'greedy'][game.player]} ({'ABC'[game.player]}) plays a card" in text
    for letter, name, score in zip("ABC", ["Ann", "Ben", "greedy"], game.scores, strict=True):
        assert re.search(rf" {letter} {name} +{score} ", text)
    assert "player 0" not in text
    with pytest.raises(ValueError, match="names must name 3 players"):
        game.render(names=["Ann", "Ben"])


def test_the_table_as_text_says_who_has_won():
    games = [random_game("beginner", 2, seed=seed) for seed in range(400)]
    shared = next(game for game in games if len(game.winners) == 2)
    single = next(game for game in games if game.winners == [1])
    assert "beginner, over: A and B won" in shared.render()
    assert "beginner, over: Ben (B) won" in single.render(names=["Ann", "Ben"])
