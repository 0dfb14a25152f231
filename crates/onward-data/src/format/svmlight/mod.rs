//! The text of SVMlight and LIBSVM: `label[ qid:N] index:value … [# comment]`.
//!
//! Feature i of the file is index i + 1 of the examples, index 0 being the bias:
//! files that count from 0 and files that count from 1 are read alike. A label
//! `?` (or `nan`, `NA`) is a missing one. Zeros are dropped. `qid`, which groups rows for
//! ranking, is not used. A row names a feature once, in any order.

mod write;

use std::ops::Range;

use memchr::memchr;

use super::detect::is_number;
use super::records::{LineParser, each_line};
use super::sparse::{self, is_blank, skip_blanks, word_end};
use super::write::Writing;
use super::{FirstLines, Head, Recognition, TextFormat};
use crate::encode::{BIAS, NamesSeen, ParsedBatch, Rules};
use crate::error::{DataError, MEND, Result, quoted};
use crate::schema::sample::{FirstRows, LabelSample};
use crate::schema::{CellValue, Layout};
use crate::source::{Boundaries, Chunk, Parser};
use crate::text::numbers::{self, batch::DecimalBatch};
use crate::text::window::Window;

/// More digits than any index has, and few enough to fit a u64.
const INDEX_DIGITS: usize = 18;

/// The format.
pub(super) struct Svmlight;

impl TextFormat for Svmlight {
    fn name(&self) -> &str {
        "svmlight"
    }

    fn summary(&self) -> &str {
        "LIBSVM and SVMlight text: label index:value …"
    }

    fn endings(&self) -> &[&str] {
        &["svm", "svmlight", "libsvm"]
    }

    fn layout(&self) -> Layout {
        Layout::Indexed
    }

    fn recognise(&self, head: &Head<'_>) -> Recognition {
        Recognition::surely(is_svmlight(head.line()) && !head.may_be_row(b':'))
    }

    fn admits(&self, head: &Head<'_>) -> bool {
        let (label, pairs) = label_and_pairs(head.line());
        let mut pairs = pairs.peekable();
        // Classes may have names, but a word alone is a header.
        match pairs.peek() {
            None => label.is_empty() || label == b"?" || is_number(label) || numbers::is_missing(label),
            Some(_) => pairs.all(is_pair),
        }
    }

    fn sample(&self, first: &FirstLines<'_>) -> Result<FirstRows> {
        let mut sample = LabelSample::default();
        for line in first.lines().map(content).filter(|line| !line.is_empty()) {
            if let Ok((label, _)) = label(line) {
                sample.label(label);
            }
        }
        Ok(FirstRows::Labels(sample))
    }

    fn parser(&self, _: Boundaries, rules: &Rules) -> Box<dyn Parser> {
        Box::new(SvmlightParser { rules: rules.clone(), row: SvmlightEncoder::new(rules.schema.bits) })
    }

    fn writing(&self) -> Writing {
        Writing::Examples(write::svmlight)
    }
}

/// The first word of a line, and the others, without a comment.
fn label_and_pairs(line: &[u8]) -> (&[u8], impl Iterator<Item = &[u8]>) {
    let mut words = content(line).split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    (words.next().unwrap_or(&[]), words)
}

/// `label index:value …`: a number (or `?`), then only pairs (and a qid, and a comment).
fn is_svmlight(line: &[u8]) -> bool {
    if content(line).iter().find(|byte| matches!(byte, b'|' | b':')) == Some(&b'|') {
        // A namespace: with a weight, it looks like a pair.
        return false;
    }
    let (label, pairs) = label_and_pairs(line);
    let mut pairs = pairs.peekable();
    (is_number(label) || label == b"?") && pairs.peek().is_some() && pairs.all(is_pair)
}

/// A number, a colon and something. A name with a number (`-1:0.5`, `a:1`) is one too, for
/// the parser then says what is wrong.
fn is_pair(word: &[u8]) -> bool {
    let Some(colon) = memchr(b':', word) else { return false };
    let (name, value) = (&word[..colon], &word[colon + 1..]);
    let is_index = name == b"qid" || name.iter().all(u8::is_ascii_digit);
    !name.is_empty() && if is_index { !value.is_empty() } else { !name.contains(&b',') && is_number(value) }
}

/// Parses chunks of SVMlight text.
struct SvmlightParser {
    rules: Rules,
    row: SvmlightEncoder,
}

/// The hot path, apart from the rules so that both can be borrowed.
struct SvmlightEncoder {
    seen: NamesSeen,
    /// Indices are below this.
    limit: u64,
    bits: u32,
    /// The indices of a row that is not in order.
    indices: Vec<u64>,
    fast: FastLines,
}

impl Parser for SvmlightParser {
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
        self.row.fast.window.begin();
        each_line(chunk, self.rules.skip_errors, out, self)
    }
}

