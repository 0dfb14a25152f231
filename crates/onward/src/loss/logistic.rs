//! The logistic loss, for signs and for probabilities.

// Loops over arrays of one length say what vectors are made of, and compile to them.
#![allow(clippy::needless_range_loop)]

use super::conjugate::x_log_x;
use super::flow::{SMALL, reach};
use super::{Curvature, Evaluation, Gradient, InverseLink, Loss, LossKind, ScaledConjugate, Task, expect_label};
use crate::Error;
use crate::numeric::exp_log;
use crate::simd::{smaller, vectorised};

/// σ(x) = 1/(1 + e^(−x)), accurate to the last digits on both sides.
pub(crate) fn sigmoid(x: f64) -> f64 {
    sigmoids(x).0
}

/// σ(x) and σ(−x) = 1 − σ(x), neither by cancellation.
fn sigmoids(x: f64) -> (f64, f64) {
    sigmoids_from(x, exp_log::exp(-x.abs()))
}

/// The same, e^(−|x|) being known.
fn sigmoids_from(x: f64, e: f64) -> (f64, f64) {
    let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
    if x >= 0.0 { (large, small) } else { (small, large) }
}

/// ln(1 + e^x), finite for every finite x.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + exp_log::log1p(exp_log::exp(-x.abs()))
}

/// The logistic loss: ℓ(p, y) = ln(1 + e^(−yp)) for labels −1 and 1.
///
/// A label in [0, 1] is the probability π of the positive class, and the loss
/// the cross-entropy ℓ = π·ln(1 + e^(−p)) + (1 − π)·ln(1 + e^p); 1 is π = 1,
/// and −1 stands for π = 0. With σ(p) = 1/(1 + e^(−p)), g = σ(p) − π and
/// ℓ'' = σ(1 − σ) ≤ ¼. The best constant is the logit of the mean probability,
/// held within ±50.
///
/// # Gradient flow
/// dp/ds = q(π − σ(p)). Mirrored so that the score rises, by δ in a time H = τq,
/// it satisfies, with d = logit(π) − p the distance to the minimum,
///
/// δ − ln(1 − (e^δ − 1)/(e^d − 1))/(1 − π) = πH, and
/// δ + e^p(e^δ − 1) = H for π = 1.
///
/// Both left sides are increasing and convex in δ and sums of positive terms,
/// so nothing cancels, and few of Newton's or Halley's steps solve them. (The
/// closed form with Lambert's W cancels for large yp.) Karampatziakis and
/// Langford 2011 for π = 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logistic;

/// Bounds the best constant: σ(±50) differs from 0 or 1 by 2e-22.
const LARGEST_CONSTANT: f64 = 50.0;

/// e^(−40) is below the rounding of 1: what it is added to stays as it is.
const NEGLIGIBLE: f64 = 40.0;

/// A label this close to certain is certain: flow would come near its minimum,
/// at a score of ±668, after a time of 10²⁹⁰ only.
const CERTAIN: f64 = 1e-290;

/// Halley's steps for a sign; on a wide grid 4 were the most, 1 or 2 the rule.
const MOST_STEPS: usize = 6;

/// Newton's steps for a probability; on a wide grid 22 were the most, 2 the rule.
const MOST_STEPS_TO_MINIMUM: usize = 64;

impl Loss for Logistic {
    fn name(&self) -> String {
        "logistic".into()
    }

    fn task(&self) -> Task {
        Task::Binary
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        cross_entropy(p, probability(y), exp_log::exp(-p.abs()))
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        gradient(probability(y), sigmoids(p))
    }

    fn evaluate(&self, p: f64, y: f64) -> Evaluation {
        let (target, e) = (probability(y), exp_log::exp(-p.abs()));
        let shared = exp_log::log1p(e);
        let value = cross_entropy_from(p, target, shared);
        Evaluation { value, derivative: gradient(target, sigmoids_from(p, e)), logistic: Some((e, shared)) }
    }

    fn evaluate_all(&self, scores: &[f64], labels: &[f64], evaluations: &mut Vec<Evaluation>) {
        evaluations.clear();
        let (eights, rest) = scores.as_chunks::<FLOWS>();
        for (scores, labels) in eights.iter().zip(labels.as_chunks::<FLOWS>().0) {
            evaluations.extend(charge_eight(scores, labels));
        }
        let last = scores.len() - rest.len();
        evaluations.extend(rest.iter().zip(&labels[last..]).map(|(&p, &y)| self.evaluate(p, y)));
    }

    fn second_derivative(&self, p: f64, _: f64) -> f64 {
        let (up, down) = sigmoids(p);
        up * down
    }

    fn curvature(&self) -> Curvature {
        Curvature::Smooth(0.25)
    }

