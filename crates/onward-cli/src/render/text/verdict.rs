//! What a run cost against the best fixed predictor, in rows and in one sentence.

use onward::guarantee::{Comparator, GuaranteeKind};
use onward_engine::{
    BestInHindsight, ExcessReport, GuaranteeReport, HindsightClass, HindsightReport, LearnerReport, NovikoffReport,
    StreamReport, Timing,
};

use super::guarantee::{foremost, rounded_down};
use super::summary::row;
use super::{above, below, duration, grouped, number, rounded, size};

/// At ten times the radius the loss is much lower if it is lower by this share.
const MUCH: f64 = 0.02;

/// What the score 0 pays by the hinge loss.
const HINGE_AT_ZERO: f64 = 1.0;

/// The rows about the best predictor in hindsight, if it was asked for, and the learner's regret. `at_zero`: what the
/// score 0 pays by the loss that the learner is charged by.
pub(super) fn rows(text: &mut String, stream: &StreamReport, learner: &LearnerReport, at_zero: Option<f64>) {
    let Some(hindsight) = &stream.hindsight else { return };
    best(text, hindsight, learner.timing, at_zero);
    let (Some(found), Some(low)) = (hindsight.best(), learner.regret_per_round) else { return };
    let what = match found.mistakes_per_round {
        Some(_) => "its mistakes minus the hinge loss of the best",
        None => "sequential risk minus the loss of the best",
    };
    let high = low + found.gap.unwrap_or(f64::NAN);
    row(text, "regret", &number(low), &format!("to {} per example: {what}", number(high)));
    if let Some(theorem) = &learner.novikoff {
        novikoff(text, theorem);
    }
    if let Some(excess) = &learner.excess_empirical_risk {
        excess_risk(text, found, excess);
    }
}

/// What the perceptron's theorem allows in all.
fn novikoff(text: &mut String, theorem: &NovikoffReport) {
    let size = number(theorem.size);
    let most = match theorem.bound().ceil() {
        count if count < 1e9 => grouped(count as u64),
        many => above(many),
    };
    let formula = match (theorem.margin, theorem.margin_bound) {
        (Some(margin), Some(bound)) if bound == theorem.bound() => {
            format!("(X/γ)², X = {size} and γ = {} the margin of the best", number(margin))
        }
        _ => format!("H + (‖u‖X)² + ‖u‖X√H, X = {size}, u the best and H its hinge loss in all"),
    };
    row(text, "mistakes", &format!("≤ {most}"), &format!("in all, by Novikoff's theorem: {formula}"));
}

/// What a learner of regularised losses did by these.
pub(super) fn regularised(text: &mut String, stream: &StreamReport, learner: &LearnerReport) {
    let Some(found) = &learner.regularised else { return };
    let (Some(risk), Some(bound)) = (found.risk, found.bound_per_round) else { return };
    // Nobody pays less than the least loss of each row.
    let bound = stream.least_risk.map_or(bound, |least| bound.min(risk - least));
    let sigma = size(found.sigma);
    let meaning = format!("mean loss plus ½σ‖w‖² of the points that predicted, σ = {sigma}");
    row(text, "regularised", &number(risk), &meaning);
    let against = found.radius.map_or("every u".to_owned(), |radius| format!("every u with ‖u‖₂ ≤ {}", size(radius)));
    let theorem = match (found.theorem_per_round, found.gradient) {
        (Some(theorem), Some(gradient)) => {
            format!("; G²(1 + ln T)/(2σT) is {} at most, G = {}", above(theorem), number(gradient))
        }
        _ => String::new(),
    };
    let meaning = format!("regret per example on the regularised losses, against {against}{theorem}");
    row(text, "", &format!("≤ {}", above(bound)), &meaning);
    if let (Some(best), Some(gap), Some(regret)) = (found.best, found.gap, found.regret_per_round) {
        let meaning = format!("the least of these losses that was found; no u has less than {}", below(best - gap));
        row(text, "", &number(best), &meaning);
        row(text, "", &number(regret), &format!("to {}: that regret", number(regret + gap)));
    }
}

