//! `onward learn --hindsight`: the best fixed predictor, knowing the whole stream, and what
//! learning online cost against it.
//!
//! No certificate tells the predictor of fewest mistakes. Learners that are charged by mistakes
//! are compared with the least hinge loss, which is at least the mistakes of whoever pays it and
//! which their theorems are about.

use std::time::{Duration, Instant};

use onward::loss::{Curvature, Hinge};
use onward::regret::hindsight::{self, Best, Class, Rows, Workers};
use onward::regret::{DEFAULT_RADIUS, Ledger};
use onward::{Features, Learner, Loss};

use crate::arguments::{HindsightClass, HindsightOptions};
use crate::failure::Failure;
use crate::inputs;
use crate::recorder::{Recorder, Recording};
use crate::threads::Threads;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    class: Class,
    gap: f64,
    threads: Threads,
}

/// What came of it.
pub(crate) struct Hindsight {
    /// The best predictor, or why there is none.
    pub(crate) answer: Result<Answer, String>,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

/// The best predictor, and what is compared with it.
pub(crate) struct Answer {
    pub(crate) best: Best,
    /// Where the learner is charged by mistakes, and the best predictor by the hinge loss: the
    /// mistakes of that predictor, an example.
    pub(crate) mistakes: Option<f64>,
    /// Σ h·ℓ of the best predictor up to each round of the curve and the last.
    pub(crate) paid: Vec<(u64, f64)>,
    /// After several passes: what the learner pays as it then is, more than the best.
    pub(crate) excess: Option<Excess>,
}

/// Excess empirical risk: mean loss on the rows, minus that of the best predictor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Excess {
    /// Of the last predictor.
    pub(crate) last: f64,
    /// Of the average of its predictors, where the learner keeps one.
    pub(crate) averaged: Option<f64>,
}

impl Answer {
    /// What the score 0 pays by the loss that the best predictor is the best by, given what it pays
    /// by the loss that the learner is charged by.
    pub(crate) fn at_zero(&self, charged: Option<f64>) -> Option<f64> {
        if self.mistakes.is_some() { Some(Hinge.value(0.0, 1.0)) } else { charged }
    }
}

impl Question {
    /// What the arguments ask; `None` if they do not.
    pub(crate) fn new(
        options: &HindsightOptions,
        radius: Option<f64>,
        threads: Option<usize>,
    ) -> Result<Option<Self>, Failure> {
        let Some(class) = options.class else { return Ok(None) };
        if !(options.gap > 0.0 && options.gap < 1.0) {
            return Err(Failure::user(format!(
                "--hindsight-gap is {}: it is a share of the loss, between 0 and 1",
                options.gap
            )));
        }
        let class = match (class, radius) {
            (HindsightClass::Unconstrained, _) => Class::Unconstrained,
            (HindsightClass::Ball, Some(radius)) => Class::Ball { radius },
            (HindsightClass::Ball, None) => Class::Standardised { radius: DEFAULT_RADIUS },
        };
        Ok(Some(Self { class, gap: options.gap, threads: Threads(inputs::threads(threads)) }))
    }

    /// Looks back on the rows of the first pass.
    pub(crate) fn answer(
        self,
        recorder: Recorder,
        learner: &dyn Learner,
        ledger: &Ledger,
        passes: usize,
    ) -> Result<Hindsight, Failure> {
        let started = Instant::now();
        let rows = recorder.finish()?;
        let charged = &**ledger.loss();
        let loss = if charged.curvature() == Curvature::None { &Hinge } else { charged };
        let answer = match hindsight::best(&rows, &self.threads, loss, self.class, self.gap) {
            Ok(best) => {
                let (paid, charge) = paid(&rows, &best, loss, ledger)?;
                let mistakes = (charged.curvature() == Curvature::None).then(|| charge / ledger.weight());
                let excess = if passes > 1 { Some(self.excess(&rows, &best, learner)?) } else { None };
                Ok(Answer { best, mistakes, paid, excess })
            }
            Err(hindsight::Failure::Refused(error)) => Err(error.to_string().replace("give a radius", "give --radius")),
            Err(hindsight::Failure::Rows(error)) => return Err(unread(&error)),
            Err(_) => return Err(Failure::user("the best predictor in hindsight cannot be found")),
        };
        Ok(Hindsight { answer, elapsed: started.elapsed() })
    }

