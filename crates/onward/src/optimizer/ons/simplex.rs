//! The point of the simplex w_i ≥ 0, Σw_i = U that is nearest in the norm of a matrix M.
//!
//! By the primal active-set method: with the entries that are 0 held there, the nearest point of the plane Σw_i = U is a
//! linear system; the way to it ends where another entry becomes 0, which is then held too; and where it does not end early,
//! the entry that would rise most steeply is let go. Each change of the set takes O(k³), k being the entries that are not
//! held, and from the last point few are needed.
//!
//! **What is missed.** Let r = M(w − v) for the point v that is projected. w is the nearest exactly if ⟨r, u − w⟩ ≥ 0 for every u of
//! the simplex, and whatever w was found, ‖w − u‖²_M ≤ ‖v − u‖²_M + 2m for all of them with m = ⟨r, w⟩ − U·min r_i: by
//! expanding ‖v − u‖²_M = ‖v − w‖²_M + ‖w − u‖²_M + 2⟨r, u − w⟩. So a bound that adds m up holds for any w.

use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::vector::dot_in_order;

use crate::numeric::linalg::ball::positive_root;

/// Entries below this part of U are held at 0.
const NOTHING: f64 = 1e-15;

/// From a point of the simplex of this size to the one nearest to `v`; and m, by which it may miss it.
pub(super) fn nearest(matrix: &Cholesky, v: &[f64], from: &[f64], radius: f64) -> (Vec<f64>, f64) {
    let size = v.len();
    let mut w = from.to_vec();
    let mut free: Vec<bool> = w.iter().map(|w| *w > NOTHING * radius).collect();
    let mut best = (w.clone(), f64::INFINITY);
    // Each entry is held and let go a few times at most; where rounding decides, in circles.
    for _ in 0..4 * size + 20 {
        let slope = slope(matrix, &w, v);
        let missed = missed(&slope, &w, radius);
        if missed < best.1 {
            best = (w.clone(), missed);
        }
        let Some((step, level)) = step(matrix, &slope, &free) else { break };
        let blocking = blocking(&w, &step, &free);
        let length = blocking.map_or(1.0, |(_, length)| length);
        w.iter_mut().zip(&step).for_each(|(w, step)| *w = (*w + length * step).max(0.0));
        match blocking {
            Some((at, _)) => {
                w[at] = 0.0;
                free[at] = false;
            }
            None => {
                // All slopes of free entries are the same now; a held one below that wants to rise.
                let slope = self::slope(matrix, &w, v);
                let lowest = (0..size).filter(|&at| !free[at]).min_by(|&a, &b| slope[a].total_cmp(&slope[b]));
                match lowest.filter(|&at| slope[at] < level) {
                    Some(at) => free[at] = true,
                    None => break,
                }
            }
        }
    }
    let last = missed(&slope(matrix, &w, v), &w, radius);
    if last <= best.1 { (w, last) } else { best }
}

/// M(w − v).
fn slope(matrix: &Cholesky, w: &[f64], v: &[f64]) -> Vec<f64> {
    let difference: Vec<f64> = w.iter().zip(v).map(|(w, v)| w - v).collect();
    matrix.product(&difference)
}

fn missed(slope: &[f64], w: &[f64], radius: f64) -> f64 {
    let least = slope.iter().copied().fold(f64::INFINITY, f64::min);
    // Σ w_i(r_i − min r): no difference of large numbers. What Σw lacks of the radius is a rounding.
    let over: f64 = slope.iter().zip(w).map(|(r, w)| (r - least) * w).sum();
    over + (w.iter().sum::<f64>() - radius).abs() * least.abs()
}

