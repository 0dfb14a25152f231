//! What a cache is, and whether it may be used.
//!
//! A cache is an Arrow file (IPC, not compressed) of examples, with the columns that
//! [`convert`](crate::convert) writes and two more:
//!
//! | column | type | |
//! |---|---|---|
//! | `label` | f64 | null (NaN below it) where it is missing |
//! | `weight`, `offset` | f64 | |
//! | `indices`, `values` | lists of u32 and of f32 | each row has as many of both |
//! | `names` | map from u32 to string | the features that were met first in this record batch, all with its first row |
//! | `products` | list of u32 | the same of [products](crate::Interaction): index, number of factors, factors |
//! | `ids` | fixed-size list of large binary | what goes into predictions; only where there are ids |
//!
//! Record batches have about half a megabyte: a thread reads one at a time, and few are in
//! memory. The metadata of the schema has `onward.cache`, the version of this layout, by which a
//! cache is recognised however damaged it may be. The footer's metadata has `onward.cache.index`,
//! JSON of [`CacheIndex`] (what was read, how, and where each record batch is, with its CRC-32), and
//! `onward.cache.checksum`, the CRC-32 of that text. Readers rely on the index alone.
//!
//! A cache is used where reading the inputs would give the same rows to the bit: the inputs have
//! the same content ([`identity`]), and what their columns mean (the [`Schema`], which is found
//! anew from the first rows) and which records are errors are the same. Else it is rebuilt.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_schema::SchemaRef;
use onward::loss::{Task, TaskLoss};
use parquet::file::reader::Length;
use serde::{Deserialize, Serialize};

use super::CacheState;
use super::identity::{InputIdentity, InputStamps};
use super::read::{CacheParser, CacheSource};
use super::write::{CacheWriter, schema};
use crate::error::{DataError, Result};
use crate::format::Format;
use crate::format::arrow::footer_metadata;
use crate::format::columnar::{damaged, guarded};
use crate::open::{self, Opening, Request};
use crate::options::{OnError, Options};
use crate::schema::{Schema, TargetRule};
use crate::source::{Input, Seekable};

/// The version of the layout.
pub(super) const LAYOUT: &str = "2";
/// In the schema's metadata: that this is a cache, and of which layout.
pub(super) const LAYOUT_KEY: &str = "onward.cache";
/// In the footer's: the index, and its checksum.
pub(super) const INDEX_KEY: &str = "onward.cache.index";
pub(super) const CHECKSUM_KEY: &str = "onward.cache.checksum";
/// What parses the same text in the same way: another version may have mended a parser.
pub(super) const PARSERS: &str = env!("CARGO_PKG_VERSION");

/// What else a cache has than a file of examples.
pub(super) const NAMES: &str = "names";
pub(super) const PRODUCTS: &str = "products";
pub(super) const IDS: &str = "ids";

/// What a cache says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CacheIndex {
    pub(super) layout: String,
    pub(super) onward: String,
    pub(super) rules: ParsingRules,
    /// When reading began, in nanoseconds since 1970.
    pub(super) begun: u64,
    /// The names of the inputs, for messages about skipped records.
    pub(super) names: Vec<String>,
    pub(super) inputs: Vec<InputIdentity>,
    /// The CRC-32 of all that comes before the first record batch.
    pub(super) head: u32,
    pub(super) blocks: Vec<CachedBatch>,
}

/// A record batch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct CachedBatch {
    /// Where its message begins.
    pub(super) at: u64,
    /// How long message and body are.
    pub(super) length: u64,
    pub(super) checksum: u32,
    pub(super) rows: u64,
    /// What is told of the records that it was made from.
    pub(super) bytes: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) skipped: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<DataError>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What decides which rows a text gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ParsingRules {
    pub(super) format: Format,
    pub(super) schema: Schema,
    pub(super) header: bool,
    pub(super) skips_errors: bool,
    pub(super) record_limit: u64,
    pub(super) requires_target: bool,
    /// The loss by which labels were checked.
    pub(super) loss: Option<String>,
}

impl ParsingRules {
    fn new(options: &Options, opening: &Opening) -> Self {
        Self {
            format: opening.format.clone(),
            schema: Schema::clone(&opening.schema),
            header: options.header,
            skips_errors: options.on_error == OnError::Skip,
            record_limit: options.record_limit as u64,
            requires_target: options.require_target,
            loss: options.loss.as_ref().map(|loss| loss.name()),
        }
    }

    /// Whether rows that were parsed by these rules are those that `asked` would give. Where no
    /// record was refused, rules that refuse no more give the same.
    fn fits(&self, asked: &Self, loss: Option<&TaskLoss>, refused: bool) -> bool {
        if refused {
            return self == asked;
        }
        let reads_alike = self.format == asked.format && self.header == asked.header && self.schema == asked.schema;
        let fits_loss = match loss {
            None => true,
            Some(_) if self.loss == asked.loss => true,
            Some(loss) => {
                let rule = &self.schema.target.rule;
                let are_signs = rule.task() == Task::Binary && *rule != TargetRule::Probability;
                are_signs && [-1.0, 1.0].iter().all(|&label| loss.check_label(label).is_ok())
            }
        };
        reads_alike
            && fits_loss
            && self.record_limit <= asked.record_limit
            && (self.requires_target || self.requires_target == asked.requires_target)
    }
}

