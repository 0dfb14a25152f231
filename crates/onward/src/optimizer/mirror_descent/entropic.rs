//! The entropic map: exponentiated gradient, EG and EG± (Kivinen, Warmuth 1997), which is
//! Hedge over the corners of the domain.
//!
//! The corners are U·e_i (the simplex u_i ≥ 0, Σu_i = U), and with `signed` ±U·e_i (the L1 ball
//! ‖u‖₁ ≤ U). Corner c has the loss ⟨c, z_t⟩, the prior π_c and the weight
//!
//! v_c ∝ π_c·exp(−η_t Σ_{s<t} ⟨c, z_s⟩), and w_t = Σ_c v_c·c.
//!
//! With a fixed η this is mirror descent with ψ = Σ w ln w, step for step; with rates that
//! fall it is its dual-averaging form, which starts from the prior each round. (Mirror descent
//! proper with rates that fall has no bound here: its divergence is unbounded.)
//!
//! **Priors.** With `dimension` = N each of the N coordinates has the prior 1/N. Without it, the
//! coordinate that appears as number k = 0, 1, … has 1/((k+1)(k+2)), which sums to 1 over all k:
//! nothing needs to be known of how many will come. Signed corners have half of that each.
//!
//! **Guarantee**, for convex losses and every u of the domain. Let L_c be the summed losses of
//! the corners and Φ_t(η) = −(1/η) ln Σ π_c e^{−ηL_{c,t}}. Round t costs
//! ⟨w_t, z_t⟩ = [Φ_t(η_t) − Φ_{t−1}(η_t)] + δ_t, where δ_t ≤ ½η_t U²‖z_t‖_∞² (Hoeffding: the losses
//! of the corners are in ±U‖z_t‖_∞) and δ_t ≤ ⟨w_t, z_t⟩ + U‖z_t‖_∞ (a mean is not below the least).
//! By Jensen Φ_t does not grow with η, so for rates that do not grow the brackets sum to at most
//! Φ_T(η_T) ≤ L_c + ln(1/π_c)/η_T for each corner, hence
//!
//! R_T(u) ≤ K/η_T + Σ min(½η_t U²‖z_t‖_∞², ⟨w_t, z_t⟩ + U‖z_t‖_∞),
//!
//! where K is the largest ln(1/π_c) of the corners seen: ln d, or ln n(n+1) after n coordinates
//! by order of appearance, and ln 2 more when signed. (All coordinates not seen have lost nothing,
//! and together the prior 1/(n+1), larger than that of the last one seen: the bound covers them.)
//! With G ≥ ‖z_t‖_∞ and η = √(2K/T)/(UG) it is at most UG√(2TK).
//!
//! **Self-tuned rates** η_t = √(K/Σ_{s<t}‖z_s‖_∞²)/U depend on the past alone. They are taken anew
//! each time the sum has grown by a quarter, and never rise: the bound is for the rates used, and the
//! weights of all coordinates need to be looked at no more than a few times per doubling.
//!
//! **Cost**: O(non-zeros) per round. The normaliser is kept in logarithms and term by term
//! (`log_sum.rs`), so that 10⁶ steps in one direction neither overflow nor lose it.

use crate::optimizer::prelude::*;
use bytemuck::Zeroable;

use super::log_sum::LogSum;
use super::{DIMENSION, ETA, MAP, MirrorRate, RADIUS, SIGNED};
use crate::numeric::sum;
use crate::storage::table::ParameterTable;

/// What is kept of a coordinate.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct EntropicEntry {
    /// Σ z.
    sum: f64,
    /// One more than its place in the order of appearance; 0: not seen.
    order: u32,
    unused: u32,
}

