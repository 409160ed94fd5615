// Elements that only display something: players, log, hint, end of the game.

import { listed, say, sayOfGame, saysOfGame } from "./texts.js";

/** An element from a tag, its attributes and its children (elements or texts). */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A drawing (SVG) from the server in a `<span>`. It is inserted as HTML, so it must not contain text of users. */
export function drawing(svg, name) {
  const holder = make("span", { class: name, "aria-hidden": "true" });
  holder.innerHTML = svg;
  return holder;
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element from its tag, its attributes and its text. */
export function draw(tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

/** The bounding box of a shape in the picture's own units, after all transformations. */
export function boxIn(svg, shape) {
  const { left, top, right, bottom } = shape.getBoundingClientRect(), inside = svg.getScreenCTM().inverse();
  const [start, end] = [[left, top], [right, bottom]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(inside));
  return { x: start.x, y: start.y, width: end.x - start.x, height: end.y - start.y };
}

/** A round sign in a picture, with a text that says who has made a move there: see `numbered`. */
export const sign = (text, x, y) => [
  draw("circle", { class: "worth", cx: x, cy: y, r: 12, "data-mover": text }),
  draw("text", { x, y: y + 5, class: text.length > 1 ? "several" : "" }, text),
];

/** Points won or lost, with a plus or minus sign. */
export const signed = (points) => (points > 0 ? `+${points}` : unsigned(points));

/** Points that somebody has, with a typographic minus sign if negative. */
export const unsigned = (points) => String(points).replace("-", "−");

/** Points in words: `3 fields`. */
export function scored(setup, points) {
  const told = { n: points, points: unsigned(points), score: setup.score };
  return saysOfGame("scored") ? sayOfGame("scored", told) : say("points", told);
}

/** A text with its first letter in upper case. */
export const upper = (text) => text && text[0].toUpperCase() + text.slice(1);

/**
 * A label for each of some moves, from the players who made them: the player's letter, with a number if the player made
 * several.
 */
export function numbered(players) {
  const count = (some, player) => some.filter((each) => each === player).length;
  return players.map((player, i) => {
    const nth = count(players, player) > 1 ? count(players.slice(0, i + 1), player) : "";
    return `${"ABCDEF"[player]}${nth}`;
  });
}

export const badge = (setup, player) => drawing(setup.players[player].badge, "badge");

/** An element for each player: name, points, and the elements that the game adds, from `panel(number)`. */
export function players({ setup, state }, panel) {
  return setup.players.map((player, number) => {
    const turn = state.turn === number, you = number === setup.you;
    const acts = turn && say(player.agent ? "agent.acts" : "person.acts");
    const agent = player.agent && player.agent !== player.name ? player.agent : say("agent.waits");
    const gone = state.resigned.includes(number) && say(state.over ? "resign.lost" : "resign.role", { agent: setup.substitute });
    const role = gone || you ? gone || say("you") : acts || (player.agent ? agent : say("person.waits"));
    const score = unsigned(state.scores[number]);
    return make(
      "article",
      {
        class: ["player", turn && "turn", you && "you"].filter(Boolean).join(" "),
        "data-player": number,
        "aria-label": you ? say("named.you", { name: player.name }) : player.name,
      },
      badge(setup, number),
      make("div", { class: "who" }, make("strong", { title: player.agent ? `${player.name} · ${player.agent}` : player.name }, player.name), make("small", {}, role)),
      make("output", { class: "points", "aria-label": scored(setup, state.scores[number]) }, score),
      ...panel(number),
    );
  });
}

/**
 * Shorten a name until it fits into its line, at the end of a word if possible. A number after a colon is kept, because it
 * tells agents apart: `ppo…:256`.
 */
export function fit(element) {
  const full = element.textContent, fits = () => element.scrollWidth <= element.clientWidth;
  if (fits()) return;
  const [, name, number = ""] = full.match(/^(.*?)(:\d+)?$/s);
  const letters = Array.from({ length: Math.max(0, name.length - 1) }, (_, i) => name.length - 1 - i);
  const ends = letters.filter((length) => length > 2 && /\w[\s\-_.:]/.test(name.slice(length - 1, length + 1)));
  for (const length of [...ends, ...letters]) {
    element.textContent = `${name.slice(0, length).trimEnd()}…${number}`;
    if (fits()) return;
  }
}

/** A line of the log: the game's sentence, or the move itself. */
export function line(setup, entry) {
  const { name } = setup.players[entry.player];
  const said = setup.worded || entry.move === null ? [` ${entry.text}`] : [" ", ...chip(entry)];
  const looked = entry.where ? { tabindex: "-1" } : {};
  return make("li", { ...looked, "data-player": entry.player }, badge(setup, entry.player), make("p", {}, make("strong", {}, name), ...said));
}

function chip({ move, points }) {
  const gain = make("b", { class: points > 0 ? "gain" : "loss" }, signed(points));
  return [make("span", { class: "chip" }, move), points ? gain : null];
}

/** The end of the game: its winners, a table of the results, and buttons. */
export function end(setup, over, onAgain) {
  const link = `/record/${over.record}.jsonl`;
  const share = make("button", { id: "share" }, say("end.share.link"));
  share.addEventListener("click", async () => {
    const url = new URL(link, location).href;
    try {
      if (navigator.share) await navigator.share({ title: say("end.share.title", { title: setup.title }), url });
      else await navigator.clipboard.writeText(url);
      share.textContent = say(navigator.share ? "end.shared" : "end.copied");
    } catch {
      share.replaceWith(make("input", { readonly: true, value: url, "aria-label": say("end.link") }));
    }
  });
  const score = upper(setup.score);
  const caption = say(over.sources.length ? "end.sources" : "end.caption", { score });
  const heads = ["", say("end.player"), score, ...over.sources];
  const cell = (points) => make("td", {}, unsigned(points));
  const gone = (resigned) => (resigned ? make("small", {}, " ", say("resign.lost")) : null);
  const row = ({ player, rank, points, parts, resigned }) =>
    make(
      "tr",
      { class: rank === 1 ? "winner" : null },
      make("td", {}, `${rank}.`),
      make("th", { scope: "row" }, make("span", { class: "named" }, badge(setup, player), setup.players[player].name), gone(resigned)),
      cell(points),
      ...parts.map(cell),
    );
  return [
    make("h2", {}, verdict(setup, over.winners)),
    make(
      "table",
      {},
      make("caption", { class: "unseen" }, caption),
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...over.rows.map(row)),
    ),
    make(
      "p",
      { class: "buttons" },
      make("button", { id: "again", class: "primary", onclick: onAgain }, say("end.again")),
      make("a", { id: "film", class: "button", href: `/film/${over.record}.html`, download: true }, say("end.film")),
      make("a", { id: "save", class: "button", href: link, download: true }, say("end.record")),
      share,
    ),
  ];
}

function verdict(setup, winners) {
  const names = winners.map((player) => setup.players[player].name);
  if (names.length > 1) return say("end.share", { names: listed(names) });
  return winners[0] === setup.you ? say("end.won") : say("end.winner", { name: names[0] });
}

/** A hint in words: the strongest agent's move, and the expected results of the best moves. */
export function advice(setup, { agent, games, moves }, { brief, full }, onChoose) {
  const proposal = (move) =>
    make(
      "li",
      {},
      make(
        "button",
        { onclick: () => onChoose(move), "data-move": move.move, title: full(move) },
        make("span", {}, brief(move)),
        make("small", {}, prospect(setup, move), ...move.reasons.map((reason) => make("span", {}, `; ${reason}`))),
        make("i", { style: `width:${100 * move.wins}%`, "aria-hidden": "true" }),
      ),
    );
  return [make("p", {}, say("hint.by", { agent, games })), make("ol", {}, ...moves.map(proposal))];
}

function prospect(setup, { wins, lead }) {
  const points = Math.round(Math.abs(lead));
  const told = { percent: Math.round(100 * wins), points: scored(setup, points) };
  return say(points === 0 ? "hint.level" : lead > 0 ? "hint.ahead" : "hint.behind", told);
}
