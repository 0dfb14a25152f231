//! The universal certificate: a bound on the regret of *any* predictor, of any
//! kind, for any convex loss.
//!
//! Convexity in the prediction gives, for every u,
//! ℓ_t(p_t) − ℓ_t(b_t + ⟨u, x_t⟩) ≤ g_t (p_t − b_t − ⟨u, x_t⟩), g_t the derivative at
//! the charged prediction, b_t the row's offset. With A = Σ h_t g_t (p_t − b_t) and θ = Σ h_t g_t x_t, the regret is at
//! most A − ⟨θ, u⟩, so for all u at once
//!
//! - in the ball ‖u‖₂ ≤ B: R_T(u) ≤ A + B‖θ‖₂;
//! - in the box |u_i| ≤ B: R_T(u) ≤ A + B Σ|θ_i|;
//! - in the standardised ball Σ(s_i u_i)² ≤ B²: R_T(u) ≤ A + B√(Σ(θ_i/s_i)²), where
//!   s_i² = Σ h x_i²/Σ h is the mean square of feature i over the stream, uncentred;
//! - in such a ball of all features but the bias, and the bias u₀ in an interval [l, r]:
//!   R_T(u) ≤ A + B√(Σ_{i≥1}(θ_i/s_i)²) + max(−θ₀l, −θ₀r).
//!
//! A and θ are f64: in f32 they would stall and the certificate could be false.

use bytemuck::{Pod, Zeroable};

use crate::archive::{Archive, fields};
use crate::guarantee::Comparator;
use crate::numeric::sum::{self, Sum};
use crate::simd::f64x4::{FOUR, Record16, by_f64x4};
use crate::storage::table::{ParameterTable, Positions, records};
use crate::{Error, Features};

/// The radius of the standardised ball that is used when none is given; in regression, in standard deviations of the label.
pub const DEFAULT_RADIUS: f64 = 10.0;

/// The index of the bias.
pub(crate) const BIAS: u32 = 0;

/// The sums of a feature.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
struct CertificateEntry {
    /// θ_i = Σ h g x_i.
    theta: f64,
    /// Σ h x_i².
    square: f64,
}

/// The sums that the universal certificate is computed from.
#[derive(Debug, Clone, Default)]
pub struct Certificate {
    /// A = Σ h g (p − b).
    paid: Sum,
    /// Σ h.
    weight: f64,
    table: ParameterTable<CertificateEntry>,
    /// The features with a value other than 0, in order of appearance: what a scan walks.
    seen: Vec<u32>,
    /// Where their entries are, in this layout of the table; none, where that is what their indices say.
    seen_at: Vec<u32>,
    layout: u32,
    /// Where the entries of a row are.
    positions: Positions,
    /// Which of its features had no square before.
    new: Vec<usize>,
    /// Rounds, and Σ h g²: what the rounding of θ is measured by. |θ_i| is at most the root of this times Σ h x_i².
    rounds: f64,
    slopes: f64,
    /// Whether some row did not begin with the bias: feature 0 with the value 1.
    lacks_bias: bool,
}

/// What the bound for a class is made of: sums at some time, in the scales of that time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CertificateTerms {
    /// A = Σ h g (p − b).
    pub paid: f64,
    /// θ₀ of the bias, where the class bounds it beside the others; else 0.
    pub bias: f64,
    /// The dual norm of all other θ.
    pub norm: f64,
}

impl CertificateTerms {
    /// The bound for all u of at most this norm, and a bias in this interval.
    pub fn bound(&self, radius: f64, (low, high): (f64, f64)) -> f64 {
        self.paid + self.largest(radius, (low, high))
    }

    /// max −⟨θ, u⟩ over the class.
    pub(crate) fn largest(&self, radius: f64, (low, high): (f64, f64)) -> f64 {
        let beside = if self.bias == 0.0 { 0.0 } else { (-self.bias * low).max(-self.bias * high) };
        radius * self.norm + beside
    }
}

by_f64x4! {
    /// Adds `hg`·x to θ and h·x² to the squares, four features at a time, and notes which had no square. What is not a
    /// whole four is left.
    fn add_quads<Q>(entries: &mut [Record16], positions: &[u32], values: &[f32], factors: (f64, f64), new: &mut Vec<usize>) {
        let (hg, h) = (Q::all(factors.0), Q::all(factors.1));
        let (positions, _) = positions.as_chunks::<FOUR>();
        let (values, _) = values.as_chunks::<FOUR>();
        for (number, (positions, values)) in positions.iter().zip(values).enumerate() {
            let value = Q::widen(Q::load_f32(values));
            // SAFETY: `records` has seen that all positions are there.
            #[allow(unsafe_code)]
            let (theta, square) = unsafe { Q::gather(entries, positions) };
            // No square is −0.
            let zeros = square.zeros();
            if zeros != 0 {
                new.extend((0..FOUR).filter(|at| zeros >> at & 1 != 0).map(|at| FOUR * number + at));
            }
            let (theta, square) = (theta + hg * value, square + h * value * value);
            // SAFETY: as above.
            #[allow(unsafe_code)]
            unsafe { Q::scatter(entries, positions, theta, square) }
        }
    }
}

