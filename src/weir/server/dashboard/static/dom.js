// Elements without markup: text always goes in as text nodes, so nothing from a stream is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);
export const byId = (id) => document.getElementById(id);

// A small drawing used in buttons; the button carries the name.
const PATHS = {
  pause: "M6 4v8M10 4v8",
  play: "M5.5 3.8l6.5 4.2-6.5 4.2z",
  drop: "M3.5 5h9M6.5 5V3.5h3V5M5 5l.6 7.5h4.8L11 5",
  edit: "M3.5 12.5l.6-2.6 6.6-6.6 2 2-6.6 6.6z",
  stop: "M4.5 4.5h7v7h-7z",
  plus: "M8 3.5v9M3.5 8h9",
  close: "M4 4l8 8M12 4l-8 8",
  up: "M8 12.5v-9M4.5 7L8 3.5 11.5 7",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  key: "M6 10.5a2.5 2.5 0 1 1 1.8-4.2L13 6.5v2h-1.5V10H10V8.5L8 8.6A2.5 2.5 0 0 1 6 10.5z",
  look: "M2 8c1.6-2.8 3.6-4.2 6-4.2S12.4 5.2 14 8c-1.6 2.8-3.6 4.2-6 4.2S3.6 10.8 2 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6",
  help: "M6 6.2a2 2 0 1 1 2.8 1.9c-.5.3-.8.6-.8 1.4M8 11.8v.2",
};

export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d: PATHS[name] }));
}

export function button(name, label, onclick, props = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...props },
    icon(name));
}

// Replace children only if something changed, so that focus and selection stay where they are.
export function patch(node, key, make) {
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.replaceChildren(...[make()].flat(Infinity));
}

// Text that changes often: touch the document only if it differs.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
