//! Games without features: players declare points, the rows of the input are the losses, and all are compared with
//! the best fixed point in hindsight.

use std::time::{Duration, Instant};

use onward::game::{FixedPoint, Game, GamePoint, GameRules, PointLoss, Standing};
use onward_data::{Input, Options, VectorReader};

use crate::control::{Event, Progress, RunControl};
use crate::error::EngineError;
use crate::registry::Registry;
use crate::report::{
    BestFixedPoint, CurvePoint, GameReport, LearnerReport, PlayReport, PlayedReport, StreamReport, TaskKind, Timing,
    finite,
};
use crate::run::{guarantee, stated};

/// What to play, and who.
#[derive(Debug, Clone)]
pub struct PlayOptions {
    /// What a point pays: `linear`, `quadratic` or `log`.
    pub losses: String,
    /// Where points are taken from: `simplex`, `ball`, `box`, `l1` or `all`.
    pub domain: String,
    /// The radius of the domain, or of the comparators; 1 unless it is given.
    pub radius: Option<f64>,
    /// The players; by default some that suit the domain.
    pub learners: Vec<String>,
    /// Columns that are no coordinates.
    pub ignore: Vec<String>,
    /// Where names are looked up.
    pub registry: Registry,
}

impl Default for PlayOptions {
    fn default() -> Self {
        Self {
            losses: "linear".to_owned(),
            domain: "simplex".to_owned(),
            radius: None,
            learners: Vec::new(),
            ignore: Vec::new(),
            registry: Registry::default(),
        }
    }
}

impl PlayOptions {
    /// The players that were asked for, or those that suit the domain.
    fn players(&self) -> Vec<String> {
        let default: &[&str] = match self.domain.as_str() {
            _ if !self.learners.is_empty() => return self.learners.clone(),
            "simplex" => &["hedge", "ogd"],
            "all" => &["coin", "ogd"],
            _ => &["ftrl", "ogd"],
        };
        default.iter().map(|&name| name.to_owned()).collect()
    }
}

/// Plays a game to the end of the input.
///
/// ```
/// use onward_data::Input;
/// use onward_engine::{PlayOptions, play};
///
/// let losses = Input::bytes("losses", "rock,paper\n1,0\n1,0\n0,1\n");
/// let options = PlayOptions { learners: vec!["hedge".to_owned()], ..PlayOptions::default() };
/// let report = play(losses, options, &())?;
/// let best = report.game.best.unwrap();
/// assert_eq!((best.point, best.loss), (vec![0.0, 1.0], Some(1.0)));
/// let hedge = report.learners[0].played.as_ref().unwrap();
/// assert!(hedge.regret.unwrap() <= hedge.guarantee.unwrap());
/// # Ok::<(), onward_engine::EngineError>(())
/// ```
///
/// # Errors
/// When rules and players do not fit together, or the input is not what they need.
pub fn play(input: Input, options: PlayOptions, control: &dyn RunControl) -> Result<PlayReport, EngineError> {
    PlayRun::open(input, options)?.run(control)
}

/// A game whose input is open, and in which nothing was played yet.
pub struct PlayRun {
    input: String,
    size: Option<u64>,
    reader: VectorReader,
    game: Game,
}

impl PlayRun {
    /// Opens the input, and seats the players.
    ///
    /// # Errors
    /// When rules and players do not fit together, or the input has no rows of numbers.
    pub fn open(input: Input, options: PlayOptions) -> Result<Self, EngineError> {
        let players = options.players();
        let players = players.iter().map(|text| options.registry.learner(text)).collect::<Result<Vec<_>, _>>()?;
        let loss: PointLoss = options.losses.parse()?;
        let reading = Options { ignore: options.ignore.clone(), ..Options::default() };
        let (name, size) = (input.name(), input.size());
        // What does not depend on the input is found out before it is read.
        GameRules::new(loss, &options.domain, options.radius, 2)?;
        let reader = VectorReader::open(input, &reading)?;
        let rules = GameRules::new(loss, &options.domain, options.radius, reader.names().len())?;
        let mut game = Game::new(rules);
        for (at, player) in players.iter().enumerate() {
            if players[..at].contains(player) {
                let message = format!("'{player}' is given twice: leave it out, or change a parameter");
                return Err(EngineError::option("learner", message));
            }
            game.join(player.to_string(), player)
                .map_err(|error| EngineError::option("learner", format!("{player}: {error}")))?;
        }
        Ok(Self { input: name, size, reader, game })
    }

