//! Follow the leader on the losses themselves: with Tikhonov's regulariser (`ftrl:losses=real`), or on a ball
//! (`ftl:losses=real`).
//!
//! w_{t+1} = argmin F_t(w), F_t(w) = Σ_{s≤t} h_s ℓ_s(w) + ½α‖w‖². For the squared loss this is
//! ridge regression over all rounds so far, solved exactly from the matrix αI + 2Σ h x xᵀ; for
//! other smooth losses by Newton steps from w_t, which go over all rows so far; for losses of straight pieces (absolute, hinge,
//! quantile, ε-insensitive), and for all without a regulariser on the ball ‖w‖₂ ≤ U, as `least.rs` says, to
//! within 1e-9 of F_t(w_{t+1}) where rounding allows it.
//!
//! **Guarantee**, for convex losses and every ‖u‖₂ ≤ U:
//! R_T(u) ≤ ½αU² + Σ h_t(ℓ_t(w_t) − ℓ_t(w_{t+1})) + Σ m_t, from what happened, m_t being by how much the w_{t+1} that was computed can
//! miss the minimum of F_t: for smooth losses ‖∇F_t(w_{t+1})‖²/(2α), F_t being α-strongly convex. (By induction, leaders of the
//! next round pay in all no more than u does with its regulariser.) On a ball α is 0. The regulariser keeps the leaders near
//! each other: ℓ_t(w_t) − ℓ_t(w_{t+1}) ≤ ‖z_t‖²/α. Without it they may jump, and the bound grows with T where they do.
//!
//! Only the first `features` distinct features get weights; when a row has another, there is no
//! guarantee any more.
//!
//! Cost, with d features so far, n rows of k features: O(d³) per round for the squared loss, O(d²)
//! memory; otherwise O(nk² + d³) for each of a few Newton steps a round (of tens, for losses of straight pieces) and O(nk)
//! memory, which grows with the stream. It is a yardstick for short streams, not a learner for long ones.

use super::least::{Hold, LossSum, SeenExample};
use super::prelude::*;
use crate::archive::rows_of;
use crate::domain::RADIUS;
use crate::loss::{Curvature, LossKind};
use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::vector::dot_by_lanes;
use crate::numeric::sum::{self, held};
use crate::storage::feature_index::FeatureIndex;
use crate::{LinearWeights, ScoreLearner, SharedLoss};

/// Newton's method stops when it is within this part of the least F.
const PRECISION: f64 = 1e-13;

/// Or after this many steps.
const MOST_STEPS: usize = 50;

/// Weights are held within the range of f32.
const LARGEST: f64 = f32::MAX as f64;

/// What is kept of the losses so far.
#[derive(Debug, Clone)]
enum PastLosses {
    /// ½wᵀAw − ⟨b, w⟩, without αI: A by rows of `features` entries, b; and ℓ″ of the loss.
    Quadratic { curvature: f64, matrix: Vec<f64>, moments: Vec<f64> },
    /// All rows.
    Rows(Vec<SeenExample>),
}

/// Follow the leader on the losses themselves.
pub struct FtrlReal {
    loss: SharedLoss,
    hold: Hold,
    /// Of the comparators.
    radius: f64,
    features: FeatureIndex,
    weights: Vec<f64>,
    past: PastLosses,
    /// Whether a row had a feature beyond the limit.
    is_beyond: bool,
    /// Σ h_t(ℓ_t(w_t) − ℓ_t(w_{t+1})).
    paid: f64,
    /// Σ ‖∇F_t(w_{t+1})‖²/(2α).
    missed: f64,
}

pub(super) const LOSSES: ParameterDescriptor = words(
    "losses",
    &[
        ("linearised", "replaced by their gradients"),
        ("real", "each round minimises the sum of the exact losses, for few features and short streams"),
    ],
)
.meaning("form of the losses");

pub(super) const ALPHA: ParameterDescriptor =
    positive("alpha").default("1").meaning("the regulariser is ½·alpha·‖w‖²").only_with("losses=real");

/// A system of that size is solved each round.
pub(super) const FEATURES: ParameterDescriptor =
    whole("features", 1..=1000).default("100").meaning("uses only the first N features").only_with("losses=real");

/// Tests give it no more rounds: each goes over all rows so far, many times.
pub(super) const SHORT: usize = 128;

