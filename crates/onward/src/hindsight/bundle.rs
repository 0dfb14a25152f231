//! The lower bound from all passes together.
//!
//! A pass gives every row h a slope α between those that its loss has at some score, and with them
//! a minorant of the mean loss: f(u) ≥ c + ⟨θ, u⟩ for every u, c = Σ h(ℓ(q) + α(b − q))/Σ h and
//! θ = Σ h α x/Σ h. On the ball of radius U none of them is below c − U‖θ‖. What is more, with
//! weights λ ≥ 0 of sum 1 for the minorants f(u) ≥ Σ λ_k c_k + ⟨Σ λ_k θ_k, u⟩, and so
//!
//! > f(u) ≥ max_λ Σ λ_k c_k − U‖Σ λ_k θ_k‖ for all ‖u‖ ≤ U:
//!
//! gradients that point in different directions cancel, where each alone would be long. This
//! is the bound of the bundle method (Lemaréchal, Nemirovskii and Nesterov 1995). Every λ is
//! valid, so that the maximum need not be exact: it is climbed by moving weight from one minorant
//! to another, as much as is best, from the one that deserves it least to the one that deserves
//! it most (Frank–Wolfe with pairwise steps). What the λ that was found proves is then computed
//! anew from c and θ, free of the rounding on the way. Where slopes cancel to nothing the norm has a
//! kink, at which moves of two weights can stall: what was found until then is valid still.

use crate::numeric::linalg::vector::{add_scaled, dot, norm};

/// Moves of weight at most.
const MOVES: usize = 2000;

/// A move that promises less than this share of the bound is not worth it.
const LEAST: f64 = 1e-9;

struct Minorant {
    constant: f64,
    slope: Vec<f64>,
    /// Its weight in the last bound.
    share: f64,
}

/// The minorants that are kept.
pub(super) struct Bundle {
    most: usize,
    minorants: Vec<Minorant>,
    /// ⟨θ_j, θ_k⟩.
    products: Vec<Vec<f64>>,
}

impl Bundle {
    /// With room for this many minorants.
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(2), minorants: Vec::new(), products: Vec::new() }
    }

    /// Takes in the minorant of a pass. If there are too many, the one goes that helped least last
    /// time, the oldest of these.
    pub(super) fn add(&mut self, constant: f64, slope: &[f64]) {
        if !(constant.is_finite() && dot(slope, slope).is_finite()) {
            return;
        }
        if self.minorants.len() >= self.most {
            let share = |at: usize| self.minorants[at].share;
            let least = (0..self.minorants.len()).min_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap_or(0);
            self.minorants.remove(least);
            self.products.remove(least);
            for line in &mut self.products {
                line.remove(least);
            }
        }
        let mut line: Vec<f64> = self.minorants.iter().map(|other| dot(&other.slope, slope)).collect();
        self.products.iter_mut().zip(&line).for_each(|(other, &product)| other.push(product));
        line.push(dot(slope, slope));
        self.products.push(line);
        self.minorants.push(Minorant { constant, slope: slope.to_vec(), share: 0.0 });
    }

    /// What no u of at most this norm can fall below.
    pub(super) fn bound(&mut self, radius: f64) -> f64 {
        let alone = |at: usize| self.minorants[at].constant - times(radius, self.products[at][at].max(0.0).sqrt());
        let Some(start) = (0..self.minorants.len()).max_by(|&a, &b| alone(a).total_cmp(&alone(b))) else {
            return f64::NEG_INFINITY;
        };
        let best_alone = alone(start);
        let mut shares: Vec<f64> = self.minorants.iter().map(|minorant| minorant.share).collect();
        let total: f64 = shares.iter().sum();
        if total > 0.5 {
            shares.iter_mut().for_each(|share| *share /= total);
        } else {
            shares[start] = 1.0;
        }
        self.climb(&mut shares, radius);
        let mut slope = vec![0.0; self.minorants[start].slope.len()];
        let mut constant = 0.0;
        // Of sum 1, but for rounding.
        let total: f64 = shares.iter().sum();
        for (minorant, share) in self.minorants.iter_mut().zip(shares) {
            minorant.share = share / total;
            constant += minorant.share * minorant.constant;
            add_scaled(&mut slope, minorant.share, &minorant.slope);
        }
        best_alone.max(constant - times(radius, norm(&slope)))
    }

    /// Moves weight while that raises the bound.
    fn climb(&self, shares: &mut [f64], radius: f64) {
        // ⟨θ_k, Σ λ_j θ_j⟩.
        let mut along: Vec<f64> = self.products.iter().map(|line| dot(line, shares)).collect();
        for _ in 0..MOVES {
            let square = dot(&along, shares).max(0.0);
            let length = square.sqrt();
            let pull = if length > 0.0 { radius / length } else { 0.0 };
            let merit = |at: usize| self.minorants[at].constant - pull * along[at];
            let (mut to, mut from) = (0, None);
            for (at, &share) in shares.iter().enumerate() {
                if merit(at) > merit(to) {
                    to = at;
                }
                if share > 0.0 && from.is_none_or(|least| merit(at) < merit(least)) {
                    from = Some(at);
                }
            }
            let Some(from) = from.filter(|&from| from != to) else { return };
            let scale = self.minorants[to].constant.abs() + radius * length;
            if merit(to) - merit(from) <= LEAST * scale {
                return;
            }
            // Along τ the length² is square + 2τ·slope + τ²·bend.
            let gain = self.minorants[to].constant - self.minorants[from].constant;
            let slope = along[to] - along[from];
            let (line, other) = (&self.products[to], &self.products[from]);
            let bend = line[to] - 2.0 * line[from] + other[from];
            let most = shares[from];
            let mut step = most;
            if bend > 0.0 {
                let rest = (square - slope * slope / bend).max(0.0);
                let left = radius * radius * bend - gain * gain;
                if left > 0.0 {
                    step = (gain * (rest / bend / left).sqrt() - slope / bend).clamp(0.0, most);
                } else if gain < 0.0 {
                    return;
                }
            }
            if step <= 0.0 {
                return;
            }
            shares[to] += step;
            shares[from] = if step >= most { 0.0 } else { shares[from] - step };
            for ((along, to), from) in along.iter_mut().zip(line).zip(other) {
                *along += step * (to - from);
            }
        }
    }
}

