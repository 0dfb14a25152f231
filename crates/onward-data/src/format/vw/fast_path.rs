//! The fast path: rows of plain features, some lines together.

use std::ops::Range;

use onward::hashing::feature_hash as hash;

use crate::encode::{BIAS, InteractionEncoder, NamesSeen, ParsedBatch, name_of};
use crate::schema::Schema;
use crate::text::numbers::batch::{DecimalBatch, PaddedText};
use crate::text::window::Window;

/// Rows of plain features: words between single marks, no weight of a namespace. What takes long is
/// done for all features of some lines at once.
#[derive(Default)]
pub(super) struct FastNamedLines {
    pub(super) window: Window<FastNamedLine>,
    pub(super) numbers: DecimalBatch,
    pub(super) found: NamedFeatures,
}

/// The features of the lines in the window.
#[derive(Default)]
pub(super) struct NamedFeatures {
    pub(super) namespaces: Vec<NamespaceSpan>,
    /// Where the name of each feature begins and ends.
    pub(super) names: Vec<[u32; 2]>,
    /// Where the value of each feature ends, which begins after the name: there, if it has none.
    pub(super) ends: Vec<u32>,
    /// The hashed names.
    pub(super) indices: Vec<u32>,
}

/// A line that was looked at.
pub(super) struct FastNamedLine {
    /// Its features, and its namespaces.
    pub(super) features: Range<usize>,
    pub(super) namespaces: Range<usize>,
    pub(super) is_plain: bool,
}

/// A namespace of a row.
pub(super) struct NamespaceSpan {
    pub(super) seed: u64,
    /// Where its name begins and ends.
    pub(super) name: [u32; 2],
    /// The number of its first feature.
    pub(super) first: usize,
}

onward::vectorised! {
    /// Finds the words of a line between the `places` of its marks, the first of which is a bar; false if
    /// something is not plain.
    fn find_words(text: &[u8], places: &[u32], found: &mut NamedFeatures) -> bool {
        let NamedFeatures { namespaces, names, ends, .. } = found;
        let Some((&last, marks)) = places.split_last() else { return false };
        // What stands behind the last feature is as good as a blank.
        let mark_at = |place: u32| if place == last { b' ' } else { text[place as usize] };
        // As many features as marks, at the most.
        let before = names.len();
        names.resize(before + marks.len(), [0; 2]);
        ends.resize(before + marks.len(), 0);
        let (new_names, new_ends) = (&mut names[before..], &mut ends[before..]);
        let (mut count, mut at) = (0, 0);
        while at < marks.len() {
            let start = at;
            // Features with values: a blank, a colon, and what ends the value.
            while let Some(&[blank, colon, end]) = places[at..].first_chunk::<3>() {
                if text[blank as usize] != b' ' || text[colon as usize] != b':' || blank + 1 >= colon || colon == last {
                    break;
                }
                (new_names[count], new_ends[count]) = ([blank + 1, colon], end);
                count += 1;
                at += 2;
            }
            // Features without: a blank, and what ends the name.
            while let Some(&[blank, end]) = places[at..].first_chunk::<2>() {
                if text[blank as usize] != b' ' || mark_at(end) == b':' {
                    break;
                }
                (new_names[count], new_ends[count]) = ([blank + 1, end], end);
                count += usize::from(blank + 1 < end);
                at += 1;
            }
            if let Some(&[bar, end]) = places[at..].first_chunk::<2>()
                && text[bar as usize] == b'|'
                && mark_at(end) != b':'
            {
                let seed = hash::seed(&text[bar as usize + 1..end as usize]);
                namespaces.push(NamespaceSpan { seed, name: [bar + 1, end], first: before + count });
                at += 1;
            }
            if at == start {
                return false;
            }
        }
        names.truncate(before + count);
        ends.truncate(before + count);
        true
    }
}

onward::vectorised! {
    /// Hashes the names of features. What tells whether a name has been handed on is fetched meanwhile.
    fn hash_names(text: &[u8], schema: &Schema, seen: &NamesSeen, found: &mut NamedFeatures) {
        let NamedFeatures { namespaces, names, indices, .. } = found;
        indices.resize(names.len(), 0);
        let Some(around) = PaddedText::new(text) else { return };
        let mut end = names.len();
        // Loops of our own: an iterator's would not be compiled for this machine.
        for namespace in namespaces.iter().rev() {
            let range = namespace.first..end;
            for (index, &[start, end]) in indices[range.clone()].iter_mut().zip(&names[range]) {
                *index = schema.hashed(BIAS + 1, around.hash(namespace.seed, (start, end)));
                seen.prefetch(*index);
            }
            end = namespace.first;
        }
    }
}

