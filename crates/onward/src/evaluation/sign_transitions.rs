//! Labels −1 and 1 of importance 1 with the logistic loss: what online constant and no-change baseline pay, and in how many
//! runs the labels come, follow from how often either label followed either one. So a round costs next to nothing.

use crate::archive::Archive;
use crate::evaluation::label_runs::ClassRuns;
use crate::evaluation::smoothed_frequency::{SmoothedFrequency, cost_of};
use crate::evaluation::{LabelRuns, NoChange, OnlineConstant};
use crate::{Error, SharedLoss};

/// Counts how often either label followed either one.
#[derive(Debug, Clone, Default)]
pub(super) struct SignTransitions {
    /// What the last label was: 0 nothing, 1 negative, 2 positive.
    last: usize,
    /// Of each of these, how many negative and positive labels followed.
    counts: [[u64; 2]; 3],
}

impl SignTransitions {
    /// Whether a label of this importance can be counted.
    #[inline]
    pub(super) fn takes(label: f64, weight: f64) -> bool {
        weight == 1.0 && label.abs() == 1.0
    }

    /// Takes in a label that [can be counted](Self::takes).
    #[inline]
    pub(super) fn observe(&mut self, label: f64) {
        let sign = usize::from(label > 0.0);
        self.counts[self.last][sign] += 1;
        self.last = 1 + sign;
    }

    /// How many labels there were of this sign.
    fn labels(&self, sign: usize) -> u64 {
        self.counts.iter().map(|followed| followed[sign]).sum()
    }

    /// Σ ℓ of the online constant.
    pub(super) fn online_constant(&self) -> f64 {
        cost_of(self.labels(1), self.labels(0))
    }

    /// Σ ℓ of the no-change baseline.
    pub(super) fn no_change(&self) -> f64 {
        self.counts.iter().map(|&[negative, positive]| cost_of(positive, negative)).sum()
    }

    /// How often the last label was the right one. Before the first one the score is 0, which says positive.
    pub(super) fn right(&self) -> f64 {
        (self.counts[0][1] + self.counts[1][0] + self.counts[2][1]) as f64
    }

    /// The runs of the labels.
    pub(super) fn runs(&self) -> LabelRuns {
        // A run begins with each label that does not follow its own kind.
        let class = |sign: usize| {
            let labels = self.labels(sign);
            ClassRuns { labels, runs: labels - self.counts[1 + sign][sign] }
        };
        LabelRuns::after_classes(vec![class(0), class(1)], self.last.checked_sub(1))
    }

    /// The online constant and the no-change baseline, for labels that cannot be counted.
    pub(super) fn baselines(&self, loss: &SharedLoss) -> (OnlineConstant, NoChange) {
        let frequency = |[negative, positive]: [u64; 2]| SmoothedFrequency::after(positive, negative);
        let all = frequency([self.labels(0), self.labels(1)]);
        let constant = OnlineConstant::of_frequency(SharedLoss::clone(loss), all);
        let same =
            NoChange::of_frequencies(SharedLoss::clone(loss), self.counts.map(frequency), self.last, self.right());
        (constant, same)
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut last = self.last as u64;
        archive.count("last", &mut last)?;
        archive.check(last < 3, "last", "must be below 3")?;
        self.last = last as usize;
        let mut counts: Vec<f64> = self.counts.iter().flatten().map(|&count| count as f64).collect();
        archive.column_of(6, "counts", &mut counts)?;
        archive.check(
            counts.iter().all(|&count| count >= 0.0 && count.fract() == 0.0),
            "counts",
            "must be whole numbers",
        )?;
        self.counts.iter_mut().flatten().zip(counts).for_each(|(count, saved)| *count = saved as u64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss;
    use crate::numeric::rng::SplitMix64;

    #[test]
    fn counts_say_what_the_baselines_pay_row_by_row() {
        let loss = loss::parse("logistic").unwrap();
        let mut random = SplitMix64::new(6);
        for stay in [0, 3, 40] {
            let mut counts = SignTransitions::default();
            let (mut constant, mut same) = (OnlineConstant::new(loss.clone()), NoChange::new(loss.clone()));
            let (mut runs, mut label) = (LabelRuns::of_classes(), 1.0);
            let past = crate::evaluation::BestConstant::new(loss.clone());
            for round in 0..2000 {
                label = if random.below(stay + 2) == 0 { -label } else { label };
                counts.observe(label);
                constant.observe(label, 1.0, &past);
                same.observe(label, 1.0);
                runs.observe(label);
                if round % 97 == 0 {
                    // Saved and loaded, they go on.
                    let state = Archive::saved(|archive| counts.persist(archive)).unwrap();
                    counts = SignTransitions::default();
                    counts.persist(&mut Archive::loading(state)).unwrap();
                    assert!((counts.online_constant() - constant.paid()).abs() < 1e-9);
                    assert!((counts.no_change() - same.paid()).abs() < 1e-9);
                    assert_eq!((Some(counts.right()), counts.runs().order()), (same.right(), runs.order()));
                }
            }
            // And from there with labels that cannot be counted.
            let (mut other_constant, mut other_same) = counts.baselines(&loss);
            let mut other_runs = counts.runs();
            for (label, weight) in [(1.0, 2.0), (0.3, 1.0), (-1.0, 1.0), (-1.0, 0.5)] {
                [&mut constant, &mut other_constant].into_iter().for_each(|it| it.observe(label, weight, &past));
                [&mut same, &mut other_same].into_iter().for_each(|it| it.observe(label, weight));
                [&mut runs, &mut other_runs].into_iter().for_each(|it| it.observe(label));
            }
            assert!((other_constant.paid() - constant.paid()).abs() < 1e-9);
            assert!((other_same.paid() - same.paid()).abs() < 1e-9);
            assert_eq!((other_same.right(), other_runs.order()), (same.right(), runs.order()));
        }
    }
}
