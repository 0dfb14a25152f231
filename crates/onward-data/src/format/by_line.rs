//! Formats with a record per line: the lines of a chunk, with positions of errors.

use onward::feature::hash;

use super::sparse::narrow;
use crate::encode::{BIAS, InteractionEncoder, NamesSeen, ParsedBatch, Rules, checked_offset, checked_weight, name_of};
use crate::error::DataError;
use crate::schema::Role;
use crate::schema::target::TargetValue;
use crate::source::{Chunk, ChunkContent, Parser, too_long};
use crate::text::lines::{LineNumber, invalid_utf8, line_end, not_utf8};

/// Reads lines, one after the other.
pub(super) trait LineParser {
    /// Where the line ends that begins at `start`: at its line end, or with the text. It is asked of each line.
    fn end(&mut self, text: &[u8], start: usize) -> usize {
        line_end(text, start)
    }

    /// Reads the line whose end was asked for last.
    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result<(), DataError>;
}

/// A function from a line.
impl<F: FnMut(&[u8], &mut ParsedBatch) -> Result<(), DataError>> LineParser for F {
    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result<(), DataError> {
        self(line, out)
    }
}

/// Has each line read that is not blank. An error gets its position;
/// it ends the chunk, or is counted when errors are skipped.
pub(super) fn each_line(
    chunk: &Chunk,
    skip_errors: bool,
    out: &mut ParsedBatch,
    parser: &mut impl LineParser,
) -> Result<(), DataError> {
    let ChunkContent::Text { bytes, first_line, record_limit } = &chunk.content else {
        return Ok(());
    };
    out.bytes += bytes.len() as u64;
    let mut number = LineNumber::new(*first_line);
    let mut start = 0;
    let mut invalid = invalid_utf8(bytes, 0);
    while start < bytes.len() {
        let end = parser.end(bytes, start);
        let line = bytes[start..end].strip_suffix(b"\r").unwrap_or(&bytes[start..end]);
        let is_invalid = invalid.is_some_and(|at| at < end);
        if is_invalid {
            invalid = invalid_utf8(bytes, end);
        }
        let result = if end - start >= *record_limit && bytes.len() - start > *record_limit {
            // With its line end.
            Err(too_long(*record_limit))
        } else if is_invalid {
            Err(not_utf8(line))
        } else if line.trim_ascii().is_empty() {
            Ok(())
        } else {
            parser.parse_line(line, out)
        };
        if let Err(error) = result {
            out.refuse(error.input(&chunk.input).line(number.at(bytes, start)), skip_errors)?;
        }
        start = end + 1;
    }
    Ok(())
}

/// Makes a parser of a function from a line to a row of features, for a [`TextFormat`](super::TextFormat) whose
/// records are lines. Blank lines are left out.
pub fn by_line(
    rules: &Rules,
    parse: impl FnMut(&[u8], &mut RowBuilder<'_>) -> Result<(), DataError> + Send + 'static,
) -> Box<dyn Parser> {
    let ignored = rules.schema.columns.iter().filter(|column| column.role == Role::Ignored);
    let features = NamedFeatures {
        seen: NamesSeen::default(),
        ignored: ignored.map(|column| column.name.clone()).collect(),
        products: InteractionEncoder::of_namespaces(&rules.schema),
    };
    Box::new(FunctionParser { rules: rules.clone(), features, parse })
}

struct FunctionParser<F> {
    rules: Rules,
    features: NamedFeatures,
    parse: F,
}

/// What a parser keeps of the features of its rows.
struct NamedFeatures {
    seen: NamesSeen,
    /// Namespaces to leave out.
    ignored: Vec<String>,
    products: Option<Box<InteractionEncoder>>,
}

/// The row that is made of a line: a label, and features by their names or numbers.
pub struct RowBuilder<'r> {
    rules: &'r Rules,
    features: &'r mut NamedFeatures,
    out: &'r mut ParsedBatch,
    /// The namespace of the last feature, with the seed of its names; and whether it is left out.
    namespace: Option<(String, u64)>,
    is_ignored: bool,
    label: Option<f64>,
    weight: f64,
}

