//! The commands that print what they are asked for: `onward inspect`, `list`, `plan` and `completions`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::CommandFactory;
use onward::parameter::ParameterDescriptor;
use onward_engine::{Model, Plan, Registry, to_json};

use crate::args::{Arguments, InspectArguments, Listed, PlanArguments};
use crate::failure::Failure;
use crate::outputs::print;
use crate::render::text;

/// Prints what a model holds.
pub(super) fn inspect(arguments: &InspectArguments) -> Result<ExitCode, Failure> {
    let model = Model::load(&arguments.model)?;
    let found = match arguments.averaged {
        true => model.inspect_averaged(arguments.top)?,
        false => model.inspect(arguments.top),
    };
    let text = match arguments.json {
        true => to_json(&found).map_err(Failure::user)?,
        false => text::inspection::text(&model, &found),
    };
    print(text.as_bytes())
}

/// Prints what can be asked for by name.
pub(super) fn list(what: Listed) -> Result<ExitCode, Failure> {
    let (registry, mut text) = (Registry::default(), String::new());
    let mut entry = |name: &str, summary: &str, parameters: &[ParameterDescriptor]| {
        writeln!(text, "{name}\n    {summary}")?;
        // As the library describes them; here the radius of a run is an option.
        let mut lines = parameters.iter().map(|it| it.to_string().replace("the radius of the run", "--radius"));
        lines.try_for_each(|lines| writeln!(text, "    {}", lines.replace('\n', "\n    ")))
    };
    // Writing to a String cannot fail.
    let _ = match what {
        Listed::Learners => registry.learners().iter().try_for_each(|it| entry(it.name, it.summary, it.parameters)),
        Listed::Losses => {
            let classes = registry.class_losses().iter().map(|it| (it.name, it.summary, it.parameters));
            let mut all = registry.losses().iter().map(|it| (it.name, it.summary, it.parameters)).chain(classes);
            all.try_for_each(|(name, summary, parameters)| entry(name, summary, parameters))
        }
        Listed::Formats => registry.formats().summaries().try_for_each(|(name, summary)| entry(name, summary, &[])),
    };
    print(text.as_bytes())
}

/// Prints what the theory promises for a stream before there is one, and for some shorter and longer ones.
pub(super) fn plan(arguments: &PlanArguments) -> Result<ExitCode, Failure> {
    let plan = Plan::new(&arguments.model_options(), arguments.task.into())?;
    let bounds = arguments.bounds().map_err(Failure::user)?;
    print(text::plan::text(&plan, &bounds, arguments.has_bias())?.as_bytes())
}

/// Prints the completion script of a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "onward", &mut script);
    print(&script)
}
