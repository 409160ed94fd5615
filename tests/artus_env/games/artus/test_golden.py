"""Golden games: random play of every variant, recorded once. They must replay to the same positions for ever.

A change of the rules on purpose raises `RULES_VERSION`; then `golden/write.py` writes the files anew.
"""

import json
from pathlib import Path

import pytest

import reference
from artus_env import Components, Game
from artus_env.engine.play.records import LONGEST, RecordError
from foreign import TEXTS, is_short_line, places, refusal, replaced

GOLDEN = Path(__file__).parent / "golden"
VARIANTS = [(rules, players) for rules in ("beginner", "advanced") for players in (2, 3, 4)]
RECORDS = [
    pytest.param(path.stem, number, id=f"{path.stem}-{number}")
    for path in sorted(GOLDEN.glob("*.jsonl"))
    for number in range(len(path.read_text().splitlines()))
]


def lines(name):
    return (GOLDEN / f"{name}.jsonl").read_text().splitlines()


def final_position(name, number):
    return json.loads((GOLDEN / "final_positions.json").read_text())[name][number]


def test_there_is_a_file_for_every_variant():
    assert {path.stem for path in GOLDEN.glob("*.jsonl")} == {f"{rules}-{players}" for rules, players in VARIANTS}


@pytest.mark.parametrize(("name", "number"), RECORDS)
def test_golden_games_replay(name, number):
    """The replayed game ends in the recorded position, and its record is the same line."""
    line = lines(name)[number]
    game = Game.replay(line)
    assert game.over
    assert game.to_dict() == final_position(name, number)
    assert game.record(json.loads(line)["players"]) == line


@pytest.mark.parametrize(("name", "number"), RECORDS)
def test_golden_games_follow_the_rules(name, number):
    """Every position of the game is the one that the reference implementation of the rules reaches."""
    record = json.loads(lines(name)[number])
    expected, game = record["position"], Game.from_dict(record["position"])
    for move in record["moves"]:
        assert move in reference.moves(expected)
        expected = reference.play(expected, move)
        game.play(move)
        assert game.to_dict() == expected
    assert expected["scores"] == record["scores"]


def test_the_seed_of_a_golden_game_still_deals_it():
    for rules, players in VARIANTS:
        record = json.loads(lines(f"{rules}-{players}")[0])
        assert Game(rules=rules, num_players=players, seed=record["seed"]).to_dict() == record["position"]


# --- damaged records -----------------------------------------------------------------------------------------------


def damaged(change):
    """A golden record with something changed."""
    record = json.loads(lines("beginner-2")[0])
    change(record)
    return json.dumps(record)


def with_move(number, move):
    def change(record):
        record["moves"][number] = move

    return change


LINE = lines("beginner-2")[0]
DAMAGED = {
    "a truncated line": (LINE[: len(LINE) // 2], "not a record: Input data was truncated"),
    "an empty line": ("", "not a record"),
    "two lines": (f"{LINE}\n{LINE}", "not a record"),
    "no text": (None, "not a record"),
    "no JSON": ("Artus, two players", "not a record"),
    "a number that no machine holds": ("9" * 5000, "not a record"),
    "no object": ("[]", "not a record: Expected `object`, got `array`"),
    "an unknown key": (damaged(lambda r: r.update(hat=1)), "not a record: Object contains unknown field `hat`"),
    "a missing key": (damaged(lambda r: r.pop("scores")), "not a record: Object missing required field `scores`"),
    "another game": (damaged(lambda r: r.update(game="chess")), "game: there is no game 'chess'; installed are: artus"),
    "another version of the rules": (damaged(lambda r: r.update(rules_version=99)), "rules_version is 99, but this is"),
    "another box": (damaged(lambda r: r.update(components="0" * 16)), "components is '0000000000000000', but this is"),
    "a changed score": (
        damaged(lambda r: r["scores"].__setitem__(1, r["scores"][1] + 1)),
        "the scores at the end are .*, but the record says",
    ),
    "a missing score": (damaged(lambda r: r["scores"].pop()), "2 players are named, 1 have a score"),
    "scores of nobody": (damaged(lambda r: r.update(players=None, scores=[])), "the scores at the end are"),
    "another number of players": (damaged(lambda r: r.update(players=["a"])), "1 players are named, 2 have a score"),
    "yes for a score": (
        damaged(lambda r: r["scores"].__setitem__(0, True)),
        "Expected `int`, got `bool` - at `[$].scores",
    ),
    "no seed at all": (damaged(lambda r: r.update(seed="dice")), "Expected `int [|] null`, got `str` - at `[$].seed`"),
    "a seed that no game takes": (
        damaged(lambda r: r.update(seed=-1)),
        "seed must be a whole number in 0..2[*][*]64-1, got -1",
    ),
    "a version that is no whole number": (
        damaged(lambda r: r.update(rules_version=1.0)),
        "Expected `int`, got `float`",
    ),
    "a line without an end": (LINE + " " * LONGEST, "longer than 1048576 bytes"),
    "a first position that can't be": (damaged(lambda r: r["position"].update(turn=7)), "position: turn must be"),
    "a first position that is another one": (
        damaged(lambda r: r["position"]["scores"].__setitem__(0, 1)),
        "the scores at the end",
    ),
    "no first position": (
        damaged(lambda r: r.update(position=None)),
        "not a record: Expected `object`, got `null` - at `[$].position`",
    ),
    "an illegal move": (damaged(with_move(0, "@0")), "move 1 of 66: @0 is illegal for player"),
    "a move of another card": (damaged(with_move(30, "k9-9:0>9")), "move 31 of 66: k9-9:0>9 is illegal"),
    "a move too many": (damaged(lambda r: r["moves"].append("all")), "move 67 of 67: the game is over"),
    "a move that is no text": (
        damaged(with_move(3, 17)),
        r"not a record: Expected `str`, got `int` - at `[$].moves\[3\]`",
    ),
    "moves that are no list": (
        damaged(lambda r: r.update(moves="@1 @2")),
        "not a record: Expected `array`, got `str` - at `[$].moves`",
    ),
}


@pytest.mark.parametrize(("line", "words"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_record_is_refused(line, words):
    with pytest.raises(RecordError, match=words):
        Game.replay(line)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_whatever_stands_in_a_record_is_a_fault_that_is_named_in_a_short_line(text):
    record = json.loads(lines("advanced-2")[0])
    changed = [json.dumps(replaced(record, path, "HERE")).replace('"HERE"', text) for path in list(places(record))[::3]]
    for line in [
        text,
        *changed,
        *(json.dumps(replaced(record, [key], "HERE")).replace('"HERE"', text) for key in record),
    ]:
        message = refusal(RecordError, Game.replay, line)
        if message is None:  # another seed or none, other names or none
            note = json.loads(line)
            assert Game.replay(line).record(note["players"]) == json.dumps(note, separators=(",", ":"))
        else:
            assert is_short_line(message, most=2000), line  # one may list all legal moves


def test_names_that_are_no_text_leave_a_record_that_can_be_read():
    line = Game(seed=1).record(["program:./b\udcff", "b"])
    assert Game.replay(line).record(["program:./b?", "b"]) == line


def test_a_record_of_another_box_needs_that_box():
    other = Components().replace(cards={"k4-7": {"high": 8}})
    game = Game(seed=1, components=other)
    line = game.record()
    assert Game.replay(line, components=other) == game
    with pytest.raises(RecordError, match="components is"):
        Game.replay(line)
    with pytest.raises(RecordError, match="components is"):
        Game.replay(LINE, components=other)
