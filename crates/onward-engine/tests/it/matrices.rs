//! Rows from matrices in memory: the same bits as row by row and from a file; what is no matrix is refused.

use onward::Features;
use onward::loss::Task;
use onward_engine::{EngineError, EngineErrorKind, LearnOptions, MatrixRows, Model, ModelOptions, learn};

use crate::Folder;

fn model(learner: &str, task: Task) -> Model {
    Model::for_indices(&ModelOptions { learner: learner.to_owned(), ..ModelOptions::default() }, task).unwrap()
}

/// 2,500 rows of four columns, more than are handled at a time: values that are not 0, labels and weights.
fn rows() -> (Vec<f32>, Vec<f64>, Vec<f64>) {
    let values: Vec<f32> = (0..10_000).map(|at| ((at * 37 % 101) as f32 - 50.5) / 50.0).collect();
    let label = |row: &[f32]| if row[0] + row[1] > row[2] { 1.0 } else { -1.0 };
    let labels = values.chunks(4).enumerate().map(|(at, row)| if at % 97 == 5 { f64::NAN } else { label(row) });
    (values.clone(), labels.collect(), (0..2_500).map(|at| f64::from(at % 4)).collect())
}

#[test]
fn a_dense_matrix_a_sparse_one_and_single_rows_give_the_same_bits() {
    let (values, labels, weights) = rows();
    let columns: Vec<u32> = (0..2_500).flat_map(|_| 0..4).collect();
    let row_starts: Vec<usize> = (0..=2_500).map(|row| 4 * row).collect();
    let sparse = MatrixRows::Csr { row_starts: &row_starts, columns: &columns, values: &values };
    for learner in ["auto", "nag", "ogd", "perceptron"] {
        let (mut dense, mut csr, mut single) =
            (model(learner, Task::Binary), model(learner, Task::Binary), model(learner, Task::Binary));
        let rows = MatrixRows::Dense { values: &values, columns: 4, stride: 4 };
        let scores = dense.learn_matrix(rows, &labels, Some(&weights)).unwrap();
        assert_eq!(scores, csr.learn_matrix(sparse, &labels, Some(&weights)).unwrap());
        for (at, row) in values.chunks(4).enumerate() {
            let row = [1.0, row[0], row[1], row[2], row[3]];
            let x = Features::new(&[0, 1, 2, 3, 4], &row).unwrap();
            let score = match labels[at].is_nan() {
                true => single.predict_one(x),
                false => single.learn_one(x, labels[at], weights[at]).unwrap(),
            };
            assert_eq!(score.to_bits(), scores[at].to_bits(), "{learner} {at}");
        }
        assert_eq!(dense.to_bytes().unwrap(), csr.to_bytes().unwrap());
        assert_eq!(dense.predict_matrix(rows).unwrap(), csr.predict_matrix(sparse).unwrap());
        assert_eq!(dense.ledger().sequential_risk().to_bits(), single.ledger().sequential_risk().to_bits());
    }
}

#[test]
fn a_matrix_and_a_file_of_svmlight_give_the_same_bits() {
    let (values, labels, _) = rows();
    let line = |(at, row): (usize, &[f32])| {
        let label = if labels[at].is_nan() { "?".to_owned() } else { labels[at].to_string() };
        format!("{label} 0:{} 1:{} 2:{} 3:{}\n", row[0], row[1], row[2], row[3])
    };
    let folder = Folder::new();
    let input = folder.input("rows.svm", values.chunks(4).enumerate().map(line).collect::<String>());
    let from_file = learn(&[input], LearnOptions::default(), &()).unwrap().model;
    let mut from_memory = model("auto", Task::Binary);
    let rows = MatrixRows::Dense { values: &values, columns: 4, stride: 4 };
    from_memory.learn_matrix(rows, &labels, None).unwrap();
    let risks = [&from_file, &from_memory].map(|model| model.ledger().sequential_risk().to_bits());
    assert_eq!(risks[0], risks[1]);
    assert_eq!(from_file.predict_matrix(rows).unwrap(), from_memory.predict_matrix(rows).unwrap());
}

#[test]
fn columns_that_a_row_names_twice_are_added_up_and_empty_rows_are_rows() {
    let twice = MatrixRows::Csr { row_starts: &[0, 3, 3], columns: &[7, 2, 7], values: &[1.0, 4.0, 0.5] };
    let once = MatrixRows::Csr { row_starts: &[0, 2, 2], columns: &[7, 2], values: &[1.5, 4.0] };
    let scores = |rows| {
        let mut model = model("nag", Task::Regression);
        let scores = model.learn_matrix(rows, &[3.0, 1.0], None).unwrap();
        (scores, model.to_bytes().unwrap())
    };
    assert_eq!(scores(twice), scores(once));
    let nothing = MatrixRows::Csr { row_starts: &[0], columns: &[], values: &[] };
    let empty = MatrixRows::Dense { values: &[], columns: 3, stride: 3 };
    for rows in [nothing, empty] {
        let mut model = model("nag", Task::Regression);
        assert_eq!((rows.rows(), model.learn_matrix(rows, &[], None).unwrap()), (0, Vec::new()));
    }
}

