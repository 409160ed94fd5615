// The royal card game's own page: choosing by clicks on cards and chips. The play page's plain.js describes the exported
// functions. An option's `place` is the suit of a chip that isn't placed, or the number of a place for chips.

import { drawing, make, upper } from "../parts.js";
import { sayOfGame as say } from "../texts.js";
import { tricksOf } from "./tricks.js";

export { animate, mark, placeAt, point, pointsAt, trail } from "./table.js";

/** The suit that was led and that this seat holds, so that it has to be followed; null if there is none. */
function suitToFollow({ setup, state }) {
  const { trick, hands } = state.position;
  const suit = trick.length ? setup.cards[trick[0][1]].suit : null;
  return suit && hands[setup.you].some((card) => setup.cards[card].suit === suit) ? suit : null;
}

// --- choosing ---

export function next(now) {
  const { setup, state, moves, choice } = now;
  const { trick, trumps } = state.position;
  if (choice.move) return confirming(now);
  if (moves[0].kind === "card") {
    const suit = trick.length ? setup.cards[trick[0][1]].suit : null;
    const freeKey = suit ? "free" : trick.length ? "any" : "lead";
    const prompt = say(`choose.${suitToFollow(now) ? "follow" : freeKey}`, { suit: suit && setup.suits[suit].name });
    return { step: "card", prompt, detail: "", options: [] };
  }
  if (moves[0].kind === "swap") {
    const swaps = choice.place ? moves.filter((move) => move.places.includes(choice.place)) : [];
    const options = choice.place ? swaps.map((move) => partnerOption(setup, move, trumps, choice.place)) : trumps.map((suit, i) => placeOption(setup, suit, i));
    const suit = choice.place && setup.suits[trumps[choice.place - 1]].name;
    const prompt = choice.place ? say("choose.partner", { suit }) : say("choose.swap");
    return { step: "swap", prompt, detail: say("choose.click"), options };
  }
  const options = moves.map((move) => chipOption(setup, move));
  return { step: "chip", prompt: say("choose.chip"), detail: say("choose.last"), options };
}

function confirming({ setup, state, moves, choice }) {
  const { kind, card, label, outlook } = moves.find(({ move }) => move === choice.move);
  if (kind !== "card") {
    const detail = say(kind === "decline" ? "confirm.decline" : "confirm.preview");
    return { step: "confirm", prompt: say("confirm.move", { label: upper(label) }), detail, options: [] };
  }
  const onlyMove = moves.length === 1 && state.position.hands[setup.you].length > 1 ? `${say("confirm.only")} ` : "";
  const detail = onlyMove + (outlook && `${upper(outlook)}.`);
  return { step: "confirm", prompt: say("confirm.card", { card: setup.cards[card].title }), detail, options: [] };
}

const chipOn = (setup, suit, place) => say("option.chip", { suit: setup.suits[suit].start, place });

const placeOption = (setup, suit, i) => ({ label: chipOn(setup, suit, i + 1), place: i + 1, choice: { place: i + 1 } });

function partnerOption(setup, { move, places }, trumps, chosen) {
  const other = places.find((place) => place !== chosen);
  return { label: chipOn(setup, trumps[other - 1], other), place: other, choice: { place: chosen, move } };
}

function chipOption(setup, { suit, move }) {
  return { label: suit ? setup.suits[suit].start : say("option.decline"), place: suit ?? undefined, choice: { move } };
}

/** The choice after a step back: a swap loses its second place, any other choice is removed. */
export const takenBack = (moves, { place, move }) => (place && move ? { place } : {});

export const leadingTo = ({ places, move }) => (places ? { place: places[0], move } : { move });

export function clicked(place, now) {
  const { setup, state, choice } = now;
  const { step, options } = next(now);
  const option = options.find((other) => other.place === place);
  if (option) return { choice: option.choice };
  if (step === "swap") return { choice: {} }; // a click on the first chip takes it back
  if (step === "card") return { refusal: say("refuse.card") };
  const suit = state.position.trumps[place - 1];
  return { refusal: suit ? say("refuse.placed", { suit: setup.suits[suit].start }) : say("refuse.empty") };
}

// --- showing ---

/** Elements that have a meaning, in this order: cards of the trick, trumps, pawns, piles, fields. */
export function things(svg) {
  const selectors = ["[data-trick]", "[data-trumps] [data-meaning], [data-chip]:not([data-place])", "[data-pawn]", "[data-pile]", "[data-field]"];
  return selectors.flatMap((selector) => [...svg.querySelectorAll(selector)]);
}

/** Text about a card's power with the present trumps. */
function cardMeaning(card, setup, trumps) {
  const { title, suit } = setup.cards[card];
  if (!suit) return say(`meaning.${card}`);
  const placed = trumps.filter(Boolean), place = placed.indexOf(suit) + 1;
  const kind = !place ? "none" : place === placed.length ? "strongest" : "place";
  return say("meaning.card", { card: upper(title), trump: say(`meaning.trump.${kind}`, { place }) });
}

