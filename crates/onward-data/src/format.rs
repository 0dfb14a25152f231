//! Which format an input is in, recognised from its content.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::number::{self, Number};
use crate::schema::Layout;

/// A format of examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// `label index:value …`, as LIBSVM and SVMlight write it.
    Svmlight,
    /// Vowpal Wabbit's text.
    Vw,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, file or stream.
    Arrow,
}

/// All formats with their names on the command line.
const NAMES: [(&str, Format); 7] = [
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("jsonl", Format::Jsonl),
    ("svmlight", Format::Svmlight),
    ("vw", Format::Vw),
    ("parquet", Format::Parquet),
    ("arrow", Format::Arrow),
];

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(NAMES.iter().find(|(_, format)| format == self).map_or("", |(name, _)| name))
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.to_ascii_lowercase();
        let found = NAMES.iter().find(|(name, _)| *name == text).map(|&(_, format)| format);
        found.ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("unknown format '{text}': it is one of {}", names.join(", "))
        })
    }
}

impl Format {
    /// How the records of this format are laid out.
    pub fn layout(self) -> Layout {
        match self {
            Self::Svmlight => Layout::Indexed,
            Self::Vw => Layout::Named,
            _ => Layout::Table,
        }
    }

    /// Whether [`convert`](crate::convert) writes tables in this format, and not examples.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Jsonl | Self::Parquet)
    }

    /// The format that a file name's ending stands for, for writing.
    pub fn from_name(name: &str) -> Option<Self> {
        let ending = name.rsplit('.').next()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "jsonl" | "ndjson" | "json" => Some(Self::Jsonl),
            "svm" | "svmlight" | "libsvm" => Some(Self::Svmlight),
            "vw" => Some(Self::Vw),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" | "ipc" | "arrows" => Some(Self::Arrow),
            _ => None,
        }
    }

    /// Recognises a format from the first bytes of an input (decompressed).
    /// `None`: this is no text that any format reads. `no_header`: it is said to have none,
    /// so that text is a table if it can be one.
    pub(crate) fn recognise(head: &[u8], no_header: bool) -> Option<Self> {
        if head.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        if head.starts_with(b"ARROW1") || head.starts_with(&[0xff, 0xff, 0xff, 0xff]) {
            return Some(Self::Arrow);
        }
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        if looks_binary(head) {
            return None;
        }
        let line = first_line(head);
        // `1` and `1|2` may be rows of a table, `1 a:2` and `1 |a` hardly.
        let may_be_row = |mark: u8| no_header && !(line.contains(&mark) && line.contains(&b' '));
        if line.first() == Some(&b'{') || is_json_array(line) {
            return Some(Self::Jsonl);
        }
        if is_svmlight(line) && !may_be_row(b':') {
            return Some(Self::Svmlight);
        }
        if is_vw(line) && !may_be_row(b'|') {
            return Some(Self::Vw);
        }
        Some(table(line))
    }

    /// Whether the first line of `head`, which is recognised as none but a table, may be one of
    /// this format.
    pub(crate) fn admits(self, head: &[u8]) -> bool {
        let line = first_line(head);
        match self {
            Self::Jsonl => false,
            Self::Vw => line.contains(&b'|'),
            Self::Svmlight => {
                let line = line.split(|&byte| byte == b'#').next().unwrap_or(line);
                let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
                let label = words.next().unwrap_or(&[]);
                let mut pairs = words.peekable();
                // Classes may have names, but a word alone is a header.
                match pairs.peek() {
                    None => label.is_empty() || label == b"?" || is_number(label) || number::is_missing(label),
                    Some(_) => pairs.all(is_pair),
                }
            }
            _ => true,
        }
    }
}

/// CSV or TSV, by what the line has more of.
fn table(line: &[u8]) -> Format {
    let count = |mark: u8| line.iter().filter(|&&byte| byte == mark).count();
    if count(b'\t') > count(b',') { Format::Tsv } else { Format::Csv }
}

/// How much is looked at: of an input for control characters, of its first line for the format.
const LOOK: usize = 4096;

/// The first line with something on it; of a long one the words that are whole within what
/// is looked at.
fn first_line(head: &[u8]) -> &[u8] {
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or(&[]);
    let Some(look) = line.get(..LOOK) else {
        return line;
    };
    look.iter().rposition(u8::is_ascii_whitespace).map_or(look, |end| &look[..end])
}

/// Whether a line that tells the format has come to its end.
pub(crate) fn has_first_line(head: &[u8]) -> bool {
    let mut lines = head.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    lines.any(|line| !line.trim_ascii().is_empty() && line.trim_ascii()[0] != b'#')
}

/// NULs do not occur in text, and other control characters (but for tab, line ends, form
/// feed) are strays: a few, and not one byte in 32.
fn looks_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(LOOK)];
    let is_control = |byte: &&u8| **byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    let controls = head.iter().filter(is_control).count();
    head.contains(&0) || controls > 3 && controls * 32 > head.len()
}

fn is_number(text: &[u8]) -> bool {
    matches!(number::parse(text), Number::Finite(_))
}

