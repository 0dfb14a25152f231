//! Examples as svmlight text: `label index:value …`.
//!
//! The bias is left out, being added when the text is read, and the indices of the others
//! are one less, as [`crate::format::svmlight`] reads them. They stay in the order of the example, so
//! that sums over them give the same bits. Zeros are left out, as the reader would.

use std::io::Write;

use onward::Example;

use crate::encode::BIAS;
use crate::format::write::{Compression, ConvertError, Converted, ExampleWriter, NewExamples, Out, cannot};
use crate::schema::Schema;
use crate::text::numbers::print::{shortest, shortest_single};

/// Writes svmlight.
pub(super) fn svmlight<'a>(_: &Schema, _: Compression, out: Out<'a>) -> NewExamples<'a> {
    Ok(Box::new(SvmlightWriter { out, line: Vec::new(), largest: 0 }))
}

struct SvmlightWriter<'a> {
    out: Out<'a>,
    line: Vec<u8>,
    largest: u32,
}

impl ExampleWriter for SvmlightWriter<'_> {
    fn row(&mut self, number: u64, example: Example<'_>, _ids: &[&[u8]]) -> Result<(), ConvertError> {
        if example.weight != 1.0 {
            let found = format!("has weight {}, and svmlight has no weights", example.weight);
            return Err(cannot(number, &found, "convert to vw or arrow"));
        }
        if example.features.offset() != 0.0 {
            let found = format!("has the offset {}, and svmlight has none", example.features.offset());
            return Err(cannot(number, &found, "convert to vw or arrow"));
        }
        let mut features = example.features.iter();
        if features.next() != Some((BIAS, 1.0)) {
            let found = "does not begin with the bias (index 0, value 1), which reading svmlight adds";
            return Err(cannot(number, found, "convert to arrow"));
        }
        self.line.clear();
        match example.label {
            Some(label) => shortest(label, &mut self.line),
            None => self.line.push(b'?'),
        }
        for (index, value) in features {
            if value != 0.0 {
                self.largest = self.largest.max(index - 1);
                // Writing to a Vec cannot fail.
                let _ = write!(self.line, " {}:", index - 1);
                shortest_single(value, &mut self.line);
            }
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        Ok(())
    }

    fn finish(self: Box<Self>, converted: &mut Converted) -> Result<(), ConvertError> {
        converted.bits = u32::BITS - self.largest.leading_zeros();
        Ok(())
    }
}
