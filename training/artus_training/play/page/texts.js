// Texts in the language of the page: the play page's own, which are embedded in it, and its game's. Keys are those of the
// catalogues (`texts/*.json`); where a text has the forms `one` and `other`, its value `n` selects the form.

const page = JSON.parse(document.getElementById("texts").textContent);
let game = {};

/** Set the game's texts, for `sayOfGame`. */
export function learn(texts) {
  game = texts;
}

/** A text of the page, with values filled in. */
export const say = (key, values) => filled(page, key, values);

/** A text of the game, with values filled in. */
export const sayOfGame = (key, values) => filled(game, key, values);

/** Whether the game has a text with this key. */
export const saysOfGame = (key) => key in game;

/** Texts joined to a list: `one, two and three`. */
export const listed = (parts) =>
  parts.length > 1 ? `${parts.slice(0, -1).join(", ")} ${say("and")} ${parts.at(-1)}` : parts.join("");

function filled(texts, key, values = {}) {
  const entry = texts[key];
  if (entry === undefined) throw new Error(`there is no text ${key}`);
  const text = typeof entry === "string" ? entry : entry[values.n === 1 ? "one" : "other"];
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Let the reader choose another language: the page is loaded again in it. */
export function offerLanguages(select) {
  select.addEventListener("change", () => {
    document.cookie = `language=${select.value};path=/;max-age=31536000;samesite=strict`;
    location.reload();
  });
}
