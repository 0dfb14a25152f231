//! Adaptive rules: linear optimisers that keep a few numbers for each feature and treat all features alike.
//!
//! A rule ([`AdaptiveRule`]) says what happens to one feature, as a formula of [`Real`] numbers; it is compiled for four
//! features at a time. All the rest is done here, once for all rules: the entries of a row are found, fetched and
//! [gathered](AdaptiveTable), eight features side by side; ⟨w, x⟩ and other sums over the row are added up in the
//! order of [`sum`](crate::numeric::sum); a row that is no multiple of eight is filled up with features of value 0; and everything goes
//! back to where it came from.

mod entry;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use entry::{Entry, F32Entry, F64Entry};
pub(crate) use table::AdaptiveTable;

use crate::archive::Archive;
use crate::guarantee::Guarantee;
use crate::protocol::{Optimizer, Step};
use crate::simd::f64x4::{F64x4, Real};
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// What an adaptive algorithm does to a feature, of which it keeps N numbers.
pub(crate) trait AdaptiveRule<const N: usize>: Send + Sync + Sized {
    /// How they are kept.
    type Entry: Entry<N>;

    /// Whether the largest |w| of a row is asked for when a row [moves](AdaptiveTable::advance).
    const KNOWS_LARGEST: bool = false;

    /// Whether w is the same for all values of a feature.
    const HAS_FIXED_WEIGHTS: bool = true;

    /// w, where the feature has this value in the row; 0 if it is asked for without a row.
    fn weight<Q: Real>(&self, numbers: [Q; N], value: Q) -> Q;

    /// Whether a value is larger than all before it, for rules that keep the unit of a feature.
    #[inline(always)]
    fn is_wider<Q: F64x4>(&self, _numbers: [Q; N], _value: Q) -> bool {
        false
    }

    /// Takes in the larger value.
    #[inline(always)]
    fn widen<Q: F64x4>(&self, numbers: [Q; N], _value: Q) -> [Q; N] {
        numbers
    }

    /// Takes in this round's gradient. Gives the numbers, the direction x·rate in which the weight moves, and a term of
    /// each of the two sums over the row that [`AdaptiveTable::observe`] gives.
    fn observe<Q: F64x4>(&mut self, numbers: [Q; N], value: Q) -> ([Q; N], Q, [Q; 2]);

    /// Moves the weight by `change`, if there is anything left to move once the gradient is taken in.
    #[inline(always)]
    fn step<Q: F64x4>(&self, numbers: [Q; N], _change: Q) -> [Q; N] {
        numbers
    }

    /// As [`Optimizer::prepare`].
    fn prepare(&mut self, g: f64, h: f64, features: &mut AdaptiveTable<Self, N>) -> Step;

    /// As [`Optimizer::advance`].
    fn advance(&mut self, u: f64, x: Features<'_>, features: &mut AdaptiveTable<Self, N>) {
        features.advance(self, u, x);
    }

    /// As [`Optimizer::guarantee`].
    fn guarantee(&self, features: &ParameterTable<Self::Entry>) -> Guarantee;

    /// As [`Optimizer::describe`].
    fn describe(&self) -> String;

    /// As [`Optimizer::persist`]; the entries of features too.
    fn persist(&mut self, archive: &mut Archive, features: &mut ParameterTable<Self::Entry>) -> Result<(), Error>;
}

/// An optimiser by an adaptive rule. Rules are written in this crate alone, since they read entries unchecked: the trait is
/// private.
#[derive(Debug, Clone)]
#[allow(private_bounds)]
pub struct Adaptive<R: AdaptiveRule<N>, const N: usize> {
    pub(super) rule: R,
    features: AdaptiveTable<R, N>,
}

#[allow(private_bounds)]
impl<R: AdaptiveRule<N>, const N: usize> Adaptive<R, N> {
    /// Before the first round.
    pub(crate) fn of(rule: R) -> Self {
        Self { rule, features: AdaptiveTable::default() }
    }

    fn weight_of(&self, entry: R::Entry) -> f64 {
        self.rule.weight(entry.numbers(), 0.0)
    }
}

impl<R: AdaptiveRule<N>, const N: usize> Optimizer for Adaptive<R, N> {
    fn dot(&self, x: Features<'_>) -> f64 {
        self.features.dot(&self.rule, x)
    }

    fn prefetch(&mut self, x: Features<'_>) {
        self.features.prefetch(x);
    }

    fn begin(&mut self, x: Features<'_>) -> f64 {
        self.features.begin(&self.rule, x)
    }

    fn prepare(&mut self, g: f64, h: f64, _x: Features<'_>) -> Step {
        self.rule.prepare(g, h, &mut self.features)
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.rule.advance(u, x, &mut self.features);
    }

    fn weight(&self, index: u32) -> f64 {
        self.weight_of(self.features.entries().get(index))
    }

    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        self.features.entries().each(indices).map(|entry| self.weight_of(entry)).collect()
    }

    fn frozen_weights(&self) -> Option<(Vec<u32>, Vec<f64>)> {
        R::HAS_FIXED_WEIGHTS.then(|| self.features.entries().not_zero(|entry| self.weight_of(entry)))
    }

    fn guarantee(&self) -> Guarantee {
        self.rule.guarantee(self.features.entries())
    }

    fn describe(&self) -> String {
        self.rule.describe()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.rule.persist(archive, self.features.entries_mut())
    }
}
