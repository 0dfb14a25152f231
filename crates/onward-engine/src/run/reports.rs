//! From what a run left to its report.

use onward::MixtureReport;
use onward::evaluation::{BoundedLoss, CertificateTerms, Certificates, Ledger, LedgerPoint};
use onward::guarantee::{Comparator, Guarantee, GuaranteeKind, Novikoff, Regularised};
use onward::hindsight::ComparatorClass;
use onward::loss::Task;

use super::learn::FinishedRun;
use super::{CompareOutcome, LearnOutcome};
use crate::hindsight::{Hindsight, HindsightAnswer};
use crate::model::{Model, ModelMetadata};
use crate::report::{
    AnytimeLoss, AnytimeRisk, AveragedRisk, BestInHindsight, CompareReport, CurvePoint, DELTA, GuaranteeReport,
    HindsightClass, HindsightReport, LearnReport, LearnerReport, MetricsReport, NovikoffReport, RegularisedReport,
    StreamReport, Timing, finite, lanes,
};

impl LearnOutcome {
    /// What the run did and what it cost. Takes a walk over all features, for the certificate.
    pub fn report(&self) -> LearnReport {
        let Self { model, inputs, resumed_at, bytes, run, hindsight } = self;
        LearnReport {
            stream: stream(model, &model.ledger, &model.metadata, inputs.clone(), *bytes, hindsight.as_ref()),
            resumed_at: *resumed_at,
            learner: learner(model, run, hindsight.as_ref()),
        }
    }
}

impl CompareOutcome {
    /// What each learner did and what it cost. Takes a walk over all features, for the certificates.
    pub fn report(&self) -> CompareReport {
        let Self { contestants, inputs, bytes, timing, hindsight } = self;
        let hindsight = hindsight.as_ref();
        let learner = |(name, model, run): &(String, Model, FinishedRun)| {
            let mut report = learner(model, run, hindsight);
            report.name = Some(name.clone());
            // Found once for all.
            report.timing.hindsight_seconds = None;
            report
        };
        // There is one at least.
        let model = &contestants[0].1;
        let mut learners: Vec<LearnerReport> = contestants.iter().map(learner).collect();
        share_floors(&mut learners);
        CompareReport {
            stream: stream(model, &model.ledger, &model.metadata, inputs.clone(), *bytes, hindsight),
            timing: with_hindsight(*timing, hindsight),
            learners,
        }
    }
}

/// What the best of a class pays at least does not depend on whose scores it was concluded from. Rows, loss and classes are the
/// same for all learners, so the largest floor of each class is everyone's.
fn share_floors(learners: &mut [LearnerReport]) {
    let best =
        |kind: GuaranteeKind| learners.iter().filter_map(|learner| learner.guarantee(kind)?.floor).reduce(f64::max);
    let (of_class, of_scores) = (best(GuaranteeKind::Dual), best(GuaranteeKind::Curved));
    for learner in learners {
        let Some(risk) = learner.sequential_risk else { continue };
        for guarantee in &mut learner.guarantees {
            let floor = match guarantee.kind {
                GuaranteeKind::Dual => of_class,
                GuaranteeKind::Curved => of_scores,
                _ => None,
            };
            if let (Some(bound), Some(floor)) = (&mut guarantee.bound_per_round, floor) {
                *bound = bound.min(risk - floor + 4.0 * f64::EPSILON * (risk.abs() + floor.abs()));
                guarantee.floor = Some(floor);
            }
        }
    }
}

