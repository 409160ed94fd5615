"""Strength of agents, measured in whole games: every deal is played once from each seat."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from artus_env import DEFAULT_GAME
from artus_env.agents import AgentError, seat_orders
from artus_env.engine.basics.reading import shown
from artus_env.engine.basics.wording import counted
from artus_env.engine.contract.definition import Definition
from artus_env.engine.contract.registry import find_game
from artus_env.engine.contract.rng import check_seed
from artus_training.arena.fingerprint import fingerprint
from artus_training.arena.lineup import in_full, line_up, name_of
from artus_training.arena.play import Match, play_deals
from artus_training.arena.schedule import MOST_GAMES, Unit, unit_games
from artus_training.arena.sequential import Sequential
from artus_training.arena.statistics import Z_95, wilson_interval
from artus_training.options import Agents, Ray, read_options
from artus_training.progress import progress
from artus_training.tables import as_text, markdown_row, one_line_name, table, variant_name
from artus_training.usage import shown_in_one_line
from artus_training.workers.units import check_workers, run_units

MOST_AT_A_TIME = 65_536
"""Limit of `batch_size`. More are no faster, and each game takes some thousand bytes, most of them for its players."""
FIRST_GAMES = 64
"""Games of the first unit with `until_sure`; later units are larger."""
_DEALS, _KEYS = range(20, 22)  # seed streams of the deals and of the agents' choices


@dataclass(frozen=True)
class Evaluation:
    """Results of some games. All figures are in the order of the line-up; the first agent is evaluated."""

    agents: tuple[str, ...]
    game: str
    rules: str
    num_players: int
    games: int
    seed: int
    win_rate: float
    """Win rate of the first agent; a win shared by w players counts 1/w. Equally strong agents reach
    1 / num_players."""
    interval: tuple[float, float]
    """95 % interval of `win_rate` (see `wilson_interval`); if `sure` isn't None, one that is valid at any time (see
    `sequential`)."""
    win_rates: tuple[float, ...]
    """Win rate of each agent. Copies come in the order in which they sit behind the first agent."""
    scores: tuple[float, ...]
    """Mean number of points of each agent at the end."""
    margin: float
    """Mean of the first agent's points minus the mean of the others'."""
    margin_error: float
    """Half width of the margin's 95 % interval, from the spread between deals; infinite with one deal."""
    forfeits: int
    """Games that an agent gave up; they count as lost for it."""
    reason: str = ""
    """Why an agent gave up the first of these games."""
    copies: bool = False
    """Whether all agents but the first were copies of one agent; copies always sit in the same order."""
    sure: bool | None = None
    """Whether it is sure that the first agent wins more or less than an equal agent would; None without
    `until_sure`."""

    def __str__(self) -> str:
        return as_text(*self._sentences(), "", table(self._rows(), number_columns=(1, 2)), *self._given_up())

    def _repr_markdown_(self) -> str:
        """Return the table and the sentences below it, for a notebook."""
        head, *others = self._rows()
        rows = [head, ("---", "---:", "---:"), *others]
        return "\n".join([*map(markdown_row, rows), "", "  \n".join([*self._sentences(), *self._given_up()])])

    def _sentences(self) -> list[str]:
        """Sentences about the games played and the first agent's wins."""
        first, others = self.agents[0], self.agents[1:]
        against = f"{len(others)} x {others[0]}" if self.copies else ", ".join(others)
        low, high = self.interval
        games, score = counted(self.games, "game"), find_game(self.game).score
        variant = variant_name(self.game, self.rules, self.num_players)
        error = f" +- {self.margin_error:.1f}" if math.isfinite(self.margin_error) else ""  # one deal has no spread
        equal, at_any_time = 1 / self.num_players, "" if self.sure is None else " at any time"
        sentences = [
            f"{first} against {against}: {variant}, {games}, seed {self.seed}",
            f"wins {self.win_rate:6.1%}   (95 %{at_any_time}: {low:.1%} to {high:.1%}; among equals {equal:.1%})",
            f"margin {self.margin:+.1f}{error} {score}",
        ]
        if self.sure is not None:
            better = f"{first} wins {'more' if self.win_rate > equal else 'less'} than an equal would"
            sentences.insert(1, f"sure: {better}" if self.sure else f"not sure after {games} who is better")
        return sentences

    def _rows(self) -> list[tuple[str, str, str]]:
        """The head of the table, and a row with win rate and mean score for each agent."""
        first, others = self.agents[0], self.agents[1:]
        names = (
            [first, *(f"{name}, {seat} behind" for seat, name in enumerate(others, 1))] if self.copies else self.agents
        )
        figures = zip(names, self.win_rates, self.scores, strict=True)
        head = ("agent", "wins", find_game(self.game).score)
        return [head, *((one_line_name(name), f"{rate:.1%}", f"{points:+.1f}") for name, rate, points in figures)]

    def _given_up(self) -> list[str]:
        """A sentence about games given up, if there were any."""
        if not self.forfeits:
            return []
        return [f"given up: {counted(self.forfeits, 'game')}, the first because: {self.reason}"]