/// An array of objects: not a format that is read, but one whose parser says what to do.
fn is_json_array(line: &[u8]) -> bool {
    line.strip_prefix(b"[").map(<[u8]>::trim_ascii).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"{"))
}

/// `label index:value …`: a number (or `?`), then only pairs (and a qid, and a comment).
fn is_svmlight(line: &[u8]) -> bool {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or(line);
    if line.iter().find(|byte| matches!(byte, b'|' | b':')) == Some(&b'|') {
        // A namespace: with a weight, it looks like a pair.
        return false;
    }
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let label = words.next().unwrap_or(&[]);
    let mut pairs = words.peekable();
    (is_number(label) || label == b"?") && pairs.peek().is_some() && pairs.all(is_pair)
}

/// A number, a colon and something. A name with a number (`-1:0.5`, `a:1`) is one too, for
/// the parser then says what is wrong.
fn is_pair(word: &[u8]) -> bool {
    let Some(colon) = word.iter().position(|&byte| byte == b':') else {
        return false;
    };
    let (name, value) = (&word[..colon], &word[colon + 1..]);
    let is_index = name == b"qid" || name.iter().all(u8::is_ascii_digit);
    !name.is_empty() && if is_index { !value.is_empty() } else { !name.contains(&b',') && is_number(value) }
}

/// Something, a bar, features: with what stands before the first bar being a label, be it
/// one of an example over several lines, whose parser says that it is not read.
fn is_vw(line: &[u8]) -> bool {
    let Some(bar) = line.iter().position(|&byte| byte == b'|') else {
        return false;
    };
    let mut words = line[..bar].split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    words.next().is_none_or(|word| {
        word == b"shared" || word.starts_with(b"'") || word.split(|&byte| byte == b':').all(is_number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_from_their_first_line() {
        for (head, format) in [
            ("a,b,c\n1,2,3\n", Format::Csv),
            ("a\tb,c\td\n", Format::Tsv),
            ("\u{feff}a,b\n", Format::Csv),
            ("\n{\"a\": 1}\n", Format::Jsonl),
            ("1 3:0.5 7:1\n", Format::Svmlight),
            ("# comment\n-1 qid:3 1:2 # x\n", Format::Svmlight),
            ("1 |f a b:2\n", Format::Vw),
            ("| a b\n", Format::Vw),
            ("-1 2.0 'tag|f 3:0.5\n", Format::Vw),
            ("0:1.0:0.5 | a\n", Format::Vw),
            ("shared | a\n", Format::Vw),
            ("? 1:2\n", Format::Svmlight),
            ("1 -1:1\n", Format::Svmlight),
            ("1 size:0.5 3:1\n", Format::Svmlight),
            ("1 a,b:2\n", Format::Csv),
            ("[{\"a\": 1}]\n", Format::Jsonl),
            ("[\n  {\"a\": 1}]\n", Format::Jsonl),
            ("[a],[b]\n", Format::Csv),
            ("a|b,c|d\n1|2,3\n", Format::Csv),
            ("single\n1\n", Format::Csv),
        ] {
            assert_eq!(Format::recognise(head.as_bytes(), false), Some(format), "{head:?}");
        }
        assert_eq!(Format::recognise(b"PAR1.....", false), Some(Format::Parquet));
        assert_eq!(Format::recognise(b"\x00\x01\x02 noise", false), None);
    }

    #[test]
    fn a_long_first_line_is_recognised_by_its_whole_words() {
        for value in ["0.5", "0.25", "0.125", "0.0625"] {
            let pairs: String = (1..2000).map(|index| format!(" {index}:{value}")).collect();
            assert_eq!(Format::recognise(format!("1{pairs}\n").as_bytes(), false), Some(Format::Svmlight));
        }
        assert_eq!(Format::recognise("a,".repeat(5000).as_bytes(), false), Some(Format::Csv));
    }

    #[test]
    fn a_namespace_with_a_weight_is_no_feature_of_svmlight() {
        let line = b"1 |price:2 sqft:0.25 age:.05\n";
        assert_eq!(Format::recognise(line, false), Some(Format::Vw));
    }

    #[test]
    fn text_without_a_header_is_a_table() {
        assert_eq!(Format::recognise(b"1|2|3\n", true), Some(Format::Csv));
        assert_eq!(Format::recognise(b"1\t2:1\n", true), Some(Format::Tsv));
        assert_eq!(Format::recognise(b"1|2|3\n", false), Some(Format::Vw));
    }

    #[test]
    fn a_few_control_characters_are_text() {
        assert_eq!(Format::recognise(b"a,b\n1,\x0b\n\x1b,2\n", false), Some(Format::Csv));
        assert_eq!(Format::recognise(b"a,b\n1,\0\n", false), None);
        assert_eq!(Format::recognise(b"\x01\x02\x03\x04 noise\n", false), None);
    }

    #[test]
    fn names_and_formats_are_one_to_one() {
        for (name, format) in NAMES {
            assert_eq!(name.parse::<Format>().unwrap(), format);
            assert_eq!(format.to_string(), name);
        }
        assert_eq!(
            "xls".parse::<Format>().unwrap_err(),
            "unknown format 'xls': it is one of csv, tsv, jsonl, svmlight, vw, parquet, arrow"
        );
    }
}
