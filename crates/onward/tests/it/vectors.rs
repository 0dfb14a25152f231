//! What is compiled for this machine's vectors gives the bits that what is compiled for any machine gives.

use onward::archive::Archive;
use onward::evaluation::Ledger;
use onward::learner::LearnerSpec;
use onward::loss;
use onward::numeric::rng::SplitMix64;
use onward::{Batch, FeatureMap, simd};

use crate::common::alone;

/// Rows of many lengths, with indices low and high, values small and large.
fn batches() -> Vec<Batch> {
    let mut random = SplitMix64::new(11);
    let mut batches = Vec::new();
    for _ in 0..8 {
        let mut batch = Batch::default();
        for _ in 0..60 {
            batch.push(0, 1.0);
            for _ in 0..random.below(40) {
                let index = match random.below(3) {
                    0 => 1 + random.below(60) as u32,
                    1 => 100_000 + random.below(300) as u32,
                    _ => 1 + random.below(1 << 22) as u32,
                };
                let value = (random.uniform() - 0.3) * [1.0, 1e-3, 1e4][random.below(3) as usize];
                batch.push(index, value as f32);
            }
            let label = if random.below(2) == 0 { -1.0 } else { 1.0 };
            batch.finish((random.below(10) > 0).then_some(label), 0.5 + random.uniform());
        }
        batches.push(batch);
    }
    batches
}

/// All predictions, and what the ledger and the learner come to, by their bits. Numbered rows come together, so that
/// entries are fetched ahead of time, and half-way a learner and a ledger go on from what is saved.
fn run(name: &str, loss: &str, is_numbered: bool, is_portable: bool) -> Vec<u64> {
    simd::set_portable(is_portable);
    let loss = loss::parse(loss).unwrap();
    let specification = name.parse::<LearnerSpec>().unwrap();
    let mut learner = specification.build(&loss, None).unwrap();
    let (mut ledger, mut features, mut bits) = (Ledger::new(loss.clone()), FeatureMap::default(), Vec::new());
    for (number, mut batch) in batches().into_iter().enumerate() {
        if is_numbered && number == 4 {
            let mut visit = |archive: &mut Archive| {
                archive.part("learner", |archive| learner.persist(archive))?;
                archive.part("ledger", |archive| ledger.persist(archive))
            };
            let mut archive = Archive::loading_with_map(Archive::saved(&mut visit).unwrap(), &["learner", "ledger"]);
            (learner, ledger) = (specification.build(&loss, None).unwrap(), Ledger::new(loss.clone()));
            archive.part("learner", |archive| learner.persist(archive)).unwrap();
            archive.part("ledger", |archive| ledger.persist(archive)).unwrap();
            features = archive.into_map();
        }
        if is_numbered {
            features.number(&mut batch);
        }
        for rows in batch.rows(..).chunks(if is_numbered { batch.len() } else { 1 }) {
            let mut scores = vec![f64::NAN; rows.len()];
            learner.learn(rows, &mut scores);
            ledger.observe(rows, &scores);
            bits.extend(scores.into_iter().map(f64::to_bits));
        }
    }
    simd::set_portable(false);
    bits.push(ledger.sequential_risk().to_bits());
    let sums = ledger.sums().unwrap();
    bits.extend([sums.standardised_ball(10.0), sums.ball(10.0)].map(f64::to_bits));
    bits
}

#[test]
fn vectors_and_ids_change_no_bit() {
    let _alone = alone();
    for (learner, loss) in [
        ("nag", "logistic"),
        ("nag", "squared"),
        ("nag:standardise=true", "logistic"),
        ("adagrad", "logistic"),
        ("adagrad:domain=box,radius=1,eta=auto", "hinge"),
        ("adagrad:domain=ball,radius=1,eta=auto", "squared"),
        ("ftrl-proximal", "logistic"),
        ("sgd", "hinge"),
        ("auto", "logistic"),
        ("auto", "squared"),
        ("auto:lanes=4", "logistic"),
        ("auto:lanes=4", "squared"),
    ] {
        let portable = run(learner, loss, false, true);
        assert!(portable.iter().all(|&bits| f64::from_bits(bits).is_finite()), "{learner}");
        for (is_numbered, is_portable) in [(false, false), (true, false), (true, true)] {
            assert!(
                run(learner, loss, is_numbered, is_portable) == portable,
                "{learner} {loss} {is_numbered} {is_portable}"
            );
        }
    }
}
