//! How the sources hang together: the modules of a crate import in one direction, a name means one thing, and functions
//! stay short. This reads the sources of all crates as text, and follows paths only as far as that needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// At most this share of all types may have a name that another type has too, in percent.
const MOST_SHARED_NAMES: usize = 1;

/// No function has more lines.
const MOST_LINES: usize = 78;

/// A source file without comments, literals and tests; line breaks are kept.
struct Source {
    /// From the crate's folder on: `src/loss/huber.rs`.
    path: String,
    /// `["loss", "huber"]`.
    module: Vec<String>,
    code: String,
}

struct Package {
    name: String,
    sources: Vec<Source>,
}

/// Where a module refers to another: file, line and path.
type Reference = (String, usize, String);

fn packages() -> Vec<Package> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<PathBuf> = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("src").is_dir());
    folders.sort();
    let package = |folder: &PathBuf| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let mut sources = Vec::new();
        read(&folder.join("src"), folder, &mut sources);
        sources.sort_by(|one: &Source, other| one.path.cmp(&other.path));
        Package { name, sources }
    };
    folders.iter().map(package).collect()
}

fn read(folder: &Path, root: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, root, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            let relative = path.strip_prefix(root).unwrap();
            let mut module: Vec<String> =
                relative.with_extension("").iter().skip(1).map(|part| part.to_str().unwrap().to_owned()).collect();
            if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                module.pop();
            }
            let code = without_tests(&without_text(&fs::read_to_string(&path).unwrap()));
            sources.push(Source { path: relative.to_str().unwrap().to_owned(), module, code });
        }
    }
}

/// Blanks all but line breaks.
fn blank(code: &mut [char]) {
    code.iter_mut().filter(|symbol| **symbol != '\n').for_each(|symbol| *symbol = ' ');
}

fn starts(code: &[char], at: usize, text: &str) -> bool {
    text.chars().enumerate().all(|(offset, symbol)| code.get(at + offset) == Some(&symbol))
}

/// Where the first occurrence of a text behind `from` ends, or the end.
fn behind(code: &[char], from: usize, text: &str) -> usize {
    (from..code.len()).find(|&at| starts(code, at, text)).map_or(code.len(), |at| at + text.chars().count())
}

fn is_word(symbol: char) -> bool {
    symbol.is_alphanumeric() || symbol == '_'
}

/// The code with blanks for comments, strings and characters.
fn without_text(source: &str) -> String {
    let mut code: Vec<char> = source.chars().collect();
    let mut at = 0;
    while at < code.len() {
        let end = match code[at] {
            '/' if starts(&code, at, "//") => (at..code.len()).find(|&at| code[at] == '\n').unwrap_or(code.len()),
            '/' if starts(&code, at, "/*") => behind(&code, at, "*/"),
            'r' if (at == 0 || !is_word(code[at - 1]) || code[at - 1] == 'b') && raw_hashes(&code, at).is_some() => {
                let hashes = raw_hashes(&code, at).unwrap();
                behind(&code, at + hashes + 2, &format!("\"{}", "#".repeat(hashes)))
            }
            '"' => {
                let mut end = at + 1;
                while end < code.len() && code[end] != '"' {
                    end += if code[end] == '\\' { 2 } else { 1 };
                }
                (end + 1).min(code.len())
            }
            // A character, or else a lifetime.
            '\'' if code.get(at + 1) == Some(&'\\') => behind(&code, at + 3, "'"),
            '\'' if code.get(at + 2) == Some(&'\'') => at + 3,
            _ => {
                at += 1;
                continue;
            }
        };
        blank(&mut code[at..end]);
        at = end;
    }
    code.into_iter().collect()
}

/// How many hashes a raw string begins with, if one begins here.
fn raw_hashes(code: &[char], at: usize) -> Option<usize> {
    let hashes = code[at + 1..].iter().take_while(|symbol| **symbol == '#').count();
    (code.get(at + 1 + hashes) == Some(&'"')).then_some(hashes)
}

/// The code with blanks for what is compiled for tests only.
fn without_tests(source: &str) -> String {
    let mut code: Vec<char> = source.chars().collect();
    let mut at = 0;
    while at < code.len() {
        if !starts(&code, at, "#[cfg(test") && !starts(&code, at, "#[cfg(all(test") {
            at += 1;
            continue;
        }
        let end = item_end(&code, behind(&code, at, "]"));
        blank(&mut code[at..end]);
        at = end;
    }
    code.into_iter().collect()
}

/// Where an item ends: behind its block, or its semicolon if that comes first.
fn item_end(code: &[char], from: usize) -> usize {
    match (from..code.len()).find(|&at| matches!(code[at], '{' | ';')) {
        Some(at) if code[at] == '{' => block_end(code, at),
        Some(at) => at + 1,
        None => code.len(),
    }
}

