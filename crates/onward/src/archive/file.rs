//! The model file: a `.safetensors` file, so that any tool can open the weights.
//!
//! Layout: the safetensors header (8 bytes of length, JSON) and the tensors, one
//! for each column of the state, one-dimensional. The header's metadata has one
//! key, `onward`, with a JSON text:
//!
//! ```json
//! {"checksum": "9f3c01aa", "header": {"format_version": 1, "onward": "0.0.1",
//!  "learner": "nag:eta=0.5", "loss": "logistic", "radius": null, "schema": {},
//!  "facts": {}, "numbers": {}, "tensors": {"learner.weight": ["F32", 9000]}}}
//! ```
//!
//! The checksum is the CRC-32 (ISO-HDLC) of the text of `header` followed by the
//! bytes of all tensors in order of name, in hexadecimal. Numbers that JSON does
//! not know are the texts `NaN`, `inf` and `-inf`. One key, with sorted
//! contents: equal runs give equal bytes.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

use safetensors::tensor::{SafeTensorError, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{SavedColumn, State};
use crate::Error;

/// The version of the format that this code writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// The key of the metadata that holds everything but the tensors.
const KEY: &str = "onward";

/// A saved model: how to build the learner, and the state of all that learns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelFile {
    /// The learner with all its parameters.
    pub learner: String,
    /// The loss.
    pub loss: String,
    /// The radius of the comparator class, if one was given.
    pub radius: Option<f64>,
    /// What the columns mean, as the reader of the examples describes it.
    pub schema: Value,
    /// What else the program wants to remember.
    pub facts: Value,
    /// Numbers and columns.
    pub state: State,
}

#[derive(Serialize, Deserialize)]
struct Envelope<'a> {
    checksum: String,
    #[serde(borrow)]
    header: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
struct ModelHeader {
    facts: Value,
    format_version: u32,
    learner: String,
    loss: String,
    numbers: BTreeMap<String, Value>,
    onward: String,
    radius: Option<f64>,
    schema: Value,
    tensors: BTreeMap<String, (String, usize)>,
}

impl ModelHeader {
    fn of(model: &ModelFile) -> Self {
        let numbers = model.state.numbers().iter();
        let columns = model.state.columns().iter();
        Self {
            facts: model.facts.clone(),
            format_version: FORMAT_VERSION,
            learner: model.learner.clone(),
            loss: model.loss.clone(),
            numbers: numbers.map(|(name, &value)| (name.clone(), number_to_json(value))).collect(),
            onward: env!("CARGO_PKG_VERSION").to_owned(),
            radius: model.radius,
            schema: model.schema.clone(),
            tensors: columns.map(|(name, column)| (name.clone(), listed(column))).collect(),
        }
    }
}

impl ModelFile {
    /// The bytes of the file.
    ///
    /// # Errors
    /// When the header grows beyond what the format allows (100 MB).
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let failed = |error: &dyn Display| Error::model(format!("the model cannot be written: {error}"));
        let text = serde_json::to_string(&ModelHeader::of(self)).map_err(|error| failed(&error))?;
        let columns = self.state.columns();
        let bytes: Vec<Cow<'_, [u8]>> = columns.values().map(SavedColumn::bytes).collect();
        let checksum = checksum(&text, bytes.iter().map(AsRef::as_ref));
        let views: Result<Vec<_>, SafeTensorError> = columns
            .iter()
            .zip(&bytes)
            .map(|((name, column), bytes)| Ok((name, TensorView::new(column.dtype(), vec![column.len()], bytes)?)))
            .collect();
        let views = views.map_err(|error| failed(&error))?;
        let header = RawValue::from_string(text).map_err(|error| failed(&error))?;
        let envelope = Envelope { checksum, header: &header };
        let envelope = serde_json::to_string(&envelope).map_err(|error| failed(&error))?;
        let metadata = HashMap::from([(KEY.to_owned(), envelope)]);
        safetensors::serialize(views, Some(metadata)).map_err(|error| failed(&error))
    }

    /// The model in the bytes of a file.
    ///
    /// # Errors
    /// When the bytes are no model, damaged, cut short, or of a newer version: with what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| not_intact(bytes, &error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| not_intact(bytes, &error))?;
        let envelope = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let envelope = envelope.ok_or_else(|| Error::model("is a safetensors file, but not one that Onward saved"))?;
        let envelope: Envelope<'_> = serde_json::from_str(envelope).map_err(unreadable)?;
        check_version(envelope.header.get())?;
        let mut views: Vec<(&str, TensorView<'_>)> = tensors.iter().collect();
        views.sort_unstable_by_key(|&(name, _)| name);
        if checksum(envelope.header.get(), views.iter().map(|(_, view)| view.data())) != envelope.checksum {
            return Err(damaged("its checksum does not match its contents"));
        }
        let header: ModelHeader = serde_json::from_str(envelope.header.get()).map_err(unreadable)?;
        let state = state(&header, &views)?;
        let ModelHeader { facts, learner, loss, radius, schema, .. } = header;
        Ok(Self { learner, loss, radius, schema, facts, state })
    }
}