impl LineParser for SvmlightParser {
    fn end(&mut self, text: &[u8], start: usize) -> usize {
        self.row.fast.go_to(text, start)
    }

    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result {
        let Self { rules, row } = self;
        if let Some(text) = row.fast.label(line) {
            let label = rules.label(CellValue::Text(text))?;
            if row.fast_features(out) {
                out.batch.finish(label, 1.0);
                return Ok(());
            }
        }
        let line = content(line);
        if line.is_empty() {
            return Ok(());
        }
        let (text, start) = label(line)?;
        let label = rules.label(CellValue::Text(text))?;
        row.features(line, start, out)?;
        out.batch.finish(label, 1.0);
        Ok(())
    }
}

/// The line without its comment and the blanks around it.
fn content(line: &[u8]) -> &[u8] {
    line[..memchr(b'#', line).unwrap_or(line.len())].trim_ascii()
}

/// The label of a line that is not blank (empty if it is missing), and where its features begin.
fn label(line: &[u8]) -> Result<(&[u8], usize)> {
    let end = word_end(line, 0);
    let label = &line[..end];
    if label.contains(&b':') {
        return Err(DataError::record(format!("the line begins with {} instead of a label", quoted(label)))
            .advise("write ? where the label is missing"));
    }
    let label = if label == b"?" { b"" } else { label };
    let start = skip_blanks(line, end);
    match line[start..].strip_prefix(b"qid:") {
        Some(query) => {
            let digits = &query[..word_end(query, 0)];
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return Err(DataError::record(format!("qid must be a whole number; got {}", quoted(digits)))
                    .column("qid")
                    .advise("Onward does not use it"));
            }
            Ok((label, start + b"qid:".len() + digits.len()))
        }
        None => Ok((label, end)),
    }
}

/// Rows that are plain: single blanks between features, indices of up to eight digits that ascend, no
/// comment. Some lines are looked at together, and the numbers of a line.
#[derive(Default)]
struct FastLines {
    window: Window<FastLine>,
    numbers: DecimalBatch,
    /// The features of the current row without those that are 0.
    indices: Vec<u32>,
    values: Vec<f32>,
}

/// A line that was looked at.
struct FastLine {
    /// The numbers of its features.
    features: Range<usize>,
    is_plain: bool,
}

impl FastLines {
    /// Goes on to the line that begins at `start`, and tells where it ends.
    fn go_to(&mut self, text: &[u8], start: usize) -> usize {
        if self.window.go_to(text, start, [b':', b' ']).is_some() {
            self.read_window(text);
        }
        self.window.end(text, start)
    }

    /// Reads the numbers of the lines in the window.
    fn read_window(&mut self, text: &[u8]) {
        let Self { window, numbers, .. } = self;
        numbers.clear();
        window.fill(|index, line| {
            let mut positions = index.positions(line);
            // Blank, colon, blank, colon, …, end, which may be a blank at the end of the line.
            if let [.., blank, end] = *positions
                && positions.len() % 2 == 0
                && blank + 1 == end
                && text.get(blank as usize) == Some(&b' ')
            {
                positions = &positions[..positions.len() - 1];
            }
            let first = numbers.len();
            let is_plain = positions.len() % 2 == 1 && line.has_room(text) && numbers.read_pairs(text, positions);
            FastLine { features: first..numbers.len(), is_plain }
        });
    }

    /// The label of the current line, if it is plain.
    fn label<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let (found, _) = self.window.current().filter(|(_, row)| row.is_plain)?;
        let end = self.window.index.positions(found)[0] - found.start;
        let label = &line[..end as usize];
        match label {
            b"" => None,
            b"?" => Some(b""),
            // A comment, or blanks of other kinds, at which labels end.
            _ if label.iter().any(|&byte| byte == b'#' || byte.is_ascii_whitespace()) => None,
            _ => Some(label),
        }
    }

    /// The indices and values of the current line, which is plain. If zeros were dropped, the indices are known to
    /// ascend to the limit; `None` if they do not.
    fn features(&mut self, limit: u32) -> Option<(&[u32], &[f32])> {
        let (_, FastLine { features, .. }) = self.window.current()?;
        let (first, count) = (features.start, features.len());
        let (indices, values) = self.numbers.pairs(first, count);
        if !self.numbers.have_zero(first, count) {
            return Some((indices, values));
        }
        if !indices.is_sorted_by(|one, next| one < next) || indices.last().is_some_and(|&last| last > limit) {
            return None;
        }
        self.indices.clear();
        self.values.clear();
        for (&index, &value) in indices.iter().zip(values).filter(|&(_, &value)| value != 0.0) {
            self.indices.push(index);
            self.values.push(value);
        }
        Some((&self.indices, &self.values))
    }
}

