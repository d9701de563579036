// Results as a file: all that are kept, a batch after the other.

import { pathOf, text } from "./api.js";
import { h } from "./dom.js";
import { notice } from "./dialogs.js";

const FORMATS = [["text/csv", "CSV", "csv"], ["application/x-ndjson", "JSON Lines", "jsonl"],
  ["application/sparql-results+json", "SPARQL JSON, latest", "srj"], ["application/n-quads", "N-Quads", "nq"]];
const MOST = 64e6;

export function downloadMenu(query) {
  const menu = h("select", { class: "quiet-select download", "aria-label": "Download the results" },
    h("option", { value: "" }, "Download…"), FORMATS.map(([type, name]) => h("option", { value: type }, name)));
  menu.addEventListener("change", () => { download(query, menu.value); menu.value = ""; });
  return menu;
}

async function download(query, type) {
  const [, , ending] = FORMATS.find(([each]) => each === type);
  const parts = [];
  try {
    const whole = type === "application/sparql-results+json";
    let from = whole ? "-1000" : "0";
    for (let size = 0; size < MOST;) {
      const found = await text(`${pathOf("queries", query.id, "results")}?from=${from}&limit=10000`, type);
      const next = found.headers.get("Weir-Next");
      if (found.body) parts.push(found.body);
      size += found.body.length;
      if (whole || next === from || !found.body) break;
      from = next;
    }
  } catch (error) {
    notice(error.sentence ?? String(error), { bad: true });
    return;
  }
  save(new Blob(parts, { type }), `${query.name ?? query.id}.${ending}`.replace(/[^\w.-]+/g, "-"));
}

export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