/// The longest header that the format allows.
const LONGEST_HEADER: u64 = 100_000_000;

/// Whether a file that begins like this may be a safetensors file, as models are: the
/// length of a header, and the header's first brace. Nine bytes are enough.
pub fn is_safetensors(head: &[u8]) -> bool {
    let Some((length, rest)) = head.split_first_chunk() else {
        return false;
    };
    u64::from_le_bytes(*length) <= LONGEST_HEADER && rest.first().is_none_or(|&byte| byte == b'{')
}

/// What is wrong with bytes that are no safetensors file: the library's word comes last, for
/// it does not tell a file that was cut short from one that never was a model.
fn not_intact(bytes: &[u8], error: &dyn Display) -> Error {
    if bytes.is_empty() {
        return Error::model("is empty; it must hold a model");
    }
    if !is_safetensors(bytes) {
        return Error::model("is not a model; models are the safetensors files that Onward saves");
    }
    let found = bytes.len();
    match promised(bytes) {
        Some((promised, what)) if found < promised => {
            Error::model(format!("is cut short: it has {found} bytes where {what} {promised}; {REMEDY}"))
        }
        Some((promised, _)) if found > promised => {
            damaged(format_args!("it has {found} bytes where its header says {promised}"))
        }
        _ => damaged(format_args!("it is not an intact safetensors file ({error})")),
    }
}

/// How many bytes a file is to have, by its header; if that is not whole, by its length.
fn promised(bytes: &[u8]) -> Option<(usize, &'static str)> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let Some(header) = rest.get(..length) else {
        return Some((length.checked_add(8)?, "its header alone takes"));
    };
    let metadata: safetensors::tensor::Metadata = serde_json::from_slice(header).ok()?;
    Some((metadata.data_len().checked_add(length)?.checked_add(8)?, "its header says"))
}

/// A header that is no header of a model, whatever the library says of it.
fn unreadable(_: serde_json::Error) -> Error {
    damaged("its header is not the header of a model")
}

/// What to do about a model that is damaged.
pub(super) const REMEDY: &str = "copy it again, or learn it again";

fn damaged(what: impl Display) -> Error {
    Error::model(format_args!("is damaged: {what}; {REMEDY}"))
}

/// Refuses a newer version by name, whatever else it holds.
fn check_version(header: &str) -> Result<(), Error> {
    #[derive(Deserialize)]
    struct Versions {
        format_version: u32,
        onward: String,
    }
    let Versions { format_version, onward } = serde_json::from_str(header).map_err(unreadable)?;
    if format_version > FORMAT_VERSION {
        return Err(Error::model(format!(
            "has format version {format_version}, written by Onward {onward}, and this program reads versions up to \
             {FORMAT_VERSION}; use a newer Onward"
        )));
    }
    Ok(())
}

/// The state that the header and the tensors hold together.
fn state(header: &ModelHeader, views: &[(&str, TensorView<'_>)]) -> Result<State, Error> {
    let mut state = State::default();
    for (name, value) in &header.numbers {
        state.set(name, number_from_json(name, value)?);
    }
    if views.len() != header.tensors.len() {
        return Err(damaged("it has other tensors than its header lists"));
    }
    for (name, view) in views {
        let dtype = view.dtype();
        let column = SavedColumn::of_bytes(dtype, view.data())
            .ok_or_else(|| damaged(format_args!("tensor '{name}' has type {dtype:?}")))?;
        if header.tensors.get(*name) != Some(&listed(&column)) {
            return Err(damaged(format_args!("tensor '{name}' is not as its header lists it")));
        }
        state.set_column(name, column);
    }
    Ok(state)
}

fn checksum<'a>(header: &str, tensors: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header.as_bytes());
    tensors.for_each(|bytes| hasher.update(bytes));
    format!("{:08x}", hasher.finalize())
}

fn number_to_json(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or_else(|| Value::String(value.to_string()), Value::Number)
}

fn number_from_json(name: &str, value: &Value) -> Result<f64, Error> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| damaged(format_args!("'{name}' is not a number")))
}