/// Notes a feature that was seen, and where its entry is: in `positions` from the first on that is not where its index says.
#[inline]
fn note(seen: &mut Vec<u32>, positions: &mut Vec<u32>, index: u32, position: u32) {
    if position != index && positions.is_empty() {
        positions.extend_from_slice(seen);
    }
    seen.push(index);
    if position != index || !positions.is_empty() {
        positions.push(position);
    }
}

impl Certificate {
    /// Takes in a round: the charged prediction p, the derivative g there, the importance h > 0.
    pub fn observe(&mut self, p: f64, g: f64, h: f64, x: Features<'_>) {
        self.paid.add(h * g * (p - x.offset()));
        self.weight += h;
        self.rounds += 1.0;
        self.slopes += h * g * g;
        self.lacks_bias |= x.indices().first() != Some(&BIAS) || x.values()[0] != 1.0;
        let hg = h * g;
        self.table.locate(x, &mut self.positions);
        if self.layout != self.table.layout {
            self.find_seen();
        }
        let entries = self.table.all();
        let (located, values) = (self.positions.of(x), x.values());
        let positions = located.all();
        self.new.clear();
        add_quads(records(entries, located), positions, values, (hg, h), &mut self.new);
        let (whole, last) = positions.as_chunks::<FOUR>();
        for (at, (&position, &value)) in (FOUR * whole.len()..).zip(last.iter().zip(&values[FOUR * whole.len()..])) {
            let (entry, value) = (&mut entries[position as usize], f64::from(value));
            // No square is −0.
            if entry.square.to_bits() == 0 {
                self.new.push(at);
            }
            entry.theta += hg * value;
            entry.square += h * value * value;
        }
        for &at in &self.new {
            if entries[positions[at] as usize].square != 0.0 {
                note(&mut self.seen, &mut self.seen_at, x.indices()[at], positions[at]);
            }
        }
    }

    /// A row that will be taken in: its entries may be fetched meanwhile.
    pub(crate) fn prefetch(&self, x: Features<'_>) {
        self.table.prefetch(x);
    }

    /// How many features had a value other than 0.
    pub fn distinct_features(&self) -> u64 {
        self.seen.len() as u64
    }

    /// s_i: the root mean square of a feature over the stream, absent counting as 0.
    pub fn root_mean_square(&self, index: u32) -> f64 {
        if self.weight > 0.0 { (self.table.get(index).square / self.weight).sqrt() } else { 0.0 }
    }

    /// s_i of all [features](Self::features), in their order.
    pub fn root_mean_squares(&self) -> impl Iterator<Item = f64> {
        self.entries().map(|entry| if self.weight > 0.0 { (entry.square / self.weight).sqrt() } else { 0.0 })
    }

    /// The features that were seen, in order of appearance.
    pub fn features(&self) -> &[u32] {
        &self.seen
    }

    /// The bound for the ball ‖u‖₂ ≤ radius, summed over rounds.
    pub fn ball(&self, radius: f64) -> f64 {
        self.bound(Comparator::Ball(radius), radius)
    }

    /// The bound for the box |u_i| ≤ radius, summed over rounds.
    pub fn cube(&self, radius: f64) -> f64 {
        self.bound(Comparator::Box(radius), radius)
    }

    /// The bound for the standardised ball Σ(s_i u_i)² ≤ radius², summed over rounds.
    pub fn standardised_ball(&self, radius: f64) -> f64 {
        self.bound(Comparator::StandardisedBall(radius), radius)
    }

    fn bound(&self, class: Comparator, radius: f64) -> f64 {
        self.terms(class).map_or(f64::INFINITY, |terms| terms.bound(radius, (0.0, 0.0)))
    }

