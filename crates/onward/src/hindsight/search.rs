//! The search: Newton's method on a ball, and the certificate of how near it is.
//!
//! At v the mean loss f is replaced by its quadratic model, which is minimised over the ball in
//! a small space that grows by one direction a pass: the preconditioned residual of the
//! conditions of optimality, H(w − v) + g + λw = 0, λ ≥ 0 the multiplier of the ball
//! (a Davidson iteration; Hager's sequential subspace method). The solution w in that space is
//! exact. The step to w is taken whole if f falls, and halved until it does otherwise. The space
//! grows until the gap of the model is narrower by as much as the model was wrong last time.
//!
//! # The certificate
//!
//! For every p′, ℓ(p′) ≥ ℓ(q) + α(p′ − q), hence for every u in the ball
//! f(u) ≥ Σ h(ℓ(q) + α(b − q))/Σ h − U‖∇‖, ∇ = Σ h α x/Σ h. This holds wherever the slopes α were
//! taken, inside the ball or not, and for every mean of such bounds (`bundle.rs`). The best lower bound
//! and the best point are kept; their difference is the gap.
//!
//! The bound at w itself may be far below f(w), by ‖r‖²/2λ with r the residual, when f(w) is
//! off the least by no more than rᵀ(H + λ)⁻¹r/2. So the slopes for the bound are taken at a
//! point of their own, the one in the same space where the bound of the model is best ([`Dual`]).
//!
//! # Kinks
//!
//! Losses with kinks are smoothed by μ (`surrogate.rs`), which falls whenever it is what keeps the gap
//! open. With many rare features each kink then is also tilted, to the slope that its row has by
//! then: μ·ln(1 + e^x) becomes μ·ln(1 + e^(x+s)), s the old x + s. That is the exponential
//! method of multipliers (Kort and Bertsekas 1972; Tseng and Bertsekas 1993), which comes to the
//! loss itself though μ does not come to 0, so that the model stays true for longer steps.
//! The slopes stay between those of the loss, and the certificate what it was.

use super::ascent::{Ascent, PASSES_OF_A_TURN};
use super::bundle::Bundle;
use super::passes::{Assessment, Passes, PerRow};
use super::preconditioner::Preconditioner;
use super::rows::{RowSource, Workers};
use super::small::Spectrum;
use super::subspace::Subspace;
use super::surrogate::Bend;
use crate::loss::{Curvature, InverseLink};
use crate::numeric::linalg::vector::{add_scaled, dot, norm, orthonormal};

/// An unconstrained predictor is compared with predictors of up to this many times its norm.
pub(super) const FAR: f64 = 10.0;

/// The most directions of a step, and the fewest, whatever the memory.
const MOST_DIRECTIONS: usize = 40;
const FEWEST_DIRECTIONS: usize = 5;

/// Entries of all directions of a step, at most, beyond the fewest: 8 bytes each, twice.
pub(super) const ENTRIES: usize = 1 << 24;

/// By how much a step is to narrow the gap of its model, at most and at least. Between them it is
/// by as much as the model was wrong last time (Eisenstat and Walker 1996): more would be in vain.
const MOST_NARROW: f64 = 0.1;
const LEAST_NARROW: f64 = 0.6;

/// The share of secants to begin with.
const SECANT: f64 = 0.1;

/// What the smoothing is multiplied by when it is what keeps the gap open.
const FALL: f64 = 0.5;

/// Steps in a row that do not narrow the gap before the search gives up.
const PATIENCE: u32 = 12;

/// By how much of its length a point moves in a turn of dual ascent, at most, where it is at rest.
const STEADY: f64 = 0.1;

/// What is searched for, and when it is found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// The radius of the ball; infinite without one.
    pub(super) radius: f64,
    /// The gap that is small enough, as a share of the loss.
    pub(super) gap: f64,
    /// The passes that may have been made when it ends.
    pub(super) passes: u32,
}

