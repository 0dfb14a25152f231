//! `onward convert`.

use std::io::{self, Write};
use std::process::ExitCode;

use onward_data::{AtomicFile, Compression, ConvertError, Converted, Format, Formats, Input, Reader, convert};

use crate::arguments::ConvertOptions;
use crate::failure::Failure;
use crate::signals::Signals;
use crate::summary::counted;
use crate::{inputs, outputs, say};

pub(crate) fn run(options: &ConvertOptions) -> Result<ExitCode, Failure> {
    let format = format(options)?;
    let inputs = [Input::from(options.from.as_str())];
    outputs::check(&[("the output", Some(&options.to))], &inputs)?;
    let is_table = Formats::default().writes_tables(&format);
    refuse_what_a_copy_ignores(options, &format, is_table)?;
    // Before the input is opened: a pipe may take its time.
    let signals = Signals::catch().map_err(Failure::user)?;
    let reading = inputs::with_columns(inputs::converting(&options.input), &options.columns)?;
    // A table keeps its columns; the other formats hold what the learner would see.
    let mut reader = if is_table { Reader::open_table(&inputs, reading)? } else { Reader::open(&inputs, reading)? };
    inputs::check_header(options.input.no_header, reader.format())?;
    if !options.voice.quiet {
        reader.notes().iter().map(onward_data::Message::command_line).for_each(say::line);
        inputs::idle_options(&options.columns, reader.schema(), reader.format()).iter().for_each(say::line);
    }
    let writing = |error: io::Error| Failure::writing(&options.to, &error);
    // From now on there is a file to be cleaned up.
    signals.opened();
    let file = AtomicFile::create(&options.to).map_err(writing)?;
    let mut out = UntilSignal { file, signals: &signals };
    let converted = match convert(&mut reader, &format, compression(&format), &mut out) {
        Err(_) if signals.received() => return Ok(signals.exit_code()),
        Err(ConvertError::Write(error)) => return Err(writing(error)),
        Err(ConvertError::Data(error)) => return Err(error.into()),
        Err(other) => return Err(Failure::user(other)),
        Ok(converted) => converted,
    };
    out.file.commit().map_err(writing)?;
    if !options.voice.quiet {
        say_what_was_written(&converted, &format, is_table);
    }
    Ok(ExitCode::SUCCESS)
}

/// A file that cannot be written any more when a signal has come: half of it is of no use.
struct UntilSignal<'a> {
    file: AtomicFile,
    signals: &'a Signals,
}

impl Write for UntilSignal<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.signals.received() {
            return Err(io::Error::other("a signal came"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Where a table is copied, nothing is a target, a weight or hashed.
fn refuse_what_a_copy_ignores(options: &ConvertOptions, format: &Format, is_table: bool) -> Result<(), Failure> {
    let kept = ["--ignore", "--categorical", "--numeric", "--text"];
    let given: Vec<_> = options.columns.given().into_iter().filter(|name| !kept.contains(name)).collect();
    if given.is_empty() || !is_table {
        return Ok(());
    }
    Err(Failure::user(format!(
        "{} says what a learner would see, and {format} keeps the table as it is: leave it out, or convert to \
         svmlight, vw or arrow",
        given.join(" and ")
    )))
}

/// Parquet is for keeping, Arrow for reading fast.
fn compression(format: &Format) -> Compression {
    if *format == Format::PARQUET { Compression::Zstd } else { Compression::None }
}

/// The format to write: as asked, or as the ending of the name says.
fn format(options: &ConvertOptions) -> Result<Format, Failure> {
    let named = || Formats::default().of_file(&options.to.display().to_string());
    options.to_format.clone().or_else(named).ok_or_else(|| {
        let name = options.to.display();
        Failure::user(format!("the ending of {name} does not say the format: add --to-format, such as --to-format vw"))
    })
}

fn say_what_was_written(converted: &Converted, format: &Format, is_table: bool) {
    let what = if is_table { "row" } else { "example" };
    say::line(format_args!("{} written as {format}", counted(converted.rows, what)));
    if converted.skipped > 0 {
        say::line(format_args!("{} skipped", counted(converted.skipped, "unreadable record")));
    }
    if *format == Format::SVMLIGHT && converted.bits > onward_data::Options::default().bits {
        say::line(format_args!("to learn from it: --bits {}", converted.bits));
    }
}
