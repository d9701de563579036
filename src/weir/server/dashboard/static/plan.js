// The plan as a graph that flows downwards, from the windows and graphs to what is sent out; row counts live.

import { h, s, setText } from "./dom.js";
import { plural } from "./format.js";
import { layered } from "./layers.js";

const HEIGHT = 42;
const GAP = 18;
const DROP = 34;
const WIDEST = 280;
const NARROWEST = 124;
const LETTER = 6.7;

export class Plan {
  constructor(host, views) {
    this.host = host;
    this.view = "graph";
    views.append(...[["graph", "Graph"], ["text", "Text"]].map(([value, label]) => h("label", null,
      h("input", { type: "radio", name: "plan-view", value, checked: value === "graph",
        onchange: () => { this.view = value; this.draw(); } }), h("span", null, label))));
    this.clear(null);
  }

  clear(query) {
    this.explained = null;
    this.counts = new Map();
    this.host.replaceChildren(h("p", { class: "empty" }, query ? "The plan is being read…" : "No query is selected."));
  }

  show(explained) {
    const same = this.explained && JSON.stringify(shape(this.explained)) === JSON.stringify(shape(explained));
    this.explained = explained;
    if (!same) this.draw();
    else if (this.routing) setText(this.routing, routingText(explained.routing));
  }

  // `operators` of the activity: live row counts, and which of several was chosen last.
  update(operators) {
    for (const { id, rows, kept, chosen } of operators ?? []) {
      const node = this.counts.get(id);
      if (!node) continue;
      setText(node.text, rowsText(rows, node.kind, kept));
      node.group.classList.toggle("chosen", Boolean(chosen));
    }
  }

  draw() {
    if (!this.explained) return;
    this.counts = new Map();
    this.routing = h("p", { class: "routing" }, routingText(this.explained.routing));
    const body = this.view === "text" ? h("pre", { class: "plan-text", tabindex: 0 }, this.explained.text ?? "")
      : this.graph(this.explained.plan ?? { nodes: [], edges: [] });
    const drawn = this.explained.plan?.nodes ?? [];
    this.host.replaceChildren(...(this.view === "text" ? [body] : [drawn.length ? legend(drawn) : "", body, this.routing]));
  }

  graph({ nodes, edges }) {
    if (!nodes.length) return h("p", { class: "empty" }, "This query has no plan to draw.");
    const { rows, edges: kept } = layered(nodes, edges);
    const size = (node) => Math.max(NARROWEST, Math.min(WIDEST, String(node.label).length * LETTER + 26));
    const spans = rows.map((row) => row.reduce((sum, node) => sum + size(node) + GAP, -GAP));
    const width = Math.max(...spans) + 4;
    const height = rows.length * (HEIGHT + DROP) - DROP + 4;
    const at = new Map();
    rows.forEach((row, i) => {
      let x = (width - spans[i]) / 2;
      for (const node of row) {
        at.set(node.id, { x, y: 2 + i * (HEIGHT + DROP), width: size(node) });
        x += size(node) + GAP;
      }
    });
    const drawing = s("svg", { class: "plan", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `The plan: ${nodes.map((node) => node.label).join(", ")}` },
      kept.map(([from, to]) => s("path", { class: "edge", d: curve(at.get(from), at.get(to)) })),
      nodes.map((node) => this.node(node, at.get(node.id))));
    return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Plan graph" }, drawing);
  }

  node({ id, label, kind, rows, kept }, { x, y, width }) {
    const text = s("text", { class: "rows", x: 13, y: 32 }, rowsText(rows, kind, kept));
    const group = s("g", { class: `node kind-${slug(family(kind))}`, transform: `translate(${x} ${y})`, "data-id": id },
      s("title", null, `${label}${kind ? ` (${kind})` : ""}`),
      s("rect", { width, height: HEIGHT, rx: 9 }), s("path", { class: "rim", d: `M1.5 10v${HEIGHT - 20}` }),
      s("text", { class: "node-label", x: 13, y: 18 }, clip(String(label), (width - 24) / LETTER)), text);
    this.counts.set(id, { text, group, kind });
    return group;
  }
}

function shape({ plan, text }) {
  return [plan?.nodes?.map(({ id, label, kind }) => [id, label, kind]), plan?.edges, text];
}

function rowsText(rows, kind, kept) {
  const known = rows !== null && rows !== undefined;
  return known ? `${plural(rows, kind === "output" ? "result" : "row")} ${kept ? "kept" : kind === "output" ? "sent" : "given"}` : kind ?? "";
}

const KINDS = [["window", "stream pattern"], ["static", "graph"], ["service", "endpoint"], ["join", "join"], ["filter", "filter, bind"],
  ["group", "group, order"], ["output", "sent out"]];

// What the colours and the numbers mean; only kinds that are there.
function legend(nodes) {
  const there = new Set(nodes.map(({ kind }) => family(kind)));
  return h("ul", { class: "plan-legend", "aria-label": "Legend" },
    KINDS.filter(([kind]) => there.has(kind)).map(([kind, name]) => h("li", null, h("i", { class: `kind-${kind}` }), name)),
    h("li", null, h("i", { class: "legend-chosen" }), "route taken most"),
    h("li", null, h("b", null, "kept"), " now, ", h("b", null, "given"), " since the job started"));
}

function family(kind) {
  return { extend: "filter", project: "filter", orderby: "group", distinct: "group", slice: "group", leftjoin: "join", minus: "join",
    union: "join", values: "static", stream: "window" }[kind] ?? kind;
}

function routingText(routing) {
  if (!routing) return "";
  return typeof routing === "string" ? routing : Object.entries(routing).map(([key, value]) => `${key}: ${value}`).join(" · ");
}

function slug(kind) {
  return String(kind ?? "operator").toLowerCase().replace(/[^a-z]+/g, "-");
}

function clip(text, most) {
  return text.length > most + 1 ? `${text.slice(0, Math.floor(most) - 1)}…` : text;
}

function curve(from, to) {
  const [x1, y1, x2, y2] = [from.x + from.width / 2, from.y + HEIGHT, to.x + to.width / 2, to.y];
  const bend = Math.max(14, (y2 - y1) / 2);
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}