/** Text about the purpose of an element of the table; `text` is its title. */
export function meaning(target, text, setup) {
  const { field, pawn, chip, place, trick } = target.closest("[data-meaning]")?.dataset ?? {};
  const trumps = [...target.closest("svg")?.querySelectorAll("[data-chip][data-place]") ?? []].map((element) => element.dataset.chip);
  if (trick) return cardMeaning(target.closest("[data-trick]").dataset.card, setup, trumps);
  const last = field && !target.closest("svg").querySelector(`[data-field="${Number(field) + 1}"]`);
  const sword = field && target.closest("[data-field]").querySelector(".sworded");
  const key = pawn ? "pawn" : last ? "goal" : sword ? "sword" : place ? "order" : chip ? "waiting" : null;
  return key ? `${upper(text)}. ${say(`meaning.${key}`)}` : upper(text);
}

/** Cards in hand, and suits that this player has shown not to have. */
export function panel(number, { setup, state }) {
  const { hands, voids, dealer } = state.position;
  const cards = Array.isArray(hands[number]) ? hands[number].length : hands[number];
  const voidSuits = voids[number], handText = say("hand.cards", { n: cards });
  const voidsText = voidSuits.map((suit) => say("void", { suit: setup.suits[suit].name })).join(", ") || say("voids.none");
  const deals = number === dealer && !state.over, backsText = deals ? say("hand.deals", { cards: handText }) : handText;
  return [
    make(
      "div",
      { class: "backs", role: "img", "aria-label": backsText, title: backsText },
      ...Array.from({ length: cards }, () => drawing(setup.back, "back")),
      make("b", {}, String(cards)),
      deals ? make("small", {}, say("deals")) : null,
    ),
    make(
      "div",
      { class: "voids", role: "img", "aria-label": voidsText, title: voidSuits.length ? voidsText : null },
      ...voidSuits.map((suit) => drawing(setup.voids[suit], "void")),
    ),
  ];
}

export function hand(now, act) {
  const { setup, state, moves, choice } = now;
  const cards = state.position.hands[setup.you];
  const choosing = moves.some((move) => move.kind === "card");
  const playable = new Set(moves.map((move) => move.card));
  const suit = suitToFollow(now);
  const names = suit && { Suit: setup.suits[suit].start, suit: setup.suits[suit].name };
  const reason = suit ? say("refuse.suit", names) : say("refuse.first");
  const chosen = moves.find(({ move }) => move === choice.move)?.card;
  const click = (name) => {
    if (!playable.has(name)) act.say(choosing || !moves.length ? reason : say("refuse.sword"));
    else act.choose(name === chosen ? {} : { move: moves.find((move) => move.card === name).move });
  };
  return cards.map((name, i) => {
    const { title, face } = setup.cards[name];
    const barred = choosing && !playable.has(name);
    const attributes = {
      class: ["card", playable.has(name) && "playable", barred && "barred"].filter(Boolean).join(" "),
      "data-card": name,
      "aria-label": barred ? say("card.barred", { title, reason }) : title,
      "aria-pressed": String(chosen === name && cards.indexOf(name) === i),
      "aria-disabled": String(!playable.has(name)),
      title: barred ? reason : cardMeaning(name, setup, state.position.trumps),
      onclick: () => click(name),
    };
    return make("button", attributes, drawing(face, "face"));
  });
}

/** The number of the current trick in this deal, and the last trick with its winner. */
export function status(now) {
  const { setup, state } = now;
  if (state.over) return [];
  const tricks = tricksOf(now), last = tricks.at(-1);
  const number = say("status.trick", { number: tricks.length + 1, pile: state.position.pile });
  return last ? [number, make("span", { class: "last" }, say("status.took"), laid(setup, last))] : [number];
}

const finished = make("details", { class: "tricks" }); // always the same element, so that it stays open

/** A list of the finished tricks of this deal. */
export function story(now) {
  const tricks = tricksOf(now);
  if (!tricks.length) return [];
  const rows = tricks.map((trick, i) => trickLine(now, trick, i + 1)).reverse();
  finished.replaceChildren(
    make("summary", {}, say("tricks", { n: tricks.length })),
    make("ol", {}, ...rows),
  );
  return [finished];
}

function trickLine({ setup }, { cards, taker }, number) {
  const name = (player) => setup.players[player].name;
  const cardsText = cards.map(({ player, card }) => `${name(player)}: ${setup.cards[card].title}`).join(", ");
  return make(
    "li",
    {},
    make("span", { class: "unseen" }, say("trick.line", { number, cards: cardsText, taker: name(taker) })),
    make("b", { "aria-hidden": "true" }, String(number)),
    laid(setup, { cards, taker }),
  );
}

/** Small pictures of the cards of a trick, each with its player's badge; the best card is marked. */
function laid(setup, { cards, taker }) {
  const shown = cards.map(({ player, card }) =>
    make(
      "span",
      { class: player === taker ? "took" : null },
      drawing(setup.cards[card].face, "face"),
      drawing(setup.players[player].badge, "badge"),
    ),
  );
  return make("span", { class: "laid", "aria-hidden": "true" }, ...shown);
}

/** Relative time for which a move is shown: longest for one that completes a trick. */
export const pace = (last) => (last.taker !== null ? 1.5 : last.card ? 0.7 : 1);

export function brief({ kind, card, suit, places }, setup) {
  if (kind === "card") return upper(setup.cards[card].title);
  if (kind === "trump") return say("brief.trump", { suit: setup.suits[suit].name });
  return kind === "decline" ? say("option.decline") : say("brief.swap", { first: places[0], second: places[1] });
}

export const full = ({ label }) => upper(label);
