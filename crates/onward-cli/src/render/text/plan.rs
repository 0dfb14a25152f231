//! What a theorem promises for a stream, as a table.

use std::fmt::Write;

use onward::guarantee::{Guarantee, GuaranteeKind};
use onward::protocol::ProblemBounds;
use onward_engine::{EngineError, Plan};

use super::{counted, grouped, number, size};

/// The promise for a stream of this many examples.
pub(crate) fn text(plan: &Plan, rounds: u64, bounds: &Bounds) -> Result<String, EngineError> {
    let scales = bounds.scales(rounds as f64);
    let promise = plan.promise(&scales)?;
    let of = match promise.kind {
        GuaranteeKind::Mixture => format!("losses of experts within {} of each other", size(scales.range)),
        _ => format!(
            "‖x‖₂ ≤ {}, |x_i| ≤ {}, |y| ≤ {}, {} in all",
            size(scales.norm),
            size(scales.largest),
            size(scales.label),
            counted(scales.dimension as u64, "feature")
        ),
    };
    let (examples, loss) = (counted(rounds, "example"), plan.loss().name());
    let mut text = format!("plan for {examples} of {of}\nlearner: {}, loss: {loss}\n\n", plan.learner()?);
    match &promise.bound {
        Err(reason) => text.push_str(&format!("no promise beforehand: {reason}\n")),
        Ok(_) if rounds == 0 => text.push_str("without examples the regret is 0\n"),
        Ok(_) => {
            text.push_str(&table(plan, rounds, &promise, bounds)?);
            let idle = bounds.idle(|bounds| plan.promise(&bounds.scales(rounds as f64)).ok()?.bound.ok());
            if !idle.is_empty() {
                text.push_str(&format!("it does not depend on {}\n", idle.join(" or ")));
            }
        }
    }
    Ok(text)
}

/// The promise for streams of several lengths.
fn table(plan: &Plan, rounds: u64, promise: &Guarantee, bounds: &Bounds) -> Result<String, EngineError> {
    let class = match promise.radius() {
        Some(radius) => promise.description().replace("radius", &size(radius)),
        None => promise.description(),
    };
    let mut text = format!("regret at most, against {class}\n");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{:>15} {:>12} {:>12}", "examples", "per example", "in all");
    for factor in [0.01, 0.1, 1.0, 10.0, 100.0] {
        let length = (factor * rounds as f64).round();
        if length < 1.0 || length > u64::MAX as f64 {
            continue;
        }
        if let Ok(bound) = plan.promise(&bounds.scales(length))?.bound {
            let mark = if factor == 1.0 { "  ← this stream" } else { "" };
            let (each, all) = (number(bound / length), number(bound));
            let _ = writeln!(text, "{:>15} {each:>12} {all:>12}{mark}", grouped(length as u64));
        }
    }
    Ok(text)
}

/// The bounds that were given, in the order of [`NAMES`].
pub(crate) struct Bounds(pub(crate) [Option<f64>; 5]);

const NAMES: [&str; 5] = ["norm", "largest", "label", "features", "range"];

impl Bounds {
    /// All bounds: what is not given follows from others, or is 1.
    fn scales(&self, rounds: f64) -> ProblemBounds {
        let [norm, largest, label, features, range] = self.0;
        let dimension = features.unwrap_or(1.0);
        let (norm, largest) = match (norm, largest) {
            (Some(norm), None) => (norm, norm),
            (norm, largest) => {
                let largest = largest.unwrap_or(1.0);
                (norm.unwrap_or(largest * dimension.sqrt()), largest)
            }
        };
        ProblemBounds { rounds, norm, largest, label: label.unwrap_or(1.0), dimension, range: range.unwrap_or(1.0) }
    }

    /// Refuses what bounds nothing.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (name, value) in NAMES.iter().zip(self.0) {
            if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
                return Err(format!("--{name} must be above 0; got {value}"));
            }
        }
        let ProblemBounds { norm, largest, dimension, .. } = self.scales(0.0);
        let most = largest * dimension.sqrt();
        match norm >= largest && norm <= most * (1.0 + 1e-9) || self.0[0].is_none() || self.0[1].is_none() {
            true => Ok(()),
            false => Err(format!(
                "--norm must be from largest to largest·√features, {} to {}; got {}",
                size(largest),
                size(most),
                size(norm)
            )),
        }
    }

    /// The given bounds that the promise does not depend on, neither by themselves nor by what follows from them.
    fn idle(&self, promise: impl Fn(&Self) -> Option<f64>) -> Vec<&'static str> {
        let bound = promise(self);
        let changes = |at: usize| {
            [0.5, 2.0, 4.0].into_iter().any(|factor| {
                let mut other = Self(self.0);
                other.0[at] = other.0[at].map(|value| factor * value);
                promise(&other) != bound
            })
        };
        (0..NAMES.len()).filter(|&at| self.0[at].is_some() && !changes(at)).map(|at| NAMES[at]).collect()
    }
}
