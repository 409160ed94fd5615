// Texts in the language of the page: those of the play page itself, which come with it, and those of its game. Keys are
// those of the catalogues; a text with the forms `one` and `other` is chosen by its number `n`.

const page = JSON.parse(document.getElementById("texts").textContent);
let game = {};

/** From now on, `sayOfGame` knows these texts. */
export function learn(texts) {
  game = texts;
}

/** A text of the page, with its values. */
export const say = (key, values) => filled(page, key, values);

/** A text of the game, with its values. */
export const sayOfGame = (key, values) => filled(game, key, values);

/** Whether the game has such a text. */
export const saysOfGame = (key) => key in game;

/** Things one after the other: `one, two and three`. */
export const listed = (parts) =>
  parts.length > 1 ? `${parts.slice(0, -1).join(", ")} ${say("and")} ${parts.at(-1)}` : parts.join("");

function filled(texts, key, values = {}) {
  const entry = texts[key];
  if (entry === undefined) throw new Error(`there is no text ${key}`);
  const text = typeof entry === "string" ? entry : entry[values.n === 1 ? "one" : "other"];
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Let the reader choose another language: the page comes anew in it. */
export function offerLanguages(select) {
  select.addEventListener("change", () => {
    document.cookie = `language=${select.value};path=/;max-age=31536000;samesite=strict`;
    location.reload();
  });
}