pub(super) fn stream(
    model: &Model,
    ledger: &Ledger,
    metadata: &ModelMetadata,
    inputs: Vec<String>,
    bytes: u64,
    hindsight: Option<&Hindsight>,
) -> StreamReport {
    // Counted where something is charged: of rows without a label nothing is known.
    let is_charged = ledger.rounds() > 0 || metadata.examples == 0;
    let distinct = ledger.distinct_features().filter(|_| is_charged);
    let best = ledger.best_constant();
    StreamReport {
        onward: env!("CARGO_PKG_VERSION").to_owned(),
        inputs,
        format: metadata.format.clone(),
        target: model.schema.target.to_string(),
        task: model.task().into(),
        loss: model.loss.name(),
        examples: metadata.examples,
        unlabelled: metadata.unlabelled,
        weightless: metadata.weightless,
        skipped: metadata.skipped,
        features: is_charged.then(|| ledger.features()),
        distinct_features: distinct,
        collisions: distinct.map(|distinct| model.schema.expected_collisions(distinct)),
        bytes,
        least_risk: ledger.least().map(|least| least / ledger.weight()).and_then(finite),
        baseline_risk: best.map_or_else(|| ledger.baseline_risk(), |best| Some(best.risk)),
        baseline_error: best.and_then(|best| best.error).filter(|&error| error > 0.0),
        online_constant_risk: ledger.online_constant_risk().and_then(finite),
        no_change_risk: ledger.no_change_risk().and_then(finite),
        label_order: ledger.label_order().map(Into::into),
        hindsight: hindsight.map(best_in_hindsight),
    }
}

fn learner(model: &Model, run: &FinishedRun, hindsight: Option<&Hindsight>) -> LearnerReport {
    let ledger = &model.ledger;
    let own = stated(run.own_guarantee.clone(), ledger.weight());
    let Certificates { universal, dual, terms, floor: floor_of_class } = ledger.certificates();
    let [certificate, dual] = [universal, dual].map(|it| stated(it, ledger.weight()));
    let (curved, floor) = ledger.curved();
    let mut guarantees: Vec<_> = [own, certificate.clone(), dual, stated(curved, ledger.weight())]
        .iter()
        .map(|it| guarantee(it, ledger.weight()))
        .collect();
    let per_example = |floor: f64| finite(floor / ledger.weight());
    for guarantee in &mut guarantees {
        guarantee.floor = match guarantee.kind {
            GuaranteeKind::Universal | GuaranteeKind::Dual => floor_of_class.and_then(per_example),
            GuaranteeKind::Curved => floor.as_ref().and_then(|floor| per_example(floor.floor)),
            _ => None,
        };
    }
    if let (Some(curved), Some(floor)) = (guarantees.last_mut(), floor) {
        let met = floor.features.len() as u64 + floor.combinations;
        let is_whole = ledger.distinct_features() == Some(met);
        if floor.combinations > 0 || !is_whole {
            curved.features = Some(floor.features.iter().map(|&index| model.name(index)).collect());
            curved.combinations = is_whole.then_some(floor.combinations);
        }
    }
    let answer = hindsight.and_then(|hindsight| hindsight.answer.as_ref().ok());
    LearnerReport {
        name: None,
        learner: model.learner.describe(),
        sequential_risk: finite(ledger.sequential_risk()),
        recent_risk: ledger.recent_risk().and_then(finite),
        first_share: ledger.first_share().and_then(finite),
        skill: ledger.skill().map(Into::into),
        skill_after_first: ledger.skill_after_first().map(Into::into),
        r2_online: ledger.r2_online().and_then(finite),
        kappa_temporal: ledger.kappa_temporal(),
        saved_model_risk: run.saved_model_risk,
        mistakes: ledger.metrics().mistakes(),
        metrics: metrics(ledger),
        timing: with_hindsight(run.timing, hindsight),
        guarantees,
        curve: curve(ledger, run, (certificate.bound.ok(), terms), answer),
        regret_per_round: answer.map(|answer| ledger.sequential_risk() - answer.best.loss),
        excess_empirical_risk: answer.and_then(|answer| answer.excess),
        averaged_risk: run.averaged_risk.as_ref().map(averaged_risk),
        regularised: run.regularised.filter(|_| ledger.rounds() > 0).map(|it| regularised(it, answer, ledger)),
        anytime_risk: anytime_risks(ledger, run.loss_bound),
        updates: run.updates,
        novikoff: run.novikoff.and_then(|theorem| novikoff(theorem, answer?, ledger.weight())),
        lanes: run.mixture.as_ref().map(lanes),
        expected_loss: run.mixture.as_ref().and_then(|it| finite(it.expected?)),
        gap_to_best_lane: run.mixture.as_ref().map(MixtureReport::gap),
        pass_risks: (run.pass_risks.len() > 1).then(|| run.pass_risks.iter().copied().map(finite).collect()),
        played: None,
    }
}

fn with_hindsight(timing: Timing, hindsight: Option<&Hindsight>) -> Timing {
    Timing { hindsight_seconds: hindsight.map(|hindsight| hindsight.elapsed.as_secs_f64()), ..timing }
}

