//! The curved certificate: what every linear predictor with scores within ±C must pay, of whatever size its weights are.
//!
//! On scores within ±C a loss with curvature has the quadratic minorant
//!
//! > ℓ(q) ≥ ℓ(p) + g(q − p) + (a/2)(q − p)²
//!
//! at the charged score p (clipped to ±C), g the slope there and a the largest such number ([`largest_bend`]). With q = b + ⟨u, x⟩
//! the sum over rounds is a quadratic function of u, Σ h(…) = c − ⟨v, u⟩ + ½uᵀHu, H = Σ h a xxᵀ. Its minimum, c − ½vᵀH⁻¹v, is
//! less than what any u pays whose scores stay within ±C: no radius, no scales. For the squared loss a = 2 whatever C is, the
//! minorant is the loss itself, and the certificate is the regret against the best linear predictor, exact, after one pass.
//!
//! # Which features
//! H is kept for a limited number of features, those that it met first; indices below `reserved` (the columns of numbers of a
//! table) come before others. A feature enters at its first sight or never: before that it was 0, so nothing of it was
//! missed. The class is that of the predictors on these features. Where features other than reserved ones find no room,
//! and there are no reserved ones, as in sparse text, the sums end.
//!
//! # Rounding
//! Rows are summed in blocks, and blocks with a running compensation, so that sums have the error of one block. A
//! feature that is (nearly) a combination of others is left out: what is left is solved stably, and the floor is lowered by a bound on the
//! errors of sums and solution. Exact combinations add nothing to the class.

use super::certificate::BIAS;
use crate::archive::Archive;
use crate::loss::{Evaluation, largest_bend};
use crate::numeric::linalg::vector::dot;
use crate::numeric::sum::Sum;
use crate::simd::vectorised;
use crate::{Error, Features, Loss};

/// C, where none is given.
pub const DEFAULT_SCORE_BOUND: f64 = 10.0;

/// The features that are kept where nothing is said.
pub const DEFAULT_MEMBERS: usize = 64;

/// Rows of a block.
const BLOCK: u32 = 512;

/// A feature of which less than this share is left beside others is a combination of them.
const DEPENDENT: f64 = 1e-8;

/// No member.
const OUTSIDE: u16 = u16::MAX;

/// The places of members in an array that is addressed by hashed index: four times as many as members.
const SPARE: usize = 4;

/// Sums of the quadratic minorants.
#[derive(Debug, Clone)]
pub struct CurvedCertificate {
    /// C.
    bound: f64,
    limit: usize,
    reserved: u32,
    /// The indices of the members, in the order in which they came, and where to find them.
    members: Vec<u32>,
    /// How many of them are reserved.
    reserved_members: usize,
    places: Vec<u16>,
    /// Whether a feature found no room where none was reserved.
    is_over: bool,
    /// What scores are counted from, so that labels far from 0 do not drown what is small beside them: the first label, where
    /// every row has a bias to make up for it.
    centre: f64,
    /// c.
    constant: Sum,
    /// v and the lower triangle of H, row by row: of whole blocks, and of the current one.
    sums: Vec<Sum>,
    block: Vec<f64>,
    rows: u32,
    /// Σ h(ap − g)²/a: |v_i|² is at most this times H_ii, whatever the signs.
    slopes: f64,
    /// The members of the current row and their values; of each member one more than its place there; the row as it is in memory.
    present: Vec<(u16, f64)>,
    at: Vec<u16>,
    dense: Vec<f64>,
}

/// What the best of the class pays at least.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvedFloor {
    /// The least sum of losses.
    pub floor: f64,
    /// The features that the class is about.
    pub features: Vec<u32>,
    /// How many more are combinations of these, to rounding, and left out.
    pub combinations: u64,
}

impl CurvedCertificate {
    /// For scores within ±`bound` and at most `limit` features; indices below `reserved` go before others.
    pub fn new(bound: f64, limit: usize, reserved: u32) -> Self {
        let limit = limit.min(OUTSIDE as usize / SPARE);
        Self {
            bound,
            limit,
            reserved,
            members: Vec::new(),
            reserved_members: 0,
            places: vec![OUTSIDE; (SPARE * limit).next_power_of_two()],
            is_over: false,
            centre: 0.0,
            constant: Sum::default(),
            sums: vec![Sum::default(); limit],
            block: vec![0.0; limit],
            rows: 0,
            slopes: 0.0,
            present: Vec::new(),
            at: Vec::new(),
            dense: Vec::new(),
        }
    }

    /// C.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The indices of the features that it is about.
    pub fn features(&self) -> &[u32] {
        &self.members
    }

