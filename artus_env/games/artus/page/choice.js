// A choice is {card, branch, origin, move}; each part is missing until it is chosen. Pure functions on the legal moves.

/** What a card may do that leaves a choice of its own: figure, ring or best. */
export const branchOf = (move) => (move.kind === "knight" || move.kind === "royal" ? "figure" : move.kind);

/** The legal moves that a choice still allows. */
export function candidates(moves, choice) {
  return moves.filter(
    (move) =>
      (!choice.card || move.card === choice.card) &&
      (!choice.branch || branchOf(move) === choice.branch) &&
      (choice.origin === undefined || move.origin === choice.origin) &&
      (!choice.move || move.move === choice.move),
  );
}

/** The choice with its last part taken back; what follows from the rest by itself goes, too. */
export function takenBack(moves, choice) {
  let rest = choice;
  do rest = withoutLast(rest);
  while (settled(moves, rest) !== rest);
  return rest;
}

function withoutLast(choice) {
  const { card, branch, origin, move } = choice;
  if (move && origin !== undefined) return { card, branch, origin };
  if (move) return branch && branch !== "best" ? { card, branch } : card ? { card } : {};
  if (origin !== undefined) return branch ? { card, branch } : { card };
  return branch ? { card } : {};
}

/** The choice, completed if its card leaves nothing else to choose. */
export function settled(moves, choice) {
  const left = candidates(moves, choice);
  const open = choice.card && !choice.move && left.length === 1 && left[0].target === null;
  return open ? { ...choice, move: left[0].move } : choice;
}
