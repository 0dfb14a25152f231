//! `onward convert`.

use std::process::ExitCode;

use crate::arguments::ConvertOptions;
use crate::failure::Failure;
use crate::inputs;

pub(crate) fn run(options: &ConvertOptions) -> Result<ExitCode, Failure> {
    let _ = (&options.from, &options.to, options.to_format, options.voice.quiet);
    let _ = inputs::with_columns(inputs::converting(&options.input), &options.columns)?;
    Err(Failure::user("not yet"))
}
