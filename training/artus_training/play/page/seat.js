// A seat's page: shows one move after the other as they come, and turns clicks into moves.

import { ask, listen, RefusedError } from "./api.js";
import { Board } from "./board.js";
import { candidates, next, settled, signed, takenBack } from "./choice.js";
import * as parts from "./parts.js";

const $ = (id) => document.getElementById(id);
const pause = (time) => new Promise((done) => setTimeout(done, time));

const waiting = []; // states that are still to be shown
let setup, state, choice = {}, sent = false, showing = false;

const board = new Board($("picture"), $("floats"), clickedSeat);
const mine = () => Boolean(state.moves.length) && !sent;

// --- showing what comes from the server ---

function arrived(fresh) {
  waiting.push(fresh);
  if (!showing) showAll();
}

async function showAll() {
  showing = true;
  try {
    while (waiting.length) await show(waiting.shift());
  } finally {
    showing = false;
  }
}

/** Show what is new in a state. Older ones than the one on the page, and those that skip some, may come, too. */
async function show(fresh) {
  if (fresh.number < state.number) return;
  if (fresh.number === state.number) {
    state = fresh;
    return render(); // what was chosen so far stays chosen
  }
  if (fresh.number > state.number + 1) return catchUp();
  const { last } = fresh;
  put(fresh, () => $("log").prepend(parts.line(setup, last.entry)));
  announce(`${setup.players[last.player].name} ${last.entry.text}`);
  const pace = document.hidden ? 0 : Number($("pace").value);
  if (pace) {
    render(true);
    if (last.points) float(last);
    await Promise.all([board.animate(last, pace), pause(last.text.startsWith("draw:") ? pace / 2 : pace)]);
  }
  render();
  if (mine()) announce($("prompt").textContent);
}

/** Something was missed: fetch it all anew, as it is at one moment, and keep the page as it is until that is there. */
async function catchUp() {
  let everything;
  while (!everything) {
    try {
      everything = await ask();
    } catch (error) {
      if (error instanceof RefusedError) return connection(error.message);
      connection(`${error.message} Trying again…`);
      await pause(1500);
    }
  }
  begun(everything);
}

/** The whole game as it is now. */
function begun(everything) {
  setup = everything;
  put(setup.state, () => $("log").replaceChildren(...setup.log.map((entry) => parts.line(setup, entry)).reverse()));
  connection("");
  render();
  if (mine()) announce($("prompt").textContent);
}

/** State, picture and log change together, and nothing is awaited in between. */
function put(fresh, writeLog) {
  board.draw(fresh.picture);
  writeLog();
  state = fresh;
  choice = {};
  sent = false;
  $("advice").hidden = true;
}

function float(last) {
  const kind = last.points > 0 ? "gain" : "loss";
  board.float(signed(last.points), last.origin ?? last.target, kind);
  const points = document.querySelector(`.player[data-player="${last.player}"] .points`);
  points.classList.add(kind);
}

function announce(text) {
  $("announce").textContent = text;
}

function connection(trouble) {
  $("connection").textContent = trouble;
}

// --- the page as it is now ---

function render(moving = false) {
  const { position } = state;
  const open = new Set([...document.querySelectorAll("details.played[open]")].map((each) => each.parentElement.dataset.player));
  $("players").replaceChildren(...parts.players(setup, position));
  for (const player of open) document.querySelector(`.player[data-player="${player}"] details`).open = true;
  $("players").dataset.count = setup.players.length;
  $("trouble").hidden = !state.trouble;
  $("trouble").textContent = state.trouble;
  $("end").hidden = !state.over || moving;
  $("prompt").hidden = $("detail").hidden = Boolean(state.over);
  if (state.over) {
    if (!moving) $("end").replaceChildren(...parts.end(setup, state.over, again));
    if (state.next && !moving) $("again").textContent = "To the next game";
  }
  renderTurn(moving);
  document.title = mine() && !moving ? "Your turn – Artus" : state.over ? "The end – Artus" : "Artus";
}

