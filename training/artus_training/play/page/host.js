// All games of the server, with everybody's links.

import { make } from "./parts.js";

const secret = location.pathname.split("/").pop();

async function load() {
  const answer = await fetch(`/api/host/${secret}`);
  const { games } = await answer.json();
  document.getElementById("games").replaceChildren(...games.map(game), ...(games.length ? [] : [make("p", {}, "There is no game yet.")]));
}

function game(each) {
  const state = each.over ? "over" : each.moves ? `${each.moves} moves played, ${each.seats[each.turn].name} is to move` : "new";
  return make(
    "section",
    { class: "game" },
    make("h2", {}, `${each.rules}, ${each.seats.map((seat) => seat.name).join(", ")}`),
    make("p", {}, each.trouble || state),
    make("ul", {}, ...each.seats.map((seat, player) => make("li", {}, ...person(seat, each.scores[player])))),
  );
}

function person(seat, points) {
  const name = make("strong", {}, seat.name);
  const score = ` ${String(points).replace("-", "−")} prestige `;
  if (!seat.link) return [name, score];
  const copy = make("button", {}, "Copy link");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(new URL(seat.link, location).href);
      copy.textContent = "Copied";
    } catch {
      copy.replaceWith(make("input", { readonly: true, value: new URL(seat.link, location).href, "aria-label": "Link" }));
    }
  });
  return [name, score, make("a", { class: "button", href: seat.link, target: "_blank", rel: "noopener" }, "Open"), copy];
}

load();
setInterval(load, 10000);
