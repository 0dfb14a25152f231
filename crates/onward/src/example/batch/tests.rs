use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::repeats::Repeats;
use super::*;

/// Rows that came in by way of [`Batch::extend_ascending`] or not, one after the other, abandoned or not.
#[test]
fn rows_that_ascend_are_told_from_others() {
    let mut batch = Batch::default();
    for _ in 0..2 {
        batch.push(0, 1.0);
        assert!(batch.extend_ascending(&[2, 5], &[1.0, 2.0], 5));
        batch.finish(None, 1.0);
        for (indices, value, limit) in
            [(vec![2, 2], 1.0, 9), (vec![2, 1], 1.0, 9), (vec![2, 9], 1.0, 8), (vec![0, 3], 1.0, 9)]
        {
            batch.push(0, 1.0);
            assert!(!batch.extend_ascending(&indices, &[1.0, value], limit), "{indices:?}");
            assert_eq!(batch.pending(), 1);
            batch.abandon();
        }
        assert!(!batch.extend_ascending(&[1, 2], &[1.0, f32::NAN], 9));
        // More after it: they are looked at.
        assert!(batch.extend_ascending(&[3, 4], &[1.0, 2.0], 9));
        assert!(!batch.extend_ascending(&[7, 8], &[1.0, 2.0], 9), "the row has two features already");
        batch.push(3, 4.0);
        batch.finish(None, 1.0);
        // As many features as the row before had, of which two are one.
        [6, 6, 1].into_iter().for_each(|index| batch.push(index, 1.0));
        batch.finish(None, 1.0);
        let rows: Vec<Vec<(u32, f32)>> = batch.iter().map(|example| example.features.iter().collect()).collect();
        assert_eq!(rows, [vec![(0, 1.0), (2, 1.0), (5, 2.0)], vec![(3, 5.0), (4, 2.0)], vec![(6, 2.0), (1, 1.0)]]);
        assert_eq!(batch.all_rows().bounds.max_index, 6);
        batch.clear();
    }
}

proptest! {
    #[test]
    fn features_that_share_an_index_become_one(
        rows in prop::collection::vec(
            prop::collection::vec((prop_oneof![0u32..40, any::<u32>().prop_map(|index| index >> 1)], -9.0f32..9.0), 0..80),
            1..6,
        )
    ) {
        let mut batch = Batch::default();
        for row in &rows {
            row.iter().for_each(|&(index, value)| batch.push(index, value));
            batch.finish(None, 1.0);
        }
        for (row, example) in rows.iter().zip(batch.iter()) {
            let mut order = Vec::new();
            let mut sums = BTreeMap::new();
            for &(index, value) in row {
                if !sums.contains_key(&index) {
                    order.push(index);
                }
                *sums.entry(index).or_insert(0.0) += f64::from(value);
            }
            let expected: Vec<(u32, f32)> = order.iter().map(|index| (*index, sums[index] as f32)).collect();
            prop_assert_eq!(example.features.iter().collect::<Vec<_>>(), expected);
            // What a batch holds, anyone could have made.
            prop_assert!(Features::new(example.features.indices(), example.features.values()).is_ok());
        }
    }
}

#[test]
fn sums_of_shared_features_stay_finite() {
    let mut batch = Batch::default();
    [(3, f32::MAX), (1, 1.0), (3, f32::MAX)].into_iter().for_each(|(index, value)| batch.push(index, value));
    batch.finish(Some(1.0), 1.0);
    assert_eq!(batch.get(0).features.iter().collect::<Vec<_>>(), [(3, f32::MAX), (1, 1.0)]);
}

#[derive(Debug, Clone)]
struct Elsewhere(Vec<u32>, Vec<f32>);

impl BorrowedColumns for Elsewhere {
    fn indices(&self) -> &[u32] {
        &self.0
    }

    fn values(&self) -> &[f32] {
        &self.1
    }
}

#[test]
fn rows_that_are_lent_are_those_that_were_filled_in() {
    let elsewhere = Elsewhere(vec![0, 7, 0, 3, 5], vec![1.0, -0.5, 1.0, 2.0, 4.0]);
    let (labels, weights, offsets) = ([1.0, f64::NAN, -1.0], [1.0, 0.0, 2.5], [0.0, 0.25, -3.0]);
    let mut lent = Batch::default();
    // What was there before is gone, and what is filled in afterwards is its own again.
    lent.push(1, 1.0);
    lent.finish(None, 1.0);
    lent.clear();
    let rows = RowColumns { labels: &labels, weights: &weights, offsets: &offsets };
    lent.borrow_columns(Arc::new(elsewhere.clone()), [2, 2, 5].into_iter(), rows).unwrap();
    let mut filled = Batch::default();
    let mut start = 0;
    for (row, end) in [2, 2, 5].into_iter().enumerate() {
        (start..end).for_each(|at| filled.push(elsewhere.0[at], elsewhere.1[at]));
        filled.set_offset(offsets[row]);
        filled.finish((!labels[row].is_nan()).then_some(labels[row]), weights[row]);
        start = end;
    }
    let shown = |batch: &Batch| {
        let shown = |example: Example<'_>| {
            let Example { features: x, label, weight } = example;
            format!("{:?}", (x.indices(), x.values(), x.ids, x.bounds.max_index, x.offset(), label, weight))
        };
        batch.iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(shown(&lent), shown(&filled));
    assert_eq!((lent.len(), lent.features()), (3, 5));
    lent.clear();
    lent.push(9, 1.0);
    lent.finish(None, 1.0);
    assert_eq!(lent.get(0).features.indices(), [9]);
}

