// The page: one loop that asks how things are, and the query that is looked at.

import { follow, get, hasToken, onUnauthorized, pathOf, post, remove, setToken } from "./api.js";
import { Chart } from "./chart.js";
import { Compose } from "./compose.js";
import { askForToken, confirmed, showKeys } from "./dialogs.js";
import { button, byId, h, patch, setText } from "./dom.js";
import { downloadMenu } from "./downloads.js";
import { bytes, clock, count, plural, seconds, timeOf } from "./format.js";
import { Graphs } from "./graphs.js";
import { Plan } from "./plan.js";
import { DIALECTS, Queries } from "./queries.js";
import { Results, stateText } from "./results.js";
import { Services } from "./services.js";
import { Sinks } from "./sinks.js";
import { Streams, attempt } from "./streams.js";
import { Timeline } from "./timeline.js";
import { Welcome } from "./welcome.js";

const PERIOD = 1000;
const BACK = 100;
const SLOW = 5;

class App {
  constructor() {
    this.queries = [];
    this.selected = new URLSearchParams(location.search).get("query");
    this.shown = undefined;
    this.round = 0;
    this.list = new Queries(byId("queries"), byId("queries-count"),
      { onSelect: (id) => this.select(id), onDrop: (id) => this.drop(id), onAsk: () => this.soon() });
    this.graphs = new Graphs(byId("graphs"), byId("graphs-count"), () => this.now());
    this.sinks = new Sinks(byId("sinks"), byId("sinks-count"), () => this.now());
    this.streams = new Streams(byId("streams"), byId("streams-count"), () => this.soon());
    this.services = new Services(byId("services-card"), byId("services"));
    this.results = new Results(byId("results"), (waiting) => stateText(byId("results-state"), this.state, waiting));
    this.chart = new Chart(byId("chart-card"), byId("chart"), byId("chart-tools"));
    this.timeline = new Timeline(byId("timeline"));
    this.plan = new Plan(byId("plan"), byId("plan-views"));
    this.compose = new Compose({ onRegistered: (id) => this.select(id), onChange: () => this.poll(),
      known: () => [...this.streams.known, ...this.queries.map((query) => query.output),
        ...(this.graphs.graphs ?? []).map(({ iri }) => iri)].filter(Boolean) });
    this.welcome = new Welcome((example) => this.compose.runExample(example));
    this.tools();
    this.keys();
    onUnauthorized(() => this.ask(hasToken() ? "This token was refused." : "This server asks for a token."));
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.soon(); });
    this.poll();
  }

  get query() {
    return this.queries.find((query) => query.id === this.selected) ?? null;
  }

  // One request after another, so that a slow server is asked less often.
  async poll() {
    clearTimeout(this.timer);
    if (!document.hidden) await this.look();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.poll(), PERIOD);
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.poll(), 50);
  }

  // At the next look also what changes seldom.
  now() {
    this.round = 0;
    this.soon();
  }

  async look() {
    try {
      const [{ streams }, listed] = await Promise.all([get("api/streams"), get(`api/queries?${this.list.asked}`)]);
      const queries = listed.queries;
      const chosen = this.selected && !queries.some(({ id }) => id === this.selected) ? await found(this.selected) : null;
      this.queries = chosen ? [...queries, chosen] : queries;
      this.streams.update(streams);
      const known = this.streams.known.join(" ");
      if (known !== this.known) this.compose.later();
      this.known = known;
      if (!this.query) this.selected = queries.at(-1)?.id ?? null;
      this.list.update(listed, this.selected);
      this.welcome.show(!Object.values(listed.counts).some(Boolean));
      this.show();
      this.health("live", "running");
      if (this.query) await this.lookAt(this.query);
      if (this.round % SLOW === 0) {
        const [{ services }, { graphs }, { sinks }] = await Promise.all([get("api/services"), get("api/graphs"), get("api/sinks")]);
        this.services.update(services ?? []);
        this.graphs.update(graphs);
        this.sinks.update(sinks);
      }
      this.round += 1;
    } catch (error) {
      if (error.status === 401) this.health("waiting", "needs a token");
      else if (error.status === 0) this.health("waiting", "not reached, trying again");
      else if (error.status !== 404) this.health("waiting", error.sentence ?? String(error));
    }
  }

  async lookAt({ id }) {
    if (this.round % SLOW === 0 || !this.plan.explained) {
      const explained = await get(pathOf("queries", id, "explain"));
      if (id === this.selected) {
        this.plan.show(explained);
        this.timeline.declare(explained.windows);
      }
    }
    const activity = await get(pathOf("queries", id, "activity"));
    if (id !== this.selected) return;
    this.timeline.update(activity);
    this.plan.update(activity.operators);
  }

  health(state, text) {
    byId("health").dataset.state = state;
    setText(byId("health"), text);
  }

  select(id) {
    this.selected = id;
    this.list.mark(id);
    this.soon();
  }

  // What belongs to the chosen query; a change of query starts everything afresh.
  show() {
    const { query } = this;
    this.facts(query);
    if (this.shown === (query?.id ?? null)) return;
    this.shown = query?.id ?? null;
    this.following?.abort();
    for (const part of [this.results, this.chart, this.timeline, this.plan]) part.clear(query);
    setText(byId("results-title"), query ? query.name ?? query.id : "Results");
    this.setState(null);
    const address = new URL(location.href);
    if (query) address.searchParams.set("query", query.id);
    else address.searchParams.delete("query");
    history.replaceState(null, "", address);
    if (query) {
      this.compose.show(query);
      this.follow(query);
    }
  }

  facts(query) {
    const state = query && JSON.stringify([query.id, query.paused, query.failed, this.results.held]);
    patch(byId("query-tools"), state ?? "", () => (query ? this.queryTools(query) : []));
    const facts = query ? [DIALECTS[query.dialect] ?? query.dialect, query.paused ? "paused" : null, `${query.evaluator} evaluator`,
      query.together > 1 && `shared by ${count(query.together)}`, query.through && `evaluated through ${clock(timeOf(query.through))}`] : [];
    setText(byId("query-facts"), facts.filter(Boolean).join(" · "));
    this.figures(query);
    const failed = query?.failed ? `${query.id} ${query.reason}` : "";
    patch(byId("query-failure"), failed, () => (failed ? [h("strong", null, "This query failed"),
      h("span", null, `${query.failed_at ? `at ${clock(timeOf(query.failed_at), true)}, ` : ""}${query.reason}`),
      h("button", { type: "button", class: "quiet", onclick: () => this.change(() => post(pathOf("queries", query.id, "resume"))) }, "Begin anew")] : []));
    byId("query-failure").hidden = !failed;
  }

  // What says first whether a query keeps up, then what it costs.
  figures(query) {
    const told = query ? [["Latency", seconds(query.latency), "from the push of the latest messages to their evaluation"],
      ["Lag", seconds(query.lag), "event time between the newest message and what is evaluated"],
      ["Batch", seconds(query.batch_seconds), "time of work in the latest batch"], ["Results", count(query.position), "so far"],
      ["Work", seconds(query.seconds), "time of work since the job started; its part where it shares"],
      ["Kept", `${count(query.rows)} rows`, bytes(query.bytes)]] : [];
    const host = byId("figures");
    patch(host, told.length, () => told.map(([name, , title]) => h("div", { title }, h("dt", null, name), h("dd"))));
    told.forEach(([, value], i) => setText(host.children[i].lastElementChild, value));
  }

  queryTools(query) {
    const { held } = this.results;
    const stopped = query.paused || query.failed;
    return [
      downloadMenu(query),
      h("button", { type: "button", class: "quiet", "aria-pressed": String(held),
        onclick: () => { this.results.hold(!held); this.facts(query); } }, held ? "Follow" : "Hold"),
      button(stopped ? "play" : "pause", stopped ? "Resume the query" : "Pause the query", () =>
        this.change(() => post(pathOf("queries", query.id, stopped ? "resume" : "pause")))),
      button("drop", "Drop the query", () => this.drop(query.id)),
    ];
  }

  async change(action) {
    await attempt(action);
    this.soon();
  }

  async drop(id) {
    const query = this.queries.find((each) => each.id === id);
    if (!query) return;
    const sure = await confirmed("Drop the query?", `${query.name ?? id} stops, and its results are deleted.`, "Drop");
    if (sure) await this.change(() => remove(pathOf("queries", id)));
  }

  setState(state) {
    this.state = state;
    stateText(byId("results-state"), state, 0);
  }

  follow(query) {
    const following = this.following = new AbortController();
    follow(`${pathOf("queries", query.id, "results")}?from=-${BACK}`, {
      signal: following.signal,
      onState: (state) => { if (!following.signal.aborted) this.setState(state); },
      onEvent: (event) => { if (!following.signal.aborted) this.take(event); },
    });
  }

  take(event) {
    const result = JSON.parse(event.data);
    if (event.type === "missed") {
      this.results.gap(result.missed);
    } else if (event.type !== "end") {
      this.results.add(result);
      this.chart.add(result);
    }
  }

  // Who closes the dialog is left in peace until the key in the header is pressed.
  async ask(reason) {
    if (this.declined) return false;
    const token = await askForToken(reason);
    this.declined = !token;
    if (token) setToken(token);
    return Boolean(token);
  }

  tools() {
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const flip = () => {
      const now = root.dataset.theme === "auto" ? (dark.matches ? "dark" : "light") : root.dataset.theme;
      root.dataset.theme = now === "dark" ? "light" : "dark";
      localStorage.setItem("weir-theme", root.dataset.theme);
    };
    const token = async () => {
      this.declined = false;
      await this.ask("Requests are sent with this token.");
      this.soon();
    };
    byId("tools").append(button("help", "Keyboard shortcuts", showKeys), button("key", "Access token", token),
      button("theme", "Light or dark", flip));
  }

  keys() {
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, textarea, select, dialog");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      const action = { "/": () => this.compose.editor.area.focus(), e: () => this.compose.examples(), "?": showKeys }[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }
}

// A query that the list does not show; null where it is gone.
async function found(id) {
  try {
    return await get(pathOf("queries", id));
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

new App();
