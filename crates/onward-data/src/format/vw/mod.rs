//! Vowpal Wabbit's text, one example per line:
//! `[label [importance [base]]] ['tag]|namespace[:weight] feature[:value] … |namespace …`.
//!
//! What stands last before the first bar is a tag if it begins with a quote or
//! touches the bar. A feature without a value has value 1; values are multiplied
//! by the weight of their namespace; zeros are dropped. A feature is hashed by
//! the names of its namespace (empty after a lone bar) and its own; the values of a
//! name that occurs twice are added up. Examples over several
//! lines and labels with costs are refused.

mod fast_path;
mod write;

use memchr::memchr;
use onward::hashing::feature_hash as hash;

use super::by_line::FeatureEncoder;
use super::detect::is_number;
use super::records::{LineParser, each_line};
use super::sparse::{self, is_blank, skip_blanks, word_end};
use super::write::Writing;
use super::{FirstLines, Head, Recognition, TextFormat};
use crate::encode::{ParsedBatch, Rules, bad_weight, checked_offset, checked_weight, name_of};
use crate::error::{DataError, MEND, Result, quoted};
use crate::schema::sample::{FirstRows, LabelSample};
use crate::schema::{CellValue, Layout, Schema};
use crate::source::{Boundaries, Chunk, Parser};
use crate::text::lines::line_end;
use crate::text::numbers;
use fast_path::{FastFeatures, FastNamedLines};

/// The format.
pub(super) struct Vw;

impl TextFormat for Vw {
    fn name(&self) -> &str {
        "vw"
    }

    fn summary(&self) -> &str {
        "Vowpal Wabbit's text: label importance base tag|namespace name:value …"
    }

    fn endings(&self) -> &[&str] {
        &["vw"]
    }

    fn layout(&self) -> Layout {
        Layout::Named
    }

    fn recognise(&self, head: &Head<'_>) -> Recognition {
        Recognition::surely(is_vw(head.line()) && !head.may_be_row(b'|'))
    }

    fn admits(&self, head: &Head<'_>) -> bool {
        head.line().contains(&b'|')
    }

    fn sample(&self, first: &FirstLines<'_>) -> Result<FirstRows> {
        let mut sample = LabelSample::default();
        for (prefix, features) in first.lines().filter_map(|line| split(line).ok()) {
            sample.label(prefix.label);
            for part in features.split(|&byte| byte == b'|').skip(1) {
                sample.namespace(&part[..name_end(part, 0)]);
            }
        }
        Ok(FirstRows::Labels(sample))
    }

    fn parser(&self, _: Boundaries, rules: &Rules) -> Box<dyn Parser> {
        Box::new(VwParser { row: VwEncoder::new(&rules.schema), rules: rules.clone() })
    }

    fn id_names(&self, _: &Schema) -> Vec<String> {
        vec!["tag".to_owned()]
    }

    fn writing(&self) -> Writing {
        Writing::Examples(write::vw)
    }
}

/// Something, a bar, features: with what stands before the first bar being a label, be it
/// one of an example over several lines, whose parser says that it is not read.
fn is_vw(line: &[u8]) -> bool {
    let Some(bar) = memchr(b'|', line) else { return false };
    let mut words = line[..bar].split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    words.next().is_none_or(|word| {
        word == b"shared" || word.starts_with(b"'") || word.split(|&byte| byte == b':').all(is_number)
    })
}

/// What stands before the first bar; all as written, empty if it is missing.
#[derive(Default)]
struct VwPrefix<'a> {
    label: &'a [u8],
    importance: &'a [u8],
    base: &'a [u8],
    tag: &'a [u8],
}

/// Parses chunks of Vowpal Wabbit's text.
struct VwParser {
    rules: Rules,
    row: VwEncoder,
}

/// The hot path, apart from the rules so that both can be borrowed.
struct VwEncoder {
    features: FeatureEncoder,
    fast: FastNamedLines,
    /// The features of a row that are not 0.
    kept: (Vec<u32>, Vec<f32>),
    /// The features of a row that are met for the first time.
    new: Vec<u32>,
}

impl Parser for VwParser {
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
        out.id_columns = 1;
        self.row.fast.window.begin();
        each_line(chunk, self.rules.skip_errors, out, self)
    }
}

