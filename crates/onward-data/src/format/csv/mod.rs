//! CSV and TSV as RFC 4180 has them, read leniently: cells may be quoted, quotes
//! in them doubled, line ends inside quotes are text, `\n` and `\r\n` both end
//! records, blank lines count for nothing. A quote that does not begin a cell is
//! text. Every record has as many cells as the header.

pub(crate) mod cells;
mod fast_path;
mod write;

use std::ops::Range;

use super::records::{RecordText, each_record};
use super::write::Writing;
use super::{FirstLines, Head, Recognition, TextFormat};
use crate::encode::{ParsedBatch, RowEncoder, Rules};
use crate::error::{DataError, Result, quoted};
use crate::schema::sample::{ColumnSample, FirstRows, SAMPLE_ROWS, TableSample};
use crate::schema::{CellValue, Layout};
use crate::source::{Boundaries, Chunk, ChunkContent, Parser, too_long};
use crate::text::lines::count_lines;
use crate::text::window::Window;
use cells::{CellReader, check_header, guess_delimiter, header, numbered, refuse_numbers, without_blank_lines};
use fast_path::{FastPath, bounds, find_plain_lines};
pub use write::csv_cell;

/// Tables of cells between delimiters.
pub(super) struct Delimited {
    name: &'static str,
    summary: &'static str,
    endings: &'static [&'static str],
    /// What separates cells, if it is not to be guessed from the first line.
    delimiter: Option<u8>,
}

impl Delimited {
    /// In a CSV that may be another mark than a comma.
    pub(super) const CSV: Self = Self {
        name: "csv",
        summary: "comma-separated values; also with ; or | between them",
        endings: &["csv"],
        delimiter: None,
    };
    pub(super) const TSV: Self =
        Self { name: "tsv", summary: "tab-separated values", endings: &["tsv", "tab"], delimiter: Some(b'\t') };
}

impl TextFormat for Delimited {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> &str {
        self.summary
    }

    fn endings(&self) -> &[&str] {
        self.endings
    }

    fn layout(&self) -> Layout {
        Layout::Table
    }

    fn has_header(&self) -> bool {
        true
    }

    fn recognise(&self, head: &Head<'_>) -> Recognition {
        let count = |mark: u8| head.line().iter().filter(|&&byte| byte == mark).count();
        match self.delimiter {
            Some(delimiter) if count(delimiter) <= count(b',') => Recognition::No,
            _ => Recognition::IfNoOther,
        }
    }

    fn boundaries(&self, head: &[u8]) -> Boundaries {
        Boundaries::Quoted { delimiter: self.delimiter.unwrap_or_else(|| guess_delimiter(head)) }
    }

    fn described(&self, boundaries: Boundaries) -> String {
        match boundaries {
            Boundaries::Quoted { delimiter } if self.delimiter.is_none() && delimiter != b',' => {
                format!("{}, separated by {}", self.name, quoted(&[delimiter]))
            }
            _ => self.name.to_owned(),
        }
    }

    fn sample(&self, first: &FirstLines<'_>) -> Result<FirstRows> {
        sample(first).map(FirstRows::Table)
    }

    fn parser(&self, boundaries: Boundaries, rules: &Rules) -> Box<dyn Parser> {
        let delimiter = delimiter_of(boundaries);
        let (encoder, reader) = (RowEncoder::new(rules.clone(), "an empty cell or NA"), CellReader::new(delimiter));
        Box::new(CsvParser { delimiter, encoder, reader, fast: FastPath::default() })
    }

    fn writing(&self) -> Writing {
        Writing::Table(match self.delimiter {
            None => write::csv,
            Some(_) => write::tsv,
        })
    }
}

fn delimiter_of(boundaries: Boundaries) -> u8 {
    match boundaries {
        Boundaries::Quoted { delimiter } => delimiter,
        Boundaries::Lines => b',',
    }
}

/// From how many bytes on a second thread helps to judge the columns.
const WORTH_A_THREAD: usize = 128 << 10;

