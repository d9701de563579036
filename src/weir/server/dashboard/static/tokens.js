// The colours of a query: a tokenizer of SPARQL and the four stream dialects, forgiving of unfinished text.

const QUERY = `ADD ALL ALTER AS ASC ASK BASE BIND BY CLEAR CONSTRUCT COPY CREATE DATA DEFAULT DELETE DESC
  DESCRIBE DISTINCT DROP EXISTS FALSE FILTER FROM GRAPH GROUP HAVING IN INSERT INTO LIMIT LOAD MINUS MOVE NAMED
  NOT OFFSET OPTIONAL ORDER PREFIX REDUCED SELECT SEPARATOR SERVICE SILENT TO TRUE UNDEF UNION USING VALUES
  WHERE WITH A`;
const STREAMING = `REGISTER STREAM RSTREAM ISTREAM DSTREAM WINDOW ON RANGE STEP SLIDE NOW TRIPLES ELEMENTS
  STARTING AT FIRST REPORT CLOSE CONTENT CHANGE NON EMPTY PERIODIC CLOSED BAG TICK TUPLE BATCH TIME TIMES LATENESS
  AHEAD BOUNDS
  PREVIOUS EVALUATION INSTANT EMIT AFTER COMPUTED EVERY TUMBLING QUERY MESSAGE MS S SECOND SECONDS MIN MINUTE
  MINUTES HR HOUR HOURS DAY DAYS BUDGET POLICY`;
const words = (text) => new Set(text.split(/\s+/));
const KEYWORDS = words(QUERY);
const STREAM_WORDS = words(STREAMING);

// What completion offers, as it is written.
const FUNCTIONS = `ABS AVG BNODE BOUND CEIL COALESCE CONCAT CONTAINS COUNT DATATYPE DAY ENCODE_FOR_URI FLOOR GROUP_CONCAT
  HOURS IF IRI LANG LANGMATCHES LCASE MAX MD5 MIN MINUTES MONTH RAND REGEX REPLACE ROUND SAMETERM SAMPLE SECONDS SHA256
  STR STRAFTER STRBEFORE STRDT STRENDS STRLANG STRLEN STRSTARTS SUBSTR SUM TIMEZONE TZ UCASE URI UUID YEAR`;
export const WORDS = [...KEYWORDS, ...STREAM_WORDS, ...words(FUNCTIONS)].filter((word) => word.length > 2)
  .sort((one, other) => one.length - other.length);

const PATTERNS = [
  ["space", /\s+/y],
  ["comment", /#[^\n]*/y],
  ["iri", /<[^<>"{}|^`\\\s]*>/y],
  ["string", /"""(?:[^"\\]|\\[^]|"(?!""))*(?:"""|$)|'''(?:[^'\\]|\\[^]|'(?!''))*(?:'''|$)/y],
  ["string", /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/y],
  ["tag", /@[A-Za-z]+(?:-[A-Za-z0-9]+)*/y],
  ["variable", /[?$][\p{L}\p{N}_]+/uy],
  ["duration", /P(?=[\dT])(?:\d+[YMWD])*(?:T(?:\d+(?:\.\d+)?[HMS])+)?(?![\w:])/y],
  ["duration", /\d+(?:ms|ns|[smhd])(?:\d+(?:ms|ns|[smhd]))*(?![\w:])/y],
  ["number", /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ["name", /_:[\p{L}\p{N}_.-]+|[\p{L}][\p{L}\p{N}_.-]*:[\p{L}\p{N}_.:%-]*|:[\p{L}\p{N}_.:%-]*/uy],
  ["word", /[\p{L}_][\p{L}\p{N}_]*/uy],
  ["mark", /\^\^|&&|\|\||[<>!]=|[^]/y],
];

// Tokens {kind, start, end} that cover the text without gaps.
export function tokens(text) {
  const found = [];
  let at = 0;
  while (at < text.length) {
    for (const [name, pattern] of PATTERNS) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (!match || !match[0]) continue;
      const end = at + match[0].length;
      found.push({ kind: name === "word" ? wordKind(match[0], text, end) : name, start: at, end });
      at = end;
      break;
    }
  }
  return found;
}

function wordKind(word, text, end) {
  const upper = word.toUpperCase();
  if (upper === "A" && word !== "a") return "word";
  if (STREAM_WORDS.has(upper) && !(upper === "NOW" && text[end] === "(")) return "stream";
  if (KEYWORDS.has(upper)) return "keyword";
  return /^\s*\(/.test(text.slice(end, end + 8)) ? "function" : "word";
}

// The offset of a place given as line and column, both from one; columns count code points.
export function offsetOf(text, line, column) {
  const lines = text.split("\n");
  let start = 0;
  for (let i = 0; i < line - 1 && i < lines.length - 1; i += 1) start += lines[i].length + 1;
  const own = lines[Math.min(line, lines.length) - 1] ?? "";
  return start + [...own].slice(0, Math.max(0, column - 1)).join("").length;
}
