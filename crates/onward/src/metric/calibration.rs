//! Whether probabilities mean what they say.

use serde::Serialize;

use super::binary::target;
use super::total::CompensatedTotal;
use crate::Error;
use crate::archive::{Archive, fields};

/// How many bins of equal width cover \[0, 1\].
const BINS: usize = 20;

/// Among the examples that were given a probability near p, how often was the
/// label positive? Probabilities fall into 20 bins \[k/20, (k+1)/20), the last
/// one closed; a calibrated predictor has `predicted` ≈ `observed` in each.
///
/// expected calibration error = Σ_bins |Σ h·p − Σ h·q| / Σ h, in \[0, 1\], lower
/// is better (Naeini, Cooper, Hauskrecht 2015). It is a lower estimate: what is
/// wrong in opposite directions within a bin cancels.
///
/// ```
/// let mut calibration = onward::metric::Calibration::default();
/// for label in [1.0, 1.0, 1.0, -1.0] {
///     calibration.observe(0.875, label, 1.0); // says 0.875, is right 3 times of 4
/// }
/// assert_eq!(calibration.error(), Some(0.125));
/// let bins = calibration.bins();
/// assert_eq!((bins[0].from, bins[0].to, bins[0].weight), (0.85, 0.9, 4.0));
/// assert_eq!((bins[0].predicted, bins[0].observed), (0.875, 0.75));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Calibration {
    bins: [OpenBin; BINS],
}

/// Σ h, Σ h·p and Σ h·q of one bin.
#[derive(Debug, Clone, Copy, Default)]
struct OpenBin {
    weight: CompensatedTotal,
    predicted: CompensatedTotal,
    observed: CompensatedTotal,
}

/// One row of the table: what was said and what was seen in a range of probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CalibrationBin {
    /// The lowest probability of the range.
    pub from: f64,
    /// The probability at which the next range begins.
    pub to: f64,
    /// The weight of the examples in it.
    pub weight: f64,
    /// The mean probability that was predicted.
    pub predicted: f64,
    /// The share that was positive (the mean label, when labels are probabilities).
    pub observed: f64,
}

impl Calibration {
    /// Takes in a probability of the positive class, the label and the
    /// importance weight (finite, ≥ 0; 0 changes nothing).
    #[inline]
    pub fn observe(&mut self, probability: f64, label: f64, weight: f64) {
        let bin = &mut self.bins[bin_of(probability)];
        bin.weight.add(weight);
        bin.predicted.add(weight * probability);
        bin.observed.add(weight * target(label));
    }

    /// The expected calibration error. None before any weight.
    pub fn error(&self) -> Option<f64> {
        let (mut weight, mut gaps) = (0.0, 0.0);
        for bin in &self.bins {
            weight += bin.weight.value();
            gaps += bin.predicted.minus(bin.observed).abs();
        }
        (weight > 0.0).then(|| gaps / weight)
    }

    /// The table, by rising probability, without the bins that nothing fell into.
    pub fn bins(&self) -> Vec<CalibrationBin> {
        let row = |(at, bin): (usize, &OpenBin)| {
            let (weight, predicted, observed) =
                (bin.weight.value(), bin.predicted.per(bin.weight)?, bin.observed.per(bin.weight)?);
            Some(CalibrationBin { from: edge(at), to: edge(at + 1), weight, predicted, observed })
        };
        self.bins.iter().enumerate().filter_map(row).collect()
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When a column is missing or not of 20 numbers, or a number is not finite
    /// or negative.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut bins = self.bins.to_vec();
        let fields = fields!(OpenBin {
            "weight": F64 weight.0.sum,
            "weight_rest": F64 weight.0.lost,
            "predicted": F64 predicted.0.sum,
            "predicted_rest": F64 predicted.0.lost,
            "observed": F64 observed.0.sum,
            "observed_rest": F64 observed.0.lost,
        });
        archive.records(&mut bins, &OpenBin::default(), &fields)?;
        archive.check(bins.len() == BINS, "weight", &format!("must have {BINS} numbers"))?;
        let is_sound =
            |bin: &OpenBin| [bin.weight, bin.predicted, bin.observed].into_iter().all(CompensatedTotal::is_count);
        archive.check(bins.iter().all(is_sound), "weight", "and what is beside it must be finite and not below 0")?;
        self.bins.copy_from_slice(&bins);
        Ok(())
    }
}

