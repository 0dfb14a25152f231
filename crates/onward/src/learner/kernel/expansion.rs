//! A function in a kernel's space: f = Σ c_j K(x_j, ·) over rows x_j that were seen, the
//! *support*, with ‖f‖², and what happens when there are more rows than a budget allows.
//!
//! Evaluating f at a row takes O(non-zeros of the support). Without a budget the support grows by
//! a row with each step. With one, a step beyond it costs
//!
//! - [`Keep::Oldest`]: the row that has been there longest goes (forgetron without its shrinking:
//!   Dekel, Shalev-Shwartz, Singer 2008);
//! - [`Keep::Smallest`]: the row with the smallest |c_j|√K(x_j, x_j), the norm of its share, goes
//!   (of those that were there: the new one always enters);
//! - [`Keep::Projectron`] (Orabona, Keshet, Caputo 2009): the new row is replaced by the combination of
//!   the support nearest to it if that is nearer than threshold·√K(x, x), or if the budget is used
//!   up; else it enters. Rows never leave. O(n²) for a support of n, and as much memory.
//!
//! ‖f‖² is a running number: ‖f + cφ(x)‖² = ‖f‖² + 2c·f(x) + c²K(x, x). The coefficients are kept
//! as scale·v_j: shrinking f takes O(1).

use super::function::{Kernel, LARGEST};
use super::gram::Gram;
use super::row::{SparseRow, persist_rows};
use crate::archive::Archive;
use crate::numeric::sum;
use crate::parameter::{Description, GivenParameters, ParameterDescriptor, number, whole, words};
use crate::{Error, Features};

/// Why there is no bound.
pub(super) const SIGMOID: &str = "the sigmoid kernel is not an inner product, so no theorem holds for it";
pub(super) const BUDGETED: &str = "with a budget rows are dropped or projected, and the theorem needs all of them";

pub(super) const CUT: &str = "numbers became too large and were cut off";

/// Coefficients are held within ± this, as weights are.
const LARGEST_COEFFICIENT: f64 = f32::MAX as f64;

/// Below this the scale is multiplied into the coefficients.
const SMALLEST_SCALE: f64 = 1e-10;

/// How many rows are kept, and which.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// The most rows that are kept; `None`: as many as come.
    pub size: Option<usize>,
    /// What happens beyond it.
    pub keep: Keep,
}

/// What happens to a step when the budget is used up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Keep {
    /// The oldest row goes.
    Oldest,
    /// The row with the smallest share goes.
    Smallest,
    /// The new row is projected on the span of those that are kept, then and whenever its distance from
    /// it is at most threshold·√K(x, x).
    Projectron {
        /// From 0 (nothing but what is in the span already) to 1.
        threshold: f64,
    },
}

impl Budget {
    /// No budget: exact.
    pub const NONE: Self = Self { size: None, keep: Keep::Oldest };

    /// Whether every step is kept as it is.
    pub fn is_exact(&self) -> bool {
        self.size.is_none() && !matches!(self.keep, Keep::Projectron { .. })
    }

    /// Refuses parameters that are out of range or do not go with the kernel.
    ///
    /// # Errors
    /// Names the parameter, its value and its range.
    pub fn check(&self, kernel: &Kernel) -> Result<(), Error> {
        self.size.map(|size| BUDGET.check(size)).transpose()?;
        let Keep::Projectron { threshold } = self.keep else { return Ok(()) };
        THRESHOLD.check(threshold)?;
        if !kernel.is_positive_definite() {
            return Err(Error::parameter(
                "keep=projectron needs a kernel that is an inner product, and sigmoid is not; use keep=oldest or \
                 keep=smallest, or another kernel",
            ));
        }
        Ok(())
    }

    /// Adds the budget to what a learner says of itself.
    pub(super) fn describe(&self, learner: Description) -> Description {
        let learner = learner.with_optional(&BUDGET, self.size);
        match self.keep {
            Keep::Oldest => learner.with(&KEEP, "oldest"),
            Keep::Smallest => learner.with(&KEEP, "smallest"),
            Keep::Projectron { threshold } => learner.with(&KEEP, "projectron").with(&THRESHOLD, threshold),
        }
    }

