//! `onward list`.

use std::fmt::Write;
use std::process::ExitCode;

use onward::loss;
use onward::registry::LEARNERS;

use crate::args::Listed;
use crate::failure::Failure;
use crate::outputs;

/// Prints what can be asked for by name.
pub(super) fn run(what: Listed) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = match what {
        Listed::Learners => learners(&mut text),
        Listed::Losses => loss::NAMES.iter().try_for_each(|(name, summary)| writeln!(text, "{name:40} {summary}")),
        Listed::Formats => FORMATS.iter().try_for_each(|(name, summary)| writeln!(text, "{name:10} {summary}")),
    };
    outputs::print(text.as_bytes())
}

fn learners(text: &mut String) -> std::fmt::Result {
    LEARNERS.iter().try_for_each(|learner| {
        writeln!(text, "{}\n    {}", learner.name, learner.summary)?;
        let mut parameters = learner.parameters.iter();
        parameters.try_for_each(|it| writeln!(text, "    {}={}  {}", it.name, it.default, it.meaning))
    })
}

/// The formats in which examples are read.
const FORMATS: [(&str, &str); 7] = [
    ("csv", "comma-separated values with a header; also separated by ; or |"),
    ("tsv", "tab-separated values"),
    ("jsonl", "one JSON object per line"),
    ("svmlight", "label index:value …, as LIBSVM writes it"),
    ("vw", "Vowpal Wabbit's text"),
    ("parquet", "Apache Parquet"),
    ("arrow", "Apache Arrow IPC, file or stream"),
];
