// A text area over a coloured copy of itself: the browser edits, the copy shows tokens and the error's place.

import { h } from "./dom.js";
import { offsetOf, tokens } from "./tokens.js";

export class Editor {
  constructor(host, { label, onChange, onRun }) {
    this.onChange = onChange;
    this.problem = null;
    this.gutter = h("div", { class: "editor-gutter", "aria-hidden": "true" });
    this.copy = h("pre", { class: "editor-copy", "aria-hidden": "true" });
    this.area = h("textarea", {
      class: "editor-text", "aria-label": label, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
      wrap: "off", "aria-describedby": "editor-message", rows: 14, cols: 20,
    });
    host.append(this.gutter, h("div", { class: "editor-pane" }, this.copy, this.area));
    this.area.addEventListener("input", () => this.changed());
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        onRun();
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.newLine();
      }
    });
    this.draw();
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    this.area.value = value;
    this.area.scrollTop = 0;
    this.area.scrollLeft = 0;
    this.changed();
  }

  changed() {
    this.problem = null;
    this.draw();
    this.onChange(this.area.value);
  }

  // A new line keeps the indentation of the last, one step deeper after an opening brace.
  newLine() {
    const before = this.text.slice(0, this.area.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const indent = line.match(/^[ \t]*/)[0] + (/[{(]\s*$/.test(line) ? "  " : "");
    this.insert(`\n${indent}`);
  }

  // execCommand keeps the browser's undo history, which setRangeText would break.
  insert(text) {
    this.area.focus();
    if (document.execCommand && document.execCommand("insertText", false, text)) return;
    this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
    this.changed();
  }

  // `problem` has line and column from one, perhaps a length; null clears it.
  show(problem) {
    this.problem = problem;
    this.area.setAttribute("aria-invalid", problem ? "true" : "false");
    this.draw();
  }

  // Put the caret at the error.
  reveal() {
    if (!this.problem?.line) return;
    const at = offsetOf(this.text, this.problem.line, this.problem.column ?? 1);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    const height = parseFloat(getComputedStyle(this.area).lineHeight);
    this.area.scrollTop = Math.max(0, (this.problem.line - 4) * height);
  }

  draw() {
    const problem = this.problem?.line ? this.problem : null;
    this.copy.replaceChildren(...coloured(this.text, problem), "\n");
    const lines = this.text.split("\n").length;
    if (this.gutter.childElementCount !== lines || this.marked !== problem?.line) {
      this.marked = problem?.line;
      this.gutter.replaceChildren(...Array.from({ length: lines }, (_, i) =>
        h("span", { class: i + 1 === problem?.line ? "bad" : null }, String(i + 1))));
    }
    this.follow();
  }

  follow() {
    const { scrollLeft, scrollTop } = this.area;
    this.copy.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    this.gutter.style.setProperty("--scroll", `${-scrollTop}px`);
  }
}

// Where the squiggle is: the length that the problem gives, or the token that starts there.
function rangeOf(text, found, problem) {
  const start = Math.min(offsetOf(text, problem.line, problem.column ?? 1), text.length);
  if (problem.length) return [start, Math.min(start + problem.length, text.length)];
  const token = found.find((each) => each.end > start);
  return [start, token && token.kind !== "space" ? token.end : start];
}

// The text as nodes; with a problem, its place is marked and its message stands at the end of its line.
// Nothing but the text itself takes room before the end of a line, so the copy stays under the text area.
function coloured(text, problem) {
  const found = tokens(text);
  const range = problem && rangeOf(text, found, problem);
  const lensAt = problem && text.split("\n").slice(0, problem.line).join("\n").length;
  const cuts = problem ? [...range, lensAt] : [];
  const nodes = [];
  const place = (at) => {
    if (!problem) return;
    if (at === range[0] && range[0] === range[1]) nodes.push(h("mark", { class: "squiggle" }, " "));
    if (at === lensAt) nodes.push(h("span", { class: "lens" }, problem.message));
  };
  for (const { kind, start, end } of found) {
    const inner = cuts.filter((cut) => cut > start && cut < end);
    const edges = [...new Set([start, ...inner, end])].sort((one, other) => one - other);
    for (let i = 0; i + 1 < edges.length; i += 1) {
      place(edges[i]);
      const marked = problem && edges[i] >= range[0] && edges[i + 1] <= range[1];
      nodes.push(piece(text.slice(edges[i], edges[i + 1]), kind, marked));
    }
  }
  place(text.length);
  return nodes;
}

function piece(text, kind, marked) {
  if (marked) return h("mark", { class: `squiggle t-${kind}` }, text);
  return kind === "space" || kind === "word" ? text : h("span", { class: `t-${kind}` }, text);
}