/// A learner from the parameters of `ftrl`.
pub(crate) fn build(arguments: &Params<'_>) -> Result<Box<dyn crate::Learner>, Error> {
    let (alpha, radius, limit) = (arguments.number("alpha"), arguments.number("radius"), arguments.whole("features"));
    Ok(Box::new(FtrlReal::new(arguments.loss(), alpha, radius, limit as u32)?))
}

/// A learner from the parameters of `ftl`.
pub(super) fn build_leader(arguments: &Params<'_>) -> Result<Box<dyn crate::Learner>, Error> {
    let (radius, limit) = (arguments.number("radius"), arguments.whole("features"));
    Ok(Box::new(FtrlReal::on_ball(arguments.loss(), radius, limit as u32)?))
}

impl FtrlReal {
    /// With regulariser ½α‖w‖², the guarantee for comparators of this radius, and weights for so many
    /// features.
    ///
    /// # Errors
    /// When α or the radius is not from 1e-30 to 1e30, the number of features not from 1 to 1000, or
    /// the loss neither smooth nor of straight pieces.
    pub fn new(loss: SharedLoss, alpha: f64, radius: f64, features: u32) -> Result<Self, Error> {
        ALPHA.check(alpha)?;
        let limit = FEATURES.check(features)? as usize;
        let past = match loss.curvature() {
            Curvature::Quadratic(curvature) => {
                PastLosses::Quadratic { curvature, matrix: vec![0.0; limit * limit], moments: vec![0.0; limit] }
            }
            _ => PastLosses::Rows(Vec::new()),
        };
        Self::held_by(Hold::Tikhonov(alpha), loss, radius, features, past)
    }

