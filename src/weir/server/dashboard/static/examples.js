// Examples: a dialog of queries that run in one click, streams, sample and all.

import { Problem, get, pathOf, post } from "./api.js";
import { h } from "./dom.js";
import { notice, openDialog } from "./dialogs.js";
import { startFeed } from "./feeds.js";
import { DIALECTS } from "./queries.js";

let known = null;

export async function openExamples({ onOpen, onRun }) {
  try {
    known ??= (await get("api/examples")).examples;
  } catch (error) {
    notice(error.sentence ?? String(error), { bad: true });
    return;
  }
  const dialog = openDialog("Examples", h("ul", { class: "examples" }, known.map((example) => h("li", null,
    h("div", { class: "example-head" },
      h("h3", null, example.title), h("span", { class: "pill" }, DIALECTS[example.dialect] ?? example.dialect)),
    example.description && h("p", { class: "muted" }, example.description),
    h("div", { class: "example-actions" },
      h("button", { type: "button", class: "quiet", onclick: () => { dialog.close(); onOpen(example); } }, "Open in the editor"),
      h("button", { type: "button", class: "primary", "aria-label": `Run ${example.title}`,
        onclick: () => { dialog.close(); onRun(example); } }, "Run"))))), { wide: true });
}

// The id of the example's query, or null where it failed and the reader was told why. Streams that exist and a
// query that runs already are taken as they are: an example can be run again.
export async function run(example) {
  try {
    const ids = [];
    for (const stream of example.streams ?? []) ids.push(await ensureStream(typeof stream === "string" ? stream : stream.iri));
    const id = await ensureQuery(example);
    if (example.sample && ids.length) startFeed(ids[0], example.sample, (error) => notice(error.sentence ?? String(error), { bad: true }));
    return id;
  } catch (error) {
    notice(error instanceof Problem ? error.sentence : String(error), { bad: true });
    return null;
  }
}

export async function ensureStream(iri) {
  const find = async () => (await get("api/streams")).streams.find((stream) => stream.iri === iri)?.id;
  const id = await find();
  if (id !== undefined) return id;
  const made = await post(pathOf("streams"), { iri });
  return made?.id ?? find();
}

async function ensureQuery({ text, dialect }) {
  const { queries } = await get(`api/queries?limit=100&search=${encodeURIComponent(text.trim().slice(0, 200))}`);
  const same = queries.find((query) => query.text.trim() === text.trim());
  if (same) return same.id;
  return (await post(pathOf("queries"), { text, dialect })).id;
}