    /// What the bounds for this class are made of; `None` for classes without a bound of this kind.
    pub fn terms(&self, class: Comparator) -> Option<CertificateTerms> {
        let mut paid = self.paid.total();
        // Each addition to θ_i rounds by half an ulp of it.
        let rounding = f64::EPSILON * self.rounds * self.slopes.sqrt();
        let count = self.seen.len() as f64;
        let standardised = |entry: CertificateEntry| entry.theta * entry.theta / entry.square;
        let (bias, norm) = match class {
            Comparator::Ball(_) => (0.0, sum::sum(self.entries().map(|entry| entry.theta * entry.theta)).sqrt()),
            Comparator::StandardisedBall(_) => (0.0, (self.weight * sum::sum(self.entries().map(standardised))).sqrt()),
            Comparator::BallBesideBias { .. } => {
                let others = self.seen.iter().zip(self.entries()).filter(|(index, _)| **index != BIAS);
                let square = sum::sum(others.map(|(_, entry)| standardised(entry)));
                (self.table.get(BIAS).theta, (self.weight * square).sqrt())
            }
            Comparator::Box(_) => (0.0, sum::sum(self.entries().map(|entry| entry.theta.abs()))),
            _ => return None,
        };
        let reach = match class {
            Comparator::Ball(_) => sum::sum(self.entries().map(|entry| entry.square)).sqrt(),
            Comparator::Box(_) => sum::sum(self.entries().map(|entry| entry.square.sqrt())),
            _ => (self.weight * count).sqrt(),
        };
        if let Some((low, high)) = class.bias() {
            paid += rounding * self.weight.sqrt() * low.abs().max(high.abs());
        }
        Some(CertificateTerms { paid, bias, norm: norm + rounding * reach })
    }

    /// Whether every row began with the bias: feature 0 with the value 1.
    pub fn has_bias(&self) -> bool {
        self.weight > 0.0 && !self.lacks_bias
    }

    fn entries(&self) -> impl Iterator<Item = CertificateEntry> {
        self.table.these(if self.seen_at.is_empty() { &self.seen } else { &self.seen_at })
    }

