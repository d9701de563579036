// The editor card: dialect, name, checking while one writes, translating and running.

import { Problem, pathOf, post } from "./api.js";
import { byId, h } from "./dom.js";
import { notice } from "./dialogs.js";
import { Editor } from "./editor.js";
import { ensureStream, openExamples } from "./examples.js";
import { tail } from "./format.js";
import { DIALECTS } from "./queries.js";

const CHOICES = ["auto", "rspql", "cqels", "csparql", "sparqlstream"];
const PAUSE = 350;
const DRAFT = "weir-draft";

export class Compose {
  constructor({ onRegistered }) {
    this.onRegistered = onRegistered;
    this.message = byId("editor-message");
    this.editor = new Editor(byId("editor"), { label: "Query", onChange: () => this.later(), onRun: () => this.run() });
    byId("dialects").append(...CHOICES.map((value) => h("label", null,
      h("input", { type: "radio", name: "dialect", value, checked: value === "auto", onchange: () => this.later() }),
      h("span", null, DIALECTS[value]))));
    const translate = byId("translate");
    translate.append(h("option", { value: "" }, "Translate…"), ...CHOICES.slice(1).map((value) =>
      h("option", { value }, DIALECTS[value])));
    translate.addEventListener("change", () => { this.translate(translate.value); translate.value = ""; });
    byId("run").addEventListener("click", () => this.run());
    byId("examples-button").addEventListener("click", () => this.examples());
    this.editor.text = sessionStorage.getItem(DRAFT) ?? "";
  }

  get dialect() {
    return document.querySelector("input[name=dialect]:checked").value;
  }

  set dialect(value) {
    const wanted = CHOICES.includes(value) ? value : "auto";
    document.querySelector(`input[name=dialect][value=${wanted}]`).checked = true;
  }

  open(text, dialect) {
    this.dialect = dialect;
    this.editor.text = text;
    byId("editor-card").scrollIntoView({ block: "nearest" });
    this.editor.area.focus();
    this.editor.area.setSelectionRange(0, 0);
  }

  examples() {
    openExamples({ onOpen: ({ text, dialect }) => this.open(text, dialect), onStarted: (id, { text, dialect }) => {
      this.dialect = dialect;
      this.editor.text = text;
      this.onRegistered(id);
    } });
  }

  later() {
    sessionStorage.setItem(DRAFT, this.editor.text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PAUSE);
  }

  // Answers to earlier texts are dropped: only the text as it stands is judged.
  async check() {
    const text = this.editor.text;
    if (!text.trim()) return this.say(null);
    this.asked?.abort();
    this.asked = new AbortController();
    try {
      const found = await post("api/parse", { text, dialect: this.dialect }, { signal: this.asked.signal });
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
      this.message.replaceChildren(name ? `Reads as ${name}.` : "");
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
    if (!text.trim()) return;
    const body = { text, dialect: this.dialect };
    try {
      const { id, name } = await post("api/queries", body);
      this.say(null, { dialect: this.dialect === "auto" ? undefined : this.dialect });
      notice(`${name ?? id} is running.`);
      this.onRegistered(id);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.stream) this.offerStream(error);
      else this.say(error);
      if (error.line) this.editor.reveal();
    }
  }

  // A query over a stream that is not there yet: one click adds the stream and runs it.
  offerStream({ stream, message }) {
    notice(message, { bad: true, action: { label: `Add ${tail(stream)} and run`, run: async () => {
      await ensureStream(stream);
      await this.run();
    } } });
  }
}
