// node rsp_js_driver.js DIR MODE: RSP-JS, found in the node_modules of the working directory.
// It answers asynchronously: one message at a time means that the loop waits until all answers are there.
// With each result it moves the origin of its windows by a step, so that it loses windows; here it stands.
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");

const local = createRequire(path.join(process.cwd(), "package.json"));
for (const name of ["debug", "log", "info", "error"]) console[name] = () => {};
const { RSPEngine } = local("rsp-js");
const { R2ROperator } = local("rsp-js/dist/operators/r2r.js");
const N3 = local("n3");

const WARM = 300; // lines that another engine sees before the clock runs, so that code is loaded
const [folder, mode] = process.argv.slice(2);
const read = (name) => fs.readFileSync(path.join(folder, name), "utf8");
const parsed = (text) => new N3.Parser({ format: "N-Triples" }).parse(text);

let timed = false, pending = 0, results = 0, first = null, began = 0, failed = null;
const seconds = () => Number(process.hrtime.bigint()) / 1e9;
const execute = R2ROperator.prototype.execute;
R2ROperator.prototype.execute = async function (container) {
  pending += 1;
  try {
    const stream = await execute.call(this, container);
    stream.on("end", () => { pending -= 1; });
    stream.on("error", (error) => { pending -= 1; failed = error; });
    return stream;
  } catch (error) { pending -= 1; failed = error; throw error; }
};
process.on("unhandledRejection", (error) => { failed = error; });
const answered = async () => {
  do { await new Promise(setImmediate); } while (pending > 0 && failed === null);
  if (failed !== null) throw failed;
};

const term = (found) => {
  if (found.termType === "NamedNode") return { type: "uri", value: found.value };
  if (found.termType === "BlankNode") return { type: "bnode", value: found.value };
  const literal = { type: "literal", value: found.value };
  if (found.language) literal["xml:lang"] = found.language;
  else literal.datatype = found.datatype.value;
  return literal;
};

function started(told) {
  const engine = new RSPEngine(read("query.rspql"));
  for (const window of engine.windows) Object.defineProperty(window, "t0", { get: () => 0, set: () => {} });
  for (const quad of parsed(read("static.nt"))) engine.addStaticData(quad);
  for (const [iri, file] of Object.entries(told.graphs)) {
    const graph = N3.DataFactory.namedNode(iri);
    for (const { subject, predicate, object } of parsed(read(file))) {
      engine.addStaticData(N3.DataFactory.quad(subject, predicate, object, graph));
    }
  }
  engine.register().on("RStream", (found) => {
    if (!timed) return;
    results += 1;
    if (first === null) first = seconds() - began;
    const bindings = {};
    for (const [variable, value] of found.bindings) bindings[variable.value] = term(value);
    process.stdout.write(JSON.stringify({ bindings }) + "\n");
  });
  return engine;
}

async function main() {
  if (!fs.existsSync(path.join(folder, "query.rspql"))) {
    const cannot = "it reads RSP-QL, and reports windows that close only";
    process.stdout.write(JSON.stringify({ cannot }) + "\n");
    return;
  }
  const told = JSON.parse(read("workload.json"));
  const lines = read("stream.tnq").split("\n").filter((line) => line);
  const warm = started(told).getStream(told.stream);
  for (const line of lines.slice(0, WARM)) {
    const [time, statement] = line.split("\t");
    warm.add(parsed(statement)[0], Number(time));
  }
  await answered();
  const stream = started(told).getStream(told.stream);
  timed = true;
  const waits = [];
  let before = null, start = 0;
  began = seconds();
  for (const line of lines) {
    const [time, statement] = line.split("\t");
    if (time !== before && mode === "each") {
      if (before !== null) { await answered(); waits.push(seconds() - start); }
      start = seconds();
    }
    before = time;
    stream.add(parsed(statement)[0], Number(time));
  }
  await answered();
  if (mode === "each") waits.push(seconds() - start);
  waits.sort((a, b) => a - b);
  const at = (share) => waits.length ? 1000 * waits[Math.floor(share * (waits.length - 1))] : null;
  const figures = {
    seconds: seconds() - began, results, first_result: first,
    latency_ms: at(0.5), latency_p99_ms: at(0.99),
  };
  process.stdout.write(JSON.stringify({ figures }) + "\n");
}
main().catch((error) => { process.stderr.write(String(error && error.stack)); process.exit(1); });