    /// Finds the entries of what was seen.
    #[cold]
    fn find_seen(&mut self) {
        let Self { table, seen, seen_at, layout, .. } = self;
        *layout = table.layout;
        *seen_at = seen.iter().map(|&index| table.position(index) as u32).collect();
        if seen_at == seen {
            *seen_at = Vec::new();
        }
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.paid.persist("paid", archive)?;
        archive.number("weight", &mut self.weight)?;
        // Models of before they were kept go on from nothing: what they rounded before is not known.
        let (mut rounds, mut slopes) = (Some(self.rounds), Some(self.slopes));
        archive.optional("rounds", &mut rounds)?;
        archive.optional("slopes", &mut slopes)?;
        (self.rounds, self.slopes) = (rounds.unwrap_or_default(), slopes.unwrap_or_default());
        archive.check(self.rounds >= 0.0 && self.slopes >= 0.0, "slopes", "must not be below 0")?;
        let mut lacks_bias = Some(f64::from(u8::from(self.lacks_bias)));
        archive.optional("lacks_bias", &mut lacks_bias)?;
        let mut entries: Vec<CertificateEntry> = self.entries().collect();
        let fields = fields!(CertificateEntry { "theta": F64 theta, "square": F64 square });
        archive.records(&mut entries, &CertificateEntry::zeroed(), &fields)?;
        archive.check(entries.iter().all(|entry| entry.square != 0.0), "square", "must not be 0")?;
        archive.column("index", &mut self.seen)?;
        if archive.is_loading() {
            self.table = ParameterTable::loaded(archive, &self.seen, entries.into_iter())?;
            self.find_seen();
            // Models of before this was kept: the bias alone has the square Σ h, sum for sum.
            let is_likely = self.table.get(BIAS).square.to_bits() != self.weight.to_bits();
            self.lacks_bias = lacks_bias.map_or(is_likely, |lacks| lacks != 0.0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss;

    /// The certificate against the regret itself, for many comparators.
    #[test]
    fn no_comparator_beats_the_certificate() {
        let loss = loss::parse("logistic").unwrap();
        let mut certificate = Certificate::default();
        let rows: Vec<([f32; 3], f64, f64)> = (0..200u32)
            .map(|t| {
                let x = [1.0, (t * 7 % 13) as f32 - 6.0, (t * 5 % 11) as f32 * 0.1];
                (x, if (t * t) % 7 < 3 { 1.0 } else { -1.0 }, 1.0 + f64::from(t % 3))
            })
            .collect();
        // An arbitrary predictor that is not linear: the certificate does not care.
        let predict = |x: &[f32; 3]| f64::from(x[1]).sin() + 0.3;
        let mut paid = 0.0;
        for (x, y, h) in &rows {
            let p = predict(x);
            certificate.observe(p, loss.derivative(p, *y), *h, Features::new(&[0, 1, 2], x).unwrap());
            paid += h * loss.value(p, *y);
        }
        let at = |u: &[f64; 3]| -> f64 {
            let score = |x: &[f32; 3]| u.iter().zip(x).map(|(u, &x)| u * f64::from(x)).sum();
            rows.iter().map(|(x, y, h)| h * loss.value(score(x), *y)).sum()
        };
        for angle in 0..60 {
            let angle = f64::from(angle) * 0.1;
            for radius in [0.1, 1.0, 5.0] {
                let u = [radius * angle.cos(), radius * angle.sin() * 0.8, radius * angle.sin() * 0.6];
                assert!(paid - at(&u) <= certificate.ball(radius) + 1e-9);
                let scaled = (0..3).map(|i| (u[i as usize] * certificate.root_mean_square(i)).powi(2));
                let size = scaled.sum::<f64>().sqrt();
                assert!(paid - at(&u) <= certificate.standardised_ball(size) + 1e-9);
            }
        }
    }

    /// Low indices first, then high ones, which end up addressed directly; a copy that goes on from what is saved half-way.
    #[test]
    fn sums_are_found_wherever_entries_lie() {
        let mut random = crate::numeric::rng::SplitMix64::new(53);
        let (mut certificate, mut copy) = (Certificate::default(), Certificate::default());
        let (mut sums, mut order) = (std::collections::BTreeMap::<u32, [f64; 2]>::new(), Vec::new());
        let (mut was_noted, mut was_direct) = (false, false);
        for round in 0..600u64 {
            let (first, count) = if round < 20 { (0, 60) } else { (65_400, 12_000) };
            let mut indices: Vec<u32> = (0..60).map(|_| first + random.below(count) as u32).collect();
            indices.sort_unstable();
            indices.dedup();
            let values: Vec<f32> = indices.iter().map(|_| random.below(5) as f32 - 2.0).collect();
            let g = random.uniform() - 0.5;
            for (&index, &value) in indices.iter().zip(&values).filter(|(_, value)| **value != 0.0) {
                let [theta, square] = sums.entry(index).or_insert_with(|| {
                    order.push(index);
                    [0.0; 2]
                });
                (*theta, *square) = (*theta + g * f64::from(value), *square + f64::from(value) * f64::from(value));
            }
            if round == 100 {
                let state = Archive::saved(|archive| certificate.persist(archive)).unwrap();
                copy.persist(&mut Archive::loading(state)).unwrap();
            }
            let x = Features::new(&indices, &values).unwrap();
            certificate.observe(0.0, g, 1.0, x);
            if round >= 100 {
                copy.observe(0.0, g, 1.0, x);
            }
            was_noted |= !certificate.seen_at.is_empty();
            was_direct |= was_noted && certificate.seen_at.is_empty();
            if round % 50 != 49 {
                continue;
            }
            let squares = sum::sum(order.iter().map(|index| sums[index][0] * sums[index][0]));
            for certificate in [&certificate, &copy].into_iter().take(if round > 100 { 2 } else { 1 }) {
                assert_eq!(certificate.features(), order);
                // But for what rounding is allowed for.
                let ball = certificate.ball(1.0);
                assert!(ball >= squares.sqrt() && ball < squares.sqrt() * (1.0 + 1e-9), "{round}");
                for (&index, &[_, square]) in &sums {
                    assert_eq!(certificate.root_mean_square(index), (square / (round + 1) as f64).sqrt());
                }
            }
        }
        assert!(was_noted && was_direct, "both layouts are met");
    }

    #[test]
    fn the_bound_is_that_of_the_best_comparator_of_the_linearised_losses() {
        let mut certificate = Certificate::default();
        certificate.observe(0.5, 2.0, 1.0, Features::new(&[1], &[3.0]).unwrap());
        certificate.observe(-1.0, 1.0, 2.0, Features::new(&[2], &[4.0]).unwrap());
        // A = 1·2·0.5 + 2·1·(−1) = −1; θ = (6, 8); ‖θ‖ = 10.
        let is_near = |bound: f64, exact: f64| bound >= exact && bound < exact + 1e-12;
        assert!(is_near(certificate.ball(2.0), -1.0 + 2.0 * 10.0));
        assert!(is_near(certificate.cube(2.0), -1.0 + 2.0 * 14.0));
        // s₁² = 9/3, s₂² = 2·16/3: Σ θ²/s² = 36/3 + 64·3/32 = 12 + 6.
        assert!((certificate.standardised_ball(1.0) - (-1.0 + 18f64.sqrt())).abs() < 1e-12);
        assert_eq!(certificate.distinct_features(), 2);
    }
}
