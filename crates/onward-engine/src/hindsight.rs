//! The best fixed predictor, knowing the whole stream, and what learning online cost against it.
//!
//! No certificate tells the predictor with the fewest mistakes. Learners that are charged by mistakes are
//! compared with the least hinge loss, which bounds the mistakes of the predictor that pays it and
//! which their theorems are about.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use onward::evaluation::Ledger;
use onward::guarantee::Comparator;
use onward::hindsight::{self, Best, ComparatorClass, RegularisedBest, RowSource, Workers};
use onward::loss::{Curvature, Hinge};
use onward::{Features, Learner, Loss};

use crate::error::EngineError;
use crate::model::Model;
use crate::report::{ExcessReport, finite};
use crate::rows::RowStore;

/// What to look for in hindsight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HindsightOptions {
    /// Look for the best predictor of any size, rather than of the size that the radius says.
    pub unconstrained: bool,
    /// How near to the least loss it must be: a share of its loss, or of a thousandth of what a constant pays if that
    /// is more.
    pub gap: f64,
}

impl Default for HindsightOptions {
    fn default() -> Self {
        Self { unconstrained: false, gap: 1e-3 }
    }
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HindsightRequest {
    unconstrained: bool,
    gap: f64,
    threads: Threads,
}

/// What was found.
pub(crate) struct Hindsight {
    /// The best predictor, or why there is none.
    pub(crate) answer: Result<HindsightAnswer, String>,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

/// The best predictor, and what is compared with it.
pub(crate) struct HindsightAnswer {
    pub(crate) best: Best,
    /// Where the learner is charged by mistakes, and the best predictor by the hinge loss: the
    /// mistakes of that predictor per example.
    pub(crate) mistakes: Option<f64>,
    /// What the best predictor did up to each round of the curve and the last.
    pub(crate) course: Vec<CoursePoint>,
    /// Its margin, y⟨u, x⟩/‖u‖ at least, where that is above 0 and the learner is charged by mistakes.
    pub(crate) margin: Option<f64>,
    /// The best of the regularised losses, for learners of such, or why it is not known.
    pub(crate) regularised: Option<Result<RegularisedBest, String>>,
    /// The largest size of a score of the best predictor.
    pub(crate) largest_score: f64,
    /// After several passes: what the learner pays as it then is, more than the best.
    pub(crate) excess: Option<ExcessReport>,
}

/// What the best predictor did up to a round.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CoursePoint {
    pub(crate) round: u64,
    /// Σ h·ℓ.
    pub(crate) paid: f64,
    /// Its norm, as the class of the certificate measures it in the scales so far.
    pub(crate) norm: f64,
    /// The weight of its bias.
    pub(crate) bias: f64,
}

impl Hindsight {
    /// There is none, for this reason.
    pub(crate) fn unknown(reason: &str) -> Self {
        Self { answer: Err(reason.to_owned()), elapsed: Duration::ZERO }
    }
}

impl HindsightRequest {
    /// What the options ask for.
    pub(crate) fn new(options: HindsightOptions, threads: usize) -> Result<Self, EngineError> {
        let gap = options.gap;
        if !(gap > 0.0 && gap < 1.0) {
            return Err(EngineError::option("hindsight_gap", format!("must be above 0 and below 1; got {gap}")));
        }
        Ok(Self { unconstrained: options.unconstrained, gap, threads: Threads(threads) })
    }

    /// The predictors that are looked among.
    fn class(self, ledger: &Ledger) -> ComparatorClass {
        match ledger.comparator() {
            _ if self.unconstrained => ComparatorClass::Unconstrained,
            Comparator::Ball(radius) => ComparatorClass::Ball { radius },
            Comparator::StandardisedBall(radius) => ComparatorClass::Standardised { radius },
            Comparator::BallBesideBias { radius, low, high } => ComparatorClass::BallBesideBias { radius, low, high },
            _ => ComparatorClass::Unconstrained,
        }
    }

