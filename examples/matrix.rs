//! Learn from matrices in memory, a sparse one and a dense one, in one call for many rows.
//!
//!     cargo run -p onward-examples --example matrix

use std::error::Error;

use onward::loss::Task;
use onward_engine::{Matrix, Model, ModelOptions};

/// Learns y = 2·x₀ − x₂ from 3,000 sparse rows, and goes on with dense ones.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let options = ModelOptions { learner: "nag".to_owned(), ..ModelOptions::default() };
    let mut model = Model::for_indices(&options, Task::Regression)?;

    // Compressed sparse rows, as SciPy has them: row i has the features row_starts[i]..row_starts[i + 1].
    let (mut row_starts, mut columns, mut values, mut labels) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for t in 0..3_000u32 {
        let (column, value) = (t % 3, (t * 37 % 101) as f32 / 101.0);
        columns.push(column);
        values.push(value);
        row_starts.push(columns.len());
        labels.push([2.0, 0.0, -1.0][column as usize] * f64::from(value));
    }
    let sparse = Matrix::Csr { row_starts: &row_starts, columns: &columns, values: &values };
    // The scores are those made before each label was used.
    let scores = model.learn_matrix(sparse, &labels, None)?;
    let late: f64 = scores.iter().zip(&labels).skip(2_000).map(|(score, label)| (score - label).powi(2)).sum();
    println!("mean square error of the last thousand {:.6}", late / 1000.0);
    assert!(late / 1000.0 < 1e-3);

    // Dense rows of the same three columns; every other value of the array is not ours.
    let dense = Matrix::Dense { values: &[0.5, 0.5, 0.5, 9.0, 1.0, 0.0, 0.0, 9.0], columns: 3, stride: 4 };
    let scores = model.predict_matrix(dense)?;
    println!("{:.3} and {:.3} where 0.5 and 2 are right", scores[0], scores[1]);
    assert!((scores[0] - 0.5).abs() < 0.05 && (scores[1] - 2.0).abs() < 0.05);
    model.learn_matrix(dense, &[0.5, 2.0], Some(&[1.0, 3.0]))?;
    assert_eq!(model.ledger().weight(), 3_004.0);
    Ok(())
}
