//! The predictions file: CSV with a column for each id, the prediction (a
//! probability for the logistic loss, a rate for Poisson, else the score), and
//! the label where there is one (−1 or 1 for classes).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use onward::Prediction;
use onward::loss::Link;
use onward_data::AtomicFile;

use crate::failure::Failure;
use crate::outputs::Outputs;

/// Writes predictions as they are made; the file appears when all are.
pub(crate) struct PredictionWriter {
    path: PathBuf,
    file: AtomicFile,
    link: Link,
    numbers: zmij::Buffer,
}

impl PredictionWriter {
    pub(crate) fn create(path: &Path, ids: &[String], link: Link) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::writing(path, &error);
        let mut file = AtomicFile::create(path).map_err(failed)?;
        let mut header = Vec::new();
        for id in ids {
            cell(&mut header, id.as_bytes());
            header.push(b',');
        }
        header.extend_from_slice(b"prediction,label\n");
        file.write_all(&header).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file, link, numbers: zmij::Buffer::new() })
    }

    pub(crate) fn write<'a>(
        &mut self,
        ids: impl Iterator<Item = &'a [u8]>,
        prediction: Prediction,
        label: Option<f64>,
    ) -> Result<(), Failure> {
        let response = prediction.response(self.link);
        let result = self.write_row(ids, response, label);
        result.map_err(|error| Failure::writing(&self.path, &error))
    }

    fn write_row<'a>(
        &mut self,
        ids: impl Iterator<Item = &'a [u8]>,
        response: f64,
        label: Option<f64>,
    ) -> io::Result<()> {
        let mut escaped = Vec::new();
        for id in ids {
            escaped.clear();
            cell(&mut escaped, id);
            self.file.write_all(&escaped)?;
            self.file.write_all(b",")?;
        }
        self.file.write_all(self.numbers.format(response).as_bytes())?;
        self.file.write_all(b",")?;
        if let Some(label) = label {
            self.file.write_all(self.numbers.format(label).as_bytes())?;
        }
        self.file.write_all(b"\n")
    }

    /// Hands on what was written, if somebody may be waiting for it.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        if self.path == Path::new("-") {
            return self.file.flush().map_err(|error| Failure::writing(&self.path, &error));
        }
        Ok(())
    }

    /// Leaves the file to what the run writes at its end.
    pub(crate) fn finish(self, outputs: &mut Outputs) -> Result<(), Failure> {
        outputs.add(&self.path, self.file)
    }
}

/// A cell, quoted where CSV needs it.
fn cell(out: &mut Vec<u8>, text: &[u8]) {
    if !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
