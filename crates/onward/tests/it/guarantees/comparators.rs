//! The best comparator of a class by plain means: projected gradient steps, accelerated where
//! the loss is smooth, and subgradient steps for kinks. What they find is in the class, so a
//! regret against it is one that the learner really had.

use std::borrow::Cow;
use std::collections::HashMap;

use onward::Loss;
use onward::guarantee::Comparator;

use crate::common::Row;

/// Least Σ h·ℓ over the class that was found from `start` on, which moves there; `None` for
/// classes that are not of weight vectors.
pub(crate) fn least(rows: &[Row], loss: &dyn Loss, class: Comparator, start: &mut Vec<f64>) -> Option<f64> {
    if !is_of_weights(class) {
        return None;
    }
    let rows = joined(rows);
    // Long streams are gone over less often: each comes from the best of its first half.
    let steps = if rows.len() <= 10_000 { 60 } else { 10 };
    let scales = standard_scales(&rows, start.len());
    let problem = Problem { rows: &rows, loss, class, scales };
    problem.project(start);
    let (accelerated, point) = problem.accelerated(start.clone(), steps);
    // Kinks stop the accelerated steps: subgradients go on from there.
    let (kinked, point) = problem.subgradient(point, steps);
    *start = point;
    Some(accelerated.min(kinked))
}

/// Equal rows, if there are many, as one with their weights together.
fn joined(rows: &[Row]) -> Cow<'_, [Row]> {
    let mut at = HashMap::new();
    let mut joined: Vec<Row> = Vec::new();
    for row in rows {
        if 2 * joined.len() > rows.len() {
            return Cow::Borrowed(rows);
        }
        let values: Vec<u32> = row.values.iter().map(|value| value.to_bits()).collect();
        let key = (row.indices.clone(), values, row.label.to_bits(), row.offset.to_bits());
        let place = *at.entry(key).or_insert(joined.len());
        match joined.get_mut(place) {
            Some(same) => same.weight += row.weight,
            None => joined.push(row.clone()),
        }
    }
    Cow::Owned(joined)
}

pub(crate) fn is_of_weights(class: Comparator) -> bool {
    use Comparator::{Ball, Box, L1Ball, Orthant, PNormBall, Simplex, StandardisedBall};
    matches!(class, Ball(_) | Box(_) | L1Ball(_) | Orthant(_) | PNormBall { .. } | Simplex(_) | StandardisedBall(_))
}

/// The root mean square of each feature.
fn standard_scales(rows: &[Row], dimension: usize) -> Vec<f64> {
    let mut squares = vec![0.0; dimension];
    let mut weight = 0.0;
    for row in rows {
        weight += row.weight;
        for (&index, &value) in row.indices.iter().zip(&row.values) {
            squares[index as usize] += row.weight * f64::from(value) * f64::from(value);
        }
    }
    squares.into_iter().map(|square| (square / weight).sqrt()).collect()
}

struct Problem<'a> {
    rows: &'a [Row],
    loss: &'a dyn Loss,
    class: Comparator,
    scales: Vec<f64>,
}

