//! `onward list`.

use std::fmt::Write;
use std::process::ExitCode;

use onward_engine::Registry;

use crate::args::Listed;
use crate::failure::Failure;
use crate::outputs;

/// Prints what can be asked for by name.
pub(super) fn run(what: Listed) -> Result<ExitCode, Failure> {
    let (registry, mut text) = (Registry::default(), String::new());
    // Writing to a String cannot fail.
    let _ = match what {
        Listed::Learners => registry.learners().iter().try_for_each(|learner| {
            writeln!(text, "{}\n    {}", learner.name, learner.summary)?;
            let mut parameters = learner.parameters.iter();
            parameters.try_for_each(|it| writeln!(text, "    {}={}  {}", it.name, it.default, it.meaning))
        }),
        Listed::Losses => registry.losses().iter().try_for_each(|it| writeln!(text, "{:40} {}", it.name, it.summary)),
        Listed::Formats => registry.formats().names().try_for_each(|name| writeln!(text, "{name}")),
    };
    outputs::print(text.as_bytes())
}
