// Pieces of the page that show and never decide: players, cards, log, end.

import { signed } from "./choice.js";

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

/** A drawing of the server's (never anybody's text) in a frame of its own. */
function drawing(inside, box, name) {
  const holder = make("span", { class: name, "aria-hidden": "true" });
  holder.innerHTML = `<svg class="artus-auto" viewBox="${box}">${inside}</svg>`;
  return holder;
}

export const shield = (setup, player) => {
  const { shield: path, letter } = setup.players[player];
  return drawing(
    `<path class="p${player} outline round" d="${path}"/><text class="l${player}" y="8.6" font-size="24">${letter}</text>`,
    "-26 -26 52 52",
    "shield",
  );
};

const face = (inside) => drawing(inside, "-1 -1 46 64", "face");

/** A card in hand, as a button. */
export function card(setup, name, attributes) {
  const { title, text, face: inside } = setup.cards[name];
  return make("button", { class: "card", "data-card": name, "aria-label": `${title}. ${text}`, ...attributes }, face(inside), make("span", { class: "title" }, whole(title)));
}

/** A title whose range of steps isn't broken at its dash. */
const whole = (title) => title.replace("–", "\u2060–\u2060");

/** `1 card`, `2 cards`. */
export const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** Everybody's name, prestige, and what is known of their cards. */
export function players(setup, position) {
  const over = position.phase === "over";
  return setup.players.map((player, number) => {
    const hand = position.hands[number];
    const backs = Array.isArray(hand) ? hand.map((name) => setup.cards[name].pile) : Object.entries(hand).flatMap(([pile, n]) => Array(n).fill(pile));
    const piles = Object.entries(position.piles[number]).filter(([pile]) => position.rules === "advanced" || pile !== "scoring");
    const played = position.played[number];
    const turn = !over && position.turn === number;
    const who = number === setup.you ? "you" : player.agent ? (turn ? "is thinking…" : "agent") : turn ? "is choosing…" : "person";
    const known = make(
      "details",
      { class: "played" },
      make("summary", {}, count(played.length, "card") + " played"),
      make("ul", {}, ...played.map((name) => make("li", {}, setup.cards[name].title))),
    );
    return make(
      "article",
      { class: `player${turn ? " turn" : ""}${number === setup.you ? " you" : ""}`, "data-player": number, "aria-label": `${player.name}${number === setup.you ? " (you)" : ""}` },
      shield(setup, number),
      make("div", { class: "who" }, make("strong", {}, player.name), make("small", {}, who)),
      make("output", { class: "points", "aria-label": `${signed(position.scores[number]).replace("+", "")} prestige` }, String(position.scores[number]).replace("-", "−")),
      make("div", { class: "backs", role: "img", "aria-label": `in hand: ${backs.join(", ") || "nothing"}` }, ...backs.map((pile) => drawing(setup.backs[pile], "0 0 44 62", "back"))),
      make(
        "div",
        { class: "piles", role: "img", "aria-label": "piles: " + piles.map(([pile, n]) => `${n} ${pile}`).join(", ") },
        ...piles.map(([pile, n]) => make("span", { class: `pile${n ? "" : " empty"}` }, drawing(setup.backs[pile], "0 0 44 62", "back"), String(n))),
      ),
      known,
    );
  });
}

/** A line of the log. */
export function line(setup, entry) {
  const { name } = setup.players[entry.player];
  return make("li", {}, shield(setup, entry.player), make("p", {}, make("strong", {}, name), ` ${entry.text}`));
}

/** Who has won, and with what. */
export function end(setup, over, onAgain) {
  const names = over.winners.map((player) => setup.players[player].name);
  const won = names.length > 1 ? `${names.join(" and ")} share the victory` : over.winners[0] === setup.you ? "You have won" : `${names[0]} has won`;
  const piles = ["knight", "king", ...(setup.rules === "advanced" ? ["scoring"] : [])];
  const link = `/record/${over.share}.jsonl`;
  const share = make("button", { id: "share" }, "Copy its link");
  share.addEventListener("click", async () => {
    const url = new URL(link, location).href;
    try {
      if (navigator.share) await navigator.share({ title: "A game of Artus", url });
      else await navigator.clipboard.writeText(url);
      share.textContent = navigator.share ? "Shared" : "Copied";
    } catch {
      share.replaceWith(make("input", { readonly: true, value: url, "aria-label": "Link to the record" }));
    }
  });
  const cell = (points) => make("td", {}, signed(points).replace("+", ""));
  return [
    make("h2", {}, won),
    make(
      "table",
      {},
      make("caption", { class: "unseen" }, "Prestige at the end, and the cards that it comes from"),
      make("thead", {}, make("tr", {}, ...["", "Player", "Prestige", ...piles.map((pile) => `${pile[0].toUpperCase()}${pile.slice(1)} cards`)].map((head) => make("th", { scope: "col" }, head)))),
      make(
        "tbody",
        {},
        ...over.rows.map((row) =>
          make(
            "tr",
            { class: row.rank === 1 ? "winner" : null },
            make("td", {}, `${row.rank}.`),
            make("th", { scope: "row" }, make("span", { class: "named" }, shield(setup, row.player), setup.players[row.player].name)),
            cell(row.points),
            ...piles.map((pile) => cell(row[pile])),
          ),
        ),
      ),
    ),
    make(
      "p",
      { class: "buttons" },
      make("button", { id: "again", class: "primary", onclick: onAgain }, "Play again"),
      make("a", { id: "save", class: "button", href: link, download: true }, "Save the record"),
      share,
    ),
  ];
}

/** A move in few words: its tooltip and its preview say the rest. */
function brief({ kind, title, pile, goal, origin, target, points }) {
  if (kind === "draw") return `Draw a ${pile} card`;
  if (kind === "place") return `${goal[0].toUpperCase()}${goal.slice(1)}`;
  const where = { score: "", best: ", best knight", ring: `, seat ${target}` }[kind] ?? `, seat ${origin} → ${target}`;
  return `${title}${where}: ${signed(points)}`;
}

/** What ismcts would play. */
export function advice(hint, onChoose) {
  const [best] = hint.moves;
  const percent = (share) => `${Math.round(100 * share)} %`;
  const head = hint.searched
    ? `ismcts would play the first, after ${hint.tries} tries:`
    : "ismcts doesn’t search here; it would";
  return [
    make("p", {}, head),
    make(
      "ol",
      {},
      ...(hint.searched ? hint.moves : [best]).map((move) => {
        const full = move.title ? `${move.title}: ${move.label}` : move.label;
        return make(
          "li",
          {},
          make(
            "button",
            { onclick: () => onChoose(move), "data-move": move.move, title: full },
            hint.searched ? make("b", {}, percent(move.share)) : null,
            make("span", {}, brief(move)),
            make("i", { style: `width:${percent(hint.searched ? move.share : 0).replace(" ", "")}`, "aria-hidden": "true" }),
          ),
        );
      }),
    ),
  ];
}