    fn kind(&self) -> LossKind {
        LossKind::Logistic
    }

    fn lipschitz(&self, range: f64) -> f64 {
        sigmoid(range)
    }

    /// For a sign: h ln h + (1 − h) ln(1 − h) with h = c|α|, where ln|α| = −(ℓ + yp). For a probability, which has a least
    /// loss of its own, the chord.
    fn conjugate(&self, p: f64, y: f64, evaluation: Evaluation) -> Option<ScaledConjugate> {
        let target = probability(y);
        if target != 0.0 && target != 1.0 {
            let least = -x_log_x(target) - x_log_x(1.0 - target);
            return Some(ScaledConjugate::chord(p, evaluation, least));
        }
        let margin = if target == 1.0 { p } else { -p };
        let entropy = evaluation.derivative.abs().min(1.0);
        let linear = -entropy * (evaluation.value + margin);
        Some(ScaledConjugate { least: 0.0, linear, square: 0.0, entropy })
    }

    fn is_curvature_unimodal(&self) -> bool {
        true
    }

    fn inverse_link(&self) -> InverseLink {
        InverseLink::Logistic
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        flow_from(p, exp_log::exp(-p.abs()), y, time, q)
    }

    fn gradient(&self, p: f64, y: f64) -> Gradient {
        let e = exp_log::exp(-p.abs());
        Gradient { derivative: gradient(probability(y), sigmoids_from(p, e)), exponential: e }
    }

    fn importance_step_from(&self, gradient: Gradient, p: f64, y: f64, time: f64, q: f64) -> f64 {
        flow_from(p, gradient.exponential, y, time, q)
    }

    fn best_constant(&self, mean_label: f64) -> Option<f64> {
        let logit = libm::log(mean_label) - libm::log1p(-mean_label);
        Some(logit.clamp(-LARGEST_CONSTANT, LARGEST_CONSTANT))
    }

    fn label_for_mean(&self, y: f64) -> f64 {
        probability(y)
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        let is_allowed = y == -1.0 || (0.0..=1.0).contains(&y);
        expect_label(self, is_allowed, y, "-1, 1 or a probability in [0, 1]")
    }
}

/// The probability that a label stands for: −1 is 0.
fn probability(y: f64) -> f64 {
    y.clamp(0.0, 1.0)
}

/// What is known of N scores p at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SigmoidsOf<const N: usize> {
    /// e^(−|p|).
    pub(crate) exponentials: [f64; N],
    /// σ(p) and σ(−p).
    pub(crate) up: [f64; N],
    pub(crate) down: [f64; N],
}

impl<const N: usize> SigmoidsOf<N> {
    /// Of these scores.
    #[inline(always)]
    pub(crate) fn of(scores: &[f64; N]) -> Self {
        let mut known = Self { exponentials: [0.0; N], up: [0.0; N], down: [0.0; N] };
        for at in 0..N {
            let e = exp_log::exp(-scores[at].abs());
            let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
            known.exponentials[at] = e;
            known.up[at] = if scores[at] >= 0.0 { large } else { small };
            known.down[at] = if scores[at] >= 0.0 { small } else { large };
        }
        known
    }

    /// Losses and derivatives.
    #[inline(always)]
    pub(crate) fn losses(&self, scores: &[f64; N], label: f64) -> ([f64; N], [f64; N]) {
        let target = probability(label);
        let (mut losses, mut derivatives) = ([0.0; N], [0.0; N]);
        for at in 0..N {
            let (p, shared) = (scores[at], exp_log::log1p(self.exponentials[at]));
            let (below, above) = (if p < 0.0 { -p } else { 0.0 }, if p > 0.0 { p } else { 0.0 });
            losses[at] = target * (below + shared) + (1.0 - target) * (above + shared);
            derivatives[at] = gradient(target, (self.up[at], self.down[at]));
        }
        (losses, derivatives)
    }

    /// π − σ and σ(1 − σ): residuals and curvatures.
    #[inline(always)]
    pub(crate) fn slopes(&self, label: f64) -> ([f64; N], [f64; N]) {
        let target = probability(label);
        let (mut residuals, mut curvatures) = ([0.0; N], [0.0; N]);
        for at in 0..N {
            residuals[at] = -gradient(target, (self.up[at], self.down[at]));
            curvatures[at] = self.up[at] * self.down[at];
        }
        (residuals, curvatures)
    }
}

