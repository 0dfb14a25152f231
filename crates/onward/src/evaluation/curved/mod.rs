//! The curved certificate: what every linear predictor with scores within ±C must pay, of whatever size its weights are.
//!
//! On scores within ±C a loss with curvature has the quadratic minorant
//!
//! > ℓ(q) ≥ ℓ(p) + g(q − p) + (a/2)(q − p)²
//!
//! at the charged score p (clipped to ±C), g the slope there and a the largest such number. With q = b + ⟨u, x⟩
//! the sum over rounds is a quadratic function of u, Σ h(…) = c − ⟨v, u⟩ + ½uᵀHu, H = Σ h a xxᵀ. Its minimum, c − ½vᵀH⁻¹v, is
//! less than what any u pays whose scores stay within ±C: no radius, no scales. For the squared loss a = 2 whatever C is, the
//! minorant is the loss itself, and the certificate is the regret against the best linear predictor, exact, after one pass.
//!
//! # Which features
//! H is kept for a limited number of features. A feature enters at its first sight or never: before that it was 0, so nothing of it
//! was missed. Where there are more, the sums end, unless some are reserved: columns of numbers, which come before
//! others; then the class is that of the predictors on the features that found room.
//!
//! # Rounding
//! Rows are summed in blocks, and blocks with a running compensation, so that sums have the error of one block. A
//! feature that is (nearly) a combination of others is left out of the class, which says so: what is left is solved stably, and the
//! floor is lowered by a bound on the errors of sums and solution. (An exact combination adds nothing to a class; a near one may
//! add much, with large weights, and sums cannot tell them apart.)

mod members;
mod sums;

use super::certificate::BIAS;
use crate::archive::Archive;
use crate::loss::{Evaluation, largest_bend};
use crate::numeric::linalg::vector::dot;
use crate::numeric::sum::Sum;
use crate::{Error, Features, Loss};
use members::Members;
use sums::{QuadraticSums, TERMS};

/// C, where none is given.
pub const DEFAULT_SCORE_BOUND: f64 = 10.0;

/// The features that are kept where nothing is said.
pub const DEFAULT_MEMBERS: usize = 64;

/// A feature of which less than this share is left beside others is a combination of them.
const DEPENDENT: f64 = 1e-8;

/// Sums of the quadratic minorants.
#[derive(Debug, Clone)]
pub struct CurvedCertificate {
    /// C.
    bound: f64,
    members: Members,
    /// Whether a feature found no room where none was reserved.
    is_over: bool,
    /// What scores are counted from, so that labels far from 0 do not drown what is small beside them: the first label, where
    /// every row has a bias to make up for it.
    centre: f64,
    /// c.
    constant: Sum,
    /// v and H.
    sums: QuadraticSums,
    /// Σ h(|ap| + |g|)²/a: |v_i|² is at most this times H_ii, whatever the signs; and Σ h of the sizes of what c is made of: what
    /// rounding is a share of.
    slopes: f64,
    size: f64,
    /// A label of either sign, and what it is charged at −C and C.
    ends: [(f64, f64, f64); 2],
}

/// What the best of the class pays at least.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvedFloor {
    /// The least sum of losses.
    pub floor: f64,
    /// The features that the class is about.
    pub features: Vec<u32>,
    /// How many more are combinations of these, or nearly, and left out.
    pub combinations: u64,
}

impl CurvedCertificate {
    /// For scores within ±`bound` and at most `limit` features; indices below `reserved` go before others.
    pub fn new(bound: f64, limit: usize, reserved: u32) -> Self {
        let members = Members::new(limit, reserved);
        Self {
            bound,
            sums: QuadraticSums::new(members.limit()),
            members,
            is_over: false,
            centre: 0.0,
            constant: Sum::default(),
            slopes: 0.0,
            size: 0.0,
            ends: [(f64::NAN, 0.0, 0.0); 2],
        }
    }

