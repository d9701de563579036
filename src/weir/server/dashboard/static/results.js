// Results as they come: a bounded table, newest first, that can be held still without losing its place.

import { h, setText } from "./dom.js";
import { clock, count, day, number, prefixesOf, shortIri, termFull, termNote, termText, timeOf } from "./format.js";

const ROWS = 200;
const LONG = 160;
const OPS = { R: "at this evaluation", I: "new", D: "gone" };

export class Results {
  constructor(host, onHold) {
    this.host = host;
    this.onHold = onHold;
    this.clear(null);
  }

  clear(query) {
    this.query = query;
    this.prefixes = prefixesOf(query?.text);
    this.waiting = [];
    this.skipped = 0;
    this.held = false;
    this.columns = query?.variables?.length ? query.variables : null;
    this.body = h("tbody");
    this.table = h("table", { "aria-label": "Latest results, newest first" }, this.head(), this.body);
    this.empty = h("p", { class: "empty" }, query ? "No results yet. They appear here as the query is evaluated."
      : "Write a query and run it, or start with an example.");
    this.host.replaceChildren(this.empty);
  }

  head() {
    const names = this.columns?.map((name) => `?${name}`) ?? [this.query?.form === "ASK" ? "answer" : "triples"];
    return h("thead", null, h("tr", null,
      ["time", "", ...names].map((name) => h("th", { scope: "col" }, name || h("span", { class: "hidden" }, "kind")))));
  }

  add(result) {
    this.waiting.push(result);
    if (this.waiting.length > ROWS) {
      this.waiting.shift();
      this.skipped += 1;
    }
    if (this.held) this.onHold(this.waiting.length + this.skipped);
    else this.frame ??= requestAnimationFrame(() => this.flush());
  }

  gap(missed) {
    this.add({ missed });
  }

  hold(held) {
    this.held = held;
    if (!held) this.flush();
    this.onHold(0);
  }

  flush() {
    this.frame = null;
    if (!this.waiting.length) return;
    if (this.empty.isConnected) this.host.replaceChildren(this.table);
    const rows = this.waiting.map((result) => this.row(result)).reverse();
    if (this.skipped) rows.push(this.note(`${count(this.skipped)} more results passed by unseen`));
    this.waiting = [];
    this.skipped = 0;
    this.body.prepend(...rows);
    while (this.body.childElementCount > ROWS) this.body.lastElementChild.remove();
  }

  note(text) {
    return h("tr", { class: "note" }, h("td", { colspan: (this.columns?.length ?? 1) + 2 }, text));
  }

  row(result) {
    if (result.missed) return this.note(`${count(result.missed)} results were missed: they came faster than they could be sent`);
    if (result.bindings && !this.columns) {
      this.columns = Object.keys(result.bindings);
      this.table.replaceChild(this.head(), this.table.tHead);
    }
    const at = timeOf(result.at);
    return h("tr", { class: "fresh" },
      h("td", { class: "time", title: `${day(at)} ${clock(at, true)} UTC` }, clock(at, at % 1000 !== 0)),
      h("td", null, h("span", { class: `op op-${result.op}`, title: OPS[result.op] ?? "" },
        { R: "•", I: "+", D: "−" }[result.op] ?? "")),
      this.cells(result));
  }

  cells(result) {
    if (result.bindings) return this.columns.map((name) => this.cell(result.bindings[name]));
    if (result.triples) return h("td", { class: "triples" }, result.triples.map((line) => h("div", null, this.triple(line))));
    return h("td", null, String(result.boolean ?? ""));
  }

  triple(line) {
    return line.replace(/<([^<>\s]*)>/g, (whole, iri) => {
      const short = shortIri(iri, this.prefixes);
      return short === iri ? whole : short;
    });
  }

  cell(term) {
    if (!term) return h("td", { class: "unbound" }, "");
    const note = termNote(term);
    const kind = Number.isNaN(number(term)) ? term.type : "numeric";
    const text = termText(term, this.prefixes);
    return h("td", { class: kind, title: text.length > LONG ? null : termFull(term) }, text.length > LONG ? clamped(text) : text,
      note && h("span", { class: "datatype" }, ` ${note}`));
  }
}

// A long literal shows its beginning; a click shows the whole of it, or its beginning again.
function clamped(text) {
  const flip = () => {
    const open = node.getAttribute("aria-expanded") !== "true";
    node.setAttribute("aria-expanded", String(open));
    node.textContent = open ? text : `${text.slice(0, LONG)}… `;
    if (!open) node.append(h("span", { class: "more" }, `${count(text.length)} characters`));
  };
  const node = h("button", { type: "button", class: "long", "aria-expanded": "true", onclick: flip });
  flip();
  return node;
}

export function stateText(node, state, waiting) {
  const text = { connecting: "connecting…", live: "live", waiting: "reconnecting…", gone: "dropped" }[state] ?? "";
  node.dataset.state = state ?? "";
  setText(node, waiting ? `${text} · ${count(waiting)} new` : text);
}