    /// The budget that the parameters [`BUDGET`], [`KEEP`], [`THRESHOLD`] ask for.
    pub(super) fn asked(arguments: &GivenParameters) -> Result<Self, Error> {
        let keep = match arguments.text("keep") {
            "oldest" => Keep::Oldest,
            "smallest" if arguments.text("budget") == "none" => {
                return Err(Error::parameter(
                    "keep=smallest has no effect without a budget; give a budget, or leave keep out",
                ));
            }
            "smallest" => Keep::Smallest,
            _ => Keep::Projectron { threshold: arguments.number("threshold") },
        };
        Ok(Self { size: arguments.optional_whole("budget").map(|size| size as usize), keep })
    }
}

/// Each row that is kept costs one kernel value per round.
pub(super) const BUDGET: ParameterDescriptor = whole("budget", 1..=1 << 24)
    .or("none")
    .meaning("largest number of rows kept; none: all, so that time per round and memory grow with the stream");

pub(super) const KEEP: ParameterDescriptor = words(
    "keep",
    &[
        ("oldest", "drop the oldest row"),
        ("smallest", "drop the row that contributes least"),
        ("projectron", "project the new row onto the span of the kept rows"),
    ],
)
.meaning("what to do when the budget is full");

pub(super) const THRESHOLD: ParameterDescriptor = number("threshold", 0.0..=1.0)
    .default("0.1")
    .meaning("distance from that span, relative to its norm, above which a row is added")
    .only_with("keep=projectron");

/// f = Σ c_j K(x_j, ·).
#[derive(Debug, Clone)]
pub(super) struct Expansion {
    pub(super) kernel: Kernel,
    pub(super) budget: Budget,
    pub(super) rows: Vec<SparseRow<'static>>,
    /// v_j: c_j is scale·v_j.
    coefficients: Vec<f64>,
    /// K(x_j, x_j).
    itself: Vec<f64>,
    scale: f64,
    /// ‖f‖².
    pub(super) square: f64,
    /// Of the support, for projections.
    gram: Gram,
    /// Whether a coefficient or a kernel value was cut off: then f is not what theorems are about.
    is_cut: bool,
}

/// A row that a function met: the kernel values at the support and at itself, and the value of the function.
pub(super) struct MetRow<'a> {
    row: SparseRow<'a>,
    support: Vec<f64>,
    /// K(x, x).
    pub(super) itself: f64,
    /// f(x).
    pub(super) value: f64,
}

impl Expansion {
    /// f = 0.
    pub(super) fn new(kernel: Kernel, budget: Budget) -> Result<Self, Error> {
        kernel.check()?;
        budget.check(&kernel)?;
        let (rows, coefficients, itself, gram) = Default::default();
        Ok(Self { kernel, budget, rows, coefficients, itself, scale: 1.0, square: 0.0, gram, is_cut: false })
    }