/// radius·length; 0 for no length, whatever the radius.
fn times(radius: f64, length: f64) -> f64 {
    if length > 0.0 { radius * length } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_bound_is_valid_and_no_less_than_that_of_each_alone(
            seeds in prop::collection::vec(-1.0..1.0f64, 24), log_radius in -2.0..2.0f64,
            trial in prop::collection::vec(0.0..1.0f64, 6),
        ) {
            let radius = 10f64.powf(log_radius);
            let minorants: Vec<(f64, &[f64])> = seeds.chunks_exact(4).map(|part| (part[0], &part[1..])).collect();
            let mut bundle = Bundle::new(8);
            let mut before = f64::NEG_INFINITY;
            for (constant, slope) in &minorants {
                bundle.add(*constant, slope);
                let bound = bundle.bound(radius);
                prop_assert!(bound >= before - 1e-7 * (1.0 + radius), "{bound} {before}");
                before = bound;
            }
            // The least of the largest minorant is above it, as at any point of the ball is.
            for direction in trial.chunks_exact(3) {
                let direction: Vec<f64> = direction.iter().map(|x| x - 0.5).collect();
                let u: Vec<f64> = direction.iter().map(|x| x * radius / norm(&direction)).collect();
                let largest = minorants.iter().map(|(c, slope)| c + dot(slope, &u)).fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(before <= largest + 1e-12 * (1.0 + radius), "{before} {largest}");
            }
            // Together they prove no less than the best of them alone.
            for (constant, slope) in &minorants {
                prop_assert!(before >= constant - radius * norm(slope) - 1e-12 * (1.0 + radius));
            }
        }
    }

    #[test]
    fn where_the_best_weights_are_known_they_are_found() {
        // Orthogonal unit slopes without constants: equal weights, −U/√n.
        let mut bundle = Bundle::new(8);
        for at in 0..3 {
            let slope: Vec<f64> = (0..3).map(|k| f64::from(u8::from(k == at))).collect();
            bundle.add(0.0, &slope);
            let expected = -5.0 / f64::from(at as u32 + 1).sqrt();
            assert!((bundle.bound(5.0) - expected).abs() < 1e-7, "{at}");
        }
        // Of 1 − 2u and −1 + u, where |u| ≤ 1, the larger is least at u = 2/3: −1/3.
        let mut bundle = Bundle::new(8);
        bundle.add(1.0, &[-2.0]);
        bundle.add(-1.0, &[1.0]);
        assert!((bundle.bound(1.0) + 1.0 / 3.0).abs() < 1e-3);
    }

    #[test]
    fn opposite_gradients_cancel() {
        // |u| on [−5, 5], seen from both sides: u and −u.
        let mut bundle = Bundle::new(2);
        bundle.add(0.0, &[1.0]);
        assert_eq!(bundle.bound(5.0), -5.0);
        bundle.add(0.0, &[-1.0]);
        assert!(bundle.bound(5.0).abs() < 1e-12);
        // A third takes the place of one that helped no more than others.
        bundle.add(-0.1, &[0.0]);
        assert!((bundle.bound(5.0) + 0.1).abs() < 1e-12);
        assert_eq!(Bundle::new(3).bound(1.0), f64::NEG_INFINITY);
    }
}