impl FastNamedLines {
    /// Goes on to the line that begins at `start`, and tells where it ends.
    pub(super) fn go_to(&mut self, schema: &Schema, seen: &NamesSeen, text: &[u8], start: usize) -> usize {
        if self.window.go_to(text, start, [b':', b' ', b'|', b'\t']).is_some() {
            self.read_window(schema, seen, text);
        }
        self.window.end(text, start)
    }

    /// Reads the numbers and hashes the names of the lines in the window.
    pub(super) fn read_window(&mut self, schema: &Schema, seen: &NamesSeen, text: &[u8]) {
        let Self { window, numbers, found } = self;
        numbers.clear();
        found.clear();
        window.fill(|index, line| {
            let positions = index.positions(line);
            let bar = positions.iter().position(|&position| text.get(position as usize) == Some(&b'|'));
            let (features, namespaces) = (found.names.len(), found.namespaces.len());
            let is_plain = line.has_room(text) && bar.is_some_and(|bar| find_words(text, &positions[bar..], found));
            if !is_plain {
                found.truncate(features, namespaces);
            }
            let (features, namespaces) = (features..found.names.len(), namespaces..found.namespaces.len());
            FastNamedLine { features, namespaces, is_plain }
        });
        if !numbers.read_decimals(text, &found.names, &found.ends) {
            for row in window.rows.iter_mut().filter(|row| row.is_plain) {
                let (names, ends) = (&found.names[row.features.clone()], &found.ends[row.features.clone()]);
                row.is_plain = numbers.read_each(row.features.start, text, names, ends);
            }
        }
        hash_names(text, schema, seen, found);
    }
}

impl NamedFeatures {
    pub(super) fn clear(&mut self) {
        self.truncate(0, 0);
    }

    pub(super) fn truncate(&mut self, features: usize, namespaces: usize) {
        self.names.truncate(features);
        self.ends.truncate(features);
        self.namespaces.truncate(namespaces);
    }
}

/// The features of a line that is plain.
#[derive(Clone, Copy)]
pub(super) struct FastFeatures<'a> {
    pub(super) line: &'a [u8],
    /// Where the line begins in the text.
    pub(super) start: u32,
    /// The number of the first feature.
    pub(super) first: usize,
    pub(super) indices: &'a [u32],
    pub(super) values: &'a [f32],
    pub(super) names: &'a [[u32; 2]],
    pub(super) namespaces: &'a [NamespaceSpan],
}

impl<'a> FastFeatures<'a> {
    pub(super) fn within(self, [start, end]: [u32; 2]) -> &'a [u8] {
        &self.line[(start - self.start) as usize..(end - self.start) as usize]
    }

    /// Hands on the names of those of the features at these places that are met for the first time.
    pub(super) fn name(self, new: &[u32], seen: &mut NamesSeen, out: &mut ParsedBatch) {
        let mut later = self.namespaces.iter().peekable();
        let mut namespace = None;
        for &at in new {
            let at = at as usize;
            while let Some(next) = later.next_if(|next| next.first <= self.first + at) {
                namespace = Some(next);
            }
            if let Some(namespace) = namespace
                && self.values[at] != 0.0
                && seen.first(self.indices[at])
            {
                name_of(&mut out.names, self.indices[at], self.within(namespace.name), self.within(self.names[at]));
            }
        }
    }

    /// Adds the features that are not 0, by way of this memory.
    pub(super) fn add_kept(
        self,
        kept: &mut (Vec<u32>, Vec<f32>),
        mut products: Option<&mut InteractionEncoder>,
        out: &mut ParsedBatch,
    ) {
        let (kept_indices, kept_values) = (&mut kept.0, &mut kept.1);
        let count = self.indices.len();
        kept_indices.resize(count, 0);
        kept_values.resize(count, 0.0);
        let (before, mut kept, mut at) = (out.batch.pending(), 0, 0);
        for (number, namespace) in self.namespaces.iter().enumerate() {
            if let Some(products) = &mut products {
                products.namespace(namespace.seed, self.within(namespace.name), before + kept);
            }
            let end = self.namespaces.get(number + 1).map_or(count, |next| next.first - self.first);
            // Which are 0 is what a processor guesses wrong: all are written, and those are written over.
            for (&index, &value) in self.indices[at..end].iter().zip(&self.values[at..end]) {
                (kept_indices[kept], kept_values[kept]) = (index, value);
                kept += usize::from(value != 0.0);
            }
            at = end;
        }
        out.batch.extend(&kept_indices[..kept], &kept_values[..kept]);
    }
}
