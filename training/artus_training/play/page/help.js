// Help on the page: the "?" panel, tips for a player's first turns, and explanations of things under the pointer.

import { ask } from "./api.js";
import * as parts from "./parts.js";
import { say, sayOfGame, saysOfGame } from "./texts.js";

const low = matchMedia("(max-width: 720px) and (max-height: 700px)"); // as in play.css: then a tip is one line until opened
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const $ = (id) => document.getElementById(id);
const LONG = 450; // milliseconds of a long press, which shows the meaning of a thing
const AWAY = 12; // pixels between a thing and the bubble with its meaning

/**
 * The "?" panel. Its pages are fetched when it is first opened; `point(picture, where)` highlights the place that a
 * page is about.
 */
export function offerHelp(point) {
  const panel = $("help");
  let fetched = false;
  $("ask-help").hidden = false;
  $("ask-help").addEventListener("click", async () => {
    panel.showModal();
    if (fetched) return;
    try {
      const { pages } = await ask("lessons");
      panel.querySelector(".pages").replaceChildren(...pages.map(page));
      panel.querySelectorAll(".drawn svg").forEach((picture, i) => pages[i].where && point(picture, pages[i].where));
      fetched = true;
    } catch (error) {
      panel.querySelector(".pages").replaceChildren(parts.make("p", {}, error.message));
    }
  });
  $("close-help").addEventListener("click", () => panel.close());
  panel.addEventListener("click", (event) => event.target === panel && panel.close()); // a click beside the panel
}

function page({ title, text, picture }, i, all) {
  const number = parts.make("small", {}, say("help.step", { number: i + 1, all: all.length }));
  return parts.make(
    "section",
    {},
    parts.drawing(picture, "drawn"),
    parts.make("div", {}, number, parts.make("h3", {}, title), parts.make("p", {}, text)),
  );
}

// --- tips ---

const known = (key) => {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return true; // nothing can be remembered: better no tip than one that never goes away
  }
};

const learn = (key) => {
  try {
    localStorage.setItem(key, "1");
  } catch {
    // no storage: then no tips are shown, see `known`
  }
};

/** Show the tip for a step of a game, unless the step was taken, or the tip closed, before in this browser. */
export function tip(game, step) {
  const key = `play-tip-${game}-${step}`, text = `first.${step}`;
  const wanted = saysOfGame(text) && !known(key);
  $("tip").hidden = !wanted;
  if (!wanted) return;
  const details = $("tip").firstElementChild, summary = details.firstElementChild, told = sayOfGame(text);
  if (summary.textContent !== told) details.open = !low.matches;
  summary.textContent = told;
  $("tip").lastElementChild.onclick = () => {
    learn(key);
    $("tip").hidden = true;
  };
}

/** A step was taken: its tip isn't needed any more. */
export const taken = (game, step) => learn(`play-tip-${game}-${step}`);

// --- meanings ---

/** Turn titles within a picture into `data-meaning` attributes: `explain` shows these at once, also on phones. */
export function collectMeanings(svg) {
  for (const title of svg.querySelectorAll("g > title")) {
    title.parentNode.setAttribute("data-meaning", title.textContent);
    title.remove();
  }
}

let timer = 0;

function hide() {
  clearTimeout(timer);
  $("meaning").hidden = true;
}

/** Show a text in the bubble beside an element. */
function show(target, text) {
  if (!text) return hide();
  const bubble = $("meaning");
  bubble.textContent = text;
  bubble.hidden = false;
  const box = target.getBoundingClientRect(), size = bubble.getBoundingClientRect();
  const left = Math.min(Math.max(4, box.left + box.width / 2 - size.width / 2), innerWidth - size.width - 4);
  const above = box.top - size.height - AWAY;
  bubble.style.left = `${left}px`;
  bubble.style.top = `${above > 4 ? above : Math.min(box.bottom + AWAY, innerHeight - size.height - 4)}px`;
}

/**
 * Let the arrow keys move from one of the elements `things(holder)` to the next while `holder` has the focus. The meaning
 * of each is shown, and passed to `tell`. The elements may be redrawn meanwhile.
 */
export function explore(holder, things, meaningOf, tell) {
  let place = -1;
  const leave = () => holder.querySelectorAll(".looked").forEach((each) => each.classList.remove("looked"));
  holder.addEventListener("keydown", (event) => {
    const all = things(holder).filter((each) => each.checkVisibility()), by = STEPS[event.key];
    if (event.target !== holder || !all.length || !(by || event.key === "Home" || event.key === "End")) return;
    event.preventDefault();
    place = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : (place + by + all.length) % all.length;
    leave();
    all[place].classList.add("looked");
    all[place].scrollIntoView({ block: "nearest", behavior: "instant" });
    const found = all[place], text = meaningOf(found);
    requestAnimationFrame(() => show(found, text)); // after the scrolling, which hides the bubble
    tell(text);
  });
  holder.addEventListener("focusout", () => {
    place = -1;
    leave();
    hide();
  });
}

/** Show meanings: of things in the picture when the mouse is over them, of all things on focus and on a long press. */
export function explain(meaningOf) {
  const bubble = $("meaning");
  $("picture").addEventListener("pointerover", ({ pointerType, target }) => pointerType === "mouse" && show(target, meaningOf(target)));
  $("picture").addEventListener("pointerleave", hide);
  document.addEventListener("focusin", ({ target }) => (target.matches("[title]:focus-visible") ? show(target, meaningOf(target)) : hide()));
  document.addEventListener("pointerdown", (event) => {
    hide();
    if (event.pointerType !== "mouse") timer = setTimeout(() => show(event.target, meaningOf(event.target)), LONG);
  });
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => clearTimeout(timer));
  document.addEventListener("contextmenu", (event) => bubble.hidden || event.preventDefault());
  addEventListener("scroll", hide, { passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
