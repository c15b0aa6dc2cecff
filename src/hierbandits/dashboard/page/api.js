// Asks the service.  What has not changed is not sent again; the token stays in this tab.

const KEY = "hierbandits-token";
const known = new Map(); // path: [mark, data]
const unserved = new Set(); // paths that workers which share a store do not serve

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export function token() {
  return sessionStorage.getItem(KEY);
}

export function keepToken(text) {
  known.clear();
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}

// A link may bring a token behind its "#", which browsers send to nobody: take it, and hide it.
export function takeTokenFromLink() {
  const [route, query] = location.hash.slice(1).split("?");
  const given = new URLSearchParams(route.startsWith("token=") ? route : (query ?? "")).get("token");
  if (!given) return;
  keepToken(given);
  history.replaceState(null, "", route.startsWith("token=") ? "#/" : `#${route}`);
}

// Change something; the token must be good for it.
export async function send(path, body) {
  const headers = { "content-type": "application/json" };
  if (token()) headers.authorization = `Bearer ${token()}`;
  let reply;
  try {
    reply = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Refused(0, "The service does not answer: whether it was done is not known.");
  }
  const data = await reply.json().catch(() => null);
  if (!reply.ok) throw new Refused(reply.status, data?.detail ?? `The service answered with the status ${reply.status}.`);
  return data;
}

// What a path has now; null if this kind of service does not have it.
export async function get(path, signal) {
  if (unserved.has(path)) return null;
  const headers = {};
  if (token()) headers.authorization = `Bearer ${token()}`;
  const kept = known.get(path);
  if (kept) headers["if-none-match"] = kept[0];
  let reply;
  try {
    reply = await fetch(path, { headers, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The service does not answer. Is it running, and can this machine reach it?");
  }
  if (reply.status === 304) return kept[1];
  if (reply.status === 501) {
    unserved.add(path);
    return null;
  }
  let data = null;
  try {
    data = await reply.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  if (!reply.ok) {
    throw new Refused(reply.status, data?.detail ?? `The service answered with the status ${reply.status}.`);
  }
  const mark = reply.headers.get("etag");
  if (mark) {
    if (known.size > 200) known.clear();
    known.set(path, [mark, data]);
  }
  return data;
}

export function ofPolicy(name, rest = "") {
  return `policies/${encodeURIComponent(name)}${rest}`;
}
