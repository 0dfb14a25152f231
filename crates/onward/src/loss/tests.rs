//! What every loss must do, checked against values, finite differences and
//! numerical integration.

use proptest::prelude::*;

use std::sync::Arc;

use super::{Curvature, Kinks, LOSSES, LinearLoss, Loss, LossDescriptor, LossKind, SharedLoss, Task, parse};

/// Every loss that has a name, at its usual and at other parameters, and the one that has none.
fn all() -> Vec<SharedLoss> {
    let examples = LOSSES.iter().flat_map(|entry| entry.examples).map(|name| parse(name).unwrap());
    let linear: SharedLoss = Arc::new(LinearLoss);
    LOSSES.iter().map(LossDescriptor::default_loss).chain(examples).chain([linear]).collect()
}

/// The losses that a certificate applies to.
fn convex() -> Vec<SharedLoss> {
    all().into_iter().filter(|loss| loss.curvature() != Curvature::None).collect()
}

/// The losses whose flow is gradient flow: all but the perceptron's, whose step
/// is plain by design.
fn flowing() -> Vec<SharedLoss> {
    all().into_iter().filter(|loss| loss.kind() != LossKind::Perceptron).collect()
}

/// The losses without jumps of the derivative.
fn smooth() -> Vec<SharedLoss> {
    convex().into_iter().filter(|loss| loss.kinks(1.0).is_none()).collect()
}

/// The losses of straight pieces.
fn kinked() -> Vec<SharedLoss> {
    all().into_iter().filter(|loss| loss.kinks(1.0).is_some()).collect()
}

/// A label that the loss takes, made from a number in [−1, 1].
fn label(loss: &dyn Loss, raw: f64) -> f64 {
    let candidates = [5.0 * raw, 5.0 * raw.abs(), 1f64.copysign(raw)];
    let taken = candidates.into_iter().find(|&y| loss.check_label(y).is_ok());
    taken.unwrap_or_else(|| panic!("no label for {}", loss.name()))
}

/// Labels that the loss takes, among them all that are special to some loss.
fn labels(loss: &dyn Loss) -> Vec<f64> {
    let special = [-3.5, -1.0, 0.0, 0.3, 0.999, 1.0, 2.0, 7.0];
    special.into_iter().filter(|&y| loss.check_label(y).is_ok()).collect()
}

/// Where the score is after flowing.
fn flowed(loss: &dyn Loss, p: f64, y: f64, time: f64, q: f64) -> f64 {
    p + q * loss.importance_step(p, y, time, q)
}

/// dp/ds = −q·ℓ'(p) by the classical Runge–Kutta method.
fn runge_kutta(loss: &dyn Loss, p: f64, y: f64, time: f64, q: f64, steps: u32) -> f64 {
    let (step, speed) = (time / f64::from(steps), |p| -q * loss.derivative(p, y));
    (0..steps).fold(p, |p, _| {
        let a = speed(p);
        let b = speed(p + step / 2.0 * a);
        let c = speed(p + step / 2.0 * b);
        let d = speed(p + step * c);
        p + step / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    })
}

/// The differences of a function to the left and to the right, per unit.
fn slopes(function: impl Fn(f64) -> f64, p: f64, step: f64) -> (f64, f64) {
    let (left, here, right) = (function(p - step), function(p), function(p + step));
    ((here - left) / step, (right - here) / step)
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &dyn std::fmt::Display) {
    let allowed = tolerance * (1.0 + expected.abs());
    assert!(
        (found - expected).abs() <= allowed,
        "{what}: {found} should be {expected}, off by {:e}, allowed {allowed:e}",
        found - expected
    );
}