vectorised! {
    /// What predictions are charged, side by side.
    fn charge_eight(scores: &[f64; FLOWS], labels: &[f64; FLOWS]) -> [Evaluation; FLOWS] {
        let known = SigmoidsOf::of(scores);
        let (mut shared, mut values, mut derivatives) = ([0.0; FLOWS], [0.0; FLOWS], [0.0; FLOWS]);
        for at in 0..FLOWS {
            let target = probability(labels[at]);
            shared[at] = exp_log::log1p(known.exponentials[at]);
            values[at] = cross_entropy_from(scores[at], target, shared[at]);
            derivatives[at] = gradient(target, (known.up[at], known.down[at]));
        }
        let mut evaluations = [Evaluation::default(); FLOWS];
        for at in 0..FLOWS {
            let logistic = Some((known.exponentials[at], shared[at]));
            evaluations[at] = Evaluation { value: values[at], derivative: derivatives[at], logistic };
        }
        evaluations
    }
}

/// How many scores flow side by side.
pub(crate) const FLOWS: usize = 8;

/// The flows of several scores towards one label, each for its time at its q; 0 where q is.
pub(crate) fn flows(
    scores: &[f64; FLOWS],
    exponentials: &[f64; FLOWS],
    y: f64,
    times: &[f64; FLOWS],
    q: &[f64; FLOWS],
) -> [f64; FLOWS] {
    let is_sign = y == 0.0 || y.abs() == 1.0;
    let (mut ways, is_plain) = match is_sign {
        true => rises(scores, exponentials, if y == 1.0 { 1.0 } else { -1.0 }, times, q),
        false => ([0.0; FLOWS], [false; FLOWS]),
    };
    for at in 0..FLOWS {
        if !is_plain[at] {
            ways[at] = if q[at] > 0.0 { Logistic.importance_step(scores[at], y, times[at], q[at]) } else { 0.0 };
        }
    }
    ways
}

vectorised! {
    /// The flows of several scores towards a sign, as [`rise_for_ever`] has them but from fewer terms of the series and to
    /// fewer digits, and for which of them that is the one to take: those that are neither far from 0 nor hardly move.
    fn rises(scores: &[f64; FLOWS], exponentials: &[f64; FLOWS], sign: f64, times: &[f64; FLOWS], q: &[f64; FLOWS]) -> ([f64; FLOWS], [bool; FLOWS]) {
        let (mut e, mut h, mut delta, mut longest) = ([0.0; FLOWS], [0.0; FLOWS], [0.0; FLOWS], 0.0);
        let mut is_plain = [false; FLOWS];
        for at in 0..FLOWS {
            let p = sign * scores[at];
            h[at] = smaller(times[at] * q[at], 1e280);
            is_plain[at] = (h[at] > 1e-200) & (p.abs() < NEGLIGIBLE);
            e[at] = if p > 0.0 { 1.0 / exponentials[at] } else { exponentials[at] };
            let (tangent, share) = (h[at] / (1.0 + e[at]), e[at] / (1.0 + e[at]));
            delta[at] = tangent - share * tangent * tangent * (0.5 - tangent * (share / 2.0 - 1.0 / 6.0));
            longest = if is_plain[at] & (tangent > longest) { tangent } else { longest };
        }
        if longest >= 1.0 {
            for at in 0..FLOWS {
                let tangent = h[at] / (1.0 + e[at]);
                let bound = smaller(tangent, exp_log::log1p(h[at] / e[at]));
                delta[at] = if tangent < 1.0 { delta[at] } else { bound };
            }
        }
        for _ in 0..MOST_STEPS {
            let mut is_done = true;
            for at in 0..FLOWS {
                let grown = e[at] * exp_log::expm1(delta[at]);
                let (value, first, second) = (delta[at] + grown - h[at], 1.0 + e[at] + grown, e[at] + grown);
                let newton = value / first;
                let step = newton / (1.0 - newton * (second / first) / 2.0);
                delta[at] -= step;
                // Errors are cubed from step to step: to 10⁻¹² of the way.
                is_done &= (step.abs() <= 1e-4 * delta[at]) | !is_plain[at];
            }
            if is_done {
                break;
            }
        }
        let mut ways = [0.0; FLOWS];
        for at in 0..FLOWS {
            ways[at] = sign * delta[at] / q[at];
        }
        (ways, is_plain)
    }
}

/// The flow, e^(−|p|) being known.
fn flow_from(p: f64, e: f64, y: f64, time: f64, q: f64) -> f64 {
    let target = probability(y);
    let h = reach(time, q);
    if h < SMALL {
        time * mean_speed(sigmoids_from(p, e), target, h)
    } else if target == 1.0 || (target > 0.0 && target >= sigmoids_from(p, e).0) {
        rise((p, e), target, 1.0 - target, h) / q
    } else {
        -rise((-p, e), 1.0 - target, target, h) / q
    }
}

/// π·ln(1 + e^(−p)) + (1 − π)·ln(1 + e^p), e^(−|p|) being known.
fn cross_entropy(p: f64, target: f64, e: f64) -> f64 {
    cross_entropy_from(p, target, exp_log::log1p(e))
}

