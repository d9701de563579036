// node rsp_js_driver.js DIR MODE: RSP-JS, found in the node_modules of the working directory.
// It answers asynchronously: one message at a time means that the loop waits until all answers are there.
const fs = require("fs");
const path = require("path");
const { createRequire } = require("module");

const local = createRequire(path.join(process.cwd(), "package.json"));
for (const name of ["debug", "log", "info", "error"]) console[name] = () => {};
const { RSPEngine } = local("rsp-js");
const { R2ROperator } = local("rsp-js/dist/operators/r2r.js");
const N3 = local("n3");

const [folder, mode] = process.argv.slice(2);
const read = (name) => fs.readFileSync(path.join(folder, name), "utf8");
const told = JSON.parse(read("workload.json"));
const engine = new RSPEngine(read("query.rspql"));
for (const quad of new N3.Parser({ format: "N-Triples" }).parse(read("static.nt"))) engine.addStaticData(quad);

let pending = 0, results = 0, first = null, began = 0;
const seconds = () => Number(process.hrtime.bigint()) / 1e9;
const execute = R2ROperator.prototype.execute;
R2ROperator.prototype.execute = async function (container) {
  pending += 1;
  const stream = await execute.call(this, container);
  stream.on("end", () => { pending -= 1; });
  stream.on("error", () => { pending -= 1; });
  return stream;
};
engine.register().on("RStream", (found) => {
  results += 1;
  if (first === null) first = seconds() - began;
  const bindings = {};
  for (const [variable, term] of found.bindings) bindings[variable.value] = term.value;
  process.stdout.write(JSON.stringify({ bindings }) + "\n");
});
const answered = async () => { do { await new Promise(setImmediate); } while (pending > 0); };

async function main() {
  const stream = engine.getStream(told.stream);
  const lines = read("stream.tnq").split("\n").filter((line) => line);
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
    stream.add(new N3.Parser({ format: "N-Triples" }).parse(statement)[0], Number(time));
  }
  await answered();
  if (mode === "each") waits.push(seconds() - start);
  waits.sort((a, b) => a - b);
  const latency = waits.length ? 1000 * waits[waits.length >> 1] : null;
  const figures = { seconds: seconds() - began, results, first_result: first, latency_ms: latency };
  process.stdout.write(JSON.stringify({ figures }) + "\n");
}
main();