/// Where the block ends that begins here.
fn block_end(code: &[char], from: usize) -> usize {
    let mut depth = 0;
    for (at, symbol) in code.iter().enumerate().skip(from) {
        match symbol {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// All paths of a tree such as `a::{b::c, d}`.
fn paths(tree: &str) -> Vec<String> {
    let Some(open) = tree.find('{') else {
        // What it is called here does not matter.
        return vec![tree.split(" as ").next().unwrap().split_whitespace().collect()];
    };
    let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, symbol) in inner.char_indices() {
        match symbol {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    let head: String = tree[..open].split_whitespace().collect();
    parts
        .iter()
        .filter(|part| !part.trim().is_empty())
        .flat_map(|part| paths(part))
        .map(|path| head.clone() + &path)
        .collect()
}

/// All paths in some code that begin with `crate` or `super`, with their lines.
fn references(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if is_word(before) || before == ':' {
                continue;
            }
            let is_path = |symbol: &char| is_word(*symbol) || *symbol == ':';
            let mut length = code[at..].chars().take_while(is_path).map(char::len_utf8).sum::<usize>();
            if code[at + length..].starts_with('{') && code[..at + length].ends_with("::") {
                let tail: Vec<char> = code[at + length..].chars().collect();
                length += tail[..block_end(&tail, 0)].iter().map(|symbol| symbol.len_utf8()).sum::<usize>();
            }
            let line = code[..at].matches('\n').count() + 1;
            found.extend(paths(&code[at..at + length]).into_iter().map(|path| (line, path)));
        }
    }
    found
}

/// The top-level modules of a crate, to each those that it refers to, and where first.
fn graph(package: &Package) -> BTreeMap<String, BTreeMap<String, Reference>> {
    let modules: BTreeSet<&String> = package.sources.iter().filter_map(|source| source.module.first()).collect();
    // Names at the root: where they are defined.
    let mut root = BTreeMap::new();
    for source in package.sources.iter().filter(|source| source.module.is_empty()) {
        for statement in source.code.split(';') {
            let Some((_, tree)) = statement.split_once("pub use ") else { continue };
            for path in paths(tree) {
                let path = path.trim_start_matches("crate::").trim_start_matches("self::").to_owned();
                if let (Some(module), Some(name)) = (path.split("::").next(), path.rsplit("::").next())
                    && modules.contains(&module.to_owned())
                {
                    root.insert(name.to_owned(), module.to_owned());
                }
            }
        }
    }
    let mut graph: BTreeMap<String, BTreeMap<String, Reference>> =
        modules.iter().map(|module| ((*module).clone(), BTreeMap::new())).collect();
    for source in &package.sources {
        let Some(from) = source.module.first() else { continue };
        for (line, path) in references(&source.code) {
            let ups = path.split("::").take_while(|part| *part == "super").count();
            let rest = path.split("::").skip(if ups == 0 { 1 } else { ups });
            // Modules inside of a file are not counted: a path that goes up farther than files do stays in its module.
            let base = if ups == 0 { &[] } else { &source.module[..source.module.len().saturating_sub(ups)] };
            let Some(first) = base.iter().map(String::as_str).chain(rest).next() else { continue };
            let to =
                if modules.contains(&first.to_owned()) { Some(first.to_owned()) } else { root.get(first).cloned() };
            if let Some(to) = to.filter(|to| to != from) {
                graph.get_mut(from).unwrap().entry(to).or_insert((source.path.clone(), line, path));
            }
        }
    }
    graph
}

/// A shortest way from a module back to itself.
fn cycle(graph: &BTreeMap<String, BTreeMap<String, Reference>>, start: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in graph[way.last().unwrap()].keys() {
                if next == start {
                    return Some(way.into_iter().chain([next.clone()]).collect());
                }
                if seen.insert(next.clone()) {
                    longer.push(way.iter().chain([next]).cloned().collect());
                }
            }
        }
        ways = longer;
    }
    None
}

#[test]
fn top_level_modules_import_in_one_direction() {
    let mut faults = Vec::new();
    for package in packages() {
        let graph = graph(&package);
        let shortest = graph.keys().filter_map(|module| cycle(&graph, module)).min_by_key(Vec::len);
        let Some(cycle) = shortest else { continue };
        let edges = cycle.windows(2).map(|pair| {
            let (file, line, path) = &graph[&pair[0]][&pair[1]];
            format!("    {} needs {}: `{path}` in crates/{}/{file}:{line}\n", pair[0], pair[1], package.name)
        });
        let edges: String = edges.collect();
        let names = cycle.join(" → ");
        faults.push(format!("the modules of {} import each other in a circle, {names}:\n{edges}", package.name));
    }
    assert!(faults.is_empty(), "\n{}", faults.concat());
}

#[test]
fn few_types_share_a_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages() {
        for source in &package.sources {
            let mut words = source.code.split(|symbol: char| !is_word(symbol)).filter(|word| !word.is_empty());
            while let Some(word) = words.next() {
                if matches!(word, "struct" | "enum" | "union" | "trait")
                    && let Some(name) = words.next()
                    && name.starts_with(char::is_uppercase)
                {
                    places.entry(name.to_owned()).or_default().push(format!("{}/{}", package.name, source.path));
                }
            }
        }
    }
    let all: usize = places.values().map(Vec::len).sum();
    let shared: usize = places.values().map(Vec::len).filter(|&count| count > 1).sum();
    let list: String = places
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("    {name}: {}\n", places.join(", ")))
        .collect();
    assert!(
        100 * shared <= MOST_SHARED_NAMES * all,
        "{shared} of {all} types share their name with another, more than {MOST_SHARED_NAMES}%:\n{list}"
    );
}

#[test]
fn functions_are_short() {
    let mut long = Vec::new();
    for package in packages() {
        for source in &package.sources {
            for (at, _) in source.code.match_indices("fn ") {
                let is_function = !source.code[..at].ends_with(is_word)
                    && source.code[at + 3..].starts_with(|symbol: char| is_word(symbol));
                if !is_function {
                    continue;
                }
                let item: Vec<char> = source.code[at..].chars().collect();
                let lines = item[..item_end(&item, 0)].iter().filter(|symbol| **symbol == '\n').count() + 1;
                if lines > MOST_LINES {
                    let line = source.code[..at].matches('\n').count() + 1;
                    long.push(format!("    crates/{}/{}:{line}: {lines} lines\n", package.name, source.path));
                }
            }
        }
    }
    assert!(long.is_empty(), "functions of more than {MOST_LINES} lines:\n{}", long.concat());
}
