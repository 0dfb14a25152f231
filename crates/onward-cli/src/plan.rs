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
    let specification: Specification = learner.parse()?;
    let loss = match (&options.loss, options.columns.task, specification.task()) {
        (Some(name), ..) => loss::parse(name)?,
        (None, Some(TaskOption::Regression), _) => loss::parse(specification.default_loss(Task::Regression)?)?,
        (None, ..) => loss::parse(specification.default_loss(Task::Binary)?)?,
    };
    let (scales, given) = scales(options, rounds)?;
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
    let bound = |scales: &Scales| specification.plan(&loss, radius, scales).ok()?.bound.ok();
    let idle = idle(&given, &scales, bound);
    if rounds > 0 && !idle.is_empty() {
        text.push_str(&format!("it does not depend on {}\n", idle.join(" or ")));
    }
    outputs::write(std::path::Path::new("-"), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The most features that there can be.
const MOST_FEATURES: f64 = 4_294_967_296.0;

/// A scale by its key.
fn scale<'a>(scales: &'a mut Scales, key: &str) -> Option<&'a mut f64> {
    match key {
        "norm" => Some(&mut scales.norm),
        "largest" => Some(&mut scales.largest),
        "label" => Some(&mut scales.label),
        "features" => Some(&mut scales.dimension),
        "range" => Some(&mut scales.range),
        _ => None,
    }
}

/// The scales that were given, and their keys; the others are 1.
fn scales(options: &LearnOptions, rounds: u64) -> Result<(Scales, Vec<&str>), Failure> {
    let mut scales = Scales { rounds: rounds as f64, ..Scales::default() };
    let mut given = Vec::new();
    for pair in &options.scales {
        let wrong = || {
            Failure::user(format!(
                "--scales has '{pair}': it is norm=X (of ‖x‖₂), largest=X (of |x_i|), label=Y (of |y|), features=D and \
                 range=R (of the losses of a mixture's experts), joined by commas"
            ))
        };
        let (key, value) = pair.split_once('=').ok_or_else(wrong)?;
        let key = key.trim();
        let value: f64 = value.trim().parse().map_err(|_| wrong())?;
        *scale(&mut scales, key).ok_or_else(wrong)? = value;
        if given.contains(&key) {
            return Err(Failure::user(format!("--scales has {key} twice: leave one of them out")));
        }
        given.push(key);
    }
    scales = derived(scales, &given);
    scales.check()?;
    if scales.dimension.fract() != 0.0 || scales.dimension > MOST_FEATURES {
        return Err(Failure::user(format!(
            "--scales has features={}: it is a whole number up to {MOST_FEATURES}, as many as there are indices",
            size(scales.dimension)
        )));
    }
    let most = scales.largest * scales.dimension.sqrt();
    if given.contains(&"norm")
        && given.contains(&"largest")
        && (scales.norm < scales.largest || scales.norm > most * (1.0 + 1e-9))
    {
        return Err(Failure::user(format!(
            "--scales has norm={} and largest={}: with {} the norm is from largest to largest·√features, {}",
            size(scales.norm),
            size(scales.largest),
            counted(scales.dimension as u64, "feature"),
            size(most)
        )));
    }
    Ok((scales, given))
}

/// With what one scale says of another that was not given: it bounds it.
fn derived(mut scales: Scales, given: &[&str]) -> Scales {
    match (given.contains(&"norm"), given.contains(&"largest")) {
        (true, false) => scales.largest = scales.norm,
        (false, _) => scales.norm = scales.largest * scales.dimension.sqrt(),
        (true, true) => {}
    }
    scales
}

/// The given scales that the promise does not depend on, neither by themselves nor by what they say of others.
fn idle<'a>(given: &[&'a str], scales: &Scales, plan: impl Fn(&Scales) -> Option<f64>) -> Vec<&'a str> {
    let bound = plan(scales);
    let changes = |key: &str| {
        [0.5, 2.0, 4.0].into_iter().any(|factor| {
            let mut other = *scales;
            if let Some(value) = scale(&mut other, key) {
                *value *= factor;
            }
            plan(&derived(other, given)) != bound
        })
    };
    given.iter().copied().filter(|key| bound.is_some() && !changes(key)).collect()
}
