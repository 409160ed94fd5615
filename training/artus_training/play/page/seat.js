// A seat's page: shows moves one by one as they arrive, and turns clicks into moves. `plain.js` or the game's own script
// defines how a move is chosen, and what else is shown.

import { ask, listen, RefusedError } from "./api.js";
import * as help from "./help.js";
import * as parts from "./parts.js";
import * as plain from "./plain.js";
import { left, mayResign, offerResigning } from "./resign.js";
import { lookBack } from "./review.js";
import { learn, offerLanguages, say as text } from "./texts.js";

const $ = (id) => document.getElementById(id);
const pause = (time) => new Promise((done) => setTimeout(done, time));
const still = matchMedia("(prefers-reduced-motion: reduce)");

const waiting = []; // states that are still to be shown
let entries = []; // log entries, the oldest first
let looking = null; // the controls of `lookBack`, once the game is over
const placement = parts.make("div", { id: "placement", role: "status" }); // this person's, after the game
const troubles = { stream: "", behind: "" }; // messages about the connection
const steps = new Set(); // names of all steps of this decision so far
let setup, state, choice = {}, sent = false, showing = false, game = plain;
let keyed = false; // whether the keyboard is in use
let listed = false; // whether options in the picture are also listed as buttons, on request

const mine = () => Boolean(state.moves.length) && !sent;
const now = (active = mine()) => ({ setup, state, moves: active ? state.moves : [], choice });
const act = { choose, say: (words) => say(state.over ? text("say.over") : mine() ? words : text("say.turn")) };

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
  playForced();
}

/** Show a state that has arrived. It may be older than the one on the page, or several moves later. */
async function show(fresh) {
  if (fresh.taken > state.taken) return catchUp(); // a move was taken back
  if (fresh.number < state.number || fresh.taken < state.taken) return;
  if (fresh.number === state.number) {
    const resigned = fresh.resigned.filter((player) => !state.resigned.includes(player));
    if (resigned.includes(setup.you) || (fresh.over && !state.over)) put(fresh, () => {});
    state = fresh;
    render(); // what was chosen so far stays chosen
    return resigned.forEach((player) => announce(text("resign.by", setup.players[player])));
  }
  if (fresh.number > state.number + 1) return catchUp();
  const { last } = fresh;
  put(fresh, () => {
    entries.push(last.entry);
    for (const { number, entry } of last.opened) entries[number - 1] = entry;
    $("log").prepend(parts.line(setup, last.entry));
    // The newest line comes first.
    for (const { number, entry } of last.opened) {
      $("log").children[fresh.number - number].replaceWith(parts.line(setup, entry));
    }
    groupLog();
  });
  announce(`${setup.players[last.player].name} ${last.entry.text}`);
  const duration = document.hidden ? 0 : Number($("pace").value);
  if (duration) {
    render(true);
    showGains(last);
    const animated = last.move !== null && !still.matches;
    const animation = animated && game.animate($("picture").firstChild, last, duration);
    await Promise.all([animation, pause(duration * (last.move === null ? 1 : game.pace(last)))]);
  }
  render();
  if (mine()) announce($("prompt").textContent);
}

/**
 * Moves were missed, or one was taken back: fetch the whole game again. The page doesn't change before that has
 * arrived.
 */
async function catchUp() {
  let everything;
  while (!everything) {
    try {
      everything = await ask();
    } catch (error) {
      if (error instanceof RefusedError) return connection(error.message, "behind");
      connection(text("connection.again", { error: error.message }), "behind");
      await pause(1500);
    }
  }
  begun(everything);
}

/** Show the whole game as it is now. */
function begun(everything) {
  setup = everything;
  entries = [...setup.log];
  put(setup.state, () => $("log").replaceChildren(...entries.map((entry) => parts.line(setup, entry)).reverse()));
  groupLog();
  connection("", "behind");
  render();
  if (mine()) announce($("prompt").textContent);
}

/** Group consecutive log lines of a player: only the newest of them has the badge. */
function groupLog() {
  let player = null;
  for (const line of $("log").children) {
    line.classList.toggle("same", line.dataset.player === player);
    player = line.dataset.player;
  }
}

