//! What a run cost against the best fixed predictor, in rows and in one sentence.

use onward::regret::hindsight::{AtTenTimes, Best, Class};
use onward::regret::{Comparator, Guarantee, GuaranteeKind};

use crate::hindsight::{Answer, Excess, Hindsight};
use crate::report::{DELTA, Run, guarantees};
use crate::summary::{number, row, size};

/// At ten times the radius the loss is much lower if it is lower by this share.
const MUCH: f64 = 0.02;

/// The rows about the best predictor in hindsight, if it was asked for, and the learner's regret.
pub(crate) fn rows(text: &mut String, run: &Run<'_>) {
    let Some(hindsight) = run.hindsight else { return };
    say_best(text, hindsight, run.trained.ledger.constant_risk(0.0));
    let Ok(answer) = &hindsight.answer else { return };
    let low = run.trained.ledger.sequential_risk() - answer.best.loss;
    let what = match answer.mistakes {
        Some(_) => "its mistakes less the hinge loss of the best",
        None => "sequential risk less that of the best",
    };
    row(text, "regret", &number(low), &format!("to {} an example: {what}", number(low + answer.best.gap)));
    if let Some(excess) = &answer.excess {
        say_excess(text, answer, excess);
    }
}

/// The best predictor, whoever is compared with it.
pub(crate) fn say_best(text: &mut String, hindsight: &Hindsight, at_zero: Option<f64>) {
    let answer = match &hindsight.answer {
        Ok(answer) => answer,
        Err(reason) => return row(text, "in hindsight", "none", reason),
    };
    let best = &answer.best;
    let which = match best.class {
        Class::Unconstrained => "of any size".to_owned(),
        Class::Ball { radius } => format!("of ‖u‖₂ ≤ {}", size(radius)),
        Class::Standardised { radius } => {
            format!("of Σ(s_i u_i)² ≤ {}², s_i the root mean square of feature i", size(radius))
        }
    };
    row(
        text,
        "in hindsight",
        &number(best.loss),
        &format!(
            "mean {} of the best fixed linear predictor {which}; none pays less than {}",
            if answer.mistakes.is_some() { "hinge loss" } else { "loss" },
            number(best.loss - best.gap)
        ),
    );
    if let Some(mistakes) = answer.mistakes {
        let meaning =
            "that predictor's own mistakes an example, which its hinge loss bounds; which has fewest, none can prove";
        row(text, "", &number(mistakes), meaning);
    }
    let seconds = hindsight.elapsed.as_secs_f64();
    row(text, "", "", &format!("its norm is {}; found in {} passes, {seconds:.2} s", number(best.norm), best.passes));
    if best.class == Class::Unconstrained {
        row(
            text,
            "",
            "",
            "proved against predictors of at most ten times its norm: without a radius there is no other proof",
        );
    }
    if !best.is_reached {
        row(text, "", "", "the search ended before the gap was as small as asked for: what holds is what is said here");
    }
    if let (Some(ten), Some(radius)) = (best.at_ten_times, best.class.radius()) {
        let meaning = match Reach::of(best, ten, answer.at_zero(at_zero)) {
            Reach::Short => "much less: this radius holds the best predictor back; try a larger --radius".to_owned(),
            Reach::Enough => "hardly less: the radius is large enough".to_owned(),
            Reach::Unknown => format!(
                "none pays less than {}: whether a larger --radius would matter is not settled",
                number(ten.loss - ten.gap)
            ),
        };
        let title = format!("radius {}", short_size(10.0 * radius));
        row(text, &title, &number(ten.loss), &format!("the same at ten times the radius; {meaning}"));
    }
}

/// Whether the radius lets the best predictor be as good as larger ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Larger ones are much better.
    Short,
    /// They are hardly better.
    Enough,
    /// They may be.
    Unknown,
}

impl Reach {
    /// By what is gained at ten times the radius, beside what is gained at the radius over the
    /// score 0, which pays `at_zero`.
    fn of(best: &Best, ten: AtTenTimes, at_zero: Option<f64>) -> Self {
        let gained = at_zero.map_or(0.0, |zero| (zero - best.loss).max(0.0));
        // A tenth of what was gained, or a share of the loss, whichever is less, is much.
        let much = |loss: f64| best.loss - loss > (MUCH * best.loss.abs()).min(0.1 * gained);
        match (much(ten.loss), much(ten.loss - ten.gap)) {
            (true, _) => Self::Short,
            (_, false) => Self::Enough,
            _ => Self::Unknown,
        }
    }
}

/// A size that was computed, without the digits that rounding adds.
fn short_size(value: f64) -> String {
    let rounded: f64 = format!("{value:.12e}").parse().unwrap_or(value);
    size(rounded)
}

/// The row about the average of the learner's points, if it was asked for.
pub(crate) fn say_averaged(text: &mut String, run: &Run<'_>) {
    match &run.averaged_risk {
        Some(Ok(bound)) => row(
            text,
            "averaged",
            &format!("≤ {}", number(*bound)),
            &format!(
                "loss of the averaged predictor on a new example, with probability {}%, if examples are independent and of \
                 one distribution",
                100.0 * (1.0 - DELTA)
            ),
        ),
        Some(Err(reason)) => row(text, "averaged", "none", reason),
        None => {}
    }
}