    /// The reader, which knows the names of the coordinates.
    pub fn reader(&self) -> &VectorReader {
        &self.reader
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Plays to the end of the input, or until it is cancelled.
    ///
    /// # Errors
    /// When a row cannot be read, or is no loss.
    pub fn run(self, control: &dyn RunControl) -> Result<PlayReport, EngineError> {
        let Self { input, size, mut reader, mut game } = self;
        let started = Instant::now();
        while !control.is_cancelled() {
            if !reader.wait(PATIENCE) {
                continue;
            }
            let Some(row) = reader.next_row()? else { break };
            if let Err(error) = game.play(row) {
                return Err(reader.refuse(error, "").into());
            }
            if game.rounds().is_multiple_of(TOLD) {
                let risk = game.standings().iter().map(Standing::paid).fold(f64::INFINITY, f64::min);
                control.observe(Event::Progress(Progress {
                    examples: game.rounds(),
                    bytes_read: reader.bytes_on_disk(),
                    bytes_total: size,
                    risk: risk / game.rounds() as f64,
                }));
            }
        }
        game.finish();
        let timing = Timing::new(started.elapsed(), game.rounds(), reader.bytes());
        Ok(report(&game, &reader, input, timing))
    }
}

/// How long a row is waited for before it is asked again whether to go on.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often progress is told, in rounds.
const TOLD: u64 = 1024;

fn report(game: &Game, reader: &VectorReader, input: String, timing: Timing) -> PlayReport {
    let (rules, rounds) = (game.rules(), game.rounds() as f64);
    let best = game.best();
    let stream = StreamReport {
        onward: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: vec![input],
        format: reader.format(),
        task: TaskKind::Game,
        loss: rules.loss().name().to_owned(),
        examples: game.rounds(),
        distinct_features: Some(rules.dimension() as u64),
        bytes: reader.bytes(),
        baseline_risk: best.as_ref().and_then(|best| finite(best.loss / rounds)),
        ..StreamReport::default()
    };
    let learners = game.standings().iter().map(|standing| learner(standing, best.as_ref(), game.rounds(), timing));
    PlayReport {
        stream,
        timing,
        learners: learners.collect(),
        game: GameReport {
            domain: rules.domain().name().to_owned(),
            radius: rules.radius(),
            comparator: rules.comparators().description(),
            coordinates: reader.names().to_vec(),
            best: best.map(|best| BestFixedPoint {
                norm: best.point.iter().map(|u| u * u).sum::<f64>().sqrt(),
                loss: finite(best.loss),
                gap: best.gap,
                point: best.point,
            }),
        },
    }
}

fn learner(standing: &Standing, best: Option<&FixedPoint>, rounds: u64, timing: Timing) -> LearnerReport {
    let weight = rounds as f64;
    let own = match best {
        Some(best) => standing.guarantee_against(best),
        None => standing.guarantee(),
    };
    let own = stated(own, weight);
    let regret = best.and_then(|best| finite(standing.paid() - best.loss));
    LearnerReport {
        name: Some(standing.name().to_owned()),
        learner: standing.describe(),
        sequential_risk: finite(standing.paid() / weight),
        timing,
        guarantees: vec![guarantee(&own, weight)],
        curve: curve(standing.curve()),
        regret_per_round: regret.map(|regret| regret / weight),
        played: Some(PlayedReport {
            loss: finite(standing.paid()),
            regret,
            guarantee: own.bound.ok(),
            drawn_loss: standing.drawn(),
            ruined: standing.ruined(),
            point: standing.point().to_vec(),
        }),
        ..LearnerReport::default()
    }
}

fn curve(points: &[GamePoint]) -> Vec<CurvePoint> {
    let mut before = (0, 0.0);
    let mut curve = Vec::new();
    for point in points {
        let weight = point.round as f64;
        curve.push(CurvePoint {
            t: point.round,
            weight,
            risk: finite(point.paid / weight),
            recent_risk: finite((point.paid - before.1) / (point.round - before.0) as f64),
            guarantee: None,
            baseline: point.best.and_then(|best| finite(best / weight)),
            own_guarantee: point.guarantee.and_then(|bound| finite(bound / weight)),
            weight_norm: finite(point.norm),
            regret: point.best.and_then(|best| finite((point.paid - best) / weight)),
        });
        before = (point.round, point.paid);
    }
    curve
}
