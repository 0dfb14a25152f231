//! The softmax (multiclass logistic) loss of a vector of scores.
//!
//! ℓ(p, y) = −ln s_y for the probabilities s_k = e^(p_k)/Σ_j e^(p_j) of K
//! classes and the label y, one of 0..K. ∇ℓ = s − e_y with e_y the indicator of
//! the label, and ∇²ℓ = diag(s) − ssᵀ, whose eigenvalues lie in [0, ½]. The
//! gradient's components sum to 0, so no step changes the sum of the scores.

use std::sync::Arc;

use super::flow::reach;
use super::logistic::softplus;
use super::{ClassLoss, LossDescriptor, SharedClassLoss};

/// As it is registered.
pub(super) const SOFTMAX: LossDescriptor<SharedClassLoss> = LossDescriptor::of_classes(
    "softmax",
    "-ln of the probability of the class, for learners with a score per class",
    |_| Ok(Arc::new(Softmax)),
);

/// The softmax loss, as losses of several scores are.
///
/// ```
/// use onward::loss::{ClassLoss, Softmax};
/// let mut gradient = [0.0; 3];
/// Softmax.gradient(&[0.0; 3], 1, &mut gradient);
/// assert!((Softmax.value(&[0.0; 3], 1) - 3f64.ln()).abs() < 1e-15 && gradient[0] == 1.0 / 3.0);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Softmax;

impl ClassLoss for Softmax {
    fn name(&self) -> String {
        "softmax".to_owned()
    }

    /// −ln s_label ≥ 0, without cancellation: a score that leads by 40 still pays
    /// its e^(−40).
    fn value(&self, scores: &[f64], class: usize) -> f64 {
        let top = position_of_largest(scores);
        let others = scores.iter().enumerate().filter(|&(class, _)| class != top);
        let rest: f64 = others.map(|(_, score)| libm::exp(score - scores[top])).sum();
        (scores[top] - scores[class]) + libm::log1p(rest)
    }

    /// The gradient s − e_label, its entry at the label as minus the sum of the
    /// others, which does not cancel.
    fn gradient(&self, scores: &[f64], class: usize, gradient: &mut [f64]) {
        self.probabilities(scores, gradient);
        gradient[class] = 0.0;
        let others: f64 = gradient.iter().sum();
        gradient[class] = -others;
    }

    /// The importance-aware step: u = (p(time) − p)/q where the scores follow
    /// gradient flow, dp/ds = −q(softmax(p) − e_label), and −time·∇ℓ in the limit
    /// q → 0. The scores p + u·q are accurate to [`FLOW_TOLERANCE`].
    ///
    /// # Method
    /// With b_k = e^(p_k), every class k but the label obeys
    /// d(1/b_k)/ds = q/Σ_j b_j, the same for all of them. So one variable θ, which
    /// grows with that speed, tells all scores:
    ///
    /// p_k(θ) = p_k − ln(1 + θb_k), and p_y(θ) = p_y + Σ_k ln(1 + θb_k),
    ///
    /// since the sum of the scores is conserved. The time that θ takes is
    /// ∫ Σ_j b_j(θ) dθ: with c_k = θb_k, f_k = c_k/(1 + c_k) and
    /// S = Σ_k ln(1 + c_k),
    ///
    /// time·q = b_y·θ·e^S·J + S, J = ∫₀¹ Π_k(1 − f_k w) dw,
    ///
    /// a sum of positive, increasing terms, of which Newton's method, within a
    /// bracket, finds ln θ. J is the integral of a polynomial of degree K − 1 by 24
    /// Gauss–Legendre nodes, exact up to 48 classes and to rounding beyond. The cost
    /// is 3 to 6 evaluations, as a rule, of 24 K multiplications and K exponentials
    /// and logarithms.
    fn importance_step(&self, scores: &[f64], label: usize, time: f64, q: f64, u: &mut [f64]) {
        let h = reach(time, q);
        if h < f64::EPSILON {
            self.gradient(scores, label, u);
            u.iter_mut().for_each(|entry| *entry *= -time);
            return;
        }
        assert_eq!(scores.len(), u.len(), "a step a score");
        let Some(equation) = Equation::new(scores, label) else {
            u.fill(0.0);
            return;
        };
        let log_theta = equation.solve(h, u);
        for (entry, score) in u.iter_mut().zip(scores) {
            *entry = -softplus(log_theta + (score - equation.largest)) / q;
        }
        u[label] = 0.0;
        let given: f64 = u.iter().sum();
        u[label] = -given;
    }

