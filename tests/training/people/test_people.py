"""Ratings of people among agents, with intervals, from the results of their games, which are kept in files."""

import json
import math
from dataclasses import asdict, replace
from multiprocessing import get_context

import choix
import numpy as np
import pytest

from artus_env.engine.contract.registry import find_game, game_names
from artus_training.arena.statistics import POINTS_PER_UNIT, expected_score
from artus_training.people import results as people
from artus_training.people.rating import NEEDED, RatedGame, orders, place
from artus_training.people.results import RESULTS, Result, Sat, everybody, person, read_result, read_results

RATINGS = {"random": 0.0, "greedy": 800.0, "lookahead": 1100.0, "ppo": 1600.0}
VARIANT = ("artus", "beginner", 2)


def result(person_place=1, agent="greedy", name="Ann", **more):
    """The result of a game of two: the person's place, the other player is an agent."""
    seats = [Sat(name, None, 50, person_place), Sat("Easy", agent, 40, 3 - person_place)]
    return Result(
        **{
            "version": 1,
            "game": "artus",
            "rules": "beginner",
            "date": "2026-11-25",
            "moves": 70,
            "seats": seats,
            **more,
        }
    )


def games(*ends):
    """Games of two, each given as the agent's name and the person's place."""
    return [RatedGame(person_place, ((RATINGS[agent], 3 - person_place),)) for agent, person_place in ends]


# --- the fit ---


def test_a_rating_is_where_the_games_say_it_is_most_likely():
    """Thousands of games, with as many wins against each agent as a person of that rating is expected to have."""
    true, played = 1250.0, 4000
    wins = {agent: round(played * expected_score(true - rating)) for agent, rating in RATINGS.items()}
    all_games = [
        game for agent, won in wins.items() for game in games(*[(agent, 1)] * won, *[(agent, 2)] * (played - won))
    ]
    found = place(all_games, RATINGS)
    assert found.rating == pytest.approx(true, abs=4)
    assert found.low < true < found.high
    assert found.high - found.low < 30
    assert (found.below, found.above) == ("lookahead", "ppo")


def test_against_one_agent_it_is_the_model_of_the_tournaments():
    """Half a game won and half a game lost beyond those played: `choix` finds the same number."""
    won, lost = 7, 5
    one, other = choix.ilsr_pairwise_dense(np.array([[0, won + 0.5], [lost + 0.5, 0]]))
    found = place(games(*[("greedy", 1)] * won, *[("greedy", 2)] * lost), RATINGS)
    assert found.rating - RATINGS["greedy"] == pytest.approx(POINTS_PER_UNIT * (one - other), abs=3)


def test_intervals_hold_known_strengths_as_often_as_they_promise():
    """300 people of each known strength, from far below to far above, who play each agent in turn. So few games end in
    so few ways that single strengths are held more or less often."""
    agents, coverages = [agent for agent in RATINGS if agent != "random"], []
    for played in (10, 25):
        for true_rating in (400.0, 850.0, 1100.0, 1350.0, 1700.0, 2100.0):
            rng, inside = np.random.default_rng(int(true_rating)), 0
            for _ in range(300):
                opponents = [agents[nth % 3] for nth in range(played)]
                ends = [
                    (agent, 1 if rng.random() < expected_score(true_rating - RATINGS[agent]) else 2)
                    for agent in opponents
                ]
                found = place(games(*ends), RATINGS)
                inside += found.low <= true_rating <= found.high
            coverages.append(inside / 300)
    print(" ".join(f"{part:.1%}" for part in coverages), f"mean {np.mean(coverages):.1%}")
    assert 0.93 <= np.mean(coverages) <= 0.98
    assert min(coverages) >= 0.87


