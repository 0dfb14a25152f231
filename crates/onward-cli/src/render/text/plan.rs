//! What a theorem promises for a stream, as a table.

use onward::guarantee::{Guarantee, GuaranteeKind};
use onward::protocol::ProblemBounds;
use onward_engine::{EngineError, Plan};

use super::guarantee::sized;
use super::{counted, grouped, number, rounded, size};
use crate::render::write;

/// How many digits behind the first the norm with the bias has.
const NORM_DIGITS: usize = 4;

/// The promise for a stream whose features are within these bounds, and that gets a bias or not.
pub(crate) fn text(plan: &Plan, bounds: &ProblemBounds, has_bias: bool) -> Result<String, EngineError> {
    let whole = &if has_bias { bounds.with_bias() } else { *bounds };
    let promise = plan.promise(whole)?;
    let of = match promise.kind {
        GuaranteeKind::Mixture => format!("expert losses at most {} apart", size(bounds.range)),
        _ => {
            let (norm, largest, label) = (size(bounds.norm), size(bounds.largest), size(bounds.label));
            let features = counted(bounds.dimension as u64, "feature");
            let bias = match has_bias {
                true => format!("and a bias of 1, with which ‖x‖₂ ≤ {}", size(rounded(whole.norm, NORM_DIGITS))),
                false => "in all, without a bias".to_owned(),
            };
            format!("‖x‖₂ ≤ {norm}, |x_i| ≤ {largest}, |y| ≤ {label}, {features} {bias}")
        }
    };
    let (examples, loss) = (counted(bounds.rounds as u64, "example"), plan.loss().name());
    let head = format!("plan for {examples} of {of}\nlearner: {}, loss: {loss}\n\n", plan.learner()?);
    Ok(match &promise.bound {
        Err(reason) => format!("{head}no promise in advance: {reason}\n"),
        Ok(_) if bounds.rounds == 0.0 => format!("{head}with no examples the regret is 0\n"),
        Ok(_) => head + &table(plan, &promise, whole)?,
    })
}

/// The promise for streams of several lengths.
fn table(plan: &Plan, promise: &Guarantee, bounds: &ProblemBounds) -> Result<String, EngineError> {
    let class = sized(&promise.description(), promise.radius());
    let mut text = format!("regret at most, against {class}\n");
    write(&mut text, format_args!("{:>15} {:>12} {:>12}\n", "examples", "per example", "in all"));
    for factor in [0.01, 0.1, 1.0, 10.0, 100.0] {
        let length = (factor * bounds.rounds).round();
        if length < 1.0 || length > u64::MAX as f64 {
            continue;
        }
        if let Ok(bound) = plan.promise(&ProblemBounds { rounds: length, ..*bounds })?.bound {
            let mark = if factor == 1.0 { "  ← this stream" } else { "" };
            let (each, all) = (number(bound / length), number(bound));
            write(&mut text, format_args!("{:>15} {each:>12} {all:>12}{mark}\n", grouped(length as u64)));
        }
    }
    Ok(text)
}
