//! Opens inputs: recognises the format, infers or binds the schema, and makes
//! the source and the parsers.

#[cfg(feature = "arrow")]
mod columnar;
mod columns;
pub(crate) mod infer;
mod text;
mod text_source;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::encode::Rules;
use crate::error::{DataError, Result};
use crate::format::Format;
use crate::options::{OnError, Options};
use crate::schema::sample::InvalidTokens;
use crate::schema::{ColumnType, Schema};
use crate::source::{ChunkSource, Input, Parser};

/// What inputs are opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Examples.
    Learn,
    /// The cells of tables, as text: each row has all its columns as ids.
    Copy,
}

/// What is opened, and what for.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) inputs: &'a [Input],
    pub(crate) options: &'a Options,
    pub(crate) purpose: Purpose,
    /// Counts the bytes that are read of the files.
    pub(crate) count: &'a Arc<AtomicU64>,
}

/// Inputs that are open, and what was found.
pub(crate) struct Opening {
    pub(crate) source: Box<dyn ChunkSource>,
    /// Whether records arrive while it is read (a pipe), so that reading may wait long.
    pub(crate) is_live: bool,
    /// Makes a parser for each thread.
    pub(crate) parser: Box<dyn FnMut() -> Box<dyn Parser>>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) format: Format,
    /// The names of the ids that come with each row.
    pub(crate) id_names: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// What the columns hold, where tables are copied.
    pub(crate) types: Option<Vec<ColumnType>>,
}

/// Opens inputs.
pub(crate) fn open(request: Request<'_>) -> Result<Opening> {
    let Request { inputs, options, .. } = request;
    check_options(options)?;
    if inputs.is_empty() {
        return Err(DataError::options("there is no input").advise("name at least one"));
    }
    for input in inputs {
        // A missing file is found before the first one is read, which may take an hour.
        input.check()?;
    }
    #[cfg(feature = "arrow")]
    if let Some(format) = columnar::format_of(request)? {
        return columnar::open(request, format);
    }
    text::open(request)
}

pub(crate) fn check_options(options: &Options) -> Result {
    for (name, most, found) in [
        ("⟦bits⟧", 30, u64::from(options.bits)),
        ("⟦ngrams⟧", 8, options.ngrams.into()),
        ("⟦threads⟧", 256, options.threads as u64),
    ] {
        if !(1..=most).contains(&found) {
            return Err(DataError::options(format!("{name} must be from 1 to {most}; got {found}")));
        }
    }
    if let Some(format) = options.format.as_ref().filter(|format| options.formats.get(format).is_none()) {
        return Err(options.formats.unknown(format));
    }
    Ok(())
}

/// What parsers need, from the schema and the options.
pub(crate) fn rules(schema: Arc<Schema>, options: &Options, invalid: InvalidTokens) -> Rules {
    Rules {
        reserved: schema.reserved(),
        schema,
        loss: options.loss.clone(),
        skip_errors: options.on_error == OnError::Skip,
        require_weight: options.require_target,
        invalid: Arc::new(invalid),
        is_bound: options.schema.is_some(),
    }
}

/// An input without anything in it.
fn empty() -> DataError {
    DataError::format("is empty").advise("give an input with examples in it")
}
