// The default functions of a game's page: every legal move is a button. A game's own script, `page.js`, replaces any of
// them by exporting a function of the same name.
//
// `now` is {setup, state, moves, choice}: what the server has sent (see view.py), the legal moves (none if it isn't
// this seat's turn), and what is chosen so far. A choice is a plain object; the move is chosen when it has a `move`. If
// it also has `open`, the hand's buttons may still change it, and it is played only after it was confirmed.

import { upper } from "./parts.js";
import { say } from "./texts.js";

/**
 * The next step of this seat's turn: {step, prompt, detail, options, tip}. An option is {label, choice}. It may also have
 * `short`, shown instead of the label; `face`, a drawing above it; `push`, a text in grey beside it; and `data`, which
 * becomes data-attributes. An option with a `refusal` instead of a choice is pale, and shows that sentence when it is
 * clicked. `tip` is the name of the tip for players who are new to this step: null for none, the step's name by default.
 * The step "confirm" asks whether to play the chosen move; other steps may have any name except "wait" and "over".
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

/** A choice, with the parts added that it leaves no alternative for. A turn begins with `settled(moves, {})`. */
export const settled = (moves, choice) => (moves.length === 1 ? { move: moves[0].move } : choice);

/** A choice without its last part. */
export const takenBack = () => ({});

/** The choice that selects a move of a hint. */
export const leadingTo = ({ move }) => ({ move });

/** A move of a hint in few words, for the list, and in full, for its tooltip. */
export const brief = ({ label }) => label;
export const full = ({ label }) => label;

/** Elements for a player's panel, beside name and points. */
export const panel = () => [];

/** Elements above the log, about what has happened. */
export const story = () => [];

/** Buttons for this seat's hand. `act` is {choose(choice), say(text)}. */
export const hand = () => [];

/** Mark in a new picture what can be chosen: arguments are the picture, the options of `next`, and the choice. */
export const mark = () => {};

/** The place of a click in the picture, in the game's own terms, null if there is nothing to click. */
export const placeAt = () => null;

/** The effect of a click on such a place in this seat's turn: {choice}, or {refusal}, a sentence. */
export const clicked = () => ({ refusal: say("say.below") });

/** Animate a move on the picture of the position after it, within `duration` milliseconds. */
export const animate = async () => {};

/** Where in the picture points rise after a move: [x, y], from 0 to 1. */
export const pointsAt = () => [0.5, 0.5];

/** The state of the game as a few short texts or elements, such as the round and the cards left. */
export const status = () => [];

/**
 * The meaning of an element under the pointer; `text` is its meaning according to the picture or a tooltip, "" if it
 * has none.
 */
export const meaning = (target, text) => text;

/** The elements of the picture that the arrow keys go through, in this order; the meaning of each is announced. */
export const things = (picture) => [...picture.querySelectorAll("[data-meaning]")];

/**
 * Highlight in the picture where a move of the log took place: arguments are the picture, `where` of view.py (null:
 * nothing), and the setup.
 */
export const point = () => {};

/**
 * Show in the picture what others have done since this seat's last turn: arguments are the picture, log entries with
 * their `where`, and the setup.
 */
export const trail = () => {};

/** The time for which a move is shown, as a fraction of the usual time. */
export const pace = () => 1;