    /// Looks back on the rows of the first pass.
    pub(crate) fn answer(self, rows: &RowStore, model: &Model, passes: usize) -> Result<Hindsight, EngineError> {
        let (started, ledger) = (Instant::now(), &model.ledger);
        let Some(charged) = ledger.loss().score().map(|loss| &**loss) else {
            let reason = "the best predictor in hindsight is available for one score per row, not for one per class";
            return Ok(Hindsight { answer: Err(reason.to_owned()), elapsed: started.elapsed() });
        };
        let by_mistakes = charged.curvature() == Curvature::None;
        let loss = if by_mistakes { &Hinge } else { charged };
        let answer = match hindsight::best(rows, &self.threads, loss, self.class(ledger), self.gap) {
            Ok(best) => {
                let mut course = Course::new(&best, ledger);
                course.run(rows, loss).map_err(EngineError::RowStore)?;
                let mistakes = by_mistakes.then(|| course.charge / ledger.weight());
                let excess = if passes > 1 { Some(self.excess(rows, &best, &*model.learner)?) } else { None };
                let regularised = self.regularised(rows, model, loss)?;
                let margin = Some(course.margin / best.raw_norm).filter(|&margin| by_mistakes && margin > 0.0);
                let Course { found: course, largest_score, .. } = course;
                Ok(HindsightAnswer { best, mistakes, course, margin, regularised, largest_score, excess })
            }
            Err(hindsight::HindsightError::Refused(error)) => Err(error.to_string()),
            Err(hindsight::HindsightError::Rows(error)) => return Err(EngineError::RowStore(error)),
            Err(_) => return Err(EngineError::Fault("the best predictor in hindsight was not found")),
        };
        Ok(Hindsight { answer, elapsed: started.elapsed() })
    }

    /// The best of the regularised losses of the learner.
    fn regularised(
        self,
        rows: &RowStore,
        model: &Model,
        loss: &dyn Loss,
    ) -> Result<Option<Result<RegularisedBest, String>>, EngineError> {
        let Some(learner) = model.learner.regularised() else { return Ok(None) };
        match hindsight::regularised(rows, &self.threads, loss, learner.sigma, self.gap) {
            Ok(best) => Ok(Some(Ok(best))),
            Err(hindsight::HindsightError::Refused(error)) => Ok(Some(Err(error.to_string()))),
            Err(hindsight::HindsightError::Rows(error)) => Err(EngineError::RowStore(error)),
            Err(_) => Err(EngineError::Fault("the best regularised predictor was not found")),
        }
    }

    /// What the learner pays as it is now, more than the best predictor.
    fn excess(self, rows: &RowStore, best: &Best, learner: &dyn Learner) -> Result<ExcessReport, EngineError> {
        let indices = rows.indices();
        let last = self.mean(rows, learner, |numbers, values, offset| {
            let named: Vec<u32> = numbers.iter().map(|&number| indices[number as usize]).collect();
            Ok(learner.predict_one(Features::new(&named, values)?.with_offset(offset)?))
        })?;
        let averaged = match learner.linear().and_then(|linear| linear.averaged()) {
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
        Ok(ExcessReport { last: finite(last - best.loss), averaged: averaged.map(|risk| risk - best.loss) })
    }

    /// The mean loss of a predictor on the rows.
    fn mean(
        self,
        rows: &RowStore,
        learner: &dyn Learner,
        score: impl Fn(&[u32], &[f32], f64) -> Result<f64, onward::Error> + Sync,
    ) -> Result<f64, EngineError> {
        let loss = learner.loss();
        let shards = self.threads.map(rows.shards(), &|shard| {
            let (mut paid, mut weight, mut failed) = (0.0, 0.0, None);
            rows.visit(shard, &mut |row| match score(row.numbers, row.values, row.offset) {
                Ok(score) => {
                    paid += row.weight * loss.value(&[score], row.label);
                    weight += row.weight;
                }
                Err(error) => failed = Some(error),
            })
            .map_err(EngineError::RowStore)?;
            failed.map_or(Ok((paid, weight)), |error| Err(EngineError::from(error)))
        });
        let (mut paid, mut weight) = (0.0, 0.0);
        for shard in shards {
            let (more, heavier) = shard?;
            (paid, weight) = (paid + more, weight + heavier);
        }
        Ok(paid / weight)
    }
}

/// The best predictor, seen from the beginning of the stream to its end.
struct Course<'a> {
    best: Best,
    ledger: &'a Ledger,
    /// Where the curve has points, and the last round.
    rounds: Vec<u64>,
    found: Vec<CoursePoint>,
    now: CoursePoint,
    /// What it would have been charged by the loss that the learner is charged by.
    charge: f64,
    /// The least y⟨u, x⟩.
    margin: f64,
    largest_score: f64,
    /// Σ h, and of each feature by its number Σ h x².
    weight: f64,
    squares: Vec<f64>,
}

impl<'a> Course<'a> {
    fn new(best: &Best, ledger: &'a Ledger) -> Self {
        let mut rounds: Vec<u64> = ledger.curve().points().iter().map(|point| point.round).collect();
        rounds.push(ledger.rounds());
        rounds.dedup();
        Self {
            ledger,
            found: Vec::with_capacity(rounds.len()),
            rounds,
            now: CoursePoint::default(),
            charge: 0.0,
            margin: f64::INFINITY,
            largest_score: 0.0,
            weight: 0.0,
            squares: vec![0.0; best.weights.len()],
            best: best.clone(),
        }
    }