function renderTurn(moving = false) {
  const active = mine() && !moving;
  const step = active ? next(state.moves, choice, setup) : { step: "wait", prompt: "", options: [] };
  const turn = state.position.turn;
  document.body.dataset.step = state.over ? "over" : step.step;
  $("prompt").textContent = active ? step.prompt : turn === setup.you ? "…" : `${setup.players[turn].name} is to move`;
  const left = state.position.left;
  const notes = {
    card: left > 1 ? `${left} cards this turn, one after the other.` : "",
    pile: left > 1 ? `${left} cards, one after the other.` : "",
    confirm: choice.move?.startsWith("draw:") ? "You will see what it is." : choice.card ? null : "This is how it would be.",
  };
  $("detail").textContent = active ? (notes[step.step] ?? (choice.card ? setup.cards[choice.card].text : "Click a seat, or choose here.")) : "";
  $("options").replaceChildren(...step.options.map((option, i) => optionButton(option, i)));
  $("options").className = step.step;
  renderHand(active, step);
  $("confirm").hidden = step.step !== "confirm";
  $("back").hidden = !active || !(choice.card || choice.move);
  $("hint").hidden = !active || step.step === "confirm";
  $("picture").classList.toggle("preview", step.step === "confirm");
  if (step.step !== "confirm") board.mark(step.options.filter((option) => option.seat !== undefined).map((option) => option.seat), choice.origin);
}

function optionButton(option, i) {
  const key = i < 9 && matchMedia("(hover: hover)").matches ? parts.make("kbd", { "aria-hidden": "true" }, String(i + 1)) : null;
  const push = option.push ? parts.make("span", { class: "push" }, option.push) : null;
  const about = { "data-seat": option.seat, "data-pile": option.pile, "aria-label": option.label, title: option.label };
  return parts.make("button", { ...about, onclick: () => choose(option.choice) }, key, option.short ?? option.label, push);
}

function renderHand(active, step) {
  const hand = state.position.hands[setup.you];
  const playable = new Set(active ? state.moves.map((move) => move.card) : []);
  const focused = document.activeElement?.dataset?.card;
  $("hand").hidden = Boolean(state.over);
  $("hand").replaceChildren(
    ...hand.map((name, i) =>
      parts.card(setup, name, {
        "aria-pressed": String(choice.card === name && hand.indexOf(name) === i),
        "aria-disabled": String(!playable.has(name)),
        title: setup.cards[name].text,
        onclick: () => clickedCard(name),
      }),
    ),
  );
  if (focused) document.querySelector(`#hand [data-card="${focused}"]`)?.focus();
}

// --- choosing ---

async function choose(wanted) {
  choice = settled(state.moves, wanted);
  const { move } = choice, { number } = state;
  if (!move) {
    board.draw(state.picture);
    return renderTurn();
  }
  if (!$("ask").checked) return play();
  renderTurn();
  reveal();
  const waits = () => choice.move === move && state.number === number && !sent; // neither taken back nor played meanwhile
  try {
    const seen = await ask("preview", { number, move });
    if (!waits()) return;
    board.draw(seen.picture ?? state.picture);
    $("confirm").focus({ preventScroll: true });
    announce($("prompt").textContent);
  } catch (error) {
    if (waits()) complain(error);
  }
}

function clickedCard(name) {
  if (!mine()) return say(state.over ? "The game is over." : "It isn’t your turn.");
  if (!state.moves.some((move) => move.card === name)) return say("Cards can’t be played now.");
  const chosen = { card: name };
  const again = choice.card === name && (!choice.move || settled(state.moves, chosen) !== chosen);
  choose(again ? {} : chosen);
}

