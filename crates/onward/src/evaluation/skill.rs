//! Skill: what share of the loss of a baseline a learner saves, 1 − its loss ÷ that of the baseline, with an interval.
//!
//! The interval is that of a ratio of means, from batch means (Cochran 1977, Sampling techniques, chapter 6; Law and Kelton,
//! Simulation modeling and analysis, on batch means). The run is cut into at most 64 batches of as many rounds each. With L_b
//! and C_b what learner and baseline paid in batch b, and r = ΣL/ΣC over the run, the residuals L_b − r·C_b have the
//! deviation s, and r lies within r ± t·s/(√B·C̄), t the quantile of Student's distribution with B − 1 degrees of
//! freedom. Since learner and baseline are paired in each batch, what is hard for both adds no uncertainty; and since losses
//! are added up over a batch, those of neighbouring rounds may depend on each other. Learning itself, which makes early
//! batches dearer, widens the interval.

use crate::evaluation::{Curve, LedgerPoint};

/// The probability with which the interval covers the ratio of the expected losses.
pub const SKILL_CONFIDENCE: f64 = 0.95;

/// The quantile of the normal distribution for that.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// Fewer rounds have no interval.
const FEWEST_ROUNDS: u64 = 20;

/// The most batches.
const MOST_BATCHES: usize = 64;

/// What goes by the labels alone, and is compared with a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaselineKind {
    /// The [online constant](super::OnlineConstant), or the [frequencies](super::OnlineFrequencies) of classes.
    OnlineConstant,
    /// The [no-change baseline](super::NoChange).
    NoChange,
}

/// How much less than the better baseline a learner pays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Skill {
    /// 1 − its loss ÷ that of the baseline: 1 is perfect, 0 no better than the baseline, below 0 worse.
    pub value: f64,
    /// Where it lies with [confidence](SKILL_CONFIDENCE), if there are rounds enough to tell.
    pub interval: Option<(f64, f64)>,
    /// The baseline that paid less.
    pub against: BaselineKind,
}

/// Σ h·ℓ of a baseline at a point of the curve.
type BaselinePaid = fn(&LedgerPoint) -> Option<f64>;

impl BaselineKind {
    fn paid(self) -> BaselinePaid {
        match self {
            Self::OnlineConstant => |point| point.online_constant,
            Self::NoChange => |point| point.no_change,
        }
    }
}

/// The skill from one point of a run to its end. `None` where the baselines are not known, or the better of them pays
/// nothing, or less.
pub(super) fn skill(curve: &Curve, begin: &LedgerPoint, end: &LedgerPoint) -> Option<Skill> {
    let cost = |baseline: BaselineKind| Some(baseline.paid()(end)? - baseline.paid()(begin)?);
    let (constant, same) = (cost(BaselineKind::OnlineConstant)?, cost(BaselineKind::NoChange)?);
    let against = if same < constant { BaselineKind::NoChange } else { BaselineKind::OnlineConstant };
    let cost = Some(constant.min(same)).filter(|&cost| cost > 0.0 && cost.is_finite())?;
    let ratio = Some((end.loss - begin.loss) / cost).filter(|ratio| ratio.is_finite())?;
    let margin = if end.round < FEWEST_ROUNDS { None } else { margin(curve.even(), begin, ratio, against.paid()) };
    let interval = margin.map(|margin| (1.0 - ratio - margin, 1.0 - ratio + margin));
    Some(Skill { value: 1.0 - ratio, interval, against })
}

/// Whether the first round makes more than a tenth of what the learner or a baseline paid, and more than twice its equal
/// share.
pub(super) fn is_dear(first: &LedgerPoint, end: &LedgerPoint) -> bool {
    let share = |paid: BaselinePaid| Some(paid(first)? / paid(end)?);
    let learner: BaselinePaid = |point| Some(point.loss);
    let shares = [learner, BaselineKind::OnlineConstant.paid(), BaselineKind::NoChange.paid()];
    let least = f64::max(0.1, 2.0 / end.round as f64);
    shares.into_iter().filter_map(share).any(|share| share > least)
}

/// Half the width of the interval of the ratio.
fn margin(even: &[LedgerPoint], begin: &LedgerPoint, ratio: f64, baseline: BaselinePaid) -> Option<f64> {
    let size = even.len().div_ceil(MOST_BATCHES).max(1);
    let (mut residuals, mut costs) = (Vec::new(), Vec::new());
    let mut before = (begin.loss, baseline(begin)?);
    let ends = even.iter().skip(size - 1).step_by(size);
    for point in ends.filter(|point| point.round > begin.round) {
        let now = (point.loss, baseline(point)?);
        let (learner, cost) = (now.0 - before.0, now.1 - before.1);
        residuals.push(learner - ratio * cost);
        costs.push(cost);
        before = now;
    }
    let count = residuals.len() as f64;
    let mean = residuals.iter().sum::<f64>() / count;
    let variance = residuals.iter().map(|residual| (residual - mean) * (residual - mean)).sum::<f64>() / (count - 1.0);
    let cost = costs.iter().sum::<f64>() / count;
    let margin = student_quantile(count - 1.0) * (variance / count).sqrt() / cost;
    margin.is_finite().then_some(margin)
}