    /// Takes in a round: the charged score, the label, what it was charged, and the importance above 0.
    pub fn observe(&mut self, loss: &dyn Loss, p: f64, y: f64, charged: Evaluation, h: f64, x: Features<'_>) {
        if self.is_over {
            return;
        }
        self.find(x);
        if self.is_over {
            return;
        }
        if self.centre != 0.0 && !has_bias(x) {
            self.is_over = true;
            return;
        }
        let clipped = p.clamp(-self.bound, self.bound);
        let at = if clipped == p { charged } else { loss.evaluate(clipped, y) };
        let bend = largest_bend(loss, clipped, y, at, self.bound) * (1.0 - 8.0 * f64::EPSILON);
        let moved = clipped - x.offset() - self.centre;
        let slope = bend * moved - at.derivative;
        if bend > 0.0 {
            self.constant.add(h * (at.value - at.derivative * moved + 0.5 * bend * moved * moved));
            self.slopes += h * slope * slope / bend;
            self.add(h * slope, h * bend);
        } else {
            // A row without curvature would have no minimum: of it the least loss is kept.
            match loss.conjugate(clipped, y, at) {
                Some(conjugate) => self.constant.add(h * conjugate.least),
                None => self.is_over = true,
            }
        }
        self.rows += 1;
        if self.rows == BLOCK {
            self.close();
        }
    }

    /// Counts scores from this label, if the first row has a bias; before anything is taken in.
    pub fn centre(&mut self, label: f64, x: Features<'_>) {
        if self.members.is_empty() && has_bias(x) {
            self.centre = label;
        }
    }

    /// Adds slope·x to v and bend·xxᵀ to H.
    fn add(&mut self, slope: f64, bend: f64) {
        let size = self.members.len();
        let (v, triangle) = self.block.split_at_mut(self.limit);
        for &(at, value) in &self.present {
            v[at as usize] += slope * value;
        }
        if 2 * self.present.len() > size {
            self.dense.clear();
            self.dense.resize(size, 0.0);
            self.present.iter().for_each(|&(at, value)| self.dense[at as usize] = value);
            add_square(triangle, &self.dense, bend);
            return;
        }
        for (number, &(at, value)) in self.present.iter().enumerate() {
            let value = bend * value;
            for &(other, times) in &self.present[..=number] {
                let (row, column) = if at > other { (at, other) } else { (other, at) };
                triangle[start(row as usize) + column as usize] += value * times;
            }
        }
    }

    /// Finds the members among the features of a row, and takes in new ones.
    fn find(&mut self, x: Features<'_>) {
        self.present.clear();
        for (&index, &value) in x.indices().iter().zip(x.values()) {
            if value == 0.0 {
                continue;
            }
            let mut place = index.wrapping_mul(0x9E37_79B1) as usize & (self.places.len() - 1);
            let member = loop {
                match self.places[place] {
                    OUTSIDE => break self.enter(index, place),
                    member if self.members[member as usize] == index => break Some(member),
                    _ => place = (place + 1) & (self.places.len() - 1),
                }
            };
            let Some(member) = member else { continue };
            // What a row has twice counts as its sum.
            match self.at[member as usize] {
                0 => {
                    self.present.push((member, f64::from(value)));
                    self.at[member as usize] = self.present.len() as u16;
                }
                place => self.present[place as usize - 1].1 += f64::from(value),
            }
        }
        self.present.iter().for_each(|&(member, _)| self.at[member as usize] = 0);
    }

    /// Gives a feature that is seen for the first time a place, if there is room.
    fn enter(&mut self, index: u32, place: usize) -> Option<u16> {
        let is_reserved = index < self.reserved;
        let waiting = (self.reserved as usize).saturating_sub(self.reserved_members);
        let taken = self.members.len() + if is_reserved { 0 } else { waiting };
        if taken >= self.limit {
            // Without columns of numbers there is no telling which features matter.
            self.is_over |= self.reserved <= 1;
            return None;
        }
        let member = self.members.len() as u16;
        self.members.push(index);
        self.reserved_members += usize::from(is_reserved);
        self.places[place] = member;
        self.at.push(0);
        let length = self.limit + start(self.members.len());
        self.block.resize(length, 0.0);
        self.sums.resize(length, Sum::default());
        Some(member)
    }

    /// Ends a block.
    fn close(&mut self) {
        self.sums.iter_mut().zip(&mut self.block).for_each(|(sum, block)| sum.add(std::mem::take(block)));
        self.rows = 0;
    }

