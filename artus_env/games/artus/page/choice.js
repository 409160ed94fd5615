// A choice is {card, branch, origin, move}; each part is missing until it is chosen. Pure functions on the legal moves.

/** Which effect of its card a move uses, for cards that have several: figure, ring or best. */
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

/** The choice without its last part, and without parts that would be completed again at once. */
export function takenBack(moves, choice) {
  let shorter = choice;
  do shorter = withoutLast(shorter);
  while (settled(moves, shorter) !== shorter);
  return shorter;
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
  const allowed = candidates(moves, choice);
  const hasOneEffect = choice.card && !choice.move && allowed.length === 1 && allowed[0].target === null;
  return hasOneEffect ? { ...choice, move: allowed[0].move } : choice;
}
