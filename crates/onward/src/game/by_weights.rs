//! Prediction with expert advice: the coordinates of the simplex are the experts.
//!
//! Expert i is the corner U·e_i. In a round it loses U·z_i, z being the gradient at the point w = U·(weights), so that the
//! regret of the weights is Σ⟨z_t, w_t − u⟩ for the best corner u, and no mean of corners is better. By convexity this bounds
//! Σ ℓ_t(w_t) − ℓ_t(u) for every u of the simplex; linear losses are met exactly.
//!
//! With `predict=draw` the player takes one corner per round, by weight. For linear losses w is then its mean, and what is
//! charged and bounded is the *expected* loss ⟨w, z⟩. What the drawn corners paid is kept beside it: it differs by luck,
//! which is 0 on average whatever the losses are, as long as they do not depend on the draw.

use super::{GameRound, GameRules, Player, PointLoss};
use crate::Error;
use crate::guarantee::{Comparator, Guarantee};
use crate::mixture::Predict;
use crate::mixture::experts::{Experts, draw};
use crate::numeric::rng::SplitMix64;

/// Weights on the corners of the simplex.
pub(super) struct ByWeights {
    experts: Box<dyn Experts>,
    radius: f64,
    point: Vec<f64>,
    losses: Vec<f64>,
    /// The seed, and where the draws come from, if corners are drawn.
    draws: Option<(u64, SplitMix64)>,
}

impl ByWeights {
    pub(super) fn new(rules: &GameRules, experts: Box<dyn Experts>, predict: Predict) -> Result<Self, Error> {
        let draws = match predict {
            Predict::Mix => None,
            Predict::Draw(_) if rules.loss() != PointLoss::Linear => {
                return Err(Error::parameter(format!(
                    "predict=draw is for linear losses, of which the mean over draws is what the weights pay; got {}",
                    rules.loss()
                )));
            }
            Predict::Draw(seed) => Some((seed, SplitMix64::new(seed))),
        };
        let (radius, zeros) = (rules.radius(), vec![0.0; rules.dimension()]);
        let mut player = Self { experts, radius, point: zeros.clone(), losses: zeros, draws };
        player.place();
        Ok(player)
    }

    fn place(&mut self) {
        let radius = self.radius;
        self.point.iter_mut().zip(self.experts.weights()).for_each(|(w, weight)| *w = radius * weight);
    }
}

impl Player for ByWeights {
    fn point(&self) -> &[f64] {
        &self.point
    }

    fn observe(&mut self, round: &GameRound<'_>) {
        let radius = self.radius;
        self.losses.iter_mut().zip(round.gradient).for_each(|(loss, z)| *loss = radius * z);
        self.experts.observe(&self.losses, 1.0);
        self.place();
    }

    fn guarantee(&self) -> Guarantee {
        let guarantee = self.experts.guarantee();
        match (guarantee.comparator, guarantee.bound) {
            (Some(Comparator::Experts), Ok(bound)) => Guarantee::own(Comparator::Simplex(self.radius), bound),
            (Some(class), Ok(bound)) => Guarantee::own(class, bound),
            (_, bound) => Guarantee::missing(bound.err().unwrap_or_default()),
        }
    }

    fn describe(&self) -> String {
        let name = self.experts.describe();
        let separator = if name.contains(':') { ',' } else { ':' };
        match self.draws {
            None => name,
            Some((seed, _)) => format!("{name}{separator}predict=draw,seed={seed}"),
        }
    }

    fn draw(&mut self, row: &[f64]) -> Option<f64> {
        let (_, draws) = self.draws.as_mut()?;
        Some(self.radius * row[draw(self.experts.weights(), draws.uniform())])
    }
}
