// The public HTTP API and nothing else: requests under the reader's token, problems, and a stream of events
// that reconnects where it broke off. EventSource cannot send a token, so events are read from fetch.

const BASE = new URL(".", document.baseURI);
const TOKEN = "weir-token";
let asking = null;
let askToken = async () => false;

export class Problem extends Error {
  constructor(status, body) {
    super(body.title ?? `the server answered ${status}`);
    Object.assign(this, body, { status });
  }

  // One sentence for people: the title, then the detail or the hint where they say more.
  get sentence() {
    const more = this.line ? this.hint : this.detail ?? this.hint;
    return more && more !== this.message ? `${this.message}: ${more}` : this.message;
  }
}

export const hasToken = () => Boolean(sessionStorage.getItem(TOKEN));

export function setToken(text) {
  if (text) sessionStorage.setItem(TOKEN, text);
  else sessionStorage.removeItem(TOKEN);
}

// `ask` shows the token field and resolves to whether there is a new token to try.
export function onUnauthorized(ask) {
  askToken = ask;
}

function headersWith(extra) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { ...extra, Authorization: `Bearer ${token}` } : extra;
}

async function unauthorized() {
  asking ??= askToken().finally(() => { asking = null; });
  return asking;
}

async function request(path, options, headers) {
  for (;;) {
    let response;
    try {
      response = await fetch(new URL(path, BASE), { ...options, headers: headersWith(headers) });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, { title: "the server cannot be reached" });
    }
    if (response.status === 401 && await unauthorized()) continue;
    return response;
  }
}

async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  return new Problem(response.status, body && typeof body === "object" ? body : {});
}

export async function call(method, path, body, { type = "application/json", signal } = {}) {
  const sent = body === undefined ? undefined : type === "application/json" ? JSON.stringify(body) : body;
  const headers = { Accept: "application/json", ...(sent === undefined ? {} : { "Content-Type": type }) };
  const response = await request(path, { method, body: sent, signal }, headers);
  if (!response.ok) throw await problemOf(response);
  const text = await response.text();
  return text && (response.headers.get("content-type") ?? "").includes("json") ? JSON.parse(text) : text;
}

// An answer as text with its headers, in the media type that is asked for.
export async function text(path, accept, { body, type } = {}) {
  const headers = { Accept: accept, ...(type ? { "Content-Type": type } : {}) };
  const response = await request(path, { method: body === undefined ? "GET" : "POST", body }, headers);
  if (!response.ok) throw await problemOf(response);
  return { body: await response.text(), headers: response.headers };
}

export const get = (path, options) => call("GET", path, undefined, options);
export const post = (path, body, options) => call("POST", path, body, options);
export const remove = (path) => call("DELETE", path);
export const pathOf = (...parts) => ["api", ...parts.map(encodeURIComponent)].join("/");

// Calls `onEvent({id, type, data})` for each event; ends with the signal, or where the resource is gone.
export async function follow(path, { from, signal, onEvent, onState }) {
  let last = from;
  let wait = 500;
  while (!signal.aborted) {
    try {
      onState("connecting");
      const resume = last === undefined || last === null ? {} : { "Last-Event-ID": String(last) };
      const response = await request(path, { signal, cache: "no-store" }, { Accept: "text/event-stream", ...resume });
      if (response.status === 404 || response.status === 410) return onState("gone");
      if (!response.ok) throw await problemOf(response);
      onState("live");
      for await (const event of events(response.body)) {
        if (event.retry) wait = Math.min(event.retry, 10000);
        if (event.id !== undefined) last = event.id;
        if (event.data !== undefined) { wait = 500; onEvent(event); }
      }
    } catch (error) {
      if (signal.aborted) return undefined;
    }
    onState("waiting");
    await new Promise((done) => setTimeout(done, wait * (0.8 + 0.4 * Math.random())));
    wait = Math.min(wait * 2, 10000);
  }
  return undefined;
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  let event = {};
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    held += value;
    const lines = held.split(/\r\n|\n|\r(?!$)/);
    held = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (Object.keys(event).length) yield event;
        event = {};
        continue;
      }
      const at = line.indexOf(":");
      const field = at < 0 ? line : line.slice(0, at);
      const text = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
      if (field === "data") event.data = event.data === undefined ? text : `${event.data}\n${text}`;
      else if (field === "id") event.id = text;
      else if (field === "event") event.type = text;
      else if (field === "retry") event.retry = Number(text) || undefined;
    }
  }
}
