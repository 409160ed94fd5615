"""Artus, a board game for 2 to 4 players, for PettingZoo: `artus_v0.env()` and `artus_v0.raw_env()`.

Rules
-----

Most prestige points at the end win; equal prestige shares the win.

**The table.** 28 seats, numbered 0 to 27 clockwise, stand round a table; forward means clockwise. King Artus, three
princes and the knights of all players sit there: five knights each, four each with four players. Two of the four royal
figures are silver and two are bronze, the King among them. The table top turns with the King, so the value of a seat
depends on how many seats it lies behind him: 10 directly behind, then 8 7 6 5 4 3 2 1, then -1 and so on down to -15;
the last three seats, which are directly in front of him, are worth 0.

**Placing.** Before the first turn players put their knights on free seats, one at a time, counter-clockwise; the start
player is the last in each round.

**Turns.** Clockwise from the start player. Play one card of your hand (two in the advanced game), one after the other,
then draw as many from your own piles, one after the other. You choose the pile each time: knight, king or, in the
advanced game, scoring cards. You must draw while any of your piles has cards. All players have the same cards. The
fronts of the cards in your hand are hidden from the others, and the order of a pile is hidden from all.

**Moving.** A card moves one figure; taken seats count as steps. You score the value of the seat that the figure leaves,
as it was before the move, also if it is negative; for the King you score 0. A figure that is landed on goes to the next
free seat counter-clockwise of its own; that scores nothing, and your own knights can be pushed, too. Whenever the
King moves, is pushed, or another figure becomes King, the table top turns at once, and all values with it.

**Knight cards** move one of your own knights forward by one of the numbers in their names: `k1-4` by 1 to 4 seats,
`k2-5`, `k3-6`, `k4-7`, `k5-7`, `k6-8` and `k7-9` in the same way. `k1-5b` moves it 1 to 5 seats forward or backward.

**King cards** move a prince or the King: `any4-8` any of them 4 to 8 seats forward, `any1-5b` any of them 1 to 5 seats
forward or backward, `silver1-7` a silver one and `bronze1-7` a bronze one 1 to 7 seats forward. Ring cards
(`ring-silver`, `ring-bronze`, and twice `ring-any`) give a ring to a prince of that colour. You score the value of the
seat where that prince sits. The King has three rings, each prince begins with one; a prince who gets the third ring
becomes King, and the old King is a prince with one ring from then on.

**Scoring cards**, in the advanced game only, score your knights where they sit. `all`: the sum of their values.
`reversed`: minus that sum. `colors`: one knight on a positive seat, one on a zero and one on a negative seat, else -15.
`carpet`: two knights on the carpet (the fixed seats 0, 1, 2, 14, 15 and 16), else -25. `reds`: three knights on
negative seats, else -50. `choice`: move one of your knights, any prince or the King 1 to 3 seats forward, or give a
ring to any prince, or score your best knight. Where the condition holds you must score, even if the penalty would cost
less; the best knights that fit are taken.

**End.** When all hands have been played: after 16 rounds, 11 in the advanced game.

**Actions.** One action is one decision: place a knight, play a card with all its choices, or draw from a pile. So a
player often acts several times in a row. The action mask has a 1 for each legal action.
"""

from artus_env.environments import environments_of
from artus_env.games.artus import actions as actions
from artus_env.games.artus import components as components
from artus_env.games.artus import observation as observation
from artus_env.games.artus import state as state
from artus_env.games.artus.components import Components as Components

ArtusAEC, ArtusEnv, ArtusVectorEnv, env, raw_env = environments_of("artus", __name__)
