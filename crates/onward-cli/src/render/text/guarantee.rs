//! Guarantees in words: what each is about, and which of several is told first.

use onward::guarantee::{Comparator, GuaranteeKind};
use onward::loss::InverseLink;
use onward_engine::{GuaranteeReport, LearnerReport, StreamReport};

use super::summary::row;
use super::{above, below, counted, grouped, number, rounded, size};

/// Of a radius that was computed: more would show the errors of rounding.
const DIGITS: usize = 5;

/// Features of a class that are named.
const NAMED: usize = 3;

/// The certificate that is told first: the one for the ball that was asked for, else the curved one where it is about all
/// features, else the one for the default class.
pub(crate) fn foremost(learner: &LearnerReport) -> Option<&GuaranteeReport> {
    let for_class = learner.certificate();
    let is_asked_for = for_class.is_some_and(|it| it.radius_of(Comparator::Ball).is_some());
    let is_whole = |it: &&GuaranteeReport| it.features.is_none() || it.combinations.is_some();
    learner.curved().filter(|curved| is_whole(curved) && !is_asked_for).or(for_class)
}

/// The learner's own guarantee, which may be about another class than the regret is.
pub(super) fn own(text: &mut String, learner: &LearnerReport, stream: &StreamReport) {
    let Some(own) = learner.own_guarantee() else { return };
    let title = if own.kind == GuaranteeKind::Mixture { "of the mixture" } else { "own guarantee" };
    say(text, title, own, stream, learner.sequential_risk.unwrap_or(f64::NAN));
}

/// The certificates, and what they rule out.
pub(super) fn certificates(text: &mut String, learner: &LearnerReport, stream: &StreamReport, risk: f64) {
    let Some(first) = foremost(learner) else { return };
    // Where the best predictor is known, what a certificate rules out says nothing more.
    let is_known = stream.hindsight.as_ref().is_some_and(|hindsight| hindsight.best().is_some());
    let partial = learner.curved().filter(|curved| curved.features.is_some() && curved.combinations.is_none());
    for (title, guarantee) in std::iter::once(("guarantee", first)).chain(partial.map(|it| ("", it))) {
        say(text, title, guarantee, stream, risk);
        if let Some(bound) = guarantee.bound_per_round.filter(|_| !is_known) {
            let floor = guarantee.floor.unwrap_or(risk - bound);
            let meaning = match bound < most(guarantee, stream, risk) - 1e-9 * risk.abs() {
                true => format!("so no such predictor, even knowing the whole stream, pays less than {}", below(floor)),
                false => "this is all that the learner paid, so it rules out no such predictor".to_owned(),
            };
            row(text, "", "", &meaning);
        }
    }
}

fn say(text: &mut String, title: &str, guarantee: &GuaranteeReport, stream: &StreamReport, risk: f64) {
    match guarantee.bound_per_round {
        Some(bound) => {
            let mut meaning = format!("regret per example against {}", class(guarantee, link(stream)));
            let most = most(guarantee, stream, risk);
            if bound > most {
                meaning.push_str(&format!("; all that was paid, since the theorem alone allows {}", above(bound)));
            }
            row(text, title, &format!("≤ {}", bounded(bound, most)), &meaning);
        }
        None => row(text, title, "none", guarantee.reason.as_deref().unwrap_or_default()),
    }
}

/// What regret can be at most: nobody pays less than each example costs at least, and no hinge loss, which mistakes are counted
/// against, is below 0.
pub(super) fn most(guarantee: &GuaranteeReport, stream: &StreamReport, risk: f64) -> f64 {
    let by_hinge = [Comparator::HingeOnUpdates, Comparator::KernelHingeOnUpdates];
    if by_hinge.iter().any(|class| guarantee.radius_of(*class).is_some()) {
        return risk;
    }
    stream.least_risk.map_or(f64::INFINITY, |least| risk - least)
}

/// A bound as it is printed: rounded up, or what was paid, as that is printed.
pub(super) fn bounded(bound: f64, most: f64) -> String {
    if bound < most { above(bound) } else { number(most) }
}

/// From scores to what people read, by the loss of a run.
pub(super) fn link(stream: &StreamReport) -> InverseLink {
    onward::loss::parse(&stream.loss).map_or(InverseLink::Identity, |loss| loss.inverse_link())
}

/// A class in words, with the radius for the word `radius`.
pub(crate) fn sized(description: &str, radius: Option<f64>) -> String {
    radius.map_or_else(|| description.to_owned(), |radius| description.replace("radius", &size(rounded_down(radius))))
}

/// A radius, computed or given, with few digits: the class that is named is no larger than the one that was certified.
pub(super) fn rounded_down(radius: f64) -> f64 {
    let near = rounded(radius, DIGITS);
    let digit = 10f64.powi(radius.log10().floor() as i32 - DIGITS as i32);
    if near > radius * (1.0 + 1e-12) { rounded(radius - 0.5 * digit, DIGITS) } else { near }
}

/// The class that a guarantee is against.
pub(super) fn class(guarantee: &GuaranteeReport, link: InverseLink) -> String {
    if guarantee.kind != GuaranteeKind::Curved {
        let words = sized(&guarantee.comparator, guarantee.radius);
        if let Some((low, high)) = guarantee.bias {
            return words.replace("from low to high", &format!("from {} to {}", above(low), below(high)));
        }
        return words;
    }
    let of = match &guarantee.features {
        Some(features) => {
            let named = features.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = features.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let others = match guarantee.combinations {
                Some(count) => format!(", of which {} more are nearly combinations", grouped(count)),
                None => String::new(),
            };
            format!(" of {} ({named}{more}){others}", counted(features.len() as u64, "feature"))
        }
        None => String::new(),
    };
    let keeps = match (guarantee.radius, link) {
        (None, _) => ", whatever its weights".to_owned(),
        (Some(bound), InverseLink::Logistic) => {
            let share = 100.0 * link.response(-bound);
            format!(" that keeps its probabilities between {share:.4}% and {:.4}%", 100.0 - share)
        }
        (Some(bound), InverseLink::Log) => {
            format!(
                " that keeps its rates between {} and {}",
                number(link.response(-bound)),
                number(link.response(bound))
            )
        }
        (Some(bound), _) => format!(" that keeps its scores between −{} and {}", size(bound), size(bound)),
    };
    format!("every linear predictor{of}{keeps}")
}
