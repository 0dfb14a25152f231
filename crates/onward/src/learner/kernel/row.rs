//! Sparse rows as kernels read them: indices ascend and no value is 0, so that what two rows have
//! in common is found by walking both once, and a zero that is written equals one that is not.

use std::borrow::Cow;

use crate::archive::Archive;
use crate::numeric::sum;
use crate::{Error, Features, INDEX_LIMIT};

/// A row whose indices ascend, without zeros.
#[derive(Debug, Clone, Copy)]
pub(super) struct SparseRow<'a> {
    indices: &'a [u32],
    values: &'a [f32],
}

/// The same, sorted and cleared if need be.
pub(super) struct Sorted<'a> {
    indices: Cow<'a, [u32]>,
    values: Cow<'a, [f32]>,
}

impl<'a> Sorted<'a> {
    /// The row of these features.
    pub(super) fn new(x: Features<'a>) -> Self {
        if is_sorted(x.indices(), x.values()) {
            return Self { indices: Cow::Borrowed(x.indices()), values: Cow::Borrowed(x.values()) };
        }
        let mut pairs: Vec<(u32, f32)> = x.iter().filter(|&(_, value)| value != 0.0).collect();
        pairs.sort_unstable_by_key(|&(index, _)| index);
        let (indices, values): (Vec<u32>, Vec<f32>) = pairs.into_iter().unzip();
        Self { indices: Cow::Owned(indices), values: Cow::Owned(values) }
    }

    /// Borrows it.
    pub(super) fn row(&self) -> SparseRow<'_> {
        SparseRow { indices: &self.indices, values: &self.values }
    }
}

fn is_sorted(indices: &[u32], values: &[f32]) -> bool {
    indices.windows(2).all(|pair| pair[0] < pair[1]) && !values.contains(&0.0)
}

impl SparseRow<'_> {
    /// ‖x‖².
    pub(super) fn square(&self) -> f64 {
        sum::squares(self.values)
    }

    /// Σ term(x_i, x'_i) over the features that either row has.
    pub(super) fn join(&self, other: SparseRow<'_>, term: impl Fn(f64, f64) -> f64) -> f64 {
        if self.indices == other.indices {
            return sum::sum(self.values.iter().zip(other.values).map(|(&x, &y)| term(f64::from(x), f64::from(y))));
        }
        let (mut total, mut here, mut there) = (0.0, 0, 0);
        while here < self.indices.len() && there < other.indices.len() {
            let (one, two) = (self.indices[here], other.indices[there]);
            let (mut x, mut y) = (0.0, 0.0);
            if one <= two {
                x = f64::from(self.values[here]);
                here += 1;
            }
            if two <= one {
                y = f64::from(other.values[there]);
                there += 1;
            }
            total += term(x, y);
        }
        for &x in &self.values[here..] {
            total += term(f64::from(x), 0.0);
        }
        for &y in &other.values[there..] {
            total += term(0.0, f64::from(y));
        }
        total
    }
}

/// Rows, one after the other in memory.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseRows {
    indices: Vec<u32>,
    values: Vec<f32>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl SparseRows {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The row at this position.
    pub(super) fn get(&self, at: usize) -> SparseRow<'_> {
        let range = self.range(at);
        SparseRow { indices: &self.indices[range.clone()], values: &self.values[range] }
    }

    /// All, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = SparseRow<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Adds a row at the end.
    pub(super) fn push(&mut self, row: SparseRow<'_>) {
        self.indices.extend_from_slice(row.indices);
        self.values.extend_from_slice(row.values);
        self.ends.push(self.indices.len());
    }

    /// Removes a row; those after it move up.
    pub(super) fn remove(&mut self, at: usize) {
        let range = self.range(at);
        let length = range.len();
        self.indices.drain(range.clone());
        self.values.drain(range);
        self.ends.remove(at);
        self.ends[at..].iter_mut().for_each(|end| *end -= length);
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start..self.ends[at]
    }

    /// The rows as columns `row.index` and `row.value`, and of each row its `row.length`.
    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        // Indices are below 2^31 and none occurs twice in a row: lengths fit.
        let mut lengths: Vec<u32> = (0..self.len()).map(|at| self.range(at).len() as u32).collect();
        archive.column("row.length", &mut lengths)?;
        archive.column("row.index", &mut self.indices)?;
        archive.column_of(self.indices.len(), "row.value", &mut self.values)?;
        if archive.is_loading() {
            let mut end = 0;
            let step = |length| {
                end += length as usize;
                end
            };
            self.ends = lengths.into_iter().map(step).collect();
            archive.check(end == self.indices.len(), "row.length", "must add up to the length of 'row.index'")?;
            let is_whole =
                |row: SparseRow<'_>| is_sorted(row.indices, row.values) && row.values.iter().all(|it| it.is_finite());
            let are_whole = self.iter().all(is_whole) && self.indices.iter().all(|&index| index < INDEX_LIMIT);
            archive.check(are_whole, "row.index", "must rise in each row, and 'row.value' be finite and not 0")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dense() -> impl Strategy<Value = [f32; 6]> {
        prop::array::uniform6(prop_oneof![Just(0.0f32), -2.0f32..2.0])
    }

    /// The nonzero values in falling order of index.
    fn sparse(values: &[f32; 6]) -> (Vec<u32>, Vec<f32>) {
        (0..6).rev().filter(|&at| values[at as usize] != 0.0).map(|at| (at, values[at as usize])).unzip()
    }

    proptest! {
        #[test]
        fn joining_sparse_rows_equals_the_dense_sum(one in dense(), two in dense()) {
            let all = [0, 1, 2, 3, 4, 5];
            let ((one_at, one_of), (two_at, two_of)) = (sparse(&one), sparse(&two));
            let full = [&one, &two].map(|values| Sorted::new(Features::new(&all, values).unwrap()));
            let thin = [
                Sorted::new(Features::new(&one_at, &one_of).unwrap()),
                Sorted::new(Features::new(&two_at, &two_of).unwrap()),
            ];
            type Term = fn(f64, f64) -> f64;
            for term in [(|x, y| x * y) as Term, |x, y| (x - y) * (x - y), |x, y| (x - y).abs()] {
                let plain: f64 = one.iter().zip(&two).map(|(&x, &y)| term(f64::from(x), f64::from(y))).sum();
                let joined = thin[0].row().join(thin[1].row(), term);
                prop_assert!((joined - plain).abs() < 1e-13);
                prop_assert_eq!(joined.to_bits(), full[0].row().join(full[1].row(), term).to_bits());
            }
        }

        #[test]
        fn rows_come_and_go(values in prop::collection::vec(dense(), 1..12), at in 0usize..12) {
            let mut rows = SparseRows::default();
            let mut plain: Vec<_> = values.iter().map(sparse).collect();
            for (indices, values) in &plain {
                rows.push(Sorted::new(Features::new(indices, values).unwrap()).row());
            }
            let at = at % plain.len();
            rows.remove(at);
            plain.remove(at);
            prop_assert_eq!(rows.len(), plain.len());
            for (row, (indices, values)) in rows.iter().zip(&plain) {
                prop_assert!(row.indices.iter().eq(indices.iter().rev()));
                prop_assert!(row.values.iter().eq(values.iter().rev()));
            }
        }
    }
}