/// The same, ln(1 + e^(−|p|)) being known.
fn cross_entropy_from(p: f64, target: f64, shared: f64) -> f64 {
    target * ((-p).max(0.0) + shared) + (1.0 - target) * (p.max(0.0) + shared)
}

/// σ(p) − π, from σ(p) and σ(−p).
fn gradient(target: f64, (up, down): (f64, f64)) -> f64 {
    (1.0 - target) * up - target * down
}

/// The mean of π − σ over a short time h, from σ(p) and σ(−p): Taylor's series of the flow to h².
fn mean_speed((up, down): (f64, f64), target: f64, h: f64) -> f64 {
    let speed = target * down - (1.0 - target) * up;
    let second = up * down;
    let third = second * (down - up);
    speed * (1.0 - h / 2.0 * second + h * h / 6.0 * (second * second - speed * third))
}

/// How far the score rises from p in time h towards a label of probability
/// `target` = 1 − `complement`, given that it rises; with e^(−|p|).
fn rise((p, e): (f64, f64), target: f64, complement: f64, h: f64) -> f64 {
    let certain = complement < CERTAIN;
    // Far below its minimum the score moves at constant speed, to rounding.
    let bend = if certain { 0.0 } else { libm::log(target) } - NEGLIGIBLE;
    let straight = (bend - p).max(0.0);
    let budget = target * h - straight;
    if budget <= 0.0 {
        target * h
    } else if certain {
        let from = if p < bend { (bend, exp_log::exp(bend)) } else { (p, e) };
        straight + rise_for_ever(from, budget)
    } else {
        let minimum = libm::log(target) - libm::log(complement);
        straight + rise_to_minimum(minimum - p.max(bend), complement, budget)
    }
}

/// Solves δ + e^p(e^δ − 1) = h by Halley's method: one or two steps as a rule, from
/// Taylor's series for a short way and from an upper bound for a long one. `small` is e^(−|p|).
fn rise_for_ever((p, small): (f64, f64), h: f64) -> f64 {
    if p > NEGLIGIBLE {
        return exp_log::log1p(h * small);
    }
    let e = if p > 0.0 { 1.0 / small } else { small };
    let (tangent, share) = (h / (1.0 + e), e / (1.0 + e));
    let mut delta = if tangent < 1.0 { series(tangent, share) } else { tangent.min(libm::log1p(h / e)) };
    for _ in 0..MOST_STEPS {
        let grown = e * exp_log::expm1(delta);
        let (value, first, second) = (delta + grown - h, 1.0 + e + grown, e + grown);
        let newton = value / first;
        let step = newton / (1.0 - newton * (second / first) / 2.0);
        delta -= step;
        // Errors are cubed from step to step.
        if step.abs() <= 1e-6 * delta {
            break;
        }
    }
    delta
}

/// The δ of δ + s(e^δ − 1 − δ) = t to t⁵, by reversion of Taylor's series.
fn series(t: f64, s: f64) -> f64 {
    let third = s / 2.0 - 1.0 / 6.0;
    let fourth = s * (5.0 / 12.0 - s * (5.0 / 8.0)) - 1.0 / 24.0;
    let fifth = s * (5.0 / 24.0 - s * (7.0 / 8.0) * (1.0 - s)) - 1.0 / 120.0;
    t - s * t * t * (0.5 - t * third - (t * t) * (fourth + t * fifth))
}

/// Solves δ − ln(1 − (e^δ − 1)/(e^d − 1))/c = h for δ in [0, d), where c is the
/// complement of the target probability, by Newton's method from above.
fn rise_to_minimum(d: f64, c: f64, h: f64) -> f64 {
    let surplus = h - d;
    // From here on what is left of d is below d·e^(−40).
    if d <= 0.0 || c * surplus > NEGLIGIBLE {
        return d.max(0.0);
    }
    let width = libm::expm1(d);
    // The δ whose logarithm is −drop: δ ≤ d bounds it from below, and that δ from above.
    let inverse = |drop: f64| libm::log1p(width * -libm::expm1(-drop));
    let least = inverse(c * surplus.max(0.0));
    let tangent = h / (1.0 + 1.0 / (c * width));
    let mut delta = tangent.min(inverse(c * (h - least)));
    for _ in 0..MOST_STEPS_TO_MINIMUM {
        let share = libm::exp(delta - d) * libm::expm1(-delta) / libm::expm1(-d);
        let slope = 1.0 + 1.0 / (c * libm::expm1(d - delta));
        let step = (delta - libm::log1p(-share) / c - h) / slope;
        // The function is convex: only rounding can lead up again.
        if step > 1e-15 * delta {
            delta -= step;
        } else {
            break;
        }
    }
    delta
}

#[cfg(test)]
mod tests;