@pytest.mark.parametrize(
    "agents", [("greedy", "lookahead"), ("greedy", "lookahead", "ppo"), ("greedy", "greedy", "lookahead", "ppo", "ppo")]
)
def test_games_of_more_players_are_one_observation_each(agents):
    """Simulated by Plackett and Luce's model, of three to six players: intervals are as honest, and narrower."""
    rng, true_rating, num_covered, width = np.random.default_rng(len(agents)), 1250.0, 0, []
    strength = np.array([true_rating, *(RATINGS[agent] for agent in agents)]) / POINTS_PER_UNIT
    for _ in range(200):
        found = []
        for _ in range(12):
            order = np.argsort(-(strength + rng.gumbel(size=len(strength))))
            places = 1 + np.argsort(order)
            found.append(
                RatedGame(
                    int(places[0]), tuple(zip((RATINGS[agent] for agent in agents), places[1:].tolist(), strict=True))
                )
            )
        placed = place(found, RATINGS)
        num_covered += placed.low <= true_rating <= placed.high
        width.append(placed.high - placed.low)
    print(f"{len(agents) + 1} players: {num_covered / 200:.1%}, {np.mean(width):.0f} points wide")
    assert num_covered / 200 >= 0.89
    assert np.mean(width) < 700


def test_sharing_a_place_is_half_a_win_and_half_a_loss():
    shared = place([RatedGame(1, ((1100.0, 1),))] * 20, RATINGS)
    half = place(games(*[("lookahead", 1)] * 10, *[("lookahead", 2)] * 10), RATINGS)
    assert (shared.rating, shared.low, shared.high) == pytest.approx((half.rating, half.low, half.high))
    assert shared.better["lookahead"] == pytest.approx(0.5, abs=0.1)
    assert len(list(orders(RatedGame(1, ((1.0, 1), (2.0, 1), (3.0, 4)))))) == math.factorial(3)


def test_who_always_wins_or_loses_is_beyond_all_agents_and_not_infinitely_far():
    best, worst = place(games(*[("ppo", 1)] * 10), RATINGS), place(games(*[("greedy", 2)] * 10), RATINGS)
    assert (best.below, best.above) == ("ppo", None)
    assert 1600 < best.low < best.rating < best.high < 1600 + 2000
    assert best.better["ppo"] > 0.97
    assert worst.rating < 800
    assert worst.better["greedy"] < 0.03
    assert list(worst.better) == list(RATINGS), "the weakest first"


def test_the_order_of_games_does_not_matter():
    played = games(("greedy", 1), ("ppo", 2), ("lookahead", 1), ("lookahead", 2), ("greedy", 1))
    assert place(played, RATINGS) == place(played[::-1], RATINGS)
    with pytest.raises(ValueError, match="a place needs a game"):
        place([], RATINGS)


# --- what counts ---


def test_ten_games_that_count_place_somebody():
    nine = [result(person_place=1 + nth % 2) for nth in range(9)]
    before = person(nine, "Ann", VARIANT, RATINGS)
    assert (before.games, before.counted, before.missing, before.placement) == (9, 9, 1, None)
    after = person([*nine, result()], "Ann", VARIANT, RATINGS)
    assert (after.counted, after.missing, after.wins) == (10, 0, 6)
    assert after.placement.below == "greedy"
    assert NEEDED == 10


def test_what_cannot_say_how_strong_somebody_is_is_kept_and_not_used():
    """People only, agents of no known rating, a hint; another variant's games aren't theirs."""
    without_agents = replace(result(), seats=[Sat("Ann", None, 5, 1), Sat("Ben", None, 3, 2)])
    hinted = replace(result(), seats=[replace(result().seats[0], hinted=True), result().seats[1]])
    results = [without_agents, hinted, result(agent="program:./bot"), result(), replace(result(), rules="advanced")]
    found = person(results, "Ann", VARIANT, RATINGS)
    assert (found.games, found.counted) == (4, 1)
    assert person(results, "Ben", VARIANT, RATINGS).counted == 0
    assert person(results, "Cleo", VARIANT, RATINGS).games == 0


def test_who_resigns_has_lost_and_a_game_of_some_known_agents_counts_with_these():
    seats = [
        Sat("Ann", None, 60, 4, resigned=True),
        Sat("A", "greedy", 5, 3),
        Sat("B", "bot", 9, 2),
        Sat("Ben", None, 9, 1),
    ]
    (game,) = [people.compared(replace(result(), seats=seats), "Ann", RATINGS)]
    assert game == RatedGame(4, ((800.0, 3),))


def test_one_person_is_one_however_the_name_is_written():
    results = [result(name="Ann"), result(name="ANN"), result(name=" ann  ")]
    assert person(results, "aNN", VARIANT, RATINGS).games == 3
    (found,) = everybody(results)
    assert found.name == " ann  ", "as it was written last"


