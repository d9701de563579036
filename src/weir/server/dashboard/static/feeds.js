// Samples pushed live: the messages of a .tnq text, moved to the present and sent at their own pace, round and
// round, until they are stopped, the page is closed or ten minutes have passed.

import { pathOf, post } from "./api.js";

const LONGEST = 600000;
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
}

export function startFeed(stream, text, onError) {
  stopFeed(stream);
  const messages = messagesOf(text);
  if (!messages.length) return;
  const first = messages[0].time;
  const length = messages[messages.length - 1].time - first;
  const pause = messages.length > 1 ? Math.max(1, Math.round(length / (messages.length - 1))) : 1000;
  const feed = { next: 0, round: 0, start: Date.now(), timer: 0 };
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
    try {
      if (lines.length) await post(pathOf("streams", stream, "messages"), `${lines.join("\n")}\n`, { type: "application/x-tnq" });
    } catch (error) {
      stopFeed(stream);
      onError(error);
      return;
    }
    if (running.get(stream) !== feed) return;
    if (Date.now() - feed.start > LONGEST) stopFeed(stream);
    else feed.timer = setTimeout(step, PERIOD);
  };
  step();
}
