// How numbers, times and RDF terms are written for people.

const XSD = "http://www.w3.org/2001/XMLSchema#";
const NUMERIC = new Set(["integer", "decimal", "double", "float", "int", "long", "short", "byte",
  "nonNegativeInteger", "positiveInteger", "negativeInteger", "nonPositiveInteger",
  "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"].map((name) => XSD + name));

export function count(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Math.abs(value) >= 1e15) return value.toExponential(3).replace("e+", " × 10^");
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(1)} k`;
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(value < 10 ? 1 : 0);
}

export function bytes(value) {
  if (!Number.isFinite(value)) return "–";
  const step = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)));
  return `${(value / 1024 ** step).toFixed(step && value / 1024 ** step < 10 ? 1 : 0)} ${["B", "KiB", "MiB", "GiB", "TiB"][step]}`;
}

export function seconds(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size && size < 0.00995) return `${(value * 1000).toFixed(1)} ms`;
  if (size < 0.995) return `${Math.round(value * 1000)} ms`;
  if (size < 99.5) return `${value.toFixed(size < 9.95 ? 1 : 0)} s`;
  if (size < 5400) return `${Math.round(value / 60)} min`;
  if (size < 172800) return `${(value / 3600).toFixed(1)} h`;
  return `${Math.round(value / 86400)} d`;
}

// Times of events are shown in UTC, as they stand in results.
export function clock(ms, precise = false) {
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return "–";
  const text = new Date(ms).toISOString();
  return precise ? text.slice(11, 23) : text.slice(11, 19);
}

export function day(ms) {
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().slice(0, 10) : "";
}

export function timeOf(value) {
  if (value === null || value === undefined) return NaN;
  return typeof value === "number" ? value : Date.parse(value);
}

export function number(term) {
  if (!term || (term.type !== "literal" && term.type !== "typed-literal")) return NaN;
  if (!NUMERIC.has(term.datatype)) return NaN;
  const text = term.value.trim();
  return text === "" ? NaN : Number(text);
}

// The prefixes that a query declares, longest namespace first.
export function prefixesOf(text) {
  const found = [];
  for (const [, name, iri] of (text ?? "").matchAll(/\bPREFIX\s+([\w.-]*):\s*<([^>]*)>/gi)) found.push([name, iri]);
  found.push(["xsd", XSD]);
  return found.sort((one, other) => other[1].length - one[1].length);
}

export function shortIri(iri, prefixes = []) {
  for (const [name, space] of prefixes) {
    const rest = iri.slice(space.length);
    if (space && iri.startsWith(space) && /^[\w.-]+$/.test(rest)) return `${name}:${rest}`;
  }
  return iri;
}

function cutIri(text) {
  if (text.length < 24 || !text.includes("://")) return text;
  const parts = text.split(/(?<=[/#])(?=.)/);
  return `…/${parts.slice(-2).join("")}`;
}

// The end of an IRI, where room is short; the whole of it belongs in a title.
export function tail(iri) {
  const parts = iri.replace(/[/#]+$/, "").split(/[/#]/);
  return parts.length > 3 || iri.includes("#") ? parts[parts.length - 1] : iri.replace(/^https?:\/\//, "");
}

// A term for a cell or a label; the whole of it belongs in a title.
export function termText(term, prefixes = []) {
  if (!term) return "";
  if (term.type === "uri") return cutIri(shortIri(term.value, prefixes));
  if (term.type === "bnode") return `_:${term.value}`;
  if (term.type === "triple") {
    const { subject, predicate, object } = term.value;
    return `<< ${[subject, predicate, object].map((part) => termText(part, prefixes)).join(" ")} >>`;
  }
  const value = number(term);
  return /\.\d{7,}$/.test(term.value) && Math.abs(value) >= 1e-3 ? String(Number(value.toFixed(6))) : term.value;
}

export function plural(value, name) {
  return `${count(value)} ${name}${value === 1 ? "" : "s"}`;
}

export function termNote(term) {
  if (!term) return "";
  const lang = term["xml:lang"];
  if (lang) return `@${lang}`;
  if (!term.datatype || term.datatype === `${XSD}string` || NUMERIC.has(term.datatype)) return "";
  return tail(term.datatype);
}

export function termFull(term) {
  if (!term) return "";
  if (term.type === "uri") return `<${term.value}>`;
  const note = term["xml:lang"] ? `@${term["xml:lang"]}` : term.datatype ? `^^<${term.datatype}>` : "";
  return term.type === "bnode" ? `_:${term.value}` : `${JSON.stringify(term.value ?? "")}${note}`;
}