    /// C.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Takes in a round: the charged score, the label, what it was charged, and the importance above 0.
    pub fn observe(&mut self, loss: &dyn Loss, p: f64, y: f64, charged: Evaluation, h: f64, x: Features<'_>) {
        if self.is_over {
            return;
        }
        if self.centre != 0.0 && !has_bias(x) {
            self.is_over = true;
            return;
        }
        for (position, (&index, &value)) in x.indices().iter().zip(x.values()).enumerate() {
            if value == 0.0 {
                continue;
            }
            match self.members.place(position, index) {
                // Without columns of numbers there is no telling which features matter.
                members::NONE if self.members.reserved() <= 1 => {
                    self.is_over = true;
                    return;
                }
                members::NONE => {}
                place => self.sums.set(place, f64::from(value)),
            }
        }
        let clipped = p.clamp(-self.bound, self.bound);
        let at = if clipped == p { charged } else { loss.evaluate(clipped, y) };
        let ends = self.ends(loss, y);
        let bend = largest_bend(loss, (clipped, y), at, self.bound, ends) * (1.0 - 8.0 * f64::EPSILON);
        let moved = clipped - x.offset() - self.centre;
        let slope = bend * moved - at.derivative;
        if bend > 0.0 {
            let (along, square) = (at.derivative * moved, 0.5 * bend * moved * moved);
            self.constant.add(h * (at.value - along + square));
            self.size += h * (at.value.abs() + along.abs() + square);
            let size = (bend * moved).abs() + at.derivative.abs();
            self.slopes += h * size * size / bend;
            self.sums.push(h * slope, h * bend);
        } else {
            // A row without curvature would have no minimum: of it the least loss is kept.
            match loss.conjugate(clipped, y, at) {
                Some(conjugate) => self.constant.add(h * conjugate.least),
                None => self.is_over = true,
            }
            self.sums.push(0.0, 0.0);
        }
    }

    /// What a label is charged at −C and C: that of two classes is computed once.
    fn ends(&mut self, loss: &dyn Loss, y: f64) -> (f64, f64) {
        let kept = &mut self.ends[usize::from(y > 0.0)];
        if kept.0 != y && self.bound.is_finite() {
            *kept = (y, loss.value(-self.bound, y), loss.value(self.bound, y));
        }
        (kept.1, kept.2)
    }

    /// Counts scores from this label, if the first row has a bias; before anything is taken in.
    pub fn centre(&mut self, label: f64, x: Features<'_>) {
        if has_bias(x) {
            self.centre = label;
        }
    }

    /// What no predictor of the class pays less than.
    ///
    /// # Errors
    /// The reason why there is no such bound.
    pub fn floor(&self) -> Result<CurvedFloor, String> {
        if self.is_over {
            return Err(format!("there are more than {} features, or rows without a bias", self.members.limit()));
        }
        let indices = self.members.indices();
        // What scores are counted from is made up for by the bias, which is therefore kept.
        let first = indices.iter().position(|&index| index == BIAS);
        let solved = Solution::of(indices.len(), first, |i, j| self.sums.bend(i, j), |i| self.sums.slope(i));
        if solved.kept.is_empty() {
            return Err("the loss has no curvature on scores so far apart".to_owned());
        }
        // Sums of a block and of all blocks, and the products in them, round by so much.
        let rounding = f64::EPSILON * TERMS;
        let share = rounding * solved.kept.len() as f64 * solved.condition;
        if share >= 0.5 {
            return Err("its features are too nearly combinations of each other".to_owned());
        }
        // ½‖v‖² in the norm of H⁻¹, where v is off by its own rounding, and H is at least 1 − share of itself.
        let off = rounding * (solved.kept.len() as f64 * solved.condition * self.slopes).sqrt();
        let gained = 0.5 * (solved.norm + off).powi(2) / (1.0 - share);
        let constant = self.constant.total();
        let floor = constant - gained - 4.0 * (2.0 * f64::EPSILON * self.size + rounding * gained);
        let mut kept = solved.kept;
        kept.sort_unstable();
        let features = kept.iter().map(|&at| indices[at]).collect();
        let combinations = (solved.seen - kept.len()) as u64;
        if floor.is_finite() {
            Ok(CurvedFloor { floor, features, combinations })
        } else {
            Err("its sums are beyond 64-bit floats".to_owned())
        }
    }

