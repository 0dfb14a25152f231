use super::*;

#[test]
fn labels_are_signs_or_probabilities() {
    let p = 0.7f64;
    let positive = (1.0 + (-p).exp()).ln();
    let negative = (1.0 + p.exp()).ln();
    assert!((Logistic.value(p, 1.0) - positive).abs() < 1e-15);
    assert!((Logistic.value(p, -1.0) - negative).abs() < 1e-15);
    assert_eq!(Logistic.value(p, 0.0), Logistic.value(p, -1.0));
    let mixed = 0.3 * positive + 0.7 * negative;
    assert!((Logistic.value(p, 0.3) - mixed).abs() < 1e-15);
    assert!((Logistic.derivative(p, 0.3) - (sigmoid(p) - 0.3)).abs() < 1e-15);
}

#[test]
fn tails_do_not_cancel() {
    // `exp_log::exp` is right to two units in the last place.
    let is_tail = |found: f64| (found.abs() / libm::exp(-100.0) - 1.0).abs() < 5e-16;
    assert!(is_tail(Logistic.value(100.0, 1.0)));
    assert!(Logistic.derivative(100.0, -1.0) > 0.0 && is_tail(-Logistic.derivative(100.0, 1.0)));
    assert!(is_tail(Logistic.derivative(-100.0, -1.0)));
    assert!(is_tail(Logistic.second_derivative(-100.0, 1.0)));
    assert_eq!(Logistic.value(-1e300, 1.0), 1e300);
    assert_eq!(Logistic.value(1e300, 0.25), 0.75e300);
}

#[test]
fn the_label_minus_one_counts_as_probability_zero_in_a_mean() {
    assert_eq!(Logistic.label_for_mean(-1.0), 0.0);
    assert_eq!(Logistic.label_for_mean(0.3), 0.3);
    assert_eq!(Logistic.label_for_mean(1.0), 1.0);
}

#[test]
fn side_by_side_predictions_are_charged_as_they_are_alone() {
    let mut random = crate::numeric::rng::SplitMix64::new(29);
    let mut evaluations = Vec::new();
    for count in 0..40 {
        let scores: Vec<f64> = (0..count).map(|at| 10f64.powi(at % 7 - 3) * (random.uniform() - 0.5)).collect();
        let labels: Vec<f64> = (0..count).map(|at| [-1.0, 1.0, 0.3, 0.0][at as usize % 4]).collect();
        for is_portable in [false, true] {
            crate::simd::set_portable(is_portable);
            Logistic.evaluate_all(&scores, &labels, &mut evaluations);
            let alone: Vec<_> = scores.iter().zip(&labels).map(|(&p, &y)| Logistic.evaluate(p, y)).collect();
            assert_eq!(evaluations, alone);
        }
        crate::simd::set_portable(false);
    }
}

#[test]
fn side_by_side_scores_flow_as_they_do_alone() {
    for y in [-1.0, 0.0, 1.0, 0.3] {
        for (step, scale) in [1e-250, 1e-9, 1e-4, 0.03, 1.0, 40.0, 1e5, 1e250].into_iter().enumerate() {
            let scores =
                std::array::from_fn(|at| [-70.0, -30.0, -2.0, -0.1, 0.0, 1.5, 39.0, 45.0][at] + step as f64 / 9.0);
            let times = std::array::from_fn(|at| 0.5 + at as f64);
            let q = std::array::from_fn(|at| if at == 3 { 0.0 } else { scale * (1.0 + at as f64 / 7.0) });
            let known = SigmoidsOf::of(&scores);
            let found = flows(&scores, &known.exponentials, y, &times, &q);
            for at in 0..FLOWS {
                let alone = if q[at] > 0.0 { Logistic.importance_step(scores[at], y, times[at], q[at]) } else { 0.0 };
                assert!(
                    (found[at] - alone).abs() <= 1e-11 * alone.abs(),
                    "{} {y} {}: {} {alone}",
                    scores[at],
                    q[at],
                    found[at]
                );
            }
        }
    }
}

