// The static graphs: how large they are, loading, updating, and asking them.

import { call, pathOf, post, remove, text } from "./api.js";
import { button, h, patch } from "./dom.js";
import { confirmed, notice, openDialog } from "./dialogs.js";
import { save } from "./downloads.js";
import { plural, prefixesOf, tail, termFull, termNote, termText } from "./format.js";
import { attempt } from "./streams.js";

const TYPES = { ttl: "text/turtle", nt: "application/n-triples", nq: "application/n-quads", trig: "application/trig",
  jsonld: "application/ld+json", json: "application/ld+json", rdf: "application/rdf+xml", xml: "application/rdf+xml" };
const SHOWN = 500;
const FIRST = "SELECT ?s ?p ?o\nWHERE { ?s ?p ?o }\nLIMIT 100";

export class Graphs {
  constructor(host, counter, onChange) {
    Object.assign(this, { counter, onChange });
    this.slot = h("div");
    this.question = FIRST;
    host.append(this.slot, h("div", { class: "row-actions" },
      h("button", { type: "button", class: "quiet", onclick: () => this.load() }, "Load…"),
      h("button", { type: "button", class: "quiet", onclick: () => this.change() }, "Update…"),
      h("button", { type: "button", class: "quiet", onclick: () => this.ask(this.question) }, "Ask…")));
  }

  update(graphs) {
    this.graphs = graphs;
    const shown = graphs.filter(({ iri, triples }) => iri || triples);
    this.counter.textContent = shown.length || "";
    patch(this.slot, JSON.stringify(shown), () => (shown.length ? h("ul", { class: "list bounded" }, shown.map((graph) => this.item(graph)))
      : h("p", { class: "empty" }, "None yet. Queries join streams with what is loaded here.")));
  }

  item({ id, iri, triples }) {
    const name = iri ? tail(iri) : "default graph";
    const question = iri ? `SELECT ?s ?p ?o\nWHERE { GRAPH <${iri}> { ?s ?p ?o } }\nLIMIT 100` : FIRST;
    return h("li", { class: "item" },
      h("span", { class: "item-body" }, h("span", { class: "item-name", title: iri ?? name }, name),
        h("span", { class: "item-facts" }, plural(triples, "triple"))),
      button("look", `Ask the graph ${name}`, () => this.ask(question)),
      button("drop", `Clear the graph ${name}`, () => this.clear(id, name)));
  }

  async clear(id, name) {
    if (!await confirmed("Clear the graph?", `All triples of ${name} are removed.`, "Clear")) return;
    await attempt(() => remove(pathOf("graphs", id)));
    this.onChange();
  }

