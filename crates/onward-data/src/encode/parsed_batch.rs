//! What a parser makes of a chunk.

use std::sync::Arc;

use onward::Batch;

use super::{BIAS, NamesSeen};
use crate::error::{DataError, Result};
use crate::schema::Schema;

/// A batch of examples with what came along: ids, names, skipped records.
#[derive(Debug, Default)]
pub struct ParsedBatch {
    /// The examples.
    pub batch: Batch,
    /// The names of features whose index this parser met for the first time.
    pub names: NewNames,
    /// Records that could not be read, when those are skipped: the first few errors.
    pub errors: Vec<DataError>,
    /// How many records were skipped.
    pub skipped: u64,
    /// How many bytes of input (decompressed) the batch was made from.
    pub bytes: u64,
    /// The ids of all rows, and how many a row has.
    pub(crate) ids: TextList,
    pub(crate) id_columns: usize,
    /// Index, number of factors and factors of each product.
    products: Vec<u32>,
    /// The schema that records were encoded by.
    pub(crate) schema: Option<Arc<Schema>>,
}

/// How many errors of skipped records a batch keeps.
pub(crate) const KEPT_ERRORS: usize = 5;

impl ParsedBatch {
    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.batch.clear();
        self.names.clear();
        self.errors.clear();
        self.skipped = 0;
        self.bytes = 0;
        self.ids.truncate(0);
        self.products.clear();
        self.schema = None;
    }

    /// The schema of the rows, where a [`RecordEncoder`](crate::RecordEncoder) made them.
    pub fn schema(&self) -> Option<&Arc<Schema>> {
        self.schema.as_ref()
    }

    /// Adds a feature to the row that is being filled, and its name if it is met for the first time.
    #[inline]
    pub(crate) fn push(&mut self, seen: &mut NamesSeen, index: u32, value: f32, name: impl FnOnce(&mut NewNames)) {
        self.name(seen, index, name);
        self.batch.push(index, value);
    }

    /// Hands on the name of a feature that is met for the first time.
    #[inline]
    pub(crate) fn name(&mut self, seen: &mut NamesSeen, index: u32, name: impl FnOnce(&mut NewNames)) {
        if seen.first(index) {
            name(&mut self.names);
        }
    }

    /// Begins a row with the bias.
    pub(crate) fn push_bias(&mut self, seen: &mut NamesSeen) {
        self.push(seen, BIAS, 1.0, |names| names.push(BIAS, &["bias"]));
    }

    /// Hands on the factors of a product whose index this parser met for the first time.
    pub(crate) fn push_product(&mut self, index: u32, factors: impl Iterator<Item = u32>) {
        let start = self.products.len();
        self.products.extend([index, 0]);
        self.products.extend(factors);
        self.products[start + 1] = (self.products.len() - start - 2) as u32;
    }

    /// Hands on what [`push_product`](Self::push_product) left in another batch.
    pub(crate) fn set_products(&mut self, products: &[u32]) {
        self.products.clear();
        self.products.extend_from_slice(products);
    }

    /// The products of features whose index this parser met for the first time, with the indices of
    /// their factors: what [`Names::add_product`](onward::archive::Names::add_product) takes.
    pub fn products(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let mut rest = self.products.as_slice();
        std::iter::from_fn(move || {
            let [index, count, after @ ..] = rest else { return None };
            let (factors, after) = after.split_at_checked(*count as usize)?;
            rest = after;
            Some((*index, factors))
        })
    }

    /// Sets the ids of all rows at once: how many a row has, and where each ends in `bytes`.
    pub(crate) fn set_ids(&mut self, columns: usize, bytes: &[u8], ends: impl Iterator<Item = usize>) {
        self.ids.truncate(0);
        self.ids.bytes.extend_from_slice(bytes);
        self.ids.ends.extend(ends);
        self.id_columns = columns;
    }

    /// Drops the row that is being filled for what is wrong with it: that stops the parser, or the row is counted as skipped.
    pub(crate) fn refuse(&mut self, error: DataError, skips_errors: bool) -> Result {
        self.batch.abandon();
        self.ids.truncate(self.batch.len() * self.id_columns);
        if !skips_errors {
            return Err(error);
        }
        self.skipped += 1;
        if self.errors.len() < KEPT_ERRORS {
            self.errors.push(error);
        }
        Ok(())
    }

    /// The ids of a row, in the order of the id columns.
    pub fn ids(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        let first = row * self.id_columns;
        (first..first + self.id_columns).map(|at| self.ids.get(at))
    }
}

/// Names of features, one after the other in memory that is used again.
#[derive(Debug, Clone, Default)]
pub struct NewNames {
    indices: Vec<u32>,
    ends: Vec<usize>,
    text: String,
}

impl NewNames {
    /// Adds a name that is made of parts.
    pub(crate) fn push(&mut self, index: u32, parts: &[&str]) {
        self.indices.push(index);
        parts.iter().for_each(|part| self.text.push_str(part));
        self.ends.push(self.text.len());
    }

    /// The same of parts that are UTF-8, or nearly so.
    pub(crate) fn push_bytes(&mut self, index: u32, parts: &[&[u8]]) {
        self.indices.push(index);
        for part in parts {
            match std::str::from_utf8(part) {
                Ok(part) => self.text.push_str(part),
                Err(_) => self.text.push_str(&String::from_utf8_lossy(part)),
            }
        }
        self.ends.push(self.text.len());
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.ends.clear();
        self.text.clear();
    }

    /// The indices, in order.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The indices with their names.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut start = 0;
        self.indices
            .iter()
            .zip(&self.ends)
            .map(move |(&index, &end)| (index, &self.text[std::mem::replace(&mut start, end)..end]))
    }
}

/// Hands on the name of a feature of a namespace.
#[cold]
pub(crate) fn name_of(names: &mut NewNames, index: u32, namespace: &[u8], name: &[u8]) {
    let between: &[u8] = if namespace.is_empty() { b"" } else { b"^" };
    names.push_bytes(index, &[namespace, between, name]);
}

/// Many short byte strings in one arena.
#[derive(Debug, Default)]
pub(crate) struct TextList {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

impl TextList {
    pub(crate) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}