/// Where bin `at` begins.
fn edge(at: usize) -> f64 {
    at as f64 / BINS as f64
}

#[inline]
fn bin_of(probability: f64) -> usize {
    ((probability * BINS as f64) as usize).min(BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn calibration(rows: &[(f64, f64, f64)]) -> Calibration {
        let mut calibration = Calibration::default();
        rows.iter().for_each(|&(p, label, weight)| calibration.observe(p, label, weight));
        calibration
    }

    /// The table and the error by one pass over all rows for each bin.
    fn brute_force(rows: &[(f64, f64, f64)]) -> (Vec<[f64; 5]>, f64) {
        let (mut table, mut gaps, mut all) = (Vec::new(), 0.0, 0.0);
        for k in 0..20 {
            let (from, to) = (f64::from(k) / 20.0, f64::from(k + 1) / 20.0);
            let inside = |p: f64| p * 20.0 >= f64::from(k) && (p * 20.0 < f64::from(k + 1) || k == 19);
            let mine: Vec<_> = rows.iter().filter(|row| inside(row.0)).collect();
            let weight: f64 = mine.iter().map(|row| row.2).sum();
            if weight == 0.0 {
                continue;
            }
            let predicted = mine.iter().map(|row| row.2 * row.0).sum::<f64>() / weight;
            let observed = mine.iter().map(|row| row.2 * row.1.max(0.0)).sum::<f64>() / weight;
            table.push([from, to, weight, predicted, observed]);
            gaps += weight * (predicted - observed).abs();
            all += weight;
        }
        (table, gaps / all)
    }

    fn close(a: f64, b: f64) -> bool {
        // 100 terms round off at most 100·2^-53 ≈ 1.1e-14 relative.
        (a - b).abs() <= 1e-13 * a.abs().max(1.0)
    }

    proptest! {
        #[test]
        fn the_table_agrees_with_sorting_the_rows_into_bins(
            rows in prop::collection::vec((
                prop_oneof![0.0..=1.0, (0u8..=20).prop_map(|k| f64::from(k) / 20.0)],
                prop_oneof![Just(1.0), Just(-1.0), 0.0..=1.0],
                prop_oneof![Just(0.0), Just(1.0), 0.01..5.0],
            ), 0..100),
        ) {
            let (table, error) = brute_force(&rows);
            let calibration = calibration(&rows);
            let bins = calibration.bins();
            prop_assert_eq!(bins.len(), table.len());
            for (bin, row) in bins.iter().zip(table) {
                let found = [bin.from, bin.to, bin.weight, bin.predicted, bin.observed];
                prop_assert!(found.iter().zip(row).all(|(&a, b)| close(a, b)), "{:?} {:?}", found, row);
            }
            match calibration.error() {
                Some(found) => prop_assert!(close(found, error), "{} {}", found, error),
                None => prop_assert!(error.is_nan()),
            }
        }
    }

    #[test]
    fn every_edge_begins_its_bin_and_one_belongs_to_the_last() {
        for at in 0..BINS {
            assert_eq!(bin_of(edge(at)), at);
        }
        assert_eq!(bin_of(1.0), BINS - 1);
        assert_eq!(bin_of(1f64.next_down()), BINS - 1);
    }

    #[test]
    fn a_predictor_that_says_what_is_true_has_no_error() {
        let rows = [(0.25, 1.0, 1.0), (0.25, -1.0, 3.0), (0.75, 1.0, 3.0), (0.75, -1.0, 1.0)];
        assert_eq!(calibration(&rows).error(), Some(0.0));
    }

    #[test]
    fn certainty_about_the_wrong_class_is_the_largest_error() {
        assert_eq!(calibration(&[(0.0, 1.0, 2.0), (1.0, -1.0, 5.0)]).error(), Some(1.0));
    }

    #[test]
    fn nothing_observed_means_no_table_and_no_error() {
        assert_eq!(Calibration::default().error(), None);
        assert!(Calibration::default().bins().is_empty());
        assert!(calibration(&[(0.5, 1.0, 0.0)]).bins().is_empty());
    }
}