pub(super) fn metrics(ledger: &Ledger) -> MetricsReport {
    let summary = serde_json::Value::Object(ledger.metrics().summary());
    // Both have the same fields.
    serde_json::from_value(summary).unwrap_or_default()
}

/// A guarantee as it is stated: a bound that is there is a finite number, in all and per example; else there is a
/// reason.
pub(crate) fn stated(guarantee: Guarantee, weight: f64) -> Guarantee {
    let bound = guarantee.bound.and_then(|bound| match bound {
        _ if weight == 0.0 => Err("no loss has been recorded yet".to_owned()),
        bound if bound.is_finite() && (bound / weight).is_finite() => Ok(bound),
        _ => Err("its bound is beyond the range of 64-bit floats".to_owned()),
    });
    Guarantee { bound, ..guarantee }
}

pub(crate) fn guarantee(guarantee: &Guarantee, weight: f64) -> GuaranteeReport {
    GuaranteeReport {
        kind: guarantee.kind,
        comparator: guarantee.description(),
        radius: guarantee.radius().filter(|radius| radius.is_finite()),
        bias: guarantee.comparator.and_then(|comparator| comparator.bias()),
        features: None,
        combinations: None,
        floor: None,
        bound_per_round: guarantee.bound.as_ref().ok().map(|bound| bound / weight),
        reason: guarantee.bound.as_ref().err().cloned(),
    }
}

fn best_in_hindsight(hindsight: &Hindsight) -> HindsightReport {
    let answer = match &hindsight.answer {
        Ok(answer) => answer,
        Err(reason) => return HindsightReport::Missing { loss: None, reason: reason.clone() },
    };
    let best = &answer.best;
    HindsightReport::Found(BestInHindsight {
        class: match best.class {
            ComparatorClass::Ball { .. } => HindsightClass::Ball,
            ComparatorClass::Standardised { .. } => HindsightClass::StandardisedBall,
            ComparatorClass::BallBesideBias { .. } => HindsightClass::BallBesideBias,
            _ => HindsightClass::Unconstrained,
        },
        radius: best.class.radius(),
        bias: match best.class {
            ComparatorClass::BallBesideBias { low, high, .. } => Some((low, high)),
            _ => None,
        },
        largest_score: finite(answer.largest_score),
        loss: finite(best.loss),
        gap: finite(best.gap),
        is_reached: best.is_reached,
        norm: finite(best.norm),
        raw_norm: finite(best.raw_norm),
        passes: best.passes,
        loss_at_ten_times_radius: best.at_ten_times.and_then(|ten| finite(ten.loss)),
        gap_at_ten_times_radius: best.at_ten_times.and_then(|ten| finite(ten.gap)),
        charged_by: answer.mistakes.map(|_| "hinge".to_owned()),
        mistakes_per_round: answer.mistakes,
    })
}

/// The perceptron's theorem about the best predictor by the hinge loss.
fn novikoff(theorem: Novikoff, answer: &HindsightAnswer, weight: f64) -> Option<NovikoffReport> {
    answer.mistakes?;
    let (best, margin) = (&answer.best, answer.margin);
    let hinge_bound = finite(theorem.against(best.loss * weight, best.raw_norm))?;
    let margin_bound = margin.and_then(|margin| finite(theorem.separable(margin)));
    Some(NovikoffReport { size: theorem.size, margin, hinge_bound, margin_bound })
}

/// What a learner did by its regularised losses, and the best by these.
fn regularised(learner: Regularised, answer: Option<&HindsightAnswer>, ledger: &Ledger) -> RegularisedReport {
    let weight = ledger.weight();
    let risk = (ledger.paid() + learner.penalty) / weight;
    // Learners that are compared may have another σ.
    let found = answer.and_then(|answer| answer.regularised.as_ref()?.as_ref().ok());
    let best = found.filter(|best| best.sigma == learner.sigma);
    RegularisedReport {
        sigma: learner.sigma,
        risk: finite(risk),
        bound_per_round: finite(learner.bound / weight),
        radius: learner.radius,
        gradient: learner.gradient.and_then(finite),
        theorem_per_round: learner.theorem(weight).and_then(|bound| finite(bound / weight)),
        best: best.and_then(|best| finite(best.objective)),
        gap: best.and_then(|best| finite(best.gap)),
        norm: best.and_then(|best| finite(best.norm)),
        regret_per_round: best.and_then(|best| finite(risk - best.objective)),
        reason: answer.and_then(|answer| answer.regularised.as_ref()?.as_ref().err().cloned()),
    }
}

