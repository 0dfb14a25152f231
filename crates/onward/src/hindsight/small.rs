//! A small quadratic problem on a ball, exactly: min ½zᵀAz − cᵀz over ‖z‖ ≤ U, A positive
//! semidefinite.
//!
//! With A = QΛQᵀ the solution is z = Q(Λ + λ)⁻¹Qᵀc, where λ = 0 if that lies in the ball, and
//! else the λ > 0 that puts it on the sphere: the root of 1/U − 1/‖z(λ)‖, which is nearly
//! straight in λ, by Newton's steps (Moré and Sorensen 1983).

use crate::numeric::linalg::eigen::Jacobi;
use crate::numeric::linalg::vector::dot_in_order;

/// A symmetric matrix, taken apart: A = QΛQᵀ.
pub(super) struct Spectrum {
    /// Λ.
    values: Vec<f64>,
    /// The columns of Q.
    vectors: Vec<Vec<f64>>,
}

/// How it is taken apart.
const SPECTRUM: Jacobi = Jacobi { tolerance: 1e-17, is_backward: true, clears: true };

/// Newton's steps for the multiplier; a dozen suffice.
const STEPS: usize = 100;

impl Spectrum {
    /// Of a matrix.
    pub(super) fn new(a: Vec<Vec<f64>>) -> Self {
        let (mut values, vectors) = SPECTRUM.eigen(a);
        values.iter_mut().for_each(|value| *value = value.max(0.0));
        Self { values, vectors }
    }

    /// The largest eigenvalue.
    pub(super) fn largest(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// The solution and its multiplier λ.
    pub(super) fn minimise(&self, c: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let turned: Vec<f64> = self.vectors.iter().map(|vector| dot_in_order(vector, c)).collect();
        // Flatter than this, or without any pull, a direction is none.
        let least = 1e-13 * self.largest();
        let size = |z: &[f64]| dot_in_order(z, z).sqrt();
        let pull = 1e-14 * size(&turned);
        let solve = |multiplier: f64| -> Vec<f64> {
            let entry = |(&value, &c): (&f64, &f64)| {
                let bend = value.max(least) + multiplier;
                if c.abs() <= pull {
                    0.0
                } else if bend > 0.0 {
                    c / bend
                } else {
                    c.signum() * f64::INFINITY
                }
            };
            self.values.iter().zip(&turned).map(entry).collect()
        };
        let mut multiplier = 0.0;
        let mut z = solve(multiplier);
        // Infinite where there is no curvature.
        if size(&z) > radius {
            // The root is between them: ‖z(λ)‖ ≤ ‖c‖/λ.
            let (mut low, mut high) = (0.0, size(&turned) / radius);
            for _ in 0..STEPS {
                let norm = size(&z);
                if (norm - radius).abs() <= 1e-14 * radius || high - low <= 1e-16 * high {
                    break;
                }
                if norm > radius {
                    low = multiplier
                } else {
                    high = multiplier
                }
                let slope: f64 = z
                    .iter()
                    .zip(&self.values)
                    .filter(|(z, _)| **z != 0.0)
                    .map(|(z, value)| z * z / (value.max(least) + multiplier))
                    .sum();
                let next = multiplier + (norm - radius) / radius * norm * norm / slope;
                multiplier = if next > low && next < high { next } else { 0.5 * (low + high) };
                z = solve(multiplier);
            }
            let shrink = (radius / size(&z)).min(1.0);
            z.iter_mut().for_each(|z| *z *= shrink);
        }
        let back = |at: usize| self.vectors.iter().zip(&z).map(|(vector, z)| vector[at] * z).sum();
        ((0..z.len()).map(back).collect(), multiplier)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_solution_meets_the_conditions_of_optimality(
            size in 1usize..12,
            seeds in prop::collection::vec(-1.0..1.0f64, 12 * 13),
            log_radius in -3.0..3.0f64,
            flat: bool,
        ) {
            let radius = 10f64.powf(log_radius);
            // BBᵀ, of a rank that is too low if it is to be flat.
            let rank = if flat { size.div_ceil(2) } else { size + 1 };
            let entry = |i: usize, j: usize| (0..rank).map(|k| seeds[i * 13 + k] * seeds[j * 13 + k]).sum::<f64>();
            let a: Vec<Vec<f64>> = (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect();
            // With a pull in the range of A, as gradients are.
            let c: Vec<f64> = (0..size).map(|i| (0..size).map(|j| a[i][j] * seeds[j * 13 + 12]).sum()).collect();
            let (z, multiplier) = Spectrum::new(a.clone()).minimise(&c, radius);
            let norm = z.iter().map(|z| z * z).sum::<f64>().sqrt();
            prop_assert!(norm <= radius * (1.0 + 1e-14) && multiplier >= 0.0);
            prop_assert!(multiplier == 0.0 || norm >= radius * (1.0 - 1e-8), "{norm} {radius} {multiplier}");
            for i in 0..size {
                let residual = (0..size).map(|j| a[i][j] * z[j]).sum::<f64>() + multiplier * z[i] - c[i];
                prop_assert!(residual.abs() < 1e-7, "{residual}");
            }
        }
    }

    #[test]
    fn without_curvature_it_goes_to_the_edge_of_the_ball() {
        let (z, multiplier) = Spectrum::new(vec![vec![0.0; 2]; 2]).minimise(&[3.0, 4.0], 10.0);
        assert!((z[0] - 6.0).abs() < 1e-12 && (z[1] - 8.0).abs() < 1e-12 && (multiplier - 0.5).abs() < 1e-12);
        assert_eq!(Spectrum::new(vec![vec![0.0; 2]; 2]).minimise(&[0.0; 2], 10.0), (vec![0.0; 2], 0.0));
    }
}
