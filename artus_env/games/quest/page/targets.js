// Targets of moves in the picture, as text: `place:lake`, `quest:lake-1`, `pile:book-2`, `display:horse-3`.

/** Target of a move; null for moves without a target: `done` and bids. */
export function targetOf({ kind, action, card, quest, place }) {
  if (kind === "take") return `display:${action}`;
  if (place) return `place:${place}`;
  if (quest) return `quest:${quest}`;
  return card ? `pile:${card}` : null;
}

/**
 * The moves that a click on a target can mean: those with this target. If there are none, a click on a quest means
 * rides to its place, and a click on a place means moves with its quests.
 */
export function aimedAt(target, moves, quests) {
  const movesTo = (wanted) => moves.filter((move) => targetOf(move) === wanted);
  const [sort, name] = target.split(":");
  const exactMoves = movesTo(target);
  if (exactMoves.length) return exactMoves;
  if (sort === "quest") return movesTo(`place:${quests[name].place}`);
  return sort === "place" ? moves.filter(({ quest }) => quest && quests[quest].place === name) : [];
}
