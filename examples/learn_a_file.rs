//! Learn from a file with the same reader that the command line uses.
//!
//!     cargo run -p onward-examples --example learn_a_file

use std::error::Error;
use std::path::Path;

use onward::learner::LearnerSpec;
use onward::loss;
use onward::regret::Ledger;
use onward_data::{Input, Options, Reader};

/// Learns which web sites are phishing, from the file in `data/`.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/phishing.csv");

    // What the columns are is inferred from the first rows; the notes say what was found.
    let options = Options { target: Some("is_phishing".to_owned()), ..Options::default() };
    let mut reader = Reader::open(&[Input::from(path.as_path())], options)?;
    for note in reader.notes() {
        println!("{note}");
    }

    let specification: LearnerSpec = "ogd:radius=5".parse()?;
    let mut learner = specification.build(&loss::parse("logistic")?, None)?;
    let mut ledger = Ledger::new(learner.loss());

    // Batches come in order, parsed ahead by other threads, in memory that does not grow.
    let mut scores = Vec::new();
    while let Some(parsed) = reader.next_batch()? {
        // Each row is predicted before its label is used; one without a label is predicted only.
        let rows = parsed.batch.rows(..);
        scores.resize(rows.len(), 0.0);
        learner.learn(rows, &mut scores);
        ledger.observe(rows, &scores);
    }

    // Projected gradient descent has a guarantee of its own, from what really happened.
    let guarantee = learner.guarantee();
    let per_round = guarantee.bound.clone()? / ledger.weight();
    println!("sequential risk {:.4}", ledger.sequential_risk());
    println!("regret at most {per_round:.4} a round against {}", guarantee.description());
    assert_eq!(ledger.rounds(), 1250);
    assert!(ledger.sequential_risk() < 0.4);
    Ok(())
}