/// Exponentiated gradient on the simplex or, signed, on the L1 ball.
///
/// ```
/// use onward::optimizer::mirror_descent::{Entropic, MirrorRate};
/// use onward::{Features, optimizer::Optimizer};
/// // Two experts, of which the first loses 1 each round.
/// let mut hedge = Entropic::new(1.0, false, Some(2), MirrorRate::Fixed(0.5))?;
/// hedge.observe(1.0, Features::new(&[0], &[1.0])?);
/// let odds = hedge.weight(0) / hedge.weight(1);
/// assert!((odds - (-0.5f64).exp()).abs() < 1e-15);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Entropic {
    radius: f64,
    is_signed: bool,
    dimension: Option<u32>,
    rate: MirrorRate,
    table: ParameterTable<EntropicEntry>,
    /// How many coordinates were seen.
    seen: u32,
    /// ln Σ π_c e^{−ηL_c} over all corners, those not seen too.
    normaliser: LogSum,
    /// η_t; 0 while nothing is known.
    eta: f64,
    /// Σ‖z‖_∞².
    squares: f64,
    /// The same when the rate was last taken.
    reference: f64,
    /// Σ of the bounds of δ_t.
    paid: f64,
    /// ⟨w_t, x_t⟩ of this round.
    score: f64,
}

/// The rate is taken anew when the sum of squares has grown by this factor.
const GROWTH: f64 = 1.25;

/// Gradients below this, whose squares would vanish, are not learnt from, and count as lost.
const SMALLEST_GRADIENT: f64 = 1e-150;

impl Entropic {
    /// On the simplex, or the L1 ball if signed, of this radius.
    ///
    /// # Errors
    /// When the radius or a fixed η is not from 1e-30 to 1e30, or the dimension is 0.
    pub fn new(radius: f64, is_signed: bool, dimension: Option<u32>, rate: MirrorRate) -> Result<Self, Error> {
        RADIUS.check(radius)?;
        dimension.map(|dimension| DIMENSION.check(dimension)).transpose()?;
        let eta = rate.eta().map_or(Ok(0.0), |eta| ETA.check(eta))?;
        let mut it = Self {
            radius,
            is_signed,
            dimension,
            rate,
            table: ParameterTable::default(),
            seen: 0,
            normaliser: LogSum::default(),
            eta,
            squares: 0.0,
            reference: 0.0,
            paid: 0.0,
            score: 0.0,
        };
        it.rebuild();
        Ok(it)
    }

    /// K: the largest ln(1/π_c) after this many coordinates.
    pub(super) fn complexity(is_signed: bool, dimension: Option<u32>, seen: f64) -> f64 {
        let signs = if is_signed { 2.0 } else { 1.0 };
        libm::log(signs * dimension.map_or(seen * (seen + 1.0), f64::from))
    }

    /// ln π of the coordinate that appeared at this place, both signs together; −∞ beyond the dimension.
    fn log_prior(&self, place: u32) -> f64 {
        let k = f64::from(place);
        match self.dimension {
            None => -libm::log((k + 1.0) * (k + 2.0)),
            Some(dimension) if place < dimension => -libm::log(f64::from(dimension)),
            Some(_) => f64::NEG_INFINITY,
        }
    }

    /// ln Σ π over the coordinates that were not seen.
    fn log_unseen(&self) -> f64 {
        let seen = f64::from(self.seen);
        match self.dimension.map(f64::from) {
            None => -libm::log(seen + 1.0),
            Some(dimension) if seen < dimension => libm::log((dimension - seen) / dimension),
            Some(_) => f64::NEG_INFINITY,
        }
    }

    /// −ηL of the corner in the positive direction.
    fn exponent(&self, sum: f64) -> f64 {
        -self.eta * self.radius * sum
    }

    /// The logarithms of the terms of a coordinate: one for each sign.
    fn terms(&self, place: u32, sum: f64) -> [f64; 2] {
        let (prior, exponent) = (self.log_prior(place), self.exponent(sum));
        match self.is_signed {
            true => [prior - std::f64::consts::LN_2 + exponent, prior - std::f64::consts::LN_2 - exponent],
            false => [prior + exponent, f64::NEG_INFINITY],
        }
    }

    fn rebuild(&mut self) {
        // In order of index: a saved state goes on to the bit.
        let indices = self.table.used(|entry| entry.order > 0);
        let terms = indices.iter().flat_map(|&index| {
            let entry = self.table.get(index);
            self.terms(entry.order - 1, entry.sum)
        });
        self.normaliser = LogSum::rebuild(std::iter::once(self.log_unseen()).chain(terms));
    }