impl LineParser for VwParser {
    fn end(&mut self, text: &[u8], start: usize) -> usize {
        match self.row.features.ignored.is_empty() {
            true => self.row.fast.go_to(&self.rules.schema, &self.row.features.seen, text, start),
            false => line_end(text, start),
        }
    }

    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result {
        let Self { rules, row } = self;
        let (prefix, features) = split(line)?;
        let label = rules.label(CellValue::Text(prefix.label))?;
        let weight = number(prefix.importance, 1.0, checked_weight, bad_weight)?;
        let base = number(prefix.base, 0.0, checked_offset, |found| {
            DataError::record(format!("the base (initial prediction) must be a finite number; got {found}"))
                .advise("fix it, or write a quote (') before it if it is a tag")
        });
        out.batch.set_offset(base?);
        if !row.fast_features(line, out) {
            row.slow_features(rules, features, out)?;
        }
        out.ids.push(prefix.tag);
        row.features.end(&rules.schema, (label, weight), out)
    }
}

/// Splits a line at its first bar.
fn split(line: &[u8]) -> Result<(VwPrefix<'_>, &[u8])> {
    let Some(bar) = memchr(b'|', line) else {
        return Err(DataError::record(format!("expected '|' and features, found {}", quoted(line))).advise(MEND));
    };
    let (before, features) = line.split_at(bar);
    let mut words = [&[][..]; 4];
    let mut count = 0;
    for word in before.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty()) {
        *words.get_mut(count).ok_or_else(|| too_many(before))? = word;
        count += 1;
    }
    let prefix = prefix(&words[..count], before.last().is_some_and(|&byte| !is_blank(byte)))?;
    Ok((prefix, features))
}

/// Tells label, importance, base and tag apart. `touches`: no blank before the bar.
fn prefix<'a>(words: &[&'a [u8]], touches: bool) -> Result<VwPrefix<'a>> {
    let (numbers, tag) = match words.split_last() {
        Some((last, before)) if last.starts_with(b"'") => (before, &last[1..]),
        // Vowpal Wabbit takes it for a tag and the example for one without a label.
        Some((last, [])) if touches && last.split(|&byte| byte == b':').all(is_number) => {
            return Err(DataError::record(format!("{} touches the bar", quoted(last)))
                .advise("write a blank after it if it is a label, or a quote (') before it if it is a tag"));
        }
        Some((last, before)) if touches => (before, *last),
        _ => (words, &[][..]),
    };
    // The label of an action is like `2:0.5:0.1`.
    if let Some(word) = numbers.iter().find(|word| **word == b"shared" || word.contains(&b':')) {
        return Err(DataError::record(format!(
            "{} belongs to an example over several lines or a label with costs",
            quoted(word)
        ))
        .advise("write one example per line, with a number as its label"));
    }
    let word = |at: usize| numbers.get(at).copied().unwrap_or_default();
    if numbers.len() > 3 {
        return Err(too_many(&numbers.join(&b' ')));
    }
    Ok(VwPrefix { label: word(0), importance: word(1), base: word(2), tag })
}

fn too_many(found: &[u8]) -> DataError {
    DataError::record(format!("too many words before the bar: {}", quoted(found.trim_ascii())))
        .advise("there may be a label, its importance, a base and a tag")
}

/// A number before the bar, or what is `absent` where there is none.
fn number(text: &[u8], absent: f64, checked: fn(f64) -> Result<f64>, bad: fn(&str) -> DataError) -> Result<f64> {
    if text.is_empty() {
        return Ok(absent);
    }
    numbers::finite(text).ok_or_else(|| bad(&quoted(text))).and_then(checked)
}

impl VwEncoder {
    fn new(schema: &Schema) -> Self {
        Self {
            features: FeatureEncoder::new(schema),
            fast: FastNamedLines::default(),
            kept: Default::default(),
            new: Vec::new(),
        }
    }

    /// Adds the bias and all features of the current line, if they are plain; else nothing.
    fn fast_features(&mut self, line: &[u8], out: &mut ParsedBatch) -> bool {
        let FastNamedLines { window, numbers, found } = &self.fast;
        let Some((indexed, row)) = window.current().filter(|(_, row)| row.is_plain) else { return false };
        let (first, count) = (row.features.start, row.features.len());
        let has_zero = numbers.have_zero(first, count);
        let features = FastFeatures {
            line,
            start: indexed.start,
            first,
            indices: &found.indices[row.features.clone()],
            values: numbers.values(first, count),
            names: &found.names[row.features.clone()],
            namespaces: &found.namespaces[row.namespaces.clone()],
        };
        let FeatureEncoder { seen, products, .. } = &mut self.features;
        out.push_bias(seen);
        if !seen.all(features.indices) {
            seen.find_new(features.indices, &mut self.new);
            features.name(&self.new, seen, out);
        }
        let mut products = products.as_deref_mut();
        if let Some(products) = &mut products {
            products.begin();
        }
        if has_zero {
            features.add_kept(&mut self.kept, products, out);
            return true;
        }
        if let Some(products) = products {
            for namespace in features.namespaces {
                let pending = out.batch.pending() + namespace.first - first;
                products.namespace(namespace.seed, features.within(namespace.name), pending);
            }
        }
        out.batch.extend(features.indices, features.values);
        true
    }

