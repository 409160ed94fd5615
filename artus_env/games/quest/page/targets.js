// What a move is aimed at in the picture, as text: `place:lake`, `quest:lake-1`, `pile:book-2`, `display:horse-3`.

/** What a move is aimed at; null for those that aren't: `done` and bids. */
export function targetOf({ kind, action, card, quest, place }) {
  if (kind === "take") return `display:${action}`;
  if (place) return `place:${place}`;
  if (quest) return `quest:${quest}`;
  return card ? `pile:${card}` : null;
}

/**
 * The moves that a click on a target can mean. Where none is aimed at it: on a quest, rides to its place; on a place,
 * its quests.
 */
export function aimedAt(target, moves, quests) {
  const exactly = (wanted) => moves.filter((move) => targetOf(move) === wanted);
  const [sort, name] = target.split(":");
  const found = exactly(target);
  if (found.length) return found;
  if (sort === "quest") return exactly(`place:${quests[name].place}`);
  return sort === "place" ? moves.filter(({ quest }) => quest && quests[quest].place === name) : [];
}
