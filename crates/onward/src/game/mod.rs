//! Games without features: online convex optimisation on vectors.
//!
//! In each round a player declares a point w of a convex set, then a loss is shown, and the player pays ℓ(w). What it pays
//! in all is compared with the fixed point u that would have paid least: the difference is the regret. Losses are linear,
//! quadratic or logarithmic ([`PointLoss`]); players are learners and algorithms of prediction with expert advice, asked for by
//! name ([`Game::join`]), or your own ([`Player`]).
//!
//! ```
//! use onward::game::{Game, GameRules, PointLoss};
//!
//! let mut game = Game::new(GameRules::new(PointLoss::Linear, "box", None, 1)?);
//! game.join("ftl", &"ftl".parse()?)?;
//! game.join("ogd", &"ogd".parse()?)?;
//! // z = ½, −1, 1, −1, …: the leader changes each round, and following it pays T − 1.
//! game.play(&[0.5])?;
//! (1..100).try_for_each(|round| game.play(&[if round % 2 == 1 { -1.0 } else { 1.0 }]))?;
//! let [leader, descent] = game.standings() else { unreachable!() };
//! assert_eq!(leader.paid(), 99.0);
//! assert_eq!(game.best().unwrap().loss, -0.5);
//! assert!(descent.paid() + 0.5 <= descent.guarantee().bound.unwrap());
//! # Ok::<(), onward::Error>(())
//! ```

mod by_gradient;
mod by_weights;
mod hindsight;
mod leader;
mod loss;
mod player;
mod portfolio;
mod rules;

pub use hindsight::FixedPoint;
pub use loss::PointLoss;
pub use player::{GameRound, Player};
pub use rules::{GameRules, MOST_COORDINATES};

use by_gradient::ByGradient;
use by_weights::ByWeights;
use hindsight::PastRounds;
use leader::{OnLogs, OnQuadratics, Quadratic};
use rules::contains;

use std::sync::Arc;

use crate::domain::Domain;
use crate::guarantee::{Comparator, Guarantee};
use crate::loss::{LinearLoss, SharedLoss, TaskLoss};
use crate::mixture::expert_mixture;
use crate::numeric::linalg::vector::norm;
use crate::numeric::sum::Sum;
use crate::protocol::LearnerSpec;
use crate::{Error, ErrorKind};

/// A game in progress.
pub struct Game {
    rules: GameRules,
    past: PastRounds,
    rounds: u64,
    /// The round from which on the next point of the curves is due.
    next_point: u64,
    standings: Vec<Standing>,
    gradient: Vec<f64>,
}

/// A player with what it paid.
pub struct Standing {
    name: String,
    player: Box<dyn Player>,
    paid: Sum,
    drawn: Option<Sum>,
    ruined: Option<u64>,
    curve: Vec<GamePoint>,
}

/// Sums up to a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GamePoint {
    /// The round.
    pub round: u64,
    /// What the player paid.
    pub paid: f64,
    /// What the best fixed point for these rounds pays, where it was looked for.
    pub best: Option<f64>,
    /// The player's bound on its regret against that point, if it has one.
    pub guarantee: Option<f64>,
    /// The Euclidean norm of the player's next point.
    pub norm: f64,
}

/// Points of the curves are about so much apart, as a part of the round.
const SPACING: u64 = 50;

impl Game {
    /// A game with these rules, and no players yet.
    pub fn new(rules: GameRules) -> Self {
        let gradient = vec![0.0; rules.dimension()];
        Self { rules, past: PastRounds::new(rules), rounds: 0, next_point: 1, standings: Vec::new(), gradient }
    }

    /// Adds a player by name: a linear learner, which is fed with gradients, or on the simplex an algorithm of prediction with
    /// expert advice, whose experts are the corners. The domain is that of the game.
    ///
    /// # Errors
    /// When the learner does not play such games, or a parameter is not what it must be.
    pub fn join(&mut self, name: impl Into<String>, learner: &LearnerSpec) -> Result<(), Error> {
        let player = seated(&self.rules, learner)?;
        self.join_player(name, player);
        Ok(())
    }