    /// Why no theorem of exact learners in a space holds of this, if so.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        if !self.kernel.is_positive_definite() {
            return Some(SIGMOID);
        }
        if !self.budget.is_exact() {
            return Some(BUDGETED);
        }
        self.is_cut.then_some(CUT)
    }

    /// A row with its kernel values, and f there.
    pub(super) fn meet<'a>(&self, x: Features<'a>) -> MetRow<'a> {
        let row = SparseRow::new(x);
        let support: Vec<f64> = self.rows.iter().map(|other| self.kernel.of(other, &row)).collect();
        let terms = self.coefficients.iter().zip(&support).map(|(coefficient, product)| coefficient * product);
        let value = self.scale * sum::sum(terms);
        MetRow { itself: self.kernel.of_itself(&row), row, support, value }
    }

    /// The score of a row: f there, and the row's offset.
    pub(super) fn score(&self, x: Features<'_>) -> f64 {
        x.offset() + self.value_at(&SparseRow::new(x))
    }

    /// f at a row.
    pub(super) fn value_at(&self, x: &SparseRow<'_>) -> f64 {
        let terms = self.coefficients.iter().zip(self.rows.iter());
        self.scale * sum::sum(terms.map(|(coefficient, row)| coefficient * self.kernel.of(row, x)))
    }

    /// f += c·K(x, ·), as the budget allows.
    pub(super) fn add(&mut self, c: f64, x: &MetRow<'_>) {
        self.is_cut |= c.abs() > LARGEST_COEFFICIENT || x.itself.abs() >= LARGEST;
        // A point of norm 0 is the zero of its space.
        if c == 0.0 || self.kernel.is_positive_definite() && x.itself == 0.0 {
            return;
        }
        let c = c.clamp(-LARGEST_COEFFICIENT, LARGEST_COEFFICIENT);
        let is_full = self.budget.size.is_some_and(|size| self.rows.len() >= size);
        match self.budget.keep {
            Keep::Projectron { threshold } => self.add_or_project(c, x, threshold, is_full),
            Keep::Oldest if is_full => self.replace(0, c, x),
            Keep::Smallest if is_full => self.replace(self.smallest(), c, x),
            _ => self.push(c, x, x.value),
        }
    }

    /// Adds a row to the support; `value` is f(x).
    fn push(&mut self, c: f64, x: &MetRow<'_>, value: f64) {
        self.square = (self.square + 2.0 * c * value + c * c * x.itself).max(0.0);
        self.rows.push(x.row.owned());
        self.coefficients.push(c / self.scale);
        self.itself.push(x.itself);
    }

    /// Takes out the row at a position before the new one enters.
    fn replace(&mut self, at: usize, c: f64, x: &MetRow<'_>) {
        let gone = self.scale * self.coefficients[at];
        let value_there = self.value_at(&self.rows[at]);
        self.square = (self.square - 2.0 * gone * value_there + gone * gone * self.itself[at]).max(0.0);
        self.rows.remove(at);
        self.coefficients.remove(at);
        self.itself.remove(at);
        self.push(c, x, x.value - gone * x.support[at]);
    }

    /// The row with the smallest share; the oldest of such.
    fn smallest(&self) -> usize {
        let shares = self.coefficients.iter().zip(&self.itself).map(|(v, itself)| v * v * itself.abs());
        let smallest = shares.enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
        smallest.map_or(0, |(at, _)| at)
    }

    fn add_or_project(&mut self, c: f64, x: &MetRow<'_>, threshold: f64, is_full: bool) {
        let coordinates = self.gram.coordinates(&x.support, x.itself);
        let is_near = coordinates.residual <= threshold * threshold * x.itself;
        if coordinates.is_independent && !is_near && !is_full {
            self.gram.grow(&coordinates);
            return self.push(c, x, x.value);
        }
        let Some(shares) = self.gram.combination(&coordinates.inside) else { return };
        for (coefficient, share) in self.coefficients.iter_mut().zip(shares) {
            let moved = *coefficient + c * share / self.scale;
            *coefficient = moved.clamp(-LARGEST_COEFFICIENT / SMALLEST_SCALE, LARGEST_COEFFICIENT / SMALLEST_SCALE);
        }
        // f is in the span: its product with the projection is f(x).
        let inside = sum::sum(coordinates.inside.iter().map(|y| y * y));
        self.square = (self.square + 2.0 * c * x.value + c * c * inside).max(0.0);
    }

    /// The projection on the ball ‖f‖ ≤ radius: f·min(1, radius/‖f‖).
    pub(super) fn project(&mut self, radius: f64) {
        let norm = self.square.sqrt();
        if norm <= radius {
            return;
        }
        self.scale *= radius / norm;
        self.square = radius * radius;
        if self.scale < SMALLEST_SCALE {
            self.coefficients.iter_mut().for_each(|coefficient| *coefficient *= self.scale);
            self.scale = 1.0;
        }
    }

    /// Saves or loads what is needed to continue to the bit.
    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("scale", &mut self.scale)?;
        archive.check((SMALLEST_SCALE..=1.0).contains(&self.scale), "scale", "must be above 0, and at most 1")?;
        archive.size("square", &mut self.square)?;
        archive.flag("cut", &mut self.is_cut)?;
        persist_rows(&mut self.rows, archive)?;
        archive.column_of(self.rows.len(), "coefficient", &mut self.coefficients)?;
        archive.check(self.coefficients.iter().all(|it| it.is_finite()), "coefficient", "must be finite")?;
        let fits = self.budget.size.is_none_or(|size| self.rows.len() <= size);
        archive.check(fits, "row.length", "must have no more rows than the budget")?;
        if archive.is_loading() {
            self.itself = self.rows.iter().map(|row| self.kernel.of_itself(row)).collect();
            if matches!(self.budget.keep, Keep::Projectron { .. }) {
                self.gram = factor(&self.kernel, &self.rows, archive)?;
            }
        }
        Ok(())
    }
}