    /// The probabilities s of the classes.
    fn probabilities(&self, scores: &[f64], probabilities: &mut [f64]) {
        assert_eq!(scores.len(), probabilities.len(), "a probability a score");
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (probability, score) in probabilities.iter_mut().zip(scores) {
            *probability = libm::exp(score - largest);
        }
        let total: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|probability| *probability /= total);
    }

    fn is_log_loss(&self) -> bool {
        true
    }
}

/// How closely `importance_step` solves its equation: the scores that it leads to are
/// off by at most this much, relative to 1 + max |p_k|.
pub const FLOW_TOLERANCE: f64 = 1e-11;

/// The product ∇²ℓ·v = s∘(v − ⟨s, v⟩) of the Hessian, which is the same for
/// every label, with a direction.
///
/// # Panics
/// If the three slices are not equally long.
pub fn hessian_product(scores: &[f64], direction: &[f64], product: &mut [f64]) {
    assert_eq!(scores.len(), direction.len(), "a direction in the space of the scores");
    Softmax.probabilities(scores, product);
    let mean: f64 = product.iter().zip(direction).map(|(s, v)| s * v).sum();
    for (entry, v) in product.iter_mut().zip(direction) {
        *entry *= v - mean;
    }
}

/// The equation for ln θ, in units in which the largest b_k of the classes
/// other than the label is 1.
struct Equation<'a> {
    scores: &'a [f64],
    label: usize,
    /// The largest score of the other classes.
    largest: f64,
    /// How far the label's score is ahead of that one.
    lead: f64,
}

impl<'a> Equation<'a> {
    /// None if there is no other class.
    fn new(scores: &'a [f64], label: usize) -> Option<Self> {
        let others = scores.iter().enumerate().filter(|&(class, _)| class != label);
        let largest = others.map(|(_, &score)| score).reduce(f64::max)?;
        let lead = (scores[label] - largest).clamp(-f64::MAX, f64::MAX);
        Some(Self { scores, label, largest, lead })
    }

    /// The ln θ at which the time is h. `shares` is room to work in.
    fn solve(&self, h: f64, shares: &mut [f64]) -> f64 {
        let log_h = libm::log(h);
        let (mut low, mut high) = self.bracket(h, log_h);
        let mut at = high;
        for _ in 0..200 {
            let (log_time, log_slope) = self.log_time(at, shares);
            let excess = log_time - log_h;
            *(if excess > 0.0 { &mut high } else { &mut low }) = at;
            // Newton's step for the logarithm of the time.
            let newton = at - excess * libm::exp(log_time - log_slope);
            let next = if (low..=high).contains(&newton) { newton } else { low + (high - low) / 2.0 };
            let step = (next - at).abs();
            at = next;
            // Errors square from step to step.
            if step <= 1e-7f64.max(1e-11 * at.abs()) {
                break;
            }
        }
        at
    }

    /// Two values of ln θ, the first with a time of at most h, the second with
    /// one of at least h.
    fn bracket(&self, h: f64, log_h: f64) -> (f64, f64) {
        let classes = libm::log(self.scores.len() as f64);
        // For θ ≤ 1/K: S ≤ 1, so the time is at most θ(b_y e + K).
        let low = (log_h - log_sum_exp(self.lead + 1.0, classes)).min(-classes);
        // The time is at least ln(1 + θ), and at least b_y θ.
        let from_largest = h + libm::log(-libm::expm1(-h));
        let from_lead = log_h - self.lead;
        (low, from_largest.min(from_lead))
    }

    /// The logarithms of the time at ln θ and of its derivative by ln θ.
    fn log_time(&self, log_theta: f64, shares: &mut [f64]) -> (f64, f64) {
        let mut raised = 0.0;
        shares[self.label] = 0.0;
        for class in (0..shares.len()).filter(|&class| class != self.label) {
            let x = log_theta + (self.scores[class] - self.largest);
            let e = libm::exp(-x.abs());
            shares[class] = if x >= 0.0 { 1.0 } else { e } / (1.0 + e);
            raised += x.max(0.0) + libm::log1p(e);
        }
        let total: f64 = shares.iter().sum();
        let own = self.lead + log_theta + raised;
        let own_time = own + libm::log(integrate_product(shares, total));
        (log_sum_exp(own_time, libm::log(raised)), log_sum_exp(own, libm::log(total)))
    }
}

