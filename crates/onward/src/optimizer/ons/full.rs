//! The full matrix of the online Newton step, for the first features that appear.

use super::cholesky::Cholesky;
use super::diagonal::Diagonal;
use crate::archive::{Column, State};
use crate::storage::table::Table;
use crate::{Error, Features};

/// M in full for up to `limit` features; those that appear later have a diagonal of their own.
#[derive(Debug, Clone)]
pub(super) struct Full {
    radius: f64,
    epsilon: f64,
    limit: usize,
    /// One more than the number of a feature; 0: not met.
    numbers: Table<u32>,
    indices: Vec<u32>,
    weights: Vec<f64>,
    matrix: Cholesky,
    /// The features above the limit.
    beyond: Diagonal,
    has_beyond: bool,
    /// Whether all projections were found.
    is_sound: bool,
}

/// Newton steps for a projection, at most; it takes a handful.
const STEPS: usize = 100;

/// ‖w‖ is this near U after a projection.
const TOLERANCE: f64 = 1e-12;

impl Full {
    pub(super) fn new(radius: f64, epsilon: f64, limit: usize) -> Self {
        Self {
            radius,
            epsilon,
            limit,
            numbers: Table::default(),
            indices: Vec::new(),
            weights: Vec::new(),
            matrix: Cholesky::default(),
            beyond: Diagonal::new(radius, epsilon),
            has_beyond: false,
            is_sound: true,
        }
    }

    /// Why the bound does not hold, if so.
    pub(super) fn objection(&self) -> Option<String> {
        match (self.has_beyond, self.is_sound) {
            (true, _) => {
                Some(format!("there are more features than the {} of limit: the rest is diagonal", self.limit))
            }
            (_, false) => Some("a projection could not be computed: the values are too far apart".to_owned()),
            _ => None,
        }
    }

    pub(super) fn weight(&self, index: u32) -> f64 {
        match self.numbers.get(index) {
            0 => self.beyond.weight(index),
            number => self.weights[number as usize - 1],
        }
    }

    fn number(&mut self, index: u32) -> Option<usize> {
        let known = self.numbers.get(index);
        if known > 0 {
            return Some(known as usize - 1);
        }
        if self.indices.len() >= self.limit {
            return None;
        }
        self.indices.push(index);
        self.weights.push(0.0);
        self.matrix.grow(self.epsilon);
        *self.numbers.slot(index) = self.indices.len() as u32;
        Some(self.indices.len() - 1)
    }

    /// M += (growth·x)(growth·x)ᵀ, w −= M⁻¹z for z = slope·x, and the projection. Returns zᵀM⁻¹z.
    pub(super) fn step(&mut self, slope: f64, growth: f64, x: Features<'_>) -> f64 {
        let (mut row, mut rest) = (Vec::new(), (Vec::new(), Vec::new()));
        for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            match self.number(index) {
                Some(number) => row.push((number, f64::from(value))),
                None => {
                    rest.0.push(index);
                    rest.1.push(value);
                }
            }
        }
        if let (false, Ok(rest)) = (rest.0.is_empty(), Features::new(&rest.0, &rest.1)) {
            self.has_beyond = true;
            self.beyond.step(slope, growth, rest);
        }
        let size = self.weights.len();
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
        self.matrix.solve_lower(&mut direction);
        let square = direction.iter().map(|entry| entry * entry).sum::<f64>();
        self.matrix.solve_upper(&mut direction);
        self.weights.iter_mut().zip(&direction).for_each(|(weight, entry)| *weight -= entry);
        self.project();
        square.min(f64::MAX)
    }

    /// The point of the ball that is nearest in the norm of M: w = (M + λI)⁻¹Mw', with the λ ≥ 0 at which
    /// ‖w‖ = U. As a function of λ, 1/‖w‖ is concave and nearly straight: Newton's steps come from the
    /// left and are few, of O(d³) each.
    fn project(&mut self) {
        let size = norm(&self.weights);
        if size <= self.radius {
            return;
        }
        match self.nearest() {
            Some(nearest) => self.weights = nearest,
            None => {
                self.is_sound = false;
                let factor = if size.is_finite() { self.radius / size } else { 0.0 };
                let shrunk = |weight: f64| if weight.is_finite() { weight * factor } else { 0.0 };
                self.weights.iter_mut().for_each(|weight| *weight = shrunk(*weight));
            }
        }
    }

    fn nearest(&self) -> Option<Vec<f64>> {
        let target = self.matrix.product(&self.weights);
        let mut lambda = 0.0;
        for _ in 0..STEPS {
            let shifted =
                Cholesky::of(self.matrix.size(), |i, j| self.matrix.entry(i, j) + if i == j { lambda } else { 0.0 })?;
            let mut point = target.clone();
            shifted.solve_lower(&mut point);
            shifted.solve_upper(&mut point);
            let size = norm(&point);
            if !size.is_finite() {
                return None;
            }
            if size <= self.radius * (1.0 + TOLERANCE) {
                let factor = (self.radius / size).min(1.0);
                point.iter_mut().for_each(|entry| *entry *= factor);
                return Some(point);
            }
            shifted.solve_lower(&mut point);
            let ratio = size / norm(&point);
            lambda += ratio * ratio * (size - self.radius) / self.radius;
        }
        None
    }

    pub(super) fn state(&self) -> State {
        let mut state = self.beyond.state();
        state.set("has_beyond", f64::from(u8::from(self.has_beyond)));
        state.set("is_sound", f64::from(u8::from(self.is_sound)));
        state.set_column("full.index", Column::U32(self.indices.clone()));
        state.set_column("full.weight", Column::F64(self.weights.clone()));
        state.set_column("full.factor", Column::F64(self.matrix.factor().to_vec()));
        state
    }

    pub(super) fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.beyond.restore(state)?;
        self.has_beyond = state.number("has_beyond")? != 0.0;
        self.is_sound = state.number("is_sound")? != 0.0;
        self.indices = state.u32s("full.index")?.to_vec();
        self.weights = state.f64s("full.weight")?.to_vec();
        if self.weights.len() != self.indices.len() || self.indices.len() > self.limit {
            return Err(Error::model("the columns of ons differ in length: the model is damaged"));
        }
        self.matrix = Cholesky::restored(self.indices.len(), state.f64s("full.factor")?)?;
        self.numbers = Table::filled(&self.indices, 1..self.indices.len() as u32 + 1)?;
        Ok(())
    }
}

pub(super) fn norm(v: &[f64]) -> f64 {
    v.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}
