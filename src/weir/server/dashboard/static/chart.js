// One numeric variable over event time, a line for each value of a key variable; the newest points only.

import { h, s } from "./dom.js";
import { count, number, prefixesOf, termText, timeOf } from "./format.js";
import { ticks, timeLabel, timeTicks } from "./scale.js";

const POINTS = 400;
const SERIES = 8;
const LEFT = 48;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 24;

export class Chart {
  constructor(card, host, tools) {
    Object.assign(this, { card, host, tools });
    this.clear(null);
    new ResizeObserver(() => this.later()).observe(host);
  }

  clear(query) {
    this.query = query;
    this.prefixes = prefixesOf(query?.text);
    this.series = new Map();
    this.kept = [];
    this.others = 0;
    this.value = null;
    this.key = null;
    this.tools.replaceChildren();
    this.host.replaceChildren(h("p", { class: "empty" }, !query ? "No query is selected."
      : query.numeric?.length ? "Numbers are drawn here as they come." : "A chart appears where a variable is numeric."));
    if (query?.numeric?.length) this.choose(query.numeric, query.variables ?? []);
  }

  choose(numeric, variables) {
    this.value = numeric[0];
    this.key = variables.find((name) => !numeric.includes(name)) ?? null;
    const pick = (label, names, chosen, onchange) => h("label", { class: "pick" }, h("span", null, label),
      h("select", { onchange }, names.map(([value, text]) =>
        h("option", { value, selected: value === (chosen ?? "") }, text))));
    const named = (names) => names.map((name) => [name, `?${name}`]);
    const keys = variables.filter((name) => name !== this.value);
    this.tools.replaceChildren(
      pick("show", named(numeric), this.value, (event) => this.reset("value", event.target.value)),
      keys.length ? pick("by", [["", "nothing"], ...named(keys)], this.key,
        (event) => this.reset("key", event.target.value || null)) : "");
  }

  reset(field, value) {
    this[field] = value;
    this.series = new Map();
    this.others = 0;
    for (const result of this.kept) this.plot(result);
    this.later();
  }

  add(result) {
    if (!result.bindings || result.op === "D") return;
    this.kept.push(result);
    if (this.kept.length > POINTS * 2) this.kept.splice(0, POINTS);
    if (!this.value) {
      const found = Object.keys(result.bindings).filter((name) => !Number.isNaN(number(result.bindings[name])));
      if (!found.length) return;
      this.choose(found, this.query?.variables?.length ? this.query.variables : Object.keys(result.bindings));
    }
    this.plot(result);
    this.later();
  }

  plot(result) {
    const y = number(result.bindings[this.value]);
    const x = timeOf(result.at);
    if (!Number.isFinite(y) || !Number.isFinite(x)) return;
    const name = this.key ? termText(result.bindings[this.key], this.prefixes) : `?${this.value}`;
    let points = this.series.get(name);
    if (!points) {
      if (this.series.size >= SERIES) {
        this.others += 1;
        return;
      }
      this.series.set(name, points = []);
    }
    points.push([x, y]);
    if (points.length > POINTS) points.shift();
  }

  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.series.size) this.draw();
    });
  }

  draw() {
    const width = Math.max(240, this.host.clientWidth);
    const height = Math.max(180, Math.min(260, Math.round(width * 0.42)));
    const all = [...this.series.values()].flat();
    let [low, high] = extent(all.map((point) => point[1]));
    if (low > 0 && low < high * 0.5) low = 0;
    if (low === high) {
      const beside = Math.max(1, Math.abs(low) * 1e-3);
      [low, high] = [low - beside, high + beside];
    }
    const values = ticks(low, high, 4);
    low = Math.min(low, Math.floor(low / values.step) * values.step);
    high = Math.max(high, Math.ceil(high / values.step) * values.step);
    let [from, to] = extent(all.map((point) => point[0]));
    if (from === to) [from, to] = [from - 1000, to + 1000];
    const x = (at) => LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT);
    const y = (value) => height - BOTTOM - ((value - low) / (high - low)) * (height - TOP - BOTTOM);
    const times = timeTicks(from, to, width / 110);
    const names = [...this.series.keys()];
    const drawing = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `?${this.value} over event time, ${names.length} lines, last ${all.at(-1)[1]}` },
      ticks(low, high, 4).found.map((value) => [
        s("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
        s("text", { class: "axis", x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, tickText(value)),
      ]),
      times.found.filter((at) => x(at) < width - 28).map((at) => s("text", { class: "axis", x: x(at), y: height - 6, "text-anchor": "middle" },
        timeLabel(at, times.step))),
      names.map((name, i) => line(this.series.get(name), x, y, i)));
    const legend = h("ul", { class: "chart-legend" }, names.map((name, i) => h("li", null,
      h("i", { class: `series-${i}` }), name, h("b", null, tickText(this.series.get(name).at(-1)[1])))),
      this.others ? h("li", { class: "muted" }, "and more, not drawn") : "");
    this.host.replaceChildren(drawing, legend);
  }
}

function line(points, x, y, index) {
  const sorted = [...points].sort((one, other) => one[0] - other[0]);
  const path = sorted.map(([at, value], i) => `${i ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const [at, value] = sorted.at(-1);
  return s("g", { class: `series-${index}` }, s("path", { class: "series", d: path }),
    s("circle", { cx: x(at), cy: y(value), r: 3.2 }));
}

function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

function tickText(value) {
  return Math.abs(value) >= 1e4 ? count(value) : String(Math.round(value * 1000) / 1000);
}
