// The first view: what Weir is, and examples that run in one click, while nothing is registered.

import { get } from "./api.js";
import { byId, h } from "./dom.js";
import { DIALECTS } from "./queries.js";

export class Welcome {
  constructor(onRun) {
    this.onRun = onRun;
    this.host = byId("welcome");
  }

  show(first) {
    document.body.dataset.view = first ? "first" : "";
    this.host.hidden = !first;
    if (first && !this.asked) this.fill();
  }

  async fill() {
    this.asked = true;
    try {
      const { examples } = await get("api/examples");
      this.host.replaceChildren(
        h("h2", { id: "welcome-title" }, "Questions that stay, over data that moves"),
        h("p", { class: "lead" }, "Weir answers SPARQL queries over RDF streams, joined with graphs and SPARQL endpoints. ",
          "A query looks at a stream through a window, say the last ten seconds, and gives new results as time goes on."),
        h("ol", { class: "steps" },
          h("li", null, h("b", null, "Streams "), "bring messages: pushed here, or from MQTT, Kafka, WebSockets or files."),
          h("li", null, h("b", null, "Queries "), "in RSP-QL, CQELS-QL, C-SPARQL or SPARQLstream run until they are dropped."),
          h("li", null, h("b", null, "Results "), "appear here and at the API, event by event.")),
        h("h3", null, "Start with one that runs"),
        h("ul", { class: "cards" }, examples.map((example) => h("li", null,
          h("button", { type: "button", class: "card-button", "aria-label": `Run ${example.title}`, onclick: () => this.onRun(example) },
            h("b", null, example.title), h("span", null, example.description ?? ""),
            h("span", { class: "pill" }, DIALECTS[example.dialect] ?? example.dialect))))),
        h("p", { class: "muted" }, "Their messages are sent from this page as long as it is open. Or write a query in the editor and press ",
          h("kbd", null, "Ctrl + Enter"), "."));
    } catch {
      this.asked = false;
    }
  }
}
