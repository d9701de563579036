// The registered queries: searched, sorted and filtered by the server, so that ten thousand are as light as ten.
// A list box is one stop of the Tab key, with arrows inside it.

import { h, patch, setText } from "./dom.js";
import { bytes, count, plural, seconds } from "./format.js";

export const DIALECTS = { auto: "Auto", rspql: "RSP-QL", cqels: "CQELS-QL", csparql: "C-SPARQL",
  sparqlstream: "SPARQLstream", sparql: "SPARQL" };
const PAGE = 50;
const FEW = 8;
const SORTS = [["", "as registered"], ["since", "newest"], ["name", "name"], ["seconds", "time of work"], ["rows", "rows kept"],
  ["bytes", "memory"], ["results", "results"]];
const STATES = [["", "all"], ["running", "running"], ["paused", "paused"], ["failed", "failed"]];

export class Queries {
  constructor(host, counter, { onSelect, onDrop, onAsk }) {
    Object.assign(this, { host, counter, onSelect, onDrop, most: PAGE });
    this.list = h("ul", { class: "list bounded", role: "listbox", "aria-labelledby": "queries-title" });
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) onSelect(option.dataset.id);
    });
    const asked = () => { this.most = PAGE; clearTimeout(this.timer); this.timer = setTimeout(onAsk, 150); };
    this.search = h("input", { type: "search", id: "query-search", "aria-label": "Search the queries", placeholder: "Search",
      autocomplete: "off", spellcheck: "false", oninput: asked });
    const pick = (label, choices) => h("select", { class: "quiet-select", "aria-label": label, onchange: asked },
      choices.map(([value, name]) => h("option", { value }, name)));
    this.status = pick("Show queries that are", STATES);
    this.sort = pick("Sort the queries by", SORTS);
    this.tools = h("div", { class: "list-tools", role: "search" }, this.search, this.status, this.sort);
    this.more = h("button", { type: "button", class: "quiet more-button", onclick: () => { this.most += PAGE; onAsk(); } });
    this.empty = h("p", { class: "empty" });
    this.slot = h("div");
    this.host.append(this.tools, this.slot, this.more);
    this.options = new Map();
  }

  // What to ask the server for.
  get asked() {
    const asked = new URLSearchParams({ limit: this.most });
    if (this.search.value.trim()) asked.set("search", this.search.value.trim());
    if (this.status.value) asked.set("status", this.status.value);
    if (this.sort.value) asked.set("sort", this.sort.value);
    return asked;
  }

  update({ queries, total, counts }, selected) {
    const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
    setText(this.counter, all ? `${count(all)}${counts.failed ? ` · ${count(counts.failed)} failed` : ""}` : "");
    this.tools.hidden = all < FEW && !this.search.value && !this.status.value && !counts.failed;
    STATES.forEach(([value, name], i) => setText(this.status.options[i], value ? `${name} ${count(counts[value])}` : `${name} ${count(all)}`));
    setText(this.empty, all ? "None matches." : "None yet.");
    this.more.hidden = total <= queries.length;
    setText(this.more, `${count(queries.length)} of ${count(total)}: show more`);
    patch(this.slot, queries.length ? "list" : "empty", () => (queries.length ? this.list : this.empty));
    const wanted = new Set(queries.map((query) => query.id));
    for (const [id, option] of this.options) {
      if (wanted.has(id)) continue;
      const near = option.node.nextElementSibling ?? option.node.previousElementSibling;
      if (option.node === document.activeElement) near?.focus();
      option.node.remove();
      this.options.delete(id);
    }
    queries.forEach((query, place) => this.option(query, query.id === selected, place));
    const chosen = this.options.get(selected)?.node ?? this.list.firstElementChild;
    for (const { node } of this.options.values()) {
      node.tabIndex = node === (this.list.contains(document.activeElement) ? document.activeElement : chosen) ? 0 : -1;
    }
  }

  mark(selected) {
    for (const [id, { node }] of this.options) node.setAttribute("aria-selected", String(id === selected));
  }

  option(query, chosen, place) {
    let option = this.options.get(query.id);
    if (!option) {
      option = { name: h("span", { class: "item-name" }), facts: h("span", { class: "item-facts" }), cost: h("span", { class: "item-cost" }),
        dot: h("i") };
      option.node = h("li", { role: "option", "data-id": query.id, class: "item" },
        option.dot, h("span", { class: "item-body" }, option.name, option.facts), option.cost);
      this.options.set(query.id, option);
    }
    if (this.list.children[place] !== option.node) this.list.insertBefore(option.node, this.list.children[place] ?? null);
    option.node.setAttribute("aria-selected", String(chosen));
    option.dot.className = `state ${query.failed ? "failed" : query.paused ? "paused" : "running"}`;
    setText(option.name, query.name ?? query.id);
    option.node.title = query.name ?? query.id;
    const state = query.failed ? `failed: ${query.reason}` : query.paused ? "paused" : plural(query.position, "result");
    setText(option.facts, `${DIALECTS[query.dialect] ?? query.dialect} · ${state}`);
    setText(option.cost, cost(query, this.sort.value));
  }

  key(event) {
    const nodes = [...this.list.children];
    const at = nodes.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: nodes.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      const next = nodes[Math.max(0, Math.min(nodes.length - 1, to))];
      for (const node of nodes) node.tabIndex = node === next ? 0 : -1;
      next?.focus();
    } else if (at >= 0 && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      this.onSelect(nodes[at].dataset.id);
    } else if (at >= 0 && event.key === "Delete") {
      this.onDrop(nodes[at].dataset.id);
    }
  }
}

// What the list is sorted by, or else the time of work.
function cost(query, by) {
  if (by === "rows") return `${count(query.rows)} rows`;
  if (by === "bytes") return bytes(query.bytes);
  if (by === "results") return count(query.results);
  return seconds(query.seconds);
}
