//! AdaGrad with the full matrix, in the mirror-descent form, for few features (Duchi, Hazan,
//! Singer 2011).
//!
//! G_t = Σ_{s≤t} z_s z_sᵀ, S_t = G_t^½; w_{t+1} = w_t − η S_t⁻¹ z_t (the pseudo-inverse: z_t lies in
//! its range).
//!
//! **Guarantee**, for convex losses and every ‖u‖₂ ≤ U: with D = max_t ‖w_t‖₂ + U,
//! R_T(u) ≤ (D²/(2η) + η) tr S_T, from what happened. (S_t does not fall, so that
//! Σ‖w_t − u‖²_{S_t − S_{t−1}} ≤ D² tr S_T, and Σ z_tᵀS_t⁻¹z_t ≤ 2 tr S_T.)
//!
//! Only the first `features` distinct features get weights; when a row has another with a
//! gradient, there is no guarantee any more.
//!
//! Cost: O(d³) per round, d features so far, for the eigenvalues (Jacobi's method).

use super::adagrad::{ETA, FEATURES, FULL, STEP};
use super::prelude::*;
use crate::domain::RADIUS;
use crate::numeric::linalg::eigen::Jacobi;
use crate::numeric::linalg::vector::{add_scaled, dot_by_lanes};
use crate::numeric::sum::{self, held};
use crate::storage::feature_index::FeatureIndex;

/// Eigenvalues below this part of the largest are what rounding left of 0.
const ROUNDING: f64 = 1e-15;

/// How G is taken apart.
const SPECTRUM: Jacobi = Jacobi { tolerance: 1e-16, is_backward: false, clears: true };

/// Weights are held within the range of f32.
const LARGEST: f64 = f32::MAX as f64;

/// AdaGrad with the full matrix.
#[derive(Debug, Clone)]
pub struct AdaGradFull {
    eta: f64,
    step: StepKind,
    radius: f64,
    features: FeatureIndex,
    weights: Vec<f64>,
    /// G, by rows of `limit` entries.
    matrix: Vec<f64>,
    /// tr S.
    trace: f64,
    /// max_t ‖w_t‖₂.
    largest: f64,
    is_beyond: bool,
    /// η S⁻¹x of this round.
    direction: Vec<f64>,
}

impl AdaGradFull {
    /// With this η, the guarantee for comparators of this radius, and weights for this many features.
    ///
    /// # Errors
    /// When η or the radius is not from 1e-30 to 1e30, or the number of features not from 1 to 64.
    pub fn new(eta: f64, radius: f64, features: u32) -> Result<Self, Error> {
        ETA.check(eta)?;
        RADIUS.check(radius)?;
        FEATURES.check(features)?;
        let limit = features as usize;
        Ok(Self {
            eta,
            step: StepKind::Gradient,
            radius,
            features: FeatureIndex::new(limit),
            weights: Vec::new(),
            matrix: vec![0.0; limit * limit],
            trace: 0.0,
            largest: 0.0,
            is_beyond: false,
            direction: Vec::new(),
        })
    }

    /// The same with this kind of steps.
    #[must_use]
    pub fn with_step(self, step: StepKind) -> Self {
        Self { step, ..self }
    }

    /// x by positions, which new features get while there are any.
    fn place(&mut self, x: Features<'_>) -> Vec<f64> {
        let (row, is_complete) = self.features.number_row(x);
        self.is_beyond |= !is_complete;
        self.weights.resize(self.features.len(), 0.0);
        let mut dense = vec![0.0; self.features.len()];
        row.iter().for_each(|&(number, value)| dense[number as usize] = value);
        dense
    }
}

