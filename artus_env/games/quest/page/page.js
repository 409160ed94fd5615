// The page of the King's quests: choosing by clicks on action cards, places, quests and cards in hand. The play page's
// plain.js describes the exported functions. An option's `place` is a target as in targets.js; its `targets` are all
// targets that an action card can be used on.
//
// A choice is {action, move}. If a place was clicked that several horses can reach, it is {among, move} instead:
// `among` lists the moves that lead there. Each part is missing until it is chosen. A bid is {bid, move, open}: the
// cards that are chosen so far, and the move that bids them.

import { drawing, make, upper } from "../parts.js";
import { sayOfGame as say } from "../texts.js";
import { aimedAt, targetOf } from "./targets.js";

export { animate, mark, placeAt, point, pointsAt, trail } from "./board.js";

const distinct = (values) => [...new Set(values)];
const times = (number) => (number > 1 ? `×${number}` : "");
const number = (cards, card) => cards.filter((each) => each === card).length;

/** All virtue cards in a player's hand that this seat knows, in the order of the box. */
function virtuesOf(player, { setup, state }) {
  const { start_cards: start, taken } = state.position;
  const known = [...taken[player], ...(Array.isArray(start[player]) ? start[player] : [])];
  return Object.keys(setup.virtues).flatMap((card) => known.filter((each) => each === card));
}

// --- choosing: an action card or its target, then play it ---

/** The legal moves that a choice still allows. */
const candidates = (moves, { action, among }) =>
  moves.filter((move) => (!action || move.action === action) && (!among || among.includes(move.move)));

/** The choice, completed if it leaves nothing else to choose. */
export function settled(moves, choice) {
  if (choice.move) return choice;
  const allowed = candidates(moves, choice);
  return allowed.length === 1 ? { ...choice, move: allowed[0].move } : choice;
}

export function takenBack(moves, { action, among, move, bid }) {
  const shorter = bid ? {} : move && action ? { action } : move && among ? { among } : {};
  return settled(moves, shorter).move && Object.keys(shorter).length ? {} : shorter;
}

export function leadingTo({ move, bid, alone, action, kind }) {
  if (bid && !alone) return { bid, move, open: true };
  return action && kind !== "take" ? { action, move } : { move };
}

export function next(now) {
  const { state, moves, choice } = now;
  if (choice.move) return confirming(now);
  if (moves[0].kind === "take") return taking(now);
  if (moves[0].kind === "bid") return bidding(now);
  if (choice.among) return riding(now);
  return choice.action ? aiming(now) : acting(now, state.position);
}

function confirming({ setup, moves, choice }) {
  const { kind, action, label, bid, alone } = moves.find(({ move }) => move === choice.move);
  const secret = bid && !alone ? say("choose.secret") : "";
  const details = { take: setup.actions[action]?.text, done: "", bid: secret };
  const detail = details[kind] ?? say("choose.preview");
  return { step: "confirm", prompt: say("choose.confirm", { label: upper(label) }), detail, options: [] };
}

function taking({ setup, state, moves }) {
  const { actions, display } = state.position;
  const options = moves.map(({ move, action }) => ({
    ...looks(setup, action, number(display, action)),
    place: `display:${action}`,
    choice: { move },
  }));
  const detail = say("choose.take.detail", { number: actions[setup.you].length + 1, all: setup.choices });
  return { step: "take", prompt: say("choose.take"), detail, options };
}

/** Label and picture of an action card as an option. */
function looks(setup, action, copies) {
  const { title, face } = setup.actions[action];
  return { label: actionMeaning(action, setup), short: upper(title), face, push: times(copies), data: { action } };
}

function acting({ setup, moves }, position) {
  const held = position.actions[setup.you];
  const options = distinct(held).map((action) => {
    const targets = moves.filter((move) => move.action === action).map(targetOf);
    const use = targets.length ? { choice: { action } } : { refusal: useless(action, setup.you, position) };
    return { ...looks(setup, action, number(held, action)), ...use, targets };
  });
  const { label } = moves.find(({ kind }) => kind === "done");
  const done = { label: upper(label), short: say("choose.done"), data: { done: "" }, choice: { move: "done" } };
  return { step: "act", prompt: say("choose.act"), detail: say("choose.act.detail"), options: [...options, done] };
}

/** Text: why an action card can't be used now. */
function useless(action, you, { places, quests }) {
  const [name] = action.split("-"), home = places[you] === "camelot";
  const here = quests[you].some((quest) => quest.startsWith(`${places[you]}-`));
  const reasons = {
    tournament: () => "useless.tournament",
    exercise: () => (home ? "useless.exercise.empty" : "useless.exercise"),
    artus: () => (home ? "useless.artus.empty" : "useless.artus"),
    court: () => (home ? "useless.court.camelot" : "useless.court"),
    quest: () => (!quests[you].length ? "useless.quest.none" : here ? "useless.quest.lack" : "useless.quest.away"),
  };
  return say(reasons[name]());
}

