//! From arguments to the options of a reader.

use onward::loss::Task;
use onward_data::{Format, Formats, Input, Interaction, Kind, Layout, OnError, Options, Reader, Role, Schema};

use crate::arguments::{ColumnOptions, ConvertInputOptions, InputOptions, OnErrorOption, TaskOption};
use crate::failure::Failure;
use crate::say;

/// The inputs; standard input if none is named.
pub(crate) fn inputs(names: &[String]) -> Result<Vec<Input>, Failure> {
    if names.is_empty() {
        use std::io::IsTerminal;
        if std::io::stdin().is_terminal() {
            return Err(Failure::user(
                "no input is named and nothing is piped in: name a file, or `-` to type examples",
            ));
        }
        return Ok(vec![Input::Standard]);
    }
    let standard = names.iter().filter(|name| *name == "-").count();
    if standard > 1 {
        return Err(Failure::user("standard input (`-`) is named twice: it can be read once"));
    }
    Ok(names.iter().map(|name| Input::from(name.as_str())).collect())
}

/// How many threads may work.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from).min(16))
}

/// The options that say how to read.
pub(crate) fn reading(options: &InputOptions) -> Options {
    Options {
        format: options.format.clone(),
        header: !options.no_header,
        on_error: on_error(options.on_error),
        record_limit: options.record_limit.unwrap_or(Options::default().record_limit),
        threads: threads(options.threads),
        cache: options.cache.clone(),
        ..Options::default()
    }
}

/// Says why no cache was made, if one was to be and reading is over.
pub(crate) fn say_cache_loss(options: &InputOptions, reader: &Reader, quiet: bool) {
    if let (Some(path), Some(reason), false) = (&options.cache, reader.cache_loss(), quiet) {
        say::line(format_args!("no cache is kept in {}: {reason}", path.display()));
    }
}

/// The same for a conversion.
pub(crate) fn converting(options: &ConvertInputOptions) -> Options {
    Options {
        format: options.format.clone(),
        header: !options.no_header,
        on_error: on_error(options.on_error),
        threads: threads(None),
        ..Options::default()
    }
}

/// Refuses options that say nothing about this format: they would be ignored.
pub(crate) fn check_format(options: &InputOptions, format: &Format) -> Result<(), Failure> {
    check_header(options.no_header, format)?;
    if options.record_limit.is_some() && !Formats::default().is_text(format) {
        return Err(Failure::user(format!("--record-limit is for text formats, and this is {format}: leave it out")));
    }
    Ok(())
}

/// Refuses `--no-header` where there are no headers.
pub(crate) fn check_header(no_header: bool, format: &Format) -> Result<(), Failure> {
    if no_header && !Formats::default().has_header(format) {
        return Err(Failure::user(format!("--no-header is for csv and tsv, and this is {format}: leave it out")));
    }
    Ok(())
}

/// Says which of the options about columns change nothing.
pub(crate) fn idle_options(columns: &ColumnOptions, schema: &Schema, format: &Format) -> Vec<&'static str> {
    let kinds = || {
        schema.columns.iter().filter_map(|column| match &column.role {
            Role::Feature(kind) => Some(kind),
            _ => None,
        })
    };
    let has_text = kinds().any(|kind| *kind == Kind::Text);
    let is_hashed = |kind: &Kind| matches!(kind, Kind::Categorical { .. } | Kind::Text | Kind::Timestamp { .. });
    // A key that comes later in JSON lines is hashed, whatever the columns are.
    let hashes = schema.layout != Layout::Table
        || *format == Format::JSONL
        || kinds().any(is_hashed)
        || !schema.interactions.is_empty();
    let mut notes = Vec::new();
    if columns.ngrams.is_some() && !has_text {
        notes.push("--ngrams changes nothing: no column is text (name such columns in --text)");
    }
    if columns.bits.is_some() && !hashes {
        notes.push("--bits changes nothing: no column is hashed, as categories, text, dates and interactions are");
    }
    notes
}

fn on_error(option: OnErrorOption) -> OnError {
    match option {
        OnErrorOption::Stop => OnError::Stop,
        OnErrorOption::Skip => OnError::Skip,
    }
}

/// Adds what the columns are.
pub(crate) fn with_columns(base: Options, columns: &ColumnOptions) -> Result<Options, Failure> {
    let target = match columns.target.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [first, second, ..] => {
            return Err(Failure::user(format!(
                "--target is given twice ('{first}' and '{second}'): a learner predicts one thing"
            )));
        }
    };
    let mut interactions = Vec::new();
    for list in &columns.interactions {
        interactions
            .extend(Interaction::list(list).map_err(|error| Failure::user(format!("--interactions: {error}")))?);
    }
    let default = Options::default();
    Ok(Options {
        target,
        interactions,
        task: columns.task.map(|task| match task {
            TaskOption::Binary => Task::Binary,
            TaskOption::Regression => Task::Regression,
        }),
        ignore: columns.ignore.clone(),
        categorical: columns.categorical.clone(),
        numeric: columns.numeric.clone(),
        text: columns.text.clone(),
        weight: columns.weight.clone(),
        ids: columns.id.clone(),
        bits: columns.bits.unwrap_or(default.bits),
        ngrams: columns.ngrams.unwrap_or(default.ngrams),
        ..base
    })
}