proptest! {
    #[test]
    fn the_derivative_is_the_slope_of_the_value(p in -6.0..6.0f64, raw in -1.0..1.0f64) {
        const STEP: f64 = 1e-5;
        for loss in all() {
            let y = label(&*loss, raw);
            let (left, right) = slopes(|p| loss.value(p, y), p, STEP);
            // The slopes differ by STEP·ℓ'' ≤ 1e-5·e^6, except at a kink.
            if (left - right).abs() < 0.01 {
                // A jump of ℓ'' by 2 in reach of the difference costs STEP/2.
                assert_close(loss.derivative(p, y), (left + right) / 2.0, STEP, &loss.name());
            }
        }
    }

    #[test]
    fn the_second_derivative_is_the_slope_of_the_derivative(
        p in -6.0..6.0f64,
        raw in -1.0..1.0f64,
    ) {
        const STEP: f64 = 1e-5;
        for loss in all() {
            let y = label(&*loss, raw);
            let (left, right) = slopes(|p| loss.derivative(p, y), p, STEP);
            if (left - right).abs() < 0.01 {
                assert_close(loss.second_derivative(p, y), (left + right) / 2.0, 1e-8, &loss.name());
            }
        }
    }

    #[test]
    fn chords_lie_above_a_convex_loss(
        a in -60.0..60.0f64,
        b in -60.0..60.0f64,
        share in 0.0..1.0f64,
        raw in -1.0..1.0f64,
    ) {
        for loss in convex() {
            let y = label(&*loss, raw);
            let chord = share * loss.value(a, y) + (1.0 - share) * loss.value(b, y);
            let value = loss.value(share * a + (1.0 - share) * b, y);
            prop_assert!(value <= chord + 1e-13 * (1.0 + chord.abs()), "{}", loss.name());
        }
    }

    #[test]
    fn tangents_lie_below_a_convex_loss(
        half in -120..120i32,
        away in -60.0..60.0f64,
        raw in -1.0..1.0f64,
    ) {
        for loss in convex() {
            // Halves meet the kinks at y = −1, 0, 1 and the tubes of half width ½.
            for y in labels(&*loss).into_iter().chain([label(&*loss, raw)]) {
                let p = f64::from(half) / 2.0;
                let (here, slope) = (loss.value(p, y), loss.derivative(p, y));
                let scale = 1.0 + here.abs() + (slope * (away - p)).abs();
                let tangent = here + slope * (away - p);
                prop_assert!(loss.value(away, y) >= tangent - 1e-13 * scale, "{}", loss.name());
            }
        }
    }

    #[test]
    fn two_flows_are_one_flow_of_their_joint_time(
        p in -60.0..60.0f64,
        raw in -1.0..1.0f64,
        log_first in -8.0..4.0f64,
        log_second in -8.0..4.0f64,
        log_q in -8.0..3.0f64,
    ) {
        let (first, second) = (10f64.powf(log_first), 10f64.powf(log_second));
        let q = 10f64.powf(log_q);
        for loss in flowing() {
            let y = label(&*loss, raw);
            let halfway = flowed(&*loss, p, y, first, q);
            let twice = flowed(&*loss, halfway, y, second, q);
            let once = flowed(&*loss, p, y, first + second, q);
            // Roundings of the score are the only difference.
            let allowed = 1e-13 * (1.0 + p.abs() + once.abs());
            prop_assert!((twice - once).abs() <= allowed, "{}: {twice} {once}", loss.name());
        }
    }

    #[test]
    fn flow_never_increases_the_loss(
        p in -60.0..60.0f64,
        raw in -1.0..1.0f64,
        log_time in -10.0..12.0f64,
        log_q in -10.0..12.0f64,
    ) {
        let (time, q) = (10f64.powf(log_time), 10f64.powf(log_q));
        for loss in all() {
            let y = label(&*loss, raw);
            let (before, after) = (loss.value(p, y), loss.value(flowed(&*loss, p, y, time, q), y));
            prop_assert!(after <= before + 1e-13 * (1.0 + before.abs()), "{}", loss.name());
        }
    }

    #[test]
    fn flow_never_overshoots(p in -60.0..60.0f64, raw in -1.0..1.0f64, log_q in -9.0..3.0f64) {
        for loss in flowing() {
            let (y, q) = (label(&*loss, raw), 10f64.powf(log_q));
            let before = loss.derivative(p, y);
            for time in [1.0, 1e3, 1e9] {
                // A point beyond, by more than rounding, would have a slope of the other sign.
                let margin = 1e-14 * (1.0 + p.abs() + y.abs()) * before.signum();
                let after = loss.derivative(flowed(&*loss, p, y, time, q) + margin, y);
                prop_assert!(before * after >= 0.0, "{} from {p} to {y}", loss.name());
            }
        }
    }

    #[test]
    fn a_short_flow_is_a_gradient_step(
        p in -100.0..100.0f64,
        raw in -1.0..1.0f64,
        log_time in -3.0..3.0f64,
    ) {
        let time = 10f64.powf(log_time);
        for loss in all() {
            let y = label(&*loss, raw);
            let step = -time * loss.derivative(p, y);
            for q in [0.0, 1e-300, 1e-30] {
                // Relative, however small: what curvature changes is below q·time·ℓ''.
                let close = 1e-15 + q * time * loss.second_derivative(p, y);
                let difference = loss.importance_step(p, y, time, q) - step;
                prop_assert!(difference.abs() <= close * step.abs(), "{} at {p}", loss.name());
            }
        }
    }

    #[test]
    fn what_is_told_together_is_what_is_told_apart(
        scores in prop::collection::vec(-60.0..60.0f64, 11),
        raw in -1.0..1.0f64,
        time in 0.0..4.0f64,
        q in 0.0..2.0f64,
    ) {
        for loss in all() {
            let y = label(&*loss, raw);
            let mut together = Vec::new();
            loss.evaluate_all(&scores, &vec![y; scores.len()], &mut together);
            for (&p, charged) in scores.iter().zip(together) {
                let (charge, slope) = (loss.evaluate(p, y), loss.gradient(p, y));
                let apart = (loss.value(p, y), loss.derivative(p, y));
                prop_assert_eq!((charge.value, charge.derivative), apart, "{}", loss.name());
                prop_assert_eq!((charged.value, charged.derivative), apart, "{}", loss.name());
                prop_assert_eq!(slope.derivative, apart.1, "{}", loss.name());
                prop_assert_eq!(loss.importance_step_from(slope, p, y, time, q), loss.importance_step(p, y, time, q), "{}", loss.name());
            }
        }
    }

    #[test]
    fn straight_pieces_and_kinks_are_all_that_a_loss_of_them_is(
        p in -6.0..6.0f64,
        raw in -1.0..1.0f64,
    ) {
        for loss in kinked() {
            let y = label(&*loss, raw);
            let Some(Kinks { slope, jumps }) = loss.kinks(y) else { panic!("{}", loss.name()) };
            prop_assert!(jumps[0].1 > 0.0 && jumps[1].1 >= 0.0 && jumps[0].0 <= jumps[1].0, "{}", loss.name());
            // From a place left of all kinks.
            let climb = |p: f64| jumps.iter().map(|(at, jump)| jump * (p - at).max(0.0)).sum::<f64>();
            let found = loss.value(-20.0, y) + slope * (p + 20.0) + climb(p);
            assert_close(found, loss.value(p, y), 1e-13 * 20.0, &loss.name());
        }
    }

    #[test]
    fn everything_is_finite_for_finite_input(
        p in extreme(1e77),
        raw in -1.0..1.0f64,
        scale in extreme(1e77),
        time in extreme(1e300),
        q in extreme(1e77),
    ) {
        for loss in all() {
            for y in [label(&*loss, raw), scale, scale.abs(), scale.abs().min(1.0)] {
                if loss.check_label(y).is_err() {
                    continue;
                }
                let found = [
                    loss.value(p, y),
                    loss.derivative(p, y),
                    loss.second_derivative(p, y),
                    loss.inverse_link().response(p),
                    loss.importance_step(p, y, 1.0, q.abs()),
                    q.abs() * loss.importance_step(p, y, 1.0, q.abs()),
                ];
                prop_assert!(found.iter().all(|x| x.is_finite()), "{}: {found:?}", loss.name());
                // Beyond f64 only where a plain step is, too.
                let bound = time.abs() * loss.derivative(p, y).abs();
                let flow = loss.importance_step(p, y, time.abs(), q.abs());
                prop_assert!(!flow.is_nan() && flow.abs() <= bound * (1.0 + 1e-13), "{}", loss.name());
            }
        }
    }
}