    /// Adds the bias and the features of all namespaces; `text` begins with a bar.
    fn slow_features(&mut self, rules: &Rules, text: &[u8], out: &mut ParsedBatch) -> Result {
        self.features.begin(out);
        let mut at = 0;
        while at < text.len() {
            at = self.namespace(rules, text, at + 1, out)?;
        }
        Ok(())
    }

    /// Adds the features of the namespace whose name begins at `start`; returns where
    /// the next bar is, or the end.
    // This alone is not inlined, and all that it calls is: 264 instead of 320 instructions
    // a feature.
    #[inline(never)]
    fn namespace(&mut self, rules: &Rules, text: &[u8], start: usize, out: &mut ParsedBatch) -> Result<usize> {
        let end = name_end(text, start);
        let namespace = &text[start..end];
        if self.features.ignored.iter().any(|name| name.as_bytes() == namespace) {
            return Ok(memchr(b'|', &text[end..]).map_or(text.len(), |at| end + at));
        }
        let (weight, mut at) = match text.get(end) {
            Some(b':') if namespace.is_empty() => return Err(nameless(text, start)),
            Some(b':') => value_at(text, end).map_err(|error| error.column(&String::from_utf8_lossy(namespace)))?,
            _ => (1.0, end),
        };
        let seed = hash::seed(namespace);
        if let Some(products) = &mut self.features.products {
            products.namespace(seed, namespace, out.batch.pending());
        }
        loop {
            at = skip_blanks(text, at);
            if at == text.len() || text[at] == b'|' {
                return Ok(at);
            }
            let end = name_end(text, at);
            let name = &text[at..end];
            let (value, next) = match text.get(end) {
                Some(b':') if name.is_empty() => {
                    return Err(nameless(text, at).column(&String::from_utf8_lossy(namespace)));
                }
                Some(b':') => value_at(text, end).map_err(|error| located(error, namespace, name))?,
                _ => (1.0, end),
            };
            let value = sparse::narrow(value * weight).map_err(|error| located(error, namespace, name))?;
            if value != 0.0 {
                let index = rules.hashed(hash::name(seed, name));
                out.push(&mut self.features.seen, index, value, |names| name_of(names, index, namespace, name));
            }
            at = next;
        }
    }
}

/// An error with the name of a feature for people.
fn located(error: DataError, namespace: &[u8], name: &[u8]) -> DataError {
    let (namespace, name) = (String::from_utf8_lossy(namespace), String::from_utf8_lossy(name));
    error.column(&if namespace.is_empty() { name.into_owned() } else { format!("{namespace}^{name}") })
}

fn nameless(text: &[u8], at: usize) -> DataError {
    let word = &text[at..word_end(text, at)];
    DataError::record(format!("expected a name before the colon, found {}", quoted(word))).advise(MEND)
}

/// Where the name that begins at `at` ends: at a blank, a colon or a bar.
fn name_end(text: &[u8], mut at: usize) -> usize {
    while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
        let length = length_of_name(u64::from_le_bytes(*eight));
        at += length;
        if length < 8 {
            return at;
        }
    }
    while at < text.len() && !matches!(text[at], b' ' | b'\t' | b':' | b'|') {
        at += 1;
    }
    at
}

/// How many of eight bytes, the first being the lowest, come before a blank, a colon or a
/// bar: all at once, as names differ in length and the processor cannot guess.
fn length_of_name(eight: u64) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // The lowest high bit that is set is that of the first byte that equals the mark.
    let equal = |mark: u8| {
        let zero = eight ^ (EACH * u64::from(mark));
        zero.wrapping_sub(EACH) & !zero & (EACH * 0x80)
    };
    let marks = equal(b' ') | equal(b'\t') | equal(b':') | equal(b'|');
    (marks.trailing_zeros() / 8) as usize
}

/// The value after the colon, and where it ends.
#[inline(always)]
fn value_at(text: &[u8], colon: usize) -> Result<(f64, usize)> {
    sparse::value_at(text, colon + 1, |byte| is_blank(byte) || byte == b'|')
}

#[cfg(test)]
mod tests;