function clickedSeat(seat) {
  if (state.over) return;
  if (!mine()) return say("It isn’t your turn.");
  if (choice.move) return say("Play it or take it back first.");
  const step = next(state.moves, choice, setup);
  const option = step.options.find((each) => each.seat === seat);
  if (option) return choose(option.choice);
  if (choice.origin === seat) return choose(takenBack(state.moves, choice));
  const others = choice.origin === undefined ? [] : candidates(state.moves, { ...choice, origin: seat });
  if (others.length) return choose({ ...choice, origin: seat }); // another figure instead
  say({ card: "Choose a card first.", pile: "Choose a pile.", branch: "Choose what the card shall do." }[step.step] ?? `That can’t be: seat ${seat} isn’t among the marked ones.`);
}

function say(text) {
  $("detail").textContent = text;
  $("detail").classList.remove("refused");
  void $("detail").offsetWidth; // starts the animation anew
  $("detail").classList.add("refused");
  announce(text);
}

async function play() {
  const { move } = choice, { number } = state;
  if (!move || sent) return;
  sent = true;
  renderTurn();
  try {
    await ask("move", { number, move });
  } catch (error) {
    if (state.number !== number) return; // it was played, only the answer was lost
    sent = false;
    choice = {};
    board.draw(state.picture);
    renderTurn();
    complain(error);
  }
}

function back() {
  if (!mine()) return;
  choose(takenBack(state.moves, choice));
}

async function hint() {
  const { number } = state;
  $("hint").disabled = true;
  $("advice").hidden = false;
  $("advice").replaceChildren(parts.make("p", {}, "ismcts is thinking…"));
  try {
    const found = await ask("hint", { number });
    if (state.number !== number) return;
    for (const move of found.moves) move.title = move.card && setup.cards[move.card].title;
    const pick = (move) => choose({ ...(move.card && { card: move.card }), ...(move.origin !== null && { origin: move.origin }), move: move.move });
    $("advice").replaceChildren(...parts.advice(found, pick));
    reveal();
    announce(`ismcts would play: ${found.moves[0].label}`);
  } catch (error) {
    if (state.number !== number) return;
    $("advice").hidden = true;
    complain(error);
  } finally {
    $("hint").disabled = false;
  }
}

async function again() {
  try {
    const { link } = state.next ? await ask("next") : await ask("again", {});
    location.href = link;
  } catch (error) {
    complain(error);
  }
}

/** Where the panel lies over the table's edge, on small screens, scroll until it doesn't, as long as all of the table is seen. */
function reveal() {
  const table = $("board").getBoundingClientRect(), panel = $("turn").getBoundingClientRect();
  const covered = panel.left < table.right ? table.bottom - panel.top : 0;
  if (covered > 0) scrollBy({ top: Math.min(covered, Math.max(0, table.top)), behavior: "instant" });
}

function complain(error) {
  say(error.message);
}

// --- wiring ---

function keyed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const digit = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
  if (event.key === "Escape") back();
  else if (event.key === "h" || event.key === "H") $("hint").hidden || $("hint").click();
  else if (event.key === "Enter" && choice.move && event.target.tagName !== "BUTTON") play();
  else if (digit >= 0 && mine()) ($("options").children[digit] ?? (choice.card ? null : $("hand").children[digit]))?.click();
}

function remember(id, property) {
  try {
    const stored = localStorage.getItem(`artus-${id}`);
    const usual = $(id)[property];
    if (stored !== null) $(id)[property] = JSON.parse(stored);
    if ($(id)[property] === "") $(id)[property] = usual; // no such option
    $(id).addEventListener("change", () => localStorage.setItem(`artus-${id}`, JSON.stringify($(id)[property])));
  } catch {
    // no storage: the settings last as long as the page
  }
}

async function begin() {
  remember("pace", "value");
  remember("ask", "checked");
  $("confirm").addEventListener("click", play);
  $("back").addEventListener("click", back);
  $("hint").addEventListener("click", hint);
  addEventListener("keydown", keyed);
  let everything;
  try {
    everything = await ask();
  } catch (error) {
    $("prompt").textContent = error.message;
    return;
  }
  begun(everything);
  $("rules").textContent = setup.rules;
  listen(state.number, arrived, connection);
}

begin();
