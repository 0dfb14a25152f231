//! Learn from a CSV, read the report, save the model, load it, go on, predict.
//!
//!     cargo run -p onward-examples --example learn_and_continue

use std::error::Error;
use std::path::Path;

use onward_data::{Input, Options};
use onward_engine::{LearnOptions, Model, learn, predict};

/// Learns which web sites are phishing, from the file in `data/`.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let saved = folder.path().join("phishing.safetensors");
    let sites = [Input::from(&*Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/phishing.csv"))];

    // What the columns are is inferred from the first rows. The learner is the default one, `auto`.
    let reading = Options { target: Some("is_phishing".to_owned()), ..Options::default() };
    let mut outcome = learn(&sites, LearnOptions { reading, ..LearnOptions::default() }, &())?;
    let report = outcome.report();
    println!("{} examples", report.stream.examples);
    println!("sequential risk {:.4}", report.learner.sequential_risk.unwrap_or(f64::NAN));
    println!("best constant {:.4}", report.stream.baseline_risk.unwrap_or(f64::NAN));
    assert!(report.learner.metrics.auc > Some(0.96));
    outcome.model.save(&saved)?;

    // Days later: the model continues as if it had never stopped.
    let options = LearnOptions { start: Model::load(&saved)?.into(), ..LearnOptions::default() };
    let model = learn(&sites, options, &())?.model;
    assert_eq!(model.metadata().examples, 2500);

    // Predicting learns nothing. Where there are labels, the report has the loss.
    let mut scores: Vec<f64> = Vec::new();
    let report = predict(&model, &sites, Options::default(), &mut scores, &())?;
    println!("mean loss of the model as it is {:.4}", report.mean_loss.unwrap_or(f64::NAN));
    assert_eq!((scores.len(), model.metadata().examples), (1250, 2500));
    Ok(())
}