/// The intervals of losses whose range is known: of two classes, and where it was given that of the charged loss.
fn anytime_risks(ledger: &Ledger, loss_bound: Option<f64>) -> Option<Vec<AnytimeRisk>> {
    let metrics = metrics(ledger);
    let is_binary = ledger.loss().task() == Task::Binary && ledger.rounds() > 0;
    let mistakes = is_binary.then_some((AnytimeLoss::Mistakes, BoundedLoss::Mistakes));
    let brier = metrics.brier.map(|_| (AnytimeLoss::Brier, BoundedLoss::Brier));
    let charged = loss_bound.map(|range| (AnytimeLoss::Loss, BoundedLoss::Charged(range)));
    let found =
        [mistakes, brier, charged].into_iter().flatten().map(|(of, loss)| match ledger.anytime_risk(loss, DELTA) {
            Ok((low, high)) => {
                AnytimeRisk { of, low: Some(low), high: Some(high), confidence: Some(1.0 - DELTA), reason: None }
            }
            Err(reason) => AnytimeRisk { of, low: None, high: None, confidence: None, reason: Some(reason) },
        });
    let found: Vec<_> = found.collect();
    (!found.is_empty()).then_some(found)
}

fn averaged_risk(bound: &Result<f64, String>) -> AveragedRisk {
    match bound {
        Ok(bound) => AveragedRisk { bound: Some(*bound), confidence: Some(1.0 - DELTA), reason: None },
        Err(reason) => AveragedRisk { bound: None, confidence: None, reason: Some(reason.clone()) },
    }
}

/// The points that were kept, and as the last one where the run ends; with the best predictor
/// in hindsight, its regret up to each.
fn curve(
    ledger: &Ledger,
    run: &FinishedRun,
    (certificate, terms): (Option<f64>, Option<CertificateTerms>),
    answer: Option<&HindsightAnswer>,
) -> Vec<CurvePoint> {
    let mut kept = ledger.curve().points();
    kept.retain(|point| point.round < ledger.rounds());
    if ledger.rounds() > 0 {
        kept.push(LedgerPoint {
            round: ledger.rounds(),
            loss: ledger.paid(),
            weight: ledger.weight(),
            guarantee: certificate,
            terms,
            baseline: ledger.baseline_risk(),
            ..LedgerPoint::default()
        });
    }
    let is_beside = matches!(ledger.comparator(), Comparator::BallBesideBias { .. });
    let mut before = LedgerPoint::default();
    let mut points = Vec::new();
    for point in kept {
        let traced = run.trace.at(point.round);
        let best = answer.and_then(|answer| {
            Some(answer.course[answer.course.binary_search_by_key(&point.round, |at| at.round).ok()?])
        });
        // Scales change: what was certified of a class in the scales so far need not hold for the best of the class in the scales
        // at the end. Of the predictor itself it is known.
        let guarantee = match (best, point.guarantee, point.terms) {
            // Rows without a bias came later: the class has changed.
            (Some(best), Some(_), Some(terms)) if is_beside || terms.bias == 0.0 => {
                Some(terms.bound(best.norm, (best.bias, best.bias)))
            }
            (Some(_), ..) => None,
            (None, guarantee, _) => guarantee,
        };
        points.push(CurvePoint {
            t: point.round,
            weight: point.weight,
            risk: finite(point.loss / point.weight),
            recent_risk: finite((point.loss - before.loss) / (point.weight - before.weight)),
            guarantee: guarantee.and_then(|bound| finite(bound / point.weight)),
            baseline: point.baseline,
            own_guarantee: traced.and_then(|it| it.own_guarantee).and_then(|bound| finite(bound / point.weight)),
            weight_norm: traced.and_then(|it| it.weight_norm).and_then(finite),
            regret: best.map(|best| (point.loss - best.paid) / point.weight),
        });
        before = point;
    }
    points
}
