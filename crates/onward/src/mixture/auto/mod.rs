//! `auto`: the default learner, which has nothing to tune.
//!
//! It is not known beforehand how large steps should be, whether features are better
//! centred, or whether the lanes that adapt fast or those that settle will win on a stream. So
//! `auto` runs several learners side by side in one walk over the features and believes those that have
//! predicted well: what it pays is close to what the best of them pays, often less.
//!
//! A round for x, y and importance h:
//! 1. **Lanes** (`lanes.rs`): seven linear learners (or four, in a cache line for each feature) score
//!    p_k = o + ⟨w_k, x⟩, o being what labels alone say (`labels.rs`). All state is in units of what was
//!    seen (`lane_entry.rs`): features and labels may come in any unit.
//! 2. **Experts that are no lanes**: a full-matrix Newton learner on few features, another on their
//!    pairs too (`newton.rs`), and the best constant so far.
//! 3. **Stacks** (`stack.rs`): two Newton learners on the scores of all these.
//! 4. Scores are clipped to what is plausible by past labels, and the **mixture** (`mixture.rs`) of all
//!    twelve (nine with four lanes) is the prediction. It is charged here.
//! 5. The mixture takes in the losses; the labels take in y; every expert moves by its own gradient,
//!    lanes by gradient flow for time h·τ_k, so that twice the importance of others equals seeing the
//!    example twice at the same rates; h is in units of its mean so far, since only that is the same in
//!    whatever unit importance comes. A label more than three deviations from a score pulls as if it were three away.
//!
//! Only the past enters a prediction: the range and mean of labels, the scales of features (the row's own
//! features, not its label). h = 0 changes nothing.
//!
//! **Guarantee**, for log loss: Σhℓ ≤ min_k Σhℓ_k + H·ln K + Σ_t −H_t·ln(1 − α_t + α_t/K), that is, against
//! the best of its K experts, H_t being the largest importance so far and H the last of them; for losses mixed by AdaHedge 2Δ in place of all but the first
//! term. Where four lanes go on, K counts the seven. For squared loss there is none; the measured losses of the experts are in the report.
//!
//! When the entries of seven lanes take more than [`WIDE_LIMIT`] bytes, four of the lanes go on: a
//! table that is larger than the processor's caches costs a memory access for each line.
//!
//! What was tried, and what each part gains: `docs/notes/auto-experiments.md`.

// Loops over arrays of one length say what vectors are made of, and compile to them.
#![allow(clippy::needless_range_loop)]

mod implicit;
mod labels;
mod lane_entry;
mod lanes;
mod mixture;
mod newton;
mod stack;
mod walks;

use std::cell::RefCell;

use implicit::{Slopes, implicit};
use labels::{LabelExperts, ScoreKind};
use lanes::{FourLanes, KEPT, LanePasses, SevenLanes};
use mixture::{Mixing, Mixture, Paid, UNBOUNDED};
use newton::Newton;
use stack::Stack;

use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::logistic::{self, FLOWS, SigmoidsOf};
use crate::loss::{Curvature, InverseLink};
use crate::numeric::exp_log;
use crate::parameter::{Description, ParameterDescriptor, words};
use crate::protocol::{LearnerDescriptor, Losses, Promise};
use crate::simd::{larger, smaller, vectorised};
use crate::{Error, ExpertReport, Features, LinearWeights, Loss, MixtureReport, ScoreLearner, SharedLoss};

/// How many lanes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneCount {
    /// Seven, and four from the moment when there are too many features for seven to be fast.
    Auto,
    /// Seven, however many features there are.
    Seven,
    /// Four.
    Four,
}

/// Seven lanes become four when their entries take more bytes than this: 131,072 of them, of which those
/// of low indices are laid out before they are used.
pub const WIDE_LIMIT: usize = 1 << 24;

/// Probabilities are held within this distance of certainty.
const LEAST_PROBABILITY: f64 = 1e-15;

/// For the mixture, labels farther from a score than this many deviations count as that far.
const FARTHEST_TO_MIX: f64 = 8.0;

/// Scores that differ by this part of labels' reach differ by rounding.
const ROUNDING: f64 = 1e-12;

/// The most experts there are: three vectors of four numbers.
const MOST_EXPERTS: usize = 12;

/// A number of each expert, in the order of [`Learner::mixture`](crate::Learner::mixture), and 0 beyond the last.
type Experts = [f64; MOST_EXPERTS];

