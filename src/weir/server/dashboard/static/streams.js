// Streams with their rate, lag and recent past; a box to push messages, and one to add a stream.

import { Problem, pathOf, post, remove } from "./api.js";
import { button, h, patch, s, setText } from "./dom.js";
import { confirmed, notice } from "./dialogs.js";
import { feeding, resumeFeeds, stopFeed } from "./feeds.js";
import { count, seconds, tail } from "./format.js";

const SAMPLES = 60;
const FORMATS = [["application/x-tnq", "TNQ (time, tab, statement)"], ["text/turtle", "Turtle"],
  ["application/trig", "TriG"], ["application/n-quads", "N-Quads"], ["application/n-triples", "N-Triples"],
  ["application/ld+json", "JSON-LD"]];

export class Streams {
  constructor(host, counter, onChange) {
    Object.assign(this, { host, counter, onChange });
    this.items = new Map();
    this.known = [];
    this.list = h("ul", { class: "list" });
    this.empty = h("p", { class: "empty" }, "None yet. Running an example adds one.");
    this.slot = h("div");
    this.host.append(this.slot, this.pushBox(), this.addBox());
  }

  update(streams) {
    setText(this.counter, streams.length ? String(streams.length) : "");
    patch(this.slot, streams.length ? "list" : "empty", () => (streams.length ? this.list : this.empty));
    this.known = streams.map((stream) => stream.iri);
    const wanted = new Set(streams.map((stream) => stream.id));
    for (const [id, item] of this.items) {
      if (wanted.has(id)) continue;
      item.node.remove();
      this.items.delete(id);
    }
    for (const stream of streams) this.item(stream);
    const pushed = streams.filter(({ backlog }) => backlog !== null && backlog !== undefined);
    patch(this.target, JSON.stringify(pushed.map(({ id }) => id)), () => pushed.map(({ id, iri }) =>
      h("option", { value: id }, tail(iri ?? id))));
    this.pushButton.disabled = !pushed.length;
    resumeFeeds(pushed.map(({ id }) => id), (error) => notice(error.sentence ?? String(error), { bad: true }));
  }

  item(stream) {
    let item = this.items.get(stream.id);
    if (!item) item = this.make(stream);
    item.rates.push(stream.rate ?? 0);
    if (item.rates.length > SAMPLES) item.rates.shift();
    setText(item.rate, `${count(stream.rate ?? 0)}/s`);
    const facts = [];
    if (stream.latency !== null && stream.latency !== undefined) facts.push(`latency ${seconds(stream.latency)}`);
    if (stream.lag !== null && stream.lag !== undefined) facts.push(`lag ${seconds(stream.lag)}`);
    facts.push(`${count(stream.messages)} messages`);
    if (stream.late) facts.push(`${count(stream.late)} late`);
    if (stream.waiting) facts.push(`${count(stream.waiting)} waiting`);
    if (stream.source !== "push" && stream.source !== "log") facts.push(`from ${stream.address ?? stream.source}`);
    setText(item.facts, facts.join(" · "));
    item.stop.hidden = !feeding(stream.id);
    item.line.setAttribute("d", spark(item.rates));
  }

  make(stream) {
    const { id, iri } = stream;
    const item = { rates: [], rate: h("span", { class: "rate" }), facts: h("span", { class: "item-facts" }),
      line: s("path"), stop: button("stop", `Stop the sample on ${tail(iri ?? id)}`, () => this.stop(id), { hidden: true }) };
    item.stop.classList.add("feeding");
    item.node = h("li", { class: "item stream", "data-id": id },
      h("span", { class: "item-body" },
        h("span", { class: "item-line" }, h("span", { class: "item-name", title: iri ?? id }, tail(iri ?? id)),
          s("svg", { class: "spark", viewBox: "0 0 60 20", preserveAspectRatio: "none", "aria-hidden": "true" }, item.line),
          item.rate),
        item.facts),
      item.stop, button("drop", `Delete the stream ${tail(iri ?? id)}`, () => this.drop(stream)));
    this.items.set(id, item);
    this.list.append(item.node);
    return item;
  }

  stop(id) {
    stopFeed(id);
    this.items.get(id).stop.hidden = true;
  }

  async drop({ id, iri }) {
    const sure = await confirmed("Delete the stream?", `${iri ?? id} and what was pushed to it are deleted.`, "Delete");
    if (!sure) return;
    stopFeed(id);
    await attempt(() => remove(pathOf("streams", id)));
    this.onChange();
  }

