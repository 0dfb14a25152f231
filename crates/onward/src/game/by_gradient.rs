//! A learner as a player: it is fed with the gradients as features.
//!
//! With the features z and the loss p of the score p = ⟨w, z⟩ a linear learner plays online convex optimisation, and its
//! theorem bounds Σ⟨z_t, w_t − u⟩ ≥ Σ ℓ_t(w_t) − ℓ_t(u).
//!
//! - On the simplex only differences between coordinates matter: a number that is taken off all entries of z changes
//!   neither ⟨z, w − u⟩ nor a projected or exponentiated step. The mean is taken off, which makes ‖z‖₂ least
//!   (for `map=entropic` the middle of the range, which makes ‖z‖_∞ least), and the theorem's bound with it.
//! - The online Newton step wants to know how far a loss curves along z. It is fed with √γ·z and a slope of 1/√γ, γ being
//!   that of [`PointLoss`], so that its matrix grows by γzzᵀ.
//! - Features are in single precision, and points may be. What the learner was fed is ẑ, and it counts p_t = ⟨ẑ_t, w_t⟩ where
//!   the point played is w'_t, brought back into the domain. So Σ⟨z_t, w'_t − u⟩ is the learner's own bound plus
//!   Σ(⟨z_t, w'_t⟩ − p_t) plus the largest ⟨Σ(ẑ_t − z_t), u⟩ of the class, which is what is printed.

use super::rules::support;
use super::{GameRound, GameRules, Player, PointLoss, linear};
use crate::domain::Domain;
use crate::guarantee::Guarantee;
use crate::loss::{Curvature, Loss, SharedLoss, Task};
use crate::numeric::linalg::vector::dot;
use crate::numeric::sum::Sum;
use crate::protocol::LearnerSpec;
use crate::{Error, Features, Learner};

use std::sync::Arc;

/// What is taken off all entries of a gradient on the simplex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Centre {
    Nothing,
    Mean,
    Middle,
}

/// How the learner is fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feed {
    /// With z.
    Gradient,
    /// With √γ·z.
    Curved,
}

/// A learner that is fed with gradients.
pub(super) struct ByGradient {
    learner: Box<dyn Learner>,
    domain: Domain,
    centre: Centre,
    feed: Feed,
    indices: Vec<u32>,
    point: Vec<f64>,
    /// z without its centre, and what the learner is fed with.
    gradient: Vec<f64>,
    values: Vec<f32>,
    /// Σ(⟨z, w'⟩ − p).
    played: Sum,
    /// Σ(ẑ − z).
    rounded: Vec<Sum>,
    /// Whether it is an online Newton step on losses that do not curve.
    is_straight: bool,
    /// By how much rounding may have made losses curve less than was counted on.
    slack: f64,
}

/// The loss p of the score p, which curves by 1: what the online Newton step is told.
#[derive(Debug, Clone, Copy)]
struct CurvedLoss;

impl Loss for CurvedLoss {
    fn name(&self) -> String {
        "curved".to_owned()
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        y * p
    }

    fn derivative(&self, _p: f64, y: f64) -> f64 {
        y
    }

    fn second_derivative(&self, _p: f64, _y: f64) -> f64 {
        1.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::Strong(1.0)
    }

    fn lipschitz(&self, range: f64) -> f64 {
        range
    }

    fn importance_step(&self, _p: f64, y: f64, time: f64, _q: f64) -> f64 {
        -time * y
    }
}

/// The learners that play, and where.
const PLAYERS: [(&str, &[&str]); 11] = [
    ("ogd", &["simplex", "ball", "box", "l1", "all"]),
    ("osd", &["simplex", "ball", "box", "l1", "all"]),
    ("ftl", &["simplex", "ball", "box", "l1"]),
    ("ftrl", &["simplex", "ball", "box", "l1", "all"]),
    ("dual-averaging", &["simplex", "ball", "box", "l1", "all"]),
    ("mirror-descent", &["simplex", "ball", "l1"]),
    ("adagrad", &["ball", "box", "all"]),
    ("ons", &["simplex", "ball"]),
    ("ogd-strong", &["ball", "all"]),
    ("coin", &["all"]),
    ("ftrl-proximal", &["all"]),
];

impl ByGradient {
    /// The learner that is asked for, in the domain of the game; none where no learner of that name plays.
    pub(super) fn new(rules: &GameRules, asked: &LearnerSpec) -> Result<Option<Self>, Error> {
        let (name, domain) = (asked.name(), rules.domain());
        let Some((_, domains)) = PLAYERS.iter().find(|(player, _)| *player == name) else { return Ok(None) };
        if !domains.contains(&domain.name()) {
            let (places, here) = (domains.join(", "), domain.name());
            return Err(Error::parameter(format!(
                "{name} plays on these domains: {places}; the domain of the game is {here}"
            )));
        }
        let is_curved = name == "ons" && rules.loss() != PointLoss::Linear;
        let loss: SharedLoss = if is_curved { Arc::new(CurvedLoss) } else { linear() };
        // Descent for strongly convex losses projects on the ball of its radius, if it has one.
        let radius = (name != "ogd-strong" || domain != Domain::All).then(|| rules.radius());
        let learner = placed(rules, asked.clone()).build(&loss, radius)?;
        let centre = match domain {
            Domain::Simplex { .. } if name == "mirror-descent" => Centre::Middle,
            Domain::Simplex { .. } => Centre::Mean,
            _ => Centre::Nothing,
        };
        let dimension = rules.dimension();
        let mut player = Self {
            learner,
            domain,
            centre,
            feed: if is_curved { Feed::Curved } else { Feed::Gradient },
            indices: (0..dimension as u32).collect(),
            point: vec![0.0; dimension],
            gradient: vec![0.0; dimension],
            values: vec![0.0; dimension],
            played: Sum::default(),
            rounded: vec![Sum::default(); dimension],
            is_straight: name == "ons" && !is_curved,
            slack: 0.0,
        };
        player.place();
        Ok(Some(player))
    }