/// Their sum, in a fixed tree.
#[inline(always)]
fn total(experts: &Experts) -> f64 {
    let mut sums = [0.0; 4];
    for at in 0..4 {
        sums[at] = (experts[at] + experts[at + 4]) + experts[at + 8];
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// By how much the stack forgets that does.
const FORGETTING: f64 = 1e-3;

/// The default learner.
pub struct Auto {
    loss: SharedLoss,
    lane_count: LaneCount,
    labels: LabelExperts,
    lanes: Box<dyn LanePasses>,
    newtons: [Newton; 2],
    stacks: [Stack; 2],
    mixture: Mixture,
    /// Kept for its memory.
    round: Option<Box<Round>>,
}

/// What a round computes.
#[derive(Debug, Clone)]
struct Round {
    /// p_k of each expert: lanes, Newton experts, the constant, stacks.
    scores: Experts,
    /// Of these, for log loss.
    known: SigmoidsOf<MOST_EXPERTS>,
    /// The score that lanes start from, the offset included.
    origin: f64,
    /// Centred x̂, before and after the row's features were taken in.
    seen: Vec<f32>,
    sizes: Vec<f32>,
    /// ∂ℓ/∂p_k, for log loss.
    g: Experts,
}

impl Default for Round {
    fn default() -> Self {
        let zeros = [0.0; MOST_EXPERTS];
        let (seen, sizes) = (Vec::new(), Vec::new());
        Self { scores: zeros, known: SigmoidsOf::of(&zeros), origin: 0.0, seen, sizes, g: zeros }
    }
}

thread_local! {
    /// Predicting changes nothing, and must not allocate for each row either.
    static ROUND: RefCell<Round> = RefCell::default();
}

impl Auto {
    /// The default learner for a loss.
    ///
    /// # Errors
    /// When the loss has no slope.
    ///
    /// ```
    /// use onward::{Features, ScoreLearner, mixture::{Auto, LaneCount}};
    /// let mut learner = Auto::new(onward::loss::parse("logistic")?, LaneCount::Auto)?;
    /// for round in 0..100 {
    ///     let value = [1.0, (round % 7) as f32 * 1e6];
    ///     learner.learn_one(Features::new(&[0, 1], &value)?, if round % 7 > 3 { 1.0 } else { -1.0 }, 1.0);
    /// }
    /// assert!(learner.predict_one(Features::new(&[0, 1], &[1.0, 6e6])?) > 1.0);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn new(loss: SharedLoss, lane_count: LaneCount) -> Result<Self, Error> {
        if loss.curvature() == Curvature::None {
            let message =
                format!("the loss of auto must have a slope, and {} has none; use hinge or logistic", loss.name());
            return Err(Error::parameter(message));
        }
        Ok(Self::of_width(loss, lane_count, lane_count == LaneCount::Four))
    }

    fn of_width(loss: SharedLoss, lane_count: LaneCount, is_narrow: bool) -> Self {
        let lanes: Box<dyn LanePasses> =
            if is_narrow { Box::<FourLanes>::default() } else { Box::<SevenLanes>::default() };
        let newtons = [false, true].map(Newton::new);
        // The constant is one more.
        let stacked = lanes.lanes().len() + newtons.len() + 1;
        let stacks = [Stack::new("stack", 0.0, stacked), Stack::new("stack, forgetting", FORGETTING, stacked)];
        let mixing = match (loss.inverse_link(), loss.curvature()) {
            (InverseLink::Logistic, _) => Mixing::Bayes,
            (_, Curvature::Quadratic(_) | Curvature::Strong(_)) => Mixing::Bernstein,
            _ => Mixing::AdaHedge,
        };
        let mixture = Mixture::new(mixing, stacked + stacks.len());
        let labels = LabelExperts::new(SharedLoss::clone(&loss));
        Self { loss, lane_count, labels, lanes, newtons, stacks, mixture, round: None }
    }

    /// The score that each expert would predict for a row, in the order of [`Learner::mixture`](crate::Learner::mixture).
    ///
    /// ```
    /// use onward::{Features, ScoreLearner, mixture::{Auto, LaneCount}};
    /// let learner = Auto::new(onward::loss::parse("squared")?, LaneCount::Auto)?;
    /// let scores = learner.scores(Features::new(&[0], &[1.0])?);
    /// assert_eq!(scores.len(), learner.mixture().unwrap().experts.len());
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn scores(&self, x: Features<'_>) -> Vec<f64> {
        let mut round = Round::default();
        self.lanes.dot(x, &mut round.scores[..self.lane_total()], &mut round.seen);
        self.conclude(&mut round, x);
        round.scores[..self.expert_total()].to_vec()
    }

    fn expert_total(&self) -> usize {
        self.mixture.weights().len()
    }

    fn lane_total(&self) -> usize {
        self.lanes.lanes().len()
    }

    /// Completes the scores, the lanes' ⟨w_k, x⟩ being there, and predicts.
    #[inline(always)]
    fn conclude(&self, round: &mut Round, x: Features<'_>) -> f64 {
        let (low, high) = self.labels.bounds(x.offset());
        let clip = |score: f64| smaller(high, larger(low, score));
        let origin = x.offset() + self.labels.origin();
        round.origin = origin;
        let (lanes, others) = round.scores.split_at_mut(self.lane_total());
        lanes.iter_mut().for_each(|score| *score = clip(origin + *score));
        others.fill(0.0);
        let constant = clip(x.offset() + self.labels.constant());
        for (newton, score) in self.newtons.iter().zip(others.iter_mut()) {
            *score = if newton.has_given_up() { constant } else { clip(origin + newton.dot(x.indices(), &round.seen)) };
        }
        others[self.newtons.len()] = constant;
        let stacked = self.stacks.each_ref().map(|stack| clip(origin + stack.dot(&round.scores, origin)));
        let first = self.expert_total() - stacked.len();
        round.scores[first..][..stacked.len()].copy_from_slice(&stacked);
        self.mix(round)
    }

    /// The mean of scores, or for log loss that of probabilities.
    #[inline(always)]
    fn mix(&self, round: &mut Round) -> f64 {
        let weights = self.mixture.all_weights();
        if self.labels.scores() != ScoreKind::Logits {
            // Weights sum to 1 but for rounding, which may not lead out of the range of scores.
            let scores = &round.scores[..self.expert_total()];
            let (low, high) = scores.iter().fold((f64::MAX, f64::MIN), |(low, high), &s| (low.min(s), high.max(s)));
            let sum: f64 = weights.iter().zip(scores).map(|(weight, score)| weight * score).sum();
            return sum.clamp(low, high);
        }
        let (up, down) = mean_probability(weights, &round.scores, &mut round.known);
        exp_log::ln(larger(up, LEAST_PROBABILITY)) - exp_log::ln(larger(down, LEAST_PROBABILITY))
    }

    /// The mixture takes in what every expert has paid.
    #[inline(always)]
    fn judge(&mut self, round: &mut Round, score: f64, label: f64, h: f64) {
        let experts = self.expert_total();
        let (mut losses, mut likelihoods) = ([0.0; MOST_EXPERTS], None);
        let (loss, mut derivative) = match self.labels.scores() {
            ScoreKind::Logits => {
                (losses, round.g) = log_losses(&round.known, &round.scores, label);
                losses[experts..].fill(0.0);
                if label.abs() == 1.0 {
                    // σ(yp) is e^(−ℓ).
                    likelihoods = Some(if label > 0.0 { &round.known.up } else { &round.known.down });
                }
                let ([loss], [derivative]) = SigmoidsOf::of(&[score]).losses(&[score], label);
                (loss, derivative)
            }
            _ => {
                for (loss, &score) in losses.iter_mut().zip(&round.scores[..experts]) {
                    *loss = self.loss.value(score, label);
                }
                (self.loss.value(score, label), self.loss.derivative(score, label))
            }
        };
        if self.labels.scores() == ScoreKind::Labels && self.mixture.weight() > 0.0 {
            derivative = self.loss.derivative(score, self.labels.held_within(FARTHEST_TO_MIX, label, score));
        }
        self.mixture.observe(&Paid {
            losses: &losses,
            likelihoods,
            scores: &round.scores,
            loss,
            score,
            derivative,
            resolution: ROUNDING * self.labels.reach().max(score.abs()),
            h,
        });
    }

    /// The label has moved the origin: experts learn from where that puts them, or what the origin
    /// has taken in of it they would take in once more.
    #[inline(always)]
    fn shift_origin(&self, round: &mut Round, offset: f64) {
        let shift = offset + self.labels.origin() - round.origin;
        if shift != 0.0 {
            let (low, high) = self.labels.bounds(offset);
            let experts = &mut round.scores[..self.mixture.weights().len()];
            experts.iter_mut().for_each(|score| *score = (*score + shift).clamp(low, high));
            round.origin += shift;
        }
    }

    #[inline(always)]
    fn move_lanes(&mut self, round: &mut Round, label: f64, h: f64) {
        let (lanes, deviation) = (self.lanes.lanes(), self.labels.deviation());
        let (scores, g) = (&round.scores[..lanes.len()], &mut round.g[..lanes.len()]);
        let is_logit = self.labels.scores() == ScoreKind::Logits;
        // Logits have no origin that moves, nor labels that are held: their derivatives are there.
        if !is_logit {
            for (g, &score) in g.iter_mut().zip(scores) {
                *g = self.loss.derivative(score, self.labels.held(label, score));
            }
        }
        let usual = match self.labels.scores() {
            ScoreKind::Labels => self.loss.derivative(label + deviation, label).abs(),
            _ => 0.0,
        };
        let (mut q, mut times, mut u) = ([0.0; FLOWS], [0.0; FLOWS], [0.0; FLOWS]);
        self.lanes.prepare(g, h, deviation, usual, &mut q[..lanes.len()]);
        lanes.iter().zip(&mut times).for_each(|(lane, time)| *time = lane.time(deviation) * h);
        if is_logit {
            let exponentials = first_of(&round.known.exponentials);
            u = logistic::flows(first_of(&round.scores), exponentials, label, &times, &q);
        } else {
            for (at, &score) in scores.iter().enumerate().filter(|&(at, _)| q[at] > 0.0) {
                u[at] = self.loss.importance_step(score, self.labels.held(label, score), times[at], q[at]);
            }
        }
        self.lanes.advance(&u[..lanes.len()]);
    }

    #[inline(always)]
    fn move_newtons(&mut self, round: &Round, x: Features<'_>, label: f64, h: f64) {
        let sizes = &round.sizes;
        let squares = self.newtons.each_mut().map(|newton| newton.prepare(x.indices(), sizes, h));
        if squares == [None; 2] {
            return;
        }
        let q = squares.map(|square| h * square.unwrap_or(0.0));
        let (residuals, curvatures) = self.implicit(round, self.lane_total(), [label; 2], q);
        for (at, newton) in self.newtons.iter_mut().enumerate().filter(|&(at, _)| squares[at].is_some()) {
            newton.advance((residuals[at], curvatures[at]), q[at], h);
        }
    }

    #[inline(always)]
    fn move_stacks(&mut self, round: &Round, label: f64, h: f64) {
        let first = self.expert_total() - self.stacks.len();
        let Round { scores, origin, .. } = round;
        let reach = self.labels.reach();
        let mut z = scores.map(|score| (score - origin) / reach);
        z[first..].fill(0.0);
        let squares = self.stacks.each_mut().map(|stack| stack.prepare(&z));
        let q = squares.map(|square| h * square.unwrap_or(0.0));
        let held = [first, first + 1].map(|at| self.labels.held(label, scores[at]));
        let (residuals, curvatures) = self.implicit(round, first, held, q);
        for (at, stack) in self.stacks.iter_mut().enumerate().filter(|&(at, _)| squares[at].is_some()) {
            stack.advance(reach, (residuals[at], curvatures[at]), q[at], h);
        }
    }

    /// Residuals and curvatures that the steps of two experts lead to, the one of this number and the next.
    #[inline(always)]
    fn implicit(&self, round: &Round, first: usize, labels: [f64; 2], q: [f64; 2]) -> Slopes<2> {
        let Round { scores, known, .. } = round;
        let two = |of: &Experts| [of[first], of[first + 1]];
        let scores = two(scores);
        let kind = self.labels.scores();
        if kind == ScoreKind::Logits {
            let known =
                SigmoidsOf { exponentials: two(&known.exponentials), up: two(&known.up), down: two(&known.down) };
            return implicit_logits(&known, scores, labels[0], q);
        }
        let slopes = |scores: [f64; 2]| {
            let [one, other] = [0, 1].map(|at| slope(self.loss.as_ref(), kind, scores[at], labels[at]));
            ([one.0, other.0], [one.1, other.1])
        };
        implicit(slopes, slopes(scores), scores, q)
    }

    /// Four lanes go on where seven have become too wide.
    fn narrow(&mut self) {
        let Some(lanes) = self.lanes.narrowed() else { return };
        let others = self.lane_total()..self.expert_total();
        let experts: Vec<usize> = KEPT.into_iter().chain(others).collect();
        self.mixture = self.mixture.narrowed(&experts);
        let stacked = &experts[..experts.len() - self.stacks.len()];
        self.stacks = self.stacks.each_ref().map(|stack| stack.narrowed(stacked));
        self.lanes = lanes;
    }
}

vectorised! {
    /// A round, but for what is kept from one to the next.
    fn play(learner: &mut Auto, round: &mut Round, x: Features<'_>, label: f64, weight: f64) -> f64 {
        // Lanes, Newton experts and stacks take importance in units of its mean: whatever unit it comes in,
        // their steps are as long, and what matrices hold stays in range.
        let relative = learner.labels.relative(weight);
        let lanes = learner.lane_total();
        learner.lanes.begin(x, relative, &mut round.scores[..lanes]);
        if learner.newtons.iter().any(|newton| !newton.has_given_up()) {
            learner.lanes.sizes(&mut round.seen, &mut round.sizes);
        }
        let prediction = learner.conclude(round, x);
        learner.judge(round, prediction, label, weight);
        learner.labels.observe(label, x.offset(), weight);
        learner.shift_origin(round, x.offset());
        learner.move_newtons(round, x, label, relative);
        learner.move_lanes(round, label, relative);
        learner.move_stacks(round, label, relative);
        prediction
    }
}

/// The scores of lanes, and what follows them up to [`FLOWS`] numbers.
fn first_of(experts: &Experts) -> &[f64; FLOWS] {
    const { assert!(FLOWS <= MOST_EXPERTS) };
    experts.first_chunk().expect("there is room for more experts than flow side by side")
}

vectorised! {
    /// Means of σ(p_k) and of σ(−p_k); writes what is known of the scores.
    fn mean_probability(weights: &Experts, scores: &Experts, known: &mut SigmoidsOf<MOST_EXPERTS>) -> (f64, f64) {
        *known = SigmoidsOf::of(scores);
        let (mut up, mut down) = ([0.0; MOST_EXPERTS], [0.0; MOST_EXPERTS]);
        for at in 0..MOST_EXPERTS {
            (up[at], down[at]) = (weights[at] * known.up[at], weights[at] * known.down[at]);
        }
        (total(&up), total(&down))
    }
}

vectorised! {
    /// Log losses and their derivatives.
    fn log_losses(known: &SigmoidsOf<MOST_EXPERTS>, scores: &Experts, label: f64) -> (Experts, Experts) {
        known.losses(scores, label)
    }
}

vectorised! {
    /// The steps of two experts for log loss.
    fn implicit_logits(known: &SigmoidsOf<2>, scores: [f64; 2], label: f64, q: [f64; 2]) -> Slopes<2> {
        implicit(|scores| SigmoidsOf::of(&scores).slopes(label), known.slopes(label), scores, q)
    }
}

/// Residual and curvature of a score for Newton steps. Losses with kinks borrow the residual and curvature of the square
/// that is like them.
fn slope(loss: &dyn Loss, kind: ScoreKind, score: f64, label: f64) -> (f64, f64) {
    match kind {
        ScoreKind::Rates | ScoreKind::Logits => (-loss.derivative(score, label), loss.second_derivative(score, label)),
        ScoreKind::Labels => (label - score, 1.0),
        ScoreKind::Margins => (label * (1.0 - label * score).max(0.0), 1.0),
    }
}

impl ScoreLearner for Auto {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        ROUND.with_borrow_mut(|round| {
            self.lanes.dot(x, &mut round.scores[..self.lane_total()], &mut round.seen);
            self.conclude(round, x)
        })
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let mut round = self.round.take().unwrap_or_default();
        let prediction = play(self, &mut round, x, label, weight);
        self.round = Some(round);
        if self.lane_count == LaneCount::Auto && self.lanes.bytes() > WIDE_LIMIT {
            self.narrow();
        }
        prediction
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.loss)
    }

    fn describe(&self) -> String {
        let lanes = match self.lane_count {
            LaneCount::Auto => "auto",
            LaneCount::Seven => "7",
            LaneCount::Four => "4",
        };
        Description::of("auto").with(&LANES, lanes).into()
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::of_mixture(Comparator::Experts, self.mixture.bound())
    }

    fn mixture(&self) -> Option<MixtureReport> {
        let lanes = self.lanes.lanes().iter().map(|lane| lane.name);
        let stacks = self.stacks.iter().map(Stack::name);
        let names = lanes.chain(self.newtons.iter().map(Newton::name)).chain(["constant"]).chain(stacks);
        let (weights, paid, total) = (self.mixture.weights(), self.mixture.losses(), self.mixture.weight());
        let experts = names.zip(weights.iter().zip(paid)).map(|(name, (&weight, paid))| ExpertReport {
            name: name.to_owned(),
            weight,
            loss: paid / total,
        });
        Some(MixtureReport { loss: self.mixture.paid() / total, expected: None, experts: experts.collect() })
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut lanes = self.lane_total() as f64;
        archive.number("lanes", &mut lanes)?;
        archive.check(lanes == 4.0 || lanes == 7.0, "lanes", "must be 4 or 7")?;
        if archive.is_loading() {
            *self = Self::of_width(SharedLoss::clone(&self.loss), self.lane_count, lanes == 4.0);
        }
        self.lanes.persist(archive)?;
        archive.part("labels", |archive| self.labels.persist(archive))?;
        archive.part("mixture", |archive| self.mixture.persist(archive))?;
        for (name, newton) in NEWTON_PARTS.iter().zip(&mut self.newtons) {
            archive.part(name, |archive| newton.persist(archive))?;
        }
        for (name, stack) in STACK_PARTS.iter().zip(&mut self.stacks) {
            archive.part(name, |archive| stack.persist(archive))?;
        }
        Ok(())
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(self)
    }
}