/// The quantile of Student's distribution that leaves 2.5% above it, by the expansion of Cornish and Fisher: to 4 digits from
/// 9 degrees of freedom on.
fn student_quantile(freedom: f64) -> f64 {
    let z = NORMAL_QUANTILE;
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * freedom.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rng::SplitMix64;

    fn point(round: u64, loss: f64, constant: f64, same: f64) -> LedgerPoint {
        let (online_constant, no_change) = (Some(constant), Some(same));
        LedgerPoint { round, loss, weight: round as f64, online_constant, no_change, ..LedgerPoint::default() }
    }

    /// The skill of a run with these losses of learner and constant in each round.
    fn of(losses: impl Iterator<Item = (f64, f64)>) -> Option<Skill> {
        let (mut curve, mut end) = (Curve::default(), point(0, 0.0, 0.0, 0.0));
        for (loss, constant) in losses {
            end = point(end.round + 1, end.loss + loss, end.online_constant.unwrap() + constant, f64::INFINITY);
            if curve.is_due(end.round) {
                curve.push(end);
            }
        }
        skill(&curve, &LedgerPoint::zero(), &end)
    }

    #[test]
    fn the_better_baseline_counts_and_nothing_is_said_without_one() {
        let end = point(100, 30.0, 60.0, 50.0);
        let found = skill(&Curve::default(), &LedgerPoint::zero(), &end).unwrap();
        assert_eq!((found.against, found.value), (BaselineKind::NoChange, 1.0 - 30.0 / 50.0));
        let found = skill(&Curve::default(), &LedgerPoint::zero(), &point(100, 90.0, 50.0, 60.0)).unwrap();
        assert_eq!((found.against, found.value), (BaselineKind::OnlineConstant, 1.0 - 90.0 / 50.0));
        for (loss, constant) in [(30.0, 0.0), (f64::INFINITY, 20.0), (30.0, f64::INFINITY), (1e300, 1e-300)] {
            let end = point(100, loss, constant, f64::INFINITY);
            assert_eq!(skill(&Curve::default(), &LedgerPoint::zero(), &end), None, "{loss} {constant}");
        }
        assert_eq!(skill(&Curve::default(), &LedgerPoint::zero(), &point(100, 30.0, -5.0, 10.0)), None);
        assert_eq!(skill(&Curve::default(), &LedgerPoint::zero(), &LedgerPoint { no_change: None, ..end }), None);
    }

    #[test]
    fn a_first_round_that_costs_everything_is_seen_and_can_be_left_out() {
        let (first, end) = (point(1, 1e6, 1e6, 1e6), point(4, 1e6 + 3.0, 1e6 + 10.0, 1e6 + 12.0));
        let later = skill(&Curve::default(), &first, &end).unwrap();
        assert_eq!((later.value, later.against), (0.7, BaselineKind::OnlineConstant));
        assert!(is_dear(&first, &end));
        // A tenth of the baseline's loss is enough, twice an equal share is not more than that.
        assert!(is_dear(&point(1, 1.0, 20.0, 1.0), &point(50, 100.0, 150.0, 100.0)));
        assert!(!is_dear(&point(1, 1.0, 10.0, 1.0), &point(50, 100.0, 150.0, 100.0)));
        assert!(!is_dear(&point(1, 1.0, 1.0, 1.0), &point(8, 4.0, 4.0, 4.0)));
    }

    #[test]
    fn the_interval_is_that_of_the_ratio_of_means() {
        // As many batches as rounds: the formula by hand.
        let losses: Vec<(f64, f64)> = (0..30u32).map(|t| (f64::from(t * 7 % 5), 3.0 + f64::from(t * 3 % 4))).collect();
        let (learner, constant) = losses.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let ratio = learner / constant;
        let squares: f64 = losses.iter().map(|it| (it.0 - ratio * it.1).powi(2)).sum();
        // t of 29 degrees of freedom is 2.045230 by the tables.
        let margin = 2.045_230 * (squares / 29.0 / 30.0).sqrt() / (constant / 30.0);
        let (low, high) = of(losses.iter().copied()).unwrap().interval.unwrap();
        assert!((low - (1.0 - ratio - margin)).abs() < 1e-5 && (high - (1.0 - ratio + margin)).abs() < 1e-5);
        assert_eq!(of(losses.into_iter().take(19)).unwrap().interval, None);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, quantile) in [(19.0, 2.093_024), (29.0, 2.045_230), (31.0, 2.039_513), (63.0, 1.998_341)] {
            assert!((student_quantile(freedom) - quantile).abs() < 2e-5, "{freedom}");
        }
    }

    /// How often the interval covers 1 − E L/E C, of 400 runs whose losses stay with some chance where they were.
    fn covered(rounds: u32, stay: f64) -> u32 {
        let mut covered = 0;
        for seed in 0..400 {
            let mut random = SplitMix64::new(seed);
            let mut hard = random.uniform();
            let skill = of((0..rounds).map(|_| {
                if random.uniform() >= stay {
                    hard = random.uniform();
                }
                // What is hard is so for both: the learner pays 0.3 on average, the constant 0.5.
                (0.6 * hard * 2.0 * random.uniform(), hard)
            }));
            let (low, high) = skill.unwrap().interval.unwrap();
            covered += u32::from(low <= 0.4 && 0.4 <= high);
        }
        covered
    }

    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        // 95% of 400 are 380 ± 4.4; short runs and dependent losses cover a little less.
        for (rounds, stay, least) in [(50, 0.0, 360), (5000, 0.0, 365), (5000, 0.9, 360), (20_000, 0.95, 360)] {
            let covered = covered(rounds, stay);
            assert!((least..=398).contains(&covered), "{rounds} {stay}: {covered}");
        }
    }
}