    /// Takes the point from the learner.
    fn place(&mut self) {
        let Some(linear) = self.learner.linear() else { return };
        self.point.iter_mut().zip(linear.weights(&self.indices)).for_each(|(w, weight)| *w = weight);
        match self.domain {
            // Weights that sum to the radius but for rounding.
            Domain::Simplex { radius, .. } => {
                self.point.iter_mut().for_each(|w| *w = w.max(0.0));
                let total: f64 = self.point.iter().sum();
                if total > 0.0 {
                    self.point.iter_mut().for_each(|w| *w *= radius / total);
                }
            }
            domain => domain.project(&mut self.point),
        }
    }

    /// √γ for the gradient without its centre, and what rounding costs at most: with ẑ for z, ½γ⟨ẑ, w − u⟩² is counted on.
    fn curvature(&self, round: &GameRound<'_>) -> (f64, f64) {
        let largest = self.gradient.iter().fold(0.0f64, |most, z| most.max(z.abs()));
        let gamma = round.rules.loss().curvature(round, &self.gradient);
        if largest == 0.0 {
            return (0.0, 0.0);
        }
        // ⟨ẑ, v⟩² ≤ (1 + c)⟨z, v⟩² + (1 + 1/c)e² for every c, e being the most by which the two products differ: by a
        // rounding of each entry to single precision, and ‖w − u‖₁ is at most that of two points of the domain.
        let error = largest * SINGLE * round.rules.spread();
        (((1.0 - SHARE) * gamma).sqrt(), 0.5 * gamma * error * error / SHARE)
    }
}

/// A rounding to single precision, as a part of a number.
const SINGLE: f64 = 6e-8;

/// c: by this part less is counted on than there is.
const SHARE: f64 = 1e-4;

/// The learner with the domain of the game.
fn placed(rules: &GameRules, asked: LearnerSpec) -> LearnerSpec {
    let (domain, dimension) = (rules.domain(), rules.dimension());
    let is_simplex = matches!(domain, Domain::Simplex { .. });
    match asked.name() {
        "mirror-descent" => match domain {
            Domain::Ball(_) => asked.with("map", "euclidean"),
            _ => asked.with("map", "entropic").with("signed", !is_simplex).with("dimension", dimension),
        },
        "ons" if is_simplex => asked.with("domain", "simplex").with("dimension", dimension),
        "ons" if asked.given("form").is_none() && asked.given("limit").is_none() => {
            asked.with("limit", dimension.clamp(1, 2048))
        }
        "ons" => asked,
        _ if asked.has("domain") => {
            let needs_dimension = is_simplex || matches!(domain, Domain::Box(_)) && asked.given("gradient").is_some();
            let needs_dimension = needs_dimension && asked.has("dimension");
            let placed = asked.with("domain", domain.name());
            if needs_dimension { placed.with("dimension", dimension) } else { placed }
        }
        _ => asked,
    }
}

impl Player for ByGradient {
    fn point(&self) -> &[f64] {
        &self.point
    }

    fn observe(&mut self, round: &GameRound<'_>) {
        let z = round.gradient;
        let centre = match self.centre {
            Centre::Nothing => 0.0,
            Centre::Mean => z.iter().sum::<f64>() / z.len() as f64,
            Centre::Middle => {
                let (low, high) = z.iter().fold((f64::MAX, f64::MIN), |(low, high), z| (low.min(*z), high.max(*z)));
                0.5 * (low + high)
            }
        };
        self.gradient.iter_mut().zip(z).for_each(|(own, z)| *own = z - centre);
        let (factor, slack) = match self.feed {
            Feed::Gradient => (1.0, 0.0),
            Feed::Curved => self.curvature(round),
        };
        if factor == 0.0 {
            return;
        }
        for (value, z) in self.values.iter_mut().zip(&self.gradient) {
            *value = ((factor * z) as f32).clamp(f32::MIN, f32::MAX);
        }
        let slope = 1.0 / factor;
        let score = match Features::new(&self.indices, &self.values) {
            Ok(x) => self.learner.learn_one(x, slope, 1.0),
            // Indices are distinct, and values finite.
            Err(_) => return,
        };
        self.played.add(dot(&self.gradient, &self.point));
        self.played.add(-slope * score);
        for (sum, (value, z)) in self.rounded.iter_mut().zip(self.values.iter().zip(&self.gradient)) {
            sum.add(slope * f64::from(*value) - z);
        }
        self.slack += slack;
        self.place();
    }

    fn guarantee(&self) -> Guarantee {
        if self.is_straight {
            return Guarantee::missing(
                "the online Newton step has a bound on losses that curve, and linear ones do not",
            );
        }
        let own = self.learner.guarantee();
        let (Some(class), Ok(bound)) = (own.comparator, &own.bound) else { return own };
        let rounded: Vec<f64> = self.rounded.iter().map(Sum::total).collect();
        match support(class, &rounded) {
            Some(most) => Guarantee::own(class, bound + self.played.total() + most + self.slack),
            None => {
                Guarantee::missing(format!("its theorem is about {}, not the points of this game", own.description()))
            }
        }
    }

    fn describe(&self) -> String {
        self.learner.describe()
    }
}
