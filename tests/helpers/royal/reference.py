"""A second implementation of the royal card game, in plain Python on lists and strings, and a comparison with the game
move by move.

    python -m royal.reference 2000

in tests/helpers compares 2000 games for each number of players; without a number, ten.
"""

from __future__ import annotations

import random
import sys

from artus_env import Game

SUITS = ["hearts", "diamonds", "clubs", "spades", "flowers", "chalices"]
DECK = [f"{suit}-{value}" for suit in SUITS for value in range(1, 12)] + ["knight"] * 3 + ["shield"] * 3
SWORDS = [4, 8, 12, 16, 20, 24]
ARTUS = 27
MOST_TRICKS = {2: 52, 3: 76, 4: 99, 5: 121, 6: 142}
MOST_DECISIONS = {2: 116, 3: 246, 4: 420, 5: 635, 6: 888}


def suit_of(card):
    return card.split("-")[0] if "-" in card else None


def value_of(card):
    return int(card.split("-")[1])


class Reference:
    """A game from its first position on. After a shuffle, the order of the cards is taken from the compared game, as
    the rules don't determine it."""

    def __init__(self, position):
        self.n = position["num_players"]
        self.start_player = position["start_player"]
        self.dealer = position["dealer"]
        self.hands = [list(hand) for hand in position["hands"]]
        self.pile = list(position["pile"])
        self.shuffles = position["shuffles"]
        self.chance = position["chance"]
        self.fields = [0] * self.n
        self.trumps = []
        self.voids = [[] for _ in range(self.n)]
        self.played = [[] for _ in range(self.n)]
        self.trick = []
        self.discards = []
        self.phase = "trick"
        self.leader = self.turn = self.start_player
        self.tricks = 0

    def moves(self):
        if self.phase == "over":
            return []
        if self.phase == "sword":
            if len(self.trumps) == 6:
                return [f"swap:{low}:{high}" for low in range(1, 7) for high in range(low + 1, 7)]
            return [f"trump:{suit}" for suit in SUITS if suit not in self.trumps] + ["decline"]
        hand = self.hands[self.turn]
        if self.trick:
            led = suit_of(self.trick[0][1])
            following = [card for card in hand if led and suit_of(card) == led]
            if following:
                return following
        return sorted(set(hand), key=DECK.index)

    def play(self, move, pile_after_shuffle):
        """Play a move. Returns the fields that it brought its player."""
        if self.phase == "sword":
            if move.startswith("trump"):
                self.trumps.append(move.split(":")[1])
            elif move.startswith("swap"):
                low, high = (int(place) - 1 for place in move.split(":")[1:])
                self.trumps[low], self.trumps[high] = self.trumps[high], self.trumps[low]
            self.phase, self.turn = "trick", self.leader
            return 0
        player = self.turn
        if self.trick:
            led = suit_of(self.trick[0][1])
            if led and suit_of(move) != led and led not in self.voids[player]:
                self.voids[player].append(led)
        self.hands[player].remove(move)
        self.played[player].append(move)
        self.trick.append((player, move))
        self.turn = (player + 1) % self.n
        if len(self.trick) < self.n:
            return 0
        winner, gained = self.winner(), self.finish(pile_after_shuffle)
        return gained if winner == player else 0

    def winner(self):
        super_trumps = [(player, card) for player, card in self.trick if suit_of(card) is None]
        if super_trumps:
            best = super_trumps[0]
            for entry in super_trumps[1:]:
                if entry[1] != best[1]:
                    best = entry
            return best[0]
        suit = suit_of(self.trick[0][1])
        for trump in self.trumps:  # lowest first, so the highest trump in the trick remains
            if any(suit_of(card) == trump for _, card in self.trick):
                suit = trump
        return max((value_of(card), player) for player, card in self.trick if suit_of(card) == suit)[1]

    def finish(self, pile_after_shuffle):
        winner = self.winner()
        before = self.fields[winner]
        field = before + 1
        while field in self.fields:
            field += 1
        self.fields[winner] = field
        self.tricks += 1
        self.discards += [card for _, card in self.trick]
        self.trick = []
        if field == ARTUS:
            self.phase, self.turn = "over", self.start_player
            return field - before
        self.leader = winner
        if not any(self.hands):
            self.dealer = (self.dealer + 1) % self.n
            if len(self.pile) < 8 * self.n:
                self.shuffles += 1
                self.discards = []
                self.pile = pile_after_shuffle(self)
                assert sorted(self.pile) == sorted(DECK)
            for _ in range(8):
                for seat in range(1, self.n + 1):
                    self.hands[(self.dealer + seat) % self.n].append(self.pile.pop(0))
            self.voids = [[] for _ in range(self.n)]
            self.played = [[] for _ in range(self.n)]
            self.leader = (self.dealer + 1) % self.n
        self.turn = self.leader
        if field in SWORDS:
            self.phase, self.turn = "sword", winner
        return field - before

    def position(self):
        return {
            "game": "royal",
            "rules": "standard",
            "num_players": self.n,
            "start_player": self.start_player,
            "dealer": self.dealer,
            "phase": self.phase,
            "turn": self.turn,
            "fields": self.fields,
            "trumps": self.trumps + [None] * (6 - len(self.trumps)),
            "hands": [sorted(hand, key=DECK.index) for hand in self.hands],
            "voids": [sorted(suits, key=SUITS.index) for suits in self.voids],
            "trick": [[player, card] for player, card in self.trick],
            "played": self.played,
            "discards": sorted(self.discards, key=DECK.index),
            "pile": self.pile,
            "chance": self.chance,
            "shuffles": self.shuffles,
        }


def shuffled_by(game):
    """Return a function that gives a game's pile before its last deal: the dealt cards in order, then the others."""

    def pile(reference):
        position = game.to_dict()
        order = [(reference.dealer + seat) % reference.n for seat in range(1, reference.n + 1)]
        # Hands are in deck order, so the order of dealing is unknown; any order that gives the same hands is right.
        return [position["hands"][player][nth] for nth in range(8) for player in order] + position["pile"]

    return pile


def compare(num_players, seed, every=1):
    """Play a random game with both implementations. Returns the numbers of tricks and of decisions.

    Args:
        every: Positions are compared once in this number of moves; legal moves and points after every move.
    """
    choices = random.Random(f"{num_players}-{seed}")
    game = Game(game="royal", num_players=num_players, seed=seed)
    reference = Reference(game.to_dict())
    decisions = 0
    while not game.over:
        moves = game.moves()
        assert sorted(moves) == sorted(reference.moves())
        assert game.player == reference.turn
        move = choices.choice(moves)
        points = game.play(move)
        assert reference.play(move, shuffled_by(game)) == points
        decisions += 1
        if decisions % every == 0 or game.over:
            assert game.to_dict() == reference.position()
        assert game.scores == reference.fields
    assert reference.phase == "over"
    assert reference.tricks <= min(MOST_TRICKS[num_players], 27 * num_players)
    assert decisions <= MOST_DECISIONS[num_players]
    return reference.tricks, decisions


if __name__ == "__main__":
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    for players in range(2, 7):
        lengths = [compare(players, seed) for seed in range(games)]
        tricks, decisions = (max(length) for length in zip(*lengths, strict=True))
        print(f"{players} players: {games} games agree; at most {tricks} tricks, {decisions} decisions", flush=True)
