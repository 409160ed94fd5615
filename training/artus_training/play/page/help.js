// What explains itself: the "?" panel, tips for somebody's first turn, and meanings of what is pointed at.

import { ask } from "./api.js";
import * as parts from "./parts.js";
import { say, sayOfGame, saysOfGame } from "./texts.js";

const $ = (id) => document.getElementById(id);
const LONG = 450; // milliseconds that a finger rests on something to ask for its meaning
const AWAY = 12; // pixels between something and its meaning

/** The "?" panel. Its pages are fetched when it is opened first. */
export function offerHelp() {
  const panel = $("help");
  let fetched = false;
  $("ask-help").hidden = false;
  $("ask-help").addEventListener("click", async () => {
    panel.showModal();
    if (fetched) return;
    try {
      const { pages } = await ask("lessons");
      panel.querySelector(".pages").replaceChildren(...pages.map(page));
      fetched = true;
    } catch (error) {
      panel.querySelector(".pages").replaceChildren(parts.make("p", {}, error.message));
    }
  });
  $("close-help").addEventListener("click", () => panel.close());
  panel.addEventListener("click", (event) => event.target === panel && panel.close()); // beside it
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
    // see above
  }
};

/** A tip for a step of a game, until somebody has taken that step once. */
export function tip(game, step) {
  const key = `play-tip-${game}-${step}`, text = `first.${step}`;
  const wanted = saysOfGame(text) && !known(key);
  $("tip").hidden = !wanted;
  if (!wanted) return;
  $("tip").firstElementChild.textContent = sayOfGame(text);
  $("tip").lastElementChild.onclick = () => {
    learn(key);
    $("tip").hidden = true;
  };
}

/** A step was taken: its tip isn't needed any more. */
export const taken = (game, step) => learn(`play-tip-${game}-${step}`);

// --- meanings ---

/** Titles within a picture become meanings, which are shown at once and on phones, too. */
export function collectMeanings(svg) {
  for (const title of svg.querySelectorAll("g > title")) {
    title.parentNode.setAttribute("data-meaning", title.textContent);
    title.remove();
  }
}

/** Show what things mean: those in the picture when the mouse is over them, all when they have the focus or are pressed
    for long. */
export function explain(meaningOf) {
  const bubble = $("meaning");
  let timer = 0;
  const hide = () => {
    clearTimeout(timer);
    bubble.hidden = true;
  };
  const show = (target) => {
    const text = meaningOf(target);
    if (!text) return hide();
    bubble.textContent = text;
    bubble.hidden = false;
    const box = target.getBoundingClientRect(), size = bubble.getBoundingClientRect();
    const left = Math.min(Math.max(4, box.left + box.width / 2 - size.width / 2), innerWidth - size.width - 4);
    const above = box.top - size.height - AWAY;
    bubble.style.left = `${left}px`;
    bubble.style.top = `${above > 4 ? above : Math.min(box.bottom + AWAY, innerHeight - size.height - 4)}px`;
  };
  $("picture").addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(event.target));
  $("picture").addEventListener("pointerleave", hide);
  document.addEventListener("focusin", ({ target }) => (target.matches("[title]:focus-visible") ? show(target) : hide()));
  document.addEventListener("pointerdown", (event) => {
    hide();
    if (event.pointerType !== "mouse") timer = setTimeout(() => show(event.target), LONG);
  });
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => clearTimeout(timer));
  document.addEventListener("contextmenu", (event) => bubble.hidden || event.preventDefault());
  addEventListener("scroll", hide, { passive: true });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