#[test]
fn what_is_known_of_several_scores_is_what_each_would_say() {
    let scores = [-50.0, -3.0, -1e-9, 0.0, 0.2, 7.0, 49.0, 1e-300];
    for y in [-1.0, 0.0, 0.25, 1.0] {
        let known = SigmoidsOf::of(&scores);
        let ((losses, derivatives), (residuals, curvatures)) = (known.losses(&scores, y), known.slopes(y));
        for (at, &p) in scores.iter().enumerate() {
            let is_near = |found: f64, expected: f64| {
                assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{p} {y}: {found} {expected}")
            };
            is_near(losses[at], Logistic.value(p, y));
            is_near(derivatives[at], Logistic.derivative(p, y));
            is_near(residuals[at], -Logistic.derivative(p, y));
            is_near(curvatures[at], Logistic.second_derivative(p, y));
        }
    }
}

/// Relative error of H in the implicit equation of the flow for y = 1,
/// which bounds the relative error of δ.
fn residual(p: f64, h: f64) -> f64 {
    let delta = Logistic.importance_step(p, 1.0, h, 1.0);
    (delta + p.exp() * delta.exp_m1()) / h - 1.0
}

#[test]
fn the_flow_of_a_sign_solves_its_implicit_equation() {
    for p in (-80..=80).map(|at| f64::from(at) / 2.0) {
        for log_h in (-100..=200).map(|at| f64::from(at) / 10.0) {
            let h = 10f64.powf(log_h);
            let found = residual(p, h);
            // e^δ turns an error of δ into δ times it.
            assert!(found.abs() < 1e-13, "p={p} h={h}: {found:e}");
        }
    }
}

#[test]
fn the_flow_of_a_sign_is_the_same_for_both() {
    for (p, time, q) in [(-3.0, 1.0, 2.0), (50.0, 1e30, 1.0), (-90.0, 95.0, 1.0)] {
        assert_eq!(Logistic.importance_step(p, 1.0, time, q), -Logistic.importance_step(-p, -1.0, time, q));
    }
}

#[test]
fn far_from_the_boundary_the_flow_follows_its_tails() {
    // A sure prediction hardly moves: e^p grows by h, here from 10^43.
    let p = 100.0 + Logistic.importance_step(100.0, 1.0, 1e60, 1.0);
    assert!((p - 1e60f64.ln()).abs() < 1e-13);
    // A gross mistake moves at speed 1 until it is hardly one: p + e^p = 0.
    let arrived = Logistic.importance_step(-200.0, 1.0, 200.0, 1.0) - 200.0;
    assert!((arrived + arrived.exp()).abs() < 1e-13, "{arrived}");
}

#[test]
fn the_flow_towards_one_half_follows_its_closed_form() {
    // For π = ½, dp/ds = −tanh(p/2)/2, so sinh(p/2) decays as e^(−s/4).
    for p in (1..=60).map(f64::from) {
        for h in (1..=200).map(|at| 1.25 * f64::from(at)) {
            let expected = 2.0 * ((p / 2.0).sinh() * (-h / 4.0).exp()).asinh();
            let found = p + Logistic.importance_step(p, 0.5, h, 1.0);
            assert!((found - expected).abs() < 1e-14 * (1.0 + p), "{p} {h}: {found}");
        }
    }
}

#[test]
fn the_flow_of_a_probability_arrives_at_its_logit() {
    for y in [1e-200f64, 1e-20, 0.01, 0.3, 0.5, 0.9, 1.0 - 1e-15] {
        let logit = y.ln() - (-y).ln_1p();
        for p in [-1000.0, -60.0, -3.0, 0.0, 2.0, 39.0, 1000.0] {
            let end = p + Logistic.importance_step(p, y, 1e305, 1.0);
            assert!((end - logit).abs() < 1e-13 * (1.0 + p.abs()), "{p} to {y}: {end}");
        }
    }
}