/// ∫₀¹ Π_k(1 − f_k w) dw for shares f_k in [0, 1] with the sum `total`.
///
/// The product is at most e^(−total·w), so that nothing is lost by ending at
/// w = 37/total, and there 24 nodes integrate it to 1e-15.
fn integrate_product(shares: &[f64], total: f64) -> f64 {
    let end = (37.0 / total).min(1.0);
    let points = NODES.map(|(node, _)| end * node);
    let mut products = NODES.map(|(_, weight)| weight);
    // The classes outside: side by side, the nodes' products fill vector registers.
    for share in shares {
        for (product, point) in products.iter_mut().zip(points) {
            *product *= 1.0 - share * point;
        }
    }
    end * products.iter().sum::<f64>()
}

/// The nodes of Gauss–Legendre quadrature on [0, 1], each with its weight.
const NODES: [(f64, f64); 24] = [
    (0.00240639000148932, 0.0061706148999936),
    (0.012635722014345251, 0.014265694314466832),
    (0.030862723998633622, 0.022138719408709904),
    (0.056792236497799485, 0.02964929245771839),
    (0.08999900701304854, 0.03667324070554015),
    (0.12993790421072282, 0.04309508076597664),
    (0.17595317403151223, 0.04880932605205694),
    (0.22728926430558022, 0.05372213505798282),
    (0.2831032461869774, 0.0577528340268628),
    (0.3424786601519183, 0.060835236463901696),
    (0.40444056626319186, 0.06291872817341415),
    (0.4679715535686972, 0.06396909767337608),
    (0.5320284464313028, 0.06396909767337608),
    (0.5955594337368082, 0.06291872817341415),
    (0.6575213398480817, 0.060835236463901696),
    (0.7168967538130225, 0.0577528340268628),
    (0.7727107356944197, 0.05372213505798282),
    (0.8240468259684878, 0.04880932605205694),
    (0.8700620957892772, 0.04309508076597664),
    (0.9100009929869515, 0.03667324070554015),
    (0.9432077635022005, 0.02964929245771839),
    (0.9691372760013663, 0.022138719408709904),
    (0.9873642779856547, 0.014265694314466832),
    (0.9975936099985107, 0.0061706148999936),
];

/// The first index of the largest score.
pub(super) fn position_of_largest(scores: &[f64]) -> usize {
    (1..scores.len()).fold(0, |top, class| if scores[class] > scores[top] { class } else { top })
}

