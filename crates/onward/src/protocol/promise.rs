//! What a learner promises: the tests hold it to that, for each of its forms.

use crate::guarantee::Comparator;

/// Why the bound of a fixed rate is [linear](Bound::Linear).
pub(crate) const FIXED_RATE: &str = "a fixed rate is for a given number of rounds";

/// Whether a learner has a bound of its own on its regret.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// On every stream, and it grows more slowly than the rounds.
    Always,
    /// On every stream, and it grows as fast as the rounds, for this reason.
    Linear(&'static str),
    /// On some streams. On others the learner gives a reason that begins with one of these.
    Sometimes(&'static [&'static str]),
    /// On every stream, against comparators that are no weights of features: tested in this file.
    Elsewhere(&'static str),
    /// On none. The learner gives a reason that begins with this.
    Never(&'static str),
}

/// A form of a learner, its parameters at some values, and what it promises there.
///
/// The first form of an entry is that of the defaults. The others are those with a theorem of their own, and as many
/// more as it takes for each parameter to have another value in one of them, and each word that it takes.
#[derive(Debug, Clone, Copy)]
pub struct Promise {
    /// The parameters as they stand after the learner's name; nothing for the defaults.
    pub parameters: &'static str,
    /// The bound on the regret; `None`: there is one where the default form has one.
    pub bound: Option<Bound>,
    /// The set that the weights never leave.
    pub domain: Option<Comparator>,
    /// Whether a row of importance 3 teaches what three rows of importance 1 do.
    pub repeats: bool,
    /// Why the learner may pay more than the best constant although a feature tells the label.
    pub unlearned: Option<&'static str>,
    /// Why unimportant rows teach as much as important ones.
    pub unweighted: Option<&'static str>,
    /// How the reason begins that the learner gives where numbers were too large to be kept, and its bound ends.
    pub overflow: Option<&'static str>,
    /// The most rounds that tests give it: a round costs more the more there were, or much in any case.
    pub rounds: usize,
}

impl Promise {
    /// A form of which the theorem, if any, is that of the default form.
    pub const fn other(parameters: &'static str) -> Self {
        let (domain, unlearned, unweighted, overflow) = (None, None, None, None);
        Self { parameters, bound: None, domain, repeats: false, unlearned, unweighted, overflow, rounds: usize::MAX }
    }

    /// A form with a bound on every stream that grows more slowly than the rounds.
    pub const fn always(parameters: &'static str) -> Self {
        Self { bound: Some(Bound::Always), ..Self::other(parameters) }
    }

    /// A form with a bound on every stream that grows as fast as the rounds, for this reason.
    pub const fn linear(parameters: &'static str, reason: &'static str) -> Self {
        Self { bound: Some(Bound::Linear(reason)), ..Self::other(parameters) }
    }

    /// A form with a bound on some streams: on others it says a reason that begins with one of these.
    pub const fn sometimes(parameters: &'static str, reasons: &'static [&'static str]) -> Self {
        Self { bound: Some(Bound::Sometimes(reasons)), ..Self::other(parameters) }
    }

    /// A form with a bound against comparators that are no weights of features, which this file tests.
    pub const fn elsewhere(parameters: &'static str, file: &'static str) -> Self {
        Self { bound: Some(Bound::Elsewhere(file)), ..Self::other(parameters) }
    }

    /// A form without a bound, which says a reason that begins with this.
    pub const fn never(parameters: &'static str, reason: &'static str) -> Self {
        Self { bound: Some(Bound::Never(reason)), ..Self::other(parameters) }
    }

    /// The weights never leave this set.
    pub const fn within(self, domain: Comparator) -> Self {
        Self { domain: Some(domain), ..self }
    }

    /// A row of importance 3 teaches what three rows of importance 1 do.
    pub const fn repeating(self) -> Self {
        Self { repeats: true, ..self }
    }

    /// The learner may pay more than the best constant although a feature tells the label, for this reason.
    pub const fn unlearned(self, reason: &'static str) -> Self {
        Self { unlearned: Some(reason), ..self }
    }

    /// Unimportant rows teach as much as important ones, for this reason.
    pub const fn unweighted(self, reason: &'static str) -> Self {
        Self { unweighted: Some(reason), ..self }
    }

    /// Numbers may become too large to be kept, which the learner gives as the reason why its bound ends: plain steps
    /// at a rate that is too large run away.
    pub const fn overflowing(self, reason: &'static str) -> Self {
        Self { overflow: Some(reason), ..self }
    }

    /// Tests give it no more rounds than these.
    pub const fn at_most(self, rounds: usize) -> Self {
        Self { rounds, ..self }
    }
}
