// What a player can choose next: card, then figure, then seat, then play it. Pure functions on the legal moves.
// A choice is {card, branch, origin, move}; each part is missing until it is chosen.

const BRANCHES = { figure: "Move a figure", ring: "Give a ring", best: "Score the best knight" };

const branchOf = (move) => (move.kind === "knight" || move.kind === "royal" ? "figure" : move.kind);
const distinct = (values) => [...new Set(values)];
const upper = (text) => text[0].toUpperCase() + text.slice(1);

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

/**
 * What comes next: {step, prompt, options}. An option has a label (perhaps a shorter one to be shown), perhaps a seat on
 * the table, and the choice it leads to.
 */
export function next(moves, choice, setup) {
  const left = candidates(moves, choice);
  const first = left[0];
  if (choice.move) {
    const what = first.kind === "score" ? `${setup.cards[first.card].title}: ${signed(first.points)}` : upper(first.label);
    return { step: "confirm", prompt: `${what}?`, options: [] };
  }
  const seats = (prompt) => ({
    step: "seat",
    prompt,
    options: left.map((move) => ({
      label: upper(move.goal),
      short: move.kind === "ring" ? undefined : upper(move.goal.split(",")[0]),
      push: move.refuge === null ? "" : `⇢ ${move.refuge}`,
      seat: move.target,
      choice: { ...choice, move: move.move },
    })),
  });
  if (first.kind === "place") return seats("Place a knight on a free seat");
  if (first.kind === "draw") {
    const options = left.map((move) => ({ label: upper(move.label), pile: move.pile, choice: { move: move.move } }));
    return { step: "pile", prompt: "Draw a card", options };
  }
  if (!choice.card) return { step: "card", prompt: "Play a card", options: [] };
  const branches = distinct(left.map(branchOf));
  if (branches.length > 1) {
    const options = branches.map((branch) => {
      const only = left.filter((move) => branchOf(move) === branch);
      const best = branch === "best" ? { move: only[0].move } : {};
      return { label: BRANCHES[branch] + (branch === "best" ? `: ${signed(only[0].points)}` : ""), choice: { ...choice, branch, ...best } };
    });
    return { step: "branch", prompt: `${setup.cards[choice.card].title}: what shall it do?`, options };
  }
  if (branchOf(first) === "ring") return seats("Who gets the ring?");
  if (choice.origin === undefined) {
    const options = distinct(left.map((move) => move.origin)).map((origin) => {
      const move = left.find((each) => each.origin === origin);
      const short = move.kind === "knight" ? `Seat ${origin}: ${signed(move.points)}` : undefined;
      return { label: upper(move.figure), short, seat: origin, choice: { ...choice, origin } };
    });
    return { step: "figure", prompt: "Which figure?", options };
  }
  return seats("Where to?");
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

export const signed = (points) => (points > 0 ? `+${points}` : points < 0 ? `−${-points}` : "0");
