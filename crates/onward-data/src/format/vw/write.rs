//! Examples as Vowpal Wabbit's text: `label [weight [base]] 'tag |  name:value …`.
//!
//! All features are in the namespace without a name. The bias is left out, for Vowpal
//! Wabbit adds its own; so are zeros, labels that are missing, a weight or value of 1.
//! What has a meaning in a name there (`:`, `|`, blanks, `%` itself) and what cannot be seen
//! is written as `%` with the two digits of its byte, so that different names stay different; the
//! empty name is a lone `%`. A feature without a name is called by its number in svmlight,
//! which is one less than its index; index 0, where it is not the bias, is called `bias`.

use std::collections::HashMap;
use std::io::Write;

use onward::Example;

use crate::encode::BIAS;
use crate::format::write::{Compression, ConvertError, Converted, ExampleWriter, NewExamples, Out, cannot};
use crate::schema::Schema;
use crate::text::numbers::print::{shortest, shortest_single};

/// Writes Vowpal Wabbit's text.
pub(super) fn vw<'a>(_: &Schema, _: Compression, out: Out<'a>) -> NewExamples<'a> {
    Ok(Box::new(VwWriter { out, line: Vec::new(), names: HashMap::new() }))
}

struct VwWriter<'a> {
    out: Out<'a>,
    line: Vec<u8>,
    /// The names as they are written.
    names: HashMap<u32, Box<[u8]>>,
}

impl VwWriter<'_> {
    fn features(&mut self, example: Example<'_>) {
        for (index, value) in example.features.iter() {
            if value == 0.0 || index == BIAS && value == 1.0 {
                continue;
            }
            self.line.push(b' ');
            match self.names.get(&index) {
                Some(name) => self.line.extend_from_slice(name),
                None if index == BIAS => self.line.extend_from_slice(b"bias"),
                // Writing to a Vec cannot fail.
                None => drop(write!(self.line, "{}", index - 1)),
            }
            if value != 1.0 {
                self.line.push(b':');
                shortest_single(value, &mut self.line);
            }
        }
    }
}

impl ExampleWriter for VwWriter<'_> {
    fn has_ids(&self) -> bool {
        true
    }

    fn name(&mut self, index: u32, name: &str) {
        let mut escaped = Vec::with_capacity(name.len());
        escape(name, &mut escaped);
        self.names.insert(index, escaped.into_boxed_slice());
    }

    fn row(&mut self, number: u64, example: Example<'_>, ids: &[&[u8]]) -> Result<(), ConvertError> {
        self.line.clear();
        let offset = example.features.offset();
        if let Some(label) = example.label {
            let (has_weight, has_offset) = (example.weight != 1.0 || offset != 0.0, offset != 0.0);
            for (number, is_written) in [(label, true), (example.weight, has_weight), (offset, has_offset)] {
                if is_written {
                    shortest(number, &mut self.line);
                    self.line.push(b' ');
                }
            }
        } else if offset != 0.0 {
            // The first number of a line is its label, the third its base.
            let found = format!("has the offset {offset} and no label, which Vowpal Wabbit's text cannot express");
            return Err(cannot(number, &found, "convert to arrow"));
        }
        tag(ids, &mut self.line);
        self.line.push(b'|');
        self.features(example);
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        Ok(())
    }

    fn finish(self: Box<Self>, converted: &mut Converted) -> Result<(), ConvertError> {
        converted.names = self.names.len() as u64;
        Ok(())
    }
}

/// The ids of a row, joined by commas.
fn tag(ids: &[&[u8]], line: &mut Vec<u8>) {
    if ids.iter().all(|id| id.is_empty()) {
        return;
    }
    line.push(b'\'');
    for (at, id) in ids.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        // A comma in one of several ids would separate.
        for (at, part) in id.split(|&byte| byte == b',' && ids.len() > 1).enumerate() {
            line.extend_from_slice(if at > 0 { b"%2C" } else { b"" });
            if !part.is_empty() {
                escape(&String::from_utf8_lossy(part), line);
            }
        }
    }
    line.push(b' ');
}

fn escape(name: &str, out: &mut Vec<u8>) {
    if name.is_empty() {
        out.push(b'%');
    }
    for letter in name.chars() {
        let mut bytes = [0; 4];
        let bytes = letter.encode_utf8(&mut bytes).as_bytes();
        if is_plain(letter) {
            out.extend_from_slice(bytes);
        } else {
            for byte in bytes {
                // Writing to a Vec cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
}

/// Whether a letter can be seen, and means nothing.
fn is_plain(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_graphic() && !matches!(letter, ':' | '|' | '%');
    }
    // What Rust escapes when it shows a text: separators, marks, what is unassigned.
    !letter.is_whitespace() && letter.escape_debug().len() == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(name: &str) -> String {
        let mut out = Vec::new();
        escape(name, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_has_a_meaning_or_cannot_be_seen_is_escaped() {
        assert_eq!(escaped("carrier=UA"), "carrier=UA");
        assert_eq!(escaped("a b:c|d%e\tf"), "a%20b%3Ac%7Cd%25e%09f");
        assert_eq!(escaped("é"), "é");
        assert_eq!(escaped("\u{a0}\u{200b}"), "%C2%A0%E2%80%8B");
        assert_eq!(escaped(""), "%");
    }

    #[test]
    fn ids_are_tags() {
        let tagged = |ids: &[&[u8]]| {
            let mut line = Vec::new();
            tag(ids, &mut line);
            String::from_utf8(line).unwrap()
        };
        assert_eq!(tagged(&[]), "");
        assert_eq!(tagged(&[b""]), "");
        assert_eq!(tagged(&[b"a,b"]), "'a,b ");
        assert_eq!(tagged(&[b"a,b", b"", b"c|"]), "'a%2Cb,,c%7C ");
    }

    fn unescaped(text: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((&first, after)) = rest.split_first() {
            match (first, after) {
                (b'%', [high, low, after @ ..]) => {
                    let digits = [*high, *low];
                    bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                    rest = after;
                }
                (b'%', after) => rest = after,
                (byte, after) => {
                    bytes.push(byte);
                    rest = after;
                }
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    proptest! {
        #[test]
        fn different_names_stay_different(name in any::<String>()) {
            let text = escaped(&name);
            prop_assert_eq!(unescaped(&text), name);
            let has_meaning = |letter: char| letter.is_whitespace() || letter.is_control() || ":|".contains(letter);
            prop_assert!(!text.is_empty() && !text.contains(has_meaning));
        }
    }
}