/// The best predictor, whatever is compared with it.
pub(super) fn best(text: &mut String, hindsight: &HindsightReport, timing: Timing, at_zero: Option<f64>) {
    let best = match hindsight {
        HindsightReport::Found(best) => best,
        HindsightReport::Missing { reason, .. } => return row(text, "in hindsight", "none", reason),
    };
    let (loss, gap) = (best.loss.unwrap_or(f64::NAN), best.gap.unwrap_or(f64::NAN));
    let charged = if best.mistakes_per_round.is_some() { "hinge loss" } else { "loss" };
    let meaning = format!(
        "mean {charged} of the best fixed linear predictor with {}; none pays less than {}",
        class(best),
        below(loss - gap)
    );
    row(text, "in hindsight", &number(loss), &meaning);
    if let Some(mistakes) = best.mistakes_per_round {
        let meaning = "mistakes per example of that predictor, at most its hinge loss; the fewest possible cannot be \
                       computed";
        row(text, "", &number(mistakes), meaning);
    }
    let time = duration(timing.hindsight_seconds.unwrap_or(0.0));
    let norm = number(best.norm.unwrap_or(f64::NAN));
    let scores = best.largest_score.map_or(String::new(), |score| format!(", its largest score {}", number(score)));
    row(text, "", "", &format!("its norm is {norm}{scores}; found in {} passes, {time}", best.passes));
    if best.class == HindsightClass::Unconstrained {
        let meaning =
            "proved against predictors of at most ten times its norm; without a radius there is no stronger proof";
        row(text, "", "", meaning);
    }
    if !best.is_reached {
        row(text, "", "", "the search ended before the gap was as small as requested; the gap shown here still holds");
    }
    if let (Some(ten), Some(gap), Some(radius)) =
        (best.loss_at_ten_times_radius, best.gap_at_ten_times_radius, best.radius)
    {
        let meaning = match is_radius_too_small(best, at_zero) {
            Some(true) => {
                "much less: this radius is too small for the best predictor; try a larger --radius".to_owned()
            }
            Some(false) => "hardly less: the radius is large enough".to_owned(),
            None => {
                format!("none pays less than {}: a larger --radius may or may not help", number(ten - gap))
            }
        };
        let title = format!("radius {}", size(rounded(10.0 * radius, 4)));
        row(text, &title, &number(ten), &format!("the same at ten times the radius; {meaning}"));
    }
}

/// The predictors that it is the best of.
pub(crate) fn class(best: &BestInHindsight) -> String {
    let radius = best.radius.map(size).unwrap_or_default();
    match best.class {
        HindsightClass::Ball => format!("‖u‖₂ ≤ {radius}"),
        HindsightClass::StandardisedBall => {
            format!("Σ(s_i u_i)² ≤ {radius}², s_i the root mean square of feature i")
        }
        HindsightClass::BallBesideBias => {
            let (low, high) = best.bias.unwrap_or((f64::NAN, f64::NAN));
            let radius = best.radius.map(|radius| size(rounded_down(radius))).unwrap_or_default();
            format!(
                "Σ(s_i u_i)² ≤ {radius}², s_i the root mean square of feature i, and a bias from {} to {}",
                number(low),
                number(high)
            )
        }
        HindsightClass::Unconstrained => "any norm".to_owned(),
    }
}

/// Whether larger predictors are much better than the best within the radius, by what is gained at ten times the radius,
/// beside what is gained at the radius over the score 0. `None`: they may be.
fn is_radius_too_small(best: &BestInHindsight, at_zero: Option<f64>) -> Option<bool> {
    let (loss, ten, gap) = (best.loss?, best.loss_at_ten_times_radius?, best.gap_at_ten_times_radius?);
    let at_zero = if best.mistakes_per_round.is_some() { Some(HINGE_AT_ZERO) } else { at_zero };
    let gained = at_zero.map_or(0.0, |zero| (zero - loss).max(0.0));
    // A tenth of what was gained, or a share of the loss, whichever is less, is much.
    let much = |other: f64| loss - other > (MUCH * loss.abs()).min(0.1 * gained);
    match (much(ten), much(ten - gap)) {
        (true, _) => Some(true),
        (_, false) => Some(false),
        _ => None,
    }
}

/// Of a computed size: more would show the errors of rounding.
const DIGITS: usize = 12;