@pytest.mark.parametrize("name", game_names())
def test_ratings_come_from_the_ladder_of_each_game(name):
    game = find_game(name)
    for rules in game.rules:
        for players in range(game.min_players, game.max_players + 1):
            ratings = people.ratings_of(game, rules, players)
            assert list(ratings.values()) == sorted(ratings.values())
            assert ratings.get("greedy", 1000) == 1000
    if game.ladder:
        assert len(people.ratings_of(game, game.rules[0], game.min_players)) >= 4


def test_where_two_have_one_name_it_is_not_known_who_was_who():
    seats = [Sat("Ann", None, 5, 1), Sat("ann", None, 3, 3), Sat("Easy", "greedy", 4, 2)]
    assert person([replace(result(), seats=seats)], "Ann", ("artus", "beginner", 3), RATINGS).games == 0


def test_a_game_that_is_not_installed_places_nobody():
    (found,) = everybody([replace(result(), game="chess")] * 12)
    assert (found.games, found.counted, found.placement) == (12, 0, None)


# --- on disk ---


def keep(folder, name, content):
    (folder / RESULTS).mkdir(exist_ok=True)
    (folder / RESULTS / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(asdict(content)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("{", "JSON is malformed|Input data was truncated"),
        ({"version": 2}, "it has version 2, not 1"),
        ({"seats": []}, "the places of its seats are impossible"),
        (
            {"seats": [{"name": "Ann", "agent": None, "points": 1, "place": 2}] * 2},
            "the places of its seats are impossible",
        ),
        (
            {"seats": [{"name": " ", "agent": None, "points": 1, "place": 1}, asdict(result().seats[1])]},
            "names have 1 to 1000 printable letters",
        ),
        ({"game": "artus\x1b[2J"}, "names have 1 to 1000 printable letters"),
        ({"rules": "a" * 1001}, "names have 1 to 1000 printable letters"),
        ({"seats": [{"name": "Ann", "agent": None, "points": 1.5, "place": 1}] * 2}, "Expected `int`"),
        ({"seats": [{"name": "Ann", "agent": None, "points": 1, "place": 0}] * 2}, "Expected `int` >= 1"),
        ({"moves": -1}, "Expected `int` >= 0"),
        ({"date": 5}, "Expected `str`"),
    ],
)
def test_a_damaged_file_is_named_and_the_others_are_read(tmp_path, change, reason):
    keep(tmp_path, "a", result())
    keep(tmp_path, "b", change if isinstance(change, str) else json.dumps({**asdict(result()), **change}))
    keep(tmp_path, "c", replace(result(), date="2026-11-24"))
    before = (tmp_path / RESULTS / "b.json").read_bytes()
    complaints = []
    found = read_results(tmp_path, lambda path, error: complaints.append((path.name, str(error))))
    assert [each.date for each in found] == ["2026-11-24", "2026-11-25"], "the oldest first"
    ((name, why),) = complaints
    assert name == "b.json"
    assert any(part in why for part in reason.split("|")), why
    assert (tmp_path / RESULTS / "b.json").read_bytes() == before


def test_what_is_too_large_or_no_file_is_named(tmp_path):
    keep(tmp_path, "large", " " * (people.LARGEST + 1))
    (tmp_path / RESULTS / "folder.json").mkdir()
    complaints = []
    assert read_results(tmp_path, lambda path, error: complaints.append(path.name)) == []
    assert complaints == ["folder.json", "large.json"]
    assert read_results(tmp_path / "nothing", None) == []


def write_many(folder, server):
    from artus_training.play.store import Store

    store = Store(folder)
    for nth in range(50):
        store.write_result(f"{server}-{nth}", result(person_place=1 + nth % 2, moves=100 * server + nth))


@pytest.mark.slow
def test_several_servers_keep_results_at_once_and_nothing_is_lost(tmp_path):
    context = get_context("spawn")
    servers = [context.Process(target=write_many, args=(tmp_path, server)) for server in range(3)]
    for server in servers:
        server.start()
    for server in servers:
        server.join()
        assert server.exitcode == 0
    assert len(read_results(tmp_path, None)) == 150


def test_a_result_is_read_as_it_was_written():
    assert read_result(json.dumps(asdict(result())).encode()) == result()