    /// Without a regulariser, on the ball of this radius.
    ///
    /// # Errors
    /// When the radius is not from 1e-30 to 1e30, the number of features not from 1 to 1000, or the loss neither smooth nor
    /// of straight pieces.
    ///
    /// ```
    /// use onward::optimizer::FtrlReal;
    /// use onward::{Features, LinearWeights, ScoreLearner};
    /// let mut leader = FtrlReal::on_ball(onward::loss::parse("absolute")?, 10.0, 1)?;
    /// let x = Features::new(&[0], &[1.0])?;
    /// [1.0, 2.0, 9.0].into_iter().for_each(|label| drop(leader.learn_one(x, label, 1.0)));
    /// // The median.
    /// assert!((leader.weight(0) - 2.0).abs() < 1e-8);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn on_ball(loss: SharedLoss, radius: f64, features: u32) -> Result<Self, Error> {
        Self::held_by(Hold::Ball(radius), loss, radius, features, PastLosses::Rows(Vec::new()))
    }

    fn held_by(hold: Hold, loss: SharedLoss, radius: f64, features: u32, past: PastLosses) -> Result<Self, Error> {
        RADIUS.check(radius)?;
        let limit = FEATURES.check(features)? as usize;
        let is_smooth = !matches!(loss.curvature(), Curvature::Convex | Curvature::None);
        if !is_smooth && loss.kind() != LossKind::Poisson && !has_kinks(&loss) {
            let name = loss.name();
            return Err(Error::parameter(format!(
                "losses=real needs a loss that is smooth or of straight pieces, such as squared, logistic or absolute; \
                 got {name}: use one of these, or losses=linearised"
            )));
        }
        let (features, weights) = (FeatureIndex::new(limit), Vec::new());
        let (is_beyond, paid, missed) = (false, 0.0, 0.0);
        Ok(Self { loss, hold, radius, features, weights, past, is_beyond, paid, missed })
    }

    fn alpha(&self) -> f64 {
        if let Hold::Tikhonov(alpha) = self.hold { alpha } else { 0.0 }
    }

    /// The row by positions, which new features get while there are any.
    fn place(&mut self, x: Features<'_>) -> Vec<(u32, f64)> {
        let (row, is_complete) = self.features.number_row(x);
        self.is_beyond |= !is_complete;
        self.weights.resize(self.features.len(), 0.0);
        row
    }

    /// Takes in a round and moves to the least of F.
    fn minimise(&mut self, row: SeenExample) {
        let limit = self.features.limit();
        match &mut self.past {
            PastLosses::Quadratic { curvature, matrix, moments } => {
                for &(i, value) in &row.features {
                    for &(j, other) in &row.features {
                        matrix[i as usize * limit + j as usize] += *curvature * row.weight * (value * other);
                    }
                    moments[i as usize] += *curvature * row.weight * (row.label - row.offset) * value;
                }
                self.missed = held(self.missed + self.solve());
            }
            PastLosses::Rows(rows) => {
                rows.push(row);
                let missed = if has_kinks(&self.loss) || matches!(self.hold, Hold::Ball(_)) {
                    let sum = LossSum { rows, loss: &self.loss, hold: self.hold };
                    let (mut least, gap) = sum.least(&self.weights);
                    hold(&mut least);
                    self.weights = least;
                    gap
                } else {
                    self.newton()
                };
                self.missed = held(self.missed + missed);
            }
        }
    }

    /// The least of the quadratic, and by how much it may be missed.
    fn solve(&mut self) -> f64 {
        let PastLosses::Quadratic { matrix, moments, .. } = &self.past else { return 0.0 };
        let (d, limit, alpha) = (self.weights.len(), self.features.limit(), self.alpha());
        let factor = factor(d, |i, j| matrix[i * limit + j] + if i == j { alpha } else { 0.0 });
        let residual = |w: &[f64]| -> Vec<f64> {
            let row = |i: usize| dot_by_lanes(&matrix[i * limit..][..d], w);
            (0..d).map(|i| moments[i] - (row(i) + alpha * w[i])).collect()
        };
        let mut w = moments[..d].to_vec();
        substitute(&factor, &mut w);
        hold(&mut w);
        // What rounding left, solved for once more.
        let mut correction = residual(&w);
        substitute(&factor, &mut correction);
        let mut refined: Vec<f64> = w.iter().zip(&correction).map(|(w, change)| w + change).collect();
        hold(&mut refined);
        let (before, after) = (squared(&residual(&w)), squared(&residual(&refined)));
        self.weights = if after < before { refined } else { w };
        held(before.min(after) / (2.0 * alpha))
    }

    /// Newton's method with halved steps, and by how much it may have missed the least.
    fn newton(&mut self) -> f64 {
        let PastLosses::Rows(rows) = &self.past else { return 0.0 };
        let (d, alpha, loss) = (self.weights.len(), self.alpha(), &self.loss);
        let value = |w: &[f64]| {
            sum::sum(rows.iter().map(|row| row.weight * loss.value(row.score(w), row.label))) + 0.5 * alpha * squared(w)
        };
        let gradient = |w: &[f64]| {
            let mut gradient: Vec<f64> = w.iter().map(|w| alpha * w).collect();
            for row in rows {
                let g = row.weight * loss.derivative(row.score(w), row.label);
                row.features.iter().for_each(|&(at, x)| gradient[at as usize] += g * x);
            }
            gradient
        };
        let mut w = self.weights.clone();
        let (mut least, mut slope) = (value(&w), gradient(&w));
        for _ in 0..MOST_STEPS {
            if squared(&slope) / (2.0 * alpha) <= PRECISION * least.abs() {
                break;
            }
            let mut hessian = vec![0.0; d * d];
            (0..d).for_each(|i| hessian[i * d + i] = alpha);
            for row in rows {
                let curvature = row.weight * loss.second_derivative(row.score(&w), row.label);
                for &(i, x) in &row.features {
                    for &(j, z) in &row.features {
                        hessian[i as usize * d + j as usize] += curvature * (x * z);
                    }
                }
            }
            let mut step = slope.clone();
            substitute(&factor(d, |i, j| hessian[i * d + j]), &mut step);
            let descent = dot_by_lanes(&step, &slope);
            // At most 60 halvings: less is rounding.
            let lower = (0..60).map(|halvings| 0.5f64.powi(halvings)).find_map(|part| {
                let mut next: Vec<f64> = w.iter().zip(&step).map(|(w, step)| w - part * step).collect();
                hold(&mut next);
                let reached = value(&next);
                (reached <= least - 1e-4 * part * descent && reached < least).then_some((next, reached))
            });
            let Some((next, reached)) = lower else { break };
            (w, least) = (next, reached);
            slope = gradient(&w);
        }
        self.weights = w;
        held(squared(&slope) / (2.0 * alpha))
    }
}