/// The row about the average of the learner's points, if it was asked for.
pub(super) fn averaged(text: &mut String, learner: &LearnerReport) {
    let Some(averaged) = &learner.averaged_risk else { return };
    match (averaged.bound, averaged.confidence) {
        (Some(bound), Some(confidence)) => {
            let meaning = format!(
                "loss of the averaged predictor on a new example, with probability {}%, if examples are independent \
                 and of one distribution",
                rounded(100.0 * confidence, DIGITS)
            );
            row(text, "averaged", &format!("≤ {}", number(bound)), &meaning);
        }
        _ => row(text, "averaged", "none", averaged.reason.as_deref().unwrap_or_default()),
    }
}

fn excess_risk(text: &mut String, best: &BestInHindsight, excess: &ExcessReport) {
    // Beside the mistakes of the best, where the loss that it is the best by is another.
    let itself = |excess: f64| match (best.mistakes_per_round, best.loss) {
        (Some(mistakes), Some(loss)) => {
            format!("; minus the mistakes of the best: {}", number(excess + loss - mistakes))
        }
        _ => String::new(),
    };
    let what = match best.mistakes_per_round {
        Some(_) => "mistakes of the last predictor on these examples, minus the hinge loss of the best",
        None => "mean loss of the last predictor on these examples, minus that of the best",
    };
    let last = excess.last.unwrap_or(f64::NAN);
    row(text, "excess risk", &number(last), &format!("{what}{}", itself(last)));
    if let Some(averaged) = excess.averaged {
        row(text, "", &number(averaged), &format!("the same for the averaged predictor{}", itself(averaged)));
    }
}

/// What it all means, in one sentence; `None` where nothing is known.
pub(super) fn sentence(stream: &StreamReport, learner: &LearnerReport, at_zero: Option<f64>) -> Option<String> {
    let sentence = match &stream.hindsight {
        Some(hindsight) => against_best(stream, learner, hindsight.best()?, at_zero),
        None => against_any(learner),
    };
    sentence
        .map(|sentence| if sentence.starts_with(BEAT) { beaten(stream, learner).unwrap_or(sentence) } else { sentence })
}

/// How a sentence begins that says that the learner won.
const BEAT: &str = "learning online beat ";

/// What is said instead where a predictor without features, which could have been there, paid less than the learner.
fn beaten(stream: &StreamReport, learner: &LearnerReport) -> Option<String> {
    let (risk, constant) = (learner.sequential_risk?, stream.online_constant_risk?);
    (risk > constant).then(|| {
        format!(
            "predictors of that size pay more than the learner, but the online constant pays {} per example less: try \
             a larger --radius, or another learner",
            short(risk - constant)
        )
    })
}

fn against_best(
    stream: &StreamReport,
    learner: &LearnerReport,
    best: &BestInHindsight,
    at_zero: Option<f64>,
) -> Option<String> {
    let (risk, loss, low) = (learner.sequential_risk?, best.loss?, learner.regret_per_round?);
    let high = low + best.gap?;
    let theorem = learner.novikoff.zip(learner.curve.last()).map(|(theorem, end)| theorem.bound() / end.weight);
    let which = match best.radius {
        Some(_) => "the best fixed linear predictor of that size",
        None => "the best fixed linear predictor",
    };
    let allowed = |before: f64| match allowed(learner, best)
        .map(|bound| before + bound)
        .into_iter()
        .chain(theorem)
        .reduce(f64::min)
    {
        Some(bound) => format!("the theory allows {}", short_above(bound)),
        None => "no guarantee here covers predictors of that size".to_owned(),
    };
    if let Some(mistakes) = best.mistakes_per_round {
        let (made, least, pays) = (short(risk), short(mistakes), short(loss));
        let allowed = allowed(loss);
        return Some(format!(
            "learning online made {made} mistakes per example; {which} by the hinge loss makes {least} and pays {pays}; \
             {allowed}"
        ));
    }
    let allowed = allowed(0.0);
    if high < 0.0 {
        // A constant is a fixed linear predictor too: where it pays less, the class is too small.
        let is_held_back = best.loss_at_ten_times_radius.is_some()
            && (is_radius_too_small(best, at_zero) == Some(true)
                || stream.baseline_risk.is_some_and(|constant| constant < loss));
        let why = match is_held_back {
            true => "this radius is too small for that predictor; try a larger --radius",
            false => "the stream changes, or the learner is richer than one fixed linear predictor",
        };
        return Some(format!("learning online beat {which} by {} per example: {why}", short(-low)));
    }
    let between = format!("between {} and {}", short(low), short(high));
    Some(if low <= 0.0 {
        let meaning = if best.is_reached { "almost nothing" } else { "the exact amount is unknown" };
        format!("learning online cost {between} per example against {which}: {meaning}; {allowed}")
    } else if high > 1.05 * low {
        format!("learning online cost {between} per example against {which}; {allowed}")
    } else {
        format!("learning online cost {} per example against {which}; {allowed}", short(low))
    })
}