    /// w of a coordinate.
    fn point(&self, place: u32, sum: f64) -> f64 {
        let exponent = self.exponent(sum);
        if self.is_signed && exponent.abs() < 1.0 {
            // The difference of two weights that are nearly equal, without cancelling.
            return self.radius * self.normaliser.fraction(self.log_prior(place)) * libm::sinh(exponent);
        }
        let [plus, minus] = self.terms(place, sum);
        self.radius * (self.normaliser.fraction(plus) - self.normaliser.fraction(minus))
    }

    /// Adds z to a coordinate.
    fn shift(&mut self, index: u32, z: f64) {
        let seen = &mut self.seen;
        let entry = self.table.entry(index);
        if entry.order == 0 {
            // Its weight leaves that of the coordinates not seen, which is as large: the sum stays.
            *seen = seen.saturating_add(1);
            entry.order = *seen;
        }
        let before = entry.sum;
        entry.sum += z;
        let (place, after) = (entry.order - 1, entry.sum);
        if self.is_outside(place) {
            return;
        }
        let (old, new) = (self.terms(place, before), self.terms(place, after));
        self.normaliser.replace(old[0], new[0]);
        if self.is_signed {
            self.normaliser.replace(old[1], new[1]);
        }
    }

    fn comparator(&self) -> Comparator {
        if self.is_signed { Comparator::L1Ball(self.radius) } else { Comparator::Simplex(self.radius) }
    }

    /// What the bound can become.
    pub(super) fn promise(&self, loss: &dyn Loss, scales: &ProblemBounds) -> Guarantee {
        // |⟨w, x⟩| ≤ ‖w‖₁‖x‖_∞.
        let reach = self.radius * scales.slope(loss, self.radius * scales.largest) * scales.largest;
        if let Some(dimension) = self.dimension.filter(|&dimension| scales.dimension > f64::from(dimension)) {
            return Guarantee::missing(format!(
                "the stream has more than the {dimension} features that dimension allows"
            ));
        }
        let complexity = |seen| Self::complexity(self.is_signed, self.dimension, seen);
        let (least, most) = (complexity(1.0).max(std::f64::consts::LN_2), complexity(scales.dimension.max(1.0)));
        let rounds = scales.rounds;
        let bound = match self.rate {
            MirrorRate::Fixed(eta) => most / eta + 0.5 * eta * reach * reach * rounds,
            // Let S_t = Σ_{s≤t}‖z_s‖_∞² ≤ TG². The last rate is at least √(least/S_T)/U: the first term.
            // A round with ‖z‖² ≤ S_{t−1} costs at most ½U√(1.25·most)·‖z‖²/√S_{t−1}, and ‖z‖²/√S_{t−1} ≤
            // √2·‖z‖²/√S_t ≤ 2√2(√S_t − √S_{t−1}). The others at most 2U√S_t, S doubles at each, and
            // before the last of them it was below G²: 2U·√2·G/(1 − 1/√2) < 9.7UG together.
            MirrorRate::SelfTuned => {
                let most = most.max(std::f64::consts::LN_2);
                reach * rounds.sqrt() * (most / least.sqrt() + (2.5 * most).sqrt()) + 9.7 * reach
            }
        };
        Guarantee::own(self.comparator(), bound)
    }

    /// Whether a place in the order of appearance is beyond the dimension.
    fn is_outside(&self, place: u32) -> bool {
        self.dimension.is_some_and(|dimension| place >= dimension)
    }

    /// Takes the rate anew when it is time, and keeps the normaliser sound.
    fn tune(&mut self) {
        if self.rate == MirrorRate::SelfTuned && self.squares > GROWTH * self.reference {
            self.reference = self.squares;
            let complexity = Self::complexity(self.is_signed, self.dimension, f64::from(self.seen));
            let rate = (complexity.max(std::f64::consts::LN_2) / self.squares).sqrt() / self.radius;
            self.eta = if self.eta > 0.0 { self.eta.min(rate) } else { rate };
            self.rebuild();
        } else if self.normaliser.is_worn(2.0 * f64::from(self.seen)) {
            self.rebuild();
        }
    }
}

