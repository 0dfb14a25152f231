//! `hedge`, `fixed-share`, `adahedge`, `squint`: learners as experts.
//!
//! Several learners see the same stream, each learning from its own predictions p_k. An algorithm of
//! prediction with expert advice ([`expert`](crate::mixture::experts)) gives each a weight w_k by its losses
//! ℓ_k = ℓ(p_k, y). What is predicted:
//! - *mix*: Σ w_k·p_k, the mean of scores. Every loss here is convex in the score: it pays at most Σ w_k·ℓ_k.
//! - *draw*: p_k with the probability w_k, one draw per round from a seed. It pays Σ w_k·ℓ_k on average over draws,
//!   for losses of any kind: drawing makes them linear in the weights.
//!
//! **Guarantee**: that of the algorithm, against the best of the experts as they were, each having learnt alone. For
//! draws the luck they had, Σ h·(ℓ_drawn − Σ w_k·ℓ_k), is measured and added: on average over
//! draws it is 0, and what is printed is the algorithm's bound; in each run it holds for sure. What was paid on average over
//! draws, Σ h·Σ w_k·ℓ_k, is reported beside what was paid ([`MixtureReport::expected`]).
//!
//! A round costs what the experts cost, and the weights.

use crate::archive::{Archive, visit_fields};
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::{Curvature, TaskLoss};
use crate::mixture::experts::fixed_share::{ALPHA, SWITCHES};
use crate::mixture::experts::hedge::{ETA, ROUNDS};
use crate::mixture::experts::squint::RANGE;
use crate::mixture::experts::{AdaHedge, Experts, FixedShare, Hedge, HedgeRate, Share, Squint, draw};
use crate::numeric::rng::SplitMix64;
use crate::parameter::{Description, ParameterDescriptor, learners, whole, words};
use crate::protocol::{LearnerDescriptor, Losses, Params, Promise};
use crate::{Error, ExpertReport, Learner, LinearWeights, MixtureReport, Predictor, Rows, SharedLoss};

/// A mixture has no more experts than this.
pub const MOST_EXPERTS: usize = 256;

/// How weights become a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predict {
    /// The mean of the experts' scores.
    Mix,
    /// The score of an expert drawn by weight, with draws from this seed.
    Draw(u64),
}

/// Learners, weighed by an algorithm of prediction with expert advice.
pub struct ExpertMixture<E> {
    loss: SharedLoss,
    algorithm: E,
    learners: Vec<Box<dyn Learner>>,
    predict: Predict,
    /// Where the draw of the next round comes from.
    draws: SplitMix64,
    /// The scores of some rows, expert after expert: kept for its memory.
    scores: Vec<f64>,
    /// ℓ_k of the last round.
    losses: Vec<f64>,
    /// Σ h·ℓ_k.
    sums: Vec<f64>,
    /// Σ h·ℓ of what was predicted, and Σ h.
    paid: f64,
    total: f64,
    /// Σ h·(ℓ_drawn − Σ w_k·ℓ_k).
    luck: f64,
}

