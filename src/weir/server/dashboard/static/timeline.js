// The windows of a query on the axis of event time: messages enter at the right, are inside while the window
// covers them, and leave at the left; evaluations are ticks on the axis. The picture glides, the data jump.

import { h, s, setText } from "./dom.js";
import { clock, plural, tail, timeOf } from "./format.js";
import { timeLabel, timeTicks } from "./scale.js";

const LANE = 54;
const TOP = 20;
const AXIS = 36;
const AHEAD = 0.06;
const MOST = 500;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Timeline {
  constructor(host) {
    this.host = host;
    this.width = host.clientWidth;
    this.clear(null);
    new ResizeObserver(() => this.layout()).observe(host);
  }

  clear(query) {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.lanes = new Map();
    this.ticks = new Map();
    this.shown = NaN;
    this.declared = new Map();
    this.svg = null;
    this.host.replaceChildren(h("p", { class: "empty" },
      query ? "The windows are drawn here once messages come in." : "No query is selected."));
  }

  // The windows as the plan explains them: what they are called, and which are not stretches of time.
  declare(windows) {
    this.declared = new Map((windows ?? []).map((window) => [window.name, window]));
  }

  // `activity` as the API gives it. Before the first evaluation there is no event time: the newest message is it.
  update(activity) {
    const windows = (activity.windows ?? []).map((window) => this.read(window));
    const newest = Math.max(...windows.flatMap(({ messages }) => messages.map(({ at }) => at)));
    const now = activity.now ? timeOf(activity.now) : newest;
    if (!Number.isFinite(now) || !windows.length) return;
    if (now < this.now - this.span) this.clear(true);
    this.now = now;
    for (const window of windows) bounds(window, now);
    const lengths = windows.filter(({ instant }) => !instant).map(({ open, close }) => close - open).filter((length) => Number.isFinite(length) && length > 0);
    const steps = windows.map(({ step, close }) => Math.max(step ?? 0, close - now)).filter(Number.isFinite);
    const past = lengths.length ? Math.max(2000, ...lengths.map((length) => length * 1.6)) : 20000;
    this.margin = Math.max(past * AHEAD, ...steps.map((step) => step * 1.05));
    this.span = past + this.margin;
    if (!this.svg) this.build();
    for (const window of windows) this.lane(window);
    for (const name of [...this.lanes.keys()]) {
      if (windows.some((window) => window.name === name)) continue;
      this.lanes.get(name).group.remove();
      this.lanes.delete(name);
    }
    for (const each of activity.ticks ?? []) this.tick(timeOf(each));
    this.forget();
    this.layout();
  }

  build() {
    this.grid = s("g");
    this.lanesGroup = s("g");
    this.ticksGroup = s("g");
    this.nowLine = s("line", { class: "now", y1: 2 });
    this.nowText = s("text", { class: "now-text", "text-anchor": "end", y: 12 });
    this.svg = s("svg", { class: "timeline", role: "img", "aria-label": "Windows over event time" },
      this.grid, this.lanesGroup, this.ticksGroup, this.nowLine, this.nowText);
    this.summary = h("p", { class: "hidden", "aria-live": "off" });
    this.host.replaceChildren(this.svg, this.summary);
  }

  read({ name, open, close, messages }) {
    const { kind, width, step, text } = this.declared.get(name) ?? {};
    return { name, kind, width, step: kind === "range" || kind === "past" ? step : 0, text, open: timeOf(open), close: timeOf(close),
      messages: (messages ?? []).map(({ time, triples }) => ({ at: timeOf(time), triples })) };
  }

  lane({ name, open, close, messages, text, instant }) {
    let lane = this.lanes.get(name);
    if (!lane) {
      lane = { band: s("rect", { class: "band", rx: 7 }), label: s("tspan", { class: "lane-name" }),
        edges: s("tspan", { class: "lane-edges", dx: 12 }), dots: s("g"), known: new Map() };
      lane.title = s("text", { x: 2 }, lane.label, lane.edges);
      lane.group = s("g", { class: "lane" }, lane.band, lane.dots, lane.title);
      this.lanes.set(name, lane);
      this.lanesGroup.append(lane.group);
      setText(lane.label, name?.startsWith?.(".") ? `window ${name.slice(1)}` : tail(name ?? "window"));
    }
    Object.assign(lane, { open, close, instant });
    lane.size = messages.filter(({ at }) => at >= open && at < close && at <= this.now).length;
    for (const { at, triples } of messages.slice(-MOST)) {
      const known = lane.known.get(at);
      const radius = Math.min(9, 2.6 + Math.sqrt(triples ?? 1) * 1.5);
      if (known) known.setAttribute("r", radius);
      else {
        const dot = s("circle", { r: radius, class: "dot" }, s("title", null, `${clock(at, true)} · ${triples} triples`));
        lane.known.set(at, dot);
        lane.dots.append(dot);
      }
    }
    const range = close - open;
    const place = instant ? `at ${clock(open, true)}` : Number.isFinite(range) && range > 0 ? `${clock(open, range < 2000)} – ${clock(close, range < 2000)}` : null;
    setText(lane.edges, [this.width < 520 && place ? null : text, place, plural(lane.size, "message")].filter(Boolean).join(" · "));
  }

  tick(at) {
    if (this.ticks.has(at) || !Number.isFinite(at)) return;
    const mark = s("path", { class: "tick", d: "M0 0l4 7h-8z" }, s("title", null, `evaluated at ${clock(at, true)}`));
    this.ticks.set(at, mark);
    this.ticksGroup.append(mark);
  }

  forget() {
    const edge = this.now - this.span * 1.2;
    for (const known of [this.ticks, ...[...this.lanes.values()].map((lane) => lane.known)]) {
      for (const [at, node] of known) {
        if (at >= edge && known.size <= MOST * 2) continue;
        node.remove();
        known.delete(at);
      }
    }
  }

  layout() {
    if (!this.svg) return;
    const width = Math.max(260, this.host.clientWidth);
    const height = TOP + this.lanes.size * LANE + AXIS;
    this.width = width;
    this.height = height;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    let top = TOP;
    for (const lane of this.lanes.values()) {
      lane.middle = top + 32;
      lane.band.setAttribute("y", lane.middle - 15);
      lane.band.setAttribute("height", 30);
      lane.title.setAttribute("y", lane.middle - 22);
      for (const dot of lane.known.values()) dot.setAttribute("cy", lane.middle);
      top += LANE;
    }
    setText(this.summary, [...this.lanes].map(([name, lane]) =>
      `${name}: ${lane.size} messages, ${lane.edges.textContent}`).join("; "));
    if (still.matches || !Number.isFinite(this.shown) || Math.abs(this.now - this.shown) > this.span) this.shown = this.now;
    this.moved = performance.now();
    this.frame ??= requestAnimationFrame((time) => this.move(time));
  }

  // Event time jumps with each answer of the server; the picture glides after it.
  move(time) {
    this.frame = null;
    if (!this.svg) return;
    const passed = Math.max(0, time - this.moved);
    this.moved = time;
    this.shown += (this.now - this.shown) * (1 - Math.exp(-passed / 500));
    this.place();
    if (Math.abs(this.now - this.shown) > this.span / this.width / 2) {
      this.frame = requestAnimationFrame((next) => this.move(next));
    }
  }

  place() {
    const { width, height, shown, span } = this;
    const right = shown + this.margin;
    const x = (at) => ((at - (right - span)) / span) * width;
    for (const lane of this.lanes.values()) {
      const from = Math.max(-20, Math.min(width + 20, x(lane.open)));
      const to = Math.max(-20, Math.min(width + 20, x(lane.close)));
      lane.band.setAttribute("x", lane.instant ? from - 9 : Math.min(from, width));
      lane.band.setAttribute("width", lane.instant ? 18 : Math.max(5, to - from));
      for (const [at, dot] of lane.known) {
        dot.setAttribute("cx", x(at).toFixed(1));
        const ahead = at >= lane.close || at > this.now;
        dot.setAttribute("class", `dot ${ahead ? "ahead" : at < lane.open ? "gone" : "inside"}`);
      }
    }
    const base = height - AXIS + 6;
    for (const [at, mark] of this.ticks) mark.setAttribute("transform", `translate(${x(at).toFixed(1)} ${base})`);
    const marks = timeTicks(right - span, right, width / 120);
    this.grid.replaceChildren(
      s("line", { class: "axis-line", x1: 0, x2: width, y1: base - 1, y2: base - 1 }),
      ...marks.found.flatMap((at) => [
        s("line", { class: "grid", x1: x(at), x2: x(at), y1: TOP - 6, y2: base - 1 }),
        x(at) > 28 && x(at) < width - 28 ? s("text", { class: "axis", x: x(at), y: height - 6, "text-anchor": "middle" },
          timeLabel(at, marks.step)) : "",
      ]));
    this.nowLine.setAttribute("x1", x(shown));
    this.nowLine.setAttribute("x2", x(shown));
    this.nowLine.setAttribute("y2", base - 1);
    this.nowText.setAttribute("x", x(shown) - 7);
    setText(this.nowText, `event time ${clock(this.now)}`);
  }
}

// Windows that are not stretches of time, drawn as the time that what they hold takes up.
function bounds(window, now) {
  const { kind, width, messages } = window;
  const past = messages.filter(({ at }) => at <= now);
  if (kind === "now") {
    // Its content is that of one instant: a slim mark about the latest message that was evaluated.
    const at = Number.isFinite(window.open) ? window.open : past.at(-1)?.at ?? now;
    window.open = at;
    window.close = at + 1;
    window.instant = true;
    return;
  }
  if (kind === "elements") window.open = past.at(-width)?.at ?? past[0]?.at ?? now;
  else if (kind === "triples") window.open = latest(past, width)?.at ?? now;
  else if (Number.isFinite(window.open)) return;
  else if (kind === "range") window.open = now - width;
  else window.open = -Infinity;
  window.close = now + 1;
}

function latest(messages, triples) {
  let left = triples;
  return messages.findLast((message) => (left -= message.triples) <= 0) ?? messages[0];
}