/// ln(e^a + e^b).
pub(super) fn log_sum_exp(a: f64, b: f64) -> f64 {
    a.max(b) + libm::log1p(libm::exp(a.min(b) - a.max(b)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loss::{Logistic, Loss};

    /// Scores and a label among them.
    fn scores(classes: std::ops::Range<usize>, largest: f64) -> impl Strategy<Value = (Vec<f64>, usize)> {
        prop::collection::vec(-largest..largest, classes)
            .prop_flat_map(|scores| (Just(scores.clone()), 0..scores.len()))
    }

    /// The scores after flowing.
    fn flowed(scores: &[f64], label: usize, time: f64, q: f64) -> Vec<f64> {
        let mut u = vec![f64::NAN; scores.len()];
        Softmax.importance_step(scores, label, time, q, &mut u);
        scores.iter().zip(&u).map(|(score, u)| score + q * u).collect()
    }

    fn gradient_of(scores: &[f64], label: usize) -> Vec<f64> {
        let mut found = vec![f64::NAN; scores.len()];
        Softmax.gradient(scores, label, &mut found);
        found
    }

    fn plus(scores: &[f64], by: f64, direction: &[f64]) -> Vec<f64> {
        scores.iter().zip(direction).map(|(score, d)| score + by * d).collect()
    }

    /// The flow for q = 1 by the classical Runge–Kutta method.
    fn runge_kutta(scores: &[f64], label: usize, time: f64, steps: u32) -> Vec<f64> {
        let step = time / f64::from(steps);
        (0..steps).fold(scores.to_vec(), |p, _| {
            let a = gradient_of(&p, label);
            let b = gradient_of(&plus(&p, -step / 2.0, &a), label);
            let c = gradient_of(&plus(&p, -step / 2.0, &b), label);
            let d = gradient_of(&plus(&p, -step, &c), label);
            let p = plus(&plus(&p, -step / 6.0, &a), -step / 3.0, &b);
            plus(&plus(&p, -step / 3.0, &c), -step / 6.0, &d)
        })
    }

    fn largest(scores: &[f64]) -> f64 {
        scores.iter().fold(0.0, |most, score| most.max(score.abs()))
    }

    fn assert_close(found: &[f64], expected: &[f64], allowed: f64) {
        let off = largest(&plus(found, -1.0, expected));
        assert!(off <= allowed, "{found:?} should be {expected:?}, off by {off:e}");
    }

    proptest! {
        #[test]
        fn the_gradient_is_the_slope_of_the_value((p, label) in scores(2..9, 6.0)) {
            let found = gradient_of(&p, label);
            for class in 0..p.len() {
                let (mut left, mut right) = (p.clone(), p.clone());
                left[class] -= 1e-5;
                right[class] += 1e-5;
                let slope = (Softmax.value(&right, label) - Softmax.value(&left, label)) / 2e-5;
                prop_assert!((found[class] - slope).abs() < 1e-9);
            }
        }

        #[test]
        fn the_hessian_is_the_slope_of_the_gradient(
            (p, label) in scores(2..9, 6.0),
            direction in prop::collection::vec(-1.0..1.0f64, 9),
        ) {
            let direction = &direction[..p.len()];
            let mut found = vec![0.0; p.len()];
            hessian_product(&p, direction, &mut found);
            let right = gradient_of(&plus(&p, 1e-5, direction), label);
            let left = gradient_of(&plus(&p, -1e-5, direction), label);
            let slopes: Vec<f64> = plus(&right, -1.0, &left).iter().map(|d| d / 2e-5).collect();
            assert_close(&found, &slopes, 1e-9);
            let curvature: f64 = found.iter().zip(direction).map(|(a, b)| a * b).sum();
            let square: f64 = direction.iter().map(|d| d * d).sum();
            prop_assert!((-1e-15..=0.5 * square).contains(&curvature));
        }

        #[test]
        fn two_flows_are_one_flow_of_their_joint_time(
            (p, label) in scores(2..80, 30.0),
            log_first in -8.0..9.0f64,
            log_second in -8.0..9.0f64,
            log_q in -8.0..3.0f64,
        ) {
            let (first, second) = (10f64.powf(log_first), 10f64.powf(log_second));
            let q = 10f64.powf(log_q);
            let twice = flowed(&flowed(&p, label, first, q), label, second, q);
            let once = flowed(&p, label, first + second, q);
            assert_close(&twice, &once, FLOW_TOLERANCE * (1.0 + largest(&once)));
        }

        #[test]
        fn flow_moves_the_label_up_and_all_others_down_and_keeps_their_sum(
            (p, label) in scores(2..80, 1e3),
            log_time in -12.0..12.0f64,
        ) {
            let after = flowed(&p, label, 10f64.powf(log_time), 1.0);
            for class in 0..p.len() {
                let moved = after[class] - p[class];
                let forward = if class == label { moved } else { -moved };
                prop_assert!(forward >= 0.0, "class {class} by {moved}");
            }
            let (before, now) = (p.iter().sum::<f64>(), after.iter().sum::<f64>());
            let scale: f64 = after.iter().map(|score| score.abs()).sum();
            prop_assert!((before - now).abs() <= 1e-14 * scale);
            prop_assert!(Softmax.value(&after, label) <= Softmax.value(&p, label));
        }

        #[test]
        fn a_short_flow_is_a_gradient_step((p, label) in scores(2..30, 40.0), time in 0.0..9.0f64) {
            let step = plus(&vec![0.0; p.len()], -time, &gradient_of(&p, label));
            let mut u = vec![f64::NAN; p.len()];
            for q in [0.0, 1e-300, 1e-18, 1e-15, 1e-12] {
                Softmax.importance_step(&p, label, time, q, &mut u);
                for (u, step) in u.iter().zip(&step) {
                    // The curvature's share is time·q; ln θ ≈ 80 rounds at 1.4e-14.
                    prop_assert!((u - step).abs() <= (time * q + 1e-13) * step.abs(), "{u} {step}");
                }
            }
        }

        #[test]
        fn everything_is_finite_for_finite_input(
            (logs, label) in scores(2..9, 77.0),
            log_time in -300.0..300.0f64,
            log_q in -77.0..77.0f64,
        ) {
            let signed = |log: &f64| 10f64.powf(log.abs()).copysign(*log);
            let p: Vec<f64> = logs.iter().map(signed).collect();
            let (time, q) = (10f64.powf(log_time), 10f64.powf(log_q));
            let mut u = vec![f64::NAN; p.len()];
            Softmax.importance_step(&p, label, time, q, &mut u);
            prop_assert!(u.iter().all(|u| u.abs() <= time * (1.0 + 1e-13)), "{u:?}");
            let after = plus(&p, q, &u);
            prop_assert!(Softmax.value(&p, label).is_finite());
            prop_assert!(Softmax.value(&after, label) <= Softmax.value(&p, label));
        }
    }

    #[test]
    fn the_loss_of_a_sure_prediction_does_not_cancel() {
        assert_eq!(Softmax.value(&[50.0, 0.0, -900.0], 0), libm::exp(-50.0));
        assert_eq!(gradient_of(&[50.0, 0.0, -900.0], 0)[0], -libm::exp(-50.0));
        assert_eq!(Softmax.value(&[0.0, 1e300], 0), 1e300);
        assert!((Softmax.value(&[1.0; 7], 3) - 7f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn flow_solves_its_differential_equation() {
        let spread = |classes: u32| {
            let score = |class: u32| 4.0 * f64::from((class * 37) % classes) / f64::from(classes);
            (0..classes).map(score).collect::<Vec<f64>>()
        };
        for scores in [vec![0.0; 3], vec![-5.0, 3.0, 2.9, 0.0], spread(60), spread(300)] {
            for (time, steps) in [(1e-3, 10), (1.0, 1000), (30.0, 6000)] {
                // Steps of 5e-3 and derivatives below 1: the error is below 1e-11.
                let expected = runge_kutta(&scores, 0, time, steps);
                assert_close(&flowed(&scores, 0, time, 1.0), &expected, FLOW_TOLERANCE);
            }
        }
    }

    #[test]
    fn the_step_of_a_short_flow_is_curved_too() {
        let scores = [0.5, -0.2, 0.1];
        for time in [1e-7, 9e-7, 1e-5, 1e-3] {
            let mut u = [f64::NAN; 3];
            Softmax.importance_step(&scores, 1, time, 1.0, &mut u);
            let expected = plus(&runge_kutta(&scores, 1, time, 1), -1.0, &scores);
            // The curvature's share is time/4, the difference above rounds at 1e-16.
            assert_close(&u, &expected, 2e-16 + 1e-3 * time * time);
        }
    }

    #[test]
    fn with_two_classes_the_margin_flows_as_the_logistic_loss_does() {
        // The margin m = p_y − p_k obeys dm/ds = 2q/(1 + e^m).
        for (m, time) in [(-700.0, 1e3), (-3.0, 0.5), (0.0, 1e9), (2.0, 1e-5), (45.0, 1e22)] {
            let after = flowed(&[0.0, m], 1, time, 0.7);
            let expected = m + 1.4 * Logistic.importance_step(m, 1.0, time, 1.4);
            let off = after[1] - after[0] - expected;
            assert!(off.abs() < FLOW_TOLERANCE * (1.0 + m.abs()), "{m} {time}: {off:e}");
        }
    }

    #[test]
    fn an_endless_flow_ends_in_certainty() {
        let after = flowed(&[3.0, -2.0, 9.0, 0.0], 1, 1e9, 1.0);
        assert!(Softmax.value(&after, 1) < 1e-8, "{after:?}");
        assert!(Softmax.value(&after, 1) > 1e-10, "{after:?}");
    }

    #[test]
    fn a_single_class_is_certain_and_does_not_move() {
        assert_eq!(Softmax.value(&[3.0], 0), 0.0);
        assert_eq!(flowed(&[3.0], 0, 1.0, 1.0), [3.0]);
        assert_eq!(flowed(&[3.0], 0, 1.0, 0.0), [3.0]);
    }

    #[test]
    fn the_quadrature_is_exact_for_powers() {
        // n factors (1 − fw) integrate to (1 − (1 − f)^(n+1))/((n + 1)f).
        for classes in [1, 2, 7, 47, 48, 60, 200, 5000] {
            for share in [1e-6f64, 0.1, 0.5, 0.999, 1.0] {
                let degree = f64::from(classes) + 1.0;
                let expected = (1.0 - (1.0 - share).powf(degree)) / (degree * share);
                let shares = vec![share; classes as usize];
                let found = integrate_product(&shares, f64::from(classes) * share);
                // A factor's rounding is taken to the power n; 1 − f rounds.
                let allowed = 1e-14 + 1e-16 * (f64::from(classes) + 1.0 / share);
                assert!((found / expected - 1.0).abs() < allowed, "{classes} {share}: {found}");
            }
        }
    }
}