/// The least bound per example that is about regret against the same class, or one that û is in.
fn allowed(learner: &LearnerReport, best: &BestInHindsight) -> Option<f64> {
    let ball = |it: &GuaranteeReport| it.radius_of(Comparator::Ball).or(it.radius_of(Comparator::HingeOnUpdates));
    let standardised = |it: &GuaranteeReport| it.radius_of(Comparator::StandardisedBall);
    let holds = |size: Option<f64>, norm: Option<f64>| matches!((size, norm), (Some(size), Some(norm)) if norm <= size);
    // û is within the scores of a curved class, of which it need not be the best.
    let covers = |it: &GuaranteeReport| {
        let is_within = it.radius.is_none_or(|most| best.largest_score.is_some_and(|score| score <= most));
        it.kind == GuaranteeKind::Curved && it.features.is_none() && is_within
    };
    let is_about = |it: &&GuaranteeReport| match best.class {
        _ if covers(it) => true,
        HindsightClass::BallBesideBias => {
            let radius = it.radius_of(|radius| Comparator::BallBesideBias { radius, low: 0.0, high: 0.0 });
            it.bias == best.bias && holds(radius, best.radius)
        }
        // Of the hinge loss on all rounds that on some is a part.
        HindsightClass::Ball => holds(ball(it), best.radius),
        HindsightClass::StandardisedBall => holds(standardised(it), best.radius),
        HindsightClass::Unconstrained => holds(ball(it), best.raw_norm) || holds(standardised(it), best.norm),
    };
    let bounds = learner.guarantees.iter().filter(is_about).filter_map(|guarantee| guarantee.bound_per_round);
    bounds.min_by(f64::total_cmp)
}

/// What the certificate alone says.
fn against_any(learner: &LearnerReport) -> Option<String> {
    let guarantee = foremost(learner)?;
    let bound = guarantee.bound_per_round?;
    let which = match guarantee.kind {
        GuaranteeKind::Curved => "such predictor",
        _ => "fixed linear predictor of that size",
    };
    Some(match bound < 0.0 {
        true => format!(
            "learning online beat every {which} by at least {} per example; --hindsight finds the best one",
            short(-short_above(bound).parse().unwrap_or(bound))
        ),
        false => format!(
            "learning online cost at most {} per example against any {which}; --hindsight finds the best one and the \
             exact cost",
            short_above(bound)
        ),
    })
}

/// Three significant digits, as people say them.
fn short(value: f64) -> String {
    if value == 0.0 || !(1e-4..1e4).contains(&value.abs()) {
        return number(value);
    }
    let digits = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

/// The same of an upper bound, rounded up.
fn short_above(value: f64) -> String {
    let shown = short(value);
    if value == 0.0 || !(1e-4..1e4).contains(&value.abs()) {
        return above(value);
    }
    let unit = 10f64.powi(value.abs().log10().floor() as i32 - 2);
    let is_lower = shown.parse::<f64>().is_ok_and(|shown| shown < value);
    if is_lower { short(value + 0.5 * unit) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_three_digits() {
        assert_eq!(
            [0.018_01, 0.051_91, 1.23, 250.4, -0.5004].map(short_above),
            ["0.0181", "0.0520", "1.23", "251", "-0.500"]
        );
        assert_eq!([0.018_04, 0.063, 1.234_5, 250.4, -0.5].map(short), ["0.0180", "0.0630", "1.23", "250", "-0.500"]);
    }
}
