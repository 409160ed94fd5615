// The tricks of a deal with their cards and winners, from the moves that all players have seen.

let known = { setup: null, entries: [] };

/** All moves up to the shown position: those that the page was loaded with, and those that have come since. */
function movesUntil(setup, state) {
  if (known.setup !== setup) known = { setup, entries: [...setup.log] };
  if (state.number === known.entries.length + 1) known.entries.push(state.last.entry);
  return known.entries.slice(0, state.number);
}

/** The finished tricks since the last deal: [{ cards: [{ player, card }, ...], taker }], cards in order of play. */
export function tricksOf({ setup, state }) {
  const { position, turn } = state;
  const players = setup.players.length;
  const played = movesUntil(setup, state).filter(({ move }) => move in setup.cards);
  const playedInDeal = position.played.reduce((sum, cards) => sum + cards.length, 0);
  const cards = played.slice(played.length - playedInDeal).map(({ player, move }) => ({ player, card: move }));
  const winner = position.fields.indexOf(Math.max(...position.fields));
  const leader = position.trick.length ? position.trick[0][0] : state.over ? winner : turn;
  return Array.from({ length: Math.floor(cards.length / players) }, (_, i) => ({
    cards: cards.slice(i * players, (i + 1) * players),
    taker: cards[(i + 1) * players]?.player ?? leader,
  }));
}