/// Whether a loss is one of straight pieces.
fn has_kinks(loss: &SharedLoss) -> bool {
    loss.kinks(1.0).is_some()
}

/// ‖v‖², within what sums can hold.
fn squared(v: &[f64]) -> f64 {
    held(dot_by_lanes(v, v))
}

/// Weights that are numbers, within the range of f32.
fn hold(w: &mut [f64]) {
    w.iter_mut().for_each(|w| *w = if w.is_nan() { 0.0 } else { w.clamp(-LARGEST, LARGEST) });
}

/// The factor of a matrix. A pivot that rounding left nothing of is taken as the part of the diagonal that rounding is.
fn factor(size: usize, entry: impl Fn(usize, usize) -> f64) -> Cholesky {
    let root = |pivot: f64, diagonal: f64| Some(pivot.max(1e-15 * diagonal).max(f64::MIN_POSITIVE).sqrt());
    Cholesky::of(size, entry, dot_by_lanes, root).unwrap_or_default()
}

/// Solves LLᵀv = b, b being what v holds.
fn substitute(factor: &Cholesky, v: &mut [f64]) {
    factor.solve_lower(v, dot_by_lanes);
    for i in (0..v.len()).rev() {
        let known = sum::sum((i + 1..v.len()).map(|k| factor.row(k)[i] * v[k]));
        v[i] = (v[i] - known) / factor.row(i)[i];
    }
}

impl ScoreLearner for FtrlReal {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.dot(|index| self.weight(index))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        let row = SeenExample { features: self.place(x), label, weight, offset: x.offset() };
        self.minimise(row);
        let after = self.loss.value(self.predict_one(x), label);
        self.paid = held(self.paid + weight * (self.loss.value(prediction, label) - after));
        prediction
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.loss)
    }

    fn describe(&self) -> String {
        let description = match self.hold {
            Hold::Tikhonov(alpha) => Description::of("ftrl").with(&ALPHA, alpha),
            Hold::Ball(_) => Description::of("ftl"),
        };
        let description = description.with(&FEATURES, self.features.limit());
        description.with(&LOSSES, "real").with(&RADIUS, self.radius).into()
    }

    fn guarantee(&self) -> Guarantee {
        if self.is_beyond {
            return Guarantee::missing(
                "rows had more distinct features than get weights; give a larger number of features",
            );
        }
        let bound = 0.5 * self.alpha() * self.radius * self.radius + self.paid + self.missed;
        bound_of_sums(Comparator::Ball(self.radius), bound, &[self.paid, self.missed])
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.paid, self.missed));
        archive.flag("beyond", &mut self.is_beyond)?;
        self.features.persist(archive)?;
        archive.column_of(self.features.len(), "weight", &mut self.weights)?;
        match &mut self.past {
            PastLosses::Quadratic { matrix, moments, .. } => {
                archive.array("matrix", matrix)?;
                archive.array("moments", moments)
            }
            PastLosses::Rows(rows) => archive.part("row", |archive| persist_rows(archive, rows, self.weights.len())),
        }
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(self)
    }
}

impl LinearWeights for FtrlReal {
    fn weight(&self, index: u32) -> f64 {
        self.features.find(index).map_or(0.0, |position| self.weights[position])
    }
}