  load() {
    const iri = h("input", { id: "graph-iri", type: "text", placeholder: "empty: the default graph", spellcheck: "false" });
    const file = h("input", { id: "graph-file", type: "file", accept: Object.keys(TYPES).map((end) => `.${end}`).join(",") });
    const url = h("input", { id: "graph-url", type: "text", placeholder: "https://…  (of an allowed host)", spellcheck: "false" });
    const written = h("textarea", { id: "graph-text", rows: 5, spellcheck: "false", placeholder: "<http://example.org/hall> a <http://example.org/Room> ." });
    const whole = h("input", { id: "graph-whole", type: "checkbox" });
    const form = h("form", { class: "dialog-body box" },
      h("label", { for: "graph-iri" }, "IRI of the graph"), iri,
      h("label", { for: "graph-file" }, "A file"), file,
      h("label", { for: "graph-url" }, "or an address"), url,
      h("label", { for: "graph-text" }, "or Turtle"), written,
      h("label", { class: "check" }, whole, "In place of what the graph has"),
      h("div", { class: "dialog-actions" }, h("button", { type: "submit", class: "primary" }, "Load the graph")));
    const dialog = openDialog("Load a graph", form, { wide: true });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const chosen = file.files[0];
      const ending = chosen?.name.split(".").pop().toLowerCase();
      const body = url.value.trim() && !chosen ? { url: url.value.trim() } : chosen ? await chosen.arrayBuffer() : written.value;
      const type = body.url ? "application/json" : chosen ? TYPES[ending] ?? "text/turtle" : "text/turtle";
      const named = iri.value.trim();
      const known = this.graphs.find((graph) => (graph.iri ?? "") === named);
      const id = known?.id ?? idOf(named);
      const path = `${pathOf("graphs", id)}${named && !known ? `?iri=${encodeURIComponent(named)}` : ""}`;
      if (!await attempt(() => call(whole.checked ? "PUT" : "POST", path, body, { type }))) return;
      dialog.close();
      notice(`Loaded into ${named || "the default graph"}.`);
      this.onChange();
    });
  }

  change() {
    const request = h("textarea", { id: "graph-update", class: "code", rows: 8, spellcheck: "false", autofocus: true,
      placeholder: "INSERT DATA { GRAPH <http://example.org/rooms> { <http://example.org/hall> <http://example.org/seats> 40 } }" });
    const form = h("form", { class: "dialog-body box" },
      h("label", { for: "graph-update" }, "SPARQL Update: INSERT DATA and DELETE DATA"), request,
      h("div", { class: "dialog-actions" }, h("button", { type: "submit", class: "primary" }, "Apply")));
    const dialog = openDialog("Update the graphs", form, { wide: true });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const done = await attempt(() => post("api/graphs/update", request.value, { type: "application/sparql-update" }));
      if (!done) return;
      dialog.close();
      notice(done.update ? "The graphs are updated; running queries see it." : "Nothing changed.");
      this.onChange();
    });
  }

  ask(question) {
    const area = h("textarea", { id: "graph-query", class: "code", rows: 7, spellcheck: "false", autofocus: true, value: question });
    const answer = h("div", { class: "answer", role: "status", tabindex: 0, "aria-label": "Answer" });
    const form = h("form", { class: "dialog-body box" },
      h("label", { for: "graph-query" }, "SPARQL over the graphs as they stand"), area,
      h("div", { class: "dialog-actions" },
        h("button", { type: "button", class: "quiet", onclick: () => this.take(area.value) }, "Download"),
        h("button", { type: "submit", class: "primary" }, "Ask")), answer);
    const run = async () => {
      this.question = area.value;
      answer.replaceChildren(h("p", { class: "muted" }, "Asking…"));
      answer.replaceChildren(await answered(area.value));
    };
    form.addEventListener("submit", (event) => { event.preventDefault(); run(); });
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
    });
    openDialog("Ask the graphs", form, { widest: true });
  }

  async take(question) {
    const type = graphed(question) ? "text/turtle" : "text/csv";
    const found = await attempt(() => text("sparql", type, { body: question, type: "application/sparql-query" }));
    if (found) save(new Blob([found.body], { type }), type === "text/csv" ? "answer.csv" : "answer.ttl");
  }
}

const graphed = (question) => /^\s*(?:#.*\n|(?:PREFIX|BASE)\b[^\n]*\n|\s)*(?:CONSTRUCT|DESCRIBE)\b/i.test(question);

async function answered(question) {
  try {
    const type = graphed(question) ? "text/turtle" : "application/sparql-results+json";
    const { body } = await text("sparql", type, { body: question, type: "application/sparql-query" });
    if (type === "text/turtle") return h("pre", { class: "plan-text" }, body.slice(0, 200000) || "No triples.");
    const found = JSON.parse(body);
    if ("boolean" in found) return h("p", null, found.boolean ? "Yes." : "No.");
    const names = found.head.vars;
    const rows = found.results.bindings;
    const prefixes = prefixesOf(question);
    return h("div", { class: "results" }, h("p", { class: "muted" }, `${plural(rows.length, "solution")}${rows.length > SHOWN ? `, the first ${SHOWN} shown` : ""}`),
      h("table", null, h("thead", null, h("tr", null, names.map((name) => h("th", { scope: "col" }, `?${name}`)))),
        h("tbody", null, rows.slice(0, SHOWN).map((row) => h("tr", null, names.map((name) => h("td", { class: row[name]?.type, title: termFull(row[name]) },
          h("span", { class: "clamp" }, termText(row[name], prefixes)), h("span", { class: "datatype" }, termNote(row[name]) && ` ${termNote(row[name])}`))))))));
  } catch (error) {
    return h("p", { class: "bad-text" }, error.line ? `Line ${error.line}, column ${error.column}: ${error.message}` : error.sentence ?? String(error));
  }
}

function idOf(iri) {
  if (!iri) return "default";
  const end = tail(iri).replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40) || "graph";
  let code = 0;
  for (const letter of iri) code = (code * 31 + letter.codePointAt(0)) >>> 0;
  return `${end}-${code.toString(36)}`;
}