/** Log entries of others since this seat's last move, the oldest first. */
function sinceMine() {
  const mine = entries.findLastIndex((entry) => entry.player === setup.you);
  return entries.slice(mine + 1);
}

/** Highlight where the move of a log line took place, while the line has the pointer or the focus. */
function lookedAt(event) {
  const line = event.target.closest?.("#log li");
  const entry = line ? entries[entries.length - 1 - [...$("log").children].indexOf(line)] : null;
  game.point($("picture").firstChild, entry?.where ?? null, setup);
}

/** Replace state, picture and log together, without awaiting anything in between. */
function put(fresh, writeLog) {
  draw(fresh.picture);
  writeLog();
  state = fresh;
  sent = false;
  choice = game.settled(fresh.moves, {});
  $("advice").hidden = true;
}

/** Replace the picture. `preview`: whether it shows a move that isn't played yet. */
function draw(picture, preview = false) {
  const svg = new DOMParser().parseFromString(picture, "image/svg+xml").documentElement;
  $("picture").replaceChildren(document.importNode(svg, true));
  help.collectMeanings($("picture").firstChild);
  $("picture").classList.toggle("preview", preview);
}

/** Points rise over the picture, and all counts that have changed jump. */
function showGains(last) {
  const kind = (points) => (points > 0 ? "gain" : "loss");
  const counts = $("players").querySelectorAll(".points");
  last.gains.forEach((points, player) => points && counts[player].classList.add(kind(points)));
  if (!last.points) return;
  const [x, y] = last.move === null ? [0.5, 0.5] : game.pointsAt($("picture").firstChild, last);
  const style = `left:${100 * x}%;top:${100 * y}%`;
  const label = parts.make("span", { class: kind(last.points), style }, parts.signed(last.points));
  $("floats").append(label);
  setTimeout(() => label.remove(), 1800);
}

function announce(words) {
  $("announce").textContent = words;
}

/**
 * Show a message about the connection, "" for none. `of`: whether it is about the "stream" or a page that is "behind"
 * (`catchUp`).
 */
function connection(trouble, of = "stream") {
  troubles[of] = trouble;
  $("connection").textContent = troubles.behind || troubles.stream;
}

// --- the page as it is now ---

function render(moving = false) {
  renderPlayers();
  $("trouble").hidden = !state.trouble;
  $("trouble").textContent = state.trouble;
  renderUndo();
  const gone = !state.over && state.resigned.includes(setup.you);
  $("resign").hidden = !mayResign(setup, state);
  $("end").hidden = !(state.over || gone) || moving;
  if (gone) $("end").replaceChildren(...left(setup));
  $("prompt").hidden = $("detail").hidden = Boolean(state.over) || gone;
  if (state.over && !moving) {
    $("end").replaceChildren(...parts.end(setup, state.over, again));
    if (!looking) {
      looking = lookBack(setup, entries, ({ picture }) => draw(picture));
      tellPlacement();
    }
    $("end").querySelector("table").after(placement);
    $("end").append(...looking.elements);
    if (state.next) $("again").textContent = text("end.next");
  }
  $("status").replaceChildren(...status().map((each) => parts.make("span", {}, each)));
  $("extra").replaceChildren(...game.story(now()));
  renderTurn(moving);
  const call = mine() && !moving ? "title.turn" : state.over ? "title.over" : "";
  document.title = call ? text(call, { title: setup.title }) : setup.title;
}

/** Show the placement of this seat's person among the agents, or how many games are missing. */
async function tellPlacement() {
  try {
    const { lines } = await ask("placement");
    placement.replaceChildren(...lines.map((line) => parts.make("p", {}, line)));
  } catch (error) {
    placement.textContent = error.message;
  }
}

/** Show the button for taking back the last move, and who asks for that. */
function renderUndo() {
  const { may, asks, agreed } = state.undo ?? { may: false, asks: null };
  $("undo").hidden = !may;
  $("asked").hidden = asks === null;
  if (asks === null) return;
  const name = setup.players[asks].name;
  $("asked").firstElementChild.textContent = agreed ? text("undo.waiting") : text("undo.asked", { name });
  $("asked").lastElementChild.hidden = agreed;
}

