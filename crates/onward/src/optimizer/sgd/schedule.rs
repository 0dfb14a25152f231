//! How the step size of stochastic gradient descent changes.

use super::{ALPHA, ETA, PATIENCE, POWER, SCHEDULE};
use crate::numeric::sum::held;
use crate::optimizer::prelude::*;

/// The rate η_t of the t-th step, t = 1, 2, …
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// η_t = η.
    Constant(f64),
    /// η_t = η/t^power.
    InverseScaling {
        /// η, the rate of the first step.
        eta: f64,
        /// The power, from 0 to 1.
        power: f64,
    },
    /// η_t = η/√t.
    Root(f64),
    /// η_t = 1/(α(t_0 + t − 1)), with t_0 = α^(−3/4): the first rate is α^(−1/4), the size that the
    /// weights are expected to have (Bottou; as scikit-learn has it for its losses of classification).
    Optimal(f64),
    /// η while the mean loss of windows of `patience` rounds falls; a fifth of it after each
    /// that is not lower by 0.001 than the lowest so far, down to 1e-6.
    Adaptive {
        /// The rate to begin with.
        eta: f64,
        /// How many rounds a window has, at least 1.
        patience: f64,
    },
}

/// What a window must gain (scikit-learn's `tol`).
const GAIN: f64 = 1e-3;

/// Below this a rate that adapts stays.
const SMALLEST: f64 = 1e-6;

impl Schedule {
    /// Refuses parameters out of range.
    pub(super) fn check(self) -> Result<Self, Error> {
        match self {
            Self::Optimal(alpha) => ALPHA.check(alpha).map(drop),
            Self::Constant(eta) | Self::Root(eta) => ETA.check(eta).map(drop),
            Self::InverseScaling { eta, power } => ETA.check(eta).and(POWER.check(power)).map(drop),
            Self::Adaptive { eta, patience } => ETA.check(eta).and(PATIENCE.check(patience as u64)).map(drop),
        }?;
        Ok(self)
    }

    /// Adds itself to what a learner says of itself.
    pub(super) fn describe(self, learner: Description) -> Description {
        match self {
            Self::Constant(eta) => learner.with(&ETA, eta).with(&SCHEDULE, "constant"),
            Self::InverseScaling { eta, power } => {
                learner.with(&ETA, eta).with(&POWER, power).with(&SCHEDULE, "invscaling")
            }
            Self::Root(eta) => learner.with(&ETA, eta).with(&SCHEDULE, "root"),
            Self::Optimal(_) => learner.with(&SCHEDULE, "optimal"),
            Self::Adaptive { eta, patience } => {
                learner.with(&ETA, eta).with(&PATIENCE, patience).with(&SCHEDULE, "adaptive")
            }
        }
    }
}

/// A schedule under way.
#[derive(Debug, Clone)]
pub(super) struct Rates {
    schedule: Schedule,
    /// t: steps so far.
    steps: f64,
    /// The present rate of an adaptive schedule.
    eta: f64,
    /// Losses of the present window, their weights, and its rounds.
    loss: f64,
    weight: f64,
    rounds: f64,
    /// The lowest mean loss of a window so far; none before the first.
    lowest: Option<f64>,
}

impl Rates {
    pub(super) fn new(schedule: Schedule) -> Self {
        let eta = if let Schedule::Adaptive { eta, .. } = schedule { eta } else { 0.0 };
        Self { schedule, steps: 0.0, eta, loss: 0.0, weight: 0.0, rounds: 0.0, lowest: None }
    }

    pub(super) fn schedule(&self) -> Schedule {
        self.schedule
    }

    /// η of the next step.
    pub(super) fn step(&mut self) -> f64 {
        self.steps += 1.0;
        match self.schedule {
            Schedule::Constant(eta) => eta,
            Schedule::InverseScaling { eta, power } => eta / libm::pow(self.steps, power),
            Schedule::Root(eta) => eta / self.steps.sqrt(),
            Schedule::Optimal(alpha) => {
                let first = 1.0 / alpha.sqrt().sqrt();
                1.0 / (1.0 / first + alpha * (self.steps - 1.0))
            }
            Schedule::Adaptive { .. } => self.eta,
        }
    }

    /// A round paid `loss`, its weight included.
    pub(super) fn observe_loss(&mut self, loss: &dyn Fn() -> f64, weight: f64) {
        let Schedule::Adaptive { patience, .. } = self.schedule else { return };
        self.loss = held(self.loss + loss());
        self.weight += weight;
        self.rounds += 1.0;
        if self.rounds < patience {
            return;
        }
        let mean = self.loss / self.weight;
        if self.lowest.is_some_and(|lowest| mean > lowest - GAIN) && self.eta > SMALLEST {
            self.eta /= 5.0;
        }
        self.lowest = Some(self.lowest.map_or(mean, |lowest| lowest.min(mean)));
        (self.loss, self.weight, self.rounds) = (0.0, 0.0, 0.0);
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("steps", &mut self.steps)?;
        if let Schedule::Adaptive { .. } = self.schedule {
            visit_fields!(archive.number(self.eta, self.loss, self.weight, self.rounds));
            let (mut has_lowest, mut lowest) = (self.lowest.is_some(), self.lowest.unwrap_or(0.0));
            archive.flag("has_lowest", &mut has_lowest)?;
            archive.number("lowest", &mut lowest)?;
            self.lowest = has_lowest.then_some(lowest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_their_formulas() {
        let first = |schedule: Schedule| {
            let mut rates = Rates::new(schedule.check().unwrap());
            [rates.step(), rates.step(), rates.step(), rates.step()]
        };
        let near = |rates: [f64; 4], expected: [f64; 4]| {
            rates.iter().zip(expected).for_each(|(rate, expected)| assert!((rate / expected - 1.0).abs() < 1e-14));
        };
        near(first(Schedule::Constant(0.3)), [0.3; 4]);
        near(first(Schedule::Root(2.0)), [2.0, 2.0 / 2f64.sqrt(), 2.0 / 3f64.sqrt(), 1.0]);
        near(first(Schedule::InverseScaling { eta: 1.0, power: 1.0 }), [1.0, 0.5, 1.0 / 3.0, 0.25]);
        // α = 1e-4: the first rate is 10 and t_0 = 1000, as scikit-learn has it.
        near(first(Schedule::Optimal(1e-4)), [10.0, 1e4 / 1001.0, 1e4 / 1002.0, 1e4 / 1003.0]);
    }

    #[test]
    fn an_adaptive_rate_falls_when_a_window_does_not_gain() {
        let mut rates = Rates::new(Schedule::Adaptive { eta: 1.0, patience: 2.0 });
        for (loss, expected) in [(1.0, 1.0), (0.5, 1.0), (0.4995, 0.2), (0.4, 0.2), (0.5, 0.04)] {
            rates.observe_loss(&|| loss, 1.0);
            rates.observe_loss(&|| loss, 1.0);
            assert!((rates.step() - expected).abs() < 1e-15, "{loss}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for schedule in [
            Schedule::Constant(0.0),
            Schedule::InverseScaling { eta: 1.0, power: 1.5 },
            Schedule::Optimal(-1.0),
            Schedule::Adaptive { eta: 1.0, patience: 0.0 },
        ] {
            assert!(schedule.check().is_err(), "{schedule:?}");
        }
    }
}
