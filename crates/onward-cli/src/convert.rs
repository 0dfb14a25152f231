//! `onward convert`.

use std::process::ExitCode;

use onward_data::{AtomicFile, Compression, ConvertError, Converted, Format, Input, Reader, convert};

use crate::arguments::ConvertOptions;
use crate::failure::Failure;
use crate::summary::counted;
use crate::{inputs, outputs, say};

pub(crate) fn run(options: &ConvertOptions) -> Result<ExitCode, Failure> {
    let format = format(options)?;
    let inputs = [Input::from(options.from.as_str())];
    outputs::check(&[("the output", Some(&options.to))], &inputs)?;
    refuse_what_a_copy_ignores(options, format)?;
    let reading = inputs::with_columns(inputs::converting(&options.input), &options.columns)?;
    // A table keeps its columns; the other formats hold what the learner would see.
    let mut reader =
        if format.is_table() { Reader::open_table(&inputs, reading)? } else { Reader::open(&inputs, reading)? };
    inputs::check_header(options.input.no_header, reader.format())?;
    if !options.voice.quiet {
        reader.notes().iter().for_each(say::line);
        inputs::idle_options(&options.columns, reader.schema(), reader.format()).iter().for_each(say::line);
    }
    let writing = |error: std::io::Error| Failure::writing(&options.to, &error);
    let mut file = AtomicFile::create(&options.to).map_err(writing)?;
    let converted = convert(&mut reader, format, compression(format), &mut file).map_err(|error| match error {
        ConvertError::Write(error) => writing(error),
        ConvertError::Data(error) => error.into(),
        other => Failure::user(other),
    })?;
    file.commit().map_err(writing)?;
    if !options.voice.quiet {
        say_what_was_written(&converted, format);
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a table is copied, nothing is a target, a weight or hashed.
fn refuse_what_a_copy_ignores(options: &ConvertOptions, format: Format) -> Result<(), Failure> {
    let kept = ["--ignore", "--categorical", "--numeric", "--text"];
    let given: Vec<_> = options.columns.given().into_iter().filter(|name| !kept.contains(name)).collect();
    if given.is_empty() || !format.is_table() {
        return Ok(());
    }
    Err(Failure::user(format!(
        "{} says what a learner would see, and {format} keeps the table as it is: leave it out, or convert to \
         svmlight, vw or arrow",
        given.join(" and ")
    )))
}

/// Parquet is for keeping, Arrow for reading fast.
fn compression(format: Format) -> Compression {
    if format == Format::Parquet { Compression::Zstd } else { Compression::None }
}

/// The format to write: as asked, or as the ending of the name says.
fn format(options: &ConvertOptions) -> Result<Format, Failure> {
    let named = || Format::from_name(&options.to.display().to_string());
    options.to_format.or_else(named).ok_or_else(|| {
        let name = options.to.display();
        Failure::user(format!("the ending of {name} does not say the format: add --to-format, such as --to-format vw"))
    })
}

fn say_what_was_written(converted: &Converted, format: Format) {
    let what = if format.is_table() { "row" } else { "example" };
    say::line(format_args!("{} written as {format}", counted(converted.rows, what)));
    if converted.skipped > 0 {
        say::line(format_args!("{} skipped", counted(converted.skipped, "unreadable record")));
    }
    if format == Format::Svmlight && converted.bits > onward_data::Options::default().bits {
        say::line(format_args!("to learn from it: --bits {}", converted.bits));
    }
}
