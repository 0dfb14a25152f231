//! Tables as JSON lines.

use std::io::Write;

use crate::format::write::{Compression, ConvertError, NewTable, Out, TableColumn, TableWriter};
use crate::schema::ColumnType;
use crate::text::numbers::print::shortest;

/// Writes JSON lines.
pub(super) fn json_lines(columns: Vec<TableColumn>, _: Compression, out: Out<'_>) -> NewTable<'_> {
    let key = |column: TableColumn| {
        let mut key = Vec::new();
        string(&column.name, &mut key)?;
        key.push(b':');
        Ok((column, key))
    };
    let columns = columns.into_iter().map(key).collect::<Result<_, ConvertError>>()?;
    Ok(Box::new(JsonWriter { columns, line: Vec::new(), out }))
}

struct JsonWriter<'a> {
    /// With the name as it is written: in quotes, with a colon.
    columns: Vec<(TableColumn, Vec<u8>)>,
    line: Vec<u8>,
    out: Out<'a>,
}

fn string(text: &str, out: &mut Vec<u8>) -> Result<(), ConvertError> {
    serde_json::to_writer(out, text).map_err(|error| ConvertError::Write(error.into()))
}

impl TableWriter for JsonWriter<'_> {
    fn row(&mut self, number: u64, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        let Self { columns, line, out } = self;
        line.clear();
        for ((column, key), cell) in columns.iter().zip(cells) {
            line.push(if line.is_empty() { b'{' } else { b',' });
            line.extend_from_slice(key);
            json(column, number, cell, line)?;
        }
        line.extend_from_slice(b"}\n");
        out.write_all(line)?;
        Ok(())
    }
}

/// Writes a cell as a value of JSON.
fn json(column: &TableColumn, number: u64, cell: &[u8], line: &mut Vec<u8>) -> Result<(), ConvertError> {
    match column.holds {
        ColumnType::Text if cell.is_empty() => line.extend_from_slice(b"null"),
        ColumnType::Text => string(&String::from_utf8_lossy(cell), line)?,
        ColumnType::Boolean => line.extend_from_slice(match column.truth(number, cell)? {
            Some(true) => b"true",
            Some(false) => b"false",
            None => b"null",
        }),
        ColumnType::Whole | ColumnType::Number => match column.numeric(number, cell)? {
            None => line.extend_from_slice(b"null"),
            Some((text, _)) if is_json(text) => line.extend_from_slice(text),
            Some((_, value)) => shortest(value, line),
        },
    }
    Ok(())
}

/// Whether a number is written as JSON has it: no plus, digits on both sides of a point.
fn is_json(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let point = text.iter().position(|&byte| byte == b'.');
    is_digit(unsigned.first()) && point.is_none_or(|at| is_digit(text.get(at + 1)))
}
