//! What the fast path of CSV needs of the encoder: cells of many rows that are read together.

use super::timestamps::{FEATURES_OF_TIMESTAMP, features_of};
use super::{ParsedBatch, RowEncoder};
use crate::error::Result;
use crate::schema::{CellValue, Kind, Role};
use crate::text::numbers;
use crate::text::numbers::batch::PaddedText;

/// What is done with the cells of a column where some rows are read together.
pub(crate) enum ColumnEncoding {
    /// As in [`Kind::Numeric`].
    Number { slot: u32, origin: Option<f64> },
    /// A category is hashed with this seed.
    Category { seed: u64 },
    /// As in [`Kind::Timestamp`].
    Timestamp { slot: u32, origin: f64 },
    /// A number is read and becomes the label.
    Label,
    /// Nothing.
    Ignored,
    /// Each cell is encoded by itself, by [`RowEncoder::cell`].
    Single,
}

impl RowEncoder {
    /// What is done with the cells of a column.
    pub(crate) fn encoding(&self, column: usize) -> ColumnEncoding {
        match self.column(column).role {
            Role::Ignored => ColumnEncoding::Ignored,
            // Interactions have to know the column of each feature.
            _ if self.products.is_some() => ColumnEncoding::Single,
            Role::Feature(Kind::Numeric { slot, origin }) => ColumnEncoding::Number { slot, origin },
            Role::Feature(Kind::Categorical { origin: None }) => ColumnEncoding::Category { seed: self.seeds[column] },
            Role::Feature(Kind::Timestamp { slot, origin }) => ColumnEncoding::Timestamp { slot, origin },
            Role::Target if self.rules.schema.target.reads_numbers() => ColumnEncoding::Label,
            _ => ColumnEncoding::Single,
        }
    }

    /// The index of the category between these positions of a text, and whether it has been met.
    #[inline]
    pub(crate) fn category_index(&self, seed: u64, text: PaddedText<'_>, bounds: (u32, u32)) -> (u32, bool) {
        let index = self.rules.hashed(text.hash(seed, bounds));
        (index, self.seen.all(&[index]))
    }

    /// The features of the moment in a text, in order, and their number; of a missing one too. `None` if the text must be
    /// refused.
    pub(crate) fn timestamp_features(
        &mut self,
        column: usize,
        (slot, origin): (u32, f64),
        text: &[u8],
    ) -> Option<([(u32, f32); FEATURES_OF_TIMESTAMP], usize)> {
        let text = text.trim_ascii();
        let mut all = [(slot + 1, 1.0); FEATURES_OF_TIMESTAMP];
        let Some(moment) = self.moments[column].parse(text) else {
            return numbers::is_missing(text).then_some((all, 1));
        };
        let days = (moment.days - origin) as f32;
        all[0] = (slot, days);
        let mut count = 1;
        for (index, _) in features_of(&self.parts[column], moment) {
            all[count] = (index, 1.0);
            count += 1;
        }
        days.is_finite().then_some((all, count))
    }

    /// Whether all of these features have been met.
    #[inline]
    pub(crate) fn has_named(&self, indices: &[u32]) -> bool {
        self.seen.all(indices)
    }

    /// The label that a number is, or a missing one; nothing if it must be refused.
    pub(crate) fn label(&self, number: Option<f64>) -> Option<Option<f64>> {
        self.rules.label(number.map_or(CellValue::Missing, CellValue::Number)).ok()
    }

    /// Refuses a label that the task or the loss does not have.
    pub(crate) fn check_label(&self, label: f64) -> Result {
        let target = &self.rules.schema.target;
        let checked = target.check_label(label).and_then(|()| self.rules.check_label(label));
        checked.map_err(|error| error.column(&target.column))
    }

    /// Whether these columns are all that a row must have, so that none is [missing](Self::end) from it.
    pub(crate) fn has_required(&self, columns: &[Option<usize>]) -> bool {
        let mut are_there = vec![false; self.seeds.len()];
        columns.iter().flatten().for_each(|&column| are_there[column] = true);
        self.required.iter().all(|&column| are_there[column])
    }

    /// Notes that the row has these columns, each once; `is_whole`: and all that it must have.
    pub(crate) fn mention(&mut self, columns: &[usize], is_whole: bool) {
        (self.has_each_once, self.has_all) = (true, is_whole);
        if !is_whole {
            columns.iter().for_each(|&column| self.last_row[column] = self.row);
        }
    }

    /// Whether rows have neither ids nor products, so that one that has all columns may be [ended simply](Self::end_simple).
    pub(crate) fn ends_simply(&self) -> bool {
        self.id_columns.is_empty() && self.products.is_none()
    }

    /// Ends a row that has all columns, each once: only these of its features may share an index.
    #[inline]
    pub(crate) fn end_simple(&mut self, hashed: &[u32], out: &mut ParsedBatch) {
        out.batch.finish_distinct_but(hashed, self.label, self.weight);
    }
}
