//! `onward convert`.

use std::io::{self, Write};
use std::process::ExitCode;

use onward_data::{AtomicFile, Compression, ConvertError, Converted, Format, Formats, Input, Message, Reader, convert};

use crate::args::ConvertArguments;
use crate::failure::Failure;
use crate::outputs;
use crate::render::text::counted;
use crate::signals::Signals;
use crate::stderr;
use crate::watch::idle_options;

/// Writes what is read in another format.
pub(super) fn run(arguments: &ConvertArguments) -> Result<ExitCode, Failure> {
    let format = format(arguments)?;
    let inputs = [Input::from(arguments.from.as_str())];
    outputs::check(&[("the output", Some(&arguments.to))], &inputs)?;
    let is_table = Formats::default().writes_tables(&format);
    let ignored = arguments.columns.for_learners();
    if is_table && !ignored.is_empty() {
        return Err(Failure::user(format!(
            "{} cannot be used here, because {format} keeps the table as it is; convert to svmlight, vw or arrow for encoded examples",
            ignored.join(" and ")
        )));
    }
    // Before the input is opened: a pipe may take its time.
    let signals = Signals::catch().map_err(Failure::user)?;
    let reading = arguments.columns.reading(arguments.format.reading());
    // A table keeps its columns; the other formats hold what the learner would see.
    let mut reader = if is_table { Reader::open_table(&inputs, reading)? } else { Reader::open(&inputs, reading)? };
    if !arguments.quiet {
        reader.notes().iter().map(Message::command_line).for_each(stderr::line);
        idle_options(&arguments.format, None, Some(&arguments.columns), &reader).for_each(stderr::line);
    }
    let writing = |error: io::Error| Failure::writing(&arguments.to, error);
    // From now on there is a file to be cleaned up.
    signals.opened();
    let file = AtomicFile::create(&arguments.to).map_err(writing)?;
    // Parquet is for keeping, Arrow for reading fast.
    let compression = if format == Format::PARQUET { Compression::Zstd } else { Compression::None };
    let mut out = UntilSignal { file, signals: &signals };
    let converted = match convert(&mut reader, &format, compression, &mut out) {
        Err(_) if signals.received() => return Ok(signals.exit_code()),
        Err(ConvertError::Write(error)) => return Err(writing(error)),
        Err(ConvertError::Data(error)) => return Err(error.into()),
        Err(other) => return Err(Failure::user(other)),
        Ok(converted) => converted,
    };
    out.file.commit().map_err(writing)?;
    if !arguments.quiet {
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

/// The format to write: as asked, or as the ending of the name says.
fn format(arguments: &ConvertArguments) -> Result<Format, Failure> {
    let name = arguments.to.display();
    arguments.to_format.clone().or_else(|| Formats::default().of_file(&name.to_string())).ok_or_else(|| {
        Failure::user(format!(
            "the extension of {name} does not determine the format; add --to-format, such as \
                               --to-format vw"
        ))
    })
}

fn say_what_was_written(converted: &Converted, format: &Format, is_table: bool) {
    let what = if is_table { "row" } else { "example" };
    stderr::line(format_args!("{} written as {format}", counted(converted.rows, what)));
    if converted.skipped > 0 {
        stderr::line(format_args!("{} skipped", counted(converted.skipped, "unreadable record")));
    }
    if *format == Format::SVMLIGHT && converted.bits > onward_data::Options::default().bits {
        stderr::line(format_args!("to learn from it: --bits {}", converted.bits));
    }
}