impl SvmlightEncoder {
    fn new(bits: u32) -> Self {
        Self { seen: NamesSeen::default(), limit: 1 << bits, bits, indices: Vec::new(), fast: FastLines::default() }
    }

    /// Adds the bias and the features of the current line, which is plain, if its indices ascend; else nothing.
    fn fast_features(&mut self, out: &mut ParsedBatch) -> bool {
        // Indices of features are the file's plus 1.
        let limit = self.limit as u32;
        let Some((indices, values)) = self.fast.features(limit) else { return false };
        out.batch.push(BIAS, 1.0);
        if !out.batch.extend_ascending(indices, values, limit) {
            out.batch.abandon();
            return false;
        }
        if self.seen.first(BIAS) {
            out.names.push(BIAS, &[&name(BIAS)]);
        }
        if !self.seen.all_ascending(indices) {
            for index in indices.iter().copied().filter(|&index| self.seen.first(index)) {
                out.names.push(index, &[&name(index)]);
            }
        }
        true
    }

    /// Adds the bias and the features from `start` to the end of the line.
    // Not inlined: on its own the loop has the registers to itself (212 instead of 250
    // instructions a feature).
    #[inline(never)]
    fn features(&mut self, line: &[u8], start: usize, out: &mut ParsedBatch) -> Result {
        self.push(BIAS, 1.0, out);
        let mut at = skip_blanks(line, start);
        let mut lowest = 0;
        let mut in_order = true;
        while at < line.len() {
            let (index, colon) = numbers::digits_from(line, at, 0);
            if line.get(colon) != Some(&b':') || colon == at || colon - at > INDEX_DIGITS || index >= self.limit {
                return Err(self.not_a_feature(line, at));
            }
            in_order &= index >= lowest;
            lowest = index + 1;
            let (value, end) = value_at(line, at, colon)?;
            if value != 0.0 {
                self.push(index as u32 + 1, value, out);
            }
            at = skip_blanks(line, end + 1);
        }
        if in_order {
            return Ok(());
        }
        self.check_repeated(line, start)
    }

    fn push(&mut self, index: u32, value: f32, out: &mut ParsedBatch) {
        out.push(&mut self.seen, index, value, |names| names.push(index, &[&name(index)]));
    }

    fn not_a_feature(&self, line: &[u8], at: usize) -> DataError {
        let word = &line[at..word_end(line, at)];
        let Some(colon) = memchr(b':', word) else {
            return DataError::record(format!("expected index:value, found {}", quoted(word))).advise(MEND);
        };
        let index = &word[..colon];
        if index.is_empty() || !index.iter().all(u8::is_ascii_digit) {
            return DataError::record(format!("the index must be a whole number; got {}", quoted(index))).advise(
                "features have whole numbers from 0; for namespaces and names use Vowpal Wabbit's text: ⟦format=vw⟧",
            );
        }
        let shown = String::from_utf8_lossy(index).into_owned();
        let error = DataError::record(format!(
            "the index {shown} is beyond {}, the last that ⟦bits={}⟧ has room for",
            self.limit - 1,
            self.bits
        ));
        let needed = (self.bits + 1..=30).find(|bits| numbers::digits_from(index, 0, 0).0 < 1 << bits);
        match needed {
            Some(bits) if index.len() <= INDEX_DIGITS => error.advise(format!("use ⟦bits={bits}⟧")),
            _ => error.advise("indices must be below 2^30, the most that ⟦bits⟧ allows: renumber the features"),
        }
        .column(&shown)
    }

    /// Refuses a row that names a feature twice, when its indices do not ascend.
    #[cold]
    fn check_repeated(&mut self, line: &[u8], start: usize) -> Result {
        self.indices.clear();
        let mut at = skip_blanks(line, start);
        while at < line.len() {
            self.indices.push(numbers::digits_from(line, at, 0).0);
            at = skip_blanks(line, word_end(line, at));
        }
        self.indices.sort_unstable();
        match self.indices.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(DataError::record("the row names this feature twice")
                .column(&pair[0].to_string())
                .advise("add the two values up, or skip such records with ⟦on_error=skip⟧")),
        }
    }
}

/// The name of a feature for people: its index in the file.
#[cold]
fn name(index: u32) -> Box<str> {
    match index {
        BIAS => "bias".into(),
        index => (index - 1).to_string().into_boxed_str(),
    }
}

/// The value after the colon, and where it ends.
fn value_at(line: &[u8], start: usize, colon: usize) -> Result<(f32, usize)> {
    sparse::value_at(line, colon + 1, is_blank)
        .and_then(|(value, end)| Ok((sparse::narrow(value)?, end)))
        .map_err(|error| error.column(&String::from_utf8_lossy(&line[start..colon])))
}

#[cfg(test)]
mod tests;
