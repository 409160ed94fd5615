// Looking back at a finished game on the seat's page: step by step, with charts of scores and chances to win, and the
// decision that lost most.

import { ask } from "./api.js";
import * as parts from "./parts.js";
import { say } from "./texts.js";

const WIDTH = 320, HEIGHT = 130, EDGE = 6;

/** A chart with a line for each player, and a function `at(x)` that marks a place in it. `rows` are [x, [value of each
    player]]; `label` is {title, unit}: screen readers read the title, and the last values as texts from `unit(value)`. */
function chart(setup, rows, label, low, high, onPlace) {
  const last = rows.at(-1)[0] || 1, range = high - low || 1;
  const x = (place) => EDGE + ((WIDTH - 2 * EDGE) * place) / last;
  const y = (value) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (value - low)) / range;
  const svg = parts.draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart" });
  const ends = setup.players.map(({ name }, i) => `${name} ${label.unit(rows.at(-1)[1][i])}`).join(", ");
  svg.setAttribute("aria-label", `${label.title}: ${ends}`);
  if (low < 0 && high > 0) svg.append(parts.draw("line", { x1: 0, x2: WIDTH, y1: y(0), y2: y(0), class: "zero" }));
  setup.players.forEach(({ colour }, i) => {
    const points = rows.map(([place, values]) => `${x(place).toFixed(1)},${y(values[i]).toFixed(1)}`).join(" ");
    svg.append(parts.draw("polyline", { points, class: "under" }), parts.draw("polyline", { points, stroke: colour }));
  });
  const now = parts.draw("line", { y1: 0, y2: HEIGHT, class: "now" });
  svg.append(now);
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    onPlace(Math.round(((((event.clientX - box.left) / box.width) * WIDTH - EDGE) / (WIDTH - 2 * EDGE)) * last));
  });
  const at = (place) => ["x1", "x2"].forEach((name) => now.setAttribute(name, x(place)));
  const names = setup.players.map((player, i) =>
    parts.make("span", { class: "named" }, parts.badge(setup, i), player.name),
  );
  const figure = parts.make(
    "figure",
    {},
    parts.make("figcaption", {}, label.title),
    svg,
    parts.make("p", { class: "legend" }, ...names),
  );
  return { figure, at };
}

/**
 * The controls for looking back: {elements, go(number), step(by)}. `entries` are the entries of the log; `show(state)` puts
 * an earlier state on the page.
 */
export function lookBack(setup, entries, show) {
  const all = entries.length;
  const told = parts.make("p", { role: "status", class: "told" });
  const slider = parts.make("input", { type: "range", min: 0, max: all, value: all, "aria-label": say("review.place") });
  const charts = [];
  let place = all, wanted = all, fetching = false;

  /**
   * Show the state after `number` moves. While a state is being fetched, only the latest other request is remembered.
   */
  async function go(number) {
    wanted = Math.max(0, Math.min(all, number));
    slider.value = wanted;
    const entry = entries[wanted - 1];
    told.textContent = entry
      ? say("review.at", { number: wanted, all, name: setup.players[entry.player].name, text: entry.text })
      : say("review.begin");
    slider.setAttribute("aria-valuetext", told.textContent);
    charts.forEach(({ at }) => at(wanted));
    if (fetching) return;
    fetching = true;
    try {
      while (place !== wanted) {
        const number = wanted, state = await ask(`at/${number}`);
        place = number;
        show(state);
      }
    } catch (error) {
      told.textContent = error.message;
      place = wanted;
    } finally {
      fetching = false;
    }
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  const step = (by) => go(wanted + by);
  const button = (by, label, sign) => parts.make("button", { class: "round", "aria-label": label, onclick: () => step(by) }, sign);
  const steps = parts.make("div", { class: "steps" }, button(-1, say("review.back"), "‹"), slider, button(1, say("review.on"), "›"));
  const lost = parts.make("div", { class: "lost" });
  const more = parts.make("button", { id: "review", onclick: look }, say("review.ask"));

  async function look() {
    more.disabled = true;
    lost.replaceChildren(parts.make("p", { role: "status" }, say("review.working")));
    try {
      const { scores, numbers, chances, lost: lapse } = await ask("review");
      const rows = scores.map((values, i) => [i, values]);
      const every = scores.flat();
      const ofScores = { title: say("review.scores", { score: parts.upper(setup.score) }), unit: parts.unsigned };
      const percent = (value) => `${Math.round(100 * value)} %`;
      charts.push(
        chart(setup, rows, ofScores, Math.min(0, ...every), Math.max(1, ...every), go),
        chart(setup, numbers.map((number, i) => [number, chances[i]]), { title: say("review.chances"), unit: percent }, 0, 1, go),
      );
      lost.replaceChildren(...charts.map(({ figure }) => figure), ...lapsed(lapse));
      charts.forEach(({ at }) => at(wanted));
      more.remove();
    } catch (error) {
      more.disabled = false;
      lost.replaceChildren(parts.make("p", {}, error.message));
    }
  }

  function lapsed(lapse) {
    if (!lapse) return [parts.make("p", {}, say("review.none"))];
    const { number, played, better, was, other } = lapse;
    const hundred = (part) => Math.round(100 * part);
    const text = say("review.lapse", { number: number + 1, played, better, was: hundred(was), other: hundred(other) });
    return [parts.make("p", {}, text, " ", parts.make("button", { id: "show-lapse", onclick: () => go(number) }, say("review.show")))];
  }

  go(all);
  return { elements: [parts.make("h3", {}, say("review.title")), steps, told, lost, more], go, step };
}
