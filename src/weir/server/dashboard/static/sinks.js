// Where results go beside this service.

import { post, remove } from "./api.js";
import { button, h, patch } from "./dom.js";
import { attempt } from "./streams.js";

export class Sinks {
  constructor(host, counter, onChange) {
    Object.assign(this, { counter, onChange });
    this.slot = h("div");
    const address = h("input", { id: "sink-address", type: "text", required: true, autocomplete: "off", spellcheck: "false",
      placeholder: "mqtt://localhost/weir/{query}", "aria-describedby": "sink-help" });
    const form = h("form", { class: "box" }, h("label", { for: "sink-address" }, "Address"), address,
      h("p", { class: "help", id: "sink-help" }, "mqtt://, kafka://, live:// or files:FOLDER; all results go there as well."),
      h("div", { class: "box-actions" }, h("button", { type: "submit", class: "primary" }, "Add the sink")));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!await attempt(() => post("api/sinks", { address: address.value.trim() }))) return;
      address.value = "";
      onChange();
    });
    host.append(this.slot, h("details", { class: "fold", id: "add-sink" }, h("summary", null, "Add a sink"), form));
  }

  update(sinks) {
    this.counter.textContent = sinks.length || "";
    patch(this.slot, JSON.stringify(sinks), () => (sinks.length ? h("ul", { class: "list" }, sinks.map((sink) => this.item(sink)))
      : h("p", { class: "empty" }, "Results stay here, where the API reads them.")));
  }

  item({ address, added, failure }) {
    const drop = async () => {
      await attempt(() => remove(`api/sinks?address=${encodeURIComponent(address)}`));
      this.onChange();
    };
    return h("li", { class: "item" }, h("i", { class: `state ${failure ? "failed" : "running"}` }),
      h("span", { class: "item-body" }, h("span", { class: "item-name", title: address }, address),
        h("span", { class: failure ? "item-facts bad-text" : "item-facts" }, failure ?? (added ? "all results" : "all results, by the configuration"))),
      added && button("drop", `Remove the sink ${address}`, drop));
  }
}