/// What was found.
#[derive(Debug, Clone)]
pub(super) struct SearchResult {
    pub(super) v: Vec<f64>,
    pub(super) loss: f64,
    /// No predictor of the class has a smaller loss.
    pub(super) lower: f64,
    /// Whether the gap is as small as it was to be.
    pub(super) is_reached: bool,
    /// No predictor is best: the loss falls for ever as the predictor grows.
    pub(super) recedes: bool,
}

/// The search on rows.
pub(super) struct Search<'a, R, W> {
    pub(super) passes: Passes<'a, R, W>,
    pub(super) preconditioner: Preconditioner,
    /// The smoothing of losses with kinks; 0 before it is chosen.
    pub(super) mu: f64,
    /// The share of secants on straight slopes.
    pub(super) secant: f64,
    /// What small is measured by where the loss itself is almost nothing: |f(0)|, or what a constant score pays,
    /// if that is less.
    pub(super) scale: f64,
    /// What a constant score pays, nearly.
    pub(super) constant: f64,
    /// The minorants of the passes.
    pub(super) bundle: Bundle,
    /// Whether the preconditioner knows all features. Steps are then solved in a few passes, and neither
    /// tilts, nor points for the bound alone, nor steps that are solved roughly would save any.
    pub(super) is_whole: bool,
    /// By how much the next step is to narrow the gap of its model.
    pub(super) narrower: f64,
    /// Passes that the last step took.
    pub(super) last_step: u32,
}

/// A point with what a pass says of it.
struct Here {
    v: Vec<f64>,
    at: Assessment,
}

/// A step.
#[derive(Default)]
struct Trial {
    /// Where it leads.
    w: Vec<f64>,
    /// By how much the model falls.
    decrease: f64,
    /// The gap that the model has there.
    slack: f64,
    /// Where the tangents are to prove more than there.
    dual: Option<Vec<f64>>,
    /// Whether it is as long as steps may be without a ball.
    is_cut: bool,
    /// The largest curvature that was met.
    curvature: f64,
}

impl SearchResult {
    /// Nothing yet: v, which pays infinitely much.
    pub(super) fn nothing(v: Vec<f64>) -> Self {
        Self { v, loss: f64::INFINITY, lower: f64::NEG_INFINITY, is_reached: false, recedes: false }
    }
}