/// Numbers of every size up to `largest`, of both signs, and 0.
fn extreme(largest: f64) -> impl Strategy<Value = f64> {
    let logarithm = largest.log10();
    let sized = (-logarithm..logarithm, any::<bool>());
    prop_oneof![
        8 => sized.prop_map(|(log, negative)| if negative { -10f64.powf(log) } else { 10f64.powf(log) }),
        1 => Just(0.0),
        1 => Just(largest),
    ]
}

#[test]
fn flow_solves_its_differential_equation_where_the_loss_is_smooth() {
    for loss in smooth() {
        for y in labels(&*loss) {
            for p in [-7.0, -1.2, 0.4, 2.6] {
                for (time, q) in [(1e-3, 0.5), (0.7, 0.3), (4.0, 1.0), (50.0, 0.2)] {
                    // Steps of speed·h ≤ 2.5e-4: Runge–Kutta's error is below
                    // 1e-13, but for a jump of ℓ'', which costs (1e-3)².
                    let expected = runge_kutta(&*loss, p, y, time, q, 20_000);
                    let found = flowed(&*loss, p, y, time, q);
                    let case = format!("{} y={y} p={p} time={time} q={q}", loss.name());
                    let is_analytic =
                        matches!(loss.kind(), LossKind::Quadratic | LossKind::Logistic | LossKind::Poisson);
                    assert_close(found, expected, if is_analytic { 1e-11 } else { 1e-6 }, &case);
                }
            }
        }
    }
}

