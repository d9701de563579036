// Remote views: how fresh the answers kept from each endpoint are, as estimated and as checked, over time.

import { h, s } from "./dom.js";
import { count, seconds } from "./format.js";

const LOOKS = 90;
const WIDTH = 240;
const HEIGHT = 46;

export class Services {
  constructor(card, host) {
    Object.assign(this, { card, host, past: new Map() });
  }

  update(services) {
    this.card.hidden = !services.length;
    const keys = services.map((service, place) => {
      const key = `${service.query} ${service.endpoint} ${place}`;
      const past = this.past.get(key) ?? this.past.set(key, []).get(key);
      if (past.at(-1)?.at !== service.at) past.push(service);
      if (past.length > LOOKS) past.shift();
      return key;
    });
    for (const key of this.past.keys()) if (!keys.includes(key)) this.past.delete(key);
    this.host.replaceChildren(h("ul", { class: "list bounded" }, services.map((service, i) => this.item(service, this.past.get(keys[i])))));
  }

  item({ query, endpoint, rows, fresh, audited, confidence, age, refreshes, missing, error }, past) {
    const facts = [query, `${count(rows)} rows`, missing ? `${count(missing)} missing` : null, age !== null && `oldest ${seconds(age)}`,
      `${count(refreshes)} refreshes`, error].filter(Boolean).join(" · ");
    const checked = audited !== undefined && audited !== null;
    return h("li", { class: "item view" }, h("span", { class: "item-body" },
      h("span", { class: "item-name", title: endpoint }, place(endpoint ?? "")),
      h("span", { class: "fresh-line" },
        h("span", { class: "fresh-estimate" }, `${percent(fresh)} fresh`),
        h("span", { class: "fresh-checked", title: "The share that was true among rows checked at random" },
          checked ? `${percent(audited)} ± ${Math.round(100 * (confidence ?? 0))} checked` : "none checked yet")),
      drawn(past, fresh, audited),
      h("span", { class: "item-facts" }, facts)));
  }
}

// The estimate as a line, what was checked as points with their confidence, beside it.
function drawn(past, fresh, audited) {
  const x = (i) => 3 + (i / Math.max(1, past.length - 1)) * (WIDTH - 6);
  const y = (share) => 3 + (1 - Math.max(0, Math.min(1, share))) * (HEIGHT - 6);
  const known = past.map(({ fresh: share }, i) => [i, share]).filter(([, share]) => share !== null && share !== undefined);
  const checks = past.map((each, i) => [i, each.audited, each.confidence ?? 0]).filter(([, share]) => share !== null && share !== undefined);
  return s("svg", { class: "fresh-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
    "aria-label": `Freshness: ${percent(fresh)} estimated, ${audited === null || audited === undefined ? "none" : percent(audited)} checked` },
    [0, 0.5, 1].map((share) => s("line", { class: "grid", x1: 0, x2: WIDTH, y1: y(share), y2: y(share) })),
    checks.length > 1 && s("path", { class: "checked-band", d: `M${[...checks.map(([i, share, by]) => `${x(i)} ${y(share + by)}`),
      ...[...checks].reverse().map(([i, share, by]) => `${x(i)} ${y(share - by)}`)].join("L")}Z` }),
    s("path", { class: "estimate", d: line(known, x, y) }), s("path", { class: "checked", d: line(checks, x, y) }),
    known.slice(-1).map(([i, share]) => s("circle", { class: "estimate", cx: x(i), cy: y(share), r: 2.6 })),
    checks.slice(-1).map(([i, share]) => s("circle", { class: "checked", cx: x(i), cy: y(share), r: 2.6 })));
}

function line(points, x, y) {
  return points.map(([i, share], at) => `${at ? "L" : "M"}${x(i).toFixed(1)} ${y(share).toFixed(1)}`).join("");
}

const percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(share * 100)} %`);

function place(endpoint) {
  return endpoint.replace(/^https?:\/\//, "");
}