/// The step to the nearest point of the plane with the entries held that are not free, and the slope that all free ones
/// have there.
fn step(matrix: &Cholesky, slope: &[f64], free: &[bool]) -> Option<(Vec<f64>, f64)> {
    let places: Vec<usize> = (0..slope.len()).filter(|&at| free[at]).collect();
    let part = Cholesky::of(places.len(), |i, j| matrix.entry(places[i], places[j]), dot_in_order, positive_root)?;
    let solved = |mut right: Vec<f64>| {
        part.solve_lower(&mut right, dot_in_order);
        part.solve_upper(&mut right);
        right
    };
    let (by_slope, by_ones) = (solved(places.iter().map(|&at| slope[at]).collect()), solved(vec![1.0; places.len()]));
    let level = by_slope.iter().sum::<f64>() / by_ones.iter().sum::<f64>();
    let mut step = vec![0.0; slope.len()];
    for (&at, (a, b)) in places.iter().zip(by_slope.iter().zip(&by_ones)) {
        step[at] = level * b - a;
    }
    level.is_finite().then_some((step, level))
}

/// The free entry that becomes 0 first on the way, and where on it; none before its end.
fn blocking(w: &[f64], step: &[f64], free: &[bool]) -> Option<(usize, f64)> {
    let falling = (0..w.len()).filter(|&at| free[at] && w[at] + step[at] < 0.0);
    falling.map(|at| (at, w[at] / -step[at])).min_by(|one, other| one.1.total_cmp(&other.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rng::SplitMix64;

    /// Against projected gradient descent in plain loops, and by the condition for every corner.
    #[test]
    fn it_is_the_nearest_point_in_that_norm() {
        let mut random = SplitMix64::new(3);
        let mut uniform = || 2.0 * random.uniform() - 1.0;
        for round in 0..200 {
            let (size, radius) = (2 + round % 7, 0.5 + f64::from(round as u32 % 3));
            let mut matrix = Cholesky::default();
            (0..size).for_each(|i| matrix.grow((0..=i).map(|j| if i == j { 1.0 } else { 0.0 })));
            // Badly conditioned in some rounds.
            let scale = 10f64.powi(round as i32 % 4);
            (0..size).for_each(|_| matrix.update(&mut (0..size).map(|_| scale * uniform()).collect::<Vec<_>>()));
            let v: Vec<f64> = (0..size).map(|_| 2.0 * uniform()).collect();
            let start = vec![radius / size as f64; size];
            let (w, missed) = nearest(&matrix, &v, &start, radius);
            assert!((w.iter().sum::<f64>() - radius).abs() < 1e-12 && w.iter().all(|w| *w >= 0.0));
            assert!(missed <= 1e-9 * scale * scale, "{round}: {missed}");
            // Nobody on a few thousand points of the simplex is nearer.
            let distance = |u: &[f64]| {
                let difference: Vec<f64> = u.iter().zip(&v).map(|(u, v)| u - v).collect();
                dot_in_order(&difference, &matrix.product(&difference))
            };
            let found = distance(&w);
            for _ in 0..500 {
                let mut u: Vec<f64> = (0..size).map(|_| -(0.5 + 0.499 * uniform()).ln()).collect();
                let total: f64 = u.iter().sum();
                u.iter_mut().for_each(|u| *u *= radius / total);
                let mixed: Vec<f64> = u.iter().zip(&w).map(|(u, w)| 0.01 * u + 0.99 * w).collect();
                for u in [u, mixed] {
                    assert!(distance(&u) >= found - 2.0 * missed - 1e-9 * found, "{round}");
                }
            }
        }
    }

    #[test]
    fn corners_and_ties_are_found() {
        let mut matrix = Cholesky::default();
        (0..3).for_each(|i| matrix.grow((0..=i).map(|j| if i == j { 1.0 } else { 0.0 })));
        for (v, nearest_to) in [
            ([9.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
            ([5.0, 5.0, -1.0], [0.5, 0.5, 0.0]),
            ([0.0, 0.0, 0.0], [1.0 / 3.0; 3]),
            ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ] {
            for start in [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0 / 3.0; 3]] {
                let (w, missed) = nearest(&matrix, &v, &start, 1.0);
                assert!(w.iter().zip(nearest_to).all(|(w, u)| (w - u).abs() < 1e-12), "{v:?} {start:?} {w:?}");
                assert!(missed < 1e-12);
            }
        }
    }
}