function aiming({ setup, state, moves, choice }) {
  const allowed = candidates(moves, choice);
  const options = allowed.map((move) => ({
    ...aim(move, setup, state.position),
    place: targetOf(move),
    choice: { ...choice, move: move.move },
  }));
  return { step: "aim", prompt: say(`aim.${allowed[0].kind}`), detail: setup.actions[choice.action].text, options };
}

/** Label and picture of a move's target (a quest, a card or a place) as an option. */
function aim({ label, card, quest, place, goal }, setup, { piles, places }) {
  if (quest) {
    const { title, face } = setup.quests[quest];
    return { label: upper(label), short: upper(title), face, data: { aim: "quest" } };
  }
  if (card) {
    const { title, face, virtue, value } = setup.virtues[card];
    const copies = times(number(piles[virtue], value));
    return { label: upper(label), short: upper(title), face, push: copies, data: { aim: "card" } };
  }
  const here = places.map((at, player) => (at === place ? setup.players[player].name : null)).filter(Boolean);
  return { label: upper(goal), push: here.join(", "), data: { aim: "place" } };
}

/** The step in which a horse is chosen, for a place that several horses can reach. */
function riding({ setup, moves, choice }) {
  const allowed = candidates(moves, choice);
  const options = allowed.map(({ move, action }) => ({ ...looks(setup, action, 1), choice: { ...choice, move } }));
  return { step: "horse", prompt: say("choose.horse", { to: allowed[0].to }), detail: "", options };
}

function bidding({ setup, state, moves }) {
  const { you, players } = setup, { actions, places, bidding: due } = state.position;
  if (moves[0].alone) {
    return { step: "bid", prompt: say("choose.alone"), detail: say("choose.alone.detail"), options: [] };
  }
  const rival = players.find((_, i) => i !== you && actions[i].includes("tournament") && places[i] === "camelot");
  const values = { name: rival.name, points: say("points", { n: setup.prize }) };
  const detail = say(due.length > 1 ? "choose.bid.detail" : "choose.bid.made", values);
  return { step: "bid", prompt: say("choose.bid", values), detail, options: [] };
}

export function clicked(place, now) {
  const { setup, moves, choice } = now;
  const allowed = aimedAt(place, candidates(moves, { action: choice.action }), setup.quests);
  const action = choice.action && { action: choice.action };
  if (allowed.length === 1) return { choice: { ...action, move: allowed[0].move } };
  if (allowed.length) return { choice: { among: allowed.map(({ move }) => move) } };
  const { step } = next(now);
  return { refusal: say(`refuse.${["take", "bid", "act", "aim"].includes(step) ? step : "other"}`) };
}

// --- showing ---

/** Texts: round, goal, and number of quests still to come. */
export function status({ setup, state }) {
  if (state.over) return [];
  const { round, quest_pile: pile } = state.position, count = Array.isArray(pile) ? pile.length : pile;
  return [say("status.round", { round, rounds: setup.rounds, goal: setup.goal }), say("status.quests", { n: count })];
}

/** Parts of the picture that have a meaning: knights, places and quests, then cards, piles and tents. */
export function things(svg) {
  const sorts = ["[data-knight]", "[data-place]", "[data-quest]", "[data-display]", "[data-pile]", "[data-tent]"];
  return sorts.flatMap((sort) => [...svg.querySelectorAll(`${sort}[data-meaning]`)]);
}

/** Text about a part of the picture, followed by what it is good for. */
export function meaning(target, text, setup) {
  const { display, pile, place, quest, tent, knight } = target.closest("[data-meaning]")?.dataset ?? {};
  const sorts = { place: place === "camelot" ? place : place && "place", quest: quest && "quest", tent: tent && "tent" };
  const sort = setup.virtues[pile]?.virtue ?? (knight ? "knight" : sorts.place ?? sorts.quest ?? sorts.tent);
  const useText = display ? setup.actions[display].text : sort && say(`meaning.${sort}`);
  return useText ? `${upper(text)}. ${useText}` : upper(text);
}

/** A player's panel: action cards, virtue cards and quests; their tent, and what is known about their bid. */
export function panel(player, now) {
  const { setup, state } = now;
  const { actions, start_cards: start, excluded, quests } = state.position;
  const knownCards = virtuesOf(player, now), hidden = Array.isArray(start[player]) ? 0 : start[player];
  const excludedCards = hidden || start[player].length ? excluded[player] : [];
  const title = (kind) => (name) => setup[kind][name].title;
  const row = (name, label, ...children) =>
    make("span", { class: name, role: "img", "aria-label": label }, ...children);
  const cardTitles = [...knownCards.map(title("virtues")), ...(hidden ? [say("panel.unknown", { n: hidden })] : [])];
  const excludedTexts = excludedCards.map((card) => say("panel.lacks", { card: title("virtues")(card) }));
  const shown = (svg, name, text) => Object.assign(drawing(svg, name), { title: upper(text) });
  return [
    make("small", { class: "tent" }, notes(player, now)),
    make(
      "div",
      { class: "holds" },
      row("held actions", say("panel.actions", { cards: actions[player].map(title("actions")).join(", ") || say("none") }),
        ...actions[player].map((name) => shown(setup.actions[name].face, "face", actionMeaning(name, setup)))),
      row("held virtues", say("panel.virtues", { cards: [...cardTitles, ...excludedTexts].join(", ") || say("none") }),
        ...knownCards.map((name) => shown(setup.virtues[name].face, "face", virtueMeaning(name, setup))),
        ...Array.from({ length: hidden }, () => shown(setup.back, "face", say("panel.unknown", { n: 1 }))),
        ...excludedCards.map((name, i) => shown(setup.virtues[name].none, "none", excludedTexts[i]))),
      row("held quests", say("panel.quests", { quests: quests[player].map((name) => setup.quests[name].text).join(", ") || say("none") }),
        ...quests[player].map((name) => shown(setup.quests[name].face, "tag", setup.quests[name].text))),
    ),
  ];
}

