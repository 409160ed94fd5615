"""The rules of Auction, as verbs of artus_env (docs/adding-a-game.md)."""

import numpy as np

from artus_env.authoring import below, jit, lowest_bit, popcount, random_bits, state_dtype

MOST_PLAYERS, CARDS, HAND = 4, 16, 4
DECK = (1 << CARDS) - 1
START, CHANCE = 100, 101  # indices in the deal's random stream, behind those of the cards

STATE = state_dtype(
    MOST_PLAYERS,
    [
        ("hands", np.int32, (MOST_PLAYERS,)),  # bit c: card c
        ("bids", np.int8, (MOST_PLAYERS,)),  # card that lies face down, -1: none
        ("played", np.int32),  # bit c: card c has been seen
        ("prizes", np.int32),  # bit p: a prize of p points is still to come
        ("prize", np.uint8),  # the prize that is bid for
        ("start_player", np.int8),
        ("over", np.int8),
        ("chance", np.uint64),  # determines the next prize, together with the number of prizes left
    ],
)
TABLES = np.dtype([("prizes", np.int32), ("goal", np.int32)])


@jit
def margin_scale(t, g):
    return 10.0  # points that make a margin of 1


@jit
def random_card(cards, bits):
    """Draw a card from a set, by random bits."""
    for _ in range(below(bits, popcount(cards))):
        cards &= cards - 1
    return lowest_bit(cards)


@jit
def turn_up(g):
    """Turn up the next prize, which depends only on `chance` and the number of prizes left."""
    prizes = int(g["prizes"])
    prize = random_card(prizes, random_bits(int(g["chance"]), popcount(prizes)))
    g["prize"], g["prizes"] = prize, prizes ^ (1 << prize)


@jit
def deal_cards(g, cards, player, count, seed):
    """Deal a player `count` cards of a set; returns the cards that are left. Each card is drawn with the random number
    whose index is the number of cards left."""
    for _ in range(count):
        card = random_card(cards, random_bits(seed, popcount(cards)))
        cards ^= 1 << card
        g["hands"][player] = int(g["hands"][player]) | 1 << card
    return cards


@jit
def deal(t, g, seed, start_player, num_players, rule_set):
    for player in range(MOST_PLAYERS):
        g["scores"][player], g["hands"][player], g["bids"][player] = 0, 0, -1
    g["start_player"] = start_player if start_player >= 0 else below(random_bits(seed, START), num_players)
    g["player"], g["num_players"], g["rule_set"] = int(g["start_player"]), num_players, rule_set
    g["played"], g["over"], g["prizes"] = 0, 0, int(t["prizes"])
    g["chance"] = random_bits(seed, CHANCE) >> np.uint64(11)
    cards = DECK
    for player in range(num_players):
        cards = deal_cards(g, cards, player, HAND, seed)
    turn_up(g)


@jit
def is_over(t, g):
    return int(g["over"]) == 1


@jit
def legal(t, g, words):
    words[0] = np.uint64(0 if is_over(t, g) else int(g["hands"][int(g["player"])]))


@jit
def play(t, g, action):
    player, players = int(g["player"]), int(g["num_players"])
    g["hands"][player] = int(g["hands"][player]) ^ 1 << action
    g["bids"][player] = action
    g["player"] = (player + 1) % players
    if int(g["player"]) != int(g["start_player"]):
        return 0
    winner = 0
    for other in range(players):
        g["played"] = int(g["played"]) | 1 << int(g["bids"][other])
        if int(g["bids"][other]) > int(g["bids"][winner]):
            winner = other
    for other in range(players):
        g["bids"][other] = -1
    gain = int(g["prize"])
    g["scores"][winner] = int(g["scores"][winner]) + gain
    if int(g["hands"][0]) == 0 or int(g["scores"][winner]) >= int(t["goal"]):
        g["over"] = 1
    else:
        turn_up(g)
    return gain if winner == player else 0


@jit
def observe(t, g, viewer, out):
    """Write the observation: own hand and bid, played cards, prizes to come, the prize, and for each player, the viewer
    first, whether they have bid, and their score."""
    out[:] = 0
    players = int(g["num_players"])
    for card in range(CARDS):
        out[card] = int(g["hands"][viewer]) >> card & 1
        out[CARDS + card] = int(g["played"]) >> card & 1
        out[2 * CARDS + card] = int(g["prizes"]) >> card & 1
        out[3 * CARDS + card] = int(g["prize"]) == card
        out[4 * CARDS + card] = int(g["bids"][viewer]) == card
    for seat in range(players):
        player = (viewer + seat) % players
        out[5 * CARDS + seat] = 1  # takes part
        out[5 * CARDS + 4 + seat] = int(g["bids"][player]) >= 0
        out[5 * CARDS + 8 + seat] = player == int(g["start_player"])
        out[5 * CARDS + 12 + seat] = min(127, int(g["scores"][player]))


@jit
def resample_hidden(t, g, viewer, seed):
    """Draw the other hands, cards face down and `chance` again; a card face down is any card that its player may
    have."""
    cards = DECK & ~int(g["played"]) & ~int(g["hands"][viewer])
    if int(g["bids"][viewer]) >= 0:
        cards &= ~(1 << int(g["bids"][viewer]))
    for player in range(int(g["num_players"])):
        if player != viewer:
            count = popcount(int(g["hands"][player]))
            g["hands"][player] = 0
            if int(g["bids"][player]) >= 0:
                card = random_card(cards, random_bits(seed, popcount(cards)))
                cards ^= 1 << card
                g["bids"][player] = card
            cards = deal_cards(g, cards, player, count, seed)
    g["chance"] = random_bits(seed, CHANCE) >> np.uint64(11)


@jit
def public_action(t, g, action, viewer):
    """A bid lies face down until all have bid."""
    return action if viewer == int(g["player"]) else 0


@jit
def is_revealed(t, g, action, viewer, now):
    """All bids of a round are turned up together, and the cards have been seen from then on."""
    return int(now["played"]) != int(g["played"])
