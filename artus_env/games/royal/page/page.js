// The royal card game's own page: choosing by clicks on cards and chips. What each function is for is said in the play
// page's plain.js; an option's `place` is the suit of a chip that isn't placed, or the number of a chip place.

import { count, drawing, make, upper } from "/static/parts.js";
import { tricksOf } from "./tricks.js";

export { animate, mark, placeAt, pointsAt } from "./table.js";

/** The suit that was led and that this seat holds, so that it has to be followed; null if there is none. */
function demanded({ setup, state }) {
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
    const free = suit ? `You have no ${suit}: play any card` : trick.length ? "Play any card" : "Lead any card";
    return { step: "card", prompt: demanded(now) ? `Follow ${suit}` : free, detail: "", options: [] };
  }
  if (moves[0].kind === "swap") {
    const places = choice.place ? moves.filter((move) => move.places.includes(choice.place)) : [];
    const options = choice.place ? places.map((move) => partnerOption(move, trumps, choice.place)) : trumps.map(placeOption);
    const prompt = choice.place ? `Swap ${trumps[choice.place - 1]} with which chip?` : "Swap two trump chips";
    return { step: "swap", prompt, detail: "Click a chip, or choose here.", options };
  }
  const detail = "The chip that is placed last is the strongest trump. Click it, or choose here.";
  return { step: "chip", prompt: "Place a trump chip, or decline", detail, options: moves.map(chipOption) };
}

function confirming({ setup, state, moves, choice }) {
  const { kind, card, label, outlook } = moves.find(({ move }) => move === choice.move);
  if (kind !== "card") {
    const detail = kind === "decline" ? "The trumps stay as they are." : "This is how it would be.";
    return { step: "confirm", prompt: `${upper(label)}?`, detail, options: [] };
  }
  const only = moves.length === 1 && state.position.hands[setup.you].length > 1 ? "You can play no other card. " : "";
  const detail = only + (outlook && `${upper(outlook)}.`);
  return { step: "confirm", prompt: `Play the ${setup.cards[card].title}?`, detail, options: [] };
}

const chipOn = (suit, place) => `${upper(suit)}, on place ${place}`;

const placeOption = (suit, i) => ({ label: chipOn(suit, i + 1), place: i + 1, choice: { place: i + 1 } });

function partnerOption({ move, places }, trumps, chosen) {
  const other = places.find((place) => place !== chosen);
  return { label: chipOn(trumps[other - 1], other), place: other, choice: { place: chosen, move } };
}

function chipOption({ kind, suit, move }) {
  return { label: upper(suit ?? kind), place: suit ?? undefined, choice: { move } };
}

/** A swap without its second place; everything else goes at once. */
export const takenBack = (moves, { place, move }) => (place && move ? { place } : {});

export const leadingTo = ({ places, move }) => (places ? { place: places[0], move } : { move });

export function clicked(place, now) {
  const { state, choice } = now;
  const { step, options } = next(now);
  const option = options.find((each) => each.place === place);
  if (option) return { choice: option.choice };
  if (step === "swap") return { choice: {} }; // the first chip again
  if (step === "card") return { refusal: "Chips are moved only when a pawn lands on a sword. Choose a card." };
  const suit = state.position.trumps[place - 1];
  return { refusal: suit ? `${upper(suit)} is placed already: choose one that isn’t.` : "Choose the chip to place there." };
}

// --- showing ---

/** Cards in hand, and suits that this player has shown not to have. */
export function panel(number, { setup, state }) {
  const { hands, voids, dealer } = state.position;
  const cards = Array.isArray(hands[number]) ? hands[number].length : hands[number];
  const none = voids[number];
  const deals = number === dealer && !state.over;
  return [
    make(
      "div",
      { class: "backs", role: "img", "aria-label": `${count(cards, "card")} in hand${deals ? ", deals" : ""}` },
      ...Array.from({ length: cards }, () => drawing(setup.back, "back")),
      make("b", {}, String(cards)),
      deals ? make("small", {}, "deals") : null,
    ),
    make(
      "div",
      { class: "voids", role: "img", "aria-label": none.length ? none.map((suit) => `no ${suit}`).join(", ") : "no voids" },
      ...none.map((suit) => drawing(setup.voids[suit], "void")),
    ),
  ];
}

export function hand(now, act) {
  const { setup, state, moves, choice } = now;
  const cards = state.position.hands[setup.you];
  const choosing = moves.some((move) => move.kind === "card");
  const playable = new Set(moves.map((move) => move.card));
  const suit = demanded(now);
  const reason = suit ? `${upper(suit)} was led, and you hold ${suit}.` : "First place a chip or decline.";
  const chosen = moves.find(({ move }) => move === choice.move)?.card;
  const click = (name) => {
    if (!playable.has(name)) act.say(choosing || !moves.length ? reason : "The sword comes first: choose a chip.");
    else act.choose(name === chosen ? {} : { move: moves.find((move) => move.card === name).move });
  };
  return cards.map((name, i) => {
    const { title, face } = setup.cards[name];
    const barred = choosing && !playable.has(name);
    const attributes = {
      class: ["card", playable.has(name) && "playable", barred && "barred"].filter(Boolean).join(" "),
      "data-card": name,
      "aria-label": barred ? `${title}, can’t be played: ${reason}` : title,
      "aria-pressed": String(chosen === name && cards.indexOf(name) === i),
      "aria-disabled": String(!playable.has(name)),
      title: barred ? reason : null,
      onclick: () => click(name),
    };
    return make("button", attributes, drawing(face, "face"));
  });
}

const finished = make("details", { class: "tricks" }); // one element for good, so that it stays open

/** The tricks of this deal, to be looked back at. */
export function story(now) {
  const tricks = tricksOf(now);
  if (!tricks.length) return [];
  const rows = tricks.map((trick, i) => trickLine(now, trick, i + 1)).reverse();
  finished.replaceChildren(
    make("summary", {}, `${count(tricks.length, "trick")} of this deal`),
    make("ol", {}, ...rows),
  );
  return [finished];
}

function trickLine({ setup }, { cards, taker }, number) {
  const name = (player) => setup.players[player].name;
  const told = cards.map(({ player, card }) => `${name(player)}: ${setup.cards[card].title}`).join(", ");
  const shown = cards.map(({ player, card }) =>
    make(
      "span",
      { class: player === taker ? "took" : null },
      drawing(setup.cards[card].face, "face"),
      drawing(setup.players[player].badge, "badge"),
    ),
  );
  return make(
    "li",
    {},
    make("span", { class: "unseen" }, `Trick ${number}: ${told}. ${name(taker)} took it.`),
    make("b", { "aria-hidden": "true" }, String(number)),
    make("span", { class: "laid", "aria-hidden": "true" }, ...shown),
  );
}

/** A trick that is complete stays for longer. */
export const pace = (last) => (last.taker !== null ? 1.5 : last.card ? 0.7 : 1);

export function brief({ kind, card, suit, places }, setup) {
  const texts = { card: () => upper(setup.cards[card].title), trump: () => `Place ${suit}`, decline: () => "Decline" };
  return texts[kind] ? texts[kind]() : `Swap places ${places.join(" and ")}`;
}

export const full = ({ label }) => upper(label);
