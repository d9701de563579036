// Modal dialogs and passing notices. The browser's own dialog closes on Escape, keeps focus inside, and gives
// it back.

import { button, byId, h } from "./dom.js";

export function openDialog(title, body, { wide = false, widest = false } = {}) {
  const close = () => dialog.close();
  const dialog = h("dialog", { class: widest ? "widest" : wide ? "wide" : null, "aria-label": title },
    h("div", { class: "dialog-head" }, h("h2", null, title), button("close", "Close", close)), body);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function confirmed(title, text, action) {
  return new Promise((done) => {
    let answer = false;
    const dialog = openDialog(title, h("div", { class: "dialog-body" }, h("p", null, text),
      h("div", { class: "dialog-actions" },
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Keep"),
        h("button", { type: "button", class: "danger", autofocus: true,
          onclick: () => { answer = true; dialog.close(); } }, action))));
    dialog.addEventListener("close", () => done(answer));
  });
}

export function askForToken(reason) {
  return new Promise((done) => {
    let answer = null;
    const field = h("input", { type: "password", id: "token", autocomplete: "off", autofocus: true, required: true });
    const form = h("form", { class: "dialog-body", method: "dialog" },
      h("p", null, reason),
      h("label", { for: "token" }, "Token"), field,
      h("p", { class: "muted" }, "Kept in this tab until it is closed."),
      h("div", { class: "dialog-actions" }, h("button", { type: "submit", class: "primary" }, "Use the token")));
    form.addEventListener("submit", () => { answer = field.value.trim(); });
    openDialog("Access token", form).addEventListener("close", () => done(answer));
  });
}

const KEYS = [["Ctrl + Enter", "run the query in the editor"], ["Ctrl + Space", "complete; Tab takes what is offered"], ["Escape", "close a dialog"],
  ["/", "go to the editor"], ["↑ ↓ Home End", "move through the queries"], ["Enter", "show the query"],
  ["Delete", "drop the query"], ["e", "open the examples"], ["?", "this help"]];

export function showKeys() {
  openDialog("Keyboard", h("dl", { class: "dialog-body keys" }, KEYS.map(([key, text]) => [
    h("dt", null, h("kbd", null, key)), h("dd", null, text)])));
}

export function notice(text, { bad = false } = {}) {
  const node = h("div", { class: bad ? "notice bad" : "notice" }, h("span", null, text),
    button("close", "Dismiss", () => node.remove()));
  const host = byId("notices");
  while (host.childElementCount > 2) host.firstElementChild.remove();
  host.append(node);
  setTimeout(() => node.remove(), bad ? 9000 : 5000);
}
