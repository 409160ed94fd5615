// The start page: sets up games, and lists all games of the server with everybody's links.

import { askForGames, askHost, RefusedError } from "./api.js";
import { make } from "./parts.js";
import { offerLanguages, say } from "./texts.js";

const EVERY = 10_000; // milliseconds
const $ = (id) => document.getElementById(id);
const trouble = $("trouble");
let shown, games = [];

// --- all games ---

/** Update the list every few seconds, until the server says that this page's link isn't valid any more. */
async function load() {
  try {
    const { games: all, warnings } = await askForGames();
    show(all);
    warn(warnings);
    tell("");
  } catch (error) {
    if (error instanceof RefusedError) return tell(say("host.invalid"));
    tell(say("connection.again", { error: error.message }));
  }
  setTimeout(load, EVERY);
}

function tell(text) {
  trouble.hidden = !text;
  trouble.textContent = text;
}

/** Files that the server doesn't use, and why. */
function warn(warnings) {
  $("warnings").hidden = !warnings.length;
  $("warnings").replaceChildren(...warnings.map((text) => make("li", {}, text)));
}

/** Redraw the lists, but only if something has changed: somebody may be about to copy a link. */
function show(all) {
  const text = JSON.stringify(all);
  if (text === shown) return;
  shown = text;
  for (const [id, over] of [["running", false], ["finished", true]]) {
    const some = all.filter((each) => each.over === over);
    $(id).hidden = !some.length;
    $(id).querySelector(".games").replaceChildren(...some.map(game));
  }
}

function game(each) {
  const turn = each.seats[each.turn]?.name; // unknown in files of older versions until somebody opens the game
  const played = turn ? say("host.going", { n: each.moves, name: turn }) : say("host.moves", { n: each.moves });
  const going = each.moves ? played : say("host.new");
  const state = each.over ? say("host.over") : going;
  const variant = [each.title, each.rules].filter(Boolean).join(", ");
  const again = make("button", { "data-again": each.name, onclick: () => dealAgain(each) }, say("start.again"));
  return make(
    "section",
    { class: "game", "data-game": each.name },
    make("h3", {}, say("host.game", { title: variant, names: each.seats.map((seat) => seat.name).join(", ") })),
    make("p", {}, each.trouble || state),
    make("ul", {}, ...each.seats.map((seat, player) => make("li", {}, ...person(seat, each.scored[player])))),
    make("p", { class: "buttons" }, again),
  );
}

function person(seat, score) {
  const agent = seat.agent && seat.agent !== seat.name ? make("small", {}, seat.agent) : null;
  const about = [make("strong", {}, seat.name), agent, score];
  if (!seat.link) return about.filter(Boolean);
  const copy = make("button", {}, say("host.copy"));
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(new URL(seat.link, location).href);
      copy.textContent = say("host.copied");
    } catch {
      const value = new URL(seat.link, location).href;
      copy.replaceWith(make("input", { readonly: true, value, "aria-label": say("host.link") }));
    }
  });
  const open = make("a", { class: "button", href: seat.link, target: "_blank", rel: "noopener" }, say("host.open"));
  return [...about, make("span", { class: "buttons" }, open, copy)].filter(Boolean);
}

// --- setting up a game ---

const picked = (name) => new FormData($("setup")).get(name);
const kind = () => games.find(({ name }) => name === picked("game"));
const ruleSet = () => kind().rules.find(({ name }) => name === picked("rules")) ?? kind().rules[0];

function offerGames() {
  const card = ({ name, title, about }, i) =>
    make(
      "label",
      { class: "kind", "data-kind": name },
      make("input", { type: "radio", name: "game", value: name, checked: i === 0, onchange: offerVariants }),
      make("img", { src: `${location.pathname.replace("/host/", "/api/host/")}/${name}.svg`, alt: "" }),
      make("strong", {}, title),
      make("p", {}, about),
    );
  $("kinds").append(...games.map(card));
  offerVariants();
  $("setup").hidden = false;
}

function picks(name, values, chosen, onchange) {
  return values.map(({ value, title, about }) =>
    make(
      "label",
      { class: "pick" },
      make("input", { type: "radio", name, value, checked: String(value) === String(chosen), onchange }),
      make("span", {}, title),
      about ? make("small", {}, about) : null,
    ),
  );
}

/** Offer the rule sets of the chosen game, and its numbers of players. */
function offerVariants() {
  const { rules } = kind();
  const sets = rules.map(({ name, title, about }) => ({ value: name, title, about }));
  $("rules").replaceChildren($("rules").firstElementChild, ...picks("rules", sets, rules[0].name, offerNumbers));
  $("rules").hidden = rules.length < 2;
  offerNumbers();
}