/// Saves or loads the rows, whose positions are below `features`.
fn persist_rows(archive: &mut Archive, rows: &mut Vec<SeenExample>, features: usize) -> Result<(), Error> {
    let mut lengths: Vec<u32> = rows.iter().map(|row| row.features.len() as u32).collect();
    let mut placed: Vec<(u32, f64)> = rows.iter().flat_map(|row| row.features.iter().copied()).collect();
    let fields = [
        ("label", Field::F64(&|row: &mut SeenExample| &mut row.label)),
        ("weight", Field::F64(&|row| &mut row.weight)),
        ("offset", Field::F64(&|row| &mut row.offset)),
    ];
    archive.records(rows, &SeenExample { features: Vec::new(), label: 0.0, weight: 0.0, offset: 0.0 }, &fields)?;
    archive.column_of(rows.len(), "length", &mut lengths)?;
    let fields = [
        ("position", Field::U32(&|placed: &mut (u32, f64)| &mut placed.0)),
        ("value", Field::F64(&|placed| &mut placed.1)),
    ];
    archive.records(&mut placed, &(0, 0.0), &fields)?;
    let are_known = placed.iter().all(|&(at, _)| (at as usize) < features);
    archive.check(are_known, "position", "must be below the number of features")?;
    if archive.is_loading() {
        let cut = rows_of(&placed, lengths.iter().map(|&length| length as usize));
        let cut = archive.require(cut, "length", "must add up to the length of 'position'")?;
        rows.iter_mut().zip(cut).for_each(|(row, features)| row.features = features);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(t: u32) -> ([f32; 3], f64, f64) {
        let values = [1.0, (t as f32 * 0.7).sin(), (t as f32 * 1.3).cos()];
        let label = f64::from(values[1]) - 0.5 * f64::from(values[2]) + 0.1 * f64::from(t % 5);
        (values, label, [1.0, 2.0, 0.5][t as usize % 3])
    }

    #[test]
    fn on_the_squared_loss_it_is_ridge_regression() {
        let loss = crate::loss::parse("squared").unwrap();
        let mut learner = FtrlReal::new(loss, 0.3, 1.0, 5).unwrap();
        for t in 0..40 {
            let (values, label, weight) = row(t);
            learner.learn_one(Features::new(&[0, 4, 9], &values).unwrap(), label, weight);
        }
        // The gradient of Σ h(p − y)² + ½α‖w‖² at w is 0.
        let mut gradient = [0, 4, 9].map(|index| 0.3 * learner.weight(index));
        for t in 0..40 {
            let (values, label, weight) = row(t);
            let p: f64 = [0, 4, 9].iter().zip(values).map(|(&i, x)| learner.weight(i) * f64::from(x)).sum();
            gradient.iter_mut().zip(values).for_each(|(g, x)| *g += weight * 2.0 * (p - label) * f64::from(x));
        }
        assert!(gradient.iter().all(|g| g.abs() < 1e-11), "{gradient:?}");
        assert!(learner.missed < 1e-20);
    }

    #[test]
    fn newton_steps_find_the_least_of_smooth_losses() {
        for name in ["logistic", "huber:delta=0.5", "poisson", "squared-hinge"] {
            let loss = crate::loss::parse(name).unwrap();
            let mut learner = FtrlReal::new(loss.clone(), 0.3, 1.0, 5).unwrap();
            let label = |t: u32| match loss.task() {
                crate::loss::Task::Binary => {
                    if row(t).1 > 0.2 {
                        1.0
                    } else {
                        -1.0
                    }
                }
                _ => row(t).1.abs(),
            };
            for t in 0..40 {
                let (values, _, weight) = row(t);
                learner.learn_one(Features::new(&[0, 4, 9], &values).unwrap(), label(t), weight);
            }
            let mut gradient = [0, 4, 9].map(|index| 0.3 * learner.weight(index));
            for t in 0..40 {
                let (values, _, weight) = row(t);
                let p: f64 = [0, 4, 9].iter().zip(values).map(|(&i, x)| learner.weight(i) * f64::from(x)).sum();
                let g = weight * loss.derivative(p, label(t));
                gradient.iter_mut().zip(values).for_each(|(sum, x)| *sum += g * f64::from(x));
            }
            assert!(gradient.iter().all(|g| g.abs() < 1e-5), "{name} {gradient:?}");
            assert!(learner.missed < 1e-9, "{name} {}", learner.missed);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_or_said() {
        let parse = |name: &str| crate::loss::parse(name).unwrap();
        let linear: SharedLoss = std::sync::Arc::new(crate::loss::LinearLoss);
        assert!(FtrlReal::new(linear, 1.0, 1.0, 5).is_err());
        assert!(FtrlReal::new(parse("squared"), 0.0, 1.0, 5).is_err());
        assert!(FtrlReal::new(parse("squared"), 1.0, 1.0, 1001).is_err());
        let mut learner = FtrlReal::new(parse("squared"), 1.0, 1.0, 2).unwrap();
        learner.learn_one(Features::new(&[3, 5], &[1.0, 1.0]).unwrap(), 1.0, 1.0);
        assert!(learner.guarantee().bound.is_ok());
        learner.learn_one(Features::new(&[3, 6], &[1.0, 1.0]).unwrap(), 1.0, 1.0);
        assert!(learner.guarantee().bound.is_err());
        assert_eq!(learner.weight(6), 0.0);
    }
}
