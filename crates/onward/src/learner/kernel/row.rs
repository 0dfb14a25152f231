//! Sparse rows as kernels read them: indices ascend and no value is 0, so that what two rows have
//! in common is found by walking both once, and a zero that is written equals one that is not.

use std::borrow::Cow;

use crate::archive::{Archive, rows_of};
use crate::numeric::sum;
use crate::{Error, Features, INDEX_LIMIT};

/// A row whose indices ascend, without zeros.
#[derive(Debug, Clone)]
pub(super) struct SparseRow<'a> {
    indices: Cow<'a, [u32]>,
    values: Cow<'a, [f32]>,
}

impl<'a> SparseRow<'a> {
    /// The row of these features, sorted and cleared of zeros if necessary.
    pub(super) fn new(x: Features<'a>) -> Self {
        if is_sorted(x.indices(), x.values()) {
            return Self { indices: Cow::Borrowed(x.indices()), values: Cow::Borrowed(x.values()) };
        }
        let mut pairs: Vec<(u32, f32)> = x.iter().filter(|&(_, value)| value != 0.0).collect();
        pairs.sort_unstable_by_key(|&(index, _)| index);
        let (indices, values): (Vec<u32>, Vec<f32>) = pairs.into_iter().unzip();
        Self { indices: Cow::Owned(indices), values: Cow::Owned(values) }
    }

    /// A copy that can be kept.
    pub(super) fn owned(&self) -> SparseRow<'static> {
        SparseRow { indices: Cow::Owned(self.indices.to_vec()), values: Cow::Owned(self.values.to_vec()) }
    }

    /// ‖x‖².
    pub(super) fn square(&self) -> f64 {
        sum::squares(&self.values)
    }

    /// Σ term(x_i, x'_i) over the features that either row has.
    pub(super) fn join(&self, other: &SparseRow<'_>, term: impl Fn(f64, f64) -> f64) -> f64 {
        let (indices, others) = (self.indices.as_ref(), other.indices.as_ref());
        let (values, other_values) = (self.values.as_ref(), other.values.as_ref());
        if indices == others {
            return sum::sum(values.iter().zip(other_values).map(|(&x, &y)| term(f64::from(x), f64::from(y))));
        }
        let (mut total, mut here, mut there) = (0.0, 0, 0);
        while here < indices.len() && there < others.len() {
            let (one, two) = (indices[here], others[there]);
            let (mut x, mut y) = (0.0, 0.0);
            if one <= two {
                x = f64::from(values[here]);
                here += 1;
            }
            if two <= one {
                y = f64::from(other_values[there]);
                there += 1;
            }
            total += term(x, y);
        }
        for &x in &values[here..] {
            total += term(f64::from(x), 0.0);
        }
        for &y in &other_values[there..] {
            total += term(0.0, f64::from(y));
        }
        total
    }
}

fn is_sorted(indices: &[u32], values: &[f32]) -> bool {
    indices.windows(2).all(|pair| pair[0] < pair[1]) && !values.contains(&0.0)
}

/// Saves or loads rows as columns `row.index` and `row.value`, and the length of each row as `row.length`.
pub(super) fn persist_rows(rows: &mut Vec<SparseRow<'static>>, archive: &mut Archive) -> Result<(), Error> {
    // Indices are below 2^31 and none occurs twice in a row: lengths fit.
    let mut lengths: Vec<u32> = rows.iter().map(|row| row.indices.len() as u32).collect();
    let mut indices: Vec<u32> = rows.iter().flat_map(|row| row.indices.iter().copied()).collect();
    let mut values: Vec<f32> = rows.iter().flat_map(|row| row.values.iter().copied()).collect();
    archive.column("row.length", &mut lengths)?;
    archive.column("row.index", &mut indices)?;
    archive.column_of(indices.len(), "row.value", &mut values)?;
    if archive.is_loading() {
        let lengths = || lengths.iter().map(|&length| length as usize);
        let parts = rows_of(&indices, lengths()).zip(rows_of(&values, lengths()));
        let (indices, values) = archive.require(parts, "row.length", "must add up to the length of 'row.index'")?;
        let parts = indices.into_iter().zip(values);
        *rows = parts.map(|(indices, values)| SparseRow { indices: indices.into(), values: values.into() }).collect();
        let is_whole = |row: &SparseRow<'_>| {
            let are_in_range = row.indices.iter().all(|&index| index < INDEX_LIMIT);
            is_sorted(&row.indices, &row.values) && are_in_range && row.values.iter().all(|value| value.is_finite())
        };
        let must = "must rise in each row, and 'row.value' be finite and not 0";
        archive.check(rows.iter().all(is_whole), "row.index", must)?;
    }
    Ok(())
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
            let full = [&one, &two].map(|values| SparseRow::new(Features::new(&all, values).unwrap()));
            let thin = [
                SparseRow::new(Features::new(&one_at, &one_of).unwrap()),
                SparseRow::new(Features::new(&two_at, &two_of).unwrap()),
            ];
            type Term = fn(f64, f64) -> f64;
            for term in [(|x, y| x * y) as Term, |x, y| (x - y) * (x - y), |x, y| (x - y).abs()] {
                let plain: f64 = one.iter().zip(&two).map(|(&x, &y)| term(f64::from(x), f64::from(y))).sum();
                let joined = thin[0].join(&thin[1], term);
                prop_assert!((joined - plain).abs() < 1e-13);
                prop_assert_eq!(joined.to_bits(), full[0].join(&full[1], term).to_bits());
            }
        }

        #[test]
        fn rows_that_were_saved_are_the_same(values in prop::collection::vec(dense(), 1..12)) {
            let plain: Vec<_> = values.iter().map(sparse).collect();
            let new = |(indices, values): &(Vec<u32>, Vec<f32>)| SparseRow::new(Features::new(indices, values).unwrap()).owned();
            let mut rows: Vec<_> = plain.iter().map(new).collect();
            let state = Archive::saved(|archive| persist_rows(&mut rows, archive)).unwrap();
            let mut rows = Vec::new();
            persist_rows(&mut rows, &mut Archive::loading(state)).unwrap();
            prop_assert_eq!(rows.len(), plain.len());
            for (row, (indices, values)) in rows.iter().zip(&plain) {
                prop_assert!(row.indices.iter().eq(indices.iter().rev()));
                prop_assert!(row.values.iter().eq(values.iter().rev()));
            }
        }
    }
}
