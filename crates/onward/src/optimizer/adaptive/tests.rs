//! Adaptive rules against plain code that goes through a row feature by feature: the same bits, with vectors and
//! without.

use std::collections::BTreeMap;

use super::*;
use crate::archive::SavedColumn;
use crate::numeric::rng::SplitMix64;
use crate::numeric::{saturate, sum};
use crate::optimizer::adagrad::AdaGradDomain;
use crate::optimizer::coin::CoinDomain;
use crate::optimizer::{AdaGrad, Coin, FtrlProximal, Nag, Scinol};
use crate::protocol::StepKind;

/// A row, feature by feature.
type Row<'a> = &'a [(u32, f64)];

/// An algorithm as it is written down, for one feature after the other.
trait Plain {
    fn weight(&self, index: u32, value: f64) -> f64;
    fn prepare(&mut self, scalar: (f64, f64), x: Row<'_>) -> Step;
    fn advance(&mut self, _u: f64, _x: Row<'_>) {}
}

const NOT_MOVED: Step = Step::Gradient { time: 0.0 };

/// What is summed over a row, in the order of `sum`.
fn over(x: Row<'_>, term: impl FnMut(&(u32, f64)) -> f64) -> f64 {
    sum::sum(x.iter().map(term))
}

/// Bits of scores, steps and weights on random rows of 0 to 40 features, with values of all sizes.
fn bits<O: Optimizer>(mut optimizer: O, mut plain: impl Plain) {
    let (mut random, mut lengths) = (SplitMix64::new(23), [0; 41]);
    for round in 0..3000u64 {
        // Low ones and hashes.
        let all = (0..60).map(|at| if at % 3 == 0 { at * 2_654_435 % (1 << 22) } else { at });
        let mut indices: Vec<u32> = all.filter(|_| random.below(60) < 1 + round % 47).take(40).collect();
        indices.sort_unstable();
        indices.dedup();
        lengths[indices.len()] += 1;
        let mut value = || match random.below(12) {
            0 => 0.0,
            1 => -0.0,
            2 => f32::MAX,
            3 => -1e30,
            4 => 1e-30,
            _ => random.uniform() as f32 * 4.0 - 2.0,
        };
        let values: Vec<f32> = indices.iter().map(|_| value()).collect();
        let row: Vec<(u32, f64)> = indices.iter().copied().zip(values.iter().map(|&value| value.into())).collect();
        let x = Features::new(&indices, &values).unwrap();
        crate::simd::set_portable(round % 2 == 0);
        let expected = over(&row, |&(index, value)| plain.weight(index, value) * value);
        assert_eq!(optimizer.dot(x).to_bits(), expected.to_bits(), "round {round}");
        assert_eq!(optimizer.begin(x).to_bits(), expected.to_bits(), "round {round}");
        let g = [0.0, -0.7, 1e-200, 3.0, 1e10][random.below(5) as usize];
        let h = [1.0, 0.5, 1e30][random.below(3) as usize];
        assert_eq!(optimizer.prepare(g, h, x), plain.prepare((g, h), &row), "round {round}");
        // Too far at times.
        let u = (random.uniform() - 0.5) * [1.0, 1e-3, 1e200][random.below(3) as usize];
        optimizer.advance(u, x);
        plain.advance(u, &row);
        for &index in &indices {
            assert_eq!(optimizer.weight(index).to_bits(), plain.weight(index, 0.0).to_bits(), "round {round}");
        }
    }
    crate::simd::set_portable(false);
    assert!(lengths[..40].iter().all(|&count| count > 0), "{lengths:?}");
}

#[derive(Default)]
struct PlainNag {
    squares: f64,
    weight: f64,
    multiplier: f64,
    has_gradient: bool,
    /// S, w, M and the direction.
    entries: BTreeMap<u32, (f64, f32, f32, f64)>,
}

impl Plain for PlainNag {
    fn weight(&self, index: u32, _value: f64) -> f64 {
        self.entries.get(&index).map_or(0.0, |entry| entry.1.into())
    }

    fn prepare(&mut self, (g, h): (f64, f64), x: Row<'_>) -> Step {
        self.has_gradient = g != 0.0;
        if !self.has_gradient {
            return Step::Flow { time: 0.0, q: 0.0 };
        }
        let normalised = over(x, |&(index, value)| {
            let (gradients, weight, scale, direction) = self.entries.entry(index).or_default();
            let before = f64::from(*scale);
            if value.abs() > before {
                *weight = saturate(f64::from(*weight) * (before / value.abs()));
                *scale = value.abs() as f32;
            }
            *gradients += h * g * g * (value * value);
            let product = gradients.sqrt() * f64::from(*scale);
            *direction = if product > 0.0 { value * (1.0 / product) } else { 0.0 };
            (*direction * gradients.sqrt()).powi(2)
        });
        self.squares += h * normalised;
        self.weight += h;
        self.multiplier = if self.squares > 0.0 { (self.weight / self.squares).sqrt() } else { 0.0 };
        let q = over(x, |(index, value)| value * self.entries[index].3);
        Step::Flow { time: 0.5 * h, q: self.multiplier * q }
    }

    fn advance(&mut self, u: f64, x: Row<'_>) {
        for (index, _) in x.iter().filter(|_| self.has_gradient) {
            let (_, weight, _, direction) = self.entries.get_mut(index).unwrap();
            *weight = saturate(f64::from(*weight) + u * self.multiplier * *direction);
        }
    }
}

#[test]
fn nag_does_what_it_does_feature_by_feature() {
    bits(Nag::new(0.5).unwrap(), PlainNag::default());
}

/// In a box; with weights of 32 or 64 bits.
struct PlainAdaGrad {
    eta: f64,
    limit: f64,
    rounded: fn(f64) -> f64,
    /// √G, w and the direction.
    entries: BTreeMap<u32, (f64, f64, f64)>,
}

impl Plain for PlainAdaGrad {
    fn weight(&self, index: u32, _value: f64) -> f64 {
        self.entries.get(&index).map_or(0.0, |entry| entry.1)
    }

    fn prepare(&mut self, (g, h): (f64, f64), x: Row<'_>) -> Step {
        let q = over(x, |&(index, value)| {
            let (root, _, direction) = self.entries.entry(index).or_default();
            let z = h * g * value;
            *root = (*root * *root + z * z).min(1e300).sqrt().max(*root);
            *direction = if *root > 0.0 { value * (self.eta / *root) } else { 0.0 };
            value * *direction
        });
        Step::Flow { time: h, q }
    }

    fn advance(&mut self, u: f64, x: Row<'_>) {
        for (index, _) in x {
            let (_, weight, direction) = self.entries.get_mut(index).unwrap();
            *weight = (self.rounded)((*weight + u * *direction).clamp(-self.limit, self.limit));
        }
    }
}

#[test]
fn adagrad_does_what_it_does_feature_by_feature_in_a_box_and_without_one() {
    for (domain, limit) in [(AdaGradDomain::All, MOST), (AdaGradDomain::Box, 0.3)] {
        let optimizer = || AdaGrad::within(domain, 0.5, 0.3).unwrap().with_step(StepKind::Flow);
        let plain = |rounded| PlainAdaGrad { eta: 0.5, limit, rounded, entries: BTreeMap::new() };
        bits(optimizer(), plain(|weight| weight));
        // As models continue whose weights were saved with 32 bits.
        let mut old = optimizer();
        let mut state = Archive::saved(|archive| old.persist(archive)).unwrap();
        state.set_column("weight", SavedColumn::F32(Vec::new()));
        old.persist(&mut Archive::loading(state)).unwrap();
        bits(old, plain(|weight| f64::from(saturate(weight))));
    }
}

#[test]
fn what_a_rule_keeps_is_saved_and_frozen() {
    let rule = || AdaGrad::new(0.25, 1.0).unwrap();
    let (mut one, mut other) = (rule(), rule());
    one.observe(-2.0, Features::new(&[3, 9, 1 << 20], &[1.0, -0.5, 7.0]).unwrap());
    let state = Archive::saved(|archive| one.persist(archive)).unwrap();
    other.persist(&mut Archive::loading(state)).unwrap();
    let (mut indices, weights) = other.frozen_weights().unwrap();
    assert_eq!(one.weights(&indices), weights);
    indices.sort_unstable();
    assert_eq!(indices, [3, 9, 1 << 20]);
    assert!(Scinol::new(1.0).unwrap().frozen_weights().is_none(), "its weights depend on the row");
}

/// A few sums for each feature.
type Sums<const N: usize> = BTreeMap<u32, [f64; N]>;

fn get<const N: usize>(sums: &Sums<N>, index: u32) -> [f64; N] {
    sums.get(&index).copied().unwrap_or([0.0; N])
}

const MOST: f64 = f32::MAX as f64;

/// With α = 0.5, β = 1, λ₁ = 2 and λ₂ = 0.1.
struct PlainFtrlProximal(Sums<3>);

impl Plain for PlainFtrlProximal {
    fn weight(&self, index: u32, _value: f64) -> f64 {
        let [squares, sum, _] = get(&self.0, index);
        let curvature = (1.0 + squares.sqrt()) / 0.5 + 0.1;
        let point = (-(sum - 2f64.copysign(sum)) / curvature).clamp(-MOST, MOST);
        if sum.abs() <= 2.0 { 0.0 } else { point }
    }

    fn prepare(&mut self, (g, h): (f64, f64), x: Row<'_>) -> Step {
        for &(index, value) in x {
            let ([before, sum, pull], point) = (get(&self.0, index), self.weight(index, value));
            let z = h * g * value;
            if z * z > 0.0 {
                let squares = before + z * z;
                let pulled = z * z / (squares.sqrt() + before.sqrt()) / 0.5 * point;
                self.0.insert(index, [squares, sum + z - pulled, pull + pulled]);
            }
        }
        NOT_MOVED
    }
}

/// With ε = 2.
struct PlainCoin(Sums<5>);

impl Plain for PlainCoin {
    fn weight(&self, index: u32, _value: f64) -> f64 {
        let [_, coins, reward, largest, count] = get(&self.0, index);
        let fraction = coins / largest / (count + 1.0);
        let bet = (fraction * (2.0 + reward / largest).max(0.0)).clamp(-MOST, MOST);
        if count == 0.0 { 0.0 } else { bet }
    }

    fn prepare(&mut self, (g, h): (f64, f64), x: Row<'_>) -> Step {
        for &(index, value) in x {
            let ([sum, coins, reward, largest, count], bet) = (get(&self.0, index), self.weight(index, value));
            let z = h * g * value;
            if z != 0.0 {
                let before = if largest == 0.0 { z.abs() } else { largest };
                let cut = z.clamp(-before, before);
                let numbers = [sum + z, coins - cut, reward - cut * bet, before.max(z.abs()), count + 1.0];
                self.0.insert(index, numbers);
            }
        }
        NOT_MOVED
    }
}

/// With ε = 1, and L.
struct PlainScinol(Sums<4>, f64);

impl Plain for PlainScinol {
    fn weight(&self, index: u32, value: f64) -> f64 {
        let [largest, squares, sum, won] = get(&self.0, index);
        let scale = largest.max(value.abs()) * self.1;
        let root = scale * (squares / scale / scale + 1.0).sqrt();
        let point = (sum / root).clamp(-1.0, 1.0) * ((1.0 + won) / (2.0 * root));
        if scale == 0.0 { 0.0 } else { point.clamp(-MOST, MOST) }
    }

    fn prepare(&mut self, (g, h): (f64, f64), x: Row<'_>) -> Step {
        for &(index, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            let ([largest, squares, sum, won], point) = (get(&self.0, index), self.weight(index, value));
            let largest = largest.max(value.abs());
            let z = (h * g * value).clamp(-largest * self.1, largest * self.1);
            let numbers = [largest, (squares + z * z).min(f64::MAX), sum - z, (won - z * point).min(1e300)];
            self.0.insert(index, numbers);
        }
        self.1 = self.1.max((h * g).abs());
        NOT_MOVED
    }
}

#[test]
fn rules_whose_weights_follow_from_sums_do_what_they_do_feature_by_feature() {
    bits(FtrlProximal::new(0.5, 1.0, 2.0, 0.1, 1.0).unwrap(), PlainFtrlProximal(Sums::new()));
    bits(Coin::new(2.0, 1.0, CoinDomain::Ball, None).unwrap(), PlainCoin(Sums::new()));
    bits(Scinol::new(1.0).unwrap(), PlainScinol(Sums::new(), 1.0));
}