impl Optimizer for Entropic {
    fn dot(&self, x: Features<'_>) -> f64 {
        let mut next = self.seen;
        let there = x.iter().filter(|&(_, value)| value != 0.0);
        sum::sum(there.map(|(index, value)| {
            let entry = self.table.get(index);
            let place = entry.order.checked_sub(1).unwrap_or_else(|| {
                next = next.saturating_add(1);
                next - 1
            });
            f64::from(value) * self.point(place, entry.sum)
        }))
    }

    fn begin(&mut self, x: Features<'_>) -> f64 {
        self.score = self.dot(x);
        self.score
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let largest = (h * g).abs() * f64::from(x.values().iter().fold(0.0f32, |most, value| most.max(value.abs())));
        // −(the least loss of a corner), at most.
        let reach = self.radius * largest;
        if largest < SMALLEST_GRADIENT {
            self.paid += 2.0 * reach;
            return Step::Gradient { time: 0.0 };
        }
        let regret = (h * g * self.score + reach).max(0.0);
        let square = largest * largest;
        let by_rate = 0.5 * self.eta * self.radius * self.radius * square;
        self.paid += if self.eta > 0.0 { by_rate.min(regret) } else { regret };
        self.squares += square;
        for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            self.shift(index, h * g * f64::from(value));
        }
        self.tune();
        // The point is a function of the sums: there is nothing left to move.
        Step::Gradient { time: 0.0 }
    }

    fn advance(&mut self, _u: f64, _x: Features<'_>) {}

    fn weight(&self, index: u32) -> f64 {
        let entry = self.table.get(index);
        self.point(entry.order.checked_sub(1).unwrap_or(self.seen), entry.sum)
    }

    fn guarantee(&self) -> Guarantee {
        if let Some(dimension) = self.dimension.filter(|&dimension| self.seen > dimension) {
            return Guarantee::missing(format!("rows had more than the {dimension} features that dimension allows"));
        }
        let complexity = match self.seen {
            0 => 0.0,
            seen => Self::complexity(self.is_signed, self.dimension, f64::from(seen)) / self.eta,
        };
        Guarantee::own(self.comparator(), complexity + self.paid)
    }

    fn describe(&self) -> String {
        let it = Description::of("mirror-descent").with_optional(&DIMENSION, self.dimension);
        let it = it.with_optional(&ETA, self.rate.eta()).with(&MAP, "entropic").with(&RADIUS, self.radius);
        it.with(&SIGNED, self.is_signed).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut seen = u64::from(self.seen);
        archive.count("seen", &mut seen)?;
        self.seen = seen as u32;
        visit_fields!(archive.number(self.eta, self.squares, self.reference, self.paid));
        archive.part("normaliser", |archive| self.normaliser.persist(archive))?;
        let fields = [
            ("sum", Field::F64(&|entry: &mut EntropicEntry| &mut entry.sum)),
            ("order", Field::U32(&|entry| &mut entry.order)),
        ];
        self.table.persist(archive, |entry| entry.order > 0, &fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prior_of_the_order_of_appearance_is_a_distribution() {
        let mut it = Entropic::new(1.0, false, None, MirrorRate::Fixed(1.0)).unwrap();
        for index in 0..50 {
            it.observe(0.0, Features::new(&[index], &[1.0]).unwrap());
            it.shift(index, 0.0);
            it.rebuild();
            let seen: f64 = (0..=index).map(|index| it.weight(index)).sum();
            assert!((seen + libm::exp(it.log_unseen()) - 1.0).abs() < 1e-12, "{seen}");
        }
    }

    #[test]
    fn features_beyond_the_dimension_have_no_weight_and_end_the_guarantee() {
        let mut it = Entropic::new(1.0, true, Some(1), MirrorRate::SelfTuned).unwrap();
        it.observe(1.0, Features::new(&[7], &[1.0]).unwrap());
        assert!(it.weight(7) < 0.0 && it.guarantee().bound.is_ok());
        it.observe(1.0, Features::new(&[8], &[1.0]).unwrap());
        assert_eq!(it.weight(8), 0.0);
        assert!(it.guarantee().bound.unwrap_err().contains("dimension"));
    }
}
