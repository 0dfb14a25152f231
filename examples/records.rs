//! Learn record by record, from JSON values and from names with values, with labels that come late: no file, no thread.
//!
//!     cargo run -p onward-examples --example records

use std::collections::HashMap;
use std::error::Error;

use onward_data::{Options, ParsedBatch, RecordEncoder};
use onward_engine::{Model, ModelOptions};
use serde_json::json;

/// Orders arrive; days later it is known which were sent back.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // All that is said of records: what is predicted. Other keys are features as they come.
    let options =
        Options { target: Some("returned".to_owned()), task: Some(onward::loss::Task::Binary), ..Options::default() };
    let mut encoder = RecordEncoder::new(&options)?;
    let mut model = Model::new(&ModelOptions::default(), encoder.schema().clone())?;

    // Records that know their label: predicted, charged, learnt from.
    let mut rows = ParsedBatch::default();
    for t in 0..500 {
        let (shop, price) = (["web", "store"][t % 2], 5.0 + (t * 37 % 90) as f64);
        let returned = shop == "web" && price > 40.0;
        encoder.encode(json!({"shop": shop, "price": price, "returned": returned}), &mut rows)?;
    }
    model.learn_records(&rows)?;
    println!(
        "{:.3} per record, where a constant pays {:.3}",
        model.ledger().sequential_risk(),
        model.ledger().baseline_risk().unwrap_or(f64::NAN)
    );

    // Records whose label comes later: the features of each are kept until then.
    let mut waiting: HashMap<u32, ParsedBatch> = HashMap::new();
    for order in 0..100 {
        let mut row = ParsedBatch::default();
        let price = 5.0 + f64::from(order * 61 % 90);
        encoder.encode_fields([("shop", "web".into()), ("price", price.into())], &mut row)?;
        let score = model.predict_one(row.batch.get(0).features);
        assert!(score.is_finite());
        waiting.insert(order, row);
        if let Some(row) = order.checked_sub(10).and_then(|sent_back| waiting.remove(&sent_back)) {
            let price = 5.0 + f64::from((order - 10) * 61 % 90);
            model.learn_one(row.batch.get(0).features, if price > 40.0 { 1.0 } else { -1.0 }, 1.0)?;
        }
    }
    assert_eq!((waiting.len(), model.ledger().rounds()), (10, 590));
    let heaviest = model.heaviest(1).remove(0);
    println!("the heaviest feature is {} with {:.3}", heaviest.name, heaviest.weight);
    assert!(model.ledger().sequential_risk() < 0.4);

    // What is no record is refused, and says where.
    let error = encoder.encode(json!({"price": [1, {"net": 2}]}), &mut rows);
    println!("{:?}", error.err().map(|error| error.to_string()));
    Ok(())
}
