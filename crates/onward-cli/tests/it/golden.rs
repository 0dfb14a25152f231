//! Models of every format version predict and continue to the same bits for ever.
//!
//! Each model in `golden/v1` learnt 120 rows (flights: 300) with the program that wrote format version 1. `expected.json`
//! has what that program then said of the 40 rows after those: predicting them, learning from them, and predicting them
//! again with the continued model.

use std::path::Path;

use serde::Deserialize;

use crate::common::Folder;

#[derive(Deserialize)]
struct Golden {
    model: String,
    data: String,
    predicted: Vec<String>,
    continued: Vec<String>,
    predicted_again: Vec<String>,
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(name)).unwrap()
}

/// The predictions in the first column.
fn column(csv: &str) -> Vec<&str> {
    csv.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect()
}

#[test]
fn models_of_version_1_predict_and_continue_to_the_same_bits() {
    let all: Vec<Golden> = serde_json::from_slice(&golden("expected.json")).unwrap();
    assert_eq!(all.len(), 100);
    let folder = Folder::new();
    for data in ["phishing.csv", "approval.csv", "flights.csv"] {
        folder.write(data, golden(data));
    }
    for Golden { model, data, predicted, continued, predicted_again } in &all {
        let bytes = zstd::stream::decode_all(&*golden(&format!("{model}.safetensors.zst"))).unwrap();
        folder.write("old.safetensors", bytes);
        let predict = |with: &str| folder.succeed(&["predict", with, data, "--quiet"]).stdout;
        assert_eq!(column(&predict("old.safetensors")), *predicted, "{model} predicts");
        let learn = ["learn", data, "--quiet", "--init", "old.safetensors", "--model", "new.safetensors"];
        let learnt = folder.succeed(&[&learn[..], &["--predictions", "-"]].concat()).stdout;
        assert_eq!(column(&learnt), *continued, "{model} continues");
        assert_eq!(column(&predict("new.safetensors")), *predicted_again, "{model} predicts after it went on");
    }
}