/// The factor of the Gram matrix of rows that were loaded, grown as it was when they came. None of them is in the span of
/// those before it.
pub(super) fn factor(kernel: &Kernel, rows: &[SparseRow<'_>], archive: &Archive) -> Result<Gram, Error> {
    let mut gram = Gram::default();
    for (at, x) in rows.iter().enumerate() {
        let products: Vec<f64> = rows[..at].iter().map(|row| kernel.of(row, x)).collect();
        let coordinates = gram.coordinates(&products, kernel.of_itself(x));
        archive.check(coordinates.is_independent, "row.index", "must have no row in the span of those before it")?;
        gram.grow(&coordinates);
    }
    Ok(gram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;

    fn rows(count: u32) -> Vec<[f32; 2]> {
        (0..count).map(|t| [(t * 37 % 17) as f32 * 0.3 - 2.0, (t * 23 % 13) as f32 * 0.4 - 2.0]).collect()
    }

    fn norm_squared(expansion: &Expansion) -> f64 {
        let inner = expansion.rows.iter().zip(&expansion.coefficients);
        inner.map(|(row, v)| expansion.scale * v * expansion.value_at(row)).sum()
    }

    /// Steps of changing size, now and then a projection on a ball.
    fn walk(budget: Budget) -> Expansion {
        let mut expansion = Expansion::new(Kernel::Rbf { gamma: 0.7 }, budget).unwrap();
        for (round, values) in rows(120).iter().enumerate() {
            let met = expansion.meet(Features::new(&[1, 2], values).unwrap());
            expansion.add((round as f64).sin(), &met);
            if round % 10 == 9 {
                expansion.project(1.5);
            }
            assert!(budget.size.is_none_or(|size| expansion.rows.len() <= size));
        }
        expansion
    }

    #[test]
    fn the_running_norm_is_the_norm() {
        let projectron = Keep::Projectron { threshold: 0.2 };
        for size in [None, Some(7), Some(20)] {
            for keep in [Keep::Oldest, Keep::Smallest, projectron] {
                let expansion = walk(Budget { size, keep });
                let exact = norm_squared(&expansion);
                assert!((expansion.square - exact).abs() < 1e-9, "{size:?} {keep:?}: {exact}");
            }
        }
    }

    #[test]
    fn what_was_saved_goes_on_to_the_bit() {
        for keep in [Keep::Oldest, Keep::Smallest, Keep::Projectron { threshold: 0.2 }] {
            let budget = Budget { size: Some(9), keep };
            let mut first = walk(budget);
            let mut second = Expansion::new(first.kernel, budget).unwrap();
            let state = Archive::saved(|archive| first.persist(archive)).unwrap();
            second.persist(&mut Archive::loading(state.clone())).unwrap();
            assert_eq!(Archive::saved(|archive| second.persist(archive)).unwrap(), state);
            assert_eq!((&first.gram, &first.itself), (&second.gram, &second.itself));
            let at = &first.rows[3];
            assert_eq!(first.value_at(at).to_bits(), second.value_at(at).to_bits());
        }
    }

    #[test]
    fn the_smallest_share_goes_first() {
        let budget = Budget { size: Some(3), keep: Keep::Smallest };
        let mut expansion = Expansion::new(Kernel::Linear, budget).unwrap();
        // Shares |c|·|x|: 4, 1, 9; the second goes though its coefficient is the largest.
        for (value, c) in [(2.0f32, 2.0), (0.1, 10.0), (9.0, 1.0), (5.0, 0.5)] {
            let values = [value];
            let met = expansion.meet(Features::new(&[1], &values).unwrap());
            expansion.add(c, &met);
        }
        assert_eq!(expansion.coefficients, [2.0, 1.0, 0.5]);
    }
}
