// Resigning, and what is shown to a person who has resigned while the others play on.

import { ask } from "./api.js";
import { make } from "./parts.js";
import { say } from "./texts.js";

const $ = (id) => document.getElementById(id);

/** Whether the game ends if this seat resigns: only one player, or only agents, would be left. */
function ends({ players, you }, { resigned }) {
  const others = players.filter((_, player) => player !== you && !resigned.includes(player));
  return others.length < 2 || others.every(({ agent }) => agent);
}

/**
 * Let this seat resign, after it has confirmed that. `now()` returns {setup, state}; `onError` gets the error if it
 * fails.
 */
export function offerResigning(now, onError) {
  $("resign").addEventListener("click", () => {
    const { setup, state } = now();
    $("settings").open = false;
    $("resigning").firstElementChild.textContent = say(ends(setup, state) ? "resign.ask.ends" : "resign.ask.on");
    $("resigning").showModal();
  });
  $("stay").addEventListener("click", () => $("resigning").close());
  $("leave").addEventListener("click", async () => {
    $("resigning").close();
    try {
      await ask("resign", {});
    } catch (error) {
      onError(error);
    }
  });
}

/** Whether this seat may still resign. */
export const mayResign = ({ you }, { over, resigned }) => !over && !resigned.includes(you);

/** Elements for a person who has resigned while the others play on. */
export const left = ({ substitute }) => [
  make("h2", {}, say("resign.done")),
  make("p", {}, say("resign.watch", { agent: substitute })),
];
