//! `onward list`.

use std::fmt::Write;
use std::process::ExitCode;

use onward::parameter::ParameterDescriptor;
use onward_engine::Registry;

use crate::args::Listed;
use crate::failure::Failure;
use crate::outputs;

/// As the library describes them; here the radius of a run is an option.
fn parameters(text: &mut String, parameters: &[ParameterDescriptor]) -> std::fmt::Result {
    let mut lines = parameters.iter().map(|it| it.to_string().replace("the radius of the run", "--radius"));
    lines.try_for_each(|lines| writeln!(text, "    {}", lines.replace('\n', "\n    ")))
}

/// Prints what can be asked for by name.
pub(super) fn run(what: Listed) -> Result<ExitCode, Failure> {
    let (registry, mut text) = (Registry::default(), String::new());
    // Writing to a String cannot fail.
    let _ = match what {
        Listed::Learners => registry.learners().iter().try_for_each(|learner| {
            writeln!(text, "{}\n    {}", learner.name, learner.summary)?;
            parameters(&mut text, learner.parameters)
        }),
        Listed::Losses => registry.losses().iter().try_for_each(|loss| {
            writeln!(text, "{}\n    {}", loss.name, loss.summary)?;
            parameters(&mut text, loss.parameters)
        }),
        Listed::Formats => {
            registry.formats().summaries().try_for_each(|(name, summary)| writeln!(text, "{name}\n    {summary}"))
        }
    };
    outputs::print(text.as_bytes())
}
