// Artus's own page: choosing by clicks on cards, figures and seats. The play page's plain.js describes the exported
// functions; an option's `place` is the number of a seat.

import { drawing, make, signed, upper } from "../parts.js";
import { sayOfGame as say } from "../texts.js";
import * as board from "./board.js";
import { branchOf, candidates, settled, takenBack } from "./choice.js";

export { animate, placeAt, point, pointsAt, trail } from "./board.js";
export { settled, takenBack };

const distinct = (values) => [...new Set(values)];
const isDraw = (move) => move.startsWith("draw:");

// --- choosing: card, then figure, then seat, then play it ---

export function next(now) {
  const step = nextStep(now);
  return { ...step, detail: detail(step.step, now) };
}

function nextStep({ setup, moves, choice }) {
  const allowed = candidates(moves, choice);
  const first = allowed[0];
  if (choice.move) {
    const title = first.kind === "score" && setup.cards[first.card].title;
    const what = title ? `${title}: ${signed(first.points)}` : upper(first.label);
    return { step: "confirm", prompt: say("choose.confirm", { what }), options: [] };
  }
  const seats = (prompt, tip = null) => ({ step: "seat", tip, prompt, options: allowed.map((move) => seatOption(move, choice)) });
  if (first.kind === "place") return seats(say("choose.place"), "seat");
  if (first.kind === "draw") {
    const option = ({ move, label, pile }) => ({ label: upper(label), data: { pile }, choice: { move } });
    return { step: "pile", prompt: say("choose.draw"), options: allowed.map(option) };
  }
  if (!choice.card) return { step: "card", prompt: say("choose.card"), options: [] };
  const branches = distinct(allowed.map(branchOf));
  if (branches.length > 1) {
    const options = branches.map((branch) => branchOption(branch, allowed, choice));
    return { step: "branch", prompt: say("choose.branch", { card: setup.cards[choice.card].title }), options };
  }
  if (branchOf(first) === "ring") return seats(say("choose.ring"));
  if (choice.origin !== undefined) return seats(say("choose.goal"));
  const options = distinct(allowed.map((move) => move.origin)).map((origin) => figureOption(origin, allowed, choice));
  return { step: "figure", prompt: say("choose.figure"), options };
}

function seatOption(move, choice) {
  return {
    label: upper(move.goal),
    short: move.kind === "ring" ? undefined : upper(move.goal.split(",")[0]),
    push: move.pushes,
    place: move.target,
    data: { seat: move.target },
    choice: { ...choice, move: move.move },
  };
}

function branchOption(branch, allowed, choice) {
  const branchMoves = allowed.filter((move) => branchOf(move) === branch);
  const best = branch === "best" ? { move: branchMoves[0].move } : {};
  const label = say(`branch.${branch}`, { points: signed(branchMoves[0].points) });
  return { label, choice: { ...choice, branch, ...best } };
}

function figureOption(origin, allowed, choice) {
  const move = allowed.find((each) => each.origin === origin);
  const points = signed(move.points);
  const short = move.kind === "knight" ? say("option.short", { seat: origin, points }) : undefined;
  return { label: upper(move.figure), short, place: origin, data: { seat: origin }, choice: { ...choice, origin } };
}

/** Text below the prompt: how many cards have to be played or drawn, or what the chosen card does. */
function detail(step, { setup, state, choice }) {
  const { left } = state.position;
  if (step === "card") return left > 1 ? say("detail.cards", { n: left }) : "";
  if (step === "pile") return left > 1 ? say("detail.draws", { n: left }) : "";
  if (step === "confirm" && isDraw(choice.move)) return say("detail.drawn");
  if (choice.card) return setup.cards[choice.card].text;
  return say(step === "confirm" ? "detail.preview" : "detail.click");
}

export function clicked(seat, now) {
  const { moves, choice } = now;
  const { step, options } = nextStep(now);
  const option = options.find((each) => each.place === seat);
  if (option) return { choice: option.choice };
  if (choice.origin === seat) return { choice: takenBack(moves, choice) };
  const otherMoves = choice.origin === undefined ? [] : candidates(moves, { ...choice, origin: seat });
  if (otherMoves.length) return { choice: { ...choice, origin: seat } }; // another figure instead
  return { refusal: say(`refuse.${["card", "pile", "branch"].includes(step) ? step : "seat"}`, { seat }) };
}

export function leadingTo({ card, origin, move }) {
  return { ...(card && { card }), ...(origin !== null && { origin }), move };
}

// --- showing ---

export function mark(svg, options, choice) {
  board.mark(svg, options.map((option) => option.place).filter((place) => place !== undefined), choice.origin);
}

export const pace = (last) => (isDraw(last.move) ? 0.5 : 1);

