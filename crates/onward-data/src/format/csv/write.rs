//! Tables as CSV and TSV.

use std::io::Write;

use crate::format::write::{Compression, ConvertError, TableColumn, TableWriter};
use crate::text::numbers::{self, Number};

/// Writes CSV.
pub(super) fn csv(
    columns: Vec<TableColumn>,
    _: Compression,
    out: &mut (dyn Write + Send),
) -> Result<Box<dyn TableWriter + '_>, ConvertError> {
    Ok(Box::new(DelimitedWriter::new(&columns, b',', out)?))
}

/// Writes TSV.
pub(super) fn tsv(
    columns: Vec<TableColumn>,
    _: Compression,
    out: &mut (dyn Write + Send),
) -> Result<Box<dyn TableWriter + '_>, ConvertError> {
    Ok(Box::new(DelimitedWriter::new(&columns, b'\t', out)?))
}

struct DelimitedWriter<'a> {
    delimiter: u8,
    line: Vec<u8>,
    out: &'a mut (dyn Write + Send),
}

impl<'a> DelimitedWriter<'a> {
    fn new(columns: &[TableColumn], delimiter: u8, out: &'a mut (dyn Write + Send)) -> Result<Self, ConvertError> {
        let mut writer = Self { delimiter, line: Vec::new(), out };
        // A header of numbers only would be refused when it is read: such are the columns of --no-header.
        let is_number = |column: &TableColumn| matches!(numbers::parse(column.name.as_bytes()), Number::Finite(_));
        if !columns.iter().all(is_number) {
            writer.record(&mut columns.iter().map(|column| column.name.as_bytes()))?;
        }
        Ok(writer)
    }

    fn record(&mut self, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        self.line.clear();
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                self.line.push(self.delimiter);
            }
            self.cell(cell);
        }
        if self.line.is_empty() {
            // A blank line would count for nothing.
            self.line.extend_from_slice(b"\"\"");
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        Ok(())
    }

    fn cell(&mut self, cell: &[u8]) {
        let needs_quotes = |&byte: &u8| byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r');
        if !cell.iter().any(needs_quotes) {
            return self.line.extend_from_slice(cell);
        }
        self.line.push(b'"');
        for &byte in cell {
            if byte == b'"' {
                self.line.push(b'"');
            }
            self.line.push(byte);
        }
        self.line.push(b'"');
    }
}

impl TableWriter for DelimitedWriter<'_> {
    fn row(&mut self, _number: u64, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        self.record(cells)
    }

    fn finish(self: Box<Self>) -> Result<(), ConvertError> {
        Ok(self.out.flush()?)
    }
}