    /// What the learner pays as it is now, more than the best predictor.
    fn excess(self, rows: &Recording, best: &Best, learner: &dyn Learner) -> Result<Excess, Failure> {
        let indices = rows.numbering().indices();
        let last = self.mean(rows, learner, |numbers, values, offset| {
            let named: Vec<u32> = numbers.iter().map(|&number| indices[number as usize]).collect();
            Ok(learner.predict(Features::new(&named, values)?.with_offset(offset)?).score)
        })?;
        let averaged = match learner.averaged() {
            Some(mut pairs) => {
                pairs.sort_unstable_by_key(|&(index, _)| index);
                let weight = |index: &u32| match pairs.binary_search_by_key(index, |&(index, _)| index) {
                    Ok(at) => pairs[at].1,
                    Err(_) => 0.0,
                };
                let weights: Vec<f64> = indices.iter().map(weight).collect();
                Some(self.mean(rows, learner, |numbers, values, offset| {
                    let products = numbers.iter().zip(values).map(|(&at, &x)| weights[at as usize] * f64::from(x));
                    Ok(offset + products.sum::<f64>())
                })?)
            }
            None => None,
        };
        Ok(Excess { last: last - best.loss, averaged: averaged.map(|risk| risk - best.loss) })
    }

    /// The mean loss of a predictor on the rows.
    fn mean(
        self,
        rows: &Recording,
        learner: &dyn Learner,
        score: impl Fn(&[u32], &[f32], f64) -> Result<f64, onward::Error> + Sync,
    ) -> Result<f64, Failure> {
        let loss = learner.charged_loss();
        let shards = self.threads.map(rows.shards(), &|shard| {
            let (mut paid, mut weight, mut failed) = (0.0, 0.0, None);
            rows.visit(shard, &mut |row| match score(row.numbers, row.values, row.offset) {
                Ok(score) => {
                    paid += row.weight * loss.value(score, row.label);
                    weight += row.weight;
                }
                Err(error) => failed = Some(error),
            })
            .map_err(|error| unread(&error))?;
            failed.map_or(Ok((paid, weight)), |error| Err(Failure::from(error)))
        });
        let (mut paid, mut weight) = (0.0, 0.0);
        for shard in shards {
            let (more, heavier) = shard?;
            (paid, weight) = (paid + more, weight + heavier);
        }
        Ok(paid / weight)
    }
}

/// What the best predictor paid by this loss up to each round of the curve, and up to the last; and
/// what it would have been charged by the loss that the learner is charged by.
fn paid(rows: &Recording, best: &Best, loss: &dyn Loss, ledger: &Ledger) -> Result<(Vec<(u64, f64)>, f64), Failure> {
    let mut rounds: Vec<u64> = ledger.curve().points().iter().map(|point| point.round).collect();
    rounds.push(ledger.rounds());
    rounds.dedup();
    let (mut round, mut sum, mut charge, mut found) = (0, 0.0, 0.0, Vec::with_capacity(rounds.len()));
    for shard in 0..rows.shards() {
        rows.visit(shard, &mut |row| {
            let score = best.predict(row);
            round += 1;
            sum += row.weight * loss.value(score, row.label);
            charge += row.weight * ledger.loss().value(score, row.label);
            if rounds.get(found.len()) == Some(&round) {
                found.push((round, sum));
            }
        })
        .map_err(|error| unread(&error))?;
    }
    Ok((found, charge))
}

fn unread(error: &std::io::Error) -> Failure {
    Failure::system(format_args!("the temporary file that --hindsight keeps rows in cannot be read: {error}"))
}
