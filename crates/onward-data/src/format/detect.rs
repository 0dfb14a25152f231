//! How inputs begin, from which their format is recognised.

use crate::text::numbers::{self, Number};

/// How an input begins (decompressed, without a byte order mark).
pub struct Head<'a> {
    bytes: &'a [u8],
    line: &'a [u8],
    has_header: bool,
}

/// Whether an input is in a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognition {
    /// It is not.
    No,
    /// It may be, as any text may be a table: where no other format is sure.
    IfNoOther,
    /// It is.
    Surely,
}

impl Recognition {
    pub(super) fn surely(is_it: bool) -> Self {
        if is_it { Self::Surely } else { Self::No }
    }
}

/// How much is looked at: of an input for control characters, of its first line for the format.
const LOOK: usize = 4096;

impl<'a> Head<'a> {
    pub(crate) fn new(bytes: &'a [u8], has_header: bool) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self { bytes, line: first_line(bytes), has_header }
    }

    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first line that is neither blank nor a comment (`#`), without the blanks around it; of a long one the words that are
    /// whole within its first 4096 bytes.
    pub fn line(&self) -> &'a [u8] {
        self.line
    }

    /// Whether a row of a table may stand in the first line, since the user says that there is no header, unless it
    /// holds both this mark and a blank: `1` and `1|2` may be rows, `1 a:2` and `1 |a` hardly.
    pub(super) fn may_be_row(&self, mark: u8) -> bool {
        !(self.has_header || self.line.contains(&mark) && self.line.contains(&b' '))
    }

    /// NULs do not occur in text, and other control characters (but for tab, line ends, form
    /// feed) are strays: a few, and not one byte in 32.
    pub(super) fn looks_binary(&self) -> bool {
        let head = &self.bytes[..self.bytes.len().min(LOOK)];
        let is_control = |byte: &&u8| **byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
        let controls = head.iter().filter(is_control).count();
        head.contains(&0) || controls > 3 && controls * 32 > head.len()
    }
}

/// The first line with something on it; of a long one the words that are whole within what
/// is looked at.
fn first_line(head: &[u8]) -> &[u8] {
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or(&[]);
    let Some(look) = line.get(..LOOK) else { return line };
    look.iter().rposition(u8::is_ascii_whitespace).map_or(look, |end| &look[..end])
}

/// Whether a line that tells the format has come to its end.
pub(crate) fn has_first_line(head: &[u8]) -> bool {
    let mut lines = head.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    lines.any(|line| !line.trim_ascii().is_empty() && line.trim_ascii()[0] != b'#')
}

/// Whether a word is a finite number.
pub(super) fn is_number(text: &[u8]) -> bool {
    matches!(numbers::parse(text), Number::Finite(_))
}

#[cfg(test)]
mod tests {
    use crate::format::{Format, Formats};

    /// What an input is recognised as that begins like this.
    fn recognised(head: &[u8], no_header: bool) -> Option<Format> {
        Formats::default().recognise(head, !no_header).map(|format| format.handle())
    }

    #[test]
    fn formats_are_recognised_from_their_first_line() {
        for (head, format) in [
            ("a,b,c\n1,2,3\n", Format::CSV),
            ("a\tb,c\td\n", Format::TSV),
            ("\u{feff}a,b\n", Format::CSV),
            ("\n{\"a\": 1}\n", Format::JSONL),
            ("1 3:0.5 7:1\n", Format::SVMLIGHT),
            ("# comment\n-1 qid:3 1:2 # x\n", Format::SVMLIGHT),
            ("1 |f a b:2\n", Format::VW),
            ("| a b\n", Format::VW),
            ("-1 2.0 'tag|f 3:0.5\n", Format::VW),
            ("0:1.0:0.5 | a\n", Format::VW),
            ("shared | a\n", Format::VW),
            ("? 1:2\n", Format::SVMLIGHT),
            ("1 -1:1\n", Format::SVMLIGHT),
            ("1 size:0.5 3:1\n", Format::SVMLIGHT),
            ("1 a,b:2\n", Format::CSV),
            ("[{\"a\": 1}]\n", Format::JSONL),
            ("[\n  {\"a\": 1}]\n", Format::JSONL),
            ("[a],[b]\n", Format::CSV),
            ("a|b,c|d\n1|2,3\n", Format::CSV),
            ("single\n1\n", Format::CSV),
        ] {
            assert_eq!(recognised(head.as_bytes(), false), Some(format), "{head:?}");
        }
        #[cfg(feature = "arrow")]
        assert_eq!(recognised(b"PAR1.....", false), Some(Format::PARQUET));
        assert_eq!(recognised(b"\x00\x01\x02 noise", false), None);
    }

    #[test]
    fn a_long_first_line_is_recognised_by_its_whole_words() {
        for value in ["0.5", "0.25", "0.125", "0.0625"] {
            let pairs: String = (1..2000).map(|index| format!(" {index}:{value}")).collect();
            assert_eq!(recognised(format!("1{pairs}\n").as_bytes(), false), Some(Format::SVMLIGHT));
        }
        assert_eq!(recognised("a,".repeat(5000).as_bytes(), false), Some(Format::CSV));
    }

    #[test]
    fn a_namespace_with_a_weight_is_no_feature_of_svmlight() {
        let line = b"1 |price:2 sqft:0.25 age:.05\n";
        assert_eq!(recognised(line, false), Some(Format::VW));
    }

    #[test]
    fn text_without_a_header_is_a_table() {
        assert_eq!(recognised(b"1|2|3\n", true), Some(Format::CSV));
        assert_eq!(recognised(b"1\t2:1\n", true), Some(Format::TSV));
        assert_eq!(recognised(b"1|2|3\n", false), Some(Format::VW));
    }

    #[test]
    fn a_few_control_characters_are_text() {
        assert_eq!(recognised(b"a,b\n1,\x0b\n\x1b,2\n", false), Some(Format::CSV));
        assert_eq!(recognised(b"a,b\n1,\0\n", false), None);
        assert_eq!(recognised(b"\x01\x02\x03\x04 noise\n", false), None);
    }

    #[test]
    fn formats_are_known_by_their_names_and_endings() {
        let formats = Formats::default();
        for name in formats.names() {
            assert_eq!(formats.parse(&name.to_ascii_uppercase()).unwrap().name(), name);
            assert_eq!(formats.of_file(&format!("x.{name}")).unwrap().name(), name);
        }
        #[cfg(feature = "arrow")]
        assert_eq!(
            "xls".parse::<Format>().unwrap_err(),
            "there is no format 'xls'; the formats are: csv, tsv, jsonl, svmlight, vw, parquet, arrow"
        );
    }
}
