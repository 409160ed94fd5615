// All games of the server, with everybody's links.

import { askForGames, RefusedError } from "./api.js";
import { make, unsigned } from "./parts.js";
import { say } from "./texts.js";

const EVERY = 10_000; // milliseconds
const trouble = document.getElementById("trouble");
let shown;

/** Ask again and again, until the server says that this page's link isn't valid any more. */
async function load() {
  try {
    show((await askForGames()).games);
    tell("");
  } catch (error) {
    if (error instanceof RefusedError) {
      return tell(say("host.invalid"));
    }
    tell(say("connection.again", { error: error.message }));
  }
  setTimeout(load, EVERY);
}

function tell(text) {
  trouble.hidden = !text;
  trouble.textContent = text;
}

/** Draw the list anew if something has changed: whoever is about to copy a link isn't disturbed. */
function show(games) {
  const text = JSON.stringify(games);
  if (text === shown) return;
  shown = text;
  const none = games.length ? [] : [make("p", {}, say("host.none"))];
  document.getElementById("games").replaceChildren(...games.map(game), ...none);
}

function game(each) {
  const going = each.moves ? say("host.going", { n: each.moves, name: each.seats[each.turn].name }) : say("host.new");
  const state = each.over ? say("host.over") : going;
  const score = (player) => say("points", { points: unsigned(each.scores[player]), score: each.score });
  const variant = [each.title, each.rules].filter(Boolean).join(", ");
  return make(
    "section",
    { class: "game" },
    make("h2", {}, say("host.game", { title: variant, names: each.seats.map((seat) => seat.name).join(", ") })),
    make("p", {}, each.trouble || state),
    make("ul", {}, ...each.seats.map((seat, player) => make("li", {}, ...person(seat, score(player))))),
  );
}

function person(seat, score) {
  const about = [make("strong", {}, seat.name), ` ${score} `];
  if (!seat.link) return about;
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
  return [...about, make("span", { class: "buttons" }, open, copy)];
}

load();