impl LinearWeights for Auto {
    /// Of the linear experts as they are mixed and stacked now; what pairs add is left out.
    fn weight(&self, index: u32) -> f64 {
        self.weights(&[index])[0]
    }

    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        let (beliefs, lanes) = (self.mixture.weights(), self.lane_total());
        let stacks = self.stacks.iter().zip(&beliefs[beliefs.len() - self.stacks.len()..]);
        let share =
            |at: usize| beliefs[at] + stacks.clone().map(|(stack, share)| share * stack.weights()[at]).sum::<f64>();
        let shares: Vec<f64> = (0..lanes + self.newtons.len()).map(share).collect();
        let (of_lanes, of_newtons) = shares.split_at(lanes);
        let mut weights = self.lanes.mixed(indices, of_lanes);
        for ((weight, largest), &index) in weights.iter_mut().zip(indices).filter(|((_, largest), _)| *largest > 0.0) {
            for (newton, share) in self.newtons.iter().zip(of_newtons) {
                *weight += share * newton.weight(index) / *largest;
            }
        }
        weights.into_iter().map(|(weight, _)| weight).collect()
    }

    fn deviation(&self, index: u32) -> Option<f64> {
        self.lanes.deviation(index)
    }
}

const NEWTON_PARTS: [&str; 2] = ["newton", "pairs"];
const STACK_PARTS: [&str; 2] = ["stack", "forgetting"];

const LANES: ParameterDescriptor = words(
    "lanes",
    &[
        ("auto", "7, or 4 from 131,072 features on"),
        ("7", "always"),
        (
            "4",
            "always, with half the \
                memory",
        ),
    ],
)
.meaning("number of linear base learners")
.quiet();

/// `auto` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "auto",
    summary: "the default: several base learners (lanes), mixed by how well they predict; nothing to tune",
    losses: Losses::Convex,
    parameters: &[LANES],
    promises: &[
        Promise::sometimes("", &[UNBOUNDED]),
        Promise::sometimes("lanes=4", &[UNBOUNDED]),
        Promise::other("lanes=7"),
    ],
    build: |arguments| {
        let lanes = match arguments.text("lanes") {
            "7" => LaneCount::Seven,
            "4" => LaneCount::Four,
            _ => LaneCount::Auto,
        };
        Ok(Box::new(Auto::new(arguments.loss(), lanes)?))
    },
    plan: |_, _| {
        let reason = "its guarantee is against its own lanes and depends on the stream";
        Ok(Guarantee::none(GuaranteeKind::Mixture, reason))
    },
};
