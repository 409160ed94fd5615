// The server's few questions and answers. The seat's secret is a part of this page's address.

const secret = location.pathname.split("/").pop();

/** Ask the server. Throws an Error with the reason if it refuses. */
export async function ask(what = "", body) {
  const init = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(`/api/${secret}${what && "/" + what}`, init);
  } catch {
    throw new Error("The server doesn't answer.");
  }
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.error);
  return data;
}

/** Hear of every move after number `after`; reconnects by itself. */
export function listen(after, onState, onConnection) {
  let seen = after, source;
  const connect = () => {
    source = new EventSource(`/api/${secret}/events?after=${seen}`);
    source.onopen = () => onConnection(true);
    source.onmessage = (message) => {
      const state = JSON.parse(message.data);
      seen = state.number;
      onState(state);
    };
    source.onerror = () => {
      onConnection(false);
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1500);
    };
  };
  connect();
  addEventListener("pagehide", () => source.close());
}