    /// Walks the rows; the predictor pays by this loss.
    fn run(&mut self, rows: &RowStore, loss: &dyn Loss) -> io::Result<()> {
        rows.visit_as_learnt(&mut |row| {
            let score = self.best.predict(row);
            self.now.round += 1;
            self.now.paid += row.weight * loss.value(score, row.label);
            self.charge += row.weight * self.ledger.loss().value(&[score], row.label);
            self.margin = self.margin.min(row.label * (score - row.offset));
            self.largest_score = self.largest_score.max(score.abs());
            self.weight += row.weight;
            for (&number, &value) in row.numbers.iter().zip(row.values) {
                self.squares[number as usize] += row.weight * f64::from(value) * f64::from(value);
            }
            if self.rounds.get(self.found.len()) == Some(&self.now.round) {
                self.mark();
            }
        })
    }

    /// Notes a point of the curve. Its certificate is there at powers of two only, and at the end.
    fn mark(&mut self) {
        let (weights, round) = (&self.best.weights, self.now.round);
        if round.is_power_of_two() || round == self.ledger.rounds() {
            let is_beside = matches!(self.ledger.comparator(), Comparator::BallBesideBias { .. });
            let is_raw = matches!(self.ledger.comparator(), Comparator::Ball(_));
            let squares = weights
                .iter()
                .zip(&self.squares)
                .map(|(weight, square)| weight * weight * if is_raw { 1.0 } else { square / self.weight });
            self.now.norm = squares.skip(usize::from(is_beside)).sum::<f64>().sqrt();
            self.now.bias = if is_beside { weights.first().copied().unwrap_or_default() } else { 0.0 };
        }
        self.found.push(self.now);
    }
}

/// This many threads, the caller's among them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads(pub(crate) usize);

impl Workers for Threads {
    fn map<T: Send>(&self, count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
        if self.0 <= 1 {
            return (0..count).map(work).collect();
        }
        let next = AtomicUsize::new(0);
        let done = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<T>>>());
        let run = || {
            loop {
                let shard = next.fetch_add(1, Ordering::Relaxed);
                if shard >= count {
                    return;
                }
                let result = work(shard);
                done.lock().unwrap_or_else(PoisonError::into_inner)[shard] = Some(result);
            }
        };
        std::thread::scope(|scope| {
            (1..self.0.min(count)).for_each(|_| drop(scope.spawn(run)));
            run();
        });
        // A thread that panicked has ended the scope with its panic: all are there.
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whoever_computed_them() {
        for threads in [0, 1, 2, 5, 40] {
            assert_eq!(Threads(threads).map(17, &|shard| shard * shard), (0..17).map(|k| k * k).collect::<Vec<_>>());
            assert!(Threads(threads).map(0, &|shard| shard).is_empty());
        }
    }
}
