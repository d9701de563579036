// Remote views: how fresh the answers kept from each endpoint are.

import { h } from "./dom.js";
import { count, seconds } from "./format.js";

export class Services {
  constructor(card, host) {
    Object.assign(this, { card, host });
  }

  update(services) {
    this.card.hidden = !services.length;
    this.host.replaceChildren(h("ul", { class: "list" }, services.map((service) => this.item(service))));
  }

  item({ endpoint, policy, rows, fresh, audited, confidence, age, refreshes, error }) {
    const share = fresh !== undefined && fresh !== null ? Math.max(0, Math.min(1, fresh)) : null;
    const checked = audited !== undefined && audited !== null ? audited : null;
    const facts = [policy, rows !== undefined && `${count(rows)} rows`, age !== undefined && age !== null && `oldest ${seconds(age)}`,
      refreshes !== undefined && `${count(refreshes)} refreshes`, error].filter(Boolean).join(" · ");
    return h("li", { class: "item" }, h("span", { class: "item-body" },
      h("span", { class: "item-name", title: endpoint }, place(endpoint ?? "")), h("span", { class: "item-facts" }, facts)),
      share !== null && h("span", { class: "fresh-share" },
        h("meter", { min: 0, max: 1, low: 0.5, high: 0.9, optimum: 1, value: share, "aria-label": "fresh" }),
        h("span", null, `${Math.round(share * 100)} % fresh`),
        checked !== null && h("meter", { min: 0, max: 1, low: 0.5, high: 0.9, optimum: 1, value: checked, "aria-label": "checked" }),
        checked !== null && h("span", { title: "The share that was true among rows checked at random" },
          `${Math.round(checked * 100)} ± ${Math.round(100 * (confidence ?? 0))} % checked`)));
  }
}

function place(endpoint) {
  return endpoint.replace(/^https?:\/\//, "");
}