    /// Adds a player of your own.
    pub fn join_player(&mut self, name: impl Into<String>, player: Box<dyn Player>) {
        let (paid, curve) = (Sum::default(), Vec::new());
        self.standings.push(Standing { name: name.into(), player, paid, drawn: None, ruined: None, curve });
    }

    /// Plays a round.
    ///
    /// # Errors
    /// When the row has not as many entries as the game has coordinates, or is no loss ([`PointLoss::check`]).
    pub fn play(&mut self, row: &[f64]) -> Result<(), Error> {
        if row.len() != self.rules.dimension() {
            let (expected, found) = (self.rules.dimension(), row.len());
            return Err(Error::new(ErrorKind::Features, format!("a row must have {expected} entries; got {found}")));
        }
        self.rules.loss().check(row)?;
        self.rounds += 1;
        self.past.observe(row);
        for standing in &mut self.standings {
            standing.play(&self.rules, row, self.rounds, &mut self.gradient);
        }
        if self.rounds >= self.next_point || self.rounds.is_power_of_two() {
            self.next_point = self.rounds + (self.rounds / SPACING).max(1);
            self.mark(self.rounds.is_power_of_two());
        }
        Ok(())
    }

    /// Puts a point on the curves, unless there is one of this round.
    fn mark(&mut self, is_thorough: bool) {
        let best = (is_thorough || self.past.is_closed_form()).then(|| self.past.best());
        for standing in &mut self.standings {
            if standing.curve.last().is_some_and(|point| point.round == self.rounds) {
                standing.curve.pop();
            }
            let point = standing.point_of_curve(self.rounds, best.as_ref());
            standing.curve.push(point);
        }
    }

    /// Ends the game: the curves get a point of the last round.
    pub fn finish(&mut self) {
        if self.rounds > 0 {
            self.mark(true);
        }
    }

    /// The rules.
    pub fn rules(&self) -> &GameRules {
        &self.rules
    }

    /// How many rounds were played.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The best fixed point for the rounds so far; none before the first.
    pub fn best(&self) -> Option<FixedPoint> {
        (self.rounds > 0).then(|| self.past.best())
    }

    /// The players, in the order in which they came.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }
}

impl Standing {
    fn play(&mut self, rules: &GameRules, row: &[f64], round: u64, gradient: &mut [f64]) {
        if self.ruined.is_some() {
            return;
        }
        let point = self.player.point();
        let loss = rules.loss().value(point, row);
        self.paid.add(loss);
        if loss == f64::INFINITY {
            self.ruined = Some(round);
            return;
        }
        rules.loss().gradient(point, row, gradient);
        if let Some(drawn) = self.player.draw(row) {
            self.drawn.get_or_insert_default().add(drawn);
        }
        self.player.observe(&GameRound { rules, row, gradient });
    }

    fn point_of_curve(&self, round: u64, best: Option<&FixedPoint>) -> GamePoint {
        let guarantee = best.and_then(|best| self.guarantee_against(best).bound.ok());
        let norm = norm(self.player.point());
        GamePoint { round, paid: self.paid(), best: best.map(|best| best.loss), guarantee, norm }
    }

    /// The name that the player goes by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The player with all its parameters.
    pub fn describe(&self) -> String {
        self.player.describe()
    }

    /// What the player paid: of one that draws corners, on average over the draws. ∞ if it was ruined.
    pub fn paid(&self) -> f64 {
        if self.ruined.is_some() { f64::INFINITY } else { self.paid.total() }
    }

    /// What the corners paid that were drawn, for players that draw.
    pub fn drawn(&self) -> Option<f64> {
        self.drawn.map(|sum| sum.total())
    }

    /// The round in which a portfolio lost everything. It does not play on.
    pub fn ruined(&self) -> Option<u64> {
        self.ruined
    }

    /// The point that the next round would be charged for.
    pub fn point(&self) -> &[f64] {
        self.player.point()
    }

