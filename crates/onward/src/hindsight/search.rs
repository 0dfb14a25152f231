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
use super::cholesky;
use super::passes::{Assessment, Passes, PerRow, SearchCoordinates};
use super::preconditioner::Preconditioner;
use super::rows::{RowSource, Workers};
use super::small::Spectrum;
use super::surrogate::Bend;
use crate::loss::{Curvature, InverseLink};
use crate::numeric::linalg::vector::{add_scaled, dot, norm, orthonormal, scaled};

/// How far predictors may be that an unconstrained one is compared with: so many times its norm.
pub(super) const FAR: f64 = 10.0;

/// Directions of a step are so many at most, and so few at least, whatever the memory.
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
    pub(super) frame: SearchCoordinates,
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
                    self.passes.tilt(&self.frame.raw(&here.v), self.mu)?;
                }
                self.mu *= FALL;
                idle = 0;
                here.at = self.passes.assess(&self.frame, &self.frame.raw(&here.v), self.mu)?;
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
                let at = self.passes.assess(&self.frame, &self.frame.raw(dual), self.mu)?;
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
        let mut state = ascent.state(self.passes.workers());
        if self.scale == 0.0 {
            self.scale = self.scale_of(state.loss);
        }
        let mut moved = f64::INFINITY;
        loop {
            let reach = if is_bounded { goal.radius } else { FAR * norm(&state.v) };
            self.bundle.add(state.tangents, &state.gradient);
            self.record(found, (&state.v, state.loss), reach, goal);
            // Without a ball it must have come to rest, too.
            let is_steady = is_bounded || moved <= STEADY * norm(&state.v);
            found.is_reached = is_steady && found.loss - found.lower <= self.target(found.loss, goal);
            found.recedes = !is_bounded && state.recedes;
            if found.is_reached || found.recedes || self.passes.count() >= goal.passes {
                return Ok(());
            }
            ascent.turn(goal.radius, reach, &state);
            let before = std::mem::replace(&mut state, ascent.state(self.passes.workers())).v;
            moved = norm(&before.iter().zip(&state.v).map(|(before, v)| v - before).collect::<Vec<_>>());
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

    /// Looks at the first point; with kinks, chooses how smooth the loss is to be at first.
    fn start(&mut self, v: Vec<f64>, is_kinked: bool) -> Result<Here, R::Error> {
        let u = self.frame.raw(&v);
        if self.mu == 0.0 {
            let at = self.passes.assess(&self.frame, &u, 1.0)?;
            self.scale = self.scale_of(at.loss);
            self.mu = if at.loss != 0.0 { 0.5 * at.loss.abs() } else { 1.0 };
            if !is_kinked {
                return Ok(Here { v, at });
            }
        }
        Ok(Here { at: self.passes.assess(&self.frame, &u, self.mu)?, v })
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
            let u = self.frame.raw(&here.v);
            let (places, members) = (&self.preconditioner.places, self.preconditioner.members());
            let curvatures = self.passes.curvatures(&self.frame, &u, self.bend(), places, members)?;
            self.preconditioner.set(curvatures);
        }
        Ok(())
    }

    /// The minimiser of the quadratic model, nearly.
    fn step(&mut self, here: &Here, radius: f64, damping: f64, target: f64, until: u32) -> Result<Trial, R::Error> {
        let (v, g, size) = (&here.v, &here.at.gradient, norm(&here.v));
        let (u, bend) = (self.frame.raw(v), self.bend());
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
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut images: Vec<Vec<f64>> = Vec::new();
        let mut small: Vec<Vec<f64>> = Vec::new();
        // ⟨Hb_i, Hb_j⟩, the lower triangle, and ⟨Hb_i, g⟩.
        let (mut squares, mut pulls) = (Vec::new(), Vec::new());
        let mut bends = PerRow::new();
        if size > 0.0 {
            basis.push(scaled(v, 1.0 / size));
        }
        let mut first = None;
        let mut step = Trial { w: v.clone(), ..Trial::default() };
        loop {
            let direction = self.preconditioner.apply(&residual, multiplier + damping);
            // By how much the model would fall along it: what steps are measured by.
            let worth = dot(&residual, &direction);
            let is_enough = *first.get_or_insert(worth) * 1e-12 >= worth;
            let direction = orthonormal(direction, &basis).filter(|_| !is_enough);
            let is_last = direction.is_none();
            basis.extend(direction);
            if basis.len() == images.len() {
                break;
            }
            match &basis[images.len()..] {
                [one, two] => {
                    images.extend(self.passes.products(&self.frame, &u, bend, [one, two], &mut bends)?);
                }
                rest => {
                    for one in rest {
                        images.extend(self.passes.products(&self.frame, &u, bend, [one], &mut bends)?);
                    }
                }
            }
            for at in small.len()..basis.len() {
                squares.extend(images[..=at].iter().map(|other| dot(other, &images[at])));
                pulls.push(dot(&images[at], g));
                let product = |other: usize| 0.5 * (dot(&basis[at], &images[other]) + dot(&basis[other], &images[at]));
                let mut line: Vec<f64> = (0..=at).map(product).collect();
                line[at] += damping;
                small.iter_mut().zip(&line).for_each(|(other, &entry)| other.push(entry));
                small.push(line);
            }
            let pull: Vec<f64> = basis.iter().map(|one| dot(one, g)).collect();
            // v is the first direction, where it is not 0.
            let c: Vec<f64> = pull.iter().zip(&small).map(|(pull, row)| size * row[0] - pull).collect();
            let spectrum = Spectrum::new(small.clone());
            let (mut z, found) = spectrum.minimise(&c, edge);
            multiplier = found;
            step.curvature = spectrum.largest();
            step.w = vec![0.0; v.len()];
            basis.iter().zip(&z).for_each(|(one, &z)| add_scaled(&mut step.w, z, one));
            if size > 0.0 {
                z[0] -= size;
            }
            let mut gradient = g.clone();
            images.iter().zip(&z).for_each(|(image, &z)| add_scaled(&mut gradient, z, image));
            let bend: f64 = z.iter().zip(&small).map(|(value, row)| value * dot(row, &z)).sum();
            step.decrease = -dot(&pull, &z) - 0.5 * bend;
            let reach = if radius.is_finite() { radius } else { FAR * norm(&step.w).max(size) };
            let slack_then = dot(&gradient, &step.w) + reach * norm(&gradient);
            let slack_now = dot(g, v) + reach * norm(g);
            step.slack = slack_then;
            let mut slack_of_both = slack_then;
            let system = Dual { g, images: &images, squares: &squares, pulls: &pulls, small: &small, size };
            let dual = if self.is_whole { None } else { system.solve(reach, norm(&gradient), damping) };
            if let Some((z, gradient)) = dual {
                // The value of the model here, less that of the tangent to it there at the best of the ball.
                let bend: f64 = z.iter().zip(&small).map(|(value, row)| value * dot(row, &z)).sum();
                let along = if size > 0.0 { size * dot(&small[0], &z) } else { 0.0 };
                let lower = -0.5 * bend - along - dot(g, v) - reach * norm(&gradient);
                if -step.decrease - lower < slack_of_both {
                    slack_of_both = -step.decrease - lower;
                    let mut other = v.clone();
                    basis.iter().zip(&z).for_each(|(one, &z)| add_scaled(&mut other, z, one));
                    step.dual = Some(other);
                } else {
                    step.dual = None;
                }
            }
            let is_enough = slack_of_both <= (self.narrower * slack_now).max(0.25 * target);
            let is_full = basis.len() >= most || basis.len() >= v.len() || self.passes.count() >= until;
            if is_enough || is_last || is_full {
                break;
            }
            residual = gradient;
            basis.iter().zip(&z).for_each(|(one, &z)| add_scaled(&mut residual, damping * z, one));
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

    /// Takes the step, or as much of it as makes the loss fall.
    fn go(&mut self, here: &mut Here, step: Trial, damping: &mut f64) -> Result<(), R::Error> {
        let noise = 1e-13 * here.at.smooth.abs();
        let at = self.passes.assess(&self.frame, &self.frame.raw(&step.w), self.mu)?;
        if at.smooth <= here.at.smooth - 1e-4 * step.decrease + noise {
            *here = Here { v: step.w, at };
            *damping = if *damping > 1e-8 * step.curvature { *damping / 8.0 } else { 0.0 };
            self.secant *= 0.5;
            return Ok(());
        }
        let mut along = step.w.clone();
        add_scaled(&mut along, -1.0, &here.v);
        let (u, raw) = (self.frame.raw(&here.v), self.frame.raw(&along));
        let losses = self.passes.shorter(&self.frame, &u, &raw, self.mu)?;
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
        let at = self.passes.assess(&self.frame, &self.frame.raw(&v), self.mu)?;
        *here = Here { v, at };
        Ok(())
    }
}

/// The model as seen by the lower bound.
///
/// The tangents at v + Bz prove of the model no less than a constant
/// − ½zᵀAz − zᵀAs − U‖g + Hz‖, B the basis, A = BᵀHB, and v = Bs. Where that is largest is not where
/// the model is least: the former is asked for a short gradient, the latter for a small value, which comes
/// first by far where curvature is small. (Likewise the residuals of conjugate gradients are longer than
/// those of the minimal residual method in the same space.)
struct Dual<'a> {
    g: &'a [f64],
    images: &'a [Vec<f64>],
    squares: &'a [f64],
    pulls: &'a [f64],
    small: &'a [Vec<f64>],
    size: f64,
}

