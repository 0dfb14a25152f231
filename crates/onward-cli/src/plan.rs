//! `onward learn --plan T`: what the theory promises of a stream before there is one.

use std::process::ExitCode;

use onward::learner::{Scales, Specification};
use onward::loss::{self, Task};
use onward::regret::GuaranteeKind;

use crate::arguments::{LearnOptions, TaskOption};
use crate::failure::Failure;
use crate::learn::checked_radius;
use crate::outputs;
use crate::summary::{counted, grouped, number, size};

/// Prints the promise for T examples, and for some shorter and longer streams.
pub(crate) fn run(options: &LearnOptions, rounds: u64, learner: &str) -> Result<ExitCode, Failure> {
    refuse_what_a_plan_has_no_use_for(options)?;
    let specification: Specification = learner.parse()?;
    let loss = match (&options.loss, options.columns.task, specification.task()) {
        (Some(name), ..) => loss::parse(name)?,
        (None, Some(TaskOption::Regression), _) => loss::parse(specification.default_loss(Task::Regression)?)?,
        (None, ..) => loss::parse(specification.default_loss(Task::Binary)?)?,
    };
    let scales = scales(options, rounds)?;
    let radius = checked_radius(options.radius)?;
    let built = specification.build(&loss, radius)?;
    let promise = specification.plan(&loss, radius, &scales)?;
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
    let mut text = format!(
        "plan for {} of {of}\nlearner: {}, loss: {}\n\n",
        counted(rounds, "example"),
        built.describe(),
        loss.name()
    );
    match &promise.bound {
        Err(reason) => text.push_str(&format!("no promise beforehand: {reason}\n")),
        Ok(_) if rounds == 0 => text.push_str("of no examples nothing can be promised: the regret is 0\n"),
        Ok(_) => {
            let class = match promise.radius() {
                Some(radius) => promise.description().replace("radius", &size(radius)),
                None => promise.description(),
            };
            text.push_str(&format!(
                "regret at most, against {class}\n{:>15} {:>12} {:>12}\n",
                "examples", "an example", "in all"
            ));
            for factor in [0.01, 0.1, 1.0, 10.0, 100.0] {
                let length = (factor * rounds as f64).round();
                if length < 1.0 || length > u64::MAX as f64 {
                    continue;
                }
                let scaled = Scales { rounds: length, ..scales };
                if let Ok(bound) = specification.plan(&loss, radius, &scaled)?.bound {
                    let mark = if factor == 1.0 { "  ← this stream" } else { "" };
                    let (each, all) = (number(bound / length), number(bound));
                    text.push_str(&format!("{:>15} {each:>12} {all:>12}{mark}\n", grouped(length as u64)));
                }
            }
        }
    }
    outputs::write(std::path::Path::new("-"), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// An option that would change nothing is refused: no input is read and nothing is learnt.
fn refuse_what_a_plan_has_no_use_for(options: &LearnOptions) -> Result<(), Failure> {
    let idle = [
        ("INPUT", !options.input.inputs.is_empty()),
        ("--init", options.init.is_some()),
        ("--model", options.model.is_some()),
        ("--predictions", options.predictions.is_some()),
        ("--report", options.report.is_some()),
        ("--passes", options.passes > 1),
    ];
    let idle: Vec<&str> = idle.into_iter().filter(|&(_, given)| given).map(|(name, _)| name).collect();
    if idle.is_empty() {
        return Ok(());
    }
    Err(Failure::user(format!(
        "--plan says what the theory promises before a run, and reads nothing: leave {} out",
        idle.join(" and ")
    )))
}

/// The scales that were given, the others 1.
fn scales(options: &LearnOptions, rounds: u64) -> Result<Scales, Failure> {
    let mut scales = Scales { rounds: rounds as f64, ..Scales::default() };
    let (mut norm, mut largest) = (None, None);
    for pair in &options.scales {
        let wrong = || {
            Failure::user(format!(
                "--scales has '{pair}': it is norm=X (of ‖x‖₂), largest=X (of |x_i|), label=Y (of |y|), features=D and \
                 range=R (of the losses of a mixture's experts), joined by commas"
            ))
        };
        let (key, value) = pair.split_once('=').ok_or_else(wrong)?;
        let value: f64 = value.trim().parse().map_err(|_| wrong())?;
        match key.trim() {
            "norm" => norm = Some(value),
            "largest" => largest = Some(value),
            "label" => scales.label = value,
            "features" => scales.dimension = value,
            "range" => scales.range = value,
            _ => return Err(wrong()),
        }
    }
    // What one of them says bounds the other.
    scales.largest = largest.or(norm).unwrap_or(1.0);
    scales.norm = norm.unwrap_or(scales.largest * scales.dimension.sqrt());
    scales.check()?;
    Ok(scales)
}