impl<E: Experts> ExpertMixture<E> {
    /// These learners, weighed by this algorithm.
    ///
    /// # Errors
    /// When there is no learner, or more than [`MOST_EXPERTS`], or not as many as the algorithm weighs; when
    /// the loss has no slope, or is not what a learner is charged by.
    ///
    /// ```
    /// use onward::mixture::experts::AdaHedge;
    /// use onward::LearnerSpec;
    /// use onward::mixture::{ExpertMixture, Predict};
    /// use onward::{Example, Features, Learner};
    ///
    /// let loss = onward::loss::parse("squared")?;
    /// let build = |text: &str| text.parse::<LearnerSpec>()?.build(&loss, None);
    /// let learners = vec![build("nag")?, build("ogd:radius=1")?];
    /// let mut advice = ExpertMixture::new(loss, AdaHedge::new(2)?, learners, Predict::Mix)?;
    /// for round in 0..200 {
    ///     let x = [1.0, (round % 5) as f32];
    ///     let example = Example { features: Features::new(&[0, 1], &x)?, label: Some(f64::from(2 * (round % 5))), weight: 1.0 };
    ///     example.as_rows(|rows| advice.learn(rows, &mut [0.0]));
    /// }
    /// let mixed = advice.mixture().unwrap();
    /// assert_eq!(mixed.best().unwrap().name, "nag:eta=0.5");
    /// assert!(mixed.gap() * 200.0 <= advice.guarantee().bound.unwrap());
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn new(
        loss: SharedLoss,
        algorithm: E,
        learners: Vec<Box<dyn Learner>>,
        predict: Predict,
    ) -> Result<Self, Error> {
        let (count, name) = (expect_learners(learners.len())?, loss.name());
        if algorithm.weights().len() != count {
            let weighed = algorithm.weights().len();
            return Err(Error::parameter(format!(
                "there must be as many learners as the algorithm weighs, {weighed}; got {count}"
            )));
        }
        if loss.curvature() == Curvature::None {
            return Err(Error::parameter(format!("the loss of a mixture must be convex, and {name} is not")));
        }
        if let Some(other) = learners.iter().find(|learner| learner.loss().name() != name) {
            let (expert, theirs) = (other.describe(), other.loss().name());
            return Err(Error::parameter(format!(
                "the expert '{expert}' has the loss {theirs}, and the mixture has the loss {name}; they must be the same"
            )));
        }
        let zeros = || vec![0.0; count];
        let seed = if let Predict::Draw(seed) = predict { seed } else { 0 };
        Ok(Self {
            loss,
            algorithm,
            learners,
            predict,
            draws: SplitMix64::new(seed),
            scores: Vec::new(),
            losses: zeros(),
            sums: zeros(),
            paid: 0.0,
            total: 0.0,
            luck: 0.0,
        })
    }

    /// The expert that the next round draws. Changes nothing.
    fn drawn(&self) -> usize {
        let mut draws = self.draws;
        draw(self.algorithm.weights(), draws.uniform())
    }

    /// The prediction from the experts' scores.
    fn combine(&self, score_of: impl Fn(usize) -> f64) -> f64 {
        match self.predict {
            Predict::Draw(_) => score_of(self.drawn()),
            Predict::Mix => {
                let (mut sum, mut low, mut high) = (0.0, f64::MAX, f64::MIN);
                for (expert, weight) in self.algorithm.weights().iter().enumerate() {
                    let score = score_of(expert);
                    (sum, low, high) = (sum + weight * score, low.min(score), high.max(score));
                }
                // Rounding may not lead out of the range of scores.
                sum.max(low).min(high)
            }
        }
    }

    /// The experts have made these scores, the mixture this one.
    fn observe(&mut self, score_of: impl Fn(usize) -> f64, score: f64, label: f64, weight: f64) {
        for (expert, (expert_loss, sum)) in self.losses.iter_mut().zip(&mut self.sums).enumerate() {
            *expert_loss = self.loss.value(score_of(expert), label);
            *sum = held(*sum + weight * *expert_loss);
        }
        let loss = self.loss.value(score, label);
        self.paid = held(self.paid + weight * loss);
        self.total = held(self.total + weight);
        if let Predict::Draw(_) = self.predict {
            let excess =
                self.algorithm.weights().iter().zip(&self.losses).map(|(weight, other)| weight * (loss - other));
            self.luck = held(self.luck + weight * excess.sum::<f64>());
            self.draws.bits();
        }
        self.algorithm.observe(&self.losses, weight);
    }
}

/// Refuses a number of learners that cannot be mixed.
fn expect_learners(count: usize) -> Result<usize, Error> {
    match count {
        1..=MOST_EXPERTS => Ok(count),
        _ => Err(Error::parameter(format!(
            "the number of learners to mix must be from 1 to {MOST_EXPERTS}; got {count}"
        ))),
    }
}

/// How many rows the experts see before their scores are mixed.
const TOGETHER: usize = 64;

