//! Where predictions go as they are made.

use std::io::{self, Write};
use std::ops::Range;

use onward::loss::TaskLoss;
use onward_data::{ParsedBatch, csv_cell};

/// Takes the predictions of a run, batch by batch in order. They may come from a thread of the engine.
pub trait PredictionSink: Send {
    /// Takes the scores of these rows of a batch, row after row, as many for each.
    ///
    /// # Errors
    /// When they cannot be kept or handed on: the run ends then.
    fn write(&mut self, parsed: &ParsedBatch, rows: Range<usize>, scores: &[f64]) -> io::Result<()>;
}

/// Keeps the scores in memory, row after row. While a model of classes learns, later rows have more.
impl PredictionSink for Vec<f64> {
    fn write(&mut self, _: &ParsedBatch, _: Range<usize>, scores: &[f64]) -> io::Result<()> {
        self.extend_from_slice(scores);
        Ok(())
    }
}

/// Writes predictions as CSV: a column for each id, the prediction (a probability for the logistic loss, a rate
/// for Poisson, the number of a class, else the score), for several classes its probability, and the label where there
/// is one (−1 or 1 for two classes).
pub struct PredictionCsv<W> {
    out: W,
    loss: TaskLoss,
    /// Whether each batch is handed on at once.
    is_live: bool,
    numbers: zmij::Buffer,
    line: Vec<u8>,
}

impl<W: Write> PredictionCsv<W> {
    /// Writes the header. `is_live`: a reader waits at the other end, and each batch is flushed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(mut out: W, id_names: &[String], loss: &TaskLoss, is_live: bool) -> io::Result<Self> {
        let mut line = Vec::new();
        push_cells(id_names.iter().map(String::as_bytes), &mut line);
        let columns = if loss.classes().is_some() { "prediction,probability,label\n" } else { "prediction,label\n" };
        line.extend_from_slice(columns.as_bytes());
        out.write_all(&line)?;
        Ok(Self { out, loss: loss.clone(), is_live, numbers: zmij::Buffer::new(), line })
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn write_row<'a>(&mut self, ids: impl Iterator<Item = &'a [u8]>, scores: &[f64], label: f64) -> io::Result<()> {
        self.line.clear();
        push_cells(ids, &mut self.line);
        let prediction = self.loss.prediction(scores);
        self.line.extend_from_slice(self.numbers.format(self.loss.response(prediction)).as_bytes());
        self.line.push(b',');
        if let Some(loss) = self.loss.classes() {
            let mut probabilities = vec![0.0; scores.len()];
            loss.probabilities(scores, &mut probabilities);
            let probability = probabilities.get(prediction as usize).copied().unwrap_or(0.0);
            self.line.extend_from_slice(self.numbers.format(probability).as_bytes());
            self.line.push(b',');
        }
        if !label.is_nan() {
            self.line.extend_from_slice(self.numbers.format(label).as_bytes());
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }
}

impl<W: Write + Send> PredictionSink for PredictionCsv<W> {
    fn write(&mut self, parsed: &ParsedBatch, rows: Range<usize>, scores: &[f64]) -> io::Result<()> {
        let (labels, outputs) = (parsed.batch.rows(..).labels(), scores.len() / rows.len().max(1));
        for (at, row) in rows.enumerate() {
            self.write_row(parsed.ids(row), &scores[at * outputs..][..outputs], labels[row])?;
        }
        if self.is_live { self.out.flush() } else { Ok(()) }
    }
}

/// Adds cells to a line, each with a comma behind it.
fn push_cells<'a>(cells: impl Iterator<Item = &'a [u8]>, line: &mut Vec<u8>) {
    for cell in cells {
        csv_cell(cell, b',', line);
        line.push(b',');
    }
}