function offerNumbers() {
  const numbers = Object.keys(ruleSet().levels);
  const before = picked("count"), chosen = numbers.includes(before) ? before : numbers[0];
  const values = numbers.map((value) => ({ value, title: say("start.count", { n: Number(value) }) }));
  $("count").replaceChildren($("count").firstElementChild, ...picks("count", values, chosen, offerSeats));
  offerSeats();
}

/** A row for each seat. Keeps the players who were chosen before. */
function offerSeats() {
  const rows = [...$("seats").querySelectorAll(".seat")];
  const before = rows.map((row) => ({ holder: row.querySelector("select").value, name: row.querySelector("input").value }));
  const fresh = Array.from({ length: Number(picked("count")) }, (_, i) => seat(i, before[i]));
  $("seats").replaceChildren($("seats").firstElementChild, ...fresh);
}

function seat(i, before) {
  const number = i + 1, levels = ruleSet().levels[picked("count")];
  const { holder, name } = before ?? { holder: i ? "easy" : "person", name: remembered(i) };
  const options = ["person", ...Object.keys(levels)].map((value) =>
    make("option", { value, selected: value === holder }, say(value === "person" ? "start.person" : `level.${value}`)),
  );
  const select = make("select", { "aria-label": say("start.holder", { number }), name: `holder-${number}` }, ...options);
  const input = make("input", { "aria-label": say("start.name", { number }), value: name, maxlength: 24, autocomplete: "off" });
  const agent = make("small", {}), stands = make("small", { class: "stands", role: "status" });
  const update = () => {
    input.hidden = select.value !== "person";
    agent.textContent = levels[select.value] ?? "";
    tellPlacement(stands, input.hidden ? "" : input.value.trim());
  };
  for (const changed of [select, input]) changed.addEventListener("change", update);
  update();
  return make("div", { class: "seat" }, make("b", {}, say("start.seat", { number })), select, input, agent, stands);
}

/** Show a person's placement among the agents in the chosen variant; nothing for new people. */
async function tellPlacement(place, name) {
  const asked = { game: kind().name, rules: ruleSet().name, players: Number(picked("count")), name };
  place.dataset.name = name;
  const { lines } = name ? await askHost("person", asked).catch(() => ({ lines: [] })) : { lines: [] };
  if (place.dataset.name === name) place.textContent = lines.join(" ");
}

/** The name that was last used at a seat in this browser, or a default. */
function remembered(i) {
  const usual = say("start.letter", { letter: String.fromCharCode(65 + i) });
  try {
    return localStorage.getItem(`play-name-${i}`) ?? usual;
  } catch {
    return usual;
  }
}

function remember(names) {
  try {
    names.forEach((name, i) => name && localStorage.setItem(`play-name-${i}`, name));
  } catch {
    // no storage: names last as long as the page
  }
}

async function dealNew(event) {
  event.preventDefault();
  const rows = [...$("seats").querySelectorAll(".seat")];
  const seats = rows.map((row) => {
    const level = row.querySelector("select").value;
    return level === "person" ? { name: row.querySelector("input").value.trim() } : { level };
  });
  if (!seats.some(({ level }) => !level)) return said(say("start.nobody"));
  remember(seats.map(({ name }) => name));
  await begin("new", { game: kind().name, rules: ruleSet().name, seats });
}

const dealAgain = ({ name }) => begin("again", { name });

/** Let the server deal. Then open the seat if only one person plays, otherwise show everybody's links. */
async function begin(what, body) {
  $("deal").disabled = true;
  said(say("start.waiting"));
  try {
    const { seats } = await askHost(what, body);
    const links = seats.map(({ link }) => link).filter(Boolean);
    if (links.length === 1) return (location.href = links[0]);
    show((await askForGames()).games);
    said(say("start.dealt"));
    $("running").scrollIntoView({ block: "start" });
  } catch (error) {
    said(error.message);
  } finally {
    $("deal").disabled = false;
  }
}

function said(text) {
  $("said").textContent = text;
}

async function offer() {
  try {
    ({ games } = await askHost("choices"));
  } catch (error) {
    if (error instanceof RefusedError) $("loading").remove();
    else setTimeout(offer, EVERY);
    return; // `load` shows the error above the list
  }
  $("loading").remove();
  offerGames();
}

offerLanguages($("language"));
$("setup").addEventListener("submit", dealNew);
load();
offer();