    /// Saves or loads what is needed to continue to the bit. Returns whether it was there.
    ///
    /// # Errors
    /// When it does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<bool, Error> {
        let mut header = vec![
            self.bound,
            self.members.limit() as f64,
            f64::from(self.members.reserved()),
            f64::from(u8::from(self.is_over)),
            self.constant.sum,
            self.constant.lost,
            self.slopes,
            self.size,
            self.centre,
        ];
        archive.optional_column("header", &mut header)?;
        if archive.is_loading() && header.is_empty() {
            return Ok(false);
        }
        let &[bound, limit, reserved, is_over, sum, lost, slopes, size, centre] = header.as_slice() else {
            return archive.require(None, "header", "must have nine numbers");
        };
        if archive.is_loading() {
            let is_finite = [sum, lost, slopes, size, centre].iter().all(|number| number.is_finite());
            let is_sound = (bound == DEFAULT_SCORE_BOUND || bound == f64::INFINITY)
                && is_finite
                && slopes >= 0.0
                && size >= 0.0
                && (1.0..=members::MOST as f64).contains(&limit)
                && (0.0..=f64::from(u32::MAX)).contains(&reserved);
            archive.check(is_sound, "header", "must be within its ranges")?;
            *self = Self::new(bound, limit as usize, reserved as u32);
            (self.is_over, self.slopes, self.size, self.centre) = (is_over != 0.0, slopes, size, centre);
            self.constant = Sum { sum, lost };
        }
        if self.is_over {
            return Ok(true);
        }
        let mut members = self.members.indices().to_vec();
        archive.optional_column("members", &mut members)?;
        if archive.is_loading() {
            let places: Vec<u16> = members.iter().map(|&index| self.members.place(0, index)).collect();
            let are_there = places.iter().zip(0..).all(|(place, expected)| *place == expected);
            archive.check(are_there, "members", "must be different, and as many as there is room for")?;
        }
        self.sums.persist(archive)?;
        Ok(true)
    }
}

/// Whether a row begins with the bias.
fn has_bias(x: Features<'_>) -> bool {
    x.indices().first() == Some(&BIAS) && x.values().first() == Some(&1.0)
}

/// The minimum of ½uᵀHu − ⟨v, u⟩ over the features that are no combinations of others, by a pivoted Cholesky factor of H scaled to a
/// unit diagonal.
struct Solution {
    /// The features, by their places.
    kept: Vec<usize>,
    /// ‖v‖ in the norm of H⁻¹.
    norm: f64,
    /// At least the norm of the inverse of the scaled H.
    condition: f64,
    /// How many features were other than 0.
    seen: usize,
}

impl Solution {
    fn of(size: usize, first: Option<usize>, bend: impl Fn(usize, usize) -> f64, slope: impl Fn(usize) -> f64) -> Self {
        let scales: Vec<f64> = (0..size).map(|at| bend(at, at).max(0.0).sqrt()).collect();
        let entry = |i: usize, j: usize| bend(i, j) / (scales[i] * scales[j]);
        let mut left: Vec<f64> = scales.iter().map(|&scale| if scale > 0.0 { 1.0 } else { 0.0 }).collect();
        // Of each feature, what is orthogonal to one pivot after the other.
        let mut lines: Vec<Vec<f64>> = vec![Vec::new(); size];
        let (mut kept, mut pivots) = (Vec::new(), Vec::new());
        loop {
            let largest = (0..size).max_by(|&a, &b| left[a].total_cmp(&left[b]));
            let next = first.filter(|_| kept.is_empty()).or(largest).filter(|&at| left[at] > DEPENDENT);
            let Some(next) = next else { break };
            let pivot = left[next].sqrt();
            let line = lines[next].clone();
            for other in 0..size {
                if left[other] == 0.0 || other == next {
                    continue;
                }
                let along = (entry(other, next) - dot(&lines[other], &line)) / pivot;
                lines[other].push(along);
                left[other] = (left[other] - along * along).max(0.0);
            }
            left[next] = 0.0;
            kept.push(next);
            pivots.push(pivot);
        }
        // L z = v, and the columns of L⁻¹ for the norm of the inverse.
        let forward = |right: &dyn Fn(usize) -> f64| {
            let mut z: Vec<f64> = Vec::with_capacity(kept.len());
            for (row, &at) in kept.iter().enumerate() {
                let sum = dot(&lines[at][..row], &z);
                z.push((right(row) - sum) / pivots[row]);
            }
            z
        };
        let z = forward(&|row| slope(kept[row]) / scales[kept[row]]);
        let inverse = (0..kept.len()).map(|unit| {
            let column = forward(&|row| f64::from(u8::from(row == unit)));
            dot(&column, &column)
        });
        let condition = inverse.sum::<f64>();
        let seen = scales.iter().filter(|&&scale| scale > 0.0).count();
        Self { norm: dot(&z, &z).sqrt(), condition, kept, seen }
    }
}