def check_size(games: int, batch_size: int | None, workers: int, ray: str | None = None) -> None:
    """Raise a ValueError if a number of games, of games at a time or of workers is out of range."""
    check_workers(workers, ray)
    for name, number, most in (("games", games, MOST_GAMES), ("batch_size", batch_size, MOST_AT_A_TIME)):
        if number is not None and not 1 <= number <= most:
            raise ValueError(f"{name} must be at least 1 and at most {most:,}, got {shown(number)}")


def evaluate(
    agents: Sequence[Any],
    *,
    rules: str | None = None,
    num_players: int | None = None,
    games: int = 1000,
    seed: int = 0,
    batch_size: int | None = None,
    components: Any = None,
    game: str | Definition = DEFAULT_GAME,
    progress: Callable[[float], None] | None = None,
    workers: int = 1,
    ray: str | None = None,
    until_sure: bool = False,
) -> Evaluation:
    """Play whole games between agents.

    Every deal is played `num_players` times, and the line-up moves one seat further each time. Different agents also
    change their order from deal to deal. So no agent has an advantage from its seats, deals or neighbours. The agents'
    random choices depend only on the seed and the number of the game: results don't depend on the batch size (with a
    neural agent the last bits of its sums may differ).

    Args:
        agents: One for each player, or two: the first against copies of the second. Names, paths of saved agents, or
            agents.
        rules, num_players, components, game: The variant; by default the game's first rule set, and as many players as
            agents, or as the game needs.
        games: Number of games, up to `MOST_GAMES`; rounded up to a multiple of the number of players, with different
            agents to a multiple of this number times the number of seating orders (see `seat_orders`).
        seed: Seed of the deals and of the agents' choices.
        batch_size: Games at a time, up to `MOST_AT_A_TIME`, rounded down to whole deals; None: a number that takes some
            seconds.
        progress: Called after each batch with the fraction of the games that is played, 0..1; with `until_sure`, with
            the progress of the test if that is greater.
        workers: Processes that play. With several, each agent, and the game, must be a name or picklable.
        ray: Address of a Ray cluster that plays instead, see `workers.units.run_units`.
        until_sure: Stop as soon as it is sure whether the first agent wins more or less than an equal agent would. At
            most 5 % of such evaluations are wrong about that. When it stops depends only on the games played.

    Raises:
        ValueError: If there is no such game, an agent is unknown, can't play this variant, doesn't start or can't be
            sent to other processes, or a number is out of range.
        WorkerError: If processes died again and again during some games.
    """
    playing = _Playing(tuple(agents), rules, num_players, seed, components, game)
    match = playing.match
    check_size(games, batch_size, workers, ray)
    n = match.num_players
    seatings = n * len(match.orders)
    deals = -(-games // seatings) * len(match.orders)
    unit_deals = max(1, (batch_size or unit_games(playing.players)) // n)
    test = Sequential(1 / n) if until_sure else None
    scores = np.zeros((deals, n, n), np.int32)  # deal, rotation, member of the line-up
    wins = np.zeros((deals, n, n))
    reasons: dict[int, str] = {}  # reasons of games given up, by game
    units = units_of(deals, unit_deals, FIRST_GAMES // n if until_sure else unit_deals)
    with closing(run_units(playing, units, workers, ray)) as results:
        for (_, first, count), (scores_of_unit, wins_of_unit, reasons_of_unit) in results:
            end = first + count
            scores[first:end], wins[first:end] = scores_of_unit, wins_of_unit
            reasons |= {first * n + game: reason for game, reason in reasons_of_unit.items()}
            if test:  # all seatings of a deal together are one observation
                orders = len(match.orders)
                first_agent_wins = wins[test.count * orders : end // orders * orders, :, 0]
                if test.add(first_agent_wins.reshape(-1, seatings).mean(axis=1)):
                    deals = test.count * orders
            if progress:
                progress(min(1, max(end / deals, test.progress if test else 0)))
            if test and test.sure:
                break
    scores, wins, games = scores[:deals], wins[:deals], deals * n
    reasons = {game: reason for game, reason in sorted(reasons.items()) if game < games}

    margins = scores[:, :, 0] - scores[:, :, 1:].mean(axis=2)
    error = Z_95 * margins.mean(axis=1).std(ddof=1) / math.sqrt(deals) if deals > 1 else math.inf
    rates, points = (figures.reshape(games, n).mean(axis=0) for figures in (wins, scores))
    names = [*map(name_of, agents), *[name_of(agents[1])] * (n - len(agents))]
    return Evaluation(
        agents=tuple(names),
        game=match.definition.name,
        rules=match.rules,
        num_players=n,
        games=games,
        seed=seed,
        win_rate=float(rates[0]),
        interval=test.interval() if test else wilson_interval(float(rates[0]), games),
        win_rates=tuple(rates.tolist()),
        scores=tuple(points.tolist()),
        margin=float(margins.mean()),
        margin_error=float(error),
        forfeits=len(reasons),
        reason=next(iter(reasons.values()), ""),
        copies=len(agents) < n,
        sure=test.sure if test else None,
    )


def units_of(deals: int, size: int, first_size: int) -> list[Unit]:
    """Split deals into units.

    Args:
        deals: Total number of deals.
        size: Most deals of a unit.
        first_size: Most deals of the first unit; later units double in size, so that few games are wasted if the
            evaluation stops early.
    """
    units, first, unit_deals = [], 0, max(1, min(first_size, size))
    while first < deals:
        units.append(Unit(0, first, min(unit_deals, deals - first)))
        first += unit_deals
        unit_deals = min(2 * unit_deals, size)
    return units


class _Playing:
    """Plays units of an evaluation. Arguments as for `evaluate`. The arguments alone are pickled, so each process looks
    up the agents itself."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments
        self.agents, rules, num_players, seed, components, game = arguments
        definition = find_game(game)
        self.players = line_up(self.agents, rules, num_players, components, game)
        distinct = list({id(player): player for player in self.players}.values())
        name_by_id = {id(player): name_of(agent) for player, agent in zip(self.players, self.agents, strict=False)}
        n = len(self.players)
        # Copies keep one order, so that `win_rates` shows the effect of the distance to the first agent.
        orders = seat_orders(n)[: None if len(self.agents) == n else 1]
        self.match = Match(
            definition, definition.check_variant(rules, n), n, components, distinct, list(name_by_id.values()), seed,
            _DEALS, _KEYS, [distinct.index(player) for player in self.players], orders,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return _Playing, self._arguments

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the variant, the seed, the game and the agents."""
        agents_by_name = {name_of(agent): agent for agent in self.agents if not isinstance(agent, str)}
        names = [*(in_full(agent) for agent in self.agents if isinstance(agent, str)), *agents_by_name]
        match = self.match
        return fingerprint(f"{match.rules} {match.num_players} {match.seed}", match.definition, names, agents_by_name)

    def __call__(self, unit: Unit) -> tuple[np.ndarray, np.ndarray, dict[int, str]]:
        """Play a unit. Returns scores, wins and the reasons of games given up, as in `PlayedDeals`."""
        played = play_deals(self.match, unit.first, unit.deals)
        return played.scores, played.wins, played.games.reasons


@dataclass
class Options:
    """Let agents play each other, and print how often each of them wins.

    Every deal is played from every seat, so that a better seat or a better hand is no advantage.

    Examples:
        artus evaluate greedy random
        artus evaluate ppo lookahead --num-players 4 --games 400
        artus evaluate my_agent.py:Cautious greedy --until-sure
    """

    agents: Agents
    """Names of agents, saved ones (*.safetensors) or your own (my_agent.py:Cautious): one for each player, or two, of
    which the first plays against copies of the second."""
    game: str = DEFAULT_GAME
    """The game that is played; `artus games` lists all."""
    rules: str | None = None
    """Its rule set; unless given, the game's first."""
    num_players: int | None = None
    """Number of players; unless given, the number of agents, or the fewest that the game allows."""
    games: int = 1000
    """Number of games, rounded up so that each agent has each seat equally often; with --until-sure the limit."""
    until_sure: bool = False
    """Stop as soon as it is sure that the first agent wins more or less than an equal one would. Exit code 1 if that
    isn't sure after all games."""
    seed: int = 0
    """Seed of the deals and of the agents' choices."""
    workers: int = 1
    """Number of processes that play. It doesn't change the result."""
    ray: Ray = None
    """Let a Ray cluster play: the one at this address, or one that runs here. It doesn't change the result."""


def main(arguments: list[str]) -> int:
    """The command `artus evaluate`."""
    options = read_options(Options, "artus evaluate", arguments)
    with shown_in_one_line(ValueError, TypeError):
        check_seed(options.seed)
        check_size(options.games, None, options.workers, options.ray)
        players = line_up(options.agents, options.rules, options.num_players, game=options.game)
    in_other_processes = options.workers > 1 or options.ray is not None
    # Programs that are already running are kept if possible.
    agents = options.agents if in_other_processes else players[: len(options.agents)]
    with shown_in_one_line(AgentError), progress("playing") as show:
        result = evaluate(
            agents, rules=options.rules, num_players=len(players), games=options.games, seed=options.seed,
            game=options.game, progress=show, workers=options.workers, ray=options.ray, until_sure=options.until_sure,
        )  # fmt: skip
    names = options.agents + options.agents[1:2] * (len(players) - len(options.agents))
    print(replace(result, agents=names))
    return int(result.sure is False)