/// What the first records are; there may be none.
fn sample(first: &FirstLines<'_>) -> Result<TableSample> {
    let boundaries = first.boundaries;
    let delimiter = delimiter_of(boundaries);
    let text = without_blank_lines(first.bytes);
    let line = first.line + count_lines(&first.bytes[..first.bytes.len() - text.len()]);
    let end = boundaries.first(text).unwrap_or(text.len());
    if end > first.record_limit {
        return Err(too_long(first.record_limit).line(line));
    }
    let names = header(&text[..end], delimiter).map_err(|error| error.line(line))?;
    let (names, rows) = if first.has_header {
        check_header(&names).and_then(|()| refuse_numbers(&names)).map_err(|error| error.line(line))?;
        (names, &text[end..])
    } else {
        (numbered(names.len()), text)
    };
    // The last record may go on beyond what was read.
    let whole = if first.is_all { rows } else { &rows[..boundaries.last(rows)] };
    let first_line = line + count_lines(&text[..text.len() - rows.len()]);
    let columns = names.len();
    let mut sample = TableSample::with_columns(names, first_line);
    let text = RecordText { bytes: whole, first_line, boundaries, record_limit: first.record_limit };
    // Some of the columns, from this one on.
    let judge = |seen: &mut [ColumnSample], from: usize| {
        each_sampled((&text, delimiter), columns, from..from + seen.len(), |column, cell| match delimiter {
            b',' => seen[column - from].text(cell),
            _ => seen[column - from].text_with_commas(cell),
        })
    };
    (sample.rows, sample.fault) = if first.threads > 1 && whole.len() >= WORTH_A_THREAD {
        // Nothing else can begin before the columns are judged.
        let (low, high) = sample.seen.split_at_mut(columns / 2);
        std::thread::scope(|scope| {
            scope.spawn(|| judge(high, columns / 2));
            judge(low, 0)
        })
    } else {
        judge(&mut sample.seen, 0)
    };
    Ok(sample)
}

/// Calls `cell` with the cells of some of the columns of the first records that can be read and are not too long. Gives how many
/// there are, and what is wrong with the first that cannot be read, with its line.
fn each_sampled(
    (text, delimiter): (&RecordText<'_>, u8),
    columns: usize,
    some: Range<usize>,
    mut cell: impl FnMut(usize, &[u8]),
) -> (usize, Option<DataError>) {
    let bytes = text.bytes;
    let mut reader = CellReader::new(delimiter);
    let mut window = Window::default();
    let mut sampled = (0, None);
    let read = |(rows, _): &mut (usize, Option<DataError>), at: usize| {
        if *rows == SAMPLE_ROWS {
            return Ok(bytes.len());
        }
        find_plain_lines(&mut window, bytes, at, delimiter, columns, |is_plain| is_plain);
        let next = match window.current() {
            Some((line, true)) => {
                let positions = window.index.positions(line);
                for column in some.clone() {
                    let (start, end) = bounds(line, positions, column);
                    cell(column, &bytes[start as usize..end as usize]);
                }
                line.end as usize + 1
            }
            _ => {
                // A record counts as a whole or not at all.
                reader.each_cell(bytes, at, columns, |_, _| Ok(()))?;
                reader.each_cell(bytes, at, columns, |column, found| {
                    if some.contains(&column) {
                        cell(column, found);
                    }
                    Ok(())
                })?
            }
        };
        *rows += 1;
        Ok(next)
    };
    let refuse = |(_, fault): &mut (usize, Option<DataError>), error| {
        fault.get_or_insert(error);
        Ok(())
    };
    // Nothing that is refused stops it.
    let _ = each_record(text, &mut sampled, read, refuse);
    sampled
}

/// Parses chunks of CSV or TSV.
struct CsvParser {
    delimiter: u8,
    encoder: RowEncoder,
    reader: CellReader,
    fast: FastPath,
}

impl CsvParser {
    /// Parses the record that begins at a position, and gives where the next begins.
    fn record(&mut self, columns: &[Option<usize>], bytes: &[u8], at: usize, out: &mut ParsedBatch) -> Result<usize> {
        let Self { delimiter, encoder, reader, fast } = self;
        encoder.begin(out);
        if fast.go_to(encoder, bytes, at, *delimiter) {
            return fast.encode(encoder, bytes, out);
        }
        let next = reader.each_cell(bytes, at, columns.len(), |number, cell| match columns.get(number) {
            Some(&Some(column)) => encoder.cell(column, CellValue::Text(cell), out),
            _ => Ok(()),
        })?;
        encoder.end(out)?;
        Ok(next)
    }
}

impl Parser for CsvParser {
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
        let &ChunkContent::Text { ref bytes, first_line, record_limit } = &chunk.content else { return Ok(()) };
        out.bytes += bytes.len() as u64;
        out.id_columns = self.encoder.id_columns.len();
        let skips_errors = self.encoder.rules.skip_errors;
        let boundaries = Boundaries::Quoted { delimiter: self.delimiter };
        self.fast.begin(&self.encoder, &chunk.places);
        let read = |out: &mut ParsedBatch, at| self.record(&chunk.places, bytes, at, out);
        let refuse = |out: &mut ParsedBatch, error: DataError| out.refuse(error.input(&chunk.input), skips_errors);
        each_record(&RecordText { bytes, first_line, boundaries, record_limit }, out, read, refuse)
    }
}