impl<R: RowSource, W: Workers> Search<'_, R, W> {
    /// Searches from v on, a point of the ball.
    pub(super) fn run(&mut self, v: Vec<f64>, goal: Goal) -> Result<SearchResult, R::Error> {
        let loss = self.passes.loss();
        let is_kinked = loss.kinks(1.0).is_some();
        let is_bounded = goal.radius.is_finite();
        self.secant = SECANT;
        self.narrower = if self.is_whole { MOST_NARROW } else { LEAST_NARROW };
        let mut here = self.start(v, is_kinked)?;
        let mut found = SearchResult::nothing(here.v.clone());
        let mut aim = f64::INFINITY;
        let (mut damping, mut idle, mut narrowest) = (0.0, 0, f64::INFINITY);
        loop {
            let reach = if is_bounded { goal.radius } else { FAR * aim.max(norm(&here.v)) };
            self.bundle.add(here.at.tangents, &here.at.gradient);
            let before = found.loss;
            self.record(&mut found, (&here.v, here.at.loss), reach, goal);
            let gap = found.loss - found.lower;
            let target = self.target(found.loss, goal);
            let is_flat = here.at.gradient.iter().all(|&g| g == 0.0);
            // Without a ball the model must see nothing to be gained, either.
            if gap <= target && (is_bounded || is_flat) {
                found.is_reached = true;
                return Ok(found);
            }
            found.recedes = !is_bounded && here.at.recedes;
            if found.recedes || self.passes.count() >= goal.passes {
                return Ok(found);
            }
            let is_lower = !is_bounded && before - found.loss > target;
            if gap < 0.99 * narrowest || is_lower {
                (narrowest, idle) = (gap, 0)
            } else {
                idle += 1
            }
            let slack = slack(&here, reach);
            let open = here.at.loss - self.lower(&here, reach);
            let is_stuck = idle > PATIENCE;
            // What the smoothing keeps open, however well its problem is solved.
            let smoothing = open - slack;
            let is_behind = smoothing > 0.6 * target && slack <= smoothing;
            if is_kinked && self.mu > 1e-13 * self.scale && (is_behind || is_stuck) {
                if !self.is_whole {
                    self.passes.tilt(&here.v, self.mu)?;
                }
                self.mu *= FALL;
                idle = 0;
                here.at = self.passes.assess(&here.v, self.mu)?;
                continue;
            }
            if is_stuck {
                return Ok(found);
            }
            self.refresh(&here)?;
            let step = self.step(&here, goal.radius, damping, target, goal.passes)?;
            aim = norm(&step.w);
            if !is_bounded && gap <= target && step.decrease <= target && !step.is_cut {
                found.is_reached = true;
                return Ok(found);
            }
            let promised = step.slack;
            if let Some(dual) = &step.dual {
                let at = self.passes.assess(dual, self.mu)?;
                self.bundle.add(at.tangents, &at.gradient);
            }
            self.go(&mut here, step, &mut damping)?;
            if slack > 0.0 && !self.is_whole {
                let reach = if is_bounded { goal.radius } else { FAR * norm(&here.v) };
                let wrong = (self::slack(&here, reach) - promised).abs() / slack;
                self.narrower = wrong.clamp(MOST_NARROW, LEAST_NARROW);
            }
        }
    }

    /// Goes on by dual ascent (`ascent.rs`) from what was found.
    pub(super) fn ascend(
        &mut self,
        ascent: &mut Ascent<'_>,
        found: &mut SearchResult,
        goal: Goal,
    ) -> Result<(), R::Error> {
        let is_bounded = goal.radius.is_finite();
        let mut state = ascent.assess(self.passes.workers());
        if self.scale == 0.0 {
            self.scale = self.scale_of(state.loss);
        }
        let mut moved = f64::INFINITY;
        loop {
            let reach = if is_bounded { goal.radius } else { FAR * norm(&ascent.centre) };
            self.bundle.add(state.tangents, &state.gradient);
            self.record(found, (&ascent.centre, state.loss), reach, goal);
            // Without a ball it must have come to rest, too.
            let is_steady = is_bounded || moved <= STEADY * norm(&ascent.centre);
            found.is_reached = is_steady && found.loss - found.lower <= self.target(found.loss, goal);
            found.recedes = !is_bounded && state.recedes;
            if found.is_reached || found.recedes || self.passes.count() >= goal.passes {
                return Ok(());
            }
            let before = ascent.centre.clone();
            ascent.turn(goal.radius, reach, &state);
            state = ascent.assess(self.passes.workers());
            moved = norm(&before.iter().zip(&ascent.centre).map(|(before, v)| v - before).collect::<Vec<_>>());
            self.passes.add(PASSES_OF_A_TURN);
        }
    }

    /// What small is measured by, given what the score 0 pays.
    fn scale_of(&self, at_zero: f64) -> f64 {
        // Where a constant fits all labels, to rounding, that tells nothing.
        let constant = if self.constant > 1e-12 * at_zero.abs() { self.constant } else { f64::INFINITY };
        at_zero.abs().min(constant)
    }

    /// The gap that is small enough.
    fn target(&self, loss: f64, goal: Goal) -> f64 {
        goal.gap * loss.abs().max(1e-3 * self.scale)
    }

    /// Looks at the first point; with kinks, chooses how smooth the loss is at first.
    fn start(&mut self, v: Vec<f64>, is_kinked: bool) -> Result<Here, R::Error> {
        if self.mu == 0.0 {
            let at = self.passes.assess(&v, 1.0)?;
            self.scale = self.scale_of(at.loss);
            self.mu = if at.loss != 0.0 { 0.5 * at.loss.abs() } else { 1.0 };
            if !is_kinked {
                return Ok(Here { v, at });
            }
        }
        Ok(Here { at: self.passes.assess(&v, self.mu)?, v })
    }

    /// What no predictor within `reach` can fall below, by the tangents here.
    fn lower(&self, here: &Here, reach: f64) -> f64 {
        let size = norm(&here.at.gradient);
        self.floor(here.at.tangents - if size > 0.0 { reach * size } else { 0.0 })
    }

    /// A lower bound, and what the loss itself is never below.
    fn floor(&self, lower: f64) -> f64 {
        // All losses are at least 0 but Poisson's, which leaves a constant out.
        if self.passes.loss().inverse_link() == InverseLink::Log { lower } else { lower.max(0.0) }
    }

    /// Keeps the best point and the best bound. Without a ball the bound is about the point: kept is what has the
    /// smaller gap, unless another pays less by more than the gap that was asked for.
    fn record(&mut self, found: &mut SearchResult, (v, loss): (&Vec<f64>, f64), reach: f64, goal: Goal) {
        let lower = self.bundle.bound(reach);
        let lower = self.floor(lower);
        if !goal.radius.is_finite() {
            let target = self.target(loss, goal);
            let is_proved_better = loss - lower <= found.loss - found.lower && loss <= found.loss + target;
            if is_proved_better || found.loss - loss > target {
                (found.loss, found.lower) = (loss, lower);
                found.v.clone_from(v);
            }
            return;
        }
        found.lower = found.lower.max(lower);
        if loss < found.loss {
            found.loss = loss;
            found.v.clone_from(v);
        }
        // They cross by rounding only.
        found.lower = found.lower.min(found.loss);
    }

    fn bend(&self) -> Bend {
        Bend { mu: self.mu, share: self.secant }
    }

    /// Computes second derivatives where that pays: when there are none, and when the last step
    /// took more passes than it would.
    fn refresh(&mut self, here: &Here) -> Result<(), R::Error> {
        let is_constant = matches!(self.passes.loss().curvature(), Curvature::Quadratic(_));
        let is_slow = !is_constant && f64::from(self.last_step) > 2.0 + self.preconditioner.cost;
        if !self.preconditioner.is_ready() || is_slow {
            let (places, members) = (&self.preconditioner.places, self.preconditioner.members());
            let curvatures = self.passes.curvatures(&here.v, self.bend(), places, members)?;
            self.preconditioner.set(curvatures);
        }
        Ok(())
    }

    /// The minimiser of the quadratic model, nearly.
    fn step(&mut self, here: &Here, radius: f64, damping: f64, target: f64, until: u32) -> Result<Trial, R::Error> {
        let (v, g, size) = (&here.v, &here.at.gradient, norm(&here.v));
        // Without a ball, a loss without curvature must not lead out of sight.
        let edge = match self.passes.loss().curvature() {
            _ if radius.is_finite() => radius,
            Curvature::Quadratic(_) | Curvature::Strong(_) => 1e150,
            _ => 1e3 * size.max(1.0),
        };
        let before = self.passes.count();
        let most = (ENTRIES / v.len().max(1)).clamp(FEWEST_DIRECTIONS, MOST_DIRECTIONS);
        let on_edge = size >= radius * (1.0 - 1e-9);
        let mut multiplier = if on_edge { (-dot(g, v) / (size * size)).max(0.0) } else { 0.0 };
        let mut residual = g.clone();
        add_scaled(&mut residual, multiplier, v);
        let mut space = Subspace::new(v, g, damping);
        let mut bends = PerRow::new();
        let mut first = None;
        let mut step = Trial { w: v.clone(), ..Trial::default() };
        loop {
            let direction = self.preconditioner.apply(&residual, multiplier + damping);
            // By how much the model would fall along it: what steps are measured by.
            let worth = dot(&residual, &direction);
            let is_enough = *first.get_or_insert(worth) * 1e-12 >= worth;
            let direction = orthonormal(direction, &space.basis).filter(|_| !is_enough);
            let is_last = direction.is_none();
            space.basis.extend(direction);
            if space.new_directions().is_empty() {
                break;
            }
            let images = self.images(space.new_directions(), v, &mut bends)?;
            space.add_images(images);
            let pull = space.pull();
            // v is the first direction, where it is not 0.
            let c: Vec<f64> = pull.iter().zip(&space.small).map(|(pull, row)| size * row[0] - pull).collect();
            let spectrum = Spectrum::new(space.small.clone());
            let (mut z, found) = spectrum.minimise(&c, edge);
            multiplier = found;
            step.curvature = spectrum.largest();
            step.w = space.moved(vec![0.0; v.len()], 1.0, &z);
            if size > 0.0 {
                z[0] -= size;
            }
            let gradient = space.gradient(&z);
            step.decrease = -dot(&pull, &z) - 0.5 * space.curvature(&z);
            let reach = if radius.is_finite() { radius } else { FAR * norm(&step.w).max(size) };
            let slack_then = dot(&gradient, &step.w) + reach * norm(&gradient);
            let slack_now = dot(g, v) + reach * norm(g);
            step.slack = slack_then;
            let mut slack_of_both = slack_then;
            let dual = if self.is_whole { None } else { space.best_bound(reach, norm(&gradient)) };
            if let Some((z, lower)) = dual {
                let is_better = -step.decrease - lower < slack_of_both;
                slack_of_both = if is_better { -step.decrease - lower } else { slack_of_both };
                step.dual = is_better.then(|| space.moved(v.clone(), 1.0, &z));
            }
            let is_enough = slack_of_both <= (self.narrower * slack_now).max(0.25 * target);
            let is_full = space.basis.len() >= most.min(v.len()) || self.passes.count() >= until;
            if is_enough || is_last || is_full {
                break;
            }
            residual = space.moved(gradient, damping, &z);
            add_scaled(&mut residual, multiplier, &step.w);
        }
        let longest = norm(&step.w);
        step.is_cut = longest >= edge * (1.0 - 1e-9);
        if longest > radius {
            // Inside, whatever the rounding.
            step.w.iter_mut().for_each(|w| *w *= radius / longest * (1.0 - 1e-15));
        }
        self.last_step = self.passes.count() - before;
        Ok(step)
    }

    /// The products of the Hessian with directions, two of them in one pass.
    fn images(&self, directions: &[Vec<f64>], v: &[f64], bends: &mut PerRow<f64>) -> Result<Vec<Vec<f64>>, R::Error> {
        if bends.is_empty() {
            *bends = self.passes.bends(v, self.bend())?;
        }
        if let [one, two] = directions {
            return Ok(self.passes.products(bends, [one, two])?.into());
        }
        let mut images = Vec::new();
        for one in directions {
            images.extend(self.passes.products(bends, [one])?);
        }
        Ok(images)
    }

    /// Takes the step, or as much of it as makes the loss fall.
    fn go(&mut self, here: &mut Here, step: Trial, damping: &mut f64) -> Result<(), R::Error> {
        let noise = 1e-13 * here.at.smooth.abs();
        let at = self.passes.assess(&step.w, self.mu)?;
        if at.smooth <= here.at.smooth - 1e-4 * step.decrease + noise {
            *here = Here { v: step.w, at };
            *damping = if *damping > 1e-8 * step.curvature { *damping / 8.0 } else { 0.0 };
            self.secant *= 0.5;
            return Ok(());
        }
        let mut along = step.w.clone();
        add_scaled(&mut along, -1.0, &here.v);
        let losses = self.passes.shorter(&here.v, &along, self.mu)?;
        let (mut share, mut least, mut best) = (1.0, here.at.smooth, None);
        for loss in losses {
            share *= 0.5;
            if loss < least {
                (least, best) = (loss, Some(share));
            }
        }
        // More of the secants first, which tell one feature from another; then shorter steps for all.
        if self.secant >= 1.0 || best.is_none() {
            *damping = (10.0 * *damping).max(1e-3 * step.curvature);
        }
        self.secant = (4.0 * self.secant).clamp(SECANT, 1.0);
        let Some(share) = best else { return Ok(()) };
        let mut v = here.v.clone();
        add_scaled(&mut v, share, &along);
        let at = self.passes.assess(&v, self.mu)?;
        *here = Here { v, at };
        Ok(())
    }
}

/// The gap of the smooth problem: ⟨∇, v⟩ + reach·‖∇‖.
fn slack(here: &Here, reach: f64) -> f64 {
    let size = norm(&here.at.gradient);
    dot(&here.at.gradient, &here.v) + if size > 0.0 { reach * size } else { 0.0 }
}