fn say_excess(text: &mut String, answer: &Answer, excess: &Excess) {
    // Beside the mistakes of the best, where the loss that it is the best by is another.
    let itself = |excess: f64| match answer.mistakes {
        Some(mistakes) => format!("; less its own mistakes: {}", number(excess + answer.best.loss - mistakes)),
        None => String::new(),
    };
    let what = match answer.mistakes {
        Some(_) => "mistakes of the last predictor on these examples, less the hinge loss of the best",
        None => "what the last predictor pays on these examples, less what the best pays",
    };
    row(text, "excess risk", &number(excess.last), &format!("{what}{}", itself(excess.last)));
    if let Some(averaged) = excess.averaged {
        row(text, "", &number(averaged), &format!("the same of the averaged predictor{}", itself(averaged)));
    }
}

/// What it all means, in one sentence; `None` where nothing is known.
pub(crate) fn sentence(run: &Run<'_>) -> Option<String> {
    match run.hindsight {
        Some(hindsight) => hindsight.answer.as_ref().ok().map(|answer| against_best(run, answer)),
        None => against_any(run),
    }
}

fn against_best(run: &Run<'_>, answer: &Answer) -> String {
    let best = &answer.best;
    let ledger = &run.trained.ledger;
    let low = ledger.sequential_risk() - best.loss;
    let high = low + best.gap;
    let which = match best.class.radius() {
        Some(_) => "the best fixed linear predictor of that size",
        None => "the best fixed linear predictor",
    };
    let allowed = allowed(run, best);
    let not_about = "no guarantee here is about predictors of that size".to_owned();
    if let Some(mistakes) = answer.mistakes {
        let allowed = match allowed {
            Some(bound) => format!("the theory allows {}", short(best.loss + bound)),
            None => not_about,
        };
        return format!(
            "learning online made {} mistakes per example; {which} by the hinge loss makes {} and pays {}; {allowed}",
            short(ledger.sequential_risk()),
            short(mistakes),
            short(best.loss),
        );
    }
    let allowed = match allowed {
        Some(bound) => format!("the theory allows {}", short(bound)),
        None => not_about,
    };
    if high < 0.0 {
        // A constant is a fixed linear predictor too: where it pays less, the class is too small.
        let is_held_back = best.at_ten_times.is_some_and(|ten| {
            Reach::of(best, ten, ledger.constant_risk(0.0)) == Reach::Short
                || ledger.baseline_risk().is_some_and(|constant| constant < best.loss)
        });
        let why = match is_held_back {
            true => "this radius holds that predictor back, larger ones pay less; try a larger --radius",
            false => "the stream changes, or the learner is richer than one fixed linear predictor",
        };
        return format!("learning online beat {which} by {} per example: {why}", short(-low));
    }
    if low <= 0.0 {
        return format!(
            "learning online cost between {} and {} per example against {which}: {}; {allowed}",
            short(low),
            short(high),
            if best.is_reached { "next to nothing" } else { "how much is not settled" }
        );
    }
    match high > 1.05 * low {
        true => format!(
            "learning online cost between {} and {} per example against {which}; {allowed}",
            short(low),
            short(high)
        ),
        false => format!("learning online cost {} per example against {which}; {allowed}", short(low)),
    }
}

/// The least bound per round that is about regret against the same class, or one that û is in.
fn allowed(run: &Run<'_>, best: &Best) -> Option<f64> {
    let weight = run.trained.ledger.weight();
    let found = guarantees(run);
    let is_about = |guarantee: &&Guarantee| match (guarantee.comparator, best.class) {
        // Of the hinge loss on all rounds that on some is a part.
        (Some(Comparator::Ball(size) | Comparator::HingeOnUpdates(size)), Class::Unconstrained) => {
            best.raw_norm <= size
        }
        (Some(Comparator::Ball(size) | Comparator::HingeOnUpdates(size)), Class::Ball { radius }) => radius <= size,
        (Some(Comparator::StandardisedBall(size)), Class::Standardised { radius }) => radius <= size,
        (Some(Comparator::StandardisedBall(size)), Class::Unconstrained) => best.norm <= size,
        _ => false,
    };
    let bounds = found.iter().filter(is_about).filter_map(|guarantee| guarantee.bound.as_ref().ok());
    bounds.map(|bound| bound / weight).min_by(f64::total_cmp)
}

/// What the certificate alone says.
fn against_any(run: &Run<'_>) -> Option<String> {
    let found = guarantees(run);
    let universal = found.iter().find(|guarantee| guarantee.kind == GuaranteeKind::Universal)?;
    let bound = universal.bound.as_ref().ok()? / run.trained.ledger.weight();
    if bound < 0.0 {
        return Some(format!(
            "learning online beat every fixed linear predictor of that size by {} per example at least: try a larger \
             --radius; --hindsight finds the best one",
            short(-bound)
        ));
    }
    Some(format!(
        "learning online cost at most {} per example against any fixed linear predictor of that size; --hindsight finds the \
         best one and tells what it really cost",
        short(bound)
    ))
}

/// Three significant digits, as people say them.
fn short(value: f64) -> String {
    if value == 0.0 || !(1e-4..1e4).contains(&value.abs()) {
        return number(value);
    }
    let digits = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_three_digits() {
        assert_eq!([0.018_04, 0.063, 1.234_5, 250.4, -0.5].map(short), ["0.0180", "0.0630", "1.23", "250", "-0.500"]);
    }
}
