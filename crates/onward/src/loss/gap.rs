//! Losses of a gap: how far a score is from where it costs nothing.
//!
//! For labels −1 and 1 the gap is 1 − yp, what is missing to a margin of 1. For real labels it is |p − y| − ε, the
//! distance to the tube of half width ε around the label. A score without a gap, at most 0, pays nothing.

use std::fmt::Debug;

use super::flow::{settle, slide, slide_then_settle};
use super::{Curvature, Evaluation, Kinks, Loss, LossKind, ScaledConjugate, Task};

/// What a gap costs.
#[derive(Debug, Clone, Copy)]
pub(super) enum GapCost {
    /// slope·gap.
    Straight(f64),
    /// gap².
    Square,
    /// gap² up to this δ, its tangent beyond.
    Huber(f64),
}

impl GapCost {
    fn value(self, gap: f64) -> f64 {
        match self {
            Self::Straight(slope) => slope * gap,
            Self::Huber(delta) if gap > delta => delta * (2.0 * gap - delta),
            Self::Square | Self::Huber(_) => gap * gap,
        }
    }

    /// How steep the cost is at a gap > 0.
    fn slope(self, gap: f64) -> f64 {
        match self {
            Self::Straight(slope) => slope,
            Self::Square => 2.0 * gap,
            Self::Huber(delta) => 2.0 * gap.min(delta),
        }
    }

    /// How far gradient flow goes in this time.
    fn flow(self, gap: f64, time: f64, q: f64) -> f64 {
        match self {
            Self::Straight(slope) => slide(gap, slope, time, q),
            Self::Square => settle(gap, time, q),
            Self::Huber(delta) => slide_then_settle(gap, delta, time, q),
        }
    }
}

/// What tells one loss of a gap from another.
pub(super) trait GapLoss: Debug + Copy + Send + Sync {
    /// What the labels are, and with them what the gap is.
    const TASK: Task;

    /// What the loss is.
    const KIND: LossKind = LossKind::Other;

    /// The name with parameters.
    fn full_name(self) -> String;

    /// What a gap costs, at this score and label.
    fn cost(self, p: f64, y: f64) -> GapCost;

    /// ε, how far a score may be from a real label.
    fn tolerance(self) -> f64 {
        0.0
    }

    /// Where a loss of straight pieces bends.
    fn bends(self, _y: f64) -> Option<Kinks> {
        None
    }

    /// How far the score is from where it costs nothing.
    fn gap(self, p: f64, y: f64) -> f64 {
        match Self::TASK {
            Task::Binary => 1.0 - y * p,
            _ => (p - y).abs() - self.tolerance(),
        }
    }

    /// The direction in which the gap grows: −1 or 1, and 0 at a real label itself.
    fn ascent(self, p: f64, y: f64) -> f64 {
        match Self::TASK {
            Task::Binary => -y,
            _ if p == y => 0.0,
            _ => (p - y).signum(),
        }
    }
}

impl<T: GapLoss> Loss for T {
    fn name(&self) -> String {
        self.full_name()
    }

    fn task(&self) -> Task {
        T::TASK
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        let gap = self.gap(p, y);
        if gap <= 0.0 { 0.0 } else { self.cost(p, y).value(gap) }
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        let gap = self.gap(p, y);
        if gap <= 0.0 { 0.0 } else { self.cost(p, y).slope(gap) * self.ascent(p, y) }
    }

    fn second_derivative(&self, p: f64, y: f64) -> f64 {
        let gap = self.gap(p, y);
        let is_curved = match self.cost(p, y) {
            GapCost::Straight(_) => false,
            GapCost::Square => gap > 0.0,
            // At a real label both sides are curved.
            GapCost::Huber(delta) => gap <= delta && (gap > 0.0 || T::TASK == Task::Regression),
        };
        if is_curved { 2.0 } else { 0.0 }
    }

    fn curvature(&self) -> Curvature {
        match self.cost(0.0, 0.0) {
            GapCost::Straight(_) => Curvature::Convex,
            GapCost::Square | GapCost::Huber(_) => Curvature::Smooth(2.0),
        }
    }

    fn kind(&self) -> LossKind {
        T::KIND
    }

    fn conjugate(&self, p: f64, y: f64, evaluation: Evaluation) -> Option<ScaledConjugate> {
        Some(match self.cost(p, y) {
            GapCost::Straight(_) => ScaledConjugate::chord(p, evaluation, 0.0),
            GapCost::Square | GapCost::Huber(_) => ScaledConjugate::quadratic(p, evaluation, 2.0),
        })
    }

    /// A tube around the label has no curvature between two sides that have some.
    fn is_curvature_unimodal(&self) -> bool {
        !matches!(self.cost(0.0, 0.0), GapCost::Straight(_)) && self.tolerance() == 0.0
    }

    /// The slope at one of the two scores that are farthest from a label.
    fn lipschitz(&self, range: f64) -> f64 {
        let label = if T::TASK == Task::Binary { 1.0 } else { range };
        self.derivative(range, -label).abs().max(self.derivative(-range, label).abs())
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        -self.ascent(p, y) * self.cost(p, y).flow(self.gap(p, y), time, q)
    }

    fn kinks(&self, y: f64) -> Option<Kinks> {
        self.bends(y)
    }

    /// On either side of the score, a gap costs a rising convex function of the distance to the label.
    fn is_convex_in_label(&self) -> bool {
        T::TASK == Task::Regression
    }
}
