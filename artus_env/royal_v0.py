"""The royal card game of Artus, a race for 2 to 6 players, for PettingZoo: `royal_v0.env()` and `royal_v0.raw_env()`.

Rules
-----

The first pawn on field 27 wins at once. All pawns start on field 0.

**Cards.** Six suits (hearts, diamonds, clubs, spades, flowers, chalices), each from 1 to 11, and six super-trumps:
three knights and three shields. Each player is dealt eight cards, which are hidden from the others.

**Tricks.** The leader plays any card, then the others play one card each, clockwise. If you hold a card of the suit
that was led, you must play one of that suit, and no super-trump either. If you hold none, play any card. If a
super-trump was led, no suit has to be followed. A suit that is trump is followed like any other.

**Who takes the trick.** If there are super-trumps in it: the first one, unless one of the other kind follows; then that
one, unless one of the first kind follows it, and so on. Knights beat shields and shields beat knights; none beats its
own kind. Otherwise trumps: the highest card of the trump suit with the highest place. Otherwise the highest card of the
suit that was led. The winner leads the next trick.

**Moving.** The winner of a trick moves their pawn to the next field ahead on which no pawn stands, so it passes over
all pawns that stand directly in front of it. The others don't move.

**Swords.** The fields 4, 8, 12, 16, 20 and 24 carry a sword. There are no trumps at first. If your pawn lands on a
sword, turn a suit that isn't trump yet into a trump: its chip goes to the lowest empty place, and a later place beats
an earlier one. Or decline. When all six chips have been placed, you swap two of them instead. The new order counts from
the next trick on. Passing over a sword has no effect.

**Next deal.** When all hands are played, eight cards are dealt to each player again; if too few are left, all cards are
shuffled first. Cards that were played lie open until then. The player to the left of the dealer leads, and the deal
passes on to the left.

Players who aren't first are ranked by their fields.

**Actions.** One action is one decision: play a card, place the chip of a suit, decline, or swap two chips. The action
mask has a 1 for each legal action.
"""

from artus_env.environments import environments_of
from artus_env.games.royal import actions as actions
from artus_env.games.royal import components as components
from artus_env.games.royal import observation as observation
from artus_env.games.royal import state as state
from artus_env.games.royal.components import Components as Components

RoyalAEC, RoyalEnv, RoyalVectorEnv, env, raw_env = environments_of("royal", __name__)
