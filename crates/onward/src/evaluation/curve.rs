//! The course of a run: points at log-spaced rounds (1, 2, 4, …) and at evenly
//! spaced ones, in bounded memory: when there are too many evenly spaced points,
//! every other one is dropped and the spacing doubles.

use crate::Error;
use crate::archive::{Column, State};

/// Most evenly spaced points that are kept.
const MOST_POINTS: usize = 512;

/// Sums at a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The round: labelled examples so far.
    pub round: u64,
    /// Σ h·ℓ so far.
    pub loss: f64,
    /// Σ h so far.
    pub weight: f64,
    /// The universal guarantee on the regret summed over rounds; at log-spaced rounds only.
    pub guarantee: Option<f64>,
    /// The mean loss of the best constant; at log-spaced rounds only.
    pub baseline: Option<f64>,
}

/// Points at log-spaced and evenly spaced rounds.
#[derive(Debug, Clone)]
pub struct Curve {
    logarithmic: Vec<Point>,
    even: Vec<Point>,
    spacing: u64,
}

impl Default for Curve {
    fn default() -> Self {
        Self { logarithmic: Vec::new(), even: Vec::new(), spacing: 1 }
    }
}

impl Curve {
    /// Whether a point with guarantee and baseline is due at this round.
    pub fn is_logarithmic(&self, round: u64) -> bool {
        round.is_power_of_two()
    }

    /// Whether any point is due at this round.
    pub fn is_due(&self, round: u64) -> bool {
        // The spacing is a power of two, which spares a division in each round.
        round.is_power_of_two() || round & (self.spacing - 1) == 0
    }

    /// Takes in a point that is due.
    pub fn push(&mut self, point: Point) {
        if self.is_logarithmic(point.round) {
            self.logarithmic.push(point);
        }
        if point.round.is_multiple_of(self.spacing) {
            self.even.push(point);
        }
        if self.even.len() > MOST_POINTS {
            self.spacing *= 2;
            let spacing = self.spacing;
            self.even.retain(|point| point.round.is_multiple_of(spacing));
        }
    }

    /// All points in order of round.
    pub fn points(&self) -> Vec<Point> {
        let mut points = self.logarithmic.clone();
        points.extend(self.even.iter().filter(|point| !point.round.is_power_of_two()));
        points.sort_by_key(|point| point.round);
        points
    }

    /// All that is needed to continue to the bit.
    pub fn state(&self) -> State {
        let mut state = State::default();
        state.set("spacing", self.spacing as f64);
        save(&mut state, "logarithmic", &self.logarithmic);
        save(&mut state, "even", &self.even);
        state
    }

    /// Continues from a saved state.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.spacing = state.number("spacing")? as u64;
        if !self.spacing.is_power_of_two() {
            return Err(Error::model("the spacing of the curve is no power of two: the model is damaged"));
        }
        self.logarithmic = load(state, "logarithmic")?;
        self.even = load(state, "even")?;
        Ok(())
    }
}

fn save(state: &mut State, name: &str, points: &[Point]) {
    let mut column = |field: &str, of: fn(&Point) -> f64| {
        state.set_column(&format!("{name}.{field}"), Column::F64(points.iter().map(of).collect()));
    };
    column("round", |point| point.round as f64);
    column("loss", |point| point.loss);
    column("weight", |point| point.weight);
    column("guarantee", |point| point.guarantee.unwrap_or(f64::NAN));
    column("baseline", |point| point.baseline.unwrap_or(f64::NAN));
}

fn load(state: &State, name: &str) -> Result<Vec<Point>, Error> {
    let column = |field: &str| state.f64s(&format!("{name}.{field}"));
    let (rounds, losses, weights) = (column("round")?, column("loss")?, column("weight")?);
    let (guarantees, baselines) = (column("guarantee")?, column("baseline")?);
    let lengths = [losses.len(), weights.len(), guarantees.len(), baselines.len()];
    if lengths.iter().any(|&length| length != rounds.len()) {
        return Err(Error::model("the columns of the curve differ in length: the model is damaged"));
    }
    let known = |value: f64| (!value.is_nan()).then_some(value);
    let point = |at: usize| Point {
        round: rounds[at] as u64,
        loss: losses[at],
        weight: weights[at],
        guarantee: known(guarantees[at]),
        baseline: known(baselines[at]),
    };
    Ok((0..rounds.len()).map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_few_points_at_even_and_at_log_spaced_rounds() {
        let mut curve = Curve::default();
        for round in 1..=100_000u64 {
            if curve.is_due(round) {
                curve.push(Point { round, loss: 0.0, weight: round as f64, guarantee: None, baseline: None });
            }
        }
        let rounds: Vec<u64> = curve.points().iter().map(|point| point.round).collect();
        assert!(rounds.len() <= MOST_POINTS + 17 && rounds.len() > MOST_POINTS / 2);
        assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((0..17).all(|power| rounds.contains(&(1 << power))));
        let spacing = curve.spacing;
        assert!((1..=100_000 / spacing).all(|step| rounds.contains(&(step * spacing))));
    }
}