#[test]
fn the_first_moments_of_flow_are_exact_to_rounding() {
    // The step itself, not the score that it leads to, over the thresholds at
    // which series give way to closed forms; points away from jumps of ℓ''.
    for loss in smooth() {
        for y in labels(&*loss) {
            for p in [-6.7, -1.33, 0.41, 2.81] {
                for time in [1e-12, 1e-7, 4.9e-6, 5.1e-6, 9.9e-6, 1.01e-5, 3e-5, 1e-3] {
                    let expected = runge_kutta(&*loss, p, y, time, 1.0, 8) - p;
                    let found = loss.importance_step(p, y, time, 1.0);
                    // The difference above rounds at the size of p.
                    let allowed = 1e-15 * (1.0 + p.abs()) + 1e-13 * expected.abs();
                    let case = format!("{} y={y} p={p} time={time}", loss.name());
                    assert!((found - expected).abs() <= allowed, "{case}: {found} {expected}");
                }
            }
        }
    }
}

#[test]
fn flow_solves_its_differential_equation_where_the_loss_has_kinks() {
    for loss in flowing().into_iter().filter(|loss| loss.kinks(1.0).is_some()) {
        for y in labels(&*loss) {
            for p in [-7.0, -1.2, 0.4, 2.6, y] {
                for (time, q) in [(0.1, 0.5), (0.7, 0.3), (4.0, 1.0), (50.0, 0.2)] {
                    let steps = 100_000;
                    let euler = (0..steps).fold(p, |p, _| p - time * q / f64::from(steps) * loss.derivative(p, y));
                    // At a kink Euler's method shuttles by one step.
                    let tolerance = 1.01 * time * q / f64::from(steps);
                    let case = format!("{} y={y} p={p} time={time} q={q}", loss.name());
                    assert_close(flowed(&*loss, p, y, time, q), euler, tolerance, &case);
                }
            }
        }
    }
}

#[test]
fn the_lipschitz_constant_bounds_the_derivative_and_is_attained() {
    for loss in all() {
        for range in [1.0, 3.0, 12.0] {
            let grid = || (-1000..=1000).map(|at| range * f64::from(at) / 1000.0);
            let taken = grid().chain([-1.0, 1.0]).filter(|&y| loss.check_label(y).is_ok());
            let slopes = taken.flat_map(|y| grid().map(move |p| (p, y)));
            let steepest = slopes.map(|(p, y)| loss.derivative(p, y).abs()).fold(0.0, f64::max);
            let constant = loss.lipschitz(range);
            assert!(steepest <= constant * (1.0 + 1e-14), "{}: {steepest} {constant}", loss.name());
            assert!(constant <= 1.01 * steepest, "{}: {steepest} {constant}", loss.name());
        }
    }
}