    /// The player's own guarantee: a bound on what it paid more than any point of a class, from what happened.
    pub fn guarantee(&self) -> Guarantee {
        match self.ruined {
            Some(round) => {
                Guarantee::missing(format!("it lost everything in round {round}: all was on coordinates that were 0"))
            }
            None => self.player.guarantee(),
        }
    }

    /// The same where it is about this point; else the reason why it is not.
    pub fn guarantee_against(&self, best: &FixedPoint) -> Guarantee {
        let own = self.guarantee();
        match own.comparator {
            Some(class) if own.bound.is_ok() && !contains(class, &best.point) => {
                let size = norm(&best.point);
                let class = with_radius(class);
                Guarantee::missing(format!(
                    "its theorem is about {class}, and the best fixed point has the norm {size:.4}"
                ))
            }
            _ => own,
        }
    }

    /// The course of the game.
    pub fn curve(&self) -> &[GamePoint] {
        &self.curve
    }
}

/// A class in words.
fn with_radius(class: Comparator) -> String {
    let radius = class.radius().map(|radius| radius.to_string()).unwrap_or_default();
    class.description().replace("radius", &radius)
}

/// What a learner cannot be told in a game.
const GIVEN: [&str; 8] = ["domain", "radius", "dimension", "map", "signed", "project", "standardise", "learners"];

/// The player that is asked for.
fn seated(rules: &GameRules, asked: &LearnerSpec) -> Result<Box<dyn Player>, Error> {
    let name = asked.name();
    if let Some(key) = GIVEN.into_iter().find(|key| asked.given(key).is_some()) {
        return Err(Error::parameter(match key {
            "standardise" => "standardise is about features, and games have none; leave it out".to_owned(),
            "learners" => format!("in a game {name} weighs the coordinates; leave learners out"),
            _ => format!("{key} of {name} follows from the domain of the game; leave it out"),
        }));
    }
    // Parameters are checked here.
    let loss = TaskLoss::from(linear());
    let arguments = asked.arguments(&loss, None, 0)?;
    if let Some(experts) = expert_mixture::algorithm(&arguments, rules.dimension())? {
        return match rules.domain() {
            Domain::Simplex { .. } => {
                Ok(Box::new(ByWeights::new(rules, experts, expert_mixture::predict(&arguments))?))
            }
            domain => Err(Error::parameter(format!(
                "{name} weighs the corners of the simplex; the domain of the game is {}",
                domain.name()
            ))),
        };
    }
    let is_real = name == "ftrl" && arguments.text("losses") == "real";
    match (name, rules.loss()) {
        ("ftl", PointLoss::Quadratic) => return Ok(Box::new(OnQuadratics::new(rules, Quadratic::Leader))),
        ("ftl", PointLoss::Log) => return Ok(Box::new(OnLogs::new(rules))),
        ("ftrl", PointLoss::Quadratic) if is_real => {
            let alpha = arguments.number("alpha");
            return Ok(Box::new(OnQuadratics::new(rules, Quadratic::Regularised { alpha })));
        }
        ("ftrl", loss) if is_real => {
            return Err(Error::parameter(format!(
                "losses=real is for quadratic losses, whose regularised leader has a closed form; got {loss}"
            )));
        }
        ("ogd-strong", PointLoss::Quadratic) if asked.given("sigma").is_none() => {
            return Ok(Box::new(OnQuadratics::new(rules, Quadratic::Descent)));
        }
        ("ogd-strong", PointLoss::Quadratic) => {
            return Err(Error::parameter("sigma is 2, the strong convexity of quadratic losses; leave it out"));
        }
        _ => {}
    }
    if let Some(player) = ByGradient::new(rules, asked)? {
        return Ok(Box::new(player));
    }
    Err(Error::parameter(format!("{name} learns from features and labels, and games have none")))
}

/// The loss that learners are fed with.
fn linear() -> SharedLoss {
    Arc::new(LinearLoss)
}
