// How a game is played whose own script says nothing else: every legal move is a button. A game's script, `page.js`,
// exports any of these functions to do better.
//
// `now` is {setup, state, moves, choice}: what the server has sent (see view.py), the legal moves (none if it isn't
// this seat's turn), and what is chosen so far. A choice is a plain object; the move is chosen when it has a `move`. If
// it is `open` as well, it may still become another one, by the hand: it is played only when that is confirmed.

import { upper } from "./parts.js";
import { say } from "./texts.js";

/**
 * What comes next, if it is this seat's turn: {step, prompt, detail, options}. An option is {label, choice}; `short` is
 * shown instead of the label where there is one, `face`, a drawing, above it, `push` in grey beside it, and `data`
 * becomes data-attributes. One with a `refusal` instead of a choice is pale, and says that sentence when it is clicked.
 * `tip` is the tip for whoever gets there first, null for none; it has the name of the step unless that is said. The
 * step "confirm" asks whether to play the chosen move; the others may have any name but "wait" and "over".
 */
export function next({ setup, moves, choice }) {
  if (choice.move) {
    const { label } = moves.find(({ move }) => move === choice.move);
    const prompt = setup.worded ? say("plain.confirm.worded", { move: upper(label) }) : say("plain.confirm", { move: label });
    return { step: "confirm", prompt, detail: "", options: [] };
  }
  const options = moves.map(({ move, label }) => ({ label: setup.worded ? upper(label) : label, choice: { move } }));
  return { step: "choose", prompt: say("plain.prompt"), detail: "", options };
}

/** A choice, completed by what follows from it. What follows from {} is chosen when the turn begins. */
export const settled = (moves, choice) => (moves.length === 1 ? { move: moves[0].move } : choice);

/** A choice without its last part. */
export const takenBack = () => ({});

/** The choice that leads to a move, as a hint proposes it. */
export const leadingTo = ({ move }) => ({ move });

/** A move in few words, for a hint; and in many, for its tooltip. */
export const brief = ({ label }) => label;
export const full = ({ label }) => label;

/** Elements for a player's panel, beside name and points. */
export const panel = () => [];

/** Elements above the log, about what has happened. */
export const story = () => [];

/** What is in this seat's hand, as buttons. `act` is {choose(choice), say(text)}. */
export const hand = () => [];

/** A picture was put on the page: mark in it what can be chosen. `options` are those of `next`. */
export const mark = () => {};

/** The place in the picture that a click went to, null if it went to none. */
export const placeAt = () => null;

/** What a click on that place means when it is this seat's turn: {choice}, or {refusal}, a sentence. */
export const clicked = () => ({ refusal: say("say.below") });

/** Show how a move came about, on the picture of the position after it, within `duration` milliseconds. */
export const animate = async () => {};

/** Where in the picture points rise after a move: [x, y], from 0 to 1. */
export const pointsAt = () => [0.5, 0.5];

/** How the game stands, in a few short texts or elements: the round, what is left. */
export const status = () => [];

/** What something that is pointed at means: `text` is what the picture or a button says of it, if it does. */
export const meaning = (target, text) => text;

/** What in the picture can be looked at with the arrow keys, in this order: what it means is told. */
export const things = (picture) => [...picture.querySelectorAll("[data-meaning]")];

/** Point in the picture at where a move of the log took place: `where` of view.py, then the setup. Nothing if it is null. */
export const point = () => {};

/** Show in the picture what others have done since this seat's last turn: lines of the log with their `where`. */
export const trail = () => {};

/** How long a move is shown, as a part of the usual time. */
export const pace = () => 1;