async function undo() {
  try {
    await ask("undo", { number: state.number });
  } catch (error) {
    complain(error);
  }
}

/** The state of the game, from its script, and the last move if somebody else has made it. */
function status() {
  const last = entries.at(-1);
  const told = last && last.player !== setup.you && text("status.last", { name: setup.players[last.player].name, text: last.text });
  return [...game.status(now()), told].filter(Boolean);
}

function renderPlayers() {
  const details = () => [...$("players").querySelectorAll("details")];
  const open = details().map((each) => each.open);
  $("players").replaceChildren(...parts.players(now(), (number) => game.panel(number, now())));
  $("players").dataset.count = setup.players.length;
  details().forEach((each, i) => (each.open = Boolean(open[i])));
  $("players").querySelectorAll(".who > *").forEach(parts.fit);
}

function renderTurn(moving = false) {
  const active = mine() && !moving;
  const { step, tip = step, prompt, detail, options } = active ? game.next(now()) : idle();
  const focused = document.activeElement;
  if (!Object.keys(choice).length) steps.clear();
  steps.add(step);
  document.body.dataset.step = state.over ? "over" : step;
  $("prompt").textContent = prompt;
  $("detail").textContent = detail;
  $("detail").classList.remove("refused");
  $("options").replaceChildren(...options.map(optionButton));
  $("options").className = step;
  const lengths = options.map(({ label, short }) => (short ?? label).length);
  $("options").style.setProperty("--longest", Math.max(0, ...lengths));
  fold();
  renderHand(active);
  $("confirm").hidden = step !== "confirm";
  const untouched = active && same(choice, game.settled(state.moves, {})); // also if the only legal move waits to be confirmed
  $("back").hidden = !active || untouched;
  $("hint").hidden = !active || step === "confirm";
  if (step !== "confirm") game.mark($("picture").firstChild, options, choice);
  if (active && (step !== "confirm" || untouched)) game.trail($("picture").firstChild, sinceMine(), setup);
  if (active && step === "confirm") pointAtChoice();
  if (active && step !== "confirm") help.tip(setup.game, tip);
  else $("tip").hidden = true;
  keepFocus(focused);
  if ($("options").querySelector(".placed")) reveal(); // these options are chosen in the picture
  $("picture").classList.toggle("choosing", options.some((option) => option.place !== undefined));
}

/** If the focused element is gone, move the focus to the board, which is close to everything else. */
function keepFocus(focused) {
  const now = document.activeElement, lost = now === document.body ? focused !== now : !now.checkVisibility();
  if (lost) $("board").focus({ preventScroll: true });
}

/** Highlight where the chosen move would take place, and the pieces that it would count. */
function pointAtChoice() {
  const { marks } = state.moves.find(({ move }) => move === choice.move);
  if (marks) game.point($("picture").firstChild, { marks }, setup);
}

/** The step that is shown as long as this seat can do nothing. */
function idle() {
  const waited = state.turn === setup.you ? text("wait.own") : text("wait.other", { name: setup.players[state.turn]?.name });
  return { step: "wait", prompt: state.over ? "" : waited, detail: "", options: [] };
}

