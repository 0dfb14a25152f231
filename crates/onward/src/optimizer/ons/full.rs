//! The full matrix of the online Newton step, for the first features that appear.

use super::diagonal::Diagonal;
use super::simplex;
use crate::domain::Domain;
use crate::numeric::linalg::ball::least_on_ball;
use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::vector::dot_in_order;
use crate::optimizer::BEYOND;
use crate::optimizer::prelude::*;
use crate::storage::feature_index::FeatureIndex;

/// M in full for up to `limit` features; on the ball, those that appear later have a diagonal of their own.
#[derive(Debug, Clone)]
pub(super) struct Full {
    domain: Domain,
    radius: f64,
    epsilon: f64,
    features: FeatureIndex,
    weights: Vec<f64>,
    matrix: Cholesky,
    /// The features above the limit.
    beyond: Diagonal,
    has_beyond: bool,
    /// Whether all projections were found.
    is_sound: bool,
    /// Σ of what projections on the simplex may have missed.
    pub(super) missed: f64,
}

impl Full {
    pub(super) fn new(radius: f64, epsilon: f64, limit: usize) -> Self {
        Self {
            domain: Domain::Ball(radius),
            radius,
            epsilon,
            features: FeatureIndex::new(limit),
            weights: Vec::new(),
            matrix: Cholesky::default(),
            beyond: Diagonal::new(radius, epsilon),
            has_beyond: false,
            is_sound: true,
            missed: 0.0,
        }
    }

    /// From the centre of a simplex.
    pub(super) fn on_simplex(radius: f64, dimension: u32, epsilon: f64) -> Self {
        let domain = Domain::Simplex { radius, dimension };
        let mut full = Self { domain, ..Self::new(radius, epsilon, dimension as usize) };
        for index in 0..dimension {
            full.features.number(index);
        }
        full.weights = vec![radius / f64::from(dimension); full.features.len()];
        full.grow();
        full
    }

    /// Gives the features that are new their rows.
    fn grow(&mut self) {
        while self.matrix.size < self.features.len() {
            self.matrix.grow(std::iter::repeat_n(0.0, self.matrix.size).chain([self.epsilon.sqrt()]));
        }
    }

    /// Why the bound does not hold, if so.
    pub(super) fn objection(&self) -> Option<String> {
        match (self.has_beyond, self.is_sound) {
            (true, _) if matches!(self.domain, Domain::Simplex { .. }) => Some(BEYOND.to_owned()),
            (true, _) => Some(format!(
                "there are more features than limit={}; the others have a diagonal matrix",
                self.features.limit()
            )),
            (_, false) => Some("a projection could not be computed: the values are too far apart".to_owned()),
            _ => None,
        }
    }

    pub(super) fn weight(&self, index: u32) -> f64 {
        self.features.find(index).map_or_else(|| self.beyond.weight(index), |number| self.weights[number])
    }

    /// M += (growth·x)(growth·x)ᵀ, w −= M⁻¹z for z = slope·x, and the projection. Returns zᵀM⁻¹z.
    pub(super) fn step(&mut self, slope: f64, growth: f64, x: Features<'_>) -> f64 {
        let (mut row, mut rest) = (Vec::new(), (Vec::new(), Vec::new()));
        for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            match self.features.number(index) {
                Some(number) => row.push((number, f64::from(value))),
                None => {
                    rest.0.push(index);
                    rest.1.push(value);
                }
            }
        }
        if let (false, Ok(rest)) = (rest.0.is_empty(), Features::new(&rest.0, &rest.1)) {
            self.has_beyond = true;
            if let Domain::Ball(_) = self.domain {
                self.beyond.step(slope, growth, rest);
            }
        }
        let size = self.features.len();
        self.weights.resize(size, 0.0);
        self.grow();
        let dense = |factor: f64| {
            let mut dense = vec![0.0; size];
            row.iter().for_each(|&(number, value)| dense[number] = factor * value);
            dense
        };
        self.matrix.update(&mut dense(growth));
        if slope == 0.0 {
            return 0.0;
        }
        let mut direction = dense(slope);
        self.matrix.solve_lower(&mut direction, dot_in_order);
        let square = dot_in_order(&direction, &direction);
        self.matrix.solve_upper(&mut direction);
        match self.domain {
            Domain::Simplex { .. } => self.move_on_simplex(&direction),
            _ => {
                self.weights.iter_mut().zip(&direction).for_each(|(weight, entry)| *weight -= entry);
                self.project();
            }
        }
        square.min(f64::MAX)
    }

    /// w − step, and from there to the nearest point of the simplex.
    fn move_on_simplex(&mut self, step: &[f64]) {
        let target: Vec<f64> = self.weights.iter().zip(step).map(|(weight, step)| weight - step).collect();
        let (nearest, missed) = simplex::nearest(&self.matrix, &target, &self.weights, self.radius);
        self.is_sound &= missed.is_finite();
        if missed.is_finite() {
            self.weights = nearest;
            self.missed = (self.missed + missed).min(f64::MAX);
        }
    }

    /// The point of the ball that is nearest in the norm of M: with the least ½wᵀMw − ⟨Mw', w⟩.
    fn project(&mut self) {
        let size = norm(&self.weights);
        if size <= self.radius {
            return;
        }
        let target = self.matrix.product(&self.weights);
        match least_on_ball(self.matrix.size, |i, j| self.matrix.entry(i, j), &target, self.radius) {
            Some(nearest) => self.weights = nearest,
            None => {
                self.is_sound = false;
                let factor = if size.is_finite() { self.radius / size } else { 0.0 };
                let shrunk = |weight: f64| if weight.is_finite() { weight * factor } else { 0.0 };
                self.weights.iter_mut().for_each(|weight| *weight = shrunk(*weight));
            }
        }
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.beyond.persist(archive)?;
        visit_fields!(archive.flag(self.has_beyond, self.is_sound));
        if let Domain::Simplex { .. } = self.domain {
            archive.number("missed", &mut self.missed)?;
        }
        archive.part("full", |archive| {
            self.features.persist(archive)?;
            archive.column_of(self.features.len(), "weight", &mut self.weights)?;
            self.matrix.persist("factor", self.features.len(), archive)
        })
    }
}

pub(super) fn norm(v: &[f64]) -> f64 {
    dot_in_order(v, v).sqrt()
}