#[test]
fn what_is_no_matrix_is_refused_and_nothing_is_learnt() {
    let dense = |values, columns, stride| MatrixRows::Dense { values, columns, stride };
    let csr = |row_starts, columns, values| MatrixRows::Csr { row_starts, columns, values };
    let two: &[f32] = &[1.0, 2.0];
    for (rows, labels, weights, message) in [
        (dense(two, 0, 1), &[1.0][..], None, "stride must be at least the number of columns, above 0; got 1 for 0"),
        (dense(two, 2, 1), &[1.0], None, "stride must be at least the number of columns, above 0; got 1 for 2"),
        (dense(two, 1, 1), &[1.0], None, "labels must be as many as rows, 2; got 1"),
        (dense(two, 1, 1), &[1.0, 1.0], Some(&[1.0][..]), "weights must be as many as rows, 2; got 1"),
        (dense(two, 1, 1), &[1.0, 1.0], Some(&[1.0, -1.0]), "row 1: weight must be 0, or from 1e-38 to 3.4e38; got -1"),
        (
            dense(two, 1, 1),
            &[1.0, f64::INFINITY],
            None,
            "row 1: the label of the squared loss must be a finite number; got inf",
        ),
        (dense(&[1.0, f32::NAN], 1, 1), &[1.0, 1.0], None, "row 1, column 0: values must be finite; got NaN"),
        (csr(&[0, 2], &[0], two), &[1.0], None, "columns must be as many as values, 2; got 1"),
        (csr(&[0, 3], &[0, 1], two), &[1.0], None, "row_starts must rise from 0 to the number of values, 2"),
        (csr(&[0, 1], &[0, 1], two), &[1.0], None, "row_starts must rise from 0 to the number of values, 2"),
        (csr(&[], &[], &[]), &[], None, "row_starts must rise from 0 to the number of values, 0"),
        (dense(two, 3, 3), &[], None, "values must be whole rows of 3 values, 3 apart; got 2"),
        (dense(&[1.0; 5], 3, 3), &[1.0], None, "values must be whole rows of 3 values, 3 apart; got 5"),
        (csr(&[1, 2], &[0, 1], two), &[1.0], None, "row_starts must rise from 0 to the number of values, 2"),
        (csr(&[0, 2, 1], &[0, 1], two), &[1.0; 2], None, "row_starts must rise from 0 to the number of values, 2"),
        (
            csr(&[0, 2], &[0, 1 << 31], two),
            &[1.0],
            None,
            "row 0, column 2147483648: columns must be below 2147483647; got 2147483648",
        ),
        (csr(&[0, 2], &[0, 1], &[1.0, f32::INFINITY]), &[1.0], None, "row 0, column 1: values must be finite; got inf"),
    ] {
        let mut model = model("nag", Task::Regression);
        let fresh = model.to_bytes().unwrap();
        let error = model.learn_matrix(rows, labels, weights).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(error.kind(), EngineErrorKind::User);
        assert_eq!(model.to_bytes().unwrap(), fresh, "{message}");
    }
}

#[test]
fn an_error_far_into_a_matrix_names_its_row_and_nothing_is_learnt() {
    let (mut values, mut labels, mut weights) = rows();
    labels.iter_mut().for_each(|label| *label = if label.is_nan() { 1.0 } else { *label });
    let refused = |values: &[f32], labels: &[f64], weights: &[f64]| {
        let mut model = model("nag", Task::Binary);
        let fresh = model.to_bytes().unwrap();
        let rows = MatrixRows::Dense { values, columns: 4, stride: 4 };
        let error = model.learn_matrix(rows, labels, Some(weights)).unwrap_err();
        assert_eq!(model.to_bytes().unwrap(), fresh);
        match error {
            EngineError::Row { row, column, .. } => (row, column),
            other => panic!("{other}"),
        }
    };
    values[4 * 2_300 + 3] = f32::NAN;
    assert_eq!(refused(&values, &labels, &weights), (2_300, Some(3)));
    values[4 * 2_300 + 3] = 0.0;
    labels[2_301] = 0.5e9;
    assert_eq!(refused(&values, &labels, &weights), (2_301, None));
    labels[2_301] = 1.0;
    weights[2_302] = f64::NAN;
    assert_eq!(refused(&values, &labels, &weights), (2_302, None));
}
