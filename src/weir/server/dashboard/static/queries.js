// The registered queries as a list box: one stop of the Tab key, arrows inside it.

import { h, patch, setText } from "./dom.js";
import { plural } from "./format.js";

export const DIALECTS = { auto: "Auto", rspql: "RSP-QL", cqels: "CQELS-QL", csparql: "C-SPARQL",
  sparqlstream: "SPARQLstream", sparql: "SPARQL" };

export class Queries {
  constructor(host, counter, { onSelect, onDrop }) {
    Object.assign(this, { host, counter, onSelect, onDrop });
    this.list = h("ul", { class: "list", role: "listbox", "aria-labelledby": "queries-title" });
    this.list.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) onSelect(option.dataset.id);
    });
    this.empty = h("p", { class: "empty" }, "None yet.");
    this.options = new Map();
  }

  update(queries, selected) {
    setText(this.counter, queries.length ? String(queries.length) : "");
    patch(this.host, queries.length ? "list" : "empty", () => (queries.length ? this.list : this.empty));
    const wanted = new Set(queries.map((query) => query.id));
    for (const [id, option] of this.options) {
      if (wanted.has(id)) continue;
      const near = option.node.nextElementSibling ?? option.node.previousElementSibling;
      if (option.node === document.activeElement) near?.focus();
      option.node.remove();
      this.options.delete(id);
    }
    for (const query of queries) this.option(query, query.id === selected);
    const chosen = this.options.get(selected)?.node ?? this.list.firstElementChild;
    for (const { node } of this.options.values()) {
      node.tabIndex = node === (this.list.contains(document.activeElement) ? document.activeElement : chosen) ? 0 : -1;
    }
  }

  option(query, chosen) {
    let option = this.options.get(query.id);
    if (!option) {
      option = { name: h("span", { class: "item-name" }), facts: h("span", { class: "item-facts" }), dot: h("i") };
      option.node = h("li", { role: "option", "data-id": query.id, class: "item" },
        option.dot, h("span", { class: "item-body" }, option.name, option.facts));
      this.options.set(query.id, option);
      this.list.append(option.node);
    }
    option.node.setAttribute("aria-selected", String(chosen));
    option.dot.className = `state ${query.failed ? "failed" : query.paused ? "paused" : "running"}`;
    setText(option.name, query.name ?? query.id);
    setText(option.facts, `${DIALECTS[query.dialect] ?? query.dialect} · ${query.failed ? "failed" : query.paused ? "paused" : plural(query.position, "result")}`);
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
