//! Tables as CSV and TSV.

use crate::format::write::{Compression, ConvertError, NewTable, Out, TableColumn, TableWriter};
use crate::text::numbers;

/// Writes CSV.
pub(super) fn csv(columns: Vec<TableColumn>, _: Compression, out: Out<'_>) -> NewTable<'_> {
    delimited(&columns, b',', out)
}

/// Writes TSV.
pub(super) fn tsv(columns: Vec<TableColumn>, _: Compression, out: Out<'_>) -> NewTable<'_> {
    delimited(&columns, b'\t', out)
}

fn delimited<'a>(columns: &[TableColumn], delimiter: u8, out: Out<'a>) -> NewTable<'a> {
    let mut writer = DelimitedWriter { delimiter, line: Vec::new(), out };
    // Columns without a header are named by numbers, and reading would refuse a header of numbers only.
    if columns.iter().any(|column| numbers::finite(column.name.as_bytes()).is_none()) {
        writer.record(&mut columns.iter().map(|column| column.name.as_bytes()))?;
    }
    Ok(Box::new(writer))
}

struct DelimitedWriter<'a> {
    delimiter: u8,
    line: Vec<u8>,
    out: Out<'a>,
}

impl DelimitedWriter<'_> {
    fn record(&mut self, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        self.line.clear();
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                self.line.push(self.delimiter);
            }
            csv_cell(cell, self.delimiter, &mut self.line);
        }
        if self.line.is_empty() {
            // A blank line would count for nothing.
            self.line.extend_from_slice(b"\"\"");
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        Ok(())
    }
}

/// Adds a cell of CSV to a line, in quotes where it needs them.
pub fn csv_cell(cell: &[u8], delimiter: u8, line: &mut Vec<u8>) {
    let needs_quotes = |&byte: &u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    if !cell.iter().any(needs_quotes) {
        return line.extend_from_slice(cell);
    }
    line.push(b'"');
    for &byte in cell {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

impl TableWriter for DelimitedWriter<'_> {
    fn row(&mut self, _number: u64, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        self.record(cells)
    }
}