    /// What no predictor of the class pays less than.
    ///
    /// # Errors
    /// The reason why there is no such bound.
    pub fn floor(&self) -> Result<CurvedFloor, String> {
        if self.is_over {
            return Err(format!("there are more than {} features, or rows without a bias", self.limit));
        }
        if self.members.is_empty() {
            return Err("no row has a feature".to_owned());
        }
        let total = |at: usize| self.sums[at].total() + self.block[at];
        let size = self.members.len();
        let triangle = |i: usize, j: usize| total(self.limit + start(i) + j);
        let solved = Solution::of(size, triangle, total);
        if solved.kept.is_empty() {
            return Err("the loss has no curvature on scores so far apart".to_owned());
        }
        // Sums of a block and of all blocks, and the products in them, round by so much.
        let rounding = f64::EPSILON * f64::from(BLOCK + 8);
        let share = rounding * solved.kept.len() as f64 * solved.condition;
        if share >= 0.5 {
            return Err("its features are too nearly combinations of each other".to_owned());
        }
        // ½‖v‖² in the norm of H⁻¹, where v is off by its own rounding, and H is at least 1 − share of itself.
        let off = rounding * (solved.kept.len() as f64 * solved.condition * self.slopes).sqrt();
        let gained = 0.5 * (solved.norm + off).powi(2) / (1.0 - share);
        let constant = self.constant.total();
        let floor = constant - gained - 4.0 * rounding * (constant.abs() + gained);
        let mut kept = solved.kept;
        kept.sort_unstable();
        let features = kept.iter().map(|&at| self.members[at]).collect();
        let combinations = (size - kept.len()) as u64;
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
            self.limit as f64,
            f64::from(self.reserved),
            f64::from(u8::from(self.is_over)),
            self.constant.sum,
            self.constant.lost,
            f64::from(self.rows),
            self.slopes,
            self.centre,
        ];
        archive.optional_column("header", &mut header)?;
        if archive.is_loading() && header.is_empty() {
            return Ok(false);
        }
        archive.check(header.len() == 9, "header", "must have nine numbers")?;
        let mut members = self.members.clone();
        let (mut sums, mut lost) = (Vec::new(), Vec::new());
        if !self.is_over {
            sums = self.sums.iter().map(|sum| sum.sum).collect();
            lost = self.sums.iter().map(|sum| sum.lost).collect();
        }
        let mut block = if self.is_over { Vec::new() } else { self.block.clone() };
        archive.optional_column("members", &mut members)?;
        archive.optional_column("sums", &mut sums)?;
        archive.optional_column("lost", &mut lost)?;
        archive.optional_column("block", &mut block)?;
        if archive.is_loading() {
            let [bound, limit, reserved, is_over, sum, lost_of_constant, rows, slopes, centre] = header[..] else {
                return Ok(false);
            };
            let is_sound =
                bound > 0.0 && (1.0..=f64::from(OUTSIDE)).contains(&limit) && (0.0..4.3e9).contains(&reserved);
            archive.check(is_sound, "header", "must be within its ranges")?;
            let mut loaded = Self::new(bound, limit as usize, reserved as u32);
            for &index in &members {
                let mut place = index.wrapping_mul(0x9E37_79B1) as usize & (loaded.places.len() - 1);
                while loaded.places[place] != OUTSIDE && loaded.members.len() < loaded.limit {
                    place = (place + 1) & (loaded.places.len() - 1);
                }
                archive.check(loaded.enter(index, place).is_some(), "members", "must be at most as many as fit")?;
            }
            loaded.is_over = is_over != 0.0;
            loaded.constant = Sum { sum, lost: lost_of_constant };
            (loaded.slopes, loaded.centre) = (slopes, centre);
            loaded.rows = rows.clamp(0.0, f64::from(BLOCK - 1)) as u32;
            if !loaded.is_over {
                let length = loaded.block.len();
                let fits = sums.len() == length && lost.len() == length && block.len() == length;
                archive.check(fits, "sums", "must be as many as the members need")?;
                loaded.sums = sums.into_iter().zip(lost).map(|(sum, lost)| Sum { sum, lost }).collect();
                loaded.block = block;
            }
            *self = loaded;
        }
        Ok(true)
    }
}

/// Whether a row begins with the bias.
fn has_bias(x: Features<'_>) -> bool {
    x.indices().first() == Some(&BIAS) && x.values().first() == Some(&1.0)
}

/// Where row i of a triangle begins.
fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

vectorised! {
    /// Adds bend·xxᵀ to the lower triangle of H.
    fn add_square(triangle: &mut [f64], x: &[f64], bend: f64) {
        let mut rest = triangle;
        for (at, &value) in x.iter().enumerate() {
            let (row, after) = rest.split_at_mut(at + 1);
            rest = after;
            if value != 0.0 {
                let value = bend * value;
                for (entry, &other) in row.iter_mut().zip(&x[..=at]) {
                    *entry += value * other;
                }
            }
        }
    }
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
}

impl Solution {
    fn of(size: usize, triangle: impl Fn(usize, usize) -> f64, slope: impl Fn(usize) -> f64) -> Self {
        let scales: Vec<f64> = (0..size).map(|at| triangle(at, at).max(0.0).sqrt()).collect();
        let entry = |i: usize, j: usize| triangle(i.max(j), i.min(j)) / (scales[i] * scales[j]);
        let mut left: Vec<f64> = scales.iter().map(|&scale| if scale > 0.0 { 1.0 } else { 0.0 }).collect();
        // Of each feature, what is orthogonal to one pivot after the other.
        let mut lines: Vec<Vec<f64>> = vec![Vec::new(); size];
        let (mut kept, mut pivots) = (Vec::new(), Vec::new());
        while let Some(next) = (0..size).max_by(|&a, &b| left[a].total_cmp(&left[b])).filter(|&at| left[at] > DEPENDENT)
        {
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
        Self { norm: dot(&z, &z).sqrt(), condition, kept }
    }
}