#[test]
fn an_index_that_occurs_twice_is_found_in_rows_of_any_length() {
    let mut random = crate::numeric::rng::SplitMix64::new(29);
    let mut repeats = Repeats::default();
    for round in 0..20_000 {
        let (length, distinct) = (random.below(70) as usize, random.below(12) as u32);
        let mut lowest = 0;
        let mut row: Vec<u32> = Vec::new();
        for _ in 0..length {
            // Of those below each occurs once.
            if lowest < distinct && random.below(3) == 0 {
                row.push(lowest);
                lowest += 1;
            } else {
                row.push(distinct + random.below(2_000) as u32);
            }
        }
        let all: std::collections::HashSet<_> = row.iter().collect();
        let is_portable = round % 2 == 0;
        crate::simd::set_portable(is_portable);
        assert_eq!(repeats.are_there(&row, distinct), all.len() < row.len(), "{row:?}");
    }
    crate::simd::set_portable(false);
}

#[test]
fn rows_that_no_learner_could_take_are_not_lent() {
    let fine = Elsewhere(vec![0, 7], vec![1.0, 0.5]);
    let lend = |lent: &Elsewhere, ends: &[usize], labels: &[f64], weights: &[f64], offsets: &[f64]| {
        let mut batch = Batch::default();
        let rows = RowColumns { labels, weights, offsets };
        let result = batch.borrow_columns(Arc::new(lent.clone()), ends.iter().copied(), rows);
        assert!(result.is_ok() || batch.is_empty());
        result.is_ok()
    };
    assert!(lend(&fine, &[1, 2], &[1.0, f64::NAN], &[1.0, 0.0], &[0.0, -1.0]));
    for ends in [&[][..], &[2], &[1, 1], &[1, 3], &[2, 1], &[3, 2], &[1, 2, 2]] {
        assert!(!lend(&fine, ends, &[1.0, 1.0], &[1.0, 1.0], &[0.0, 0.0]), "{ends:?}");
    }
    assert!(!lend(&fine, &[1, 2], &[1.0, f64::INFINITY], &[1.0, 1.0], &[0.0, 0.0]));
    for weight in [-1.0, 1e-39, f64::NAN, f64::INFINITY] {
        assert!(!lend(&fine, &[1, 2], &[1.0, 1.0], &[weight, 1.0], &[0.0, 0.0]), "{weight}");
    }
    assert!(!lend(&fine, &[1, 2], &[1.0, 1.0], &[1.0], &[0.0, 0.0]));
    assert!(!lend(&fine, &[1, 2], &[1.0, 1.0], &[1.0, 1.0], &[0.0]));
    assert!(!lend(&fine, &[1, 2], &[1.0, 1.0], &[1.0, 1.0], &[0.0, f64::NAN]));
    for lent in [
        Elsewhere(vec![0, INDEX_LIMIT], vec![1.0, 0.5]),
        Elsewhere(vec![0, 1], vec![f32::NAN, 0.5]),
        Elsewhere(vec![0, 1], vec![1.0, f32::NEG_INFINITY]),
        Elsewhere(vec![0, 1], vec![1.0]),
    ] {
        assert!(!lend(&lent, &[1, 2], &[1.0, 1.0], &[1.0, 1.0], &[0.0, 0.0]), "{lent:?}");
    }
}

#[test]
fn rows_that_no_learner_could_take_are_refused() {
    let message = |indices: &[u32], values: &[f32]| Features::new(indices, values).unwrap_err().to_string();
    assert_eq!(message(&[0, 1], &[1.0]), "a row must have as many indices as values; got 2 indices and 1 values");
    assert_eq!(message(&[4], &[f32::NAN]), "the value of feature 4 must be finite; got NaN");
    assert_eq!(message(&[1 << 31], &[1.0]), "indices must be below 2^31; got 2147483648");
    assert_eq!(
        message(&[9, 2, 9], &[1.0, 1.0, 1.0]),
        "a row must name each feature once, with the sum of its values; got index 9 twice"
    );
    let x = Features::new(&[0], &[1.0]).unwrap();
    assert!(x.with_offset(f64::NAN).is_err() && x.with_offset(1e39).is_err() && x.with_offset(-3e38).is_ok());
}