/// A column as the header lists it: the type of its numbers, and how many there are.
fn listed(column: &SavedColumn) -> (String, usize) {
    (format!("{:?}", column.dtype()), column.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> ModelFile {
        let mut state = State::default();
        state.set("learner.rounds", 3.0);
        state.set("learner.worst", f64::INFINITY);
        state.set_column("learner.weight", SavedColumn::F32(vec![0.5, -1.25]));
        state.set_column("learner.index", SavedColumn::U32(vec![0, 7]));
        state.set_column("ledger.theta", SavedColumn::F64(vec![1e-300, f64::NAN]));
        state.set_column("names.text", SavedColumn::U8(b"bias".to_vec()));
        let schema = serde_json::json!({"bits": 22});
        let (learner, loss) = ("nag:eta=0.5".to_owned(), "logistic".to_owned());
        ModelFile { learner, loss, radius: None, schema, facts: Value::Null, state }
    }

    #[test]
    fn a_model_is_read_back_as_it_was_and_written_the_same_again() {
        let bytes = model().to_bytes().unwrap();
        let read = ModelFile::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes().unwrap(), bytes);
        assert_eq!(read.state.number("learner.worst").unwrap(), f64::INFINITY);
        assert_eq!(read.state.columns()["learner.weight"], SavedColumn::F32(vec![0.5, -1.25]));
        assert!(matches!(&read.state.columns()["ledger.theta"], SavedColumn::F64(theta) if theta[1].is_nan()));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let bytes = model().to_bytes().unwrap();
        for at in 0..bytes.len() {
            assert!(ModelFile::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                if let Ok(read) = ModelFile::from_bytes(&damaged) {
                    // What passes changes nothing: a space that pads the header turned into a tab.
                    assert_eq!(read.to_bytes().unwrap(), bytes, "byte {at}, bit {bit}");
                }
            }
        }
    }

    #[test]
    fn a_cut_is_told_from_what_never_was_a_model() {
        let bytes = model().to_bytes().unwrap();
        let error = |bytes: &[u8]| ModelFile::from_bytes(bytes).unwrap_err().to_string();
        let header = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let all = bytes.len();
        for at in 8..all {
            let what = if at < header { "its header alone takes" } else { "its header says" };
            let whole = if at < header { header } else { all };
            let cut = format!("is cut short: it has {at} bytes where {what} {whole}; {REMEDY}");
            assert_eq!(error(&bytes[..at]), cut);
        }
        assert_eq!(error(b""), "is empty; it must hold a model");
        let no_model = "is not a model; models are the safetensors files that Onward saves";
        for other in
            [&b"a,b,c\n1,2,3\n"[..], b"{\"a\": 1}\n", b"PAR1", &bytes[..7], &[0x28, 0xb5, 0x2f, 0xfd, 4, 0, 0, 0, b'{']]
        {
            assert_eq!(error(other), no_model);
        }
        let longer = [bytes.as_slice(), b"!"].concat();
        assert_eq!(
            error(&longer),
            format!("is damaged: it has {} bytes where its header says {all}; {REMEDY}", all + 1)
        );
    }

    #[test]
    fn a_newer_version_is_refused_by_name() {
        let header = r#"{"format_version":2,"onward":"9.0.0","brand_new":true}"#;
        let envelope = format!(r#"{{"checksum":"00000000","header":{header}}}"#);
        let metadata = HashMap::from([(KEY.to_owned(), envelope)]);
        let bytes = safetensors::serialize(Vec::<(String, TensorView<'_>)>::new(), Some(metadata)).unwrap();
        let error = ModelFile::from_bytes(&bytes).unwrap_err();
        assert_eq!(
            error.to_string(),
            "has format version 2, written by Onward 9.0.0, and this program reads versions up to 1; use a newer Onward"
        );
    }

    #[test]
    fn other_safetensors_files_are_refused() {
        let bytes = safetensors::serialize(Vec::<(String, TensorView<'_>)>::new(), None).unwrap();
        let error = ModelFile::from_bytes(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "is a safetensors file, but not one that Onward saved");
        assert!(ModelFile::from_bytes(b"hello").is_err());
    }
}
