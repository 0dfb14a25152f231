//! Pieces that gradient flow is made of.
//!
//! All of them return u, the way travelled divided by `q`: a score that moves
//! as dp/ds = −q·ℓ'(p) for `time` ends at p + u·q. They stay smooth as q → 0,
//! where u tends to −time·ℓ'(p).

/// Below this value of rate × time an exponential is its Taylor series to the
/// last bit: the first term left out is 1e-5³/24 < 2⁻⁵³.
pub(super) const SMALL: f64 = 1e-5;

/// time × q, held at 10²⁸⁰: room to multiply it without reaching infinity.
pub(super) fn reach(time: f64, q: f64) -> f64 {
    (time * q).min(1e280)
}

/// ∫₀^time e^(−rate·s) ds = (1 − e^(−rate·time))/rate: the time that counts
/// when a speed fades at this rate. Equals `time` at rate 0 and 1/rate for ever.
pub(super) fn faded(rate: f64, time: f64) -> f64 {
    let a = rate * time;
    if a < SMALL { time * (1.0 - a / 2.0 * (1.0 - a / 3.0)) } else { -libm::expm1(-a) / rate }
}

/// Down the slope of ℓ = `speed`·gap: constant speed, a stop where the gap is
/// closed, never beyond. 0 when there is no gap.
pub(super) fn slide(gap: f64, speed: f64, time: f64, q: f64) -> f64 {
    if gap > 0.0 { (speed * time).min(gap / q) } else { 0.0 }
}

/// Down the parabola ℓ = gap²: the gap shrinks to gap·e^(−2·time·q) and is
/// never closed. 0 when there is no gap.
pub(super) fn settle(gap: f64, time: f64, q: f64) -> f64 {
    if gap > 0.0 { 2.0 * gap * faded(2.0 * q, time) } else { 0.0 }
}

/// Down Huber's ℓ: slides at speed 2δ until the gap is δ, then settles.
pub(super) fn slide_then_settle(gap: f64, delta: f64, time: f64, q: f64) -> f64 {
    let straight = (gap - delta).max(0.0);
    let arrival = straight / (2.0 * delta) / q;
    if straight == 0.0 {
        settle(gap, time, q)
    } else if time > arrival {
        straight / q + settle(delta, time - arrival, q)
    } else {
        2.0 * delta * time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fading_time_is_continuous_where_its_series_takes_over() {
        for time in [1e-300, 1.0, 1e300] {
            let exact = |a: f64| -libm::expm1(-a) / a * time;
            for a in [0.99 * SMALL, 1.01 * SMALL, 1e-3, 1.0, 50.0] {
                let difference = faded(a / time, time) / exact(a) - 1.0;
                assert!(difference.abs() < 1e-15, "a = {a}, time = {time}: {difference}");
            }
        }
    }

    #[test]
    fn a_fading_time_has_its_limits() {
        assert_eq!(faded(0.0, 3.0), 3.0);
        assert_eq!(faded(4.0, 1e300), 0.25);
        assert_eq!(faded(4.0, f64::MAX), 0.25);
    }

    #[test]
    fn sliding_stops_exactly_where_the_gap_is_closed() {
        assert_eq!(slide(3.0, 1.0, 1.0, 2.0), 1.0);
        assert_eq!(slide(3.0, 1.0, 1e9, 2.0), 1.5);
        assert_eq!(slide(0.0, 1.0, 1e9, 0.0), 0.0);
        assert_eq!(slide(3.0, 1.0, 1e9, 0.0), 1e9);
    }
}