impl Problem<'_> {
    fn total(&self, u: &[f64]) -> f64 {
        self.rows.iter().map(|row| row.weight * self.loss.value(row.score(u), row.label)).sum()
    }

    fn gradient(&self, u: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; u.len()];
        for row in self.rows {
            let g = row.weight * self.loss.derivative(row.score(u), row.label);
            for (&index, &value) in row.indices.iter().zip(&row.values) {
                gradient[index as usize] += g * f64::from(value);
            }
        }
        gradient
    }

    /// Into the class: the Euclidean projection but for p-norm and standardised balls, into which
    /// the point is scaled.
    fn project(&self, u: &mut [f64]) {
        let scale = |u: &mut [f64], size: f64, radius: f64| {
            if size > radius {
                u.iter_mut().for_each(|entry| *entry *= radius / size);
            }
        };
        match self.class {
            Comparator::Ball(radius) => scale(u, norm(u), radius),
            Comparator::StandardisedBall(radius) => {
                let squares = u.iter().zip(&self.scales).map(|(entry, scale)| (entry * scale).powi(2));
                scale(u, squares.sum::<f64>().sqrt(), radius);
            }
            Comparator::Box(radius) => u.iter_mut().for_each(|entry| *entry = entry.clamp(-radius, radius)),
            Comparator::Orthant(radius) => {
                u.iter_mut().for_each(|entry| *entry = entry.max(0.0));
                scale(u, norm(u), radius);
            }
            Comparator::Simplex(radius) => simplex(u, radius),
            Comparator::L1Ball(radius) if u.iter().map(|entry| entry.abs()).sum::<f64>() > radius => {
                let mut sizes: Vec<f64> = u.iter().map(|entry| entry.abs()).collect();
                simplex(&mut sizes, radius);
                u.iter_mut().zip(sizes).for_each(|(entry, size)| *entry = size.copysign(*entry));
            }
            Comparator::PNormBall { p, radius } => {
                scale(u, u.iter().map(|entry| entry.abs().powf(p)).sum::<f64>().powf(1.0 / p), radius);
            }
            _ => {}
        }
    }

    /// Accelerated projected gradient with backtracking and restarts.
    fn accelerated(&self, start: Vec<f64>, steps: usize) -> (f64, Vec<f64>) {
        let (mut point, mut leading, mut momentum) = (start.clone(), start, 1.0f64);
        let mut value = self.total(&point);
        let mut rate = 1.0 / self.rows.iter().map(|row| row.weight).sum::<f64>().max(1e-300);
        for _ in 0..steps {
            let gradient = self.gradient(&leading);
            let at_leading = self.total(&leading);
            rate *= 2.0;
            let mut next = leading.clone();
            for _ in 0..60 {
                next = leading.iter().zip(&gradient).map(|(entry, z)| entry - rate * z).collect();
                self.project(&mut next);
                let moved: Vec<f64> = next.iter().zip(&leading).map(|(next, from)| next - from).collect();
                let slope: f64 = moved.iter().zip(&gradient).map(|(step, z)| step * z).sum();
                let model = at_leading + slope + norm(&moved).powi(2) / (2.0 * rate);
                if self.total(&next) <= model + 1e-12 * model.abs() {
                    break;
                }
                rate /= 2.0;
            }
            let reached = self.total(&next);
            if reached >= value {
                if momentum == 1.0 {
                    break;
                }
                (leading, momentum) = (point.clone(), 1.0);
                continue;
            }
            let following = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
            let weight = (momentum - 1.0) / following;
            leading = next.iter().zip(&point).map(|(next, from)| next + weight * (next - from)).collect();
            (point, value, momentum) = (next, reached, following);
        }
        (value, point)
    }

    /// Projected subgradient steps of falling length.
    fn subgradient(&self, start: Vec<f64>, steps: usize) -> (f64, Vec<f64>) {
        let radius = self.class.radius().unwrap_or(1.0);
        let (mut point, mut best) = (start.clone(), (self.total(&start), start));
        for step in 1..=steps {
            let gradient = self.gradient(&point);
            let length = 0.3 * radius / f64::from(step as u32) / norm(&gradient).max(1e-300);
            point.iter_mut().zip(&gradient).for_each(|(entry, z)| *entry -= length * z);
            self.project(&mut point);
            let value = self.total(&point);
            if value < best.0 {
                best = (value, point.clone());
            }
        }
        best
    }
}

fn norm(u: &[f64]) -> f64 {
    u.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// The Euclidean projection on the simplex of a radius, by sorting.
fn simplex(u: &mut [f64], radius: f64) {
    let mut sorted = u.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, 0.0);
    for (at, entry) in sorted.iter().enumerate() {
        sum += entry;
        let candidate = (sum - radius) / (at + 1) as f64;
        if *entry > candidate {
            threshold = candidate;
        }
    }
    u.iter_mut().for_each(|entry| *entry = (*entry - threshold).max(0.0));
}

/// The least ⟨θ, u⟩ over a class, in closed form: what the best comparator of a linear game
/// with Σz = θ pays.
pub(crate) fn least_linear(theta: &[f64], class: Comparator) -> Option<f64> {
    let largest = theta.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    match class {
        Comparator::Ball(radius) => Some(-radius * norm(theta)),
        Comparator::Box(radius) => Some(-radius * theta.iter().map(|entry| entry.abs()).sum::<f64>()),
        Comparator::L1Ball(radius) => Some(-radius * largest),
        Comparator::Orthant(radius) => {
            let helpful: Vec<f64> = theta.iter().map(|entry| entry.min(0.0)).collect();
            Some(-radius * norm(&helpful))
        }
        Comparator::Simplex(radius) => Some(radius * theta.iter().copied().fold(f64::INFINITY, f64::min)),
        Comparator::PNormBall { p, radius } => {
            let q = p / (p - 1.0);
            Some(-radius * theta.iter().map(|entry| entry.abs().powf(q)).sum::<f64>().powf(1.0 / q))
        }
        _ => None,
    }
}