const actionMeaning = (action, { actions }) => say("choose.look", { title: upper(actions[action].title), text: actions[action].text });

const virtueMeaning = (card, { virtues }) => `${upper(virtues[card].title)}. ${say(`meaning.${virtues[card].virtue}`)}`;

function notes(player, { setup, state }) {
  const { tents, phase, bids, bidding: due, actions, places } = state.position;
  const number = tents.indexOf(player) + 1;
  const jousts = phase === "bid" && actions[player].includes("tournament") && places[player] === "camelot";
  if (!jousts || due.includes(player)) return say(jousts ? "tent.due" : "tent", { number });
  if (bids[player] === null) return say("tent.bid", { number });
  return say("tent.bids", { number, total: bids[player].reduce((sum, card) => sum + setup.virtues[card].value, 0) });
}

export function hand(now, act) {
  const { setup, moves, choice } = now;
  const cards = virtuesOf(setup.you, now);
  const bids = moves.filter(({ kind }) => kind === "bid"), alone = bids[0]?.alone;
  const courts = moves.filter(({ kind }) => kind === "court").map(({ card }) => card);
  const usable = new Set(bids.length ? bids.flatMap(({ bid }) => bid) : courts);
  const reason = say(bids.length ? "hand.bid" : "hand.use");
  const chosen = choice.bid ?? moves.find(({ move }) => move === choice.move)?.bid ?? [];
  const buttons = cards.map((card, i) => {
    const nth = number(cards.slice(0, i), card); // of equal cards, the first ones are shown as chosen
    const pressed = nth < number(chosen, card);
    return cardButton(setup, card, usable.has(card), pressed, () => {
      if (!usable.has(card)) return act.say(reason);
      if (!bids.length) return act.choose({ action: "court", move: `court:${card}` });
      if (alone) return act.choose(pressed ? {} : { move: `bid:${card}` });
      act.choose(bidOf(toggled(chosen, card, pressed), bids));
    });
  });
  if (!bids.length || alone || !usable.size) return buttons;
  const nothing = Boolean(choice.bid) && !chosen.length;
  const onclick = () => act.choose(nothing ? {} : bidOf([], bids));
  const attributes = { class: "card nothing", "aria-label": say("hand.nothing.label"), "aria-pressed": String(nothing), onclick };
  return [...buttons, make("button", attributes, say("hand.nothing"))];
}

function cardButton(setup, card, usable, pressed, onclick) {
  const { title, face } = setup.virtues[card];
  const attributes = {
    class: ["card", usable && "playable"].filter(Boolean).join(" "),
    "data-card": card,
    "aria-label": upper(title),
    "aria-pressed": String(pressed),
    "aria-disabled": String(!usable),
    title: virtueMeaning(card, setup),
    onclick,
  };
  return make("button", attributes, drawing(face, "face"));
}

function toggled(chosen, card, pressed) {
  if (!pressed) return [...chosen, card];
  const at = chosen.indexOf(card);
  return chosen.filter((_, i) => i !== at);
}

/** The choice of these cards as a bid, to which more cards may still be added. */
function bidOf(cards, bids) {
  const same = (one, other) => [...one].sort().join() === [...other].sort().join();
  return { bid: cards, move: bids.find(({ bid }) => same(bid, cards)).move, open: true };
}

/** Taken cards and ends of turns are shown for a short time, the result of a tournament for a long time. */
export function pace({ kind, bids }) {
  if (Object.keys(bids).length > 1) return 1.6;
  return kind === "take" || kind === "done" ? 0.55 : 1;
}

export function brief({ kind, action, card, quest, goal, bid }, setup) {
  const title = action && upper(setup.actions[action].title);
  const texts = {
    take: () => title,
    exercise: () => upper(setup.virtues[card].title),
    court: () => say("brief.court", { card: setup.virtues[card].title }),
    artus: () => say("brief.artus", { quest: setup.quests[quest].title }),
    quest: () => upper(setup.quests[quest].title),
    horse: () => say("brief.horse", { action: title, goal }),
    done: () => say("choose.done"),
    bid: () => say("brief.bid", { cards: bid.map((name) => setup.virtues[name].title).join(", ") || say("nothing") }),
  };
  return texts[kind]();
}

export const full = ({ label }) => upper(label);