impl RowBuilder<'_> {
    /// Sets the label as it is written, of which the target makes a number or a class; an empty one is missing.
    ///
    /// # Errors
    /// When it is none that the task or the loss has.
    pub fn label(&mut self, text: &[u8]) -> Result<(), DataError> {
        self.label = self.rules.label(TargetValue::Text(text))?;
        Ok(())
    }

    /// Sets the importance weight, which is 1 otherwise.
    ///
    /// # Errors
    /// When it is below 0, or out of range.
    pub fn weight(&mut self, weight: f64) -> Result<(), DataError> {
        self.weight = checked_weight(weight)?;
        Ok(())
    }

    /// Sets what the prediction starts from, which is 0 otherwise.
    ///
    /// # Errors
    /// When it is out of range.
    pub fn offset(&mut self, offset: f64) -> Result<(), DataError> {
        self.out.batch.set_offset(checked_offset(offset)?);
        Ok(())
    }

    /// Adds a feature of a namespace, which may be empty, as Vowpal Wabbit's text has them: for the layout
    /// [`Named`](crate::Layout::Named). One that is 0 is left out; of equal ones the values are added up.
    ///
    /// # Errors
    /// When the value is none that 32 bits hold.
    pub fn feature(&mut self, namespace: &str, name: &str, value: f64) -> Result<(), DataError> {
        let seed = match &self.namespace {
            Some((last, seed)) if last == namespace => *seed,
            _ => self.begin_namespace(namespace),
        };
        if self.is_ignored {
            return Ok(());
        }
        let value = narrow(value).map_err(|error| error.column(name))?;
        let index = self.rules.schema.hashed(BIAS + 1, hash::name(seed, name.as_bytes()));
        if value != 0.0 {
            if self.features.seen.first(index) {
                name_of(&mut self.out.names, index, namespace.as_bytes(), name.as_bytes());
            }
            self.out.batch.push(index, value);
        }
        Ok(())
    }

    fn begin_namespace(&mut self, namespace: &str) -> u64 {
        let seed = hash::seed(namespace.as_bytes());
        self.is_ignored = self.features.ignored.iter().any(|ignored| ignored == namespace);
        if let Some(products) = self.features.products.as_mut().filter(|_| !self.is_ignored) {
            products.namespace(seed, namespace.as_bytes(), self.out.batch.pending());
        }
        self.namespace = Some((namespace.to_owned(), seed));
        seed
    }

    /// Adds a feature by its number, from 0, as svmlight has them: for the layout [`Indexed`](crate::Layout::Indexed). A row
    /// has each once; one that is 0 is left out.
    ///
    /// # Errors
    /// When the number is not below 2 to the power of the bits of the run, or the value none that 32 bits hold.
    pub fn numbered(&mut self, number: u32, value: f64) -> Result<(), DataError> {
        let bits = self.rules.schema.bits;
        if u64::from(number) >= 1 << bits {
            let found = format!(
                "the index {number} is beyond {}, the last that ⟦bits={bits}⟧ has room for",
                (1u64 << bits) - 1
            );
            return Err(DataError::record(found).advise("say more ⟦bits⟧, or number the features anew"));
        }
        let value = narrow(value).map_err(|error| error.column(&number.to_string()))?;
        if value != 0.0 {
            if self.features.seen.first(number + 1) {
                self.out.names.push(number + 1, &number.to_string());
            }
            self.out.batch.push(number + 1, value);
        }
        Ok(())
    }
}

impl<F> LineParser for FunctionParser<F>
where
    F: FnMut(&[u8], &mut RowBuilder<'_>) -> Result<(), DataError>,
{
    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result<(), DataError> {
        let Self { rules, features, parse } = self;
        if features.seen.first(BIAS) {
            out.names.push(BIAS, "bias");
        }
        out.batch.push(BIAS, 1.0);
        if let Some(products) = &mut features.products {
            products.begin();
        }
        let mut row = RowBuilder { rules, features, out, namespace: None, is_ignored: false, label: None, weight: 1.0 };
        parse(line, &mut row)?;
        let RowBuilder { label, weight, .. } = row;
        if let Some(products) = &mut features.products {
            products.finish(&rules.schema, out)?;
        }
        out.batch.finish(label, weight);
        Ok(())
    }
}

impl<F> Parser for FunctionParser<F>
where
    F: FnMut(&[u8], &mut RowBuilder<'_>) -> Result<(), DataError> + Send,
{
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result<(), DataError> {
        each_line(chunk, self.rules.skip_errors, out, self)
    }
}
