// What is asked of the server, and what it tells. The token comes with the start and goes with every change.

let token = "";
/** Each tab has its own desk; a tab that was copied or loaded again gets another. */
export const desk = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export class Refused extends Error {
  constructor(status, said) {
    super(said.words || (said.faults || []).map((fault) => fault.words).join("; ") || `the server answered ${status}`);
    this.status = status;
    this.faults = said.faults || [];
  }
}

async function answer(asked) {
  let response;
  try { response = await asked; } catch { throw new Refused(0, { words: "The server cannot be reached" }); }
  const kind = response.headers.get("Content-Type") || "";
  const said = kind.includes("application/json") ? await response.json() : await response.text();
  if (!response.ok) throw new Refused(response.status, typeof said === "string" ? { words: said } : said);
  return said;
}

export const get = async (path) => answer(fetch(path, { headers: { "X-Fabopt-Token": token } }));

async function change(method, path, facts) {
  const headers = { "Content-Type": "application/json", "X-Fabopt-Token": token };
  return answer(fetch(path, { method, headers, body: JSON.stringify(facts) }));
}
export const post = (path, facts) => change("POST", path, facts);
export const put = (path, facts) => change("PUT", path, facts);
export const remove = (path) => change("DELETE", path, {});

export async function start() {
  const said = await get("/api/start");
  token = said.token;
  return said;
}

/** Listen to what goes on at the desk; `lost` and `found` when the server ends and comes back. */
export function listen(kinds, lost, found) {
  let waiting = 0;
  let gone = false;
  const open = () => {
    const events = new EventSource(`/api/events?desk=${desk}`);
    for (const [kind, does] of Object.entries(kinds)) events.addEventListener(kind, (event) => does(JSON.parse(event.data)));
    events.onopen = async () => {
      if (!gone) return;
      try { await start(); gone = false; found(); } catch { again(events); }
    };
    events.onerror = () => { if (!gone) { gone = true; lost(); } again(events); };
    window.addEventListener("pagehide", () => events.close(), { once: true });
  };
  const again = (events) => {
    events.close();
    clearTimeout(waiting);
    waiting = setTimeout(open, 1000);
  };
  open();
}
