// rsp_rs_driver DIR MODE: rsp-rs, which answers in a thread of its own. A message is through when the window
// tells that it changed at its time; the engine holds the window's lock until all that follows has been sent.
use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::model::{GraphName, NamedNode, Quad};
use rsp_rs::{BindingWithTimestamp, CSPARQLWindow, RSPEngine};
use serde_json::{json, Map, Value};
use std::io::{BufWriter, Stdout, Write};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{env, fs, process, thread};

/// The results that have come so far, written as they come.
struct Results {
    from: Receiver<BindingWithTimestamp>,
    out: BufWriter<Stdout>,
    count: usize,
    first: Option<f64>,
    began: Instant,
}

impl Results {
    fn take(&mut self) {
        while let Ok(found) = self.from.try_recv() {
            self.count += 1;
            if self.first.is_none() {
                self.first = Some(self.began.elapsed().as_secs_f64());
            }
            let line = json!({ "bindings": bindings(&found.bindings) });
            writeln!(self.out, "{line}").expect("standard output");
        }
    }
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let (folder, mode) = (Path::new(&arguments[1]), arguments[2].as_str());
    let text = |name: &str| fs::read_to_string(folder.join(name)).expect(name);
    if !folder.join("query.rspql").exists() {
        println!("{}", json!({"cannot": "it reads RSP-QL, and reports windows that close only"}));
        process::exit(0);
    }
    let told: Value = serde_json::from_str(&text("workload.json")).expect("workload.json");
    let name = |key: &str| told[key].as_str().expect(key).to_string();
    let mut engine = RSPEngine::new(text("query.rspql"));
    engine.initialize().expect("the engine starts");
    add_static(&mut engine, &text("static.nt"), GraphName::DefaultGraph);
    for (iri, file) in told["graphs"].as_object().expect("graphs") {
        let graph = NamedNode::new(iri).expect("the IRI of a graph");
        add_static(&mut engine, &text(file.as_str().expect("a file")), graph.into());
    }
    let stream = engine.get_stream(&name("stream")).expect("the stream of the query");
    let window = engine.get_window(&name("window")).expect("the window of the query");
    let input = text("stream.tnq");
    let messages = messages(&input);
    let mut waits = Vec::with_capacity(messages.len());
    let from = engine.start_processing();
    let out = BufWriter::with_capacity(1 << 16, std::io::stdout());
    let mut results = Results { from, out, count: 0, first: None, began: Instant::now() };
    for (time, statements) in &messages {
        let start = Instant::now();
        let quads = statements.iter().map(|text| quad(text)).collect();
        stream.add_quads(quads, *time).expect("the engine takes a message");
        if mode == "each" {
            wait(&window, *time, &mut results);
            waits.push(start.elapsed().as_secs_f64());
        } else {
            results.take();
        }
    }
    wait(&window, messages.last().expect("a message").0, &mut results);
    results.out.flush().expect("standard output");
    let seconds = results.began.elapsed().as_secs_f64();
    waits.sort_by(f64::total_cmp);
    let at = |share: f64| {
        (!waits.is_empty()).then(|| 1000.0 * waits[(share * (waits.len() - 1) as f64) as usize])
    };
    let figures = json!({
        "seconds": seconds, "results": results.count, "first_result": results.first,
        "latency_ms": at(0.5), "latency_p99_ms": at(0.99),
    });
    println!("{}", json!({ "figures": figures }));
    process::exit(0);
}

fn add_static(engine: &mut RSPEngine, text: &str, graph: GraphName) {
    for triple in RdfParser::from_format(RdfFormat::NTriples).for_slice(text.as_bytes()) {
        let triple = triple.expect("a static triple");
        engine.add_static_data(Quad::new(triple.subject, triple.predicate, triple.object, graph.clone()));
    }
}

/// Times and the statements that share them.
fn messages(input: &str) -> Vec<(i64, Vec<&str>)> {
    let mut found: Vec<(i64, Vec<&str>)> = Vec::new();
    for line in input.lines() {
        let (time, statement) = line.split_once('\t').expect("TIME, tabulator, STATEMENT");
        let time = time.parse().expect("milliseconds");
        match found.last_mut() {
            Some((last, statements)) if *last == time => statements.push(statement),
            _ => found.push((time, vec![statement])),
        }
    }
    found
}

fn quad(statement: &str) -> Quad {
    let mut parser = RdfParser::from_format(RdfFormat::NTriples).for_slice(statement.as_bytes());
    parser.next().expect("a statement").expect("a statement")
}

fn wait(window: &Arc<Mutex<CSPARQLWindow>>, time: i64, results: &mut Results) {
    loop {
        results.take();
        let reached = window
            .lock()
            .expect("the engine's thread runs")
            .active_windows
            .values()
            .any(|content| content.last_timestamp_changed == time);
        if reached {
            return results.take();
        }
        thread::yield_now();
    }
}

/// The engine gives a solution as Rust's debugging text; here it becomes terms of SPARQL's JSON.
fn bindings(text: &str) -> Map<String, Value> {
    let mut found = Map::new();
    let (mut rest, mut variable) = (text, String::new());
    while let Some(start) = rest.find('"') {
        let before = &rest[..start];
        let (value, length) = unquoted(&rest[start + 1..]);
        rest = &rest[start + 1 + length..];
        if before.ends_with("Variable { name: ") {
            variable = value;
        } else if before.ends_with("datatype: NamedNode { iri: ") {
            found[&variable]["datatype"] = value.into();
        } else if before.ends_with("language: ") {
            found[&variable]["xml:lang"] = value.into();
        } else {
            let form = match before {
                _ if before.contains("Literal(") => "literal",
                _ if before.contains("BlankNode(") => "bnode",
                _ => "uri",
            };
            found.insert(variable.clone(), json!({"type": form, "value": value}));
        }
    }
    found
}

/// A string of Rust's debugging text up to its closing quote, and how many bytes were read.
fn unquoted(text: &str) -> (String, usize) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, at + 1),
            '\\' => match characters.next().map(|(_, escaped)| escaped) {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some('0') => value.push('\0'),
                Some('u') => {
                    let digits: String = characters
                        .by_ref()
                        .skip(1)
                        .map(|(_, digit)| digit)
                        .take_while(|digit| *digit != '}')
                        .collect();
                    let code = u32::from_str_radix(&digits, 16).expect("a code point");
                    value.push(char::from_u32(code).expect("a code point"));
                }
                Some(other) => value.push(other),
                None => break,
            },
            _ => value.push(character),
        }
    }
    panic!("a string without an end: {text}")
}