impl<E: Experts> Predictor for ExpertMixture<E> {
    fn predict(&self, rows: Rows<'_>, scores: &mut [f64]) {
        rows.check_scores(1, scores);
        let mut of_experts = vec![0.0; self.learners.len() * rows.len().min(TOGETHER)];
        for (rows, scores) in rows.chunks(TOGETHER).zip(scores.chunks_mut(TOGETHER)) {
            let count = rows.len();
            for (learner, scores) in self.learners.iter().zip(of_experts.chunks_exact_mut(count)) {
                learner.predict(rows, scores);
            }
            for (row, score) in scores.iter_mut().enumerate() {
                *score = self.combine(|expert| of_experts[expert * count + row]);
            }
        }
    }
}

impl<E: Experts> Learner for ExpertMixture<E> {
    fn learn(&mut self, rows: Rows<'_>, scores: &mut [f64]) {
        rows.check_scores(1, scores);
        let mut of_experts = std::mem::take(&mut self.scores);
        of_experts.resize(self.learners.len() * rows.len().min(TOGETHER), 0.0);
        for (rows, scores) in rows.chunks(TOGETHER).zip(scores.chunks_mut(TOGETHER)) {
            let count = rows.len();
            for (learner, scores) in self.learners.iter_mut().zip(of_experts.chunks_exact_mut(count)) {
                learner.learn(rows, scores);
            }
            for ((row, example), score) in rows.iter().enumerate().zip(scores) {
                let score_of = |expert: usize| of_experts[expert * count + row];
                *score = self.combine(score_of);
                if let Some(label) = example.label_to_learn() {
                    self.observe(score_of, *score, label, example.weight);
                }
            }
        }
        self.scores = of_experts;
    }

    fn loss(&self) -> TaskLoss {
        TaskLoss::Score(SharedLoss::clone(&self.loss))
    }

    fn describe(&self) -> String {
        let learners: Vec<String> = self.learners.iter().map(|learner| format!("({})", learner.describe())).collect();
        let it = Description::of(self.algorithm.describe()).with(&LEARNERS, learners.join("+"));
        match self.predict {
            Predict::Mix => it.with(&PREDICT, "mix").into(),
            Predict::Draw(seed) => it.with(&PREDICT, "draw").with(&SEED, seed).into(),
        }
    }

    /// Of the mean of experts, if all are linear.
    fn linear(&self) -> Option<&dyn LinearWeights> {
        let are_linear = self.learners.iter().all(|learner| learner.linear().is_some());
        are_linear.then_some(self as &dyn LinearWeights)
    }

    fn guarantee(&self) -> Guarantee {
        let mut guarantee = self.algorithm.guarantee();
        guarantee.bound = guarantee.bound.map(|bound| held(bound + self.luck));
        guarantee
    }

    fn mixture(&self) -> Option<MixtureReport> {
        let experts = self.learners.iter().zip(self.algorithm.weights().iter().zip(&self.sums));
        let experts = experts.map(|(learner, (&weight, sum))| ExpertReport {
            name: learner.describe(),
            weight,
            loss: sum / self.total,
        });
        let expected = match self.predict {
            Predict::Mix => None,
            Predict::Draw(_) => Some((self.paid - self.luck) / self.total),
        };
        Some(MixtureReport { loss: self.paid / self.total, expected, experts: experts.collect() })
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("algorithm", |archive| self.algorithm.persist(archive))?;
        for (expert, learner) in self.learners.iter_mut().enumerate() {
            archive.part(&format!("expert.{expert}"), |archive| learner.persist(archive))?;
        }
        archive.array("sums", &mut self.sums)?;
        visit_fields!(archive.number(self.paid, self.total, self.luck));
        self.draws.persist("draws", archive)
    }
}

impl<E: Experts> LinearWeights for ExpertMixture<E> {
    fn weight(&self, index: u32) -> f64 {
        let of_experts = self.learners.iter().zip(self.algorithm.weights());
        of_experts.map(|(learner, weight)| weight * learner.linear().map_or(0.0, |linear| linear.weight(index))).sum()
    }

