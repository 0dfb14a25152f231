//! The quadratic model of a step, on the subspace that a few directions span.
//!
//! B has the directions, orthonormal, as its columns; the first is that of the point v, unless that is 0: v = Bs.
//! H is the Hessian of the model and g its gradient at v.

use super::cholesky;
use crate::numeric::linalg::vector::{add_scaled, dot, norm, scaled};

/// The directions, and what products with H say of the model there.
pub(super) struct Subspace<'a> {
    v: &'a [f64],
    g: &'a [f64],
    /// ‖v‖.
    size: f64,
    /// What is added to H.
    damping: f64,
    /// B.
    pub(super) basis: Vec<Vec<f64>>,
    /// HB, without damping.
    images: Vec<Vec<f64>>,
    /// A = BᵀHB, damped.
    pub(super) small: Vec<Vec<f64>>,
    /// ⟨Hb_i, Hb_j⟩, the lower triangle, and ⟨Hb_i, g⟩.
    squares: Vec<f64>,
    pulls: Vec<f64>,
}

/// Rounds of the bound's problem; a few suffice.
const ROUNDS: usize = 4;

impl<'a> Subspace<'a> {
    /// The direction of v alone, if it has one.
    pub(super) fn new(v: &'a [f64], g: &'a [f64], damping: f64) -> Self {
        let size = norm(v);
        let basis = if size > 0.0 { vec![scaled(v, 1.0 / size)] } else { Vec::new() };
        let (images, small, squares, pulls) = Default::default();
        Self { v, g, size, damping, basis, images, small, squares, pulls }
    }

    /// The directions that have no image yet.
    pub(super) fn new_directions(&self) -> &[Vec<f64>] {
        &self.basis[self.images.len()..]
    }

    /// Takes in the images of new directions.
    pub(super) fn add_images(&mut self, images: impl IntoIterator<Item = Vec<f64>>) {
        self.images.extend(images);
        let Self { basis, images, small, .. } = self;
        for at in small.len()..images.len() {
            self.squares.extend(images[..=at].iter().map(|other| dot(other, &images[at])));
            self.pulls.push(dot(&images[at], self.g));
            let product = |other: usize| 0.5 * (dot(&basis[at], &images[other]) + dot(&basis[other], &images[at]));
            let mut line: Vec<f64> = (0..=at).map(product).collect();
            line[at] += self.damping;
            small.iter_mut().zip(&line).for_each(|(other, &entry)| other.push(entry));
            small.push(line);
        }
    }

    /// Bᵀg.
    pub(super) fn pull(&self) -> Vec<f64> {
        self.basis.iter().map(|one| dot(one, self.g)).collect()
    }

    /// `from` + factor·Bz.
    pub(super) fn moved(&self, mut from: Vec<f64>, factor: f64, z: &[f64]) -> Vec<f64> {
        self.basis.iter().zip(z).for_each(|(one, &z)| add_scaled(&mut from, factor * z, one));
        from
    }

    /// g + HBz, without damping.
    pub(super) fn gradient(&self, z: &[f64]) -> Vec<f64> {
        let mut gradient = self.g.to_vec();
        self.images.iter().zip(z).for_each(|(image, &z)| add_scaled(&mut gradient, z, image));
        gradient
    }

    /// zᵀAz.
    pub(super) fn curvature(&self, z: &[f64]) -> f64 {
        z.iter().zip(&self.small).map(|(value, row)| value * dot(row, z)).sum()
    }

    /// The z at which the tangents prove most of the model, nearly, and that bound, less the value at v.
    ///
    /// The tangents at v + Bz prove of the model no less than a constant − ½zᵀAz − zᵀAs − U‖g + Hz‖. Where that is
    /// largest is not where the model is least: the former asks for a short gradient, the latter for a small value, which
    /// comes first by far where curvature is small. (Likewise the residuals of conjugate gradients are longer than those of
    /// the minimal residual method in the same space.)
    ///
    /// As U‖θ‖ is the least of ½‖θ‖²/λ + ½λU² over λ, at λ = ‖θ‖/U, z and λ are found in turn:
    /// (λA + BᵀH²B)z = −(λAs + BᵀHg). `length` is the ‖θ‖ to begin with.
    pub(super) fn best_bound(&self, radius: f64, length: f64) -> Option<(Vec<f64>, f64)> {
        let mut lambda = length / radius;
        let mut found = None;
        for _ in 0..ROUNDS {
            if !(lambda > 0.0 && lambda.is_finite()) {
                break;
            }
            let mut triangle = self.squares.clone();
            let mut start = 0;
            for (at, line) in self.small.iter().enumerate() {
                triangle[start..=start + at].iter_mut().zip(line).for_each(|(sum, entry)| *sum += lambda * entry);
                triangle[start + at] -= lambda * self.damping;
                start += at + 1;
            }
            let pull = |(at, pull): (usize, &f64)| -pull - lambda * self.size * self.small[0][at];
            let mut z: Vec<f64> = self.pulls.iter().enumerate().map(pull).collect();
            cholesky::solve(&cholesky::factor(&triangle, z.len(), 0.0), &mut z);
            let length = norm(&self.gradient(&z));
            lambda = length / radius;
            if !lambda.is_finite() {
                break;
            }
            found = Some((z, length));
        }
        // The value of the model at v, less that of the tangent to it there at the best of the ball.
        found.map(|(z, length)| {
            let along = if self.size > 0.0 { self.size * dot(&self.small[0], &z) } else { 0.0 };
            let lower = -0.5 * self.curvature(&z) - along - dot(self.g, self.v) - radius * length;
            (z, lower)
        })
    }
}