/** Texts: the round, the rings left in the supply, and the cards left in this seat's piles. */
export function status({ setup, state }) {
  const { phase, played, turn, left, seats, piles } = state.position;
  if (state.over) return [];
  if (phase === "place") return [say("status.place")];
  const cardsPlayed = played[turn].length - (phase === "play" ? setup.each - left : setup.each);
  const ringsGiven = seats.reduce((sum, figure) => sum + (figure?.rings ?? 0), 0);
  const pilesText = setup.piles.map((pile) => `${piles[setup.you][pile]} ${pileName(pile)}`).join(", ");
  return [
    say("status.round", { round: Math.floor(cardsPlayed / setup.each) + 1, rounds: setup.rounds }),
    say("status.supply", { n: Math.max(0, setup.supply - ringsGiven) }),
    say("status.piles", { piles: pilesText }),
  ];
}

/** Parts of the picture that have a meaning: wheel, carpet and rings, then King, princes and knights, then seats. */
export function things(svg) {
  const selectors = ["[data-wheel]", ".carpet", "[data-rings] .ring"];
  const parts = selectors.map((selector) => svg.querySelector(selector)).filter(Boolean);
  const kinds = ["king", "prince", "knight"];
  const figures = kinds.flatMap((kind) => [...svg.querySelectorAll(`[data-figure="${kind}"]`)]);
  return [...parts, ...figures, ...svg.querySelectorAll("[data-seat][data-meaning]:not([data-figure])")];
}

/** Text about a part of the round table, followed by what it is good for. */
export function meaning(target, text) {
  if (target.closest("[data-wheel]")) return say("meaning.wheel");
  if (target.closest(".ring, .under")) return say("meaning.rings");
  const { figure } = target.closest("[data-figure]")?.dataset ?? {};
  if (!figure && target.closest(".carpet, .trim")) return say("meaning.carpet");
  const key = figure === "king" || figure === "prince" ? `meaning.${figure}` : target.closest("[data-seat]") && "meaning.seat";
  return key ? `${upper(text)}. ${say(key)}` : text;
}

const pileName = (pile) => say(`pile.${pile}`);

/** A player's panel: the backs of their cards in hand, their piles, and the cards that they have played. */
export function panel(number, { setup, state }) {
  const { hands, piles, played } = state.position;
  const backs = backsOf(hands[number], setup);
  const counts = setup.piles.map((pile) => [pile, piles[number][pile]]);
  const back = (pile) => drawing(setup.backs[pile], "back");
  const handText = say("hand.backs", { cards: backs.map(pileName).join(", ") || say("hand.nothing") });
  const pilesText = say("hand.piles", { piles: counts.map(([pile, n]) => `${n} ${pileName(pile)}`).join(", ") });
  return [
    make(
      "div",
      { class: "backs", role: "img", "aria-label": handText, title: handText },
      ...backs.map(back),
    ),
    make(
      "div",
      { class: "piles", role: "img", "aria-label": pilesText, title: pilesText },
      ...counts.map(([pile, n]) => make("span", { class: `pile${n ? "" : " empty"}` }, back(pile), String(n))),
    ),
    make(
      "details",
      { class: "played" },
      make("summary", {}, say("hand.played", { n: played[number].length })),
      make("ul", {}, ...played[number].map((name) => make("li", { title: setup.cards[name].text }, setup.cards[name].title))),
    ),
  ];
}

/** Pile of each card in a hand, which is a list of cards if this seat sees them, else a count for each pile. */
function backsOf(hand, setup) {
  if (Array.isArray(hand)) return hand.map((name) => setup.cards[name].pile);
  return setup.piles.flatMap((pile) => Array(hand[pile]).fill(pile));
}

export function hand({ setup, state, moves, choice }, act) {
  const cards = state.position.hands[setup.you];
  const playable = new Set(moves.map((move) => move.card));
  const click = (name) => {
    if (!playable.has(name)) return act.say(say("refuse.now"));
    const chosen = { card: name };
    const deselects = choice.card === name && (!choice.move || settled(moves, chosen) !== chosen);
    act.choose(deselects ? {} : chosen);
  };
  return cards.map((name, i) => {
    const { title, text, face } = setup.cards[name];
    const attributes = {
      class: "card",
      "data-card": name,
      "aria-label": `${title}. ${text}`,
      "aria-pressed": String(choice.card === name && cards.indexOf(name) === i),
      "aria-disabled": String(!playable.has(name)),
      title: text,
      onclick: () => click(name),
    };
    return make("button", attributes, drawing(face, "face"), make("span", { class: "title" }, whole(title)));
  });
}

/** A title whose range of steps isn't broken at its dash. */
const whole = (title) => title.replace("–", "\u2060–\u2060");

export function brief({ kind, card, pile, goal, origin, target, points }, setup) {
  if (kind === "draw") return say(`brief.draw.${pile}`);
  if (kind === "place") return upper(goal);
  const textKind = ["score", "best", "ring"].includes(kind) ? kind : "move";
  return say(`brief.${textKind}`, { card: setup.cards[card].title, origin, target, points: signed(points) });
}

export const full = ({ card, label }, setup) => (card ? `${setup.cards[card].title}: ${label}` : label);