    fn deviation(&self, index: u32) -> Option<f64> {
        self.learners.iter().find_map(|learner| learner.linear()?.deviation(index))
    }
}

/// A sum that stays finite.
fn held(sum: f64) -> f64 {
    sum.clamp(f64::MIN, f64::MAX)
}

/// The learners that are mixed when none are named: they differ in how their rates fall and in how large they are.
const LEARNERS: ParameterDescriptor = learners("learners")
    .default("nag+(nag:eta=4)+adagrad+ogd")
    .meaning("the experts, at most 256, in parentheses if they have parameters");

const PREDICT: ParameterDescriptor = words(
    "predict",
    &[("mix", "the weighted mean of the scores"), ("draw", "the score of one expert, drawn by weight")],
)
.meaning("how the scores of the experts become a prediction");

const SEED: ParameterDescriptor =
    whole("seed", 0..=u64::MAX).default("0").meaning("seed of the draws").only_with("predict=draw");

/// Builds the experts of an entry, and weighs them.
fn build<E: Experts + 'static>(
    arguments: &Params<'_>,
    algorithm: impl Fn(usize) -> Result<E, Error>,
) -> Result<Box<dyn Learner>, Error> {
    let specifications = arguments.specifications("learners")?;
    expect_learners(specifications.len())?;
    if let Some(other) = specifications.iter().find(|specification| specification.is_charged_by_mistakes()) {
        let (expert, loss) = (other.name(), arguments.loss().name());
        let message = format!("the {expert} counts mistakes, so it cannot be an expert for the loss {loss}");
        return Err(Error::parameter(message));
    }
    let learners = specifications.iter().map(|it| arguments.build(it)).collect::<Result<Vec<_>, _>>()?;
    let algorithm = algorithm(learners.len())?;
    Ok(Box::new(ExpertMixture::new(arguments.loss(), algorithm, learners, predict(arguments))?))
}

fn rate(arguments: &Params<'_>) -> HedgeRate {
    match (arguments.optional_number("eta"), arguments.optional_number("rounds")) {
        (None, None) => HedgeRate::SelfTuned,
        (None, Some(rounds)) => HedgeRate::Rounds(rounds),
        (Some(eta), _) => HedgeRate::Fixed(eta),
    }
}

