// Completion in the editor: keywords, variables, prefixes, predicates that were seen, streams and graphs.

import { get } from "./api.js";
import { h } from "./dom.js";
import { prefixesOf, shortIri, tail } from "./format.js";
import { WORDS } from "./tokens.js";

const MOST = 8;
const OLD = 5000;

export class Completion {
  constructor(editor, known) {
    Object.assign(this, { editor, known, asked: 0, found: { prefixes: {}, predicates: [] }, options: [] });
    this.list = h("ul", { class: "completion", id: "completion", role: "listbox", "aria-label": "Completions", hidden: true });
    editor.area.after(this.list);
    for (const [name, value] of [["aria-autocomplete", "list"], ["aria-controls", "completion"], ["aria-expanded", "false"]]) {
      editor.area.setAttribute(name, value);
    }
    editor.area.addEventListener("input", (event) => {
      if (event.inputType?.startsWith("insert") && event.inputType !== "insertFromPaste") this.offer();
      else this.close();
    });
    editor.area.addEventListener("keydown", (event) => this.key(event), true);
    for (const name of ["blur", "click"]) editor.area.addEventListener(name, () => this.close());
    editor.area.addEventListener("scroll", () => { if (!this.list.hidden) this.draw(); });
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const at = [...this.list.children].indexOf(event.target.closest("li"));
      if (at >= 0) this.take(at);
    });
  }

  async learn() {
    if (Date.now() - this.asked < OLD) return;
    this.asked = Date.now();
    try {
      this.found = await get("api/vocabulary");
    } catch { /* What is known stays known. */ }
  }

  // The word before the caret, with what may continue it.
  offer(always = false) {
    this.learn();
    const { area } = this.editor;
    const before = area.value.slice(0, area.selectionStart);
    if (area.selectionStart !== area.selectionEnd || /#[^\n<>]*$/.test(before.replace(/<[^<>\s]*>?/g, ""))) return this.close();
    const word = before.match(/(?:<[^<>\s"{}]*|[?$]?[\p{L}\p{N}_][\p{L}\p{N}_.-]*:?[\p{L}\p{N}_.-]*|:[\p{L}\p{N}_.-]*|[?$])$/u)?.[0] ?? "";
    if (!word && !always) return this.close();
    this.word = word;
    this.options = this.matching(word, before).slice(0, MOST);
    if (!this.options.length || (this.options.length === 1 && this.options[0].text === word)) return this.close();
    this.chosen = 0;
    this.moved = false;
    this.draw();
    return undefined;
  }

  matching(word, before) {
    const text = this.editor.text;
    const low = word.toLowerCase();
    const prefixes = prefixesOf(text);
    const declared = new Set(prefixes.map(([name]) => name));
    const found = [];
    const add = (value, note, extra) => {
      if (!found.some((each) => each.text === value)) found.push({ text: value, note, ...extra });
    };
    if (/\bPREFIX\s+[\w.-]*$/i.test(before)) {
      for (const [name, iri] of Object.entries(this.found.prefixes)) {
        if (name.startsWith(low.replace(/:$/, ""))) add(`${name}: <${iri}>`, "prefix");
      }
      return found;
    }
    if (/^[?$]/.test(word)) {
      for (const name of new Set(text.match(/[?$][\p{L}\p{N}_]+/gu))) if (name !== word && name.toLowerCase().startsWith(low)) add(name, "variable");
      return found;
    }
    if (word.startsWith("<")) {
      for (const iri of this.known()) if (`<${iri}`.toLowerCase().includes(low.slice(1))) add(`<${iri}>`, "stream or graph");
      for (const { iri, seen } of this.found.predicates) if (iri.toLowerCase().includes(low.slice(1))) add(`<${iri}>`, `seen in ${seen.map(tail).join(", ")}`);
      return found;
    }
    for (const { iri, seen } of this.found.predicates) {
      const note = `seen in ${seen.map(tail).join(", ")}`;
      const short = shortIri(iri, prefixes);
      const local = iri.split(/[/#]/).pop().toLowerCase();
      if (short !== iri) {
        if (short.toLowerCase().startsWith(low) || (low.length > 1 && local.startsWith(low))) add(short, note);
        continue;
      }
      const other = Object.entries(this.found.prefixes).find(([, space]) => iri.startsWith(space) && /^[\w-]+$/.test(iri.slice(space.length)));
      const named = other && !declared.has(other[0]) ? `${other[0]}:${iri.slice(other[1].length)}` : null;
      if (named && (named.startsWith(low) || (low.length > 1 && local.startsWith(low)))) add(named, `${note}; adds the prefix`, { prefix: other });
      else if (!named && low.length > 1 && local.startsWith(low)) add(`<${iri}>`, note);
    }
    for (const [name, iri] of prefixes) if (low && !low.includes(":") && `${name}:`.startsWith(low)) add(`${name}:`, iri);
    for (const [name, iri] of Object.entries(this.found.prefixes)) {
      if (low && !declared.has(name) && !low.includes(":") && `${name}:`.startsWith(low)) add(`${name}:`, `${iri}; adds the prefix`, { prefix: [name, iri] });
    }
    if (low.length > 1) for (const each of WORDS) if (each.length > 1 && each.toLowerCase().startsWith(low)) add(each, "keyword");
    return found;
  }

  draw() {
    const { area } = this.editor;
    this.list.replaceChildren(...this.options.map(({ text, note }, i) =>
      h("li", { role: "option", id: `completion-${i}`, "aria-selected": String(i === this.chosen) }, h("b", null, text), h("span", null, note))));
    const lines = area.value.slice(0, area.selectionStart).split("\n");
    const style = getComputedStyle(area);
    const height = parseFloat(style.lineHeight);
    const across = (lines.at(-1).length - this.word.length) * parseFloat(style.fontSize) * 0.602 - area.scrollLeft;
    this.list.hidden = false;
    const top = parseFloat(style.paddingTop) + lines.length * height - area.scrollTop;
    const room = area.clientHeight - top > this.list.offsetHeight;
    this.list.style.top = `${room ? top : Math.max(0, top - height - this.list.offsetHeight)}px`;
    this.list.style.left = `${Math.max(0, Math.min(across, area.clientWidth - this.list.offsetWidth - 4))}px`;
    area.setAttribute("aria-expanded", "true");
    area.setAttribute("aria-activedescendant", `completion-${this.chosen}`);
  }

  close() {
    if (this.list.hidden) return;
    this.list.hidden = true;
    this.editor.area.setAttribute("aria-expanded", "false");
    this.editor.area.removeAttribute("aria-activedescendant");
  }

  key(event) {
    if (event.ctrlKey && event.key === " ") {
      event.preventDefault();
      this.learn().then(() => this.offer(true));
      return;
    }
    if (this.list.hidden || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.chosen = (this.chosen + step + this.options.length) % this.options.length;
      this.moved = true;
      this.draw();
    } else if (event.key === "Tab" || (event.key === "Enter" && this.moved)) this.take(this.chosen);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  take(at) {
    const { text, prefix } = this.options[at];
    const { area } = this.editor;
    this.close();
    const end = area.selectionStart;
    area.setSelectionRange(end - this.word.length, end);
    this.editor.insert(text);
    if (prefix) {
      const caret = area.selectionStart;
      const line = `PREFIX ${prefix[0]}: <${prefix[1]}>\n`;
      const place = area.value.match(/^(?:\s*#[^\n]*\n|\s*\n)*/)[0].length;
      area.setSelectionRange(place, place);
      this.editor.insert(line);
      area.setSelectionRange(caret + line.length, caret + line.length);
    }
    this.close();
  }
}
