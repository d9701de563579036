// Samples pushed live: the messages of a .tnq text, moved to the present and sent at their own pace, round and
// round, until they are stopped or the page is closed; they go on when it is loaded again.

import { pathOf, post } from "./api.js";

const FEEDS = "weir-feeds";
const TRIES = 20;
const PERIOD = 250;
const running = new Map();

// Messages {time, lines}: consecutive lines of equal time are one message.
export function messagesOf(text) {
  const found = [];
  for (const line of text.split("\n")) {
    const tab = line.indexOf("\t");
    if (tab < 0) continue;
    const stamp = line.slice(0, tab).trim();
    const time = /^-?\d+$/.test(stamp) ? Number(stamp) : Date.parse(stamp);
    if (!Number.isFinite(time)) continue;
    const last = found[found.length - 1];
    if (last?.time === time) last.lines.push(line.slice(tab + 1));
    else found.push({ time, lines: [line.slice(tab + 1)] });
  }
  return found;
}

export const feeding = (stream) => running.has(stream);

export function stopFeed(stream) {
  clearTimeout(running.get(stream)?.timer);
  running.delete(stream);
  remember(stream, null);
}

function remember(stream, text) {
  const known = JSON.parse(sessionStorage.getItem(FEEDS) ?? "{}");
  if (text === null) delete known[stream];
  else known[stream] = text;
  sessionStorage.setItem(FEEDS, JSON.stringify(known));
}

// What ran when the page was left, for streams that are still there.
export function resumeFeeds(streams, onError) {
  const known = JSON.parse(sessionStorage.getItem(FEEDS) ?? "{}");
  for (const [stream, text] of Object.entries(known)) {
    if (!running.has(stream) && streams.includes(stream)) startFeed(stream, text, onError);
  }
}

export function startFeed(stream, text, onError) {
  stopFeed(stream);
  const messages = messagesOf(text);
  if (!messages.length) return;
  const first = messages[0].time;
  const length = messages[messages.length - 1].time - first;
  const pause = messages.length > 1 ? Math.max(1, Math.round(length / (messages.length - 1))) : 1000;
  remember(stream, text);
  const feed = { failed: 0, next: 0, round: 0, start: Date.now(), timer: 0 };
  running.set(stream, feed);

  const due = (message) => feed.start + feed.round * (length + pause) + message.time - first;
  const step = async () => {
    const lines = [];
    while (due(messages[feed.next]) <= Date.now()) {
      const message = messages[feed.next];
      lines.push(...message.lines.map((line) => `${due(message)}\t${line}`));
      feed.next += 1;
      if (feed.next === messages.length) {
        feed.next = 0;
        feed.round += 1;
      }
    }
    feed.held = [...(feed.held ?? []), ...lines].slice(-5000);
    try {
      if (feed.held.length) await post(pathOf("streams", stream, "messages"), `${feed.held.join("\n")}\n`, { type: "application/x-tnq" });
      feed.held = [];
      feed.failed = 0;
    } catch (error) {
      feed.failed += 1;
      if (![0, 429, 503].includes(error.status) || feed.failed > TRIES) {
        stopFeed(stream);
        onError(error);
        return;
      }
    }
    if (running.get(stream) === feed) feed.timer = setTimeout(step, PERIOD * (1 + feed.failed));
  };
  step();
}
