//! The integrals of Squint: ∫ e^(ηR − η²V) dη and ∫ η·e^(ηR − η²V) dη over 0 ≤ η ≤ ½.
//!
//! The exponent is a parabola (or a line) with its top at η* = R/(2V), held within the range of η. On each
//! side of the top it falls by p·s + V·s² at the distance s, p being its slope there. Where it has
//! fallen by 36 the rest is cut off, and each side is summed by the 20 nodes of Gauss and Legendre.
//! Nothing cancels, whatever the sizes of R and V. The relative error is below 3·10⁻¹³: 37·e^(−36) is
//! cut off at most, and the nodes are exact to 1.2·10⁻¹³ on parabolas that fall by no more than 36.

/// The largest rate.
const LARGEST_RATE: f64 = 0.5;

/// How far below its top the exponent is cut off.
const DEPTH: f64 = 36.0;

/// Nodes in (0, 1) and weights of Gauss and Legendre's rule with 20 nodes on (−1, 1), which is symmetric.
const NODES: [(f64, f64); 10] = [
    (0.9931285991850949, 0.017614007139152118),
    (0.9639719272779138, 0.04060142980038694),
    (0.912234428251326, 0.06267204833410907),
    (0.8391169718222188, 0.08327674157670475),
    (0.7463319064601508, 0.10193011981724044),
    (0.636053680726515, 0.11819453196151841),
    (0.5108670019508271, 0.13168863844917664),
    (0.37370608871541955, 0.14209610931838204),
    (0.22778585114164507, 0.14917298647260374),
    (0.07652652113349734, 0.15275338713072584),
];

/// The logarithms of the means over η uniform on (0, ½]: of e^(ηR − η²V), and of η times it. V is ≥ 0.
pub(super) fn logarithms(regret: f64, variance: f64) -> (f64, f64) {
    let mode = if variance > 0.0 {
        (regret / (2.0 * variance)).clamp(0.0, LARGEST_RATE)
    } else if regret > 0.0 {
        LARGEST_RATE
    } else {
        0.0
    };
    let top = mode * (regret - mode * variance);
    let slope = regret - 2.0 * mode * variance;
    let below = side(mode, slope.max(0.0), variance, -mode);
    let above = side(mode, (-slope).max(0.0), variance, LARGEST_RATE - mode);
    let logarithm = |sum: f64| top + libm::log(sum / LARGEST_RATE);
    (logarithm(below.0 + above.0), logarithm(below.1 + above.1))
}

/// Both integrals, relative to the top, from the mode on as far as `room` (below it, if that is negative).
fn side(mode: f64, slope: f64, variance: f64, room: f64) -> (f64, f64) {
    // Where p·s + V·s² is the depth.
    let reach = 2.0 * DEPTH / (slope + libm::hypot(slope, 2.0 * (variance * DEPTH).sqrt()));
    let length = room.abs().min(reach);
    let (mut plain, mut weighted) = (0.0, 0.0);
    if length > 0.0 {
        for (node, weight) in NODES {
            for s in [0.5 * length * (1.0 - node), 0.5 * length * (1.0 + node)] {
                let term = weight * libm::exp(-s * (slope + s * variance));
                plain += term;
                weighted += term * (mode + s.copysign(room));
            }
        }
    }
    (0.5 * length * plain, 0.5 * length * weighted)
}

