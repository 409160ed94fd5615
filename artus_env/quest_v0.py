"""By order of the King, a game for 2 to 4 players, for PettingZoo: `quest_v0.env()` and `quest_v0.raw_env()`.

Rules
-----

The round in which a player reaches the goal (25 points with two players, 20 with three, 15 with four) is played to its
end; then most points win. Among players with equal points, the one who reached the goal first wins. The game ends after
30 rounds in any case.

**The ring.** Eight places lie in a ring: Camelot and, in random order, forest, valley, lake, moor, ford, ruin and
tower. Each player has a knight, which starts in Camelot, and two hidden virtue cards. Virtues are
sword, lance, dragon and book, with the values 1 and 2. All other virtue cards lie open on a pile for each virtue. Three
quests lie open.

**Tents** give the turn order. The player with the fewest points has the first tent in the next round.

**Choosing actions.** At the beginning of a round, players take action cards from the display, one at a time in the
order of the tents, until each of them has three (four with two players). A player may take only one tournament.

**Acting.** Then each player in turn uses their action cards, in any order, or leaves some unused, and says `done`:

- exercise (one card for each virtue), in Camelot: take a card of that virtue from its pile, of either value.
- Artus, in Camelot: take one of the open quests into your hand.
- court, anywhere but in Camelot: lay a book back on its pile for 2 points.
- quest, at the place of a quest in your hand: lay back the virtues that it demands and get its points. Each demand is
  met by one card of that virtue with that value or a higher one; the lowest sufficient cards are used.
- horse-2, horse-3, horse-4: ride to a place that is at most 2, 3 or 4 steps away, either way round.

**Tournament.** When all are done, the players who took a tournament card and whose knights are in Camelot joust. A
player who is alone lays back one sword or lance and gets 2 points; without such a card, they get nothing. Two players
bid any number of swords and lances, or none, in secret. The higher sum of values gets 2 points; equal sums get 1 point
each, unless both have bid nothing. All cards that were bid go back to their piles.

**End of a round.** Action cards go back on display, open quests are filled up to three, and tents are handed out again.
Equal points get their tents by lot.

**Actions.** One action is one decision: take a card, use one, end the turn, or bid a set of cards. So a player often
acts several times in a row. The action mask has a 1 for each legal action.
"""

from artus_env.environments import environments_of
from artus_env.games.quest import actions as actions
from artus_env.games.quest import components as components
from artus_env.games.quest import observation as observation
from artus_env.games.quest import state as state
from artus_env.games.quest.components import Components as Components

QuestAEC, QuestEnv, QuestVectorEnv, env, raw_env = environments_of("quest", __name__)
