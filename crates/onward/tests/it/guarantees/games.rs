//! Linear games: each round an adversary, who sees the learner's point, gives a vector z, and
//! the learner pays ⟨w, z⟩. The best comparator has a closed form.

use onward::learner::LearnerSpec;
use onward::loss::LinearLoss;
use onward::{Features, SharedLoss};

use std::fmt;
use std::sync::Arc;

use super::streams::DIMENSION;
use crate::common::Random;

/// How the adversary chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Adversary {
    /// Orthogonal to the point and to the sum so far: the point gains nothing, the sum grows.
    Orthogonal,
    /// The same within ±1 in each coordinate: against the sign of the weight, with the sum where
    /// the weight is small.
    Signs,
    /// A fair coin in each coordinate.
    Coin(u64),
    /// One coordinate alone, a fair coin.
    Lone(u64),
    /// One coordinate alone: what makes the weight return, then what drives it out.
    Swing,
    /// A coordinate of its own each round, as far as there are some.
    Fresh,
    /// The signs that the bits say, in one coordinate alone, or in all.
    Written { signs: u32, is_lone: bool },
}

/// As docs/guarantees.md names it.
impl fmt::Display for Adversary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Orthogonal => write!(out, "orthogonal to the weights"),
            Self::Signs => write!(out, "signs of the weights"),
            Self::Coin(seed) => write!(out, "a coin per coordinate (seed {seed})"),
            Self::Lone(seed) => write!(out, "a coin for one coordinate (seed {seed})"),
            Self::Swing => write!(out, "one coordinate to and fro"),
            Self::Fresh => write!(out, "a new coordinate per round"),
            Self::Written { signs, is_lone } => {
                let sign = |round| if signs >> round & 1 == 0 { '+' } else { '−' };
                let signs: String = (0..WRITTEN).map(sign).collect();
                write!(out, "signs {signs} in {}", if *is_lone { "one coordinate" } else { "all coordinates" })
            }
        }
    }
}

/// The rounds of which every order of signs is played.
pub(crate) const WRITTEN: usize = 9;

/// Every order of signs of [`WRITTEN`] rounds.
pub(crate) fn written() -> impl Iterator<Item = Adversary> {
    (0..1 << WRITTEN).flat_map(|signs| [true, false].map(|is_lone| Adversary::Written { signs, is_lone }))
}

pub(crate) const ADVERSARIES: [Adversary; 9] = [
    Adversary::Orthogonal,
    Adversary::Signs,
    Adversary::Coin(1),
    Adversary::Coin(2),
    Adversary::Lone(3),
    Adversary::Lone(4),
    Adversary::Lone(8),
    Adversary::Swing,
    Adversary::Fresh,
];

/// A game in progress.
pub(crate) struct Game {
    pub(crate) learner: Box<dyn onward::Learner>,
    adversary: Adversary,
    random: Random,
    round: usize,
    /// Σz.
    pub(crate) theta: Vec<f64>,
    /// Σ⟨w, z⟩.
    pub(crate) paid: f64,
}

impl Game {
    /// `None` where the learner does not take the linear loss.
    pub(crate) fn new(specification: &LearnerSpec, adversary: Adversary) -> Option<Self> {
        let loss: SharedLoss = Arc::new(LinearLoss);
        let seed = match adversary {
            Adversary::Coin(seed) | Adversary::Lone(seed) => seed,
            _ => 0,
        };
        let (theta, random) = (vec![0.0; DIMENSION], Random(seed));
        let learner = specification.build(&loss, None).ok()?;
        Some(Self { learner, adversary, random, round: 0, theta, paid: 0.0 })
    }

    /// Plays a round.
    pub(crate) fn play(&mut self) {
        let z = self.choose();
        let indices: Vec<u32> = (0..DIMENSION as u32).collect();
        let x = Features::new(&indices, &z).unwrap();
        self.paid += self.learner.learn_one(x, 1.0, 1.0);
        self.theta.iter_mut().zip(&z).for_each(|(sum, &z)| *sum += f64::from(z));
        self.round += 1;
    }

    /// The point, as scores on unit vectors: what `weight` says, for learners that have it.
    fn point(&self) -> Vec<f64> {
        let at = |index: u32| {
            let unit = Features::new(std::slice::from_ref(&index), &[1.0]).unwrap();
            self.learner.predict_one(unit)
        };
        (0..DIMENSION as u32).map(at).collect()
    }

    fn choose(&mut self) -> Vec<f32> {
        let mut z = vec![0.0f64; DIMENSION];
        match self.adversary {
            Adversary::Orthogonal => {
                z = (0..DIMENSION).map(|_| self.random.between(-1.0, 1.0)).collect();
                let (point, sum) = (self.point(), self.theta.clone());
                let sum = without(&sum, &point);
                z = without(&without(&z, &point), &sum);
                let size = norm(&z).max(1e-12);
                z.iter_mut().for_each(|entry| *entry /= size);
            }
            Adversary::Signs => {
                let point = self.point();
                for at in 0..DIMENSION {
                    let small = point[at].abs() < 1e-9;
                    z[at] = if small { sign(self.theta[at]) } else { sign(point[at]) };
                }
            }
            Adversary::Coin(_) => {
                z.iter_mut().for_each(|entry| *entry = if self.random.uniform() < 0.5 { 1.0 } else { -1.0 })
            }
            Adversary::Lone(_) => z[0] = if self.random.uniform() < 0.5 { 1.0 } else { -1.0 },
            // Out for a stretch, back for one, each longer than those before.
            Adversary::Swing => {
                z[0] = if (usize::BITS - (self.round + 1).leading_zeros()).is_multiple_of(2) { 1.0 } else { -1.0 }
            }
            Adversary::Written { signs, is_lone } => {
                let entries = if is_lone { 1 } else { DIMENSION };
                z[..entries].fill(if signs >> self.round & 1 == 0 { 1.0 } else { -1.0 });
            }
            Adversary::Fresh => {
                z[self.round % DIMENSION] = if (self.round / DIMENSION).is_multiple_of(2) { 1.0 } else { -1.0 }
            }
        }
        z.into_iter().map(|entry| entry as f32).collect()
    }
}

fn sign(value: f64) -> f64 {
    if value >= 0.0 { 1.0 } else { -1.0 }
}

fn norm(u: &[f64]) -> f64 {
    u.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// The part of a vector orthogonal to another.
fn without(vector: &[f64], other: &[f64]) -> Vec<f64> {
    let square = other.iter().map(|entry| entry * entry).sum::<f64>();
    if square < 1e-24 {
        return vector.to_vec();
    }
    let share = vector.iter().zip(other).map(|(one, other)| one * other).sum::<f64>() / square;
    vector.iter().zip(other).map(|(one, other)| one - share * other).collect()
}