/// Rounds of the bound's problem; a few suffice.
const ROUNDS: usize = 4;

impl Dual<'_> {
    /// The z of the largest bound, nearly, and the gradient of the model there. As U‖θ‖ is the least
    /// of ½‖θ‖²/λ + ½λU² over λ, at λ = ‖θ‖/U, z and λ are found in turn: (λA + BᵀH²B)z = −(λAs + BᵀHg).
    fn solve(&self, radius: f64, length: f64, damping: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut lambda = length / radius;
        let mut found = None;
        for _ in 0..ROUNDS {
            if !(lambda > 0.0 && lambda.is_finite()) {
                break;
            }
            let mut triangle = self.squares.to_vec();
            let mut start = 0;
            for (at, line) in self.small.iter().enumerate() {
                triangle[start..=start + at].iter_mut().zip(line).for_each(|(sum, entry)| *sum += lambda * entry);
                triangle[start + at] -= lambda * damping;
                start += at + 1;
            }
            let pull = |(at, pull): (usize, &f64)| -pull - lambda * self.size * self.small[0][at];
            let mut z: Vec<f64> = self.pulls.iter().enumerate().map(pull).collect();
            cholesky::solve(&cholesky::factor(&triangle, z.len(), 0.0), &mut z);
            let mut gradient = self.g.to_vec();
            self.images.iter().zip(&z).for_each(|(image, &z)| add_scaled(&mut gradient, z, image));
            lambda = norm(&gradient) / radius;
            if !lambda.is_finite() {
                break;
            }
            found = Some((z, gradient));
        }
        found
    }
}

/// The gap of the smooth problem: ⟨∇, v⟩ + reach·‖∇‖.
fn slack(here: &Here, reach: f64) -> f64 {
    let size = norm(&here.at.gradient);
    dot(&here.at.gradient, &here.v) + if size > 0.0 { reach * size } else { 0.0 }
}