#[test]
fn the_class_of_curvature_bounds_the_second_derivative_and_is_attained() {
    for loss in all() {
        let name = loss.name();
        let grid = || (-4000..=4000).map(|at| f64::from(at) / 500.0);
        let points = || labels(&*loss).into_iter().flat_map(|y| grid().map(move |p| (p, y)));
        let curvatures: Vec<f64> = points().map(|(p, y)| loss.second_derivative(p, y)).collect();
        let least = curvatures.iter().copied().fold(f64::INFINITY, f64::min);
        let most = curvatures.iter().copied().fold(0.0, f64::max);
        match loss.curvature() {
            Curvature::Quadratic(c) => {
                assert_eq!((c, c), (least, most), "{name}");
                for (p, y) in points() {
                    assert_close(loss.value(p, y), 0.5 * c * (p - y) * (p - y), 1e-15, &name);
                }
            }
            Curvature::Strong(bound) => assert_eq!(bound, least, "{name}"),
            Curvature::Smooth(bound) => {
                assert_eq!(bound, most, "{name}");
                assert!(least < 1e-3, "{name} is strongly convex");
            }
            // With kinks, or straight, or curved more and more.
            Curvature::Convex => assert!(most == 0.0 || most > 1e3, "{name} is {most}-smooth"),
            Curvature::None => {
                let has_dent =
                    points().any(|(p, y)| 2.0 * loss.value(p, y) > loss.value(p - 1.0, y) + loss.value(p + 1.0, y));
                assert!(has_dent, "{name} is convex");
            }
        }
    }
}

#[test]
fn the_derivative_jumps_where_kinks_are_and_nowhere_else() {
    const NEAR: f64 = 1e-6;
    for loss in convex() {
        for y in labels(&*loss) {
            let kinks: Vec<f64> = loss.kinks(y).iter().flat_map(|kinks| kinks.jumps.map(|(at, _)| at)).collect();
            let grid = (-1600..=1600).map(|at| f64::from(at) / 200.0);
            for p in grid.chain([y]).chain(kinks.iter().copied()) {
                let jump = loss.derivative(p + NEAR, y) - loss.derivative(p - NEAR, y);
                // Poisson's slope rises by e^8 there.
                let is_kink = kinks.iter().any(|at| (at - p).abs() < NEAR);
                assert_eq!(jump > 0.01, is_kink, "{} y={y} p={p}: {jump}", loss.name());
            }
        }
    }
}

#[test]
fn a_loss_is_of_the_kind_that_its_values_are() {
    let positive = |gap: f64| gap.max(0.0);
    for loss in all() {
        for y in labels(&*loss) {
            // How much less than |p − y| a loss with a tube is far from the label.
            let tube = |value: f64| 100.0 - value;
            for p in (-80..=80).map(|at| f64::from(at) / 10.0) {
                let expected = match loss.kind() {
                    LossKind::Quadratic => 0.5 * loss.second_derivative(p, y) * (p - y) * (p - y),
                    LossKind::Logistic if y.abs() == 1.0 => (1.0 + (-y * p).exp()).ln(),
                    LossKind::Logistic => y * (1.0 + (-p).exp()).ln() + (1.0 - y) * (1.0 + p.exp()).ln(),
                    LossKind::Poisson => p.exp() - y * p,
                    LossKind::Hinge => positive(1.0 - y * p),
                    LossKind::SquaredHinge => positive(1.0 - y * p).powi(2),
                    LossKind::Perceptron => positive(-y * p),
                    LossKind::EpsilonInsensitive => positive((p - y).abs() - tube(loss.value(y + 100.0, y))),
                    LossKind::SquaredEpsilonInsensitive => {
                        positive((p - y).abs() - tube(loss.value(y + 100.0, y).sqrt())).powi(2)
                    }
                    LossKind::ZeroOne => f64::from(u8::from((p >= 0.0) != (y > 0.0))),
                    LossKind::Other => continue,
                };
                assert_close(loss.value(p, y), expected, 1e-12, &format!("{} p={p} y={y}", loss.name()));
            }
        }
    }
}

#[test]
fn every_loss_in_the_source_has_a_name() {
    // But the linear loss, which is for games, not for the command line.
    let named: Vec<String> = LOSSES.iter().map(|entry| format!("{:?}", entry.default_loss())).collect();
    let is_named = |loss: &str| named.iter().any(|name| name == loss || name.starts_with(&format!("{loss} {{")));
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/loss");
    let mut found = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(file).unwrap();
        let lines = text.lines();
        let names =
            lines.filter_map(|line| line.strip_prefix("impl Loss for ").or(line.strip_prefix("impl GapLoss for ")));
        for loss in names.map(|rest| rest.split(' ').next().unwrap()) {
            assert!(
                is_named(loss) || loss == "LinearLoss",
                "{loss} is not in LOSSES, which is how it gets a name and its tests"
            );
            found += 1;
        }
    }
    assert_eq!(found, LOSSES.len() + 1);
}