/// The largest R for which the mean of e^(ηR − η²V) is at most e^cost, cost ≥ 0, to 12 digits from above.
pub(super) fn largest_regret(cost: f64, variance: f64) -> f64 {
    let exceeds = |regret: f64| logarithms(regret, variance).0 > cost;
    let (mut low, mut high) = (0.0, 1.0);
    // The mean is at least that over η near ½, which grows without bound: this ends.
    while !exceeds(high) && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if exceeds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nodes_are_exact_for_polynomials() {
        for power in (0..40).step_by(2) {
            let sum: f64 = NODES.iter().map(|(node, weight)| 2.0 * weight * node.powi(power)).sum();
            assert!((sum - 2.0 / f64::from(power + 1)).abs() < 1e-15, "{power}");
        }
    }

    #[test]
    fn integrals_equal_those_of_a_fine_grid() {
        for regret in [0.0, 1e-9, 0.3, 7.0, 150.0, 4000.0, -0.3, -7.0, -150.0, -4000.0] {
            for variance in [0.0, 1e-9, 0.4, 11.0, 300.0, 5000.0, 2e5] {
                // By Simpson's rule, about the top: outside of the window all is below e^(−40) of it.
                let exponent = |eta: f64| eta * regret - eta * eta * variance;
                let mode = if variance > 0.0 { regret / (2.0 * variance) } else { regret.signum() };
                let mode = mode.clamp(0.0, 0.5);
                let slope = (regret - 2.0 * mode * variance).abs();
                let width = (60.0 / slope.max(1e-300)).min((60.0 / variance.max(1e-300)).sqrt());
                let (from, to) = ((mode - width).max(0.0), (mode + width).min(0.5));
                let steps = 200_000;
                let (mut plain, mut weighted) = (0.0, 0.0);
                for step in 0..=steps {
                    let eta = from + (to - from) * f64::from(step) / f64::from(steps);
                    let share = if step == 0 || step == steps { 1.0 } else { f64::from(2 + 2 * (step % 2)) };
                    let term = share * (exponent(eta) - exponent(mode)).exp();
                    plain += term;
                    weighted += term * eta;
                }
                let finish = |sum: f64| exponent(mode) + (2.0 * sum * (to - from) / f64::from(3 * steps)).ln();
                let (one, other) = logarithms(regret, variance);
                let tolerance = 1e-12 * (1.0 + exponent(mode).abs());
                assert!((one - finish(plain)).abs() < tolerance, "{regret} {variance}: {one} {}", finish(plain));
                assert!((other - finish(weighted)).abs() < tolerance, "{regret} {variance}: {other}");
            }
        }
    }

    #[test]
    fn closed_forms_hold_at_extreme_sizes() {
        // V = 0: ∫ 2·e^(ηR) = 2(e^(R/2) − 1)/R, and for R → −∞, 2/|R| and 2/R².
        for regret in [1e8, 3e4] {
            let (one, other) = logarithms(regret, 0.0);
            assert!((one - (regret / 2.0 + (2.0 / regret).ln())).abs() < 1e-7);
            assert!((other - one - (0.5 - 1.0 / regret).ln()).abs() < 1e-7);
            let (one, other) = logarithms(-regret, 0.0);
            assert!((one - (2.0 / regret).ln()).abs() < 1e-12);
            assert!((other - (2.0 / (regret * regret)).ln()).abs() < 1e-12);
        }
        // A Gaussian well inside: top R²/(4V), width √(π/V), mean R/(2V).
        let (regret, variance) = (1e8, 1e9);
        let (one, other) = logarithms(regret, variance);
        let exact = regret * regret / (4.0 * variance) + (2.0 * (std::f64::consts::PI / variance).sqrt()).ln();
        assert!((one - exact).abs() < 1e-8, "{one} {exact}");
        assert!((other - one - (regret / (2.0 * variance)).ln()).abs() < 1e-8);
        // And nothing is lost or overflows beyond any use.
        for regret in [-1e100, -1e8, 0.0, 1e8, 1e150] {
            for variance in [0.0, 1e-300, 1.0, 1e8, 1e16] {
                let (one, other) = logarithms(regret, variance);
                assert!(one.is_finite() && other.is_finite(), "{regret} {variance}: {one} {other}");
            }
        }
    }

    #[test]
    fn the_largest_regret_is_where_the_mean_reaches_the_cost() {
        for variance in [0.0, 0.2, 30.0, 1e4, 1e10] {
            for cost in [1e-3, 0.7, 5.0, 200.0] {
                let regret = largest_regret(cost, variance);
                assert!(logarithms(regret, variance).0 >= cost);
                assert!(logarithms(regret * (1.0 - 1e-9), variance).0 < cost, "{variance} {cost}: {regret}");
            }
        }
    }
}