/** List the options that can be clicked in the picture only on request, or if the keyboard is in use. */
function fold() {
  const placed = [...$("options").querySelectorAll(".placed")], open = keyed || listed;
  placed.forEach((button) => (button.hidden = !open));
  $("list").hidden = !placed.length || keyed;
  $("list").setAttribute("aria-expanded", String(open));
  $("options").hidden = !open && placed.length === $("options").children.length;
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function optionButton({ label, short, face, push, data, place, choice: wanted, refusal }, i) {
  const keyboard = i < 9 && matchMedia("(hover: hover)").matches;
  const key = keyboard ? parts.make("kbd", { "aria-hidden": "true" }, String(i + 1)) : null;
  const about = Object.fromEntries(Object.entries(data ?? {}).map(([name, value]) => [`data-${name}`, value]));
  const more = push ? parts.make("span", { class: "push" }, push) : null;
  const attributes = {
    ...about,
    class: [face ? "faced" : place !== undefined && "placed", refusal && "barred"].filter(Boolean).join(" ") || null,
    "aria-label": refusal ? text("option.refused", { label, refusal }) : label,
    "aria-disabled": refusal ? "true" : null,
    title: short ? label : null,
    onclick: () => (refusal ? say(refusal) : choose(wanted)),
  };
  const drawn = face ? parts.drawing(face, "face") : null;
  return parts.make("button", attributes, key, drawn, parts.make("span", {}, short ?? label), more);
}

function renderHand(active) {
  const focused = [...$("hand").children].indexOf(document.activeElement);
  const playing = mayResign(setup, state);
  $("hand").replaceChildren(...(playing ? game.hand(now(active), act) : []));
  $("hand").hidden = !$("hand").children.length;
  if (focused >= 0) ($("hand").children[focused] ?? $("turn")).focus();
}

// --- choosing ---

async function choose(wanted) {
  const { number } = state;
  choice = game.settled(state.moves, wanted);
  const { move } = choice;
  if (!move) {
    draw(state.picture);
    return renderTurn();
  }
  if (choice.open) {
    draw(state.picture);
    renderTurn();
    return announce($("prompt").textContent);
  }
  if (!$("ask").checked) return play();
  renderTurn();
  reveal();
  // Whether the choice was neither taken back nor played meanwhile.
  const unchanged = () => choice.move === move && state.number === number && !sent;
  try {
    const seen = await ask("preview", { number, move });
    if (!unchanged()) return;
    draw(seen.picture ?? state.picture, seen.picture !== null);
    pointAtChoice();
    $("confirm").focus({ preventScroll: true });
    announce($("prompt").textContent);
  } catch (error) {
    if (unchanged()) complain(error);
  }
}

function clickedPicture(event) {
  const place = game.placeAt($("picture").firstChild, event);
  if (place === null || state.over) return;
  if (!mine()) return say(text("say.turn"));
  if (choice.move) return say(text("say.confirm"));
  const meant = game.clicked(place, now());
  if (meant.choice) choose(meant.choice);
  else say(meant.refusal);
}

function say(words) {
  $("detail").textContent = words;
  $("detail").classList.remove("refused");
  void $("detail").offsetWidth; // starts the animation anew
  $("detail").classList.add("refused");
  announce(words);
}

async function play() {
  const { move } = choice, { number } = state;
  if (!move || sent) return;
  sent = true;
  for (const step of steps) help.taken(setup.game, step);
  renderTurn();
  try {
    await ask("move", { number, move });
  } catch (error) {
    if (state.number !== number) return; // it was played, only the answer was lost
    sent = false;
    choice = game.settled(state.moves, {});
    draw(state.picture);
    renderTurn();
    complain(error);
  }
}

/** Play the only legal move at once, if the setting says so. */
function playForced() {
  if (!$("forced").checked || !mine() || state.moves.length > 1 || waiting.length) return;
  choice = { move: state.moves[0].move };
  play();
}

function back() {
  if (!mine()) return;
  choose(game.takenBack(state.moves, choice));
}

async function hint() {
  const { number } = state;
  $("hint").disabled = true;
  $("advice").hidden = false;
  $("advice").replaceChildren(parts.make("p", {}, text("hint.asking", { agent: setup.strongest })));
  try {
    const found = await ask("hint", { number });
    if (state.number !== number) return;
    const texts = { brief: (move) => game.brief(move, setup), full: (move) => game.full(move, setup) };
    $("advice").replaceChildren(...parts.advice(setup, found, texts, (move) => choose(game.leadingTo(move))));
    reveal();
    announce(text("hint.best", { agent: found.agent, move: found.moves[0].label }));
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

/**
 * On small screens the panel may cover the lower part of the board. Scroll until it doesn't, as far as the upper edge of the
 * board stays in sight.
 */
function reveal() {
  const board = $("board").getBoundingClientRect(), panel = $("turn").getBoundingClientRect();
  const covered = panel.left < board.right ? board.bottom - panel.top : 0;
  if (covered > 0) scrollBy({ top: Math.min(covered, Math.max(0, board.top)), behavior: "instant" });
}

function complain(error) {
  say(error.message);
}

// --- wiring ---

/** After the game: look back at the move of a log line. */
function lineClicked(event) {
  const line = event.target.closest("li");
  if (line && looking) looking.go(entries.length - [...$("log").children].indexOf(line));
}

/** Arrow keys go through the log line by line; Enter looks back at the move of a line. */
function keyedLog(event) {
  if (event.key === "Enter") lineClicked(event);
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const lines = [...$("log").querySelectorAll("li[tabindex]")];
  const next = lines.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  if (!lines[next]) return;
  event.preventDefault();
  lines[next].focus();
}

/** Remember that the keyboard is in use. */
function usesKeys(event) {
  if (keyed || !/^(Tab|Arrow.*|[1-9])$/.test(event.key)) return;
  keyed = true;
  fold();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const digit = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by && looking && !/^(picture|players)$/.test(event.target.id)) looking.step(by);
  else if (event.key === "Escape") back();
  else if (event.key === "h" || event.key === "H") $("hint").hidden || $("hint").click();
  else if (event.key === "Enter" && choice.move && event.target.tagName !== "BUTTON") play();
  else if (digit >= 0 && mine() && (!choice.move || choice.open)) {
    const choices = $("options").children.length ? $("options") : $("hand");
    choices.children[digit]?.click();
  }
}

function remember(id, property) {
  try {
    const stored = localStorage.getItem(`play-${id}`);
    const usual = $(id)[property];
    if (stored !== null) $(id)[property] = JSON.parse(stored);
    if ($(id)[property] === "") $(id)[property] = usual; // no such option
    $(id).addEventListener("change", () => localStorage.setItem(`play-${id}`, JSON.stringify($(id)[property])));
  } catch {
    // no storage: the settings last as long as the page
  }
}

/** Load the game's texts and its own script. Its style sheet is linked in the page's head. */
async function fetchGame() {
  learn(setup.texts);
  document.body.classList.toggle("plain", !setup.script);
  document.body.classList.toggle("worded", setup.worded);
  if (setup.script) game = { ...plain, ...(await import(`./${setup.script}`)) };
}

async function begin() {
  remember("pace", "value");
  remember("ask", "checked");
  remember("forced", "checked");
  $("confirm").addEventListener("click", play);
  $("back").addEventListener("click", back);
  $("hint").addEventListener("click", hint);
  $("undo").addEventListener("click", undo);
  offerResigning(() => ({ setup, state }), complain);
  $("asked").lastElementChild.addEventListener("click", undo);
  $("picture").addEventListener("click", clickedPicture);
  $("forced").addEventListener("change", () => playForced());
  $("log").addEventListener("keydown", keyedLog);
  $("log").addEventListener("click", lineClicked);
  addEventListener("resize", () => state && renderPlayers());
  offerLanguages($("language"));
  for (const look of ["pointerover", "focusin"]) $("log").addEventListener(look, lookedAt);
  for (const away of ["pointerleave", "focusout"]) $("log").addEventListener(away, () => game.point($("picture").firstChild, null));
  addEventListener("keydown", usesKeys);
  addEventListener("keydown", pressed);
  addEventListener("pointerdown", () => (keyed = false)); // takes effect with the next options: nothing moves under a finger
  $("list").addEventListener("click", () => {
    listed = !listed;
    fold();
  });
  setup = JSON.parse($("everything").textContent);
  try {
    await fetchGame();
  } catch (error) {
    $("loading").textContent = error.message;
    return;
  }
  $("loading").remove();
  begun(setup);
  if (setup.lessons) help.offerHelp((picture, where) => game.point(picture, where, setup));
  const meaning = (target) => {
    const named = target.closest("[data-meaning], [title]");
    return game.meaning(target, named?.dataset.meaning ?? named?.title ?? "", setup);
  };
  help.explain(meaning);
  help.explore($("picture"), game.things, meaning, announce);
  help.explore($("players"), (players) => [...players.querySelectorAll("[title]")], meaning, announce);
  listen(state.number, arrived, connection);
  playForced();
}

begin();
