// The editor card: dialect, name, checking while one writes, translating and running.

import { Problem, post } from "./api.js";
import { byId, h } from "./dom.js";
import { notice } from "./dialogs.js";
import { Completion } from "./complete.js";
import { Editor } from "./editor.js";
import { ensureStream, openExamples, run } from "./examples.js";
import { tail } from "./format.js";
import { DIALECTS } from "./queries.js";
import { attempt } from "./streams.js";

const CHOICES = ["auto", "rspql", "cqels", "csparql", "sparqlstream"];
const PAUSE = 350;
const DRAFT = "weir-draft";

export class Compose {
  constructor({ onRegistered, onChange, known }) {
    Object.assign(this, { onRegistered, onChange, known });
    this.message = byId("editor-message");
    this.editor = new Editor(byId("editor"), { label: "Query", onChange: () => this.later(), onRun: () => this.run() });
    byId("dialects").append(...CHOICES.map((value) => h("label", null,
      h("input", { type: "radio", name: "dialect", value, checked: value === "auto", onchange: () => { this.lent = false; this.later(); } }),
      h("span", null, DIALECTS[value]))));
    const translate = byId("translate");
    translate.append(h("option", { value: "" }, "Translate…"), ...CHOICES.slice(1).map((value) =>
      h("option", { value }, DIALECTS[value])));
    translate.addEventListener("change", () => { this.translate(translate.value); translate.value = ""; });
    byId("run").addEventListener("click", () => this.run());
    byId("examples-button").addEventListener("click", () => this.examples());
    this.completion = new Completion(this.editor, known);
    this.shown = null;
    this.editor.text = sessionStorage.getItem(DRAFT) ?? "";
    byId("new-query").addEventListener("click", () => this.open("", "auto"));
  }

  get dialect() {
    return document.querySelector("input[name=dialect]:checked").value;
  }

  set dialect(value) {
    const wanted = CHOICES.includes(value) ? value : "auto";
    document.querySelector(`input[name=dialect][value=${wanted}]`).checked = true;
  }

  // The chosen query stands in the editor; what was written there and not run is a step of Undo away.
  show(query) {
    const draft = this.editor.text.trim() && this.editor.text !== this.shown && this.editor.text.trim() !== query.text.trim();
    byId("draft").hidden = !draft;
    if (draft) {
      const { text, dialect } = { text: this.editor.text, dialect: this.dialect };
      byId("draft").onclick = () => { byId("draft").hidden = true; this.open(text, dialect); };
    }
    this.shown = query.text;
    this.dialect = query.dialect;
    this.lent = true;
    if (this.editor.text !== query.text) this.editor.text = query.text;
    this.heading(query);
  }

  // Whether the editor shows a query as it is registered, or something that is yet to be run.
  heading(query) {
    this.query = query ?? this.query;
    const same = this.query && this.editor.text.trim() === this.query.text.trim();
    byId("editor-title").textContent = same ? this.query.name ?? this.query.id : this.editor.text.trim() ? "Edited query" : "New query";
  }

  open(text, dialect) {
    this.dialect = dialect;
    this.editor.text = text;
    byId("editor-card").scrollIntoView({ block: "nearest" });
    this.editor.area.focus();
    this.editor.area.setSelectionRange(0, 0);
  }

  examples() {
    openExamples({ onOpen: ({ text, dialect }) => this.open(text, dialect), onRun: (example) => this.runExample(example) });
  }

  async runExample(example) {
    this.dialect = example.dialect;
    this.shown = example.text;
    this.editor.text = example.text;
    this.busy(true);
    const id = await run(example);
    this.busy(false);
    if (id !== null) this.onRegistered(id);
  }

  // What the server says of the text. A dialect that came with a chosen query is not insisted on: another text
  // may have taken its place.
  async asked(path, body, options) {
    try {
      return await post(path, { ...body, dialect: this.dialect }, options);
    } catch (error) {
      if (!(error instanceof Problem && error.line && this.lent)) throw error;
      const found = await post(path, { ...body, dialect: "auto" }, options).catch(() => { throw error; });
      this.dialect = "auto";
      this.lent = false;
      return found;
    }
  }

  later() {
    sessionStorage.setItem(DRAFT, this.editor.text);
    this.heading();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PAUSE);
  }

  // Answers to earlier texts are dropped: only the text as it stands is judged.
  async check() {
    const text = this.editor.text;
    if (!text.trim()) return this.say(null);
    this.asking?.abort();
    this.asking = new AbortController();
    try {
      const found = await this.asked("api/parse", { text }, { signal: this.asking.signal });
      if (text === this.editor.text) this.say(null, found);
    } catch (error) {
      if (error instanceof Problem && text === this.editor.text) this.say(error);
    }
    return undefined;
  }

  say(problem, found) {
    this.editor.show(problem?.line ? problem : null);
    this.message.className = problem ? "editor-message bad" : "editor-message";
    if (!problem) {
      const name = DIALECTS[found?.dialect] ?? found?.dialect;
      const missing = (found?.streams ?? []).filter((iri) => iri.includes(":") && !this.known().includes(iri));
      this.message.replaceChildren(name ? `Reads as ${name}.` : "", ...(found?.warnings ?? []).map((text) => h("span", null, text)),
        ...missing.map((iri) => h("button", { type: "button", class: "place", title: iri, onclick: () => this.addStream(iri) },
          `Add the stream ${tail(iri)}`)));
      return;
    }
    this.message.replaceChildren(
      problem.line ? h("button", { type: "button", class: "place", onclick: () => this.editor.reveal() },
        `Line ${problem.line}, column ${problem.column ?? 1}`) : "",
      h("span", null, problem.line ? problem.message : problem.sentence),
      problem.line && problem.hint ? h("span", { class: "hint" }, problem.hint) : "");
  }

  async translate(to) {
    if (!to || !this.editor.text.trim()) return;
    try {
      const { text } = await post("api/translate", { text: this.editor.text, to });
      this.open(typeof text === "string" ? text : String(text), to);
    } catch (error) {
      this.say(error);
    }
  }

  async run() {
    const text = this.editor.text;
    if (!text.trim() || byId("run").disabled) return;
    const name = byId("query-name").value.trim();
    this.busy(true);
    try {
      const made = await this.asked("api/queries", { text, ...(name ? { name } : {}) });
      this.say(null, { dialect: made.dialect, warnings: made.warnings });
      this.shown = text;
      byId("draft").hidden = true;
      byId("query-name").value = "";
      notice(`${made.name ?? made.id} is running.`);
      this.onRegistered(made.id);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.say(error);
      if (error.line) this.editor.reveal();
    } finally {
      this.busy(false);
    }
  }

  // A query begins with the next batch of the engine, which may take a moment.
  busy(waiting) {
    const run = byId("run");
    run.disabled = waiting;
    run.textContent = waiting ? "Starting…" : "Run";
  }

  async addStream(iri) {
    await attempt(() => ensureStream(iri));
    await this.onChange();
    await this.check();
  }
}
