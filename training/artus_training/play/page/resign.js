// Giving the game up, and what those who have done so see while the others play on.

import { ask } from "./api.js";
import { make } from "./parts.js";
import { say } from "./texts.js";

const $ = (id) => document.getElementById(id);

/** Whether the game ends if this seat resigns: nobody is left who would go on. */
function ends({ players, you }, { resigned }) {
  const others = players.filter((_, player) => player !== you && !resigned.includes(player));
  return others.length < 2 || others.every(({ agent }) => agent);
}

/** Let this seat resign, once it has said so twice. `now()` is {setup, state}; `onError` is told what has failed. */
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

/** What somebody sees who has resigned while the others play on. */
export const left = ({ substitute }) => [
  make("h2", {}, say("resign.done")),
  make("p", {}, say("resign.watch", { agent: substitute })),
];