/// Opens inputs by way of a cache: of it, if it fits them, and else so that it is made.
pub(super) fn open(path: &Path, request: Request<'_>) -> Result<(Opening, CacheState)> {
    let Request { inputs, options, .. } = request;
    let name = path.display().to_string();
    if path == Path::new("-") {
        return Err(DataError::options("⟦cache⟧ must name a file, for later runs to read"));
    }
    for input in inputs {
        input.check()?;
        let found = match input {
            Input::Path(_) if input.is_repeatable() => continue,
            Input::Bytes(_) => "is in memory, and only files can be cached",
            _ => "can be read only once, so it cannot be cached",
        };
        return Err(DataError::options(found)
            .advise("save it to a file first, or leave out ⟦cache⟧")
            .input(&input.name()));
    }
    // Before a byte is read: what changes from now on is noticed.
    let stamps = InputStamps::new(inputs)?;
    // Opened though it may not be read: so columns, notes and errors are the same in any case.
    let opening = open::open(request)?;
    let rules = ParsingRules::new(options, &opening);
    let id_columns = opening.id_names.len();
    let misfit = match look(path, &name)? {
        None => None,
        Some(Err(misfit)) => Some(misfit),
        Some(Ok((index, file))) => match index.misfit(&rules, options.loss.as_ref(), &stamps)? {
            None => {
                let schema = Arc::new(schema(&rules, id_columns));
                return Ok(cached(request, opening, (index, file), (schema, id_columns), &name));
            }
            misfit => misfit,
        },
    };
    let note = misfit.map(|misfit| format!("cache: {name} {misfit}; it is rebuilt"));
    let writer = CacheWriter::create(path, rules, id_columns, stamps)?;
    Ok((opening, CacheState { writer: Some(Box::new(writer)), note, ..CacheState::default() }))
}

/// Has a cache read instead of the inputs.
fn cached(
    Request { inputs, count, .. }: Request<'_>,
    opening: Opening,
    (index, file): (CacheIndex, File),
    (schema, id_columns): (SchemaRef, usize),
    name: &str,
) -> (Opening, CacheState) {
    count.store(0, Ordering::Relaxed);
    let total = index.blocks.iter().map(|block| block.length).sum();
    let renamed = index.names.into_iter().zip(inputs.iter().map(Input::name)).collect();
    let parser = CacheParser { file: Arc::new(file), blocks: Arc::from(index.blocks), schema, id_columns, renamed };
    let source = Box::new(CacheSource {
        name: name.into(),
        blocks: Arc::clone(&parser.blocks),
        next: 0,
        count: Arc::clone(count),
    });
    let opening = Opening { source, parser: Box::new(move || Box::new(parser.clone())), ..opening };
    let note = Some(format!("cache: reading {name} instead of the input"));
    (opening, CacheState { note, total: Some(total), ..CacheState::default() })
}

/// Why a cache is of no use.
type Misfit = &'static str;

impl CacheIndex {
    fn misfit(&self, asked: &ParsingRules, loss: Option<&TaskLoss>, stamps: &InputStamps) -> Result<Option<Misfit>> {
        let refused = self.blocks.iter().any(|block| block.skipped > 0);
        if !self.rules.fits(asked, loss, refused) {
            return Ok(Some("holds rows that were read with other columns, another loss or other options"));
        }
        let is_same = stamps.saw(&self.inputs, self.begun)?;
        Ok((!is_same).then_some("holds rows of other inputs, or of older versions of them"))
    }
}

/// A cache, or what is wrong with it.
type Found = Result<(CacheIndex, File), Misfit>;

/// Looks for a cache: `None` where there is no file.
fn look(path: &Path, name: &str) -> Result<Option<Found>> {
    let failed = |error: io::Error| DataError::open(format!("the cache cannot be read: {error}")).input(name);
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if !metadata.is_file() => return Err(foreign(name)),
        Ok(_) => {}
    }
    let file = Seekable::File(File::open(path).map_err(failed)?);
    /// The description of the schema, with much to spare.
    const HEAD: u64 = 8192;
    let head = file.read_at(0, file.len().min(HEAD) as usize).map_err(failed)?;
    if !head.starts_with(b"ARROW1") || memchr::memmem::find(&head, LAYOUT_KEY.as_bytes()).is_none() {
        return Err(foreign(name));
    }
    let index = guarded(name, || index(&file)).unwrap_or(Err("is damaged"));
    let Seekable::File(file) = file else { return Ok(None) };
    Ok(Some(index.map(|index| (index, file))))
}

/// Any other file may still be needed.
fn foreign(name: &str) -> DataError {
    DataError::options("⟦cache⟧ names a file that is not a cache of Onward; it was left unchanged")
        .advise("name another file, or remove this one")
        .input(name)
}

/// The index of a file that is not wholly trusted.
fn index(file: &Seekable) -> Result<Result<CacheIndex, Misfit>> {
    let metadata = footer_metadata(file)?;
    let text = metadata.get(INDEX_KEY).ok_or_else(|| damaged("it has no index"))?;
    let checksum = metadata.get(CHECKSUM_KEY).and_then(|text| text.parse().ok());
    if checksum != Some(crc32fast::hash(text.as_bytes())) {
        return Err(damaged("its index does not have its checksum"));
    }
    let index: serde_json::Value = serde_json::from_str(text).map_err(damaged)?;
    // Another version may have other fields.
    if index["layout"] != LAYOUT || index["onward"] != PARSERS {
        return Ok(Err("was written by another version of Onward"));
    }
    let index: CacheIndex = serde_json::from_value(index).map_err(damaged)?;
    if let Some(first) = index.blocks.first() {
        let head = file.read_at(0, first.at.min(file.len()) as usize).map_err(damaged)?;
        if crc32fast::hash(&head) != index.head {
            return Err(damaged("its head does not have its checksum"));
        }
    }
    Ok(Ok(index))
}
