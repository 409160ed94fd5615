// Requests to the server. The last part of the page's address is the secret of the seat or of the host.

import { say } from "./texts.js";

const STREAMS = 3; // maximum of open streams in a browser: HTTP/1.1 allows six connections, and moves need some
const secret = location.pathname.split("/").pop();
let pending = new AbortController(); // cancels all requests that have no answer yet

/** The server refuses a request: repeating it won't help. */
export class RefusedError extends Error {}

/**
 * Send a request for this seat: GET, or POST with a body. Throws a RefusedError if the server refuses it, an Error with
 * the reason if it fails.
 */
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

/** Any other request of the host's page. Throws as `ask` does. */
export const askHost = (what, body) => request(`/api/host/${secret}/${what}`, body);

/** Cancel all requests that have no answer yet: the connection is dead. */
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
 * Pass the state after each move beyond number `after` to `onState`. Reconnects by itself, until the server says that
 * there is no such seat. `onConnection` gets a message about the connection, "" if nothing is wrong with it.
 *
 * The `STREAMS` pages that were opened, shown or used last keep a stream open; the others connect briefly every few
 * seconds. While nothing happens the server sends `alive` messages, with the maximum number of milliseconds until the
 * next one: a stream that is silent for much longer is dead, even if the browser hasn't noticed.
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

/** Why the server refuses requests for this seat, "" if it doesn't, or can't be reached. */
async function refusal() {
  try {
    await ask();
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
  }
  return "";
}
