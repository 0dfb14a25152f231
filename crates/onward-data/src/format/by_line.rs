//! Formats of named or numbered features with a record per line.

use onward::hashing::feature_hash as hash;

use super::records::each_line;
use super::sparse::narrow;
use crate::encode::{
    InteractionEncoder, NamesSeen, NewNames, ParsedBatch, Rules, checked_offset, checked_weight, name_of,
};
use crate::error::{DataError, Result};
use crate::schema::{CellValue, Role, Schema};
use crate::source::{Chunk, Parser};

/// Makes a parser from a function that turns a line into a row of features, for a [`TextFormat`](super::TextFormat)
/// whose records are lines. Blank lines are left out.
pub fn by_line(
    rules: &Rules,
    parse: impl FnMut(&[u8], &mut RowBuilder<'_>) -> Result<(), DataError> + Send + 'static,
) -> Box<dyn Parser> {
    Box::new(FunctionParser { rules: rules.clone(), features: FeatureEncoder::new(&rules.schema), parse })
}

struct FunctionParser<F> {
    rules: Rules,
    features: FeatureEncoder,
    parse: F,
}

/// What a parser keeps of the features of its rows.
pub(super) struct FeatureEncoder {
    pub(super) seen: NamesSeen,
    /// Namespaces to leave out.
    pub(super) ignored: Vec<String>,
    /// The products of features, if there are interactions.
    pub(super) products: Option<Box<InteractionEncoder>>,
}

impl FeatureEncoder {
    pub(super) fn new(schema: &Schema) -> Self {
        Self {
            seen: NamesSeen::default(),
            ignored: schema.names_of(&Role::Ignored),
            products: InteractionEncoder::of_namespaces(schema),
        }
    }

    /// Begins a row with the bias.
    pub(super) fn begin(&mut self, out: &mut ParsedBatch) {
        out.push_bias(&mut self.seen);
        if let Some(products) = &mut self.products {
            products.begin();
        }
    }

    /// Adds the products, and ends the row.
    pub(super) fn end(&mut self, schema: &Schema, labelled: (Option<f64>, f64), out: &mut ParsedBatch) -> Result {
        if let Some(products) = &mut self.products {
            products.finish(schema, out)?;
        }
        out.batch.finish(labelled.0, labelled.1);
        Ok(())
    }
}

/// The row that a line becomes: a label, and features by their names or numbers.
pub struct RowBuilder<'r> {
    rules: &'r Rules,
    features: &'r mut FeatureEncoder,
    out: &'r mut ParsedBatch,
    /// The namespace of the last feature, with the seed of its names; and whether it is left out.
    namespace: Option<(String, u64)>,
    is_ignored: bool,
    label: Option<f64>,
    weight: f64,
}

impl RowBuilder<'_> {
    /// Sets the label as it is written. The target turns it into a number or a class; an empty one is missing.
    ///
    /// # Errors
    /// When it is none that the task or the loss has.
    pub fn label(&mut self, text: &[u8]) -> Result<(), DataError> {
        self.label = self.rules.label(CellValue::Text(text))?;
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
        if value != 0.0 {
            let index = self.rules.hashed(hash::name(seed, name.as_bytes()));
            let name = |names: &mut NewNames| name_of(names, index, namespace.as_bytes(), name.as_bytes());
            self.out.push(&mut self.features.seen, index, value, name);
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
            return Err(DataError::record(found).advise("use more ⟦bits⟧, or renumber the features"));
        }
        let value = narrow(value).map_err(|error| error.column(&number.to_string()))?;
        if value != 0.0 {
            let name = |names: &mut NewNames| names.push(number + 1, &[&number.to_string()]);
            self.out.push(&mut self.features.seen, number + 1, value, name);
        }
        Ok(())
    }
}

impl<F> Parser for FunctionParser<F>
where
    F: FnMut(&[u8], &mut RowBuilder<'_>) -> Result + Send,
{
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
        let Self { rules, features, parse } = self;
        each_line(chunk, rules.skip_errors, out, &mut |line: &[u8], out: &mut ParsedBatch| {
            features.begin(out);
            let (namespace, is_ignored, label, weight) = (None, false, None, 1.0);
            let mut row = RowBuilder { rules, features, out, namespace, is_ignored, label, weight };
            parse(line, &mut row)?;
            let labelled = (row.label, row.weight);
            features.end(&rules.schema, labelled, out)
        })
    }
}