/// The algorithm of prediction with expert advice that parameters are of, for so many experts of its caller's own; `None`
/// where they are of another learner.
pub(crate) fn algorithm(arguments: &Params<'_>, count: usize) -> Result<Option<Box<dyn Experts>>, Error> {
    let algorithm: Box<dyn Experts> = match arguments.owner() {
        name if name == HEDGE.name => Box::new(Hedge::new(count, rate(arguments))?),
        name if name == ADAHEDGE.name => Box::new(AdaHedge::new(count)?),
        name if name == SQUINT.name => Box::new(Squint::new(count, arguments.optional_number("range"))?),
        name if name == FIXED_SHARE.name => {
            let (switches, rate, share) = sharing(arguments);
            Box::new(FixedShare::new(count, switches, rate, share)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(algorithm))
}

/// Whether it draws one of the experts in each round.
pub(crate) fn predict(arguments: &Params<'_>) -> Predict {
    match arguments.text("predict") {
        "mix" => Predict::Mix,
        _ => Predict::Draw(arguments.whole("seed")),
    }
}

/// Switches, rate and share of `fixed-share`.
fn sharing(arguments: &Params<'_>) -> (u64, HedgeRate, Share) {
    let share = arguments.optional_number("alpha").map_or(Share::Tuned, Share::Fixed);
    (arguments.whole("switches"), rate(arguments), share)
}

/// What an algorithm promises beforehand for a number of experts, or why it does not.
fn plan(
    arguments: &Params<'_>,
    class: Comparator,
    promise: impl Fn(usize) -> Result<Result<f64, &'static str>, Error>,
) -> Result<Guarantee, Error> {
    if arguments.text("predict") == "draw" {
        let reason = "with predict=draw the bound holds on average over draws, not in each run; predict=mix has a \
                      bound for each run";
        return Ok(Guarantee::none(GuaranteeKind::Mixture, reason));
    }
    let bound = promise(arguments.specifications("learners")?.len())?;
    Ok(Guarantee::of_mixture(class, bound.map_err(str::to_owned)))
}

/// `hedge` by name.
pub(crate) const HEDGE: LearnerDescriptor = LearnerDescriptor {
    name: "hedge",
    summary: "a mixture of learners with exponential weights (Littlestone, Warmuth; Freund, Schapire)",
    losses: Losses::Convex,
    parameters: &[LEARNERS, ETA, ROUNDS, PREDICT, SEED],
    promises: &[
        Promise::always(""),
        Promise::other("eta=0.1,predict=draw,seed=3"),
        Promise::other("learners=nag+ogd,rounds=1000"),
    ],
    build: |arguments| build(arguments, |count| Hedge::new(count, rate(arguments))),
    plan: |arguments, scales| {
        let promise = |count| Hedge::promise(count, rate(arguments), scales.rounds, scales.range).map(Ok);
        plan(arguments, Comparator::Experts, promise)
    },
};

/// `fixed-share` by name.
pub(crate) const FIXED_SHARE: LearnerDescriptor = LearnerDescriptor {
    name: "fixed-share",
    summary: "a mixture of learners that tracks the best as it changes (Herbster, Warmuth)",
    losses: Losses::Convex,
    parameters: &[LEARNERS, SWITCHES, ALPHA, ETA, ROUNDS, PREDICT, SEED],
    promises: &[
        Promise::elsewhere("", "tests/experts.rs"),
        Promise::other("alpha=0.01,eta=0.1,predict=draw,seed=3,switches=5"),
        Promise::other("learners=nag+ogd,rounds=1000"),
    ],
    build: |arguments| {
        let (switches, rate, share) = sharing(arguments);
        build(arguments, |count| FixedShare::new(count, switches, rate, share))
    },
    plan: |arguments, scales| {
        let (switches, rate, share) = sharing(arguments);
        plan(arguments, Comparator::SwitchingExperts(switches), |count| {
            let promise = FixedShare::promise(count, switches, rate, share, scales.rounds, scales.range)?;
            Ok(promise.ok_or("its rates and shares depend on the stream; give rounds=T, or eta and alpha"))
        })
    },
};

/// `adahedge` by name.
pub(crate) const ADAHEDGE: LearnerDescriptor = LearnerDescriptor {
    name: "adahedge",
    summary: "a mixture of learners for losses in any range, which exploits easy streams (de Rooij et al.)",
    losses: Losses::Convex,
    parameters: &[LEARNERS, PREDICT, SEED],
    promises: &[Promise::always(""), Promise::other("learners=nag+ogd,predict=draw,seed=3")],
    build: |arguments| build(arguments, AdaHedge::new),
    plan: |arguments, scales| {
        plan(arguments, Comparator::Experts, |count| AdaHedge::promise(count, scales.rounds, scales.range).map(Ok))
    },
};

/// `squint` by name.
pub(crate) const SQUINT: LearnerDescriptor = LearnerDescriptor {
    name: "squint",
    summary: "a mixture of learners that tries all rates at once, with a second-order bound (Koolen, van Erven)",
    losses: Losses::Convex,
    parameters: &[LEARNERS, RANGE, PREDICT, SEED],
    promises: &[Promise::always(""), Promise::other("learners=nag+ogd,predict=draw,range=2,seed=3")],
    build: |arguments| build(arguments, |count| Squint::new(count, arguments.optional_number("range"))),
    plan: |arguments, scales| {
        let known = arguments.optional_number("range");
        plan(arguments, Comparator::Experts, |count| {
            let Some(known) = known else {
                return Ok(Err("the first range of losses can be arbitrarily small; give range=B"));
            };
            let promise = Squint::promise(count, known, scales.rounds, scales.range)?;
            Ok(promise.ok_or("losses of experts may differ by more than its range; give a larger range"))
        })
    },
};

#[cfg(test)]
mod tests {
    use crate::Features;
    use crate::protocol::LearnerSpec;

    fn build(text: &str) -> Result<Box<dyn crate::Learner>, crate::Error> {
        text.parse::<LearnerSpec>()?.build(crate::loss::parse("squared")?, None)
    }

    fn message(text: &str) -> String {
        build(text).err().map_or_else(|| panic!("{text} is built"), |error| error.to_string())
    }

    #[test]
    fn descriptions_build_the_same_mixture_again() {
        for text in [
            "hedge:learners=nag",
            "hedge:eta=auto,rounds=500,learners=nag+(ogd:radius=2,eta=0.5)",
            "fixed-share:switches=7,alpha=0.01,eta=2,predict=draw,seed=18446744073709551615",
            "adahedge:learners=(squint:learners=(nag:standardise=true)+(hedge:learners=ogd),range=2)+auto",
        ] {
            let learner = build(text).unwrap();
            assert_eq!(build(&learner.describe()).unwrap().describe(), learner.describe());
        }
        assert_eq!(
            build("adahedge:learners=nag+(ogd:radius=2)").unwrap().describe(),
            "adahedge:learners=(nag:eta=0.5)+(ogd:eta=auto,radius=2,step=gradient),predict=mix"
        );
    }

    #[test]
    fn what_cannot_be_mixed_is_refused() {
        assert_eq!(
            message("hedge:learners=nag+perceptron"),
            "the perceptron counts mistakes, so it cannot be an expert for the loss squared"
        );
        let many = vec!["nag"; 257].join("+");
        assert_eq!(
            message(&format!("hedge:learners={many}")),
            "the number of learners to mix must be from 1 to 256; got 257"
        );
        assert!(
            message("hedge:learners=")
                .contains("must be learners joined by +, such as nag+(ogd:radius=2); got nothing")
        );
        assert!(message("hedge:predict=both").contains("must be mix or draw; got both"));
        assert!(message("hedge:eta=1,rounds=5").contains("rounds of hedge has no effect without eta=auto"));
        assert!(message("hedge:eta=0").contains("eta of hedge must be above 0, or auto; got 0"));
        assert!(message("squint:range=-1").contains("range of squint must be above 0, or auto; got -1"));
        assert!(message("fixed-share:alpha=0").contains("alpha must be from 1e-30 to 1; got 0"));
    }

    #[test]
    fn mixtures_are_inside_of_each_other_to_a_depth() {
        let nested = |depth: usize| "hedge:learners=".repeat(depth) + "nag";
        assert!(build(&nested(3)).is_ok());
        assert!(message(&nested(4)).contains("nested at most 3 deep"));
        assert!(message(&nested(100_000)).contains("nested at most 3 deep"));
        assert!(build("hedge:learners=(hedge:learners=(hedge:learners=(hedge)+nag))").is_err());
    }

    #[test]
    fn experts_learn_as_if_they_were_alone() {
        let mut advice = build("hedge:learners=nag+ogd,predict=draw,seed=5").unwrap();
        let mut alone = [build("nag").unwrap(), build("ogd").unwrap()];
        let mut sums = [0.0; 2];
        let mut drawn = [0; 2];
        for round in 0..100 {
            let values = [1.0, (round * 7 % 11) as f32 / 11.0];
            let x = Features::new(&[0, 1], &values).unwrap();
            let label = f64::from(values[1]) * 2.0 - 1.0;
            let score = advice.learn_one(x, label, 1.0);
            for expert in 0..2 {
                let other = alone[expert].learn_one(x, label, 1.0);
                drawn[expert] += usize::from(other == score);
                sums[expert] += (other - label) * (other - label);
            }
        }
        // What is drawn is the score of one of them, and of each at times.
        assert!(drawn[0] + drawn[1] >= 100 && drawn[0] > 5 && drawn[1] > 5, "{drawn:?}");
        let mixed = advice.mixture().unwrap();
        for (expert, sum) in mixed.experts.iter().zip(sums) {
            assert!((expert.loss * 100.0 - sum).abs() < 1e-12);
        }
    }
}