impl Optimizer for AdaGradFull {
    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let scale = h * g;
        self.direction.clear();
        if scale == 0.0 {
            return self.step.step(h, 0.0);
        }
        let x = self.place(x);
        let (d, limit) = (x.len(), self.features.limit());
        for (i, &one) in x.iter().enumerate() {
            for (j, &other) in x.iter().enumerate() {
                let entry = &mut self.matrix[i * limit + j];
                *entry = (*entry + (scale * one) * (scale * other)).clamp(-held(f64::MAX), held(f64::MAX));
            }
        }
        let (values, vectors) = eigen((0..d).map(|i| self.matrix[i * limit..][..d].to_vec()).collect());
        self.trace = sum::sum(values.iter().map(|value| value.max(0.0).sqrt()));
        let floor = ROUNDING * values.iter().copied().fold(0.0, f64::max);
        // S⁻¹x = Σ ⟨v, x⟩v/√λ.
        self.direction.resize(d, 0.0);
        for (&value, vector) in values.iter().zip(&vectors).filter(|(value, _)| **value > floor) {
            let along = self.eta * dot_by_lanes(vector, &x) / value.sqrt();
            add_scaled(&mut self.direction, along, vector);
        }
        let q = dot_by_lanes(&self.direction, &x);
        self.step.step(h, q.max(0.0))
    }

    fn advance(&mut self, u: f64, _x: Features<'_>) {
        for (weight, direction) in self.weights.iter_mut().zip(&self.direction) {
            *weight = (*weight + u * direction).clamp(-LARGEST, LARGEST);
        }
        let norm = dot_by_lanes(&self.weights, &self.weights).sqrt();
        self.largest = self.largest.max(norm);
    }

    fn weight(&self, index: u32) -> f64 {
        self.features.find(index).map_or(0.0, |position| self.weights[position])
    }

    fn guarantee(&self) -> Guarantee {
        if self.is_beyond {
            return Guarantee::missing(
                "rows had more distinct features than get weights; give a larger number of features",
            );
        }
        let diameter = self.largest + self.radius;
        let bound = (diameter * diameter / (2.0 * self.eta) + self.eta) * self.trace;
        bound_of_sums(Comparator::Ball(self.radius), bound, &[self.trace * self.trace])
    }

    fn describe(&self) -> String {
        let description = Description::of("adagrad").with(&ETA, self.eta).with(&FEATURES, self.features.limit());
        description.with(&FULL, true).with(&COMPARATOR_RADIUS, self.radius).with(&STEP, self.step).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.trace, self.largest));
        archive.flag("beyond", &mut self.is_beyond)?;
        self.features.persist(archive)?;
        archive.column_of(self.features.len(), "weight", &mut self.weights)?;
        archive.array("matrix", &mut self.matrix)
    }
}

/// Eigenvalues and eigenvectors of a symmetric matrix.
fn eigen(mut matrix: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    // To a size whose products stay finite.
    let size = matrix.iter().flatten().fold(0.0f64, |size, entry| size.max(entry.abs()));
    if size > 0.0 {
        matrix.iter_mut().flatten().for_each(|entry| *entry /= size);
    }
    let (values, vectors) = SPECTRUM.eigen(matrix);
    (values.into_iter().map(|value| size * value).collect(), vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_one_feature_it_is_the_diagonal_form() {
        let mut full = AdaGradFull::new(0.5, 1.0, 3).unwrap();
        let mut diagonal = super::super::AdaGrad::new(0.5, 1.0).unwrap();
        for t in 0..30u32 {
            let z = [(t as f32 * 1.1).sin()];
            full.observe(1.0, Features::new(&[4], &z).unwrap());
            diagonal.observe(1.0, Features::new(&[4], &z).unwrap());
            assert!((full.weight(4) - diagonal.weight(4)).abs() < 1e-13);
        }
        let (one, other) = (full.guarantee().bound.unwrap(), diagonal.guarantee().bound.unwrap());
        assert!((one / other - 1.0).abs() < 1e-13);
    }

    /// Turning all features leaves the matrix form's scores as they are: the diagonal form's change.
    #[test]
    fn scores_do_not_depend_on_the_axes() {
        let (cosine, sine) = (0.6f32, 0.8f32);
        let mut straight = AdaGradFull::new(0.5, 1.0, 3).unwrap();
        let mut turned = straight.clone();
        for t in 0..50u32 {
            let z = [(t as f32 * 1.1).sin() * 3.0, (t as f32 * 0.3).cos() * 0.5];
            let w = [cosine * z[0] - sine * z[1], sine * z[0] + cosine * z[1]];
            let (x, y) = (Features::new(&[0, 1], &z).unwrap(), Features::new(&[0, 1], &w).unwrap());
            // Features are f32: rounding of the turn.
            assert!((straight.dot(x) - turned.dot(y)).abs() < 1e-4, "round {t}");
            straight.observe(1.0, x);
            turned.observe(1.0, y);
        }
    }

    #[test]
    fn a_feature_too_many_ends_the_guarantee() {
        let mut full = AdaGradFull::new(0.5, 1.0, 2).unwrap();
        full.observe(1.0, Features::new(&[0, 1], &[1.0, 2.0]).unwrap());
        assert!(full.guarantee().bound.is_ok());
        full.observe(1.0, Features::new(&[0, 9], &[1.0, 2.0]).unwrap());
        assert!(full.guarantee().bound.is_err());
        assert_eq!(full.weight(9), 0.0);
        assert!(AdaGradFull::new(0.5, 1.0, 65).is_err());
    }
}
