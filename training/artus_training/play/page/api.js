// The server's few questions and answers. The page's secret is a part of its address.

import { say } from "./texts.js";

const STREAMS = 3; // at most, in all pages of a browser: HTTP/1.1 allows it six connections, and moves need some
const secret = location.pathname.split("/").pop();
let pending = new AbortController(); // of all requests that have no answer yet

/** The server has understood the question and says no: asking again won't help. */
export class RefusedError extends Error {}

/** Ask the server for this seat. Throws an Error with the reason if that fails, a RefusedError if it refuses. */
export const ask = (what = "", body) => request(`/api/${secret}${what && "/" + what}`, body);

/** All games, for the host. Throws as `ask` does, also after 30 seconds without an answer. */
export async function askForGames() {
  try {
    return await request(`/api/host/${secret}`, undefined, AbortSignal.timeout(30_000));
  } catch (error) {
    if (!(error instanceof RefusedError)) giveUp();
    throw error;
  }
}

/** Ask for something else of the host's. Throws as `ask` does. */
export const askHost = (what, body) => request(`/api/host/${secret}/${what}`, body);

/** End all requests that have no answer yet: the line is dead, and none will come. */
function giveUp() {
  pending.abort();
  pending = new AbortController();
}

async function request(path, body, signal = pending.signal) {
  const post = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer, data;
  try {
    answer = await fetch(path, { ...post, signal });
    data = await answer.json();
  } catch {
    throw new Error(say("connection.none"));
  }
  if (answer.ok) return data;
  throw answer.status < 500 ? new RefusedError(data.error) : new Error(data.error);
}

/**
 * Hear of every move after number `after`; reconnects by itself, until the server says that there is no such seat.
 * `onConnection` gets what is wrong with the connection, "" if nothing is.
 *
 * The `STREAMS` pages that were opened, shown or used last hold an open stream; the others connect for a moment every few
 * seconds. When it has nothing new the server sends `alive`, with the most milliseconds until the next one: a stream that
 * is silent for much longer is dead, even if the browser hasn't noticed.
 */
export function listen(after, onState, onConnection) {
  const others = new BroadcastChannel("streams");
  let seen = after, heartbeat = 10_000, holds = false, opened = 0, refused = false, source, timer;

  const soon = (what, time) => {
    clearTimeout(timer);
    timer = setTimeout(what, time);
  };
  const heard = () => {
    onConnection("");
    soon(lost, 2.5 * heartbeat);
  };
  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }
  function connect() {
    close();
    if (refused) return;
    const mine = (source = new EventSource(`/api/${secret}/events?after=${seen}`));
    soon(lost, heartbeat);
    source.onopen = () => soon(lost, 2.5 * heartbeat);
    source.onmessage = (message) => {
      const state = JSON.parse(message.data);
      seen = state.number;
      heard();
      onState(state);
    };
    source.addEventListener("alive", (message) => {
      heartbeat = Number(message.data);
      heard();
      if (!holds) later();
    });
    source.onerror = async () => {
      onConnection(say("connection.lost"));
      if (mine.readyState !== EventSource.CLOSED) return; // the browser tries again
      const reason = await refusal();
      if (source !== mine) return;
      if (!reason) return soon(connect, 1500);
      refused = true;
      close();
      onConnection(reason);
    };
  }
  function lost() {
    onConnection(say("connection.lost"));
    giveUp();
    connect();
  }
  function later() {
    close();
    soon(connect, 0.3 * heartbeat);
  }
  /** Connect again, even if a stream seems open. A visible page then holds its stream. */
  function start() {
    if (!holds && !document.hidden) {
      holds = true;
      opened = 0;
      others.postMessage("opened");
    }
    connect();
  }
  function stop() {
    holds = false;
    close();
  }
  others.onmessage = () => {
    opened += 1;
    if (!holds || opened < STREAMS) return;
    holds = false;
    later();
  };
  start();
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => event.persisted && start());
  addEventListener("online", start);
  document.addEventListener("freeze", stop);
  document.addEventListener("resume", start);
  document.addEventListener("visibilitychange", () => document.hidden || start());
  for (const used of ["pointerdown", "keydown"]) addEventListener(used, () => holds || start());
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