#[test]
fn where_the_second_derivative_jumps_the_documented_side_is_given() {
    for (name, p, y, expected) in [
        ("expectile:tau=0.9", 2.0, 2.0, 2.0 * (1.0 - 0.9)),
        ("huber:delta=1", 3.0, 2.0, 2.0),
        ("squared-epsilon-insensitive:epsilon=0.5", 2.5, 2.0, 0.0),
        ("squared-hinge", 1.0, 1.0, 0.0),
        ("modified-huber", 1.0, -1.0, 2.0),
        ("modified-huber", -1.0, -1.0, 0.0),
        ("absolute", 2.0, 2.0, 0.0),
        ("hinge", 1.0, 1.0, 0.0),
    ] {
        assert_eq!(parse(name).unwrap().second_derivative(p, y), expected, "{name}");
    }
}

#[test]
fn the_best_constant_has_the_least_total_loss() {
    for loss in all() {
        let all_labels = [-4.0, -1.0, -1.0, 0.0, 0.25, 0.5, 1.0, 1.0, 2.0, 6.5];
        let weighted = |y: &f64| loss.check_label(*y).is_ok().then_some((*y, 0.5 + y.abs()));
        let sample: Vec<(f64, f64)> = all_labels.iter().filter_map(weighted).collect();
        let weight: f64 = sample.iter().map(|(_, h)| h).sum();
        let mean = sample.iter().map(|(y, h)| h * loss.label_for_mean(*y)).sum::<f64>() / weight;
        let total = |p: f64| sample.iter().map(|(y, h)| h * loss.value(p, *y)).sum::<f64>();
        let Some(best) = loss.best_constant(mean) else {
            continue;
        };
        let grid = (-8000..=8000).map(|at| f64::from(at) / 1000.0);
        let nearest = grid.min_by(|a, b| total(*a).total_cmp(&total(*b))).unwrap();
        assert!((best - nearest).abs() <= 0.5001e-3, "{}: {best}, not {nearest}", loss.name());
        assert!(total(best) <= total(nearest), "{}", loss.name());
    }
}

#[test]
fn losses_of_a_mean_label_have_their_best_constant_in_it() {
    for loss in all() {
        let is_of_the_mean = matches!(loss.kind(), LossKind::Quadratic | LossKind::Logistic | LossKind::Poisson);
        assert!(!is_of_the_mean || loss.best_constant(0.5).is_some(), "{}", loss.name());
    }
}

#[test]
fn best_constants_of_extreme_means_are_held_within_fifty() {
    for (name, mean, expected) in [
        ("logistic", 0.0, -50.0),
        ("logistic", 1.0, 50.0),
        ("logistic", 0.5, 0.0),
        ("poisson", 0.0, -50.0),
        ("poisson", 1.0, 0.0),
        ("poisson", 1e300, 50.0),
    ] {
        assert_eq!(parse(name).unwrap().best_constant(mean), Some(expected), "{name} {mean}");
    }
}

#[test]
fn labels_outside_the_task_are_refused_by_name() {
    for (name, y, message) in [
        ("squared", f64::NAN, "the label of the squared loss must be a finite number; got NaN"),
        ("huber:delta=1", f64::INFINITY, "the label of the huber:delta=1 loss must be a finite number; got inf"),
        ("hinge", 0.0, "the label of the hinge loss must be -1 or 1; got 0"),
        ("perceptron", 2.0, "the label of the perceptron loss must be -1 or 1; got 2"),
        ("logistic", -0.5, "the label of the logistic loss must be -1, 1 or a probability in [0, 1]; got -0.5"),
        ("logistic", f64::NAN, "the label of the logistic loss must be -1, 1 or a probability in [0, 1]; got NaN"),
        ("poisson", -1.0, "the label of the poisson loss must be a count or rate from 0 to e^50 (5.18e21); got -1"),
    ] {
        let error = parse(name).unwrap().check_label(y).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.kind(), crate::ErrorKind::Label);
    }
}

#[test]
fn every_loss_takes_the_labels_of_its_task() {
    for loss in all() {
        let taken: &[f64] = match loss.task() {
            Task::Binary => &[-1.0, 1.0],
            _ => &[0.0, 1.0, 3.5],
        };
        for &y in taken {
            assert_eq!(loss.check_label(y), Ok(()), "{}", loss.name());
        }
        assert!(loss.check_label(f64::INFINITY).is_err(), "{}", loss.name());
    }
}
