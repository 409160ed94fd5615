// The server's few questions and answers. The page's secret is a part of its address.

import { say } from "./texts.js";

const secret = location.pathname.split("/").pop();

/** The server has understood the question and says no: asking again won't help. */
export class RefusedError extends Error {}

/** Ask the server for this seat. Throws an Error with the reason if that fails, a RefusedError if it refuses. */
export const ask = (what = "", body) => request(`/api/${secret}${what && "/" + what}`, body);

/** All games, for the host. Throws as `ask` does. */
export const askForGames = () => request(`/api/host/${secret}`);

/** Ask for something else of the host's. Throws as `ask` does. */
export const askHost = (what, body) => request(`/api/host/${secret}/${what}`, body);

async function request(path, body) {
  const init = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer, data;
  try {
    answer = await fetch(path, init);
    data = await answer.json();
  } catch {
    throw new Error(say("connection.none"));
  }
  if (answer.ok) return data;
  throw answer.status < 500 ? new RefusedError(data.error) : new Error(data.error);
}

/**
 * Hear of every move after number `after`; reconnects by itself, until the server says that there is no such seat.
 * `onConnection` is told what is wrong with the connection, "" if nothing is.
 */
export function listen(after, onState, onConnection) {
  let seen = after, source;
  const connect = () => {
    source = new EventSource(`/api/${secret}/events?after=${seen}`);
    source.onopen = () => onConnection("");
    source.onmessage = (message) => {
      const state = JSON.parse(message.data);
      seen = state.number;
      onState(state);
    };
    source.onerror = async () => {
      onConnection(say("connection.lost"));
      if (source.readyState !== EventSource.CLOSED) return; // the browser tries again
      const reason = await refusal();
      if (reason) onConnection(reason);
      else setTimeout(connect, 1500);
    };
  };
  connect();
  addEventListener("pagehide", () => source.close());
}

/** Why the server has no answer for this seat, "" if it has one or can't be reached. */
async function refusal() {
  try {
    await ask();
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
  }
  return "";
}