  pushBox() {
    this.target = h("select", { id: "push-stream" });
    this.format = h("select", { id: "push-format" }, FORMATS.map(([value, text]) => h("option", { value }, text)));
    this.message = h("textarea", { id: "push-text", rows: 4, spellcheck: "false", wrap: "off",
      placeholder: "<http://example.org/anna> <http://example.org/in> <http://example.org/hall> ." });
    this.pushButton = h("button", { type: "submit", class: "primary" }, "Push");
    const form = h("form", { class: "box" },
      h("label", { for: "push-stream" }, "Stream"), this.target,
      h("label", { for: "push-format" }, "Format"), this.format,
      h("label", { for: "push-text" }, "Message"), this.message,
      h("div", { class: "box-actions" }, h("span", { class: "muted" }, "Ctrl+Enter pushes"), this.pushButton));
    form.addEventListener("submit", (event) => { event.preventDefault(); this.push(); });
    this.message.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.push(); }
    });
    return h("details", { class: "fold", id: "push" }, h("summary", null, "Push messages"), form);
  }

  // Lines of TNQ without a time get the present, so that a statement alone can be pushed.
  async push() {
    const stamp = Date.now();
    const text = this.format.value === "application/x-tnq" ? this.message.value.split("\n").filter((line) => line.trim())
      .map((line) => (/^\s*[^\s<_]+\t/.test(line) ? line : `${stamp}\t${line}`)).join("\n") + "\n" : this.message.value;
    if (!text.trim() || !this.target.value) return;
    const done = await attempt(() => post(pathOf("streams", this.target.value, "messages"), text, { type: this.format.value }));
    if (!done) return;
    const bad = done.rejected?.length ?? 0;
    notice(`${count(done.accepted ?? 1)} pushed to ${this.target.selectedOptions[0].textContent}${
      bad ? `, ${bad} not: line ${done.rejected[0].line}, ${done.rejected[0].reason}` : "."}`, { bad: bad > 0 });
    this.onChange();
  }

  addBox() {
    const iri = h("input", { id: "add-iri", type: "text", required: true, placeholder: "http://example.org/badges",
      autocomplete: "off", spellcheck: "false" });
    const line = (id, placeholder, help) => [h("input", { id, type: "text", placeholder, autocomplete: "off", spellcheck: "false",
      "aria-describedby": `${id}-help` }), h("p", { class: "help", id: `${id}-help` }, help)];
    const [source, sourceHelp] = line("add-source", "empty: messages are pushed here", "mqtt://, kafka://, ws://, sse+http://, ldes+http://, tcp://, replay:FILE or a path");
    const [time, timeHelp] = line("add-time", "http://www.w3.org/ns/sosa/resultTime", "The predicate that states a message's time; without it, that of arrival");
    const late = h("input", { id: "add-late", type: "number", min: 0.1, max: 3600, step: "any", placeholder: "1" });
    const lateRow = h("div", { class: "box-part" }, h("label", { for: "add-late" }, "Lateness, seconds"), late);
    source.addEventListener("input", () => { lateRow.hidden = Boolean(source.value.trim()); });
    const form = h("form", { class: "box" }, h("label", { for: "add-iri" }, "IRI"), iri,
      h("label", { for: "add-source" }, "Address"), source, sourceHelp,
      h("label", { for: "add-time" }, "Time predicate"), time, timeHelp, lateRow,
      h("div", { class: "box-actions" }, h("button", { type: "submit", class: "primary" }, "Add")));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const told = { iri: iri.value.trim() };
      if (source.value.trim()) told.source = source.value.trim();
      else if (late.value) told.lateness = Number(late.value);
      if (time.value.trim()) told.time = time.value.trim();
      if (!await attempt(() => post(pathOf("streams"), told))) return;
      form.reset();
      lateRow.hidden = false;
      this.onChange();
    });
    return h("details", { class: "fold", id: "add-stream" }, h("summary", null, "Add a stream"), form);
  }
}

// What the action answers, or null where it failed and the reader was told why.
export async function attempt(action) {
  try {
    return await action() || true;
  } catch (error) {
    notice(error instanceof Problem ? error.sentence : String(error), { bad: true });
    return null;
  }
}

function spark(rates) {
  const high = Math.max(1, ...rates);
  const shift = SAMPLES - rates.length;
  return rates.map((rate, i) => `${i ? "L" : "M"}${shift + i} ${(18.5 - (rate / high) * 16).toFixed(1)}`).join("");
}
